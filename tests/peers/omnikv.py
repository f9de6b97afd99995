"""antgroup/OmniKV: modeling/omnikv.py's OmniKVMulLayer.forward() and modeling/spec_cache.py's OmniKVMultiStageCache, with
the options of configs/example.json; for the preset that is named after the class, its own default of selector_cls."""
import importlib
import json
import math
import sys
import types
import typing

import torch

import host


class OmniKV(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        sys.path.insert(0, str(folder))
        torch.Tensor.cuda = lambda x, **_: x            # all of it is on the CPU here
        spec = importlib.import_module("modeling.spec_cache")
        base = types.ModuleType("modeling.offload_select_once")     # the other model of the repository
        vars(base).update(torch=torch, math=math, nn=torch.nn, F=torch.nn.functional, Cache=host.DynamicCache,
                          DynamicCache=host.DynamicCache, get_cache_cls=spec.get_cache_cls,
                          apply_rotary_pos_emb=host.apply_rotary_pos_emb, repeat_kv=host.repeat_kv, logger=host.logger(),
                          **{k: getattr(typing, k) for k in ("Optional", "Tuple", "Union", "List")},
                          **{k: type(k, (), {}) for k in ("LlamaDecoderLayer", "LlamaModel", "LlamaForCausalLM", "LlamaConfig",
                                                          "CausalLMOutputWithPast")})
        sys.modules["modeling.offload_select_once"] = base
        forward = importlib.import_module("modeling.omnikv").OmniKVMulLayer.forward
        config = json.loads((folder / "configs/example.json").read_text())
        if options.get("preset", "").endswith("-class"):
            del config["selector_cls"]
        filters = [int(x) for x in options["layers"].split("+")]
        self.cache = spec.OmniKVMultiStageCache([*range(filters[0]), *filters, model.n_layers], model.n_layers,
                                                config["num_wait_load_layers"], config["real_offload"])
        self.layers = []
        for l, attn in enumerate(model.attn):
            attn.config = {}
            layer = types.SimpleNamespace(
                layer_idx=l, config=config, prefill_len=None, decode_step=0, do_select_layers=filters, hidden_state_window=None,
                selector_cls=config.get("selector_cls", "softmax_before_last"), window_size=config["window_size"],
                cache_cls=spec.OmniKVMultiStageCache, mlp=model.mlp(l), self_attn=Attention(self, attn),
                input_layernorm=model.norm(f"model.layers.{l}.input_layernorm"),
                post_attention_layernorm=model.norm(f"model.layers.{l}.post_attention_layernorm"))
            layer.forward = types.MethodType(forward, layer)
            self.layers.append(layer)

    def begin(self, pos):
        self.cache.stage = "prefill" if len(pos) > 1 else "decoding"

    def layer(self, l, x, pos):
        return self.layers[l].forward(x, position_ids=pos[None], past_key_value=self.cache)[0]


class Attention:
    """A layer's attention, over what the peer's cache gives it."""

    def __init__(self, peer, attn):
        self.peer, self.attn = peer, attn

    def __getattr__(self, name):
        return getattr(self.attn, name)

    def __call__(self, hidden_states, position_ids, **_):
        l = self.attn.layer_idx
        return self.peer.dense(l, hidden_states, position_ids[0]), None, None


PEER = OmniKV
