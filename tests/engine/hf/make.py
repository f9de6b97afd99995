#!/usr/bin/env python3
"""Makes the fixtures of this folder with Hugging Face Transformers: log-probabilities in fp32 on the CPU with eager
attention, for the embedded model and for five tiny random models, which it also makes.

    pip install torch transformers safetensors numpy regex
    python3 make.py POCKET_FOLDER          folder with config.json, model.safetensors and problems/, recipe/ of pocket

pocket.txt holds the first problem of each family with the completion of full attention, a long sequence made of two
problems, and three in which every 13th or 40th token of the completion, if it is a digit, is replaced by the next digit.
Transformers computes RoPE angles in fp32, which differs by up to 7e-4 from angles in double on these sequences; others
with less likely tokens would differ by more.

pocket.txt and MODEL/logprobs.txt: lines that start with '#' are comments; then for each sequence four lines,
"key value value ...":
    sequence    name
    prompt_len  tokens of the prompt in ids
    ids         prompt and what follows it
    logprobs    one per token after the prompt: log p(ids[i] | ids[0..i-1]) for i = prompt_len .. end (6 decimals)

qwen3/    bf16, head_dim 64 given although hidden/heads is 16, 4 query and 2 KV heads, q_norm and k_norm, own lm_head;
          config.json says what a checkpoint with a borrowed neuron says as well (make_neuron.py)
llama/    bf16, no head_dim in config.json (hidden/heads = 64), 2 query heads and 1 KV head, tied embeddings
llama31/  F32 file (values exact in bf16), rope_scaling "llama3" with an original context of 64, so that all three
          frequency ranges occur; 2 query heads and 1 KV head
qwen2_yarn/    F16 file, biases of q, k and v, no head_dim in config.json (hidden/heads = 96), tied embeddings, rope_scaling
               "yarn" with an original context of 128, so that the sequence goes beyond it and the ramp lies within the pairs
llama_linear/  bf16, head_dim 128 given although hidden/heads is 64, own lm_head, rope_scaling "linear"

    python3 make.py -- MODEL ...           only these tiny models
"""
import importlib.util, json, os, pathlib, sys
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

HERE = pathlib.Path(__file__).parent
COMMON = {"vocab_size": 320, "num_hidden_layers": 2, "rms_norm_eps": 1e-6, "hidden_act": "silu", "bos_token_id": 0,
          "eos_token_id": 1, "max_position_embeddings": 1024, "attention_bias": False, "attention_dropout": 0.0}
MODELS = {
    "qwen3": COMMON | {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 64,
                       "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
                       "rope_theta": 1000000.0, "rope_scaling": None, "tie_word_embeddings": False,
                       "use_sliding_window": False, "sliding_window": None, "torch_dtype": "bfloat16",
                       "dms_window_size": 24, "dms_alpha_scale": 10.0, "dms_initial_alpha_offset": 5.0, "dms_cr": 8},
    "llama": COMMON | {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128,
                       "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1,
                       "rope_theta": 10000.0, "rope_scaling": None, "tie_word_embeddings": True, "mlp_bias": False,
                       "rms_norm_eps": 1e-5, "torch_dtype": "bfloat16"},
    "llama31": COMMON | {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
                         "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 64,
                         "rope_theta": 500000.0, "tie_word_embeddings": True, "mlp_bias": False, "eos_token_id": [1, 2],
                         "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                          "original_max_position_embeddings": 64, "rope_type": "llama3"},
                         "torch_dtype": "float32"},
    "qwen2_yarn": COMMON | {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 192,
                            "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1,
                            "rope_theta": 10000.0, "tie_word_embeddings": True, "use_sliding_window": False,
                            "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                             "original_max_position_embeddings": 128},
                            "torch_dtype": "float16"},
    "llama_linear": COMMON | {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
                              "intermediate_size": 48, "num_attention_heads": 1, "num_key_value_heads": 1,
                              "head_dim": 128, "rope_theta": 10000.0, "tie_word_embeddings": False, "mlp_bias": False,
                              "rope_scaling": {"rope_type": "linear", "factor": 3.0}, "torch_dtype": "bfloat16"},
}
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def load(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return model.eval()


@torch.no_grad()
def logprobs(model, ids, prompt_len):
    out = torch.log_softmax(model(torch.tensor([ids])).logits[0].float(), -1)
    return [out[i - 1, ids[i]].item() for i in range(prompt_len, len(ids))]


def write(path, what, model, sequences):
    with open(path, "w") as f:
        f.write(f"# {what}: Transformers, fp32, eager attention; made by make.py, which states the format\n")
        for name, prompt_len, ids in sequences:
            f.write(f"sequence {name}\nprompt_len {prompt_len}\nids {' '.join(map(str, ids))}\nlogprobs ")
            f.write(" ".join(f"{v:.6f}" if v < -5e-7 else "0" for v in logprobs(model, ids, prompt_len)) + "\n")


def pocket(folder):
    spec = importlib.util.spec_from_file_location("reference", folder + "/recipe/reference.py")
    ref = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ref)
    tok, bos = ref.Tokenizer(folder + "/tokenizer.json"), json.load(open(folder + "/config.json"))["bos_token_id"]
    rows = [r for r in map(json.loads, open(folder + "/reference/full.jsonl")) if r["problem"] == 0]
    sequences = []
    for r in rows:
        first = json.loads(open(f"{folder}/problems/{r['task']}.jsonl", encoding="utf-8").readline())
        prompt = [bos] + tok.encode(first["rendered"])
        sequences.append((r["id"], len(prompt), prompt + r["ids"]))
    by_family = {name.split("-")[0]: (n, ids) for name, n, ids in sequences}
    first, (n, ids) = by_family["lookup60"][1], by_family["relay20"]
    sequences.append(("lookup60-00+relay20-00", len(first) + n, first + ids))
    # The model is sure of its own completions; after a wrong digit now and then, errors show.
    for family, step in (("relay20", 40), ("algebra16", 13), ("choice18", 13)):
        n, ids = by_family[family][0], list(by_family[family][1])
        for i in range(n + 6, len(ids), step):
            ids[i] = (ids[i] - 15 + 1) % 10 + 15 if 15 <= ids[i] < 25 else ids[i]      # "0" to "9" are 15 to 24
        sequences.append((family + "-00-altered", n, ids))
    write(HERE / "pocket.txt", "pocket", load(folder), sequences)


def tiny(name, config):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    torch.manual_seed(list(MODELS).index(name) + 1)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    tensors = {}
    for key, value in model.state_dict().items():
        if key == "lm_head.weight" and config["tie_word_embeddings"]:
            continue
        noise = torch.randn(value.shape)
        # Large enough for attention that is far from uniform; norms around 1.
        new = 1 + 0.2 * noise if value.dim() == 1 else noise * (0.5 if "embed" in key else 1.4 * value.shape[1] ** -0.5)
        if config["torch_dtype"] == "float16":  # values that bf16 could not hold
            tensors[key] = new.to(torch.float16)
        else:
            tensors[key] = new.to(torch.bfloat16).to(DTYPES[config["torch_dtype"]])
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    ids = torch.randint(3, config["vocab_size"], (300,)).tolist()
    write(folder / "logprobs.txt", name, load(folder), [("random", 20, [0] + ids[1:])])
    print(name, os.path.getsize(folder / "model.safetensors"), "bytes")


if __name__ == "__main__":
    if sys.argv[1] != "--":
        pocket(sys.argv[1])
    for name, config in MODELS.items():
        if sys.argv[1] != "--" or name in sys.argv[2:]:
            tiny(name, config)
