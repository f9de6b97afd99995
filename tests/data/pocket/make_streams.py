#!/usr/bin/env python3
"""Makes the files of selectors/reference/ and evictors/reference/: what the NumPy reference decoder makes of 8 problems of
each family under the policies of their table.json.

    pip install numpy regex
    python3 make_streams.py RECIPE/reference.py MODEL_FOLDER selectors|evictors [NAME...]
"""
import json, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).parent
TOKENS = {"selectors": "160", "evictors": "64"}
FILES = {
    "selectors": {
        "oracle_t48": "oracle:budget_tokens=48,pool=all",
        "oracle_pages": "oracle:ratio=0.1,unit=pages",
        "oracle_m80": "oracle:mass=0.8,pool=max",
        "streaming_mask": "streamingllm:ratio=0.3",
        "streaming_evict": "streamingllm:window_tokens=200",
        "omnikv_r10": "omnikv:ratio=0.1,min_tokens=32",
        "omnikv_context": "omnikv:ratio=0.067,of=prompt",
        "omnikv_released": "omnikv:ratio=0.067,of=prompt,score=logit",
        "omnikv_class": "omnikv:ratio=0.067,of=prompt,score=prompt",
        "raas_released": "raas:budget_tokens=96,dense_layers=0,released=1",
        "raas_dense": "raas:budget_tokens=64,dense_layers=2,released=1",
        "lessismore_r10": "lessismore:ratio=0.1,min_tokens=64",
        "lessismore_t100": "lessismore:k_tokens=100",
        "delta_t64": "delta_tokens:k_tokens=64,l_tokens=32",
        "delta_m60": "delta_mass:mass=0.6",
        "kascade_m60": "kascade_mass:mass=0.6,min_tokens=16",
        "deltallm": "deltallm:theta=1.0",
    },
    "evictors": {
        "tova_b96": "tova:budget_tokens=96",
        "h2o_b96": "h2o:budget_tokens=96",
        "snapkv_b96": "snapkv:budget_tokens=96,window=32,kernel=7,pool=max",
        "snapkv_d96": "snapkv:budget_tokens=96,when=decode,window=32,every=32",
        "snapkv_released": ("snapkv:budget_tokens=96,when=both,window=8,every=16,kernel=7,pool=max,group=max_logit,"
                            "order=score"),
        "rkv_released": "rkv:budget_tokens=96,when=both,every=16,order=score",
        "rkv_both": "rkv:budget_tokens=96,when=both,every=16",
        "rkv_b96": "rkv:budget_tokens=96,every=32",
        "rkv_first": "rkv:budget_tokens=96,every=32,retain=first",
        "random_b96": "random:budget_tokens=96,recent=32,every=32",
    },
}
TASKS = ("relay20", "algebra16", "lookup60", "choice18")
KEYS = ("ids", "finish", "kv_reads", "kv_reads_full", "key_elements", "min_gap", "min_select_gap")


def main(reference, model, kind, *names):
    for name in names or FILES[kind]:
        rows = []
        for task in TASKS:
            with tempfile.NamedTemporaryFile("r") as out:
                subprocess.run([sys.executable, reference, "--model", model, "--problems", f"{HERE}/problems/{task}.jsonl",
                                "--limit", "8", "--max-new", TOKENS[kind], "--policy", FILES[kind][name], "--out", out.name],
                               check=True)
                rows += [dict(task=task, problem=r["problem"], policy=r["policy"], **{k: r[k] for k in KEYS if k in r})
                         for r in map(json.loads, out)]
        (HERE / kind / "reference" / (name + ".jsonl")).write_text("".join(json.dumps(r) + "\n" for r in rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
