#!/usr/bin/env python3
"""Writes a Llama with random weights, whose attention is spread, and random ids for it.

    python3 tests/peers/random_model.py FOLDER         # config.json, model.safetensors, ids.jsonl
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
          "num_hidden_layers": 12, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 512,
          "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True, "max_position_embeddings": 4096,
          "hidden_act": "silu", "bos_token_id": 0, "eos_token_id": 1, "attention_bias": False, "mlp_bias": False}
PROMPTS, LENGTH = (150, 256, 512, 700), 160        # ids after each prompt


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    c, random = CONFIG, torch.Generator().manual_seed(1)
    q, kv = (c[k] * c["head_dim"] for k in ("num_attention_heads", "num_key_value_heads"))
    wide = c["hidden_size"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], wide), "model.norm.weight": (wide,)}
    for l in range(c["num_hidden_layers"]):
        shapes |= {f"model.layers.{l}.{k}.weight": v for k, v in {
            "self_attn.q_proj": (q, wide), "self_attn.k_proj": (kv, wide), "self_attn.v_proj": (kv, wide),
            "self_attn.o_proj": (wide, q), "mlp.gate_proj": (c["intermediate_size"], wide),
            "mlp.up_proj": (c["intermediate_size"], wide), "mlp.down_proj": (wide, c["intermediate_size"]),
            "input_layernorm": (wide,), "post_attention_layernorm": (wide,)}.items()}
    tensors = {}
    for name, shape in shapes.items():
        x = torch.randn(shape, generator=random)
        tensors[name] = 1 + 0.2 * x if len(shape) == 1 else 1.4 * x * shape[1] ** -0.5
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(c, indent=1) + "\n")
    ids = lambda n: torch.randint(2, c["vocab_size"], (n,), generator=random).tolist()
    (folder / "ids.jsonl").write_text("".join(json.dumps({"prompt_len": n, "ids": ids(n + LENGTH)}) + "\n" for n in PROMPTS))


if __name__ == "__main__":
    main(*sys.argv[1:])
