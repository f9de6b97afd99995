#!/usr/bin/env python3
"""Trains DMS gates for SmolLM2-135M-Instruct on one GPU in about nine minutes: frozen weights, CR 2, 4 and 8 in turn.

    python3 train_gates.py --model FOLDER --data DATA --out OUT

Model, attention, schedule and loss are those of engine/pocket/recipe/dms.py, which says how gates are trained: a linear
gate for each layer and KV head on the layer's normed input, the KL of dense and sparse model, CR raised step by step. What
is different here is the text (gates_data.py gathers DATA), half of the rows and of the loss RULER's:
  debian   documentation, every token counts
  written  what the model itself writes at temperature 0.8 when asked about packages of Debian, its own tokens count
  ruler    RULER's prompts with their answers, the answers' tokens count: what must be found again far back
Window 128, as KVzap's (arXiv 2601.07891): DMS took 256 and 512 for contexts of 8k to 32k, and this model's is 8k, its tasks
2k to 4k. With CR 8 at 2,048 tokens the window then is a third of what is kept, and the gates decide about the rest.

Writes OUT/SmolLM2-135M-Instruct_dms_crN.safetensors as each target is done, OUT/gates.json (settings, losses, and measured
on texts held out: KL, agreement, flagged share), OUT/written.jsonl.gz, which is read instead of written anew where DATA has it.
--targets 4,8 --start FILE --start-cr 2 goes on from a file of an earlier run.
"""
import gzip, importlib.util, json, os, pathlib, random, sys, threading, time, traceback
import numpy as np, torch, torch.nn.functional as F
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("dms", HERE.parents[2] / "engine/pocket/recipe/dms.py")
dms = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dms)

NAME = "SmolLM2-135M-Instruct"
DEBIAN, WRITTEN, RULER = 1, 2, 3                 # kinds of tokens; 0 counts nothing
SHARE = np.array([0, 0.25, 0.25, 0.5], np.float32)   # of the loss
SYSTEM = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
USER, ASSISTANT, END = "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n"
ASK = ("Explain what this program is good for: {}.", "Write a short story in which this plays a part: {}.",
       "Write a tutorial for beginners about this: {}.", "Give me a numbered list of ten ideas about {}.",
       "What is the difference between {} and {}?", "Write an email to a colleague that recommends {}.",
       "Summarise the history of {} in three paragraphs.", "Write a Python program for this: {}. Explain it.",
       "A dialogue between a teacher and a pupil about {}.", "What should I know before I use {}? Think step by step.")


def write_text(model, tok, topics, A, dev, rng):
    """[(question, the model's answer)], sampled; [] when Transformers cannot do it here."""
    from transformers import AutoModelForCausalLM
    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.bfloat16 if dev == "cuda" else torch.float32).to(dev).eval()
    asked = [rng.choice(ASK).format(rng.choice(topics), rng.choice(topics)) for _ in range(A.written)]
    rows = [tok.encode(SYSTEM + USER + q + ASSISTANT).ids for q in asked]
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), 2)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, width - len(r):] = torch.tensor(r)
        mask[i, width - len(r):] = 1
    torch.manual_seed(A.seed)
    with torch.no_grad():
        got = net.generate(input_ids=ids.to(dev), attention_mask=mask.to(dev), do_sample=True, temperature=0.8, top_p=0.95, top_k=0,
                           max_new_tokens=A.written_tokens, max_time=A.written_seconds, eos_token_id=2, pad_token_id=2)
    out = []
    for q, r in zip(asked, got[:, width:].tolist()):
        r = r[:r.index(2)] if 2 in r else r
        if len(r) >= 8:
            out.append((q, tok.decode(r)))
    return out


