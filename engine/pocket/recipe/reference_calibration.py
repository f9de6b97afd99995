#!/usr/bin/env python3
"""The measurements of `kveval calibrate` and `kveval probe recall` in NumPy, for one text (docs/calibration.md):

    python3 reference_calibration.py --model .. --problems ../problems/relay20.jsonl --new 40 --out measures.json

The text is the first problem's prompt and the first tokens of full attention's completion. Written: ids, prompt_len;
similarity and weights of Kascade; distance and recall of DELTA (k_pages 4, l_pages 2); for some policies the recall by layer.
Of a model with windows (reference.py) all of it is of the layers with full attention alone, in their order. A sink takes its
share of the probabilities; the recall of policies is a share of what the tokens hold. tests/engine/windows/calibration.json is
of the model in tests/engine/windows/trained with this tokenizer and the policies that are named in the file."""
import argparse, json
import numpy as np
from reference import (Full, Model, Sequence, Tokenizer, decode, linear, make_policy, pages, softmax)

TILE, KEEP, K_PAGES, L_PAGES = 32, 32, 4, 2
SPECS = ["quest:k_pages=4", "delta:k_pages=5,l_pages=2", "kascade:ratio=0.2,min_tokens=16,map=3:10+4:00"]


def largest(mass, k):
    return np.argsort(-mass, kind="stable")[:k]


def kascade(model, ids):
    """One forward pass in which a tile's queries see KEEP earlier tokens, their layer's own choice, and the tile; in layers
    with windows all that these hold."""
    n, lists, own, mass, turn = len(ids), {}, {}, {}, np.zeros(model.layers)

    def attend(l, q, k, v):
        K, V = k.swapaxes(0, 1), v.swapaxes(0, 1)
        q = q.reshape(n, model.kv, -1, model.dim).transpose(1, 2, 0, 3)
        logits = q @ K[:, None].swapaxes(2, 3) * model.scale
        logits[..., np.arange(n) > np.arange(n)[:, None]] = -np.inf
        if model.window[l]:
            logits[..., np.arange(n) <= np.arange(n)[:, None] - model.window[l]] = -np.inf
            see = np.ones((model.kv, n, n), bool)
        else:
            see = choose(l, softmax(logits.astype(np.float64), model.sink(l)))
        logits = np.where(see[:, None], logits, -np.inf)
        return (softmax(logits, model.sink(l)) @ V[:, None]).transpose(2, 0, 1, 3).reshape(n, -1)

    def choose(l, p):
        see = np.zeros((model.kv, n, n), bool)
        for t in range(0, n, TILE):
            for h in range(model.kv):
                m = p[h, :, t:t + TILE].sum((0, 1))
                lists[l, t, h] = largest(m[:t], KEEP)
                mass[l, t, h], own[l, t, h] = m, m[t:t + TILE].sum()
                see[h][np.ix_(range(t, min(t + TILE, n)), lists[l, t, h])] = True
                see[h, t:t + TILE, t:t + TILE] = True
        return see

    x = model.w["model.embed_tokens.weight"][ids]
    pos = np.arange(n)
    for l in range(model.layers):
        name = f"model.layers.{l}."
        proj = lambda c, y: linear(y, model.w[name + c + ".weight"], model.w.get(name + c + ".bias"))
        y = model.norm(x, name + "input_layernorm")
        q, k, v = (proj(f"self_attn.{c}_proj", y).reshape(n, -1, model.dim) for c in "qkv")
        after = x + proj("self_attn.o_proj", attend(l, model.rope(q, pos), model.rope(k, pos), v))
        a, b = x.astype(np.float64), after.astype(np.float64)
        turn[l] = np.mean(1 - (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1)))
        y = model.norm(after, name + "post_attention_layernorm")
        gate = proj("mlp.gate_proj", y)
        x = after + proj("mlp.down_proj", gate / (1 + np.exp(-gate)) * proj("mlp.up_proj", y))
    similarity = np.zeros((len(model.full), len(model.full)))
    for i, a in enumerate(model.full):
        for j, b in list(enumerate(model.full))[i:]:
            r = np.ones((model.kv, model.kv))
            for t in range(0, n, TILE):
                for hb in range(model.kv):
                    whole = mass[b, t, hb][lists[b, t, hb]].sum() + own[b, t, hb]
                    for ha in range(model.kv):
                        r[hb, ha] = min(r[hb, ha], (mass[b, t, hb][lists[a, t, ha]].sum() + own[b, t, hb]) / whole)
            similarity[i, j] = turn[b] * r.max(1).mean()
    return similarity, turn[model.full]


