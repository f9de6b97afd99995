#!/usr/bin/env python3
"""Makes the .txt files of this folder: log-probabilities that the NumPy reference decoder gives, teacher-forced, to its
own completions of the first problem of each family under each policy.

    pip install numpy regex
    python3 make.py RECIPE/reference.py MODEL_FOLDER PROBLEMS_FOLDER

One file per policy. Lines that start with '#' are comments; then for each sequence six lines, "key value value ...":
    sequence     name
    prompt_len   tokens of the prompt in ids
    ids          prompt and completion
    logprobs     one per completion token (5 decimals)
    select_gaps  per completion token, the smallest gap between a kept and a dropped selection score in the step that
                 produced its distribution; inf: nothing was selected
    gaps         per completion token, the gap between the two largest logits of that step
"""
import importlib.util, json, pathlib, subprocess, sys, tempfile

FILES = {"full": "full", "quest_k8": "quest:k_pages=8", "quest_k16": "quest:k_pages=16",
         "delta_k16_l4": "delta:k_pages=16,l_pages=4", "delta_k16_l8": "delta:k_pages=16,l_pages=8",
         "kascade_r20": "kascade:ratio=0.2", "kascade_r50": "kascade:ratio=0.5", "raas_512": "raas:budget_tokens=512",
         "raas_768": "raas:budget_tokens=768", "dms_cr2": "dms:cr=2", "dms_cr4": "dms:cr=4", "dms_cr8": "dms:cr=8"}
HERE = pathlib.Path(__file__).parent


def main(reference, model, problems):
    spec = importlib.util.spec_from_file_location("reference", reference)
    ref = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ref)
    tok, bos = ref.Tokenizer(model + "/tokenizer.json"), json.load(open(model + "/config.json"))["bos_token_id"]
    for name, policy in FILES.items():
        rows = [r for r in map(json.loads, open(HERE.parent / "reference" / (name + ".jsonl"))) if r["problem"] == 0]
        lines = []
        for r in rows:
            first = json.loads(open(f"{problems}/{r['task']}.jsonl", encoding="utf-8").readline())
            prompt = [bos] + tok.encode(first["rendered"])
            assert first["id"] == r["id"] and len(prompt) == r["prompt_len"]
            lines.append({"ids": prompt + r["ids"], "prompt_len": len(prompt)})
        with tempfile.TemporaryDirectory() as tmp:
            with open(tmp + "/in", "w") as f:
                f.writelines(json.dumps(x) + "\n" for x in lines)
            subprocess.run([sys.executable, reference, "--model", model, "--logprobs", tmp + "/in", "--policy", policy,
                            "--out", tmp + "/out", "--threads", "1"], check=True)
            result = list(map(json.loads, open(tmp + "/out")))
        with open(HERE / (name + ".txt"), "w") as f:
            f.write(f"# {policy}: made by make.py, which states the format\n")
            for r, x, y in zip(rows, lines, result):
                gap = lambda v: "inf" if v is None else f"{v:.2e}"
                f.write(f"sequence {r['id']}\nprompt_len {x['prompt_len']}\n")
                f.write("ids " + " ".join(map(str, x["ids"])) + "\n")
                f.write("logprobs " + " ".join(f"{v:.5f}" for v in y["logprobs"]) + "\n")
                f.write("select_gaps " + " ".join(map(gap, y["select_gaps"])) + "\n")
                f.write("gaps " + " ".join(map(gap, y["gaps"])) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
