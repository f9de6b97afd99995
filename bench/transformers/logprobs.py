#!/usr/bin/env python3
"""Log-probabilities of kveval beside those of Hugging Face Transformers, on one device.

    pip install torch transformers safetensors numpy
    python3 bench/transformers/logprobs.py --program build/kveval --device cuda:0

Models: the embedded one, and random weights in the shapes of Qwen2-1.5B, Qwen3-1.7B and Llama-3.1-8B, at full width,
with few layers and a smaller vocabulary (--layers, --vocab): kveval hashes each file, which takes most of the time. All
weights are exact in bf16, so that a file of fp32 and one of bf16 hold the same model. The reference is Transformers in
fp32 (eager attention, no TF32) on all ids at once.

kveval runs twice, with fp32 weights and fp32 K and V, and with bf16 weights and bf16 K and V. Each time it scores every
token by decode steps alone (a prompt of one token), and every --prefill-step-th token as the first one after a prompt
that holds all tokens before it, which is prefill alone.

One JSON line a model. fp32_decode, fp32_prefill: largest absolute difference from the reference (limit 1e-3).
bf16_decode, bf16_prefill: mean absolute distance to the reference, which must not be above that of Transformers' own
bf16 (sdpa attention) at the same tokens, transformers_bf16 and transformers_bf16_at_prefill. Exit code 0 when all
models hold, else 1.
"""
import argparse, json, os, pathlib, shutil, subprocess, sys, tempfile, time
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils import logging

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 1e-3
COMMON = {"hidden_act": "silu", "attention_dropout": 0.0, "max_position_embeddings": 4096, "bos_token_id": 0,
          "eos_token_id": 1}
SHAPES = {
    "qwen2-1.5b": COMMON | {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 1536, "intermediate_size": 8960,
        "num_attention_heads": 12, "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
        "tie_word_embeddings": False, "use_sliding_window": False},
    "qwen3-1.7b": COMMON | {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 2048, "intermediate_size": 6144,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0, "tie_word_embeddings": True, "attention_bias": False, "use_sliding_window": False},
    "llama-8b": COMMON | {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                         "original_max_position_embeddings": 128},    # so that 512 tokens meet all three ranges
        "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False},
    "qwen2-yarn": COMMON | {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 1152, "intermediate_size": 3072,
        "num_attention_heads": 12, "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128},
        "tie_word_embeddings": True, "use_sliding_window": False},        # heads of 96
    "llama-linear": COMMON | {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
        "num_attention_heads": 16, "num_key_value_heads": 4, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 2.5}, "tie_word_embeddings": False,
        "attention_bias": False, "mlp_bias": False},        # heads of 64
}


def write_model(folder, config, tensors, dtype):
    folder.mkdir()
    name = str(dtype).split(".")[1]
    (folder / "config.json").write_text(json.dumps(config | {"torch_dtype": name}, indent=1) + "\n")
    save_file({k: v.to(dtype) for k, v in tensors.items()}, folder / "model.safetensors", metadata={"format": "pt"})