class Spy(Full):
    """Full attention that keeps the probabilities [Hkv, G, S] of the last step, of each layer without a window."""
    def __init__(self, model):
        super().__init__()
        self.model = model

    def select(self, seq, l, y, q, logits):
        if l == self.model.full[0]:
            seq.p = []
        seq.p.append(softmax(logits.astype(np.float64), self.model.sink(l, 3)))
        return None


def after_prompt(model, policy, ids, prompt_len):
    """A sequence after its prompt."""
    s = Sequence(model, policy, ids[:prompt_len], len(ids) - prompt_len)
    model.prefill(s, policy)
    policy.prefill_end(s)
    return s


def delta(model, ids, prompt_len):
    spy, n_steps, layers = Spy(model), 0, len(model.full)
    s = after_prompt(model, spy, ids, prompt_len)
    d, recall = np.zeros(layers), np.zeros((layers, layers))
    for token in ids[prompt_len:-1]:
        model.step([s], [token], spy)
        S = s.p[0].shape[-1]
        n = pages(S)
        mass, kept = [], []
        for p in s.p:
            flat = np.zeros(n * 16)
            flat[:S] = p.max((0, 1))
            mass.append(flat.reshape(n, 16).sum(1))
            keep = np.arange(n) >= n - L_PAGES
            keep[largest(mass[-1][:n - L_PAGES], K_PAGES - L_PAGES)] = True
            kept.append(keep | (n <= K_PAGES))
        for l in range(1, layers):
            a, b = s.p[l - 1].ravel(), s.p[l].ravel()
            d[l] += 1 - a @ b / np.sqrt((a @ a) * (b @ b))
        for a in range(layers):
            for b in range(a, layers):
                recall[a, b] += mass[b][kept[a]].sum() / mass[b].sum()
        n_steps += 1
    return d / n_steps, recall / n_steps


def probe(model, text, ids, prompt_len):
    spy, policy, n_steps = Spy(model), make_policy(text, model), 0
    full, own = after_prompt(model, spy, ids, prompt_len), after_prompt(model, policy, ids, prompt_len)
    kept, masks, select = np.zeros(len(model.full)), {}, policy.select

    def keep(seq, l, y, q, logits):
        masks[l] = select(seq, l, y, q, logits)
        return masks[l]

    policy.select = keep
    for token in ids[prompt_len:-1]:
        model.step([full], [token], spy)
        model.step([own], [token], policy)
        for i, p in enumerate(full.p):
            mask = masks[model.full[i]]
            kept[i] += 1 if mask is None else ((p * mask).sum(-1) / p.sum(-1)).mean()
        n_steps += 1
    return kept / n_steps


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "problems", "out"):
        a.add_argument("--" + name, required=True)
    a.add_argument("--new", type=int, default=40)
    a.add_argument("--policies", nargs="*", default=SPECS)
    args = a.parse_args()
    model, tok = Model(args.model), Tokenizer(args.model + "/tokenizer.json")
    prompt = [model.bos] + tok.encode(json.loads(open(args.problems, encoding="utf-8").readline())["rendered"])
    ids = prompt + decode(model, Full(), [prompt], args.new)[0].out
    similarity, turn = kascade(model, np.array(ids))
    distance, recall = delta(model, ids, len(prompt))
    out = dict(ids=[int(i) for i in ids], prompt_len=len(prompt), similarity=similarity, weights=turn, distance=distance,
               delta_recall=recall, policies={p: probe(model, p, ids, len(prompt)) for p in args.policies})
    rounded = lambda v: np.round(v, 7).tolist() if isinstance(v, np.ndarray) else v
    out["policies"] = {k: rounded(v) for k, v in out["policies"].items()}
    json.dump({k: rounded(v) for k, v in out.items()}, open(args.out, "w"))


if __name__ == "__main__":
    main()
