#!/usr/bin/env python3
"""Measures how much faster a sweep gets with more GPUs: the same jobs on 1, 2, .. of them, in a fresh run each time.

Without --run the sweep is synthetic: random weights in the shape of --shape, and 400 jobs whose lengths follow a
lognormal distribution, as those of reasoning traces do. Prints one JSON line per number of GPUs: the wall time from
start to end, loading included, and the ratio to the first one; and the seconds of decoding alone and their ratio.
"""
import argparse
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lognormal_lengths(n, mean, sigma, seed):
    """n different lengths whose distribution has this mean."""
    r, out = random.Random(seed), set()
    while len(out) < n:
        out.add(max(16, round(r.lognormvariate(math.log(mean) - sigma * sigma / 2, sigma))))
    out = list(out)
    r.shuffle(out)
    return out


def synthetic(args, folder):
    run = {
        "model": "pocket", "temperature": 1, "ignore_eos": True, "samples": 2, "policies": ["full"],
        "tasks": [{"name": "relay", "problems": 5}],
        "max_new_tokens": lognormal_lengths(args.jobs // 10, args.mean, 0.5, 1),
    }
    path = folder / "scaling.json"
    path.write_text(json.dumps(run))
    # Few sequences at a time per GPU: with as many as there are jobs, only the longest job would be measured.
    return [str(path), "--model", f"random:{args.shape}", "-b", "32"], f"{args.jobs // 10 * 10} jobs, random weights of {pathlib.Path(args.shape).stem}"


def decoding_seconds(log):
    """Of the line "400 completions, 1000000 tokens in 1 min 20 s: 12500 tokens/s"; None without it."""
    m = re.search(r", (\d+) tokens in .*: (\d+) tokens/s$", log)
    return int(m[1]) / int(m[2]) if m else None


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--program", default=str(ROOT / "build/kveval"))
    p.add_argument("--counts", default="1,2", help="numbers of GPUs")
    p.add_argument("--backend", default="cuda", help="cuda or cpu")
    p.add_argument("--run", help="a run file instead of the synthetic sweep")
    p.add_argument("--shape", default=str(ROOT / "bench/shapes/qwen2_1.5b.json"))
    p.add_argument("--jobs", type=int, default=400)
    p.add_argument("--mean", type=int, default=1000, help="tokens of a job")
    args = p.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    base, base_decoding, status = None, None, 0
    try:
        what, name = ([args.run], pathlib.Path(args.run).stem) if args.run else synthetic(args, folder)
        for count in map(int, args.counts.split(",")):
            devices = f"{args.backend}:0" + (f"-{count - 1}" if count > 1 else "")
            command = [args.program, "sweep", *what, "-o", str(folder / f"out{count}"), "--devices", devices]
            start = time.monotonic()
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            seconds = time.monotonic() - start
            if done.returncode:
                print(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
                status = 1
                break
            log = (done.stderr.strip().splitlines() or [""])[-1]
            decoding = decoding_seconds(log)
            base, base_decoding = base or seconds, base_decoding or decoding
            print(json.dumps({"name": f"sweep {name}, {devices}", "value": round(seconds, 2), "unit": "s",
                              "ratio": round(base / seconds, 3), "decoding": decoding and round(decoding, 2),
                              "decoding_ratio": decoding and round(base_decoding / decoding, 3), "log": log}), flush=True)
    finally:
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
