"""NVIDIA/Model-Optimizer: experimental/dms, that is dms/core.py's prepare_attention_input(), dms/attention.py's
dms_attn_eval_mode(), the prefill and the caches below it. For neuron=last, and for gate=FILE that `kveval convert gates
MODEL/dms --model MODEL` made of adapters; evict=false is dms_disable_eviction. FlashAttention's and FlexAttention's functions
are made anew here."""
import importlib
import json
import sys
import types

import torch
from safetensors.torch import load_file

import host


def flash(q, k_pages, v_pages, k, v, cache_seqlens, block_table, softmax_scale, causal):
    """flash_attn_with_kvcache() for one query of each row: q [rows, 1, heads, D], pages [pages, tokens, 1, D]."""
    out = torch.empty_like(q)
    for r in range(q.shape[0]):
        keys, values = (x[block_table[r].long().clamp(min=0)].reshape(-1, x.shape[-1])[:int(cache_seqlens[r])]
                        for x in (k_pages, v_pages))
        out[r, 0] = (q[r, 0] @ keys.T * softmax_scale).softmax(-1) @ values
    return out


def flex(query, key, value, score_mod, scale, enable_gqa):
    rows, heads, n, _ = query.shape
    at = lambda n, dim: torch.arange(n).reshape([-1 if d == dim else 1 for d in range(4)])
    scores = score_mod(query @ key.transpose(2, 3) * scale, at(rows, 0), at(heads, 1), at(n, 2), at(key.shape[2], 3))
    return scores.softmax(-1) @ value, types.SimpleNamespace(lse=scores.logsumexp(-1))


class DMS(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        torch.compile = lambda f=None, **_: f or (lambda g: g)
        sys.modules["torch.nn.attention.flex_attention"] = host.Absent("torch.nn.attention.flex_attention")
        host.absent("tqdm")
        sys.path.insert(0, str(folder / "experimental/dms"))
        self.core, self.eval = importlib.import_module("dms.core"), importlib.import_module("dms.attention")
        self.prefill = importlib.import_module("dms.attention_prefill").dms_run_prefill_flex
        self.mode = importlib.import_module("dms.cache").Mode
        adapters = "gate" in options
        config = json.loads((model.folder / ("dms/config.json" if adapters else "config.json")).read_text())
        self.disabled = options.get("evict") == "false"
        self.scale, self.offset = config.get("dms_alpha_scale", 100.0), config.get("dms_initial_alpha_offset", 5.0)
        self.cache = importlib.import_module("dms.cache").DMSCache(
            config["dms_window_size"] + 1, 8192, disable_eviction=self.disabled, block_size=16)
        w = load_file(model.folder / "dms/model.safetensors") if adapters else {}
        name = "model.layers.{}.self_attn.dms_proj_alpha{}.weight"
        self.gates = [(model.norm_of(w[name.format(l, "_norm")]),
                       lambda x, w=w[name.format(l, "")]: x @ w.T) if adapters else (None, None)
                      for l in range(model.n_layers)]

    def begin(self, pos):
        if len(pos) > 1:
            self.cache.prefill_mode()
        elif self.cache.current_mode != self.mode.INFERENCE:
            self.cache.inference_mode()

    def layer(self, l, x, pos):
        self.residual = x
        return super().layer(l, x, pos)

    def attend(self, l, y, pos):
        attn, (cos, sin), same = self.model.attn[l], self.model.rotary(pos), lambda x: x
        q, k, v, decisions, _ = self.core.prepare_attention_input(
            self.residual, y, attn.q_proj, attn.k_proj, attn.v_proj, same, same, self.model.dim, cos, sin, *self.gates[l],
            "head", self.scale, self.offset, False, self.disabled, 0.1, host.apply_rotary_pos_emb, False)
        out = self.eval.dms_attn_eval_mode(q, k, v, decisions.to(torch.int32), None, l, self.cache, self.model.dim ** -0.5,
                                           flash, self.prefill, {"flex_attention_fn": flex})
        return self.core.post_process_attention_output(out, attn.o_proj)


PEER = DMS
