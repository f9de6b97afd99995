#!/usr/bin/env python3
"""Writes folders.test: what Transformers 4.57 and 5.24 make of a tokenizer.json beside a tokenizer_config.json.

    python3 -m venv v4; v4/bin/pip install 'transformers==4.57.*' jinja2
    python3 -m venv v5; v5/bin/pip install 'transformers==5.24.*' jinja2
    python3 folders.py v4/bin/python v5/bin/python

A row: "base" (a file of tokenizers/) with "tokenizer" (fields of it replaced) beside "config", and "texts" and
"prompts" (user texts in the chat template): lists of [text, ids of version 4, ids of version 5]. ids null: that
version cannot load the folder (4 converts sentencepiece's own file for LlamaTokenizer, which these folders lack).
"""
import json, os, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).parent
CHAT = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def byte_level(prefix):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}


def sequence(prefix):
    return {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level(prefix)]}


def metaspace(scheme):
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": False}


def folders():
    texts = ["Hello world", " x", "a b\nc", "12 34", "a<|endoftext|>b <|endoftext|>"]
    for name in ("PreTrainedTokenizerFast", "Qwen2Tokenizer", "GPT2TokenizerFast", "LlamaTokenizerFast"):
        for pre in (byte_level(False), byte_level(True), sequence(False), sequence(True)):
            for prefix in ("absent", None, False, True):
                config = {"tokenizer_class": name, "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>",
                          "add_bos_token": False}
                if prefix != "absent":
                    config["add_prefix_space"] = prefix
                yield "gpt2", {"pre_tokenizer": pre}, config, texts, []
    marks = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    texts = ["Hello the world", " x", "  y", "a</s>b", "<s> c"]
    for fields in ({}, {"normalizer": marks}, {"normalizer": None, "pre_tokenizer": metaspace("first")},
                   {"normalizer": None, "pre_tokenizer": metaspace("never")}):
        for legacy in ("absent", False, True):
            for prefix in ("absent", False, True):
                config = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
                          "add_bos_token": False}
                if prefix != "absent":
                    config["add_prefix_space"] = prefix
                if legacy != "absent":
                    config["legacy"] = legacy
                yield "llama2", fields, config, texts, []
    texts = ["a<|im_end|>b", "<think> x </think>", "plain"]
    for name in ("PreTrainedTokenizerFast", "Qwen2TokenizerFast"):
        for split in ("absent", False, True):
            config = {"tokenizer_class": name, "eos_token": "<|im_end|>", "chat_template": CHAT}
            if split != "absent":
                config["split_special_tokens"] = split
            yield "qwen2", {}, config, texts, ["Hi", "Hi  there <|im_ end|>\n"]


def load(folder):
    from transformers import AutoTokenizer
    try:
        return AutoTokenizer.from_pretrained(folder)
    except Exception:
        return None


def ids_of(base, fields, config, texts, prompts):
    file = json.loads((HERE / "tokenizers" / (base + ".json")).read_text(encoding="utf-8")) | fields
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("tokenizer", file), ("tokenizer_config", config), ("config", {"model_type": "llama"})):
            (pathlib.Path(folder) / (name + ".json")).write_text(json.dumps(value), encoding="utf-8")
        tok = load(folder)
        if not tok:
            return [None for _ in texts], [None for _ in prompts]
        one = [tok(t, add_special_tokens=False).input_ids for t in texts]
        two = [tok(tok.apply_chat_template([{"role": "user", "content": t}], tokenize=False, add_generation_prompt=True),
                   add_special_tokens=False).input_ids for t in prompts]
        return one, two


def main():
    if len(sys.argv) == 1:
        for case in folders():
            print(json.dumps(ids_of(*case)))
        return
    made = []
    for python in sys.argv[1:]:
        done = subprocess.run([python, __file__], capture_output=True, text=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        if done.returncode:
            sys.exit(done.stderr)
        made.append([json.loads(line) for line in done.stdout.splitlines()])
    with open(HERE / "folders.test", "w", encoding="utf-8", newline="\n") as f:
        for (base, fields, config, texts, prompts), four, five in zip(folders(), *made, strict=True):
            row = {"base": base, "tokenizer": fields, "config": config,
                   "texts": [list(x) for x in zip(texts, four[0], five[0])],
                   "prompts": [list(x) for x in zip(prompts, four[1], five[1])]}
            f.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
