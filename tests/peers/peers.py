#!/usr/bin/env python3
"""A policy of kveval beside its author's own code: log-probabilities of the same ids, step by step.

    pip install torch safetensors numpy
    python3 tests/peers/peers.py raas RAAS_FOLDER --policy raas:preset=RaaS@22d925d,budget_tokens=256

The peer NAME is described in the file NAME.py beside this one, and the folder is a checkout of the repository that it names;
full needs none and shows the noise. --model is a folder with config.json and safetensors of a Llama or Qwen2; --ids has lines
{"ids": prompt + completion, "prompt_len": n}; without them the embedded model decodes its own test sequences. One JSON
line; exit code 1 where a difference exceeds --limit nats.
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import numpy
import torch

import host
import random_model
import ties

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = sorted({x.stem for x in pathlib.Path(__file__).parent.glob("*.py")} - {"host", "peers", "random_model", "ties"})


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


def load(name):
    """The class of NAME.py, as a module of another name: peers have packages that are called so themselves."""
    spec = importlib.util.spec_from_file_location("peer_" + name, pathlib.Path(__file__).parent / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PEER


def windows(args):
    """Prompts of random_model.PROMPTS tokens out of the text, one after another, and what follows each."""
    line = json.dumps({"text": pathlib.Path(args.text).read_text()}) + "\n"
    said = subprocess.run([args.program, "tokenize", "--model", args.model], input=line, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(said.stderr.strip())
    ids, out = json.loads(said.stdout)["ids"], []
    for n in random_model.PROMPTS:
        out.append({"prompt_len": n, "ids": ids[:n + random_model.LENGTH]})
        ids = ids[n + random_model.LENGTH:]
    return out


def options_of(policy):
    name, _, rest = policy.partition(":")
    return dict((x.split("=", 1) for x in rest.split(",") if x), name=name)


def kveval(args, rows, policy):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)
        f.flush()
        said = subprocess.run([args.program, "logprobs", f.name, "--model", args.model, "--policy", policy,
                               "--kv-dtype", "fp32", "--threads", "1"], capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(said.stderr.strip())
    return [json.loads(x)["logprobs"] for x in said.stdout.splitlines()]


def recipe(args, rows):
    """Log-probabilities of kveval's second implementation, the NumPy decoder, in double precision."""
    sys.path.insert(0, str(ROOT / "engine/pocket/recipe"))
    reference = importlib.import_module("reference")
    model = reference.Model(args.model)
    reference.F32 = numpy.float64
    model.w, model.scale = {k: v.astype(numpy.float64) for k, v in model.w.items()}, model.dim ** -0.5
    policy = reference.make_policy(args.recipe, args.model)
    return [reference.decode(model, policy, [r["ids"][:r["prompt_len"]]], 0, [r["ids"][r["prompt_len"]:]])[0].logprobs
            for r in rows]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("peer", choices=("full", *PEERS))
    a.add_argument("folder", nargs="?", type=pathlib.Path)
    a.add_argument("--policy", default="full")
    a.add_argument("--program", default=str(ROOT / "build/kveval"))
    a.add_argument("--model", default=str(ROOT / "engine/pocket"))
    a.add_argument("--ids", help="JSONL; default: the sequences of the embedded model's tests")
    a.add_argument("--text", help="instead of --ids, windows of this text with prompts as long as random_model.py's")
    a.add_argument("--limit-tokens", type=int, default=400, help="of each completion")
    a.add_argument("--limit", type=float, default=1e-3, help="nats")
    a.add_argument("--own-rounding", action="store_true",
                   help="instead of kveval, the peer's code in double precision: what rounding alone does to it")
    a.add_argument("--recipe", metavar="POLICY",
                   help="instead of kveval, its second implementation in engine/pocket/recipe under this policy of its own, and "
                   "both sides in double precision: what is left where nothing rounds")
    a.add_argument("--torch-ties", action="store_true", help="leave the order of equal scores to torch.topk")
    a.add_argument("--exchange", type=float, default=0, metavar="APART",
                   help="let neighbours in a ranking of the peer's change places whose scores are this close, relative to them, "
                   "where that makes a step agree, and print which")
    args = a.parse_args()
    if args.peer != "full" and not (args.folder and args.folder.is_dir()):
        a.error(f"{args.peer} needs the folder of its repository")
    torch.set_num_threads(1)
    host.modules()
    ranking = ties.Ranking(args.exchange)
    if not args.torch_ties:
        torch.topk = ranking.topk
        torch.Tensor.topk = lambda *a, **k: ranking.topk(*a, **k)
    rows = ([json.loads(x) for x in open(args.ids)] if args.ids else windows(args) if args.text else
            own_sequences(args.limit_tokens))
    for row in rows:
        row["ids"] = row["ids"][:row["prompt_len"] + args.limit_tokens]
    kind = host.Peer if args.peer == "full" else load(args.peer)
    differences = []
    folder = args.folder.resolve() if args.folder else None

    def theirs(row, dtype, n=None):
        model, end = host.Model(args.model, dtype), n and row["prompt_len"] + n
        single, torch.float32 = torch.float32, dtype if args.recipe else torch.float32     # which peers ask softmax for
        try:
            return model.logprobs(kind(model, folder, options_of(args.policy)), row["ids"][:end], row["prompt_len"],
                                  ranking.begin)
        finally:
            torch.float32 = single

    others = ((theirs(row, torch.float64) for row in rows) if args.own_rounding else recipe(args, rows) if args.recipe else
              kveval(args, rows, args.policy))
    dtype = torch.float64 if args.recipe else torch.float32
    apart, before, exchanged = 0, 0, []
    for row, own, full in zip(rows, others, kveval(args, rows, "full")):
        first, found, made = ties.settle(ranking, lambda n, row=row: theirs(row, dtype, n), own, row["prompt_len"],
                                  args.limit if args.exchange else float("inf"))
        before, differences, exchanged = max(before, *first), differences + found, exchanged + made
        apart = max(apart, *(abs(x - y) for x, y in zip(own, full, strict=True)))
    worst, mean = max(differences), sum(differences) / len(differences)
    print(json.dumps({"peer": args.peer, "policy": args.policy, "model": args.model, "tokens": len(differences),
                      "max_nats": worst, "mean_nats": mean,
                      "from_full_nats": apart, "own_rounding": args.own_rounding, "recipe": args.recipe,
                      **({"exchanged": [n._asdict() for n in exchanged], "max_nats_before": before} if args.exchange else {}),
                      "steps_above_limit": sum(d > args.limit for d in differences)}))
    return worst > args.limit


if __name__ == "__main__":
    raise SystemExit(main())
