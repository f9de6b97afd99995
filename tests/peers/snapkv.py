"""FasterDecoding/SnapKV: snapkv/monkeypatch/snapkv_utils.py's SnapKVCluster.update_kv(), on a model with as many KV heads as
query heads (random_model.py FOLDER 6), since it chooses for each query head."""
import importlib

import host


class SnapKV(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.package("snapkv_patch", folder / "snapkv/monkeypatch")
        paper = options.get("preset") == "paper"
        self.cluster = importlib.import_module("snapkv_patch.snapkv_utils").SnapKVCluster(
            32 if paper else 64, int(options["budget_tokens"]), 7 if paper else 5, "maxpool" if paper else "avgpool")

    def attend(self, l, y, pos):
        q, k, v = self.model.qkv(l, y, pos)
        if len(pos) > 1:
            out, _ = host.attention(None, q, k, v, None, self.model.dim ** -0.5)
            self.cache.update(*self.cluster.update_kv(k, q, v, None, 1), l)
        else:
            out, _ = host.attention(None, q, *self.cache.update(k, v, l), None, self.model.dim ** -0.5)
        return self.model.attn[l].o_proj(out.reshape(1, len(pos), -1))


PEER = SnapKV
