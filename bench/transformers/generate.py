#!/usr/bin/env python3
"""Speed of Hugging Face Transformers' own prompts and generation, of cuDNN's attention, and of FlashInfer's batch decode
kernel where that is installed: what `kveval bench prefill`, `decode` and `attention` are compared with on the same GPU.

    python3 bench/transformers/generate.py --device cuda:0

The model has random bf16 weights in the shape of --shape and sdpa attention. A prompt's time is that of one forward pass
with a dynamic cache, up to the logits of its last token, the median of several. generate() decodes greedily, on --batch
prompts of random tokens (--contexts says how many) with --new new tokens each. Only decode steps are timed: from the
stopping check of the first new token to that of the last, each after a synchronisation.

cuDNN attends, through PyTorch, to K and V that lie side by side in memory, one query a sequence; kveval's lie in pages.

FlashInfer runs on tensor cores with pages of 16 tokens in random order, in the shapes of `kveval bench attention`: on whole
contexts, and on 64 pages of each. The pages are chosen anew for each of eight runs, so that they do not stay in a cache.
Sixteen runs are one CUDA graph; the figure is the median of several replays.

Prints one JSON line per figure: name, value, unit, command.
"""
import argparse, importlib, json, os, pathlib, statistics, sys, time
import torch
from torch.nn import functional
from transformers import AutoConfig, AutoModelForCausalLM, StoppingCriteria, StoppingCriteriaList

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = " ".join(["python3", os.path.relpath(__file__, ROOT), *sys.argv[1:]])
# query heads, KV heads, head dimension, batch, context, pages read of each context (0: all)
ATTENTION = [(12, 2, 128, 64, 4096, 0), (12, 2, 128, 64, 18432, 0), (12, 2, 128, 64, 18432, 64),
             (12, 2, 128, 64, 65536, 0), (32, 8, 128, 64, 8192, 0), (32, 8, 128, 64, 18432, 64),
             (32, 8, 128, 64, 32768, 0), (32, 8, 128, 64, 65536, 0)]
PAGE, VARIANTS = 16, 8


def show(name, value, unit):
    print(json.dumps({"name": name, "value": float(f"{value:.6g}"), "unit": unit, "command": COMMAND}), flush=True)


class Clock(StoppingCriteria):
    """Never stops the generation; records the time at which each new token was done."""

    def __init__(self, device):
        self.device, self.times = device, []

    def __call__(self, input_ids, scores, **kwargs):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        self.times.append(time.perf_counter())
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


def random_model(shape, layers, device):
    fields = json.load(open(shape))
    fields.pop("note", None)
    if layers:
        fields["num_hidden_layers"] = layers
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    torch.manual_seed(1)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    finally:
        torch.set_default_dtype(before)
    return model.to(device).eval()


@torch.no_grad()
def generation(model, name, batch, context, new, device):
    def run(n_prompt, n):
        ids = torch.randint(2, model.config.vocab_size, (batch, n_prompt), device=device)
        clock = Clock(device)
        out = model.generate(ids, attention_mask=torch.ones_like(ids), min_new_tokens=n, max_new_tokens=n,
                             do_sample=False, pad_token_id=0, stopping_criteria=StoppingCriteriaList([clock]))
        assert out.shape[1] == n_prompt + n and len(clock.times) == n, "generate() stopped early"
        return clock.times

    run(16, 4)   # kernels are loaded and chosen
    times = run(context, new)
    steps = [b - a for a, b in zip(times, times[1:])]
    title = f"Transformers generate {name} batch {batch} from {context} to {context + new} tokens, dynamic cache, sdpa"
    show(title, batch * len(steps) / sum(steps), "tok/s")
    show(title + ", median step", 1e3 * statistics.median(steps), "ms")


@torch.no_grad()
def prompt(model, name, tokens, device, runs=5):
    ids = torch.randint(2, model.config.vocab_size, (1, tokens), device=device)
    took = []
    for _ in range(runs + 2):
        torch.cuda.synchronize(device)
        start = time.perf_counter()
        model(ids, use_cache=True, logits_to_keep=1)
        torch.cuda.synchronize(device)
        took.append(time.perf_counter() - start)
    show(f"Transformers prompt {name} of {tokens} tokens, sdpa", 1e3 * statistics.median(took[2:]), "ms")


def cudnn_attention(device, runs):
    try:
        time_cudnn(device, runs)
    except Exception as e:    # not every PyTorch has it; the other figures are printed all the same
        print(json.dumps({"name": "cuDNN attention", "value": None, "unit": None, "command": COMMAND,
                          "note": f"cuDNN's attention failed here: {str(e)[-300:]}"}))


