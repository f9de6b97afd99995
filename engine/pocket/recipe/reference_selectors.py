"""Policies of the reference decoder (reference.py, which finds this file by itself) that choose what a step reads and
forget nothing, and StreamingLLM. Written from the papers and their code, not from engine/policies.

    python3 reference.py --model .. --problems ../problems/relay20.jsonl --policy oracle:mass=0.9 --out ids.jsonl

oracle       every layer from dense_layers on scores all S tokens (post-softmax probabilities pooled over the group, over all
             heads, or the group's largest) and reads its own choice; budget_tokens, or max(floor(ratio*S), min_tokens), or
             the fewest whose probabilities sum to mass * their total, min_tokens at least; pages: sums over the page, and
             budgets in tokens rounded up to pages (budget_tokens: down).
streamingllm query n sees position t where t < sinks or n - t < W - sinks; W = window_tokens, or max(min_tokens,
             floor(ratio*L)) with L = S while decoding and the whole prompt's length inside the prompt. No re-indexing of
             positions; whether hidden tokens are masked or gone makes no difference with a fixed W.
omnikv       filter layers attend fully and choose by the max over heads of the probability; layers below dense_layers and
             dense_after layers after each filter are dense. of=prompt: floor(ratio*prompt) of the prompt, and all later ones.
             score=prompt: the softmax is over the prompt's keys only; logit: the max over heads of the logit.
lessismore   m = floor(middle*k); sinks (none if k - m < sinks) and the last k - m - sinks; m more by walking over ranks of
             all query heads. Kascade's port has k = max(min_tokens, floor(ratio*S)); k_tokens: fixed.
delta_tokens DELTA with single tokens: the last l_tokens, and k_tokens - l_tokens others by max over heads of probability.
delta_mass   DELTA's pages: the last l_pages, then the best until they hold `mass` of the score's total.
deltallm     while decoding keys older than the last `window` are khat, see below; the prompt's attention is exact. --out also has
             `unchanged`, S_m: the share of channels that kept their value, of the keys that were replaced, and `key_elements`:
             elements of keys to read, the others of khat and the last `window` keys, summed over steps, a key's worth as 1.
kascade_mass Kascade, per KV head the fewest tokens that hold `mass` of the pooled probability, min_tokens at least.
min_select_gap: natural logs of probability; lessismore: logits; deltallm: none. With a mass also how far the sum before and after the last
token is from the share wanted, which is often small and then moves one token of little weight.
"""
import numpy as np

from reference import F32, PAGE, Full, logsumexp, pages, tokens_of


def by_mass(seq, score, mass, least, forced=()):
    """`forced`, then the fewest others by descending score until exp(score) sums to `mass` of the total."""
    order = np.argsort(-score, kind="stable")
    order = np.concatenate([np.array(forced, int), order[~np.isin(order, forced)]])
    held = np.cumsum(np.exp(score[order].astype(float)))
    if mass >= 1:
        return order
    share = held / held[-1] - mass
    k = max(int(np.argmax(share >= 0)) + 1, least, len(forced))
    seq.select_gap = min(seq.select_gap, *np.abs(share[max(k - 2, 0):k]))
    if len(forced) < k < len(order):
        seq.select_gap = min(seq.select_gap, float(score[order[k - 1]] - score[order[k]]))
    return order[:k]


