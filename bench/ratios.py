#!/usr/bin/env python3
"""Prints ratios between the figures of a results file, beside those of the papers.

    python3 bench/ratios.py bench/results/h200.json

Figures have the names that `kveval bench` and bench/transformers print; the notes in the file say which are from
another card. If the file lacks a figure that a row needs, the row is named on standard error and the exit code is 1.
"""
import json
import pathlib
import re
import sys

from record import key

DELTA = "delta:layers=2+14+22,dense_layers=2,k_pages=64,l_pages=8"


def read(path):
    """Maps each figure's name without its time to the microseconds in the name, or to the value if it has none."""
    out = {}
    for run in json.loads(pathlib.Path(path).read_text())["runs"]:
        for f in run["figures"]:
            if "name" not in f:
                continue
            name = key(f)
            time = re.fullmatch(r", ([0-9.]+) ([um])s", f["name"][len(name):])
            for long, short in ((r" random:\S*/", " "), (r"FlashInfer \S+ batch decode", "flashinfer"),
                                (r"cuDNN \S+ attention, K and V contiguous,", "cudnn")):
                name = re.sub(long, short, name)
            out[name] = float(time[1]) * (1000 if time[2] == "m" else 1) if time else f["value"]
    return out


def attention(heads, context, what, of="attention"):
    return f"{of} {heads} heads d 128, bf16 KV, batch 64 x {context}: {what}"


def parts(f, policy):
    """Attention and selection of a step, microseconds of all layers."""
    part = re.compile(re.escape(f"components qwen2_1.5b.json {policy} ") + r".*: (attention, .*|page selection), \d+ operations?$")
    mine = [v for n, v in f.items() if part.match(n)]
    if not mine:
        raise KeyError(part.pattern)
    return sum(mine)


def kascade(f, context):
    """As in Table 3 of Kascade (arXiv 2512.16391): of 32 layers the first is dense and selects, 4 select by reading keys
    only, and 27 read a tenth of the tokens."""
    full, dump = (f[attention("32/8", context, w)] for w in ("full", "full with logit dump"))
    scan, reuse = (f[attention("32/8", context, w)] for w in ("logits alone", f"tokens {context // 10}"))
    select = f[f"topk 32/8 heads, batch 64 x {context}: reduce_stats and topk, {context // 10} tokens"]
    return 32 * full / (dump + select + 4 * (scan + select + reuse) + 27 * reuse)


def layer(f, shape, count):
    """cuBLASLt's fastest products of a layer for so many rows, and SwiGLU after them, over ours, one of which has SwiGLU in
    it. What SwiGLU takes is the difference between both apart and our product alone."""
    def ours(product):
        name = re.compile(rf"linear {shape} {product}, \d+ x \d+, {count} rows: ([0-9.]+) us$")
        mine = [float(m.group(1)) for m in map(name.match, f) if m]
        if not mine:
            raise KeyError(name.pattern)
        return mine[0]
    products = ("qkv", "o", "gate and up", "down")
    theirs = sum(f[f"linear {shape} {p}, {count} rows: beside the library at its fastest"] for p in products)
    swiglu = f[f"linear {shape} gate and up with SwiGLU, {count} rows: beside the two apart"] - ours("gate and up")
    return (theirs + swiglu) / sum(ours(p + " with SwiGLU" if p == "gate and up" else p) for p in products)


def rows(f):
    """Rows of (what the ratio is, how to compute it, its unit, the published figure to compare with)."""
    for heads, context in (("12/2", 18432), ("32/8", 32768), ("32/8", 65536)):
        dump, full = attention(heads, context, "full with logit dump"), attention(heads, context, "full")
        yield (f"longer with the logit dump than full attention, {heads} heads, {context} tokens",
               lambda: 100 * (f[dump] / f[full] - 1), "%", "")
    yield ("time of full attention over that of 64 pages, 12/2 heads, 18432 tokens",
           lambda: f[attention("12/2", 18432, "full")] / f[attention("12/2", 18432, "pages 64")], "x", "")
    for context in (65536, 131072):
        if attention("32/8", context, "logits alone") in f:
            yield (f"time of full attention over that of Kascade at 10 %, {context} tokens", lambda: kascade(f, context), "x",
                   "4.1 on an H100 (Kascade, Table 3)")
    for policy, name in ((DELTA, "DELTA, K=64, L=8"), ("quest:k_pages=64", "Quest, K=64")):
        yield (f"time of full attention over that of {name} with its selection, 16384 tokens",
               lambda: parts(f, "full") / parts(f, policy), "x", "")
    whole = "batch 64, 1 to 18432 tokens, estimated by the trapezoid rule from 13 sampled lengths"
    yield ("tokens/s under DELTA, K=64, L=8, over those under full attention, 1 to 18432 tokens",
           lambda: f[f"decode qwen2_1.5b.json {DELTA} {whole}"] / f[f"decode qwen2_1.5b.json full {whole}"], "x",
           "1.55 on an A100 (DELTA, Figure 4)")
    for shape in ("1.5B", "8B"):
        for count in (1, 16, 64, 96, 128, 192, 256, 512):
            yield (f"cuBLASLt's fastest time over ours for the products of a layer of the {shape} shape, {count} rows",
                   lambda: layer(f, shape, count), "x", "")
    for context in (1024, 4096):
        theirs = f"Transformers generate qwen2_1.5b batch 64 from {context} to {context + 64} tokens, dynamic cache, sdpa"
        yield (f"tokens/s over those of Transformers' generate(), {context} tokens",
               lambda: f[f"decode qwen2_1.5b.json full batch 64 at {context} tokens, sampled"] / f[theirs], "x", "")
    for shape in ("qwen2_1.5b", "llama_8b"):
        for tokens in (1024, 4096, 16384):
            yield (f"Transformers' time over ours, a prompt of {tokens} tokens, {shape}",
                   lambda: 1000 * f[f"Transformers prompt {shape} of {tokens} tokens, sdpa"]
                   / f[f"prefill {shape}.json full of {tokens} tokens"], "x", "")
    for heads, context in (("12/2", 4096), ("12/2", 18432), ("12/2", 65536), ("32/8", 8192), ("32/8", 32768), ("32/8", 65536)):
        yield (f"cuDNN's time, K and V in one piece, over ours, pages in order, {heads} heads, {context} tokens",
               lambda: f[attention(heads, context, "full", "cudnn")] / f[attention(heads, context, "full, pages in order")],
               "x", "")
    for heads, context, what in (("12/2", 4096, "full"), ("12/2", 18432, "full"), ("12/2", 65536, "full"), ("12/2", 18432, "pages 64"),
                                 ("32/8", 8192, "full"), ("32/8", 32768, "full"), ("32/8", 65536, "full"), ("32/8", 18432, "pages 64")):
        yield (f"FlashInfer's time over ours, scattered pages, {heads} heads, {context} tokens, {what}",
               lambda: f[attention(heads, context, what, "flashinfer")] / f[attention(heads, context, what)], "x", "")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    status = 0
    for what, value, unit, beside in rows(read(sys.argv[1])):
        try:
            print(f"{value():8.2f} {unit:2} {what}" + (f"; {beside}" if beside else ""))
        except KeyError as e:
            print(f"not in the file: {e}, for: {what}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
