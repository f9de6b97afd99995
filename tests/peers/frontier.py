"""PiotrNawrot/sparse-frontier: modelling/attention/efficient_decoding.py's QuestAttention with share_pages, for quest's preset
frontier. vLLM's and FlashAttention's functions are made anew here. It wants prompts above the budget and one page more."""
import importlib
import sys

import torch

import host


def over_pages(q, k_cache, v_cache, block_table, cache_seqlens, out, causal):
    """flash_attn_with_kvcache() for one query: q and out [Hq, 1, 1, D], pages [pages, tokens, 1, D]."""
    for h in range(q.shape[0]):
        k, v = (x[block_table[h].long()].reshape(-1, x.shape[-1])[:int(cache_seqlens[h])] for x in (k_cache, v_cache))
        p = (k @ q[h, 0, 0] * k.shape[-1] ** -0.5).softmax(-1)
        out[h, 0, 0] = p @ v


class Frontier(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.absent("vllm.attention.backends.flash_attn", "vllm.distributed", "flash_attn")
        sys.modules["vllm.attention.backends.flash_attn"].flash_attn_with_kvcache = over_pages
        sys.modules["flash_attn"].flash_attn_func = lambda q, k, v, causal: host.attention(
            None, *(x.transpose(1, 2) for x in (q, k, v)), None, model.dim ** -0.5)[0]
        torch.compile = lambda f=None, **_: f or (lambda g: g)
        host.package("frontier_attention", folder / "sparse_frontier/modelling/attention")
        self.peer = importlib.import_module("frontier_attention.efficient_decoding").QuestAttention(
            16 * int(options["k_pages"]), 16, 4096, 4096, model.n_layers, True)

    def attend(self, l, y, pos):
        q, k, v = self.model.qkv(l, y, pos)
        all_k, all_v = self.cache.update(k, v, l)
        if len(pos) > 1:
            return self.model.attn[l].o_proj(self.peer(q, k, v, l).transpose(1, 2).reshape(1, len(pos), -1))
        total = all_k.shape[2]
        pages = [torch.nn.functional.pad(x[0], (0, 0, 0, -total % 16)).reshape(x.shape[1], -1, 16, x.shape[3])
                 for x in (all_k, all_v)]
        out = torch.empty_like(q[:, :, 0])
        self.peer.decode(q[:, :, 0], k[:, :, 0], v[:, :, 0], *pages, torch.full((q.shape[1],), total), out, l)
        self.peer.offsets = None                    # it is the cache's size, which is fixed there and grows here
        return self.model.attn[l].o_proj(out.reshape(1, 1, -1))


PEER = Frontier
