#!/usr/bin/env python3
"""One table: how fast each policy decodes, beside the floor of what it reads.

    policy_speeds.py --device cuda:0 [--batch 64] [--tokens 8192] [--only NAME,NAME] [--out FILE.json]

Random weights of DeepSeek-R1-Distill-Qwen-1.5B's shape (--shape for another, whose layers the specs below must fit), each
policy at about a tenth of the reads where it has a budget and does not look at all keys to choose. A line is `kveval bench
decode --sampled` of one policy: tokens per second at the last length and from 1 to N, and the share of the floor, which is
the time that the matrix products and the reads take at the device's bandwidth. Needs nothing but Python.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# {gates}: random gates of which 0.875 are flagged, as many as ratio 8 forgets.
SPECS = [
    "full",
    "quest:k_pages=64",
    "raas:budget_tokens=1024,pin_prefill=false",
    "delta:layers=2+14+23,dense_layers=2,k_pages=64,l_pages=8",
    "kascade:anchors=0+2+7+14+21,ratio=0.1",
    "dms:gate={gates}",
    "oracle:ratio=0.1",
    "streamingllm:ratio=0.1",
    "streamingllm:form=evict,window_tokens=1024",
    "omnikv:layers=2+8+18,ratio=0.1",
    "lessismore:layers=2+13,ratio=0.1",
    "deltallm:theta=0.9",
    "random:budget_tokens=1024,pin_prompt=false",
    "tova:budget_tokens=1024",
    "h2o:budget_tokens=1024",
    "snapkv:budget_tokens=1024,when=decode",
    "rkv:budget_tokens=1024",
]


def measure(args, spec, gates):
    command = [args.kveval, "bench", "decode", "--device", args.device, "--random-weights", args.shape, "--policy",
               spec.format(gates=gates), "--batch", str(args.batch), "--tokens", str(args.tokens), "--sampled"]
    out = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    if out.returncode or len(lines) < 3:
        raise SystemExit(f"{' '.join(command)}: {out.stderr.strip() or 'no figures'}")
    return lines[-2:]


def write(args, rows):
    head = {"shape": pathlib.Path(args.shape).name, "batch": args.batch, "tokens": args.tokens}
    lines = ",\n  ".join(json.dumps(r) for r in rows)
    pathlib.Path(args.out).write_text(json.dumps(head)[:-1] + ', "rows": [\n  ' + lines + "\n]}\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--device", default="cuda:0")
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--tokens", type=int, default=8192)
    ap.add_argument("--shape", default=str(ROOT / "bench" / "shapes" / "qwen2_1.5b.json"))
    ap.add_argument("--only", help="these policies alone")
    ap.add_argument("--out", help="the figures as JSON")
    ap.add_argument("--kveval", default=str(ROOT / "build" / "kveval"))
    args = ap.parse_args()
    specs = [s for s in SPECS if not args.only or s.split(":")[0] in args.only.split(",")]
    rows = []
    print(f"| policy | tokens/s at {args.tokens} | of its floor | tokens/s, 1 to {args.tokens} | of its floor |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        gates = f"{folder}/gates.safetensors"
        subprocess.run([sys.executable, str(ROOT / "bench" / "random_gates.py"), args.shape, "0.875", gates], check=True,
                       stdout=subprocess.DEVNULL)
        for spec in specs:
            last, whole = measure(args, spec, gates)
            name = spec.format(gates="random gates")
            rows.append({"policy": name, "at_last": last["value"], "floor_at_last": last["floor"], "whole": whole["value"],
                         "floor_whole": whole["floor"]})
            print(f"| {name} | {last['value']:,.0f} | {100 * last['share']:.0f} % | {whole['value']:,.0f} | "
                  f"{100 * whole['share']:.0f} % |", flush=True)
            if args.out:  # after each row, so that a run that is ended keeps what it measured
                write(args, rows)


if __name__ == "__main__":
    main()
