#!/usr/bin/env python3
"""Kascade's sparse prefill for the reference decoder (reference.py, whose options it takes):

    python3 reference_prefill.py --model .. --problems ../problems/lookup60.jsonl --policy kascade_prefill:ratio=0.2 --out ids.jsonl

Choices (N = tokens of the prompt, s0 = a tile's first position): queries are taken in tiles of `tile`; a tile sees its own
tokens up to the query, and of the earlier ones a list per KV head. Anchors sum the probabilities of all the tile's queries
and of the group's heads over the earlier tokens and take the k largest, the lower position first among equals:
    k = min(most, s0), or with rolling=1 min(most, max(min_tokens, floor(ratio*s0)), s0)
    most = min(max(min_tokens, floor(ratio*N)), N), less `minus` if given, else less a tile unless it is N
With pre=1 queries are pooled before the softmax: the k tokens with the largest logits of the mean of these queries.
Layer 0 chooses and attends to everything; the other layers attend to the list of the nearest anchor at or below them, each
KV head to that of its anchor head. Decoding is reference.py's kascade, less `minus`."""
import numpy as np
import reference
from reference import Kascade, logsumexp


class KascadePrefill(Kascade):
    params = Kascade.params | dict(tile=32, minus=0, rolling=0)

    def budget(self, seq, s0):
        n = seq.prompt_len
        most = min(max(self.min_tokens, int(self.ratio * n)), n)
        most = max(0, most - (self.minus if self.minus or most == n else self.tile))
        return min(most, max(self.min_tokens, int(self.ratio * s0)), s0) if self.rolling else min(most, s0)

    def hidden_in_prefill(self, seq, l, y, pos, logits):
        """Chunks begin at multiples of a tile."""
        kv, _, rows, S = logits.shape
        if l == seq.full[0] or l in self.anchors:
            p = seq.log_probs(l, logits).transpose(0, 2, 1, 3)                                # [Hkv, rows, G, S]
            seq.listed = np.zeros((kv, rows, S), bool)
            for r0 in range(0, rows, self.tile):
                s0, r1 = int(pos[r0]), min(r0 + self.tile, rows)
                if s0:
                    mass = (logits[:, :, r0:r1, :s0].mean((1, 2)) if self.pre else
                            logsumexp(p[:, r0:r1, :, :s0].reshape(kv, -1, s0).swapaxes(1, 2))[..., 0])
                    for h in range(kv):
                        seq.listed[h, r0:r1, seq.top(mass[h], self.budget(seq, s0))] = True
                seq.listed[:, r0:r1, s0:] = True
        if l == seq.full[0]:
            return None
        return ~seq.listed[self.map.get(l, slice(None))][:, None]

    def select(self, seq, l, y, q, logits):
        S = logits.shape[-1]
        self.k_tokens = max(0, min(S, max(int(self.ratio * S), self.min_tokens)) - self.minus)
        return super().select(seq, l, y, q, logits)


POLICIES = dict(kascade_prefill=KascadePrefill)

if __name__ == "__main__":
    reference.main()
