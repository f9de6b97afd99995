"""mit-han-lab/streaming-llm: streaming_llm/kv_cache.py's StartRecentKVCache, after each token as in its perplexity run, the
prompt's tokens too. Its renumbering of positions (pos_shift) is left out, as docs/policies.md says."""
import importlib

import torch

import host


class StreamingLLM(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.package("streaming_llm", folder / "streaming_llm")
        peer = importlib.import_module("streaming_llm.kv_cache")
        peer.print = lambda *_: None
        sinks = int(options.get("sinks", 4))
        self.cut = peer.StartRecentKVCache(sinks, int(options["window_tokens"]) - sinks - 1)
        self.past = [None] * model.n_layers

    def attend(self, l, y, pos):
        q, k, v = self.model.qkv(l, y, pos)
        out = []
        for i in range(len(pos)):
            one = [x[:, :, i:i + 1] for x in (k, v)]
            if self.past[l] is not None:
                one = [torch.cat((old, new), 2) for old, new in zip(self.past[l], one)]
            out.append(host.attention(None, q[:, :, i:i + 1], *one, None, self.model.dim ** -0.5)[0])
            self.past[l] = self.cut([one])[0]
        return self.model.attn[l].o_proj(torch.cat(out, 1).reshape(1, len(pos), -1))


PEER = StreamingLLM