class Oracle(Full):
    params = dict(budget_tokens=0, ratio=0.0, mass=0.0, min_tokens=1, unit="tokens", page_tokens=PAGE, pool="group_sum",
                  dense_layers=1)

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        if l < self.dense_layers:
            return None
        p = seq.log_probs(l, logits)
        score = {"group_sum": lambda: logsumexp(p.swapaxes(1, 2))[..., 0], "max": lambda: p.max(1),
                 "all": lambda: logsumexp(p.reshape(-1, S).T)[:, 0][None]}[self.pool]()
        unit = self.page_tokens if self.unit == "pages" else 1
        n = -(-S // unit)
        if unit > 1:
            padded = np.full((len(score), n * unit), -np.inf, F32)
            padded[:, :S] = score
            score = logsumexp(padded.reshape(len(score), n, unit))[..., 0]
        mask = np.zeros((len(score), 1, n), bool)
        for row, s in zip(mask, score):
            if self.mass:
                row[0, by_mass(seq, s, self.mass, -(-self.min_tokens // unit))] = True
            elif self.ratio:
                row[0, seq.top(s, -(-max(int(self.ratio * S), self.min_tokens) // unit))] = True
            else:
                row[0, seq.top(s, self.budget_tokens // unit)] = True
        return np.repeat(mask, unit, -1)[..., :S]


class StreamingLLM(Full):
    params = dict(window_tokens=0, ratio=0.0, min_tokens=128, sinks=4)

    def seen(self, distance, position, L):
        W = self.window_tokens or max(self.min_tokens, int(self.ratio * L))
        return (position < self.sinks) | (distance < W - self.sinks)

    def hidden_in_prefill(self, seq, l, y, pos, logits):
        t = np.arange(logits.shape[-1])
        return ~self.seen(pos[:, None] - t, t, seq.prompt_len)

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        t = np.arange(S)
        return self.seen(S - 1 - t, t, S)


class OmniKV(Full):
    params = dict(ratio=0.1, min_tokens=128, of="context", score="context", layers=(2, 5), dense_layers=2, dense_after=1)

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        if l in self.layers:
            score = {"context": lambda: seq.log_probs(l, logits), "logit": lambda: logits,
                     "prompt": lambda: seq.log_probs(l, logits[..., :seq.prompt_len])}[self.score]().max((0, 1))
            seq.filter, seq.chosen = l, np.zeros(S, bool)
            if self.of == "prompt":
                seq.chosen[seq.prompt_len:] = True
                seq.chosen[seq.top(score[:seq.prompt_len], int(self.ratio * seq.prompt_len))] = True
            else:
                seq.chosen[seq.top(score, max(int(self.ratio * S), self.min_tokens))] = True
        elif l >= self.dense_layers and l > min(self.layers) and l - seq.filter > self.dense_after:
            return seq.chosen
        return None


class LessIsMore(Full):
    params = dict(k_tokens=0, ratio=0.1, min_tokens=128, middle=0.75, sinks=4, layers=(2, 5))

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        if l in self.layers:
            k = min(S, self.k_tokens or max(int(self.ratio * S), self.min_tokens))
            m = int(self.middle * k)
            sinks = self.sinks if k - m >= self.sinks else 0
            low, high = sinks, S - (k - m - sinks)
            seq.chosen = np.ones(S, bool)
            seq.chosen[low:high] = False
            heads = logits.reshape(-1, S)[:, low:high]
            order = np.argsort(-heads, axis=-1, kind="stable")
            left = m
            for rank in range(m):
                for h in range(len(heads)):
                    t = low + order[h, rank]
                    if left and not seq.chosen[t]:
                        seq.chosen[t], left = True, left - 1
                        if rank + 1 < high - low:
                            seq.select_gap = min(seq.select_gap, float(heads[h, t - low] - heads[h, order[h, rank + 1]]))
                if not left:
                    break
        elif l > min(self.layers):
            return seq.chosen
        return None


class DeltaTokens(Full):
    params = dict(k_tokens=64, l_tokens=64, dense_layers=2, layers=(2, 5, 7))

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        if l < self.dense_layers or S <= self.k_tokens:
            return None
        if l not in self.layers:
            return seq.rho
        seq.rho = np.arange(S) >= S - self.l_tokens
        seq.rho[seq.top(seq.log_probs(l, logits).max((0, 1))[:S - self.l_tokens], self.k_tokens - self.l_tokens)] = True
        return None


class DeltaMass(Full):
    params = dict(mass=0.9, l_pages=4, dense_layers=2, layers=(2, 5, 7))

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        n = pages(S)
        if l < self.dense_layers:
            return None
        if l not in self.layers:
            return seq.rho
        token = np.full(n * PAGE, -np.inf, F32)
        token[:S] = seq.log_probs(l, logits).max((0, 1))
        mask = np.zeros(n, bool)
        score = logsumexp(token.reshape(n, PAGE))[:, 0]
        mask[by_mass(seq, score, self.mass, 1, range(max(n - self.l_pages, 0), n))] = True
        seq.rho = tokens_of(mask, S)
        return None


class KascadeMass(Full):
    params = dict(mass=0.9, min_tokens=128, anchors=(0, 1, 2, 5, 6, 7))

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        if l == seq.full[0] or l in self.anchors:
            pooled = logsumexp(seq.log_probs(l, logits).swapaxes(1, 2))[..., 0]
            seq.chosen = np.zeros((len(pooled), 1, S), bool)
            for kv, score in enumerate(pooled):
                seq.chosen[kv, 0, by_mass(seq, score, self.mass, self.min_tokens)] = True
        return None if l == seq.full[0] else seq.chosen


class DeltaLLM(Full):
    params = dict(theta=0.6, window=4)

    def replace(self, seq, l, first, end):
        """Keys first .. end - 1 become khat: each channel keeps its value until it differs by more than theta."""
        K = seq.K[l]
        for t in range(first, end):
            if t:
                same = ~(np.abs(K[:, t] - K[:, t - 1]) > F32(self.theta))
                K[:, t] = np.where(same, K[:, t - 1], K[:, t])
                seq.same, seq.all = seq.same + int(same.sum()), seq.all + same.size
                seq.held[l] += int(same.sum())

    def prefill_end(self, seq):
        seq.same = seq.all = seq.read = 0
        seq.held = [0] * len(seq.K)             # per layer: elements that kept their value
        for l in seq.full:
            self.replace(seq, l, 0, seq.prompt_len - self.window)

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        old = S - 1 - self.window
        if old >= 0:
            self.replace(seq, l, old, old + 1)
            logits[:, :, old] = np.einsum("hgd,hd->hg", q, seq.K[l, :, old]) * F32(q.shape[-1] ** -0.5)
        seq.read += seq.K[l, :, :S].size - seq.held[l]
        if l == seq.full[0]:                    # windows are read as they are
            seq.read += sum(seq.K[0, :, :min(S, w)].size for w in seq.model.window if w)
        seq.extra = dict(unchanged=seq.same / max(seq.all, 1), key_elements=seq.read / seq.K[:, :, 0].size)
        return None


POLICIES = dict(oracle=Oracle, streamingllm=StreamingLLM, omnikv=OmniKV, lessismore=LessIsMore, delta_tokens=DeltaTokens,
                delta_mass=DeltaMass, kascade_mass=KascadeMass, deltallm=DeltaLLM)