def time_cudnn(device, runs):
    """Each context whole, as FlashInfer's."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    version = torch.backends.cudnn.version()
    for n_q, n_kv, dim, batch, context, take in ATTENTION:
        if take:
            continue
        k, v = (torch.empty(batch, n_kv, context, dim, dtype=torch.bfloat16, device=device).normal_() for _ in range(2))
        q = torch.randn(batch, n_q, 1, dim, dtype=torch.bfloat16, device=device)
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            seconds = replay_time(lambda i: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
                                  2 * VARIANTS, runs)
        read = batch * context * n_kv * 2 * dim * 2
        show(f"cuDNN {version} attention, K and V contiguous, {n_q}/{n_kv} heads d {dim}, bf16 KV, batch {batch} x {context}: "
             f"full, {seconds * 1e6:.1f} us", read / seconds / 1e9, "GB/s")
        del q, k, v


def flashinfer_attention(device, runs):
    try:
        flashinfer = importlib.import_module("flashinfer")
    except ImportError as e:
        print(json.dumps({"name": "FlashInfer batch decode", "value": None, "unit": None, "command": COMMAND,
                          "note": f"FlashInfer is not installed here ({e}): pip install flashinfer-python"}))
        return
    try:
        time_flashinfer(flashinfer, device, runs)
    except Exception as e:    # it is built on first use, which needs a compiler; the other figures are printed all the same
        print(json.dumps({"name": "FlashInfer batch decode", "value": None, "unit": None, "command": COMMAND,
                          "note": f"FlashInfer {flashinfer.__version__} is installed and failed: {str(e)[-300:]}"}))


def planned(flashinfer, room, lists, n_q, n_kv, dim):
    """The kernel for one choice of pages, (batch, pages of each sequence)."""
    batch, pages = lists.shape
    starts = torch.arange(0, batch + 1, dtype=torch.int32, device=lists.device) * pages
    last = torch.full((batch,), PAGE, dtype=torch.int32, device=lists.device)
    decode = flashinfer.BatchDecodeWithPagedKVCacheWrapper(room, "NHD", use_tensor_cores=True)
    decode.plan(starts, lists.reshape(-1), last, n_q, n_kv, dim, PAGE, q_data_type=torch.bfloat16,
                kv_data_type=torch.bfloat16)
    return decode


def replay_time(work, n, runs):
    """Seconds of one of n pieces of work in a CUDA graph: the median of the replays."""
    for i in range(n):
        work(i)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(n):
            work(i)
    took = []
    for i in range(runs + 2):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= 2:
            took.append(start.elapsed_time(end) * 1e-3 / n)
    return statistics.median(took)


def time_flashinfer(flashinfer, device, runs):
    room = torch.zeros(512 << 20, dtype=torch.uint8, device=device)
    for n_q, n_kv, dim, batch, context, take in ATTENTION:
        pages = context // PAGE
        kv = torch.empty(batch * pages, 2, PAGE, n_kv, dim, dtype=torch.bfloat16, device=device).normal_()
        q = torch.randn(batch, n_q, dim, dtype=torch.bfloat16, device=device)
        out = torch.empty_like(q)
        order = torch.randperm(batch * pages, device=device).to(torch.int32).view(batch, pages)
        kernels = []
        for _ in range(VARIANTS if take else 1):
            chosen = torch.rand(batch, pages, device=device).topk(take or pages).indices.sort().values
            kernels.append(planned(flashinfer, room, order.gather(1, chosen), n_q, n_kv, dim))
        seconds = replay_time(lambda i: kernels[i % len(kernels)].run(q, kv, out=out), 2 * VARIANTS, runs)
        read = batch * (take * PAGE or context) * n_kv * 2 * dim * 2
        show(f"FlashInfer {flashinfer.__version__} batch decode {n_q}/{n_kv} heads d {dim}, bf16 KV, batch {batch} x "
             f"{context}: {f'pages {take}' if take else 'full'}, {seconds * 1e6:.1f} us", read / seconds / 1e9, "GB/s")
        del kv, q, out, order, kernels


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--device", default="cuda:0", help="cuda:N or cpu")
    p.add_argument("--shape", default=str(ROOT / "bench/shapes/qwen2_1.5b.json"))
    p.add_argument("--layers", type=int, default=0, help="fewer than the shape has, for a trial on a CPU")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--contexts", default="1024,4096")
    p.add_argument("--new", type=int, default=64)
    p.add_argument("--prompts", default="1024,4096,16384")
    p.add_argument("--runs", type=int, default=20, help="replays of an attention kernel")
    p.add_argument("--only", choices=["prompts", "generate", "cudnn", "flashinfer"], help="one of the four")
    args = p.parse_args()
    device = torch.device(args.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    on_gpu = device.type == "cuda"
    if not on_gpu and args.only not in (None, "generate"):
        p.error(f"--only {args.only} needs a GPU; on a CPU there is generate() alone")

    def wanted(what):
        return args.only in (None, what) and (on_gpu or what == "generate")

    if wanted("prompts") or wanted("generate"):
        model, name = random_model(args.shape, args.layers, device), pathlib.Path(args.shape).stem
        for tokens in map(int, args.prompts.split(",") if wanted("prompts") else []):
            prompt(model, name, tokens, device)
        for context in map(int, args.contexts.split(",") if wanted("generate") else []):
            generation(model, name, args.batch, context, args.new, device)
        del model
    if on_gpu:
        torch.cuda.empty_cache()
    if wanted("cudnn"):
        cudnn_attention(device, args.runs)
    if wanted("flashinfer"):
        flashinfer_attention(device, args.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
