"""microsoft/kascade: the classes of src/strategies, Kascade's own and its ports of LessIsMore, OmniKV, Quest and
StreamingLLM (preset kascade of each). Needs Python 3.12, as they do.

Where the policy reads the prompt densely, so does the peer here, and its class runs from the first decoded token on.
EfficientKascadeStrategy's kernels want a GPU; in their place run the functions that the repository checks them with
(ref_program_correct), in the model's own precision."""
import importlib
import sys
import types

import torch

import host

PRESETS = {"paper": {}, "script": {"tile_size": 32}, "script_prefill": {"tile_size": 32, "rolling_prefill": True},
           "pooled": {}, "pooled_script": {"tile_size": 32}, "pooled_prefill": {"tile_size": 32, "rolling_prefill": True},
           "efficient": {}}


def head_map(options, model, anchors):
    """Head lists by layer, of the option map: 3:10+4:11."""
    given = dict(x.split(":") for x in options.get("map", "").split("+") if x)
    return [[int(h) for h in given.get(str(l), range(model.n_kv))] for l in range(model.n_layers)]


class Kascade(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.package("kascade_src", folder / "src")
        host.package("kascade_src.strategies", folder / "src/strategies")
        name, layers = options["name"], [int(x) for x in options.get("layers", options.get("anchors", "0")).split("+")]
        self.sparse_prefill, self.config = False, types.SimpleNamespace(num_attention_heads=model.n_q)
        for attn in model.attn:
            attn.config = self.config
        if name == "kascade":
            self.strategy = self.own(options, layers)
        elif name == "lessismore":
            self.strategy = self.load("LessIsMoreStrategy")(layers, k=10, lim_ratio_factor=0.25)
        elif name == "omnikv":
            self.strategy = self.load("OmniKVStrategy")(layers, k=10)
        elif name == "quest":
            self.strategy = self.load("QuestStrategy")(k=10)
        elif name == "streamingllm":
            self.strategy, self.sparse_prefill = self.load("SinkedSlidingWindowStrategy")(), True
        self.name = name

    def load(self, name):
        return getattr(importlib.import_module("kascade_src.strategies." + name), name)

    def own(self, options, anchors):
        preset = options["preset"]
        rest = {"k": 10, "recompute_layers": anchors, **PRESETS[preset]}
        self.sparse_prefill = preset.endswith("_prefill")
        if preset.startswith("pooled"):
            return self.load("PooledKascadeStrategy")(**rest)
        heads = head_map(options, self.model, anchors)
        if preset == "efficient":
            return self.efficient(rest, heads)
        kind = self.load("DecodeOnlyKascadeStrategy" if preset == "paper" else "KascadeStrategy")
        kind = type("Mapped", (kind,), {"get_head_mapping": lambda *_: heads})
        return kind(model_name=None, **rest)

    def efficient(self, rest, heads):
        """The class's own attention_forward(), and for its kernels what they are checked with, in the model's precision."""
        host.absent("tilelang.language", "tilelang.autotuner", "tilelang.jit.adapter.libgen", "tilelang.utils.target",
                    "kascade.kernels")
        sys.modules["tilelang.autotuner"].__all__ = []
        sys.modules["tilelang"].jit = lambda *_, **__: lambda f: f
        sys.modules["tilelang.autotuner"].autotune = sys.modules["tilelang"].jit
        for name in ("kernels", "kernels.flash_decoding"):
            host.package("kascade_src." + name, self.folder / "src" / name.replace(".", "/"))
        check = importlib.import_module("kascade_src.kernels.flash_decoding.recompute_kascade_gqa_decode")
        check.torch = types.ModuleType("torch")
        vars(check.torch).update(vars(torch), float16=self.model.dtype)

        def recompute(own, q, k, v, topk, layer):
            out, own._topk_to_reuse, _ = check.ref_program_correct(q, k, v, topk, layer)
            return out

        def reuse(own, q, k, v, layer):
            return check.ref_program_correct_1(q, k, v, own._topk_to_reuse, own._head_mapping[layer])
        kind = type("Checked", (self.load("EfficientKascadeStrategy"),),
                    {"_decode_recomp_forward": recompute, "_decode_reuse_forward": reuse})
        strategy = object.__new__(kind)
        vars(strategy).update(rest, _head_mapping=heads)
        return strategy

    def attend(self, l, y, pos):
        q, k, v = self.model.qkv(l, y, pos)
        k, v = self.cache.update(k, v, l)
        n, total = len(pos), k.shape[2]
        if n > 1 and not self.sparse_prefill:
            out = host.attention(None, q, k, v, None, self.model.dim ** -0.5)[0]
            return self.model.attn[l].o_proj(out.reshape(1, n, -1))
        if self.name == "streamingllm":
            mask = self.strategy.custom_attention_mask(1, pos, total)
            out = host.attention(None, q, k, v, mask, self.model.dim ** -0.5)[0]
        else:
            mask = torch.zeros(1, 1, n, total, dtype=q.dtype)
            if n > 1:
                mask += torch.full((n, total), torch.finfo(q.dtype).min, dtype=q.dtype).triu(1)
            out = self.strategy.attention_forward(self.model.attn[l], q, k, v, mask, self.model.dim ** -0.5)[0]
        return self.model.attn[l].o_proj(out.reshape(1, n, -1))


PEER = Kascade
