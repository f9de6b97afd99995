#!/usr/bin/env python3
"""SmolLM2-135M-Instruct, or another small model, on this CPU: kveval beside llama.cpp and Transformers.

    cpu_peers.py MODEL [--tokens 1024] [--threads 2] [--llama-bench PATH --gguf FILE,FILE] [--kveval build/kveval]

MODEL is a Hugging Face folder (`./kv real` writes models/SmolLM2-135M-Instruct). Each program runs alone, one after the other:
prompts of --tokens tokens, then as many decoded by one sequence and by a batch of 8, in tokens a second. Transformers is
measured where it can be imported (with PyTorch), llama.cpp where --llama-bench names its program and --gguf the model's files
in its format. Prints one Markdown table. Leave the machine otherwise idle.
"""
import argparse
import json
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 8


def figures_of(command):
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {out.stderr.strip()}")
    return [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]


def measure_kveval(args):
    common = ["--model", args.model, "--threads", str(args.threads)]
    prompt = figures_of([args.kveval, "bench", "prefill", "--tokens", str(args.tokens), *common])
    found = {"prompts": prompt[0]["value"]}
    for batch in (1, BATCH):
        lines = figures_of([args.kveval, "bench", "decode", "--tokens", str(args.tokens), "--batch", str(batch), *common])
        found[f"decoding, batch {batch}"] = next(f["value"] for f in lines if ", 1 to " in f["name"])
    return found


def measure_transformers(args):
    try:
        import torch
        from transformers import AutoModelForCausalLM
    except ImportError:
        return None
    torch.set_num_threads(args.threads)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16).eval()
    ids = torch.randint(100, 1000, (BATCH, args.tokens), generator=torch.Generator().manual_seed(1))
    found = {}
    with torch.no_grad():
        model(ids[:1, :16])
        start = time.monotonic()
        model(ids[:1])
        found["prompts"] = args.tokens / (time.monotonic() - start)
        for batch in (1, BATCH):
            start = time.monotonic()
            model.generate(ids[:batch, :1], max_new_tokens=args.tokens, min_new_tokens=args.tokens, do_sample=False)
            found[f"decoding, batch {batch}"] = batch * args.tokens / (time.monotonic() - start)
    return found


def measure_llama(args, gguf):
    out = subprocess.run([args.llama_bench, "-m", gguf, "-p", str(args.tokens), "-n", str(args.tokens), "-t", str(args.threads),
                          "-r", "1", "-o", "json"], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{args.llama_bench}: {out.stderr.strip()}")
    return {"prompts" if row["n_prompt"] else "decoding, batch 1": row["avg_ts"] for row in json.loads(out.stdout)}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model")
    ap.add_argument("--tokens", type=int, default=1024)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--llama-bench")
    ap.add_argument("--gguf", default="", help="files for llama-bench, separated by commas")
    ap.add_argument("--kveval", default=str(ROOT / "build" / "kveval"))
    args = ap.parse_args()
    columns = {"kveval": measure_kveval(args)}
    for gguf in filter(None, args.gguf.split(",")):
        columns[f"llama.cpp {pathlib.Path(gguf).name}"] = measure_llama(args, gguf)
    transformers = measure_transformers(args)
    if transformers:
        columns["Transformers"] = transformers
    print("| tokens/s | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for what in ("prompts", "decoding, batch 1", f"decoding, batch {BATCH}"):
        print(f"| {what} | " + " | ".join(f"{c[what]:.0f}" if what in c else "" for c in columns.values()) + " |")


if __name__ == "__main__":
    main()
