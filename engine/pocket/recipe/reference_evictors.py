"""Policies of the reference decoder (reference.py, which finds this file by itself) that forget tokens by score. Written from
the papers and their code, not from engine/policies.

    python3 reference.py --model .. --problems ../problems/relay20.jsonl --policy tova:budget_tokens=200 --out ids.jsonl

 all      B = budget_tokens, or floor((prompt + longest completion) / cr). What goes goes after the attention of a layer, in
          which the current token took part; what is left is numbered in the order of time.
 random   Whenever more than B and a multiple of `every` tokens are held: the first min(prompt, B - recent - 1) tokens, the last
          `recent` ones, and of the others those with the largest numbers from Philox4x32-10: key = the first two words of
          Philox(seed, (0, sample, problem)), counter = (position, layer, KV head, number among those held), 24 bits. The
          problem is the first 8 bytes of the SHA-256 of its name, the seed 1, the sample 0. rest=newest: the last ones.
 tova     Each step, and once at the end of the prompt by its last query: the B tokens with the largest mean probability over
          all query heads, for all KV heads of the layer alike.
 h2o      Probabilities summed over the group and over all queries since a token came, the prompt's too; the last
          floor(B / 2) and the best others, after the prompt and each step.
 snapkv   Probabilities of the last `window` queries: mean over queries, pooled over `kernel` neighbours, mean over the
          group. Once after the prompt (softmax over it all, causal), or with when=decode whenever more than B and a multiple
          of `every` tokens are held (softmax over those before the window).
 rkv      At contexts that are multiples of `every`, if more than B are held: softmax of the group's largest logit over the
          tokens before the window, mean over queries, largest of `kernel` neighbours; less redundancy, see the class.
 snapkv, rkv, when=both: as Zefan-Cai/R-KV runs them on the first problem of a process. They act at the end of the prompt, and
          then in each step after a context that is a multiple of `every`, where at least B are held; the softmax is over the
          tokens before the window. order=score: what is kept before the window is then numbered from the best score down.
          group=max_logit (snapkv): the softmax is of the group's largest logit.
 snapkv, rkv: a term of these softmaxes below e^-69 of the largest is 0, as docs/policies.md has it. This model's attention is so
          sharp that a budget reaches down to such tokens; they are ties then, as fp32 alone makes them below e^-103.
min_select_gap: natural logs of probability (tova), sums of probability (h2o), else scores; random has none.
"""
import hashlib
import numpy as np

from reference import F32, Full, logsumexp, softmax


class Evictor(Full):
    def alive(self, seq):
        if not hasattr(seq, "held"):
            seq.held = np.zeros(seq.K.shape[:3], bool)
            seq.held[..., :seq.prompt_len] = True
            seq.order = {}                      # order=score: by layer and KV head the positions held, in their order
            seq.budget = self.budget_tokens or int(seq.K.shape[2] / self.cr)
        return seq.held

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        alive = self.alive(seq)[l]
        alive[:, S - 1] = True
        mask = alive[:, None, :S].copy()
        self.after(seq, l, q, np.where(mask, logits, -np.inf))
        return mask

    def after(self, seq, l, q, logits):
        """Forgets, given q [Hkv, G, D] and logits [Hkv, G, S] of the current query, -inf where nothing is held."""

    def keep(self, seq, l, kv, live, score, k):
        """Of the positions `live` the KV head kv keeps the k with the largest scores."""
        seq.held[l, kv, live] = False
        kept = live[seq.top(score, k)]
        seq.held[l, kv, kept] = True
        return kept


def philox(key, *counter):
    """Four words for each counter, of which the last word may be an array."""
    u64, low, high = np.uint64, np.uint64(2**32 - 1), np.uint64(32)
    x = np.array(np.broadcast_arrays(*counter)).astype(u64)
    for i in range(10):
        a, b = u64(0xD2511F53) * x[0], u64(0xCD9E8D57) * x[2]
        k = [u64((int(key[0]) + i * 0x9E3779B9) % 2**32), u64((int(key[1]) + i * 0xBB67AE85) % 2**32)]
        x = np.array([(b >> high) ^ x[1] ^ k[0], b & low, (a >> high) ^ x[3] ^ k[1], a & low])
    return x


