#!/usr/bin/env python3
"""Writes a Llama with random weights, whose attention is spread, random ids for it, and random gates: kvzap as KVzap's linear
scorers, dms as NVIDIA's adapters. The model itself lends the last channel of its queries too, for dms:neuron=last.

    python3 tests/peers/random_model.py FOLDER [KV_HEADS]      # config.json, model.safetensors, ids.jsonl
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
          "num_hidden_layers": 12, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 512,
          "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True, "max_position_embeddings": 4096,
          "hidden_act": "silu", "dms_window_size": 32, "bos_token_id": 0, "eos_token_id": 1, "attention_bias": False,
          "mlp_bias": False}
PROMPTS, LENGTH = (150, 256, 512, 700), 160        # ids after each prompt


def main(folder, kv_heads=CONFIG["num_key_value_heads"]):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    c, random = CONFIG | {"num_key_value_heads": int(kv_heads)}, torch.Generator().manual_seed(1)
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
    gates, own = {"kvzap": {}, "dms": {}}, torch.Generator().manual_seed(2)
    for l in range(c["num_hidden_layers"]):
        w = torch.randn((c["num_key_value_heads"], wide), generator=own) * wide ** -0.5
        gates["kvzap"] |= {f"layers.{l}.weight": w, f"layers.{l}.bias": torch.randn(len(w), generator=own)}
        gates["dms"] |= {f"model.layers.{l}.self_attn.dms_proj_alpha.weight": 0.1 * w,
                         f"model.layers.{l}.self_attn.dms_proj_alpha_norm.weight":
                         1 + 0.2 * torch.randn(wide, generator=own)}
    for name, tensors in gates.items():
        (folder / name).mkdir(exist_ok=True)
        save_file(tensors, folder / name / "model.safetensors", metadata={"format": "pt"})
    (folder / "dms/config.json").write_text(json.dumps({"dms_window_size": 32, "dms_separate_alpha": True}))
    (folder / "config.json").write_text(json.dumps(c, indent=1) + "\n")
    ids = lambda n: torch.randint(2, c["vocab_size"], (n,), generator=random).tolist()
    (folder / "ids.jsonl").write_text("".join(json.dumps({"prompt_len": n, "ids": ids(n + LENGTH)}) + "\n" for n in PROMPTS))


if __name__ == "__main__":
    main(*sys.argv[1:])
