#!/usr/bin/env python3
"""Makes qwen3/neuron_*.txt: log-probabilities of the tiny Qwen3 model as a DMS checkpoint whose gates are a borrowed
channel of the queries, as nvidia/Qwen3-8B-DMS-8x has them. Transformers' modules in fp32 on the CPU, with the mask of
all queries and keys at once; written from the description in docs/policies.md. The format is make.py's.

    python3 make_neuron.py
"""
import json, pathlib, re
import torch
from transformers import AutoModelForCausalLM
from transformers.models.qwen3.modeling_qwen3 import apply_rotary_pos_emb

FOLDER = pathlib.Path(__file__).parent / "qwen3"
CASES = {  # channel, shift, is anything forgotten
    "neuron_last": (-1, 1, True), "neuron_last_kept": (-1, 1, False), "neuron_first": (0, 0, True)}


@torch.no_grad()
def logprobs(model, c, ids, channel, shift, evicts):
    n, H, KV, D = len(ids), c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    x = model.model.embed_tokens(torch.tensor([ids]))
    cos, sin = model.model.rotary_emb(x, torch.arange(n)[None])
    q_at, k_at = torch.arange(n)[:, None], torch.arange(n)[None]
    flagged = 0
    for layer in model.model.layers:
        a, y = layer.self_attn, layer.input_layernorm(x)
        q = a.q_norm(a.q_proj(y).view(1, n, H, D)).transpose(1, 2)
        k = a.k_norm(a.k_proj(y).view(1, n, KV, D)).transpose(1, 2)
        v = a.v_proj(y).view(1, n, KV, D).transpose(1, 2)
        lent = q[:, ::H // KV, :, channel]
        decision = lent[0] * c["dms_alpha_scale"] - c["dms_initial_alpha_offset"] > 0       # (KV, n)
        q[:, ::H // KV, :, channel] = 0
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        q[:, ::H // KV, :, channel] = 0
        of_key = torch.zeros_like(decision)
        of_key[:, :n - shift] = decision[:, shift:]
        flagged += of_key.float().mean().item() / len(model.model.layers)
        seen = (k_at <= q_at) & ~(of_key[:, None] & (q_at - k_at > c["dms_window_size"]) & evicts)
        seen = seen.repeat_interleave(H // KV, 0)[None]
        k, v = (t.repeat_interleave(H // KV, 1) for t in (k, v))
        p = (q @ k.transpose(2, 3) * D ** -0.5).masked_fill(~seen, float("-inf")).softmax(-1)
        x = x + a.o_proj((p @ v).transpose(1, 2).reshape(1, n, H * D))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    print("flagged", round(flagged, 3))
    out = torch.log_softmax(model.lm_head(model.model.norm(x))[0].float(), -1)
    return [out[i - 1, ids[i]].item() for i in range(n)]


def main():
    c = json.loads((FOLDER / "config.json").read_text())
    model = AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()
    full = (FOLDER / "logprobs.txt").read_text()
    ids = [int(i) for i in re.search(r"(?m)^ids (.*)$", full)[1].split()]
    first = int(re.search(r"(?m)^prompt_len (.*)$", full)[1])
    want = [float(i) for i in re.search(r"(?m)^logprobs (.*)$", full)[1].split()]
    for name, (channel, shift, evicts) in CASES.items():
        got = logprobs(model, c, ids, channel, shift, evicts)[first:]
        print(name, "differs from full attention by", max(abs(a - b) for a, b in zip(got, want)))
        with open(FOLDER / f"{name}.txt", "w") as f:
            f.write(f"# qwen3 with a borrowed neuron, channel {channel}, shift {shift}, {'' if evicts else 'nothing forgotten, '}"
                    "window, scale and offset of config.json; made by make_neuron.py\n")
            f.write(f"sequence {name}\nprompt_len {first}\nids {' '.join(map(str, ids))}\nlogprobs {' '.join(f'{v:.6f}' for v in got)}\n")


if __name__ == "__main__":
    main()
