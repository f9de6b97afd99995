"""mit-han-lab/Quest: evaluation/quest_attention.py's forward(), for presets hf and kascade's rule with a fixed budget."""
import importlib
import sys
import types

import host


class Quest(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        sys.path.insert(0, str(folder / "evaluation"))
        forward = importlib.import_module("quest_attention").forward
        for l, attn in enumerate(model.attn):
            attn.layer_id, attn.chunk_size, attn.token_budget = l, 16, 16 * int(options["k_pages"])
            attn.hidden_size = model.n_q * model.dim
            attn.flash_forward = lambda y, mask, pos, *_, l=l, **__: (self.dense(l, y, pos[0]),)
            attn.forward = types.MethodType(forward, attn)

    def attend(self, l, y, pos):
        return self.model.attn[l].forward(y, None, pos[None], self.cache, use_cache=True)[0]


PEER = Quest
