#!/usr/bin/env python3
"""Makes the fixtures of this folder: what Hugging Face Transformers decodes with small random models of every family,
in fp32 on the CPU with eager attention. test_families.c makes the same models and decodes the same.

    pip install torch transformers==5.24.0 safetensors numpy
    python3 make.py [NAME ...]             all fixtures, or those of these names (CONFIGS below); NAME may be
                                           wide/NAME (WIDE), two layers of a published model's widths and
                                           random tokens alone

A fixture holds no weights: every value follows from the name of its tensor and its place in it, as do the ids of a prompt from
its seed (../made.py). All values are exact in bf16. A line of NAME.txt is a word and what
follows it, or a comment that starts with '#':
    config      config.json, as a checkpoint has it: of this year's form or of an older one
    saved       config.json of the same model as Transformers saves it
    tensor      BASE SPREAD SHAPE... NAME: values are BASE + SPREAD * u; "*" stands for the number of each layer
    prompt      LENGTH SEED of a prompt, and after it
    greedy      the 20 tokens that follow it, and
    logprobs    their log-probabilities; for "forced" those of random tokens, which are less likely
    forced      LENGTH SEED: a prompt and the 16 random tokens behind it
    bf16        the mean difference of Transformers' log-probabilities in bf16 (weights, activations and cache on the
                CPU) from those in fp32, over all tokens above and their log-probabilities

Prompts have 5 to 150 tokens, windows 32 or fewer. A seed is taken if at each of the 20 steps the largest logit is at
least 0.01 above the second, so that no rounding changes a token.
"""
import json, pathlib, sys, tempfile
import numpy as np
import torch
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM, GptOssConfig, GptOssForCausalLM, __version__

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import made
LENGTHS = [5, 7, 9, 12, 16, 17, 24, 31, 32, 33, 40, 48, 57, 64, 65, 80, 96, 113, 128, 150]
NEW, FORCED, FORCED_LENGTHS, LEAST_GAP = 20, 16, [6, 33, 90, 140], 1e-2

COMMON = {"vocab_size": 384, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "max_position_embeddings": 512,
          "hidden_act": "silu",
          "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": None, "tie_word_embeddings": False}
FULL, WINDOW = "full_attention", "sliding_attention"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "beta_fast": 8.0, "beta_slow": 1.0}
GEMMA = {"hidden_activation": "gelu_pytorch_tanh", "head_dim": 32, "query_pre_attn_scalar": 24, "sliding_window": 24,
         "tie_word_embeddings": True, "rms_norm_eps": 1e-6, "num_hidden_layers": 4}
PHI3 = {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 4}
LONGROPE = {"type": "longrope", "short_factor": [1.0, 1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.2],
            "long_factor": [1.1, 1.3, 1.7, 2.2, 2.9, 3.8, 5.1, 6.7, 9.0, 12.0, 15.0, 20.0]}
