#!/usr/bin/env python3
"""Writes reference.json, what Transformers makes of SmolLM2 in fp32: ids, log-probabilities and greedy completions.

    pip install torch transformers
    python3 reference.py FOLDER >reference.json

FOLDER is what smollm2.py writes. check.py compares kveval with the file, without Transformers. The texts are licences that
every Debian system has; the file holds their SHA-256, of their ids a hash, and every eighth log-probability.
"""
import hashlib, json, os, pathlib, sys

os.environ["HF_HUB_OFFLINE"] = "1"
TEXTS = ["GPL-3", "GFDL-1.3", "MPL-2.0"]
ONLY_IDS = ["Apache-2.0", "Artistic", "BSD", "LGPL-2.1"]
LICENSES = pathlib.Path("/usr/share/common-licenses")
POSITIONS, STEP, NEW = 4000, 8, 48
MIXED = ["Zahl 12345,678 — \u201cja\u201d", "你好，世界！今天是2024年。", "😀👩‍💻🏽 ok\u200d", "def f(x):\n\treturn x**2  # \u00e9\n",
         "\u0004\u0000 control", "  spaces   and\n\n\nlines ", "الْعَرَبِيَّة עברית हिन्दी ไทย", "a<|im_end|>b"]


def hash_of(ids):
    return hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()


def main():
    import torch, transformers
    folder = sys.argv[1]
    # Not AutoTokenizer: in version 5 it replaces the pre-tokenizer of the file by that of the class it names, GPT-2.
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    out = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "texts": [], "completions": []}
    for name in TEXTS + ONLY_IDS:
        text = (LICENSES / name).read_text(encoding="utf-8")
        ids = tokenizer(text).input_ids
        row = {"file": str(LICENSES / name), "sha256": hashlib.sha256(text.encode()).hexdigest(), "n": len(ids), "ids": hash_of(ids)}
        if name in TEXTS:
            cut = torch.tensor([ids[:POSITIONS]])
            with torch.no_grad():
                logits = model(cut).logits[0, :-1].double()
            lp = torch.log_softmax(logits, -1).gather(1, cut[0, 1:, None])[:, 0].tolist()
            row |= {"positions": POSITIONS, "step": STEP, "sum": round(sum(lp), 4), "logprobs": [round(v, 5) for v in lp[::STEP]]}
        out["texts"].append(row)
    for text in MIXED:
        out["texts"].append({"text": text, "ids": tokenizer(text).input_ids})
    for prompt in (pathlib.Path(__file__).parent / "prompts.txt").read_text().splitlines():
        ids = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True,
                                            tokenize=True, return_tensors="pt", return_dict=True)["input_ids"]
        with torch.no_grad():
            done = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW,
                                  temperature=None, top_p=None, top_k=None)
        new = done[0, ids.shape[1]:].tolist()
        out["completions"].append({"prompt": prompt, "prompt_ids": ids[0].tolist(),
                                   "ids": new[:-1] if new[-1] == tokenizer.eos_token_id else new})
    texts, completions = out.pop("texts"), out.pop("completions")
    dump = lambda x: json.dumps(x, ensure_ascii=False)
    print(dump(out)[:-1] + ', "texts": [\n' + ",\n".join(map(dump, texts)) + '\n], "completions": [\n'
          + ",\n".join(map(dump, completions)) + "\n]}")


if __name__ == "__main__":
    main()
