"""Rankings that hang by a rounding: which neighbours have to change places in a peer's lists so that it agrees with kveval.

Two programs round the scores of the same tokens differently, and where two scores are closer than that they come in the other
order, or the other one is left out. Ranking stands in the place of torch.topk, notes such neighbours, and exchanges those that
it is told to; settle() looks for the exchanges that make step after step agree."""
import collections

import torch

Near = collections.namedtuple("Near", "step call row rank scores apart")


class Ranking:
    """torch.topk, but of equal values the lower index comes first, as in kveval; torch leaves their order open."""

    def __init__(self, within=0.0):
        self.within, self.exchanges, self.near, self.step, self.call = within, [], [], 0, 0

    def begin(self, step):
        self.step, self.call = step, 0

    def topk(self, x, k, dim=-1, largest=True, sorted=True):
        values, order = torch.sort(x, dim=dim, descending=largest, stable=True)
        if self.within and dim in (-1, x.dim() - 1):
            rows, places = values.reshape(-1, x.shape[-1]), order.reshape(-1, x.shape[-1])
            self.note(rows, k)
            for e in self.exchanges:
                if (e.step, e.call) == (self.step, self.call):
                    exchange(rows[e.row], places[e.row], e.rank)
            values, order = rows.reshape(values.shape), places.reshape(order.shape)
        self.call += 1
        return torch.return_types.topk((values.narrow(dim, 0, k), order.narrow(dim, 0, k)))

    def note(self, rows, k):
        a, b = rows[:, :-1][:, :k].double(), rows[:, 1:][:, :k].double()
        apart = (a - b).abs() / torch.maximum(a.abs(), b.abs()).clamp(min=1e-300)
        for row, rank in ((apart > 0) & (apart <= self.within)).nonzero().tolist():
            self.near.append(Near(self.step, self.call, row, rank, (float(a[row, rank]), float(b[row, rank])),
                                  float(apart[row, rank])))


def exchange(values, places, rank):
    """The values at rank and behind it change places, each with those that are equal to it."""
    first, last = rank, rank + 1
    while first and values[first - 1] == values[rank]:
        first -= 1
    while last + 1 < len(values) and values[last + 1] == values[rank + 1]:
        last += 1
    for x in (values, places):
        x[first:last + 1] = torch.cat((x[rank + 1:last + 1], x[first:rank + 1]))


def settle(ranking, run, own, prompt_len, limit):
    """run(n) gives the peer's log-probabilities of the first n tokens, own are kveval's. Returns the differences as they are and
    as exchanges made them, and these."""
    def differences(exchanges, n):
        ranking.exchanges, ranking.near = exchanges, []
        return [abs(x - y) for x, y in zip(own, run(n))]

    made, before = [], None
    while True:
        now = differences(made, len(own))
        before = before or now
        first = next((i for i, d in enumerate(now) if d > limit), None)
        if first is None:
            return before, now, made
        open_ = [n for n in ranking.near if n.step <= prompt_len + first and n not in made]
        best, least = None, now[first]
        for n in sorted(open_, key=lambda n: (n.step != prompt_len + first, n.apart)):
            d = differences(made + [n], first + 1)
            if max(d[:first], default=0) <= limit and d[first] < least:
                best, least = n, d[first]
                if least <= limit:
                    break
        if best is None or least > 0.9 * now[first]:
            return before, now, made
        made.append(best)