OLMO3 = {"num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 1, "sliding_window": 32}
CONFIGS = {
    # Full layers alone are stretched; norms stand behind both parts, those of q and k are wide.
    "olmo3": OLMO3 | {"model_type": "olmo3", "rope_theta": 500000.0, "rope_scaling": YARN | {"attention_factor": 1.2}},
    "olmo3_nested": OLMO3 | {"model_type": "olmo3", "head_dim": 16, "attention_bias": True, "sliding_window": 16,
                             "layer_types": [FULL, WINDOW, FULL, WINDOW],
                             "rope_parameters": {FULL: YARN | {"rope_theta": 20000.0},
                                                 WINDOW: {"rope_type": "default", "rope_theta": 3000.0}}},
    "gemma3": GEMMA | {"model_type": "gemma3_text", "sliding_window_pattern": 3, "rope_theta": 100000.0,
                       "rope_local_base_freq": 1000.0, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    "gemma3_nested": GEMMA | {"model_type": "gemma3_text", "final_logit_softcapping": 5.0, "tie_word_embeddings": False,
                              "layer_types": [WINDOW, FULL, WINDOW, FULL], "head_dim": 64, "attention_bias": True,
                              "rope_parameters": {FULL: {"rope_type": "default", "rope_theta": 50000.0},
                                                  WINDOW: {"rope_type": "default", "rope_theta": 2000.0}}},
    "mistral": {"model_type": "mistral", "sliding_window": None, "rope_theta": 1000000.0, "vocab_size": 331},
    "mistral_window": {"model_type": "mistral", "sliding_window": 32, "head_dim": 32},
    "ministral": {"model_type": "ministral", "sliding_window": 32, "head_dim": 32, "num_hidden_layers": 4,
                  "layer_types": [FULL, WINDOW, WINDOW, WINDOW], "rope_theta": 100000.0},
    # Published ones scale queries by 0.1 at multiples of 16,384.
    "ministral3": {"model_type": "ministral3", "head_dim": 32, "num_hidden_layers": 3, "tie_word_embeddings": True,
                   "rope_parameters": YARN | {"rope_theta": 1000000.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                                              "llama_4_scaling_beta": 0.3, "original_max_position_embeddings": 32}},
    "ministral3_window": {"model_type": "ministral3", "head_dim": 16, "sliding_window": 20,
                          "rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0,
                                              "original_max_position_embeddings": 64, "mscale": 1.3,
                                              "mscale_all_dim": 0.6, "llama_4_scaling_beta": 0.1}},
    "phi3": PHI3 | {"model_type": "phi3", "num_key_value_heads": 4, "rope_theta": 250000.0},
    "phi3_window": PHI3 | {"model_type": "phi3", "sliding_window": 31, "rope_theta": 10000.0},
    "phi3_partial": PHI3 | {"model_type": "phi3", "partial_rotary_factor": 0.75, "num_attention_heads": 2,
                            "num_key_value_heads": 1},
    # All sequences are within the original context, or all beyond it: 12 pairs of each head of 32 rotate.
    "phi3_short": PHI3 | {"model_type": "phi3", "partial_rotary_factor": 0.75, "original_max_position_embeddings": 512,
                          "rope_scaling": LONGROPE | {"attention_factor": 1.15}},
    "phi3_long": PHI3 | {"model_type": "phi3", "partial_rotary_factor": 0.75, "original_max_position_embeddings": 4,
                         "rope_scaling": LONGROPE, "tie_word_embeddings": True},
    "smollm3": {"model_type": "smollm3", "num_hidden_layers": 4, "rope_theta": 5000000.0, "no_rope_layer_interval": 2},
    "smollm3_list": {"model_type": "smollm3", "num_hidden_layers": 3, "no_rope_layers": [0, 1, 1, 0],
                     "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    "smollm3_window": {"model_type": "smollm3", "num_hidden_layers": 4, "use_sliding_window": True,
                       "sliding_window": 16},
    "granite": {"model_type": "granite", "embedding_multiplier": 6.0, "attention_multiplier": 0.15,
                "residual_multiplier": 0.4, "logits_scaling": 1.7, "rope_theta": 10000.0, "num_hidden_layers": 3,
                "tie_word_embeddings": True},
    "granite_bias": {"model_type": "granite", "attention_bias": True, "mlp_bias": True, "attention_multiplier": 0.25},
    "seed_oss": {"model_type": "seed_oss", "head_dim": 32, "attention_bias": True, "attention_out_bias": False,
                 "rope_theta": 10000000.0},
    "seed_oss_out": {"model_type": "seed_oss", "head_dim": 16, "attention_out_bias": True, "mlp_bias": True},
    "hunyuan": {"model_type": "hunyuan_v1_dense", "head_dim": 32, "tie_word_embeddings": True, "rope_theta": 10000.0,
                "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1,
                                 "mscale": 1.0, "mscale_all_dim": 1.0}},
    "hunyuan_plain": {"model_type": "hunyuan_v1_dense", "head_dim": 16, "attention_bias": True},
    "ernie4_5": {"model_type": "ernie4_5", "head_dim": 32, "tie_word_embeddings": True, "rope_theta": 500000.0},
    "ernie4_5_bias": {"model_type": "ernie4_5", "head_dim": 16, "use_bias": True, "num_key_value_heads": 1},
    "olmo2": {"model_type": "olmo2", "num_key_value_heads": 4, "rope_theta": 500000.0},
    "olmo2_bias": {"model_type": "olmo2", "attention_bias": True, "head_dim": 32},
    # Full layers do not rotate, unless sliding_window is null.
    "exaone4": {"model_type": "exaone4", "num_hidden_layers": 4, "sliding_window": 24, "sliding_window_pattern": 3,
                "rope_theta": 1000000.0, "rope_scaling": {"rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0,
                                                          "high_freq_factor": 4.0,
                                                          "original_max_position_embeddings": 64}},
    "exaone4_full": {"model_type": "exaone4", "head_dim": 32, "sliding_window": None, "sliding_window_pattern": None,
                     "layer_types": [FULL, FULL], "rope_theta": 1000000.0, "tie_word_embeddings": True},
    "gemma2": GEMMA | {"model_type": "gemma2", "attn_logit_softcapping": 4.0, "final_logit_softcapping": 6.0},
    "gemma2_uncapped": GEMMA | {"model_type": "gemma2", "attn_logit_softcapping": None, "final_logit_softcapping": None,
                                "layer_types": [WINDOW, FULL, FULL, WINDOW], "head_dim": 16},
    "llama": {"model_type": "llama", "rope_theta": 10000.0},
    "llama_bias": {"model_type": "llama", "attention_bias": True, "mlp_bias": True, "head_dim": 32},
    "qwen2": {"model_type": "qwen2", "use_sliding_window": False, "sliding_window": 32, "max_window_layers": 1},
    "qwen2_window": {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 32, "max_window_layers": 2,
                     "num_hidden_layers": 4, "rope_theta": 1000000.0},
    "qwen3": {"model_type": "qwen3", "head_dim": 32, "tie_word_embeddings": True},
    "qwen3_window": {"model_type": "qwen3", "use_sliding_window": True, "sliding_window": 24, "head_dim": 32,
                     "num_hidden_layers": 3, "layer_types": [WINDOW, FULL, WINDOW], "attention_bias": True},
    # gpt-oss's attention in models without experts, which no one publishes: with its gate, and with sinks alone.
    "sinks": {"model_type": "kveval_sinks", "head_dim": 32, "num_hidden_layers": 4, "sliding_window": 32,
              "layer_types": [WINDOW, FULL, WINDOW, FULL], "attention_bias": True, "hidden_act": "swiglu_clamped",
              "rope_parameters": YARN | {"rope_theta": 150000.0, "truncate": False}},
    "sinks_alone": {"model_type": "kveval_sinks", "head_dim": 16, "layer_types": [FULL, FULL], "attention_bias": False,
                    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
}
NO_HIDDEN_ACT = ("gemma2", "gemma3_text")


def wide(model_type, hidden, ffn, heads, kv, **more):
    return {"model_type": model_type, "hidden_size": hidden, "intermediate_size": ffn, "num_attention_heads": heads,
            "num_key_value_heads": kv} | more


# Two layers of every family at the widths of a model that people run. What has a window has a short one.
WIDE_PHI = {"partial_rotary_factor": 0.75, "original_max_position_embeddings": 512, "tie_word_embeddings": True,
            "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 48,
                             "long_factor": [round(1 + 0.02 * i * i, 2) for i in range(48)]}}
