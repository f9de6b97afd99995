#!/usr/bin/env python3
"""Makes windows.txt: what the NumPy reference decoder decodes, under every policy, with a small random model in which every
other layer reads a window and each query head has a sink. test_windows.c makes the same model and decodes the same.

    pip install numpy regex
    python3 make.py ../../../engine/pocket/recipe

The file holds no weights: values follow from a tensor's name, and the ids of a prompt from its seed (../made.py). A line is a
word and what follows it, or a comment that starts with '#':
    config      config.json
    tensor      BASE SPREAD SHAPE... NAME: values are BASE + SPREAD * u; "*" stands for the number of each layer
    gate        the same, of the gates of dms, which layers with a window do not have
    policy      as the engine names it; then for each of its prompts
    stream      LENGTH SEED PROBLEM KV_READS KV_READS_FULL KEY_ELEMENTS, and the tokens: 40 greedy ones. PROBLEM is the number on
                which random draws hang
A policy's seeds are taken one after the other; one is left out if the two largest logits are ever closer than LEAST_GAP, or the
last score kept and the first dropped closer than LEAST_SELECT (not where a largest of neighbours makes scores equal), so that no
rounding changes a token; and if the tokens are those
of full attention, so that each stream shows its policy.
"""
import hashlib, json, pathlib, struct, sys, tempfile
import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import made
NEW, LENGTHS, LEAST_GAP, LEAST_SELECT = 40, [100, 139], 1e-3, 2e-6
FULL, WINDOW = "full_attention", "sliding_attention"
CONFIG = {"model_type": "kveval_sinks", "vocab_size": 384, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 8,
          "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "rms_norm_eps": 1e-5,
          "max_position_embeddings": 512, "hidden_act": "silu", "bos_token_id": 0, "eos_token_id": 1,
          "tie_word_embeddings": True, "sliding_window": 32, "layer_types": [WINDOW, FULL] * 4, "attention_bias": True,
          "rope_theta": 10000.0}
# As the engine names a policy, and as the reference does where that is another name.
POLICIES = [
    ("full",), ("quest:k_pages=4",), ("raas:budget_tokens=16",),
    ("raas:budget_tokens=48,preset=RaaS@22d925d", "raas:budget_tokens=48,dense_layers=0,released=1"),
    ("delta:k_pages=4,l_pages=2,layers=3",), ("delta:k_pages=4,l_pages=2,layers=3+5",),
    ("delta:k_tokens=40,l_tokens=8,layers=3", "delta_tokens:k_tokens=40,l_tokens=8,layers=3"),
    ("delta:mass=0.5,l_pages=1,layers=3", "delta_mass:mass=0.5,l_pages=1,layers=3"),
    ("kascade:ratio=0.2,min_tokens=16,anchors=1+3,map=5:10", "kascade:ratio=0.2,min_tokens=16,anchors=1+3,map=5:10"),
    ("kascade:ratio=0.2,min_tokens=16,anchors=3+7",),
    ("kascade:ratio=0.3,min_tokens=16,anchors=3,prefill=sparse", "kascade_prefill:ratio=0.3,min_tokens=16,anchors=3"),
    ("kascade:mass=0.5,min_tokens=8,anchors=5", "kascade_mass:mass=0.5,min_tokens=8,anchors=5"),
    ("dms:gate=gates.safetensors", "dms:window=16"),
    ("oracle:budget_tokens=24,pool=all",), ("oracle:ratio=0.25,unit=pages",), ("oracle:mass=0.5,pool=max",),
    ("streamingllm:ratio=0.3,min_tokens=32",),
    ("streamingllm:window_tokens=48,form=evict", "streamingllm:window_tokens=48"),
    ("omnikv:ratio=0.1,min_tokens=16,layers=3",), ("omnikv:ratio=0.1,of=prompt,score=prompt,layers=3",),
    ("omnikv:ratio=0.1,of=prompt,score=logit,layers=3,dense_after=3",),
    ("lessismore:k_tokens=24,layers=3",), ("deltallm:theta=0.5,window_tokens=4", "deltallm:theta=0.5,window=4"),
    ("tova:budget_tokens=60",), ("h2o:budget_tokens=60",), ("snapkv:budget_tokens=60,window=16",),
    ("snapkv:budget_tokens=60,window=16,every=16,when=decode",),
    ("snapkv:budget_tokens=60,window=8,every=16,when=both,kernel=7,pool=max,group=max_logit,order=score",),
    ("rkv:budget_tokens=60,every=16",), ("random:budget_tokens=60,recent=16,every=16",),
]