class Random(Evictor):
    params = dict(budget_tokens=0, cr=0.0, every=64, recent=64, pin_prompt=1, rest="random", seed=1)

    def after(self, seq, l, q, logits):
        live = [np.flatnonzero(h) for h in self.alive(seq)[l]]
        n, B, pos = len(live[0]), seq.budget, logits.shape[-1] - 1
        if n <= B or n % self.every:
            return
        pinned = min(seq.prompt_len, B - self.recent - 1) if self.pin_prompt else 0
        problem = int.from_bytes(hashlib.sha256(seq.name.encode()).digest()[:8], "little")
        key = philox([self.seed % 2**32, self.seed >> 32], 0, 0, problem % 2**32, problem >> 32)[:2]
        middle = np.arange(pinned, n - self.recent)
        for h, positions in enumerate(live):
            number = middle if self.rest == "newest" else philox(key, pos, l, h, middle)[0].astype(int) >> 8
            drawn = middle[np.argsort(-number, kind="stable")[:B - pinned - self.recent]]
            stay = np.concatenate([np.arange(pinned), drawn, np.arange(n - self.recent, n)])
            seq.held[l, h, positions] = False
            seq.held[l, h, positions[stay]] = True


class Tova(Evictor):
    params = dict(budget_tokens=0, cr=0.0)

    def after(self, seq, l, q, logits):
        live = np.flatnonzero(self.alive(seq)[l, 0, :logits.shape[-1]])
        if len(live) > seq.budget:
            score = logsumexp(seq.log_probs(l, logits)[..., live].reshape(-1, len(live)).T)[:, 0]
            for h in range(len(logits)):
                self.keep(seq, l, h, live, score, seq.budget)

    def saw_prompt(self, seq, l, pos, q, logits):
        self.alive(seq)
        if pos[-1] == seq.prompt_len - 1:
            self.after(seq, l, q[:, :, -1], logits[:, :, -1])


class H2o(Evictor):
    params = dict(budget_tokens=0, cr=0.0)

    def after(self, seq, l, q, logits):
        seq.acc[l, :, :logits.shape[-1]] += softmax(logits, seq.model.sink(l, 3)).sum(1)
        self.cut(seq, l, logits.shape[-1])

    def cut(self, seq, l, S):
        recent = seq.budget // 2
        for h, held in enumerate(self.alive(seq)[l, :, :S]):
            old = np.flatnonzero(held[:S - recent])
            if held.sum() > seq.budget:
                self.keep(seq, l, h, old, seq.acc[l, h, old], seq.budget - recent)

    def saw_prompt(self, seq, l, pos, q, logits):
        self.alive(seq)
        if not hasattr(seq, "acc"):
            seq.acc = np.zeros(seq.K.shape[:3], F32)
        seq.acc[l, :, :logits.shape[-1]] += softmax(logits, seq.model.sink(l)).sum((1, 2))
        if pos[-1] == seq.prompt_len - 1:
            self.cut(seq, l, seq.prompt_len)