WIDE = {
    "llama_8b": wide("llama", 4096, 14336, 32, 8, rope_theta=500000.0),
    "qwen2_7b": wide("qwen2", 3584, 18944, 28, 4, rope_theta=1000000.0),
    "qwen3_8b": wide("qwen3", 4096, 12288, 32, 8, head_dim=128, rope_theta=1000000.0),
    "mistral_7b": wide("mistral", 4096, 14336, 32, 8, sliding_window=None, rope_theta=1000000.0),
    "ministral_8b": wide("ministral", 4096, 12288, 32, 8, head_dim=128, sliding_window=48, layer_types=[FULL, WINDOW]),
    "ministral3_8b": wide("ministral3", 4096, 14336, 32, 8, head_dim=128, rope_parameters=YARN | {
        "rope_theta": 1000000.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1,
        "original_max_position_embeddings": 64}),
    "phi4": wide("phi3", 5120, 17920, 40, 10, rope_theta=250000.0),
    "phi4_mini": wide("phi3", 3072, 8192, 24, 8, rope_theta=10000.0) | WIDE_PHI,
    "smollm3_3b": wide("smollm3", 2048, 11008, 16, 4, no_rope_layer_interval=2, rope_theta=5000000.0),
    "seed_oss_36b": wide("seed_oss", 5120, 27648, 80, 8, head_dim=128, rope_theta=10000000.0),
    "granite_8b": wide("granite", 4096, 12800, 32, 8, embedding_multiplier=12.0, attention_multiplier=0.0078125,
                       residual_multiplier=0.22, logits_scaling=16.0, rope_theta=10000000.0),
    "hunyuan_7b": wide("hunyuan_v1_dense", 4096, 14336, 32, 8, head_dim=128, rope_theta=10000.0,
                       rope_scaling={"type": "dynamic", "alpha": 1000.0}),
    "ernie4_5_0b3": wide("ernie4_5", 1024, 3072, 16, 2, head_dim=128, tie_word_embeddings=True, rope_theta=500000.0),
    "olmo2_7b": wide("olmo2", 4096, 11008, 32, 32, rope_theta=500000.0),
    "olmo3_7b": wide("olmo3", 4096, 11008, 32, 32, sliding_window=48, layer_types=[WINDOW, FULL],
                     rope_theta=500000.0, rope_scaling=YARN | {"attention_factor": 1.2}),
    "exaone4_1b2": wide("exaone4", 2048, 4096, 32, 8, head_dim=64, sliding_window=48, layer_types=[WINDOW, FULL],
                        rope_theta=1000000.0),
    "gemma2_2b": wide("gemma2", 2304, 9216, 8, 4, **GEMMA | {"head_dim": 256, "query_pre_attn_scalar": 256,
                      "num_hidden_layers": 2, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}),
    "gemma3_4b": wide("gemma3_text", 2560, 10240, 8, 4, **GEMMA | {"head_dim": 256, "query_pre_attn_scalar": 256,
                      "num_hidden_layers": 2, "layer_types": [WINDOW, FULL], "rope_theta": 1000000.0,
                      "rope_local_base_freq": 10000.0}),
}
WIDE_FORCED_LENGTHS = [9, 33, 64, 140]


