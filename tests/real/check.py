#!/usr/bin/env python3
"""Compares kveval on SmolLM2 with reference.json, which Transformers wrote: ids, log-probabilities, greedy completions.

    python3 check.py PROGRAM FOLDER [--positions N] [--device cuda:0]

FOLDER is what smollm2.py writes; on a GPU, what it writes with --fp32. Prints a line for each comparison, exit 1 when one differs. --positions cuts the texts
whose log-probabilities are decoded, step by step and with the prompt's prefill alike.
"""
import argparse, hashlib, json, pathlib, subprocess, sys

TOLERANCE = 1e-3 # of one log-probability, both sides in fp32


def filter_lines(program, lines, *arguments):
    done = subprocess.run([program, *arguments], input="".join(json.dumps(x) + "\n" for x in lines), capture_output=True,
                          text=True, encoding="utf-8")
    if done.returncode: # a refused line says why in "error"; it may stand after long good ones
        wrong = [x for x in done.stdout.split("\n") if x.startswith('{"error"')]
        sys.exit(f"{arguments[0]} ended with {done.returncode}: {done.stderr.strip()}\n" + "\n".join(wrong[:3]))
    return [json.loads(x) for x in done.stdout.split("\n") if x]


class Check:
    def __init__(self, program, folder, device):
        self.program, self.folder, self.failed = program, folder, 0
        self.decoding = ["-M", folder, "--device", device, "--kv-dtype", "fp32"]

    def say(self, is_good, text):
        print(("ok    " if is_good else "WRONG ") + text, flush=True)
        self.failed += not is_good

    def tokenize(self, texts):
        return [x["ids"] for x in filter_lines(self.program, [{"text": t} for t in texts], "tokenize", "-M", self.folder)]

    def ids(self, rows):
        short = [r for r in rows if "text" in r]
        got = self.tokenize([r["text"] for r in short])
        self.say(got == [r["ids"] for r in short], f"ids of {len(short)} lines in many scripts")
        long = {}
        for r in (r for r in rows if "file" in r):
            path = pathlib.Path(r["file"])
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if hashlib.sha256(text.encode()).hexdigest() != r["sha256"]:
                print(f"      {path} is missing or another version here: left out", flush=True)
                continue
            ids = self.tokenize([text])[0]
            same = hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest() == r["ids"] and len(ids) == r["n"]
            self.say(same, f"ids of {path}: {len(ids)}")
            long[r["file"]] = ids
        return long

    def logprobs(self, row, ids, positions):
        """All but the first token are decoded step by step; in a second run all but the last are prefilled."""
        whole = min(row["positions"], len(ids))
        n = min(positions, whole)
        got = filter_lines(self.program, [{"ids": ids[:n], "prompt_len": 1}, {"ids": ids[:n], "prompt_len": n - 1}],
                           "logprobs", *self.decoding)
        mine, last = got[0]["logprobs"], got[1]["logprobs"]
        worst = max(abs(a - b) for a, b in zip(mine[::row["step"]], row["logprobs"]))
        self.say(worst < TOLERANCE and len(mine) == n - 1, f"log-probabilities of {row['file']}, {n} positions: at most {worst:.1e} apart")
        if n == whole:
            self.say(abs(sum(mine) - row["sum"]) < TOLERANCE * 10, f"their sum: {sum(mine):.4f}, {row['sum']:.4f}")
        self.say(abs(last[-1] - mine[-1]) < TOLERANCE, f"the last one after prefill: {abs(last[-1] - mine[-1]):.1e} apart")

    def completions(self, rows):
        right = 0
        prompts = filter_lines(self.program, [{"text": r["prompt"]} for r in rows], "tokenize", "-M", self.folder, "--chat", "auto")
        for r, prompt in zip(rows, prompts):
            out = subprocess.run([self.program, "generate", *self.decoding, "--prompt", r["prompt"], "-n", "48", "--ids"],
                                 capture_output=True, text=True, check=True).stdout
            same = prompt["ids"] == r["prompt_ids"] and [int(x) for x in out.split()] == r["ids"]
            right += same
            if not same:
                print(f"      differs: {r['prompt']}", flush=True)
        self.say(right == len(rows), f"greedy completions: {right} of {len(rows)} have the same tokens")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("folder")
    p.add_argument("--positions", type=int, default=10**9)
    p.add_argument("--device", default="cpu")
    o = p.parse_args()
    reference = json.loads((pathlib.Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))
    check = Check(o.program, o.folder, o.device)
    ids = check.ids(reference["texts"])
    for row in reference["texts"]:
        if "logprobs" in row and row["file"] in ids:
            check.logprobs(row, ids[row["file"]], o.positions)
    check.completions(reference["completions"])
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
