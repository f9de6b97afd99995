"""schwartz-lab-NLP/TOVA: src/convert_models/llama_custom.py's forward() and src/tova_cache.py's TOVACache."""
import importlib
import sys
import types

import torch

import host


class Tova(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        sys.path.insert(0, str(folder))
        self.cache = importlib.import_module("src.tova_cache").TOVACache(int(options["budget_tokens"]))
        peer = importlib.import_module("src.convert_models.llama_custom")
        peer.apply_rotary_pos_emb = lambda q, k, cos, sin, pos: host.apply_rotary_pos_emb(q, k, *model.rotary(pos[0]))
        for attn in model.attn:
            attn.config, attn.attention_dropout = types.SimpleNamespace(pretraining_tp=1), 0.0
            attn.hidden_size, attn.rotary_emb = model.n_q * model.dim, lambda x, seq_len: (None, None)
            attn.forward = types.MethodType(peer.tova_llama_attention_forward, attn)

    def attend(self, l, y, pos):
        n = len(pos)
        mask = torch.full((1, 1, n, n), -torch.inf).triu(1) if n > 1 else None
        return self.model.attn[l].forward(y, mask, pos[None], self.cache)[0]


PEER = Tova