def values(name, base, spread, shape):
    return torch.from_numpy(made.values(name, base, spread, shape))


def spread_of(name, shape, config):
    """BASE and SPREAD: attention far from uniform, norms that change what they multiply, gates that reach bounds."""
    if name.endswith("sinks"):
        return 1.5, 1.0
    if name.endswith("bias"):
        return 0.0, 0.2
    if len(shape) == 1:
        return (0.0 if config["model_type"] in NO_HIDDEN_ACT else 1.0), 0.3
    far = 4.5 if config.get("hidden_act") == "swiglu_clamped" and ("gate_proj" in name or "up_proj" in name) else 1.5
    return 0.0, float(np.float32(far * (3 / shape[1]) ** 0.5))


class DenseMlp(torch.nn.Module):  # clamped: GptOssExperts with one expert, no router and no biases
    def __init__(self, hidden, ffn, clamped):
        super().__init__()
        self.clamped = clamped
        self.gate_proj, self.up_proj = (torch.nn.Linear(hidden, ffn, bias=False) for _ in range(2))
        self.down_proj = torch.nn.Linear(ffn, hidden, bias=False)

    def forward(self, x):
        gate, up = self.gate_proj(x), self.up_proj(x)
        if not self.clamped:
            return self.down_proj(torch.nn.functional.silu(gate) * up), None
        gate, up = gate.clamp(max=7.0), up.clamp(min=-7.0, max=7.0)
        return self.down_proj((up + 1) * (gate * torch.sigmoid(gate * 1.702))), None


def build(config, folder):
    """The model, and the text of config.json as Transformers saves it, or None."""
    (folder / "config.json").write_text(json.dumps(config))
    if config["model_type"] == "kveval_sinks":
        own = {k: v for k, v in config.items() if k not in ("model_type", "hidden_act")}
        model = GptOssForCausalLM._from_config(GptOssConfig(**own, num_local_experts=2), dtype=torch.float32,
                                               attn_implementation="eager")
        for layer in model.model.layers:
            layer.mlp = DenseMlp(config["hidden_size"], config["intermediate_size"], config["hidden_act"] != "silu")
        return model.eval(), None
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32,
                                             attn_implementation="eager").eval()
    model.save_pretrained(folder / "saved")
    with safe_open(folder / "saved" / "model.safetensors", "pt") as f:  # nothing is renamed when it is saved
        assert {k: f.get_slice(k).get_shape() for k in f.keys()} == \
            {k: list(p.shape) for k, p in model.named_parameters()}
    return model, json.loads((folder / "saved" / "config.json").read_text())