def tensors():
    """Rows of the lines `tensor` and `gate`."""
    c = CONFIG
    h, f, q, kv = c["hidden_size"], c["intermediate_size"], *(c[k] * c["head_dim"] for k in ("num_attention_heads", "num_key_value_heads"))
    far = lambda fan_in: float(np.float32(1.5 * (3 / fan_in) ** 0.5))
    layer = [(0.0, far(h), (q, h), "self_attn.q_proj.weight"), (0.0, far(h), (kv, h), "self_attn.k_proj.weight"),
             (0.0, far(h), (kv, h), "self_attn.v_proj.weight"), (0.0, far(q), (h, q), "self_attn.o_proj.weight"),
             (0.0, 0.25, (q,), "self_attn.q_proj.bias"), (0.0, 0.25, (kv,), "self_attn.k_proj.bias"),
             (0.0, 0.25, (kv,), "self_attn.v_proj.bias"), (0.0, 0.25, (h,), "self_attn.o_proj.bias"),
             (1.5, 1.0, (c["num_attention_heads"],), "self_attn.sinks"),
             (1.0, 0.25, (h,), "input_layernorm.weight"), (1.0, 0.25, (h,), "post_attention_layernorm.weight"),
             (0.0, far(h), (f, h), "mlp.gate_proj.weight"), (0.0, far(h), (f, h), "mlp.up_proj.weight"),
             (0.0, far(f), (h, f), "mlp.down_proj.weight")]
    gate = [(0.0, far(h), (c["num_key_value_heads"], h), "self_attn.dms_proj.weight"),
            (0.0, 0.25, (c["num_key_value_heads"],), "self_attn.dms_proj.bias")]
    all_layers = [("tensor", *r[:3], "model.layers.*." + r[3]) for r in layer]
    only_full = [("gate", *r[:3], f"model.layers.{l}." + r[3]) for l, t in enumerate(c["layer_types"]) if t == FULL for r in gate]
    return [("tensor", 0.0, 1.0, (c["vocab_size"], h), "model.embed_tokens.weight"), ("tensor", 1.0, 0.25, (h,), "model.norm.weight"),
            *all_layers, *only_full]


def write_safetensors(path, rows):
    header, data = {}, b""
    for _, base, spread, shape, name in rows:
        for l in range(CONFIG["num_hidden_layers"] if "*" in name else 1):
            v = made.values(name.replace("*", str(l)), base, spread, shape).tobytes()
            header[name.replace("*", str(l))] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(v)]}
            data += v
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def problem(seed):
    name = f"windows-{seed}"
    return name, int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


def decode(reference, model, policy, seed, n):
    return reference.decode(model, policy, [made.prompt_ids(seed, n, CONFIG["vocab_size"])], NEW, None, [problem(seed)[0]])[0]


def find(reference, model, folder, row, n, seed, heads):
    """The line of the first seed from `seed` on that will do, and the seed."""
    policy = reference.make_policy(row[-1], folder)
    while True:
        s = decode(reference, model, policy, seed, n)
        is_sure = min(s.gaps) >= LEAST_GAP and (min(s.select_gaps) >= LEAST_SELECT or "kernel=7" in row[0])
        if is_sure and (row[0] == "full" or s.out != decode(reference, model, reference.Full(), seed, n).out):
            keys = getattr(s, "extra", {}).get("key_elements", 0)
            return (f"stream {n} {seed} {problem(seed)[1]} {s.reads / heads:.10g} {s.reads_full / heads:.10g} {keys:.10g} "
                    + " ".join(map(str, s.out))), seed
        seed += 1


def main(recipe):
    sys.path.insert(0, recipe)
    import reference
    rows, heads = tensors(), CONFIG["num_hidden_layers"] * CONFIG["num_key_value_heads"]
    lines = ["# a model with windows and sinks under every policy, by the NumPy reference; made by make.py, which states the format",
             "config " + json.dumps(CONFIG)]
    lines += [f"{kind} {base:g} {spread:.9g} {' '.join(map(str, shape))} {name}" for kind, base, spread, shape, name in rows]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "config.json").write_text(json.dumps(CONFIG))
        write_safetensors(root / "model.safetensors", [r for r in rows if r[0] == "tensor"])
        write_safetensors(root / "dms_cr2.safetensors", [r for r in rows if r[0] == "gate"])
        model = reference.Model(folder)
        model.eos = -1
        for row in POLICIES:
            seed = 0
            lines.append("policy " + row[0])
            for n in LENGTHS:
                line, seed = find(reference, model, folder, row, n, seed + 1, heads)
                lines.append(line)
            print(row[0], "up to seed", seed, flush=True)
    (HERE / "windows.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
