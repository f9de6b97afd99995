"""NVIDIA/kvpress: SnapKVPress (policy snapkv, when=prompt), and KVzapPress with linear gates within DMSPress (policy dms, a
gate file that `kveval convert gates MODEL/kvzap --model MODEL --threshold T` made), as hooks after attention, which runs
through attention_patch.py."""
import importlib
import sys
import types

import torch
from safetensors import safe_open
from safetensors.torch import load_file

import host


class Kvpress(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.package("kvpress", folder / "kvpress")
        host.package("kvpress.presses", folder / "kvpress/presses")
        sys.modules["transformers.models.llama.modeling_llama"].rotate_half = host.rotate_half
        load = lambda name: importlib.import_module("kvpress." + name)
        self.attention = load("attention_patch").attention_patch(
            lambda module, q, k, v, mask, dropout: host.attention(module, q, k, v, mask, model.dim ** -0.5))
        if options["name"] == "snapkv":
            self.budget = int(options["budget_tokens"])
            self.press = load("presses.snapkv_press").SnapKVPress(0.5, int(options.get("window", 64)),
                                                                  int(options.get("kernel", 5)))
        else:
            gates = load_file(model.folder / "kvzap/model.safetensors")
            zap = load("presses.kvzap_press").KVzapPress(model_type="linear")
            zap.kvzap_model = types.SimpleNamespace(layers=[])
            for l in range(model.n_layers):
                linear = torch.nn.Linear(*reversed(gates[f"layers.{l}.weight"].shape))
                linear.load_state_dict({k: gates[f"layers.{l}.{k}"] for k in ("weight", "bias")})
                zap.kvzap_model.layers.append(linear)
            with safe_open(options["gate"], "pt") as f:
                self.press = load("presses.dms_press").DMSPress(zap, float(f.metadata()["bias"]), decoding=True)
        self.layers = [types.SimpleNamespace() for _ in range(model.n_layers)]      # of the cache
        for attn in model.attn:
            attn.config = types.SimpleNamespace(num_attention_heads=model.n_q, num_key_value_heads=model.n_kv)
            attn.masked_key_indices = None

    def attend(self, l, y, pos):
        attn, layer = self.model.attn[l], self.layers[l]
        q, k, v = self.model.qkv(l, y, pos)
        if len(pos) == 1:
            k, v = torch.cat((layer.keys, k), 2), torch.cat((layer.values, v), 2)
        layer.keys, layer.values = k, v
        out = self.attention(attn, q, k, v, None, 0.0)[0]
        if hasattr(self, "budget"):
            self.press.compression_ratio = 1 - (self.budget + 0.5) / max(len(pos), self.budget + 1)
        self.press.forward_hook(attn, [], dict(hidden_states=y, past_key_values=self, cache_position=pos,
                                               position_embeddings=self.model.rotary(pos)), [out, None])
        return attn.o_proj(out.reshape(1, len(pos), -1))


PEER = Kvpress
