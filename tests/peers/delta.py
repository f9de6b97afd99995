"""hoenza/DELTA: Engine/DELTA's page selectors, page_selector_v2.py for the preset release and page_selector.py for paper, with
backend.py's page scores by softmax, which is its public default. For release scheduler.py's Request counts the pages; for paper
they are as many as there are tokens for."""
import importlib
import sys
import types

import torch

import host

PAGE, MOST = 16, 256            # tokens of a page, and pages at most


class Delta(host.Peer):
    def __init__(self, model, folder, options):
        super().__init__(model, folder, options)
        host.absent("flashinfer", "tqdm", "triton.language")
        sys.path.insert(0, str(folder))
        for name in ("model", "page_metadata", "page_score", "Timer"):
            sys.modules["DELTA.Engine.DELTA." + name] = host.Absent(name)
        sys.modules["DELTA.Engine.utils"] = host.Absent("utils")
        self.scores = importlib.import_module(
            "DELTA.Engine.DELTA.backend").LMBackend._compute_page_scores_from_attention_buffer_legacy_softmax
        self.k_pages, release = int(options["k_pages"]), options["preset"] == "release"
        last = min(int(options.get("l_pages", 8)), self.k_pages)
        module = importlib.import_module("DELTA.Engine.DELTA.page_selector" + ("_v2" if release else ""))
        kind = module.PageSelectorV2 if release else module.PageSelector
        self.selector = kind(1, MOST, True, self.k_pages, 1, last, "cpu")
        self.full = {0, 1, *(int(x) for x in options["layers"].split("+"))}
        self.request = None
        if release:
            scheduler = importlib.import_module("DELTA.Engine.DELTA.scheduler")
            self.request = scheduler.Request(0, None, 0, [], scheduler.PageManager(MOST, seed=1))
            self.request.initialize_pages(0, MOST)

    def begin(self, pos):
        total = int(pos[-1]) + 1
        if self.request:
            self.request.plan(len(pos), PAGE)
            self.pages = torch.tensor(self.request.page_indices, dtype=torch.int32)
        else:
            self.pages = torch.arange(-(-total // PAGE), dtype=torch.int32)
        self.sparse = len(pos) == 1 and len(self.pages) > self.k_pages
        n = torch.tensor([0, len(self.pages)], dtype=torch.int32)
        if self.sparse:
            self.selector.plan(torch.tensor([0, 1], dtype=torch.int32), self.pages, n, torch.tensor([total % PAGE]),
                               self.pages[-self.k_pages:], torch.tensor([0, self.k_pages], dtype=torch.int32))

    def attend(self, l, y, pos):
        q, k, v = self.model.qkv(l, y, pos)
        k, v = self.cache.update(k, v, l)
        scale, total = self.model.dim ** -0.5, k.shape[2]
        if self.sparse and l not in self.full:
            k, v = k[:, :, self.tokens], v[:, :, self.tokens]
        out = host.attention(None, q, k, v, None, scale)[0]
        if self.sparse and l in self.full and l + 1 < self.model.n_layers and l + 1 not in self.full:
            room = torch.full((1, self.model.n_q, 1, MOST * PAGE), -torch.inf)
            room[..., :total] = q @ host.repeat_kv(k, self.model.n_q // self.model.n_kv).transpose(2, 3) * scale
            backend = types.SimpleNamespace(
                batch_size=1, max_length=MOST * PAGE, page_size=PAGE, attention_weights_buffer=room,
                model=types.SimpleNamespace(config=types.SimpleNamespace(n_head=self.model.n_q)),
                scheduler=types.SimpleNamespace(active_bsz=1, max_pages=len(self.pages)))
            chosen, _ = self.selector.select(self.scores(backend))
            place = {int(page): i for i, page in enumerate(self.pages)}
            at = torch.tensor([place[int(page)] for page in chosen])
            self.tokens = (at[:, None] * PAGE + torch.arange(PAGE)).flatten()
            self.tokens = self.tokens[self.tokens < total]
        return self.model.attn[l].o_proj(out.reshape(1, len(pos), -1))


PEER = Delta