def random_tensors(config, folder, device, seed):
    """Large enough for attention that is far from uniform; norms around 1. Values are exact in bf16."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    with torch.device("meta"):
        shapes = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder)).state_dict()
    random = torch.Generator(device).manual_seed(seed)
    tensors = {}
    for key, like in shapes.items():
        if key == "lm_head.weight" and config["tie_word_embeddings"]:
            continue
        x = torch.randn(like.shape, generator=random, device=device)
        if like.dim() == 1:
            x = 0.2 * x if key.endswith("bias") else 1 + 0.2 * x
        elif "embed" in key:
            x *= 1.4 * like.shape[1] ** -0.5 if config["tie_word_embeddings"] else 0.5
        else:
            x *= 1.4 * like.shape[1] ** -0.5
        tensors[key] = x.to(torch.bfloat16).cpu()
    return tensors


def pocket_ids(n):
    """The beginning of a recorded completion with altered digits, so that the model is not sure of everything."""
    name = None
    for line in open(ROOT / "tests/engine/hf/pocket.txt", encoding="utf-8"):
        if line.startswith("sequence "):
            name = line.split()[1]
        if line.startswith("ids ") and name == "choice18-00-altered":
            return [int(x) for x in line.split()[1:]][:n]
    raise SystemExit("tests/engine/hf/pocket.txt has no sequence choice18-00-altered")


@torch.no_grad()
def transformers_logprobs(folder, ids, dtype, attention, device):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation=attention).to(device).eval()
    out = torch.log_softmax(model(torch.tensor([ids], device=device), use_cache=False).logits[0, :-1].float(), -1)
    picked = out.gather(1, torch.tensor(ids[1:], device=device)[:, None])[:, 0].double().cpu()
    del model, out
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
    return picked


class Scored:
    """A run of kveval in progress. It scores ids[1:] by decode steps, or ids[p] for each p in `at` by prefill."""

    def __init__(self, args, folder, ids, at, kv):
        lines = [{"ids": ids, "prompt_len": 1}] + [{"ids": ids[:p + 1], "prompt_len": p} for p in at]
        self.n, self.n_decoded = len(lines), len(ids) - 1
        self.command = [args.program, "logprobs", str(folder / "in.jsonl"), "--model", str(folder),
                        "--device", args.device, "--kv-dtype", kv]
        if args.threads:
            self.command += ["--threads", str(args.threads)]
        (folder / "in.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
        self.out, self.err = folder / "out.jsonl", folder / "err.txt"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        if args.device.startswith("cpu"):
            self.process.wait()    # one at a time if they would share cores

    def result(self):
        if self.process.wait():
            said = (self.err.read_text() or self.out.read_text())[-500:]
            raise SystemExit(f"{' '.join(self.command)}: exit {self.process.returncode}: {said}")
        answers = [torch.tensor(json.loads(x)["logprobs"], dtype=torch.float64)
                   for x in self.out.read_text().splitlines()]
        if len(answers) != self.n or len(answers[0]) != self.n_decoded:
            raise SystemExit(f"{' '.join(self.command)}: answered other lines than it was asked")
        return answers[0], torch.cat(answers[1:])


def compare(args, name, config, tensors, ids, work):
    for dtype in (torch.float32, torch.bfloat16):
        write_model(work / str(dtype), config, tensors, dtype)
    fp32, bf16 = work / str(torch.float32), work / str(torch.bfloat16)
    device = "cuda:" + (args.device.partition(":")[2] or "0") if args.device.startswith("cuda") else "cpu"
    at = list(range(args.prefill_step, len(ids), args.prefill_step))
    runs = Scored(args, fp32, ids, at, "fp32"), Scored(args, bf16, ids, at, "bf16")
    try:
        want = transformers_logprobs(fp32, ids, torch.float32, "eager", device)
        own = transformers_logprobs(bf16, ids, torch.bfloat16, "sdpa", device)
        (decode32, prefill32), (decode16, prefill16) = runs[0].result(), runs[1].result()
    finally:
        for run in runs:
            run.process.kill()    # does nothing if the process has ended
            run.process.wait()
    i = torch.tensor(at) - 1
    line = {
        "model": name, "layers": config["num_hidden_layers"], "vocab": config["vocab_size"], "tokens": len(ids),
        "fp32_decode": (decode32 - want).abs().max().item(), "fp32_prefill": (prefill32 - want[i]).abs().max().item(),
        "limit": LIMIT,
        "bf16_decode": (decode16 - want).abs().mean().item(), "transformers_bf16": (own - want).abs().mean().item(),
        "bf16_prefill": (prefill16 - want[i]).abs().mean().item(),
        "transformers_bf16_at_prefill": (own - want)[i].abs().mean().item(),
        "spread": want.std().item()}     # of the reference, for comparison with the differences
    line["holds"] = bool(line["fp32_decode"] <= LIMIT and line["fp32_prefill"] <= LIMIT
                         and line["bf16_decode"] <= line["transformers_bf16"]
                         and line["bf16_prefill"] <= line["transformers_bf16_at_prefill"])
    return line


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--program", default=str(ROOT / "build/kveval"))
    p.add_argument("--device", default="cuda:0", help="cuda:N or cpu, of both programs")
    p.add_argument("--threads", type=int, default=0, help="of kveval on the CPU")
    p.add_argument("--models", default=",".join(["pocket", *SHAPES]))
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--vocab", type=int, default=8192)
    p.add_argument("--tokens", type=int, default=512)
    p.add_argument("--prefill-step", type=int, default=2)
    p.add_argument("--pocket", default=str(ROOT / "engine/pocket"), help="the embedded model's folder")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    logging.disable_progress_bar()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    holds = True
    for name in args.models.split(","):
        start, work = time.monotonic(), pathlib.Path(tempfile.mkdtemp(prefix="kveval-logprobs-"))
        try:
            if name == "pocket":
                config = json.load(open(pathlib.Path(args.pocket) / "config.json"))
                tensors, ids = load_file(pathlib.Path(args.pocket) / "model.safetensors"), pocket_ids(args.tokens)
            elif name in SHAPES:
                config = SHAPES[name] | {"num_hidden_layers": args.layers, "vocab_size": args.vocab}
                on = "cuda" if args.device.startswith("cuda") else "cpu"
                tensors = random_tensors(config, work / "shape", on, args.seed)
                ids = torch.randint(2, args.vocab, (args.tokens,), generator=torch.Generator().manual_seed(args.seed))
                ids = ids.tolist()
            else:
                raise SystemExit(f"unknown model {name}; there are pocket, {', '.join(SHAPES)}")
            line = compare(args, name, config, tensors, ids, work)
        finally:
            shutil.rmtree(work)
        line |= {"seconds": round(time.monotonic() - start, 1), "device": args.device}
        line["command"] = " ".join(["python3", os.path.relpath(__file__, ROOT), *sys.argv[1:]])
        print(json.dumps(line), flush=True)
        holds = holds and line["holds"]
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
