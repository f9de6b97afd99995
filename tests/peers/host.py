"""A Llama or Qwen2 in PyTorch, fp32, whose layers a peer's code replaces, and what that code wants to import.

Peers are written for one old release of Transformers each. Here its few names that they use are made anew (modules()), so
that a peer's own functions and classes run as they are, from its folder, with any PyTorch.
"""
import functools
import json
import operator
import pathlib
import sys
import types

import torch
from safetensors.torch import load_file


def repeat_kv(x, n):
    return x.repeat_interleave(n, dim=1)


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)

    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def attention(module, q, k, v, attention_mask, scaling, **_):
    """q [1, Hq, n, D] over k and v [1, Hkv, S, D], of which the last n are the queries' own; [1, n, Hq, D]. A mask of
    truth values says what a query sees."""
    k, v = (repeat_kv(x, q.shape[1] // x.shape[1]) for x in (k, v))
    logits = q @ k.transpose(2, 3) * scaling
    if attention_mask is not None and attention_mask.dtype == torch.bool:
        logits = logits.masked_fill(~attention_mask, -torch.inf)
    elif q.shape[2] > 1:
        logits += torch.full(logits.shape[-2:], -torch.inf).triu(1 + k.shape[2] - q.shape[2])
    p = logits.softmax(-1)
    return (p @ v).transpose(1, 2), p


class Registry(dict):
    """Of attention functions, or of functions that make masks, by name."""

    def register(self, name, function):
        self[name] = function


def mask(cache_position, kv_length, mask_function, **_):
    """What each query sees of the keys, from a function of (batch, head, query, key)."""
    return mask_function(0, 0, cache_position[:, None], torch.arange(kv_length)[None])[None, None]


class DynamicCache:
    """K and V of all layers, as Transformers up to 4.53 kept them."""

    def __init__(self, *_, layer_class_to_replicate=None, **__):
        self.key_cache, self.value_cache, self._seen_tokens = [], [], 0
        self.layer_class_to_replicate, self.layers = layer_class_to_replicate, []

    def update(self, k, v, layer_idx, _=None):
        layer = layer_idx
        if layer == 0:
            self._seen_tokens += k.shape[2]
        if layer == len(self.key_cache):
            self.key_cache.append(k)
            self.value_cache.append(v)
        else:
            self.key_cache[layer] = torch.cat((self.key_cache[layer], k), 2)
            self.value_cache[layer] = torch.cat((self.value_cache[layer], v), 2)
        return self.key_cache[layer], self.value_cache[layer]

    def get_seq_length(self, layer=0):
        return self._seen_tokens

    def __len__(self):
        return len(self.key_cache)


class Absent(types.ModuleType):
    """A module that a peer imports and this comparison does not run: every name is an empty class."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, _: cls)})


def logger():
    log = types.SimpleNamespace()
    for level in ("debug", "info", "warning", "warning_once", "error"):
        setattr(log, level, lambda *_: None)
    return log


def absent(*names):
    """Puts these modules, and those above them, where imports look first."""
    for name in names:
        parts = name.split(".")
        for i in range(1, len(parts) + 1):
            name = ".".join(parts[:i])
            if not isinstance(sys.modules.get(name), Absent):
                sys.modules[name] = Absent(name)
            if i > 1:
                setattr(sys.modules[".".join(parts[:i - 1])], parts[i - 1], sys.modules[name])


def modules():
    """Puts the stand-ins where a peer's imports look first."""
    absent(*("transformers." + x for x in ("cache_utils", "utils", "processing_utils", "modeling_utils", "modeling_outputs",
                                           "masking_utils", "configuration_utils", "modeling_flash_attention_utils")),
           *(f"transformers.models.{m}.{kind}_{m}" for m in ("llama", "mistral", "qwen2", "qwen3", "gemma3", "phi3")
             for kind in ("modeling", "configuration")),
           "tiny_tools.log", "tiny_tools.tensor_tools")
    m = sys.modules["transformers.models.llama.modeling_llama"]
    m.apply_rotary_pos_emb, m.repeat_kv, m.eager_attention_forward = apply_rotary_pos_emb, repeat_kv, attention
    m.rotate_half = rotate_half
    sys.modules["transformers.modeling_utils"].ALL_ATTENTION_FUNCTIONS = Registry(sdpa=attention, eager=attention)
    m = sys.modules["transformers.masking_utils"]
    m.ALL_MASK_ATTENTION_FUNCTIONS, m.sdpa_mask = Registry(sdpa=mask, eager=mask), mask
    m.causal_mask_function = lambda b, h, q, k: k <= q
    m.sliding_window_overlay = lambda width: lambda b, h, q, k: k > q - width
    m.and_masks = lambda *f: lambda *at: functools.reduce(operator.and_, (x(*at) for x in f))
    m.or_masks = lambda *f: lambda *at: functools.reduce(operator.or_, (x(*at) for x in f))
    for m in ("transformers", "transformers.cache_utils"):
        sys.modules[m].DynamicCache = sys.modules[m].Cache = DynamicCache
    sys.modules["transformers.utils"].logging = types.SimpleNamespace(get_logger=lambda _: logger())
    sys.modules["tiny_tools.log"].logger, sys.modules["tiny_tools.log"].warning_once = logger(), lambda *_: None


def package(name, folder):
    """Makes folder an importable package without running its own __init__, which wants more than is compared here."""
    module = sys.modules.setdefault(name, types.ModuleType(name))
    module.__path__ = [str(folder)]
    return module


class Model:
    def __init__(self, folder, dtype=torch.float32):
        self.folder, self.dtype = pathlib.Path(folder), dtype
        folder = self.folder
        c = self.config = json.loads((folder / "config.json").read_text())
        self.w = {}
        for file in sorted(folder.glob("model*.safetensors")):
            self.w |= {k: v.to(dtype) for k, v in load_file(file).items()}
        self.n_layers, self.n_q, self.n_kv = (c["num_" + k] for k in ("hidden_layers", "attention_heads", "key_value_heads"))
        self.dim = c.get("head_dim") or c["hidden_size"] // self.n_q
        self.freq = c["rope_theta"] ** (-torch.arange(0, self.dim, 2, dtype=torch.float64) / self.dim)
        self.attn = [types.SimpleNamespace(
            layer_idx=l, head_dim=self.dim, num_heads=self.n_q, num_key_value_heads=self.n_kv,
            num_key_value_groups=self.n_q // self.n_kv, scaling=self.dim ** -0.5, training=False,
            rotary_emb=lambda _, pos: self.rotary(pos[0]),
            **{p: self.linear(f"model.layers.{l}.self_attn.{p}") for p in ("q_proj", "k_proj", "v_proj", "o_proj")})
            for l in range(self.n_layers)]

    def linear(self, name):
        return lambda x: torch.nn.functional.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm_of(self, weight):
        return lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.config["rms_norm_eps"]) * weight

    def norm(self, name):
        return self.norm_of(self.w[name + ".weight"])

    def mlp(self, l):
        gate, up, down = (self.linear(f"model.layers.{l}.mlp.{p}_proj") for p in ("gate", "up", "down"))
        return lambda x: down(torch.nn.functional.silu(gate(x)) * up(x))

    def rotary(self, pos):
        angle = pos.double()[:, None] * self.freq
        return tuple(f(torch.cat((angle, angle), -1)).to(self.dtype)[None] for f in (torch.cos, torch.sin))

    def qkv(self, l, y, pos):
        q, k, v = (p(y).view(1, y.shape[1], -1, self.dim).transpose(1, 2)
                   for p in (self.attn[l].q_proj, self.attn[l].k_proj, self.attn[l].v_proj))
        return *apply_rotary_pos_emb(q, k, *self.rotary(pos)), v

    @torch.no_grad()
    def logprobs(self, peer, ids, prompt_len, begin=lambda end: None):
        """Of the ids after the prompt, which is read at once; each of the others is read in a step of its own. begin() is told
        of each step how many ids it has read at its end."""
        out, start = [], 0
        head = self.w.get("lm_head.weight", self.w["model.embed_tokens.weight"])
        for end in range(prompt_len, len(ids)):
            pos = torch.arange(start, end)
            x = self.w["model.embed_tokens.weight"][torch.tensor(ids[start:end])][None]
            begin(end)
            peer.begin(pos)
            for l in range(self.n_layers):
                x = peer.layer(l, x, pos)
            peer.end(pos)
            row = torch.nn.functional.linear(self.norm("model.norm")(x[0, -1]), head).double()
            out.append(float(row.log_softmax(-1)[ids[end]]))
            start = end
        return out


class Peer:
    """Full attention; a peer replaces attend(), or the whole layer()."""

    def __init__(self, model, folder, options):
        self.model, self.folder, self.cache = model, folder, DynamicCache()

    def begin(self, pos):
        pass

    def end(self, pos):
        pass

    def dense(self, l, y, pos):
        q, k, v = self.model.qkv(l, y, pos)
        out, _ = attention(None, q, *self.cache.update(k, v, l), None, self.model.dim ** -0.5)
        return self.model.attn[l].o_proj(out.reshape(1, len(pos), -1))

    attend = dense

    def layer(self, l, x, pos):
        name = f"model.layers.{l}."
        x = x + self.attend(l, self.model.norm(name + "input_layernorm")(x), pos)
        return x + self.model.mlp(l)(self.model.norm(name + "post_attention_layernorm")(x))
