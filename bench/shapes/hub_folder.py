#!/usr/bin/env python3
"""Writes a model with random weights as a sharded folder of the Hugging Face Hub: config.json, an index, bf16 shards and
a tokenizer. With it `sweep --dry-run`, loading and a short sweep can be tried at a real size without the model:

    pip install numpy
    python3 bench/shapes/hub_folder.py bench/shapes/deepseek_r1_qwen_7b.json models/DeepSeek-R1-Distill-Qwen-7B

takes 15 GB and makes the shape of DeepSeek-R1-Distill-Qwen-7B; --layers 2 makes a small one of it. The tokenizer is one of
the tests' and knows few of the vocabulary's tokens, so completions are no language.

Values are uniform with a spread that keeps activations near 1, as those of a "random:" model
(engine/model/model.c); norms are 1.
"""
import argparse, json, pathlib, shutil, struct
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "tests/engine/text/tokenizers/qwen2.json"


def tensors(c):
    """(name, shape) of all tensors, in the order of the layers."""
    head = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    hidden, ffn, kv = c["hidden_size"], c["intermediate_size"], c["num_key_value_heads"] * head
    q = c["num_attention_heads"] * head
    yield "model.embed_tokens.weight", (c["vocab_size"], hidden)
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            yield f"{at}self_attn.{name}_proj.weight", (rows, hidden)
            if c["model_type"] == "qwen2":
                yield f"{at}self_attn.{name}_proj.bias", (rows,)
        if c["model_type"] == "qwen3":
            yield f"{at}self_attn.q_norm.weight", (head,)
            yield f"{at}self_attn.k_norm.weight", (head,)
        yield at + "self_attn.o_proj.weight", (hidden, q)
        yield at + "mlp.gate_proj.weight", (ffn, hidden)
        yield at + "mlp.up_proj.weight", (ffn, hidden)
        yield at + "mlp.down_proj.weight", (hidden, ffn)
        yield at + "input_layernorm.weight", (hidden,)
        yield at + "post_attention_layernorm.weight", (hidden,)
    yield "model.norm.weight", (hidden,)
    if not c["tie_word_embeddings"]:
        yield "lm_head.weight", (c["vocab_size"], hidden)


def values(name, shape, rng):
    """Little-endian bf16, in parts, so that a large matrix needs little memory."""
    if "norm" in name:
        yield np.full(shape, 0x3f80, "<u2").tobytes()
        return
    rows_at_once = max(1, (1 << 24) // shape[-1])
    for row in range(0, shape[0], rows_at_once) if len(shape) == 2 else (0,):
        n = (min(rows_at_once, shape[0] - row), shape[1]) if len(shape) == 2 else shape
        x = (rng.random(n, np.float32) * 2 - 1) * np.float32((3 / shape[-1]) ** 0.5 if len(shape) == 2 else 0.1)
        yield (x.view(np.uint32) >> 16).astype("<u2").tobytes()


def size(shape):
    return 2 * int(np.prod(shape))


def write_shard(path, part, rng):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in part:
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size(shape)]}
        at += size(shape)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name, shape in part:
            for data in values(name, shape, rng):
                f.write(data)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("shape", help="a config.json, such as bench/shapes/deepseek_r1_qwen_7b.json")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--layers", type=int, help="so many instead of all")
    p.add_argument("--shard", type=float, default=5.0, help="GB of a shard")
    a = p.parse_args()
    config = json.load(open(a.shape))
    config["num_hidden_layers"] = a.layers or config["num_hidden_layers"]
    shards = [[]]
    for t in tensors(config):
        if shards[-1] and sum(size(s) for _, s in shards[-1]) + size(t[1]) > a.shard * 1e9:
            shards.append([])
        shards[-1].append(t)
    a.folder.mkdir(parents=True, exist_ok=True)
    rng, where = np.random.default_rng(1), {}
    for i, part in enumerate(shards):
        name = f"model-{i + 1:05d}-of-{len(shards):05d}.safetensors"
        write_shard(a.folder / name, part, rng)
        where |= {tensor: name for tensor, _ in part}
    total = sum(size(s) for part in shards for _, s in part)
    index = {"metadata": {"total_size": total}, "weight_map": where}
    (a.folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")
    (a.folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    shutil.copy(TOKENIZER, a.folder / "tokenizer.json")
    print(f"{a.folder}: {len(where)} tensors, {len(shards)} shards, {total / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
