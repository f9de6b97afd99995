#!/usr/bin/env python3
"""Makes the files of reference/: what the NumPy reference decoder makes of 8 problems of each family, 160 tokens at most,
under the policies of table.json.

    pip install numpy regex
    python3 make.py RECIPE/reference.py MODEL_FOLDER PROBLEMS_FOLDER [NAME...]
"""
import json, pathlib, subprocess, sys, tempfile

FILES = {"oracle_t48": "oracle:budget_tokens=48,pool=all", "oracle_pages": "oracle:ratio=0.1,unit=pages",
         "oracle_m80": "oracle:mass=0.8,pool=max", "streaming_mask": "streamingllm:ratio=0.3",
         "streaming_evict": "streamingllm:window_tokens=200", "omnikv_r10": "omnikv:ratio=0.1,min_tokens=32",
         "omnikv_repo": "omnikv:ratio=0.067,of=prompt", "lessismore_r10": "lessismore:ratio=0.1,min_tokens=64",
         "lessismore_t100": "lessismore:k_tokens=100", "delta_t64": "delta_tokens:k_tokens=64,l_tokens=32",
         "delta_m60": "delta_mass:mass=0.6", "kascade_m60": "kascade_mass:mass=0.6,min_tokens=16", "deltallm": "deltallm:theta=1.0"}
TASKS = ("relay20", "algebra16", "lookup60", "choice18")
KEYS = ("ids", "finish", "kv_reads", "kv_reads_full", "min_gap", "min_select_gap")


def main(reference, model, problems, *names):
    for name in names or FILES:
        rows = []
        for task in TASKS:
            with tempfile.NamedTemporaryFile("r") as out:
                subprocess.run([sys.executable, reference, "--model", model, "--problems", f"{problems}/{task}.jsonl", "--limit", "8",
                                "--max-new", "160", "--policy", FILES[name], "--out", out.name], check=True)
                rows += [dict(task=task, problem=r["problem"], policy=r["policy"], **{k: r[k] for k in KEYS})
                         for r in map(json.loads, out)]
        path = pathlib.Path(__file__).parent / "reference" / (name + ".jsonl")
        path.write_text("".join(json.dumps(r) + "\n" for r in rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
