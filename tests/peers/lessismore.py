"""DerrickYLJ/LessIsMore: src/tidal_build/modify_llama_lim.py's llama_tidal_attention_forward(), for the preset authors. In that
file lim_ratio is the share of recent tokens, in modify_qwen3_lim.py the share that is chosen."""
import importlib

import host


class LessIsMore(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.package("lim_build", folder / "src/tidal_build")
        self.forward = importlib.import_module("lim_build.modify_llama_lim").llama_tidal_attention_forward
        first, second = (int(x) for x in options["layers"].split("+"))
        self.rule = dict(top_k=int(options.get("k_tokens", 2048)), sparse_layer_start=first, correction_layer=second,
                         attention_sink=int(options.get("sinks", 4)), lim_ratio=1 - float(options.get("middle", 0.75)))
        for attn in model.attn:
            attn.attention_dropout = 0.0

    def attend(self, l, y, pos):
        attn = self.model.attn[l]
        attn.pos_dict = self.model.attn[l - 1].pos_dict if l else None     # as src/models/llama_tidaldecoding.py hands it on
        return self.forward(attn, y, position_ids=pos[None], past_key_value=self.cache,
                            position_embeddings=self.model.rotary(pos), **self.rule)[0]


PEER = LessIsMore
