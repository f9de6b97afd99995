"""Zefan-Cai/R-KV: rkv/modeling.py's LlamaAttention_forward() with the class R1KV or SnapKV of rkv/compression, on the first
problem of a process: the flag that CausalLM_forward() gives all layers after each step is set here."""
import importlib
import importlib.util
import sys
import types

import host


class Finder:
    """At d15c976 rkv/compression imports two files that it has not got: one has another name, one is not used."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name == "rkv.compression.rkv" and not (self.folder / "rkv/compression/rkv.py").exists():
            return importlib.util.spec_from_file_location(name, self.folder / "rkv/compression/r1_kv.py")


class RKV(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        sys.meta_path.insert(0, Finder(folder))
        sys.modules.setdefault("rkv.compression.simkv", host.Absent("rkv.compression.simkv"))
        package = sys.modules.setdefault("rkv", types.ModuleType("rkv"))      # its own __init__ patches Transformers
        package.__path__ = [str(folder / "rkv")]
        peer = importlib.import_module("rkv.modeling")
        self.every = int(options.get("every", 128))
        method = dict(budget=int(options["budget_tokens"]), window_size=int(options.get("window", 8)),
                      kernel_size=int(options.get("kernel", 7)))
        name = options["name"]
        if name == "rkv":
            method["mix_lambda"] = float(options.get("lambda", 0.07))
        self.config = types.SimpleNamespace(method_config=method, compression=None, update_kv=True, _attn_implementation="eager")
        for attn in model.attn:
            attn.config, attn.attention_dropout = self.config, 0.0
            attn.kv_cluster = peer.KV_COMPRESSION_MAP[name](**method)
            attn.forward = types.MethodType(peer.LlamaAttention_forward, attn)

    def end(self, pos):
        self.config.compression = (int(pos[-1]) + 1) % self.every == 0

    def attend(self, l, y, pos):
        return self.model.attn[l].forward(y, self.model.rotary(pos), None, past_key_value=self.cache)[0]


PEER = RKV