class Texts:
    """Packs rows of A.len + 1 tokens: ids, number of the document, kind, position."""
    def __init__(s, A, tok, debian, ruler, written, rng):
        s.A, s.rng = A, rng
        enc = lambda texts: [e.ids for e in tok.encode_batch(list(texts))]
        s.debian = enc(r["text"] for r in debian)
        s.ruler = []
        for r, p, a in zip(ruler, enc(SYSTEM + USER + r["prompt"] + ASSISTANT + r["prefix"] for r in ruler), enc(r["answer"] for r in ruler)):
            s.ruler.append((r["family"], r["tokens"], p, a))
        s.system = tok.encode(SYSTEM).ids
        s.written = list(zip(enc(USER + q + ASSISTANT for q, _ in written), enc(a + END for _, a in written)))
        rng.shuffle(s.written)
        s.hold()

    def hold(s):
        """A tenth of each kind is held out."""
        cut = lambda x: (x[: len(x) - len(x) // 10], x[len(x) - len(x) // 10:])
        s.debian, s.debian_test = cut(s.debian)
        s.written, s.written_test = cut(s.written)
        s.ruler_test = [r for i, r in enumerate(s.ruler) if i % 10 == 9]
        s.ruler = [r for i, r in enumerate(s.ruler) if i % 10 != 9]

    def empty(s, rows):
        return [np.zeros((rows, s.A.len + 1), d) for d in (np.int32, np.int32, np.int8, np.int32)]

    def put(s, batch, row, at, ids, kinds, number):
        n = len(ids)
        for array, values in zip(batch, (ids, number, kinds, np.arange(n))):
            array[row, at:at + n] = values
        return at + n

    def debian_row(s, batch, row, source):
        at = number = 0
        while at < s.A.len - 64:
            ids = s.rng.choice(source)
            start = s.rng.randrange(max(1, len(ids) - s.A.len))
            ids = ids[start:start + s.A.len + 1 - at]
            number += 1
            at = s.put(batch, row, at, ids, DEBIAN, number)

    def written_row(s, batch, row, source):
        """Conversations of unrelated questions, of 512 to 4,096 tokens."""
        at = number = 0
        while at < s.A.len - 64:
            room = min(s.A.len + 1 - at, s.rng.choice((512, 1024, 2048, 4096)))
            ids, kinds = list(s.system), [0] * len(s.system)
            while len(ids) < room:
                q, a = s.rng.choice(source)
                ids += q + a
                kinds += [0] * len(q) + [WRITTEN] * len(a)
            number += 1
            at = s.put(batch, row, at, ids[:room], kinds[:room], number)

    def ruler_row(s, batch, row, source, first=None):
        at = number = 0
        tries = 0
        while at < s.A.len and tries < 8 and (first or source):
            _, _, p, a = first or s.rng.choice(source)
            first = None
            if at + len(p) + len(a) > s.A.len + 1:
                tries += 1
                continue
            number += 1
            at = s.put(batch, row, at, p + a, [0] * len(p) + [RULER] * len(a), number)

    def weigh(s, batch):
        """Kinds become weights: each kind has its share of the loss, whatever number of tokens it has here."""
        ids, doc, kind, pos = batch
        count = np.bincount(kind.ravel(), minlength=4).clip(1)
        return [ids, doc, (SHARE / count)[kind], pos]

    def train_batch(s):
        batch = s.empty(s.A.rows)
        for row in range(s.A.rows):
            if row % 2:
                s.ruler_row(batch, row, s.ruler)
            elif row % 4 and s.written:
                s.written_row(batch, row, s.written)
            else:
                s.debian_row(batch, row, s.debian)
        return s.weigh(batch)

    def test_batches(s):
        """name -> batches of one kind each, always the same ones"""
        state, s.rng = s.rng, random.Random(99)
        out = {}
        for name, source, fill in (("debian", s.debian_test, s.debian_row), ("written", s.written_test, s.written_row)):
            if not source: continue
            out[name] = []
            for _ in range(s.A.test_batches):
                batch = s.empty(s.A.rows)
                for row in range(s.A.rows): fill(batch, row, source)
                out[name].append(s.weigh(batch))
        for tokens in sorted({r[1] for r in s.ruler_test}):
            rows = [r for r in s.ruler_test if r[1] == tokens and len(r[2]) + len(r[3]) <= s.A.len + 1]
            if tokens not in s.A.test_lengths or not rows: continue
            out[f"ruler {tokens}"] = []
            for i in range(0, len(rows), s.A.rows):
                batch = s.empty(s.A.rows)
                for row, r in enumerate(rows[i:i + s.A.rows]): s.ruler_row(batch, row, [], r)
                out[f"ruler {tokens}"].append(s.weigh(batch))
        s.rng = state
        return out


def measure(m, batch):
    """Of hard decisions on one batch, at up to 4,096 counted positions: sums, number, and of documents with an answer how
    many each model would have given greedily, word for word."""
    b = m.prepare(batch)
    xt = m.teacher(b)
    xs, h = m.student(b, m.noise(0.0), torch.tensor(1e-6, device=m.dev))[::2]
    xs = xs.detach()                                 # nothing holds the graph any more
    at = (b["wt"] > 0).nonzero()
    at = at[::max(1, len(at) // 4096)]
    with torch.no_grad():
        pick = lambda x: F.log_softmax(dms.lin(dms.rms(x[at[:, 0], at[:, 1]], m.T.norm), m.T.emb).float(), -1)
        lt, ls = pick(xt), pick(xs)
        label = torch.from_numpy(batch[0][:, 1:]).to(m.dev).long()[at[:, 0], at[:, 1]]
        sums = [(lt.exp() * (lt - ls)).sum(), (lt.argmax(-1) == ls.argmax(-1)).sum(), -lt.gather(1, label[:, None]).sum(), -ls.gather(1, label[:, None]).sum()]
        key = at[:, 0] * 1000 + m.did[at[:, 0], at[:, 1]]
        docs = key.unique()
        right = [sum(bool((l.argmax(-1) == label)[key == d].all()) for d in docs) for l in (lt, ls)]
    return [x.item() for x in sums], len(at), right, len(docs), h.detach().mean().item(), b["nreal"].item()


def evaluate(m, tests):
    out = {}
    for name, batches in tests.items():
        sums, n, right, docs, flagged, tokens = np.zeros(4), 0, np.zeros(2, int), 0, 0.0, 0
        for batch in batches:
            s, k, r, d, h, t = measure(m, batch)
            sums, n, right, docs, flagged, tokens = sums + s, n + k, right + r, docs + d, flagged + h * t, tokens + t
        kl, agree, nt, ns = sums / n
        share = flagged / tokens
        out[name] = dict(kl=kl, agreement=agree, nll_dense=nt, nll_sparse=ns, flagged_share=share, compression_by_flags=1 / (1 - share), positions=n)
        line = f"   {name:10s} KL {kl:.4f} nats, agreement {agree:.4f}, NLL {nt:.4f} dense {ns:.4f} sparse, flagged {share:.3f} (CR {1 / (1 - share):.2f} far beyond the window)"
        if name.startswith("ruler"):
            out[name] |= dict(documents=docs, right_dense=int(right[0]), right_sparse=int(right[1]))
            line += f", answers right word for word: dense {right[0]}, sparse {right[1]} of {docs}"
        print(line, flush=True)
    return out


def check_teacher(model, m, batch):
    """The first row's hidden state against Transformers: the same model?"""
    from transformers import AutoModelForCausalLM
    net = AutoModelForCausalLM.from_pretrained(model, dtype=m.dtype).to(m.dev).eval()
    b = m.prepare(batch)
    n = int((m.did[0] == 1).sum().clamp(max=256))
    with torch.no_grad():
        mine = dms.lin(dms.rms(m.teacher(b)[:1, :n], m.T.norm), m.T.emb).float()
        theirs = net(b["ids"][:1, :n]).logits.float()
    print(f"logits against Transformers: largest difference {(mine - theirs).abs().max().item():.3f} of {theirs.abs().max().item():.1f}, "
          f"same greedy token at {(mine.argmax(-1) == theirs.argmax(-1)).float().mean().item() * 100:.1f} % of {n} positions", flush=True)


def arguments():
    ap = dms.ap
    ap.description = __doc__
    ap.add_argument("--data", required=True)
    ap.add_argument("--written", type=int, default=384, help="texts that the model writes")
    ap.add_argument("--written-tokens", type=int, default=900)
    ap.add_argument("--written-seconds", type=float, default=40)
    ap.add_argument("--test-batches", type=int, default=2)
    ap.add_argument("--test-lengths", default="2048,4096")
    ap.set_defaults(targets="2,4,8", window=128, rows=8, len=4096, lr=2e-3, lr_bias=2e-2, lam=3.0, minutes=2.2, hard_limit=530, eval_seconds=20)
    A = ap.parse_args()
    A.test_lengths = [int(x) for x in A.test_lengths.split(",")]
    return A


def read(path):
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


def main():
    A = arguments()
    os.makedirs(A.out, exist_ok=True)
    torch.manual_seed(A.seed); torch.set_float32_matmul_precision("high")
    torch._dynamo.config.recompile_limit = 32
    dev = A.device or ("cuda" if torch.cuda.is_available() else "cpu")
    cfg = json.load(open(f"{A.model}/config.json"))
    cfg.setdefault("head_dim", cfg["hidden_size"] // cfg["num_attention_heads"])
    dms.EPS = cfg["rms_norm_eps"]
    tok = Tokenizer.from_file(f"{A.model}/tokenizer.json")
    rng = random.Random(A.seed)
    paths = ("model", "problems", "gen", "out", "data", "start")
    record = dict(args={k: v for k, v in vars(A).items() if k not in paths}, torch=torch.__version__, device=torch.cuda.get_device_name() if dev == "cuda" else "cpu", snapshots=[])

    def finish(code):
        record["total_seconds"] = time.time() - dms.T_START
        json.dump(record, open(f"{A.out}/gates.json", "w"), indent=1)
        print(f"total {record['total_seconds']:.0f}s", flush=True); sys.stderr.flush(); os._exit(code)

    def watchdog():
        time.sleep(max(1.0, A.hard_limit + 25 - (time.time() - dms.T_START)))
        print("out of time: stopped by the watchdog", flush=True); finish(3)
    if not A.steps: threading.Thread(target=watchdog, daemon=True).start()
    written = []
    try:
        topics = gzip.open(f"{A.data}/topics.txt.gz", "rt").read().split("\n")
        have = f"{A.data}/written.jsonl.gz"
        if os.path.exists(have): written = [(r["asked"], r["written"]) for r in read(have)]
        elif A.written: written = write_text(A.model, tok, topics, A, dev, rng)
        with gzip.open(f"{A.out}/written.jsonl.gz", "wt", encoding="utf-8") as f:
            f.writelines(json.dumps(dict(asked=q, written=a)) + "\n" for q, a in written)
    except Exception:
        traceback.print_exc(); print("no text written by the model: going on without", flush=True)
    if dev == "cuda": torch.cuda.empty_cache()
    texts = Texts(A, tok, read(f"{A.data}/debian.jsonl.gz"), read(f"{A.data}/ruler.jsonl.gz"), written, rng)
    record["texts"] = dict(debian=len(texts.debian), debian_tokens=sum(map(len, texts.debian)), ruler=len(texts.ruler),
                           written=len(texts.written), written_tokens=sum(len(a) for _, a in texts.written))
    print(f"{time.time() - dms.T_START:.0f}s: texts {record['texts']}", flush=True)
    T = dms.Weights.load(cfg, f"{A.model}/model.safetensors", dev, torch.bfloat16 if dev == "cuda" else torch.float32)
    tests = texts.test_batches()

    def finished(m, snapshot):
        """Called as a target is done: the file that ships, and its measures on texts held out."""
        cr = f"{snapshot['cr']:g}"
        if len(record["snapshots"]) == 1:
            try: check_teacher(A.model, m, tests["debian"][0])
            except Exception: traceback.print_exc()
        meta = dict(model=NAME, window=A.window, shift=0, target_cr=cr, decision="logit>0", input="input_layernorm output",
                    train="gates; recipe runs/gates/recipe", hard_evicted_share=f"{snapshot['hard_evicted_share']:.4f}")
        dms.save_gates(f"{A.out}/{NAME}_dms_cr{cr}.safetensors", m.gw, m.gb, meta, torch.bfloat16)
        os.remove(f"{A.out}/dms_cr{cr}.safetensors")
        print(f"== {NAME} CR {cr}, on texts held out:", flush=True)
        params = m.gw + m.gb                     # measured as they were written, rounded to bf16; trained on as they are
        exact = [p.data.clone() for p in params]
        for p in params: p.data.copy_(p.data.bfloat16())
        snapshot["held_out"] = evaluate(m, tests)
        for p, x in zip(params, exact): p.data.copy_(x)
        json.dump(record, open(f"{A.out}/gates.json", "w"), indent=1)

    code = 0
    try:
        dms.train(A, cfg, T, dev, texts.train_batch, A.out, record, finished)
    except Exception:
        traceback.print_exc(); code = 1
    finish(code)


if __name__ == "__main__":
    main()