@torch.no_grad()
def fill(model, config):
    """Sets all parameters; the lines of their tensors."""
    lines, n_layers = {}, config["num_hidden_layers"]
    for name, p in model.named_parameters():
        shape = list(p.shape)
        base, spread = spread_of(name, shape, config)
        p.copy_(values(name, base, spread, shape))
        parts = name.split(".")
        layer = parts[2] if parts[1] == "layers" else None
        line = f"tensor {base:g} {spread:.9g} {' '.join(map(str, shape))} "
        line += name.replace(f".{layer}.", ".*.", 1) if layer else name
        lines[line] = lines.get(line, 0) + 1
        assert not layer or int(layer) < n_layers
    assert all(n == (n_layers if "*" in line else 1) for line, n in lines.items())
    return list(lines)


@torch.no_grad()
def logits_of(model, rows):
    return model(torch.tensor(rows), use_cache=False).logits.float()


def greedy(model, seeds, n, vocab):
    """The first of the seeds whose prompt of n tokens is never a near tie, and its prompt with the tokens behind it."""
    rows, least = [made.prompt_ids(seed, n, vocab) for seed in seeds], [np.inf] * len(seeds)
    for _ in range(NEW):
        top = torch.topk(logits_of(model, rows)[:, -1], 2)
        least = np.minimum(least, (top.values[:, 0] - top.values[:, 1]).numpy())
        rows = [row + [token.item()] for row, token in zip(rows, top.indices[:, 0])]
    return next(((seed, row) for seed, row, gap in zip(seeds, rows, least) if gap >= LEAST_GAP), (seeds[-1], None))


def logprobs(model, ids, n):
    out = torch.log_softmax(logits_of(model, [ids])[0], -1)
    return [out[i - 1, ids[i]].item() for i in range(n, len(ids))]


def make(name, config):
    config = {k: v for k, v in (COMMON | config).items()
              if not (k == "hidden_act" and config["model_type"] in NO_HIDDEN_ACT)}
    seed, is_wide = 0, name.startswith("wide/")
    with tempfile.TemporaryDirectory() as folder:
        model, saved = build(config, pathlib.Path(folder))
    tensors = fill(model, config)
    out = [f"# Transformers {__version__}, fp32, eager attention; made by make.py, which states the format"]
    out.append("config " + json.dumps(config))
    if saved:
        out.append("saved " + json.dumps(saved))
    out += tensors
    sequences = []
    for n in [] if is_wide else LENGTHS:
        ids = None
        while not ids:
            seed, ids = greedy(model, range(seed + 1, seed + 9), n, config["vocab_size"])
        cached = model.generate(torch.tensor([ids[:n]]), attention_mask=torch.ones(1, n, dtype=torch.long),
                                do_sample=False, max_new_tokens=NEW, min_new_tokens=NEW, eos_token_id=None,
                                pad_token_id=0)
        assert cached[0].tolist() == ids, (name, n)
        sequences.append((f"prompt {n} {seed}\ngreedy {' '.join(map(str, ids[n:]))}", n, ids))
    for n in WIDE_FORCED_LENGTHS if is_wide else FORCED_LENGTHS:
        seed += 1
        sequences.append((f"forced {n} {seed}", n, made.prompt_ids(seed, n + FORCED, config["vocab_size"])))
    exact = [logprobs(model, ids, n) for _, n, ids in sequences]
    for (lines, _, _), row in zip(sequences, exact):
        out += [lines, "logprobs " + " ".join(f"{v:.4f}" for v in row)]
    for p in model.parameters():  # not model.to(), which rounds the frequencies of the rotation too
        p.data = p.data.to(torch.bfloat16)
    rounded = [logprobs(model, ids, n) for _, n, ids in sequences]
    out.append(f"bf16 {np.abs(np.concatenate(rounded) - np.concatenate(exact)).mean():.4f}")
    (HERE / f"{name}.txt").write_text("\n".join(out) + "\n")
    print(f"{name}: {(HERE / f'{name}.txt').stat().st_size} bytes, {out[-1]}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    np.seterr(over="ignore")
    every = CONFIGS | {f"wide/{name}": config for name, config in WIDE.items()}
    for name in sys.argv[1:] or every:
        make(name, every[name])
