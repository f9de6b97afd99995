"""FMInference/H2O: h2o_hf/utils_real_drop/modify_llama.py's H2OLlamaAttention.forward() and H2OKVCache_LayerWise, on a model
with as many KV heads as query heads, for which that code is written: random_model.py FOLDER 6."""
import importlib
import types

import torch

import host


class H2O(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.package("h2o_real_drop", folder / "h2o_hf/utils_real_drop")
        peer = importlib.import_module("h2o_real_drop.modify_llama")
        peer.rotate_half = host.rotate_half
        budget = int(options["budget_tokens"])
        recent = int(float(options.get("recent", 0.5)) * budget)
        peer.print = lambda *_: None
        for attn in model.attn:
            attn.config, attn.hidden_size = types.SimpleNamespace(pretraining_tp=1), model.n_q * model.dim
            attn.rotary_emb = lambda _, seq_len: model.rotary(torch.arange(seq_len))
            attn.kv_cache = peer.H2OKVCache_LayerWise(budget - recent, recent)
            attn.forward = types.MethodType(peer.H2OLlamaAttention.forward, attn)
        self.past = [None] * model.n_layers

    def attend(self, l, y, pos):
        out, _, self.past[l] = self.model.attn[l].forward(y, None, pos[None], self.past[l], use_cache=True)
        return out


PEER = H2O
