#!/usr/bin/env python3
"""Writes DMS gates of random weights for a model's shape, of which about a share of all tokens is flagged:

    python3 random_gates.py CONFIG.json SHARE OUT.safetensors [--window 256] [--seed 1]

For measuring what memory a compression ratio frees, with --random-weights of the same shape: 0.75 is the share of CR 4. A
gate's logit is a normal number where the layer's normed input has variance 1, so its bias is the normal quantile of the share.
Heads come in pairs of opposite weights: what all tokens have in common then flags one head's more and the other's less. The
report of the run says what was held in fact. Needs nothing but Python.
"""
import argparse, array, json, random, statistics, struct


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("config")
    ap.add_argument("share", type=float)
    ap.add_argument("out")
    ap.add_argument("--window", type=int, default=256)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    c = json.load(open(a.config))
    kv, hidden = c.get("num_key_value_heads", c["num_attention_heads"]), c["hidden_size"]
    rng, bias = random.Random(a.seed), statistics.NormalDist().inv_cdf(a.share)
    header = {"__metadata__": {"window": str(a.window), "shift": "0", "from": f"random_gates.py, share {a.share:g}, seed {a.seed}"}}
    parts, at = [], 0
    for layer in range(c["num_hidden_layers"]):
        rows, w = [], []
        for head in range(kv):
            w = [-x for x in w] if head % 2 else [rng.gauss(0, hidden ** -0.5) for _ in range(hidden)]
            rows += w
        for name, shape, values in (("weight", [kv, hidden], rows), ("bias", [kv], [bias] * kv)):
            data = array.array("f", values).tobytes()
            header[f"model.layers.{layer}.self_attn.dms_proj.{name}"] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(data)]}
            parts.append(data)
            at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(a.out, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


if __name__ == "__main__":
    main()
