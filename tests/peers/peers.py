#!/usr/bin/env python3
"""A policy of kveval beside its author's own code: log-probabilities of the same ids, step by step.

    pip install torch safetensors numpy
    python3 tests/peers/peers.py raas RAAS_FOLDER --policy raas:preset=RaaS@22d925d,budget_tokens=256

Peers: omnikv, quest, raas, rkv (also for snapkv), tova, and full, which needs no folder and shows the noise. The folder is a
checkout of the repository that the file NAME.py beside this one names. --model is a folder with config.json and safetensors of a Llama or
Qwen2; --ids has lines {"ids": prompt + completion, "prompt_len": n}; without them the embedded model decodes its own test
sequences. One JSON line; exit code 1 where a difference exceeds --limit nats.
"""
import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch

import host

ROOT = pathlib.Path(__file__).resolve().parents[2]


def own_sequences(limit):
    """The sequences of tests/data/pocket/logprobs."""
    out = []
    for line in open(ROOT / "tests/data/pocket/logprobs/full.txt", encoding="utf-8"):
        key, _, rest = line.partition(" ")
        if key == "prompt_len":
            out.append({"prompt_len": int(rest)})
        elif key == "ids":
            out[-1]["ids"] = [int(x) for x in rest.split()][:out[-1]["prompt_len"] + limit]
    return out


def options_of(policy):
    name, _, rest = policy.partition(":")
    return dict((x.split("=", 1) for x in rest.split(",") if x), name=name)


def kveval(args, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)
        f.flush()
        said = subprocess.run([args.program, "logprobs", f.name, "--model", args.model, "--policy", args.policy,
                               "--kv-dtype", "fp32"], capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(said.stderr.strip())
    return [json.loads(x)["logprobs"] for x in said.stdout.splitlines()]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("peer", choices=("full", "omnikv", "quest", "raas", "rkv", "tova"))
    a.add_argument("folder", nargs="?", type=pathlib.Path)
    a.add_argument("--policy", default="full")
    a.add_argument("--program", default=str(ROOT / "build/kveval"))
    a.add_argument("--model", default=str(ROOT / "engine/pocket"))
    a.add_argument("--ids", help="JSONL; default: the sequences of the embedded model's tests")
    a.add_argument("--limit-tokens", type=int, default=400, help="of each completion of these")
    a.add_argument("--limit", type=float, default=1e-3, help="nats")
    a.add_argument("--own-rounding", action="store_true",
                   help="instead of kveval, the peer's code in double precision: what rounding alone does to it")
    a.add_argument("--torch-ties", action="store_true", help="leave the order of equal scores to torch.topk")
    args = a.parse_args()
    if args.peer != "full" and not (args.folder and args.folder.is_dir()):
        a.error(f"{args.peer} needs the folder of its repository")
    host.modules()
    if not args.torch_ties:
        torch.topk = torch.Tensor.topk = host.stable_topk
    rows = [json.loads(x) for x in open(args.ids)] if args.ids else own_sequences(args.limit_tokens)
    kind = host.Peer if args.peer == "full" else importlib.import_module(args.peer).PEER
    differences = []
    folder = args.folder.resolve() if args.folder else None

    def theirs(row, dtype):
        model = host.Model(args.model, dtype)
        return model.logprobs(kind(model, folder, options_of(args.policy)), row["ids"], row["prompt_len"])

    others = (theirs(row, torch.float64) for row in rows) if args.own_rounding else kveval(args, rows)
    for row, own in zip(rows, others):
        differences += [abs(x - y) for x, y in zip(own, theirs(row, torch.float32), strict=True)]
    worst, mean = max(differences), sum(differences) / len(differences)
    print(json.dumps({"peer": args.peer, "policy": args.policy, "model": args.model, "tokens": len(differences),
                      "max_nats": worst, "mean_nats": mean,
                      "own_rounding": args.own_rounding, "steps_above_limit": sum(d > args.limit for d in differences)}))
    return worst > args.limit


if __name__ == "__main__":
    raise SystemExit(main())
