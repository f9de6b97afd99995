#!/usr/bin/env python3
"""Makes the files of reference/: what the NumPy reference decoder makes of 8 problems of each family, 64 tokens at most,
under the policies of table.json.

    pip install numpy regex
    python3 make.py RECIPE/reference.py MODEL_FOLDER PROBLEMS_FOLDER [NAME...]
"""
import json, pathlib, subprocess, sys, tempfile

FILES = {"tova_b96": "tova:budget_tokens=96", "h2o_b96": "h2o:budget_tokens=96",
         "snapkv_b96": "snapkv:budget_tokens=96,window=32,kernel=7,pool=max",
         "snapkv_d96": "snapkv:budget_tokens=96,when=decode,window=32,every=32", "rkv_b96": "rkv:budget_tokens=96,every=32",
         "random_b96": "random:budget_tokens=96,recent=32,every=32"}
TASKS = ("relay20", "algebra16", "lookup60", "choice18")
KEYS = ("ids", "finish", "kv_reads", "kv_reads_full", "min_gap", "min_select_gap")


def main(reference, model, problems, *names):
    for name in names or FILES:
        rows = []
        for task in TASKS:
            with tempfile.NamedTemporaryFile("r") as out:
                subprocess.run([sys.executable, reference, "--model", model, "--problems", f"{problems}/{task}.jsonl", "--limit", "8",
                                "--max-new", "64", "--policy", FILES[name], "--out", out.name], check=True)
                rows += [dict(task=task, problem=r["problem"], policy=r["policy"], **{k: r[k] for k in KEYS})
                         for r in map(json.loads, out)]
        path = pathlib.Path(__file__).parent / "reference" / (name + ".jsonl")
        path.write_text("".join(json.dumps(r) + "\n" for r in rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