def pooled(x, kernel, largest):
    """The mean or the largest of `kernel` neighbours along the last axis, zeros beyond its ends; x is not negative."""
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(kernel // 2, kernel // 2)])
    near = np.lib.stride_tricks.sliding_window_view(wide, kernel, -1)
    return near.max(-1) if largest else near.mean(-1)


def window_softmax(x, sink):
    """x [G, window, live]; sink: None, or [G, 1, 1]."""
    m = x.max(-1, keepdims=True) if sink is None else np.maximum(x.max(-1, keepdims=True), sink)
    p, own = np.exp(x - m), 0 if sink is None else np.exp(sink - m)
    p[p < F32(np.exp(-69))] = 0
    return p / (p.sum(-1, keepdims=True) + own)


class Snapkv(Evictor):
    params = dict(budget_tokens=0, cr=0.0, when="prompt", window=64, every=64, kernel=5, pool="mean", group="mean", order="time")

    def look(self, seq, l, q):
        """Adds queries [Hkv, G, rows, D] to the last ones."""
        if not hasattr(seq, "q"):
            seq.q = {}
        seq.q[l] = np.concatenate([seq.q[l], q] if l in seq.q else [q], 2)[:, :, -self.window:]

    def logits(self, seq, l, h, live):
        return seq.q[l][h] @ seq.K[l, h, live].T * F32(seq.K.shape[3] ** -0.5)                   # [G, window, live]

    def saw_prompt(self, seq, l, pos, q, logits):
        self.alive(seq)
        self.look(seq, l, q)
        n = seq.prompt_len
        if self.when == "both" and pos[-1] == n - 1:
            self.round(seq, l)
        if self.when == "prompt" and pos[-1] == n - 1 and n > seq.budget:
            for h in range(len(q)):
                x = self.logits(seq, l, h, np.arange(n))
                x[:, np.arange(n) > np.arange(n - self.window, n)[:, None]] = -np.inf
                self.cut(seq, l, h, np.arange(n), window_softmax(x, self.sink(seq, l, h))[..., :-self.window])

    def sink(self, seq, l, h):
        sink = seq.model.sink(l)
        return None if sink is None else sink[h]

    def attention(self, seq, l, h, live):
        """While decoding, and in R-KV's rounds: over the tokens before the window."""
        sink = self.sink(seq, l, h)
        return window_softmax(self.of_group(self.logits(seq, l, h, live[:-self.window])), None if sink is None else self.of_group(sink))

    def cut(self, seq, l, h, live, p):
        score = pooled(p.mean(1), self.kernel, self.pool == "max").mean(0)
        return self.keep(seq, l, h, live[:-self.window], score, seq.budget - self.window)

    def of_group(self, logits):
        return logits.max(0, keepdims=True) if self.group == "max_logit" else logits

    def round(self, seq, l):
        """R-KV's released round."""
        for h, held in enumerate(self.alive(seq)[l]):
            live = np.flatnonzero(held)
            if self.order == "score":           # then what has come since
                before = seq.order.get((l, h), np.zeros(0, int))
                live = np.concatenate([before, live[~np.isin(live, before)]])
            if len(live) < seq.budget:
                continue
            kept = self.cut(seq, l, h, live, self.attention(seq, l, h, live))
            seq.order[l, h] = np.concatenate([kept, live[-self.window:]])

    def after(self, seq, l, q, logits):
        if self.when == "prompt":
            return
        self.look(seq, l, q[:, :, None])
        if self.when == "both":
            if (logits.shape[-1] - 1) % self.every == 0:
                self.round(seq, l)
            return
        for h, held in enumerate(self.alive(seq)[l]):
            live = np.flatnonzero(held)
            if len(live) > seq.budget and len(live) % self.every == 0:
                self.cut(seq, l, h, live, self.attention(seq, l, h, live))


class Rkv(Snapkv):
    """Redundancy: cosines of all keys held, 0 for a key with itself; in each row the last entry above the threshold (with
    retain=first the first one), or the first of all if there is none, becomes 0; then the softmax of the means over rows."""
    params = dict(budget_tokens=0, cr=0.0, window=8, every=128, kernel=7, mix=0.07, threshold=0.5, when="decode", retain="last",
                  order="time", group="max_logit")

    def after(self, seq, l, q, logits):
        if self.when == "both":
            return super().after(seq, l, q, logits)
        self.look(seq, l, q[:, :, None])
        for h, held in enumerate(self.alive(seq)[l]):
            live = np.flatnonzero(held)
            if len(live) > seq.budget and logits.shape[-1] % self.every == 0:
                self.cut(seq, l, h, live, self.attention(seq, l, h, live))

    def cut(self, seq, l, h, live, p):
        score = F32(self.mix) * pooled(p.mean(1)[0], self.kernel, True) - F32(1 - self.mix) * self.redundancy(seq.K[l, h, live])[:-self.window]
        return self.keep(seq, l, h, live[:-self.window], score, seq.budget - self.window)

    def redundancy(self, K):
        unit = K / (np.linalg.norm(K, axis=-1, keepdims=True) + F32(1e-8))
        c = unit @ unit.T
        np.fill_diagonal(c, 0)
        above = c > self.threshold
        last, first = len(c) - 1 - above[:, ::-1].argmax(1), above.argmax(1)
        spare = np.where(above.any(1), first if self.retain == "first" else last, 0)
        c[np.arange(len(c)), spare] = 0
        return softmax(c.mean(0))


POLICIES = dict(random=Random, tova=Tova, h2o=H2o, snapkv=Snapkv, rkv=Rkv)
