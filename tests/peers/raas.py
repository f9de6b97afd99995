"""DerekHJH/RaaS: quest/models/raas_llama.py's forward() and quest/utils/cache_utils.py's RaaSCache."""
import importlib
import sys
import types

import host


class RaaS(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        sys.path.insert(0, str(folder))
        for name in ("quest", "quest.models", "quest.utils"):
            package = sys.modules.setdefault(name, types.ModuleType(name))     # their own __init__ wants compiled kernels
            package.__path__ = [str(folder / name.replace(".", "/"))]
        sys.modules["quest.models.full_llama"] = sys.modules["transformers.models.llama.modeling_llama"]
        sys.modules["quest.models.full_llama"].Cache = host.DynamicCache
        peer = importlib.import_module("quest.models.raas_llama")
        budget = int(options["budget_tokens"])
        self.cache = importlib.import_module("quest.utils.cache_utils").RaaSCache(16, budget)
        for l, attn in enumerate(model.attn):
            attn.cache_budget, attn.page_size = budget, 16
            attn.forward = types.MethodType(peer.forward, attn)
            attn.flash_forward = lambda y, mask, pos, *_, l=l, **__: (self.dense(l, y, pos[0]),)

    def attend(self, l, y, pos):
        return self.model.attn[l].forward(y, None, pos[None], self.cache, position_embeddings=self.model.rotary(pos))[0]


PEER = RaaS
