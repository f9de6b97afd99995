#!/usr/bin/env python3
"""Makes the small tokenizers of this folder (Qwen2's, Llama 3's, GPT-2's, SmolLM's and Llama 2's kind, trained on
corpus.txt) and ../tokenizer.test: what the tokenizers library makes of many texts.

    pip install tokenizers
    python3 make.py

Lines of tokenizer.test ('#' comments). JSON strings are plain, bytes that are no UTF-8 are written as "\\udcXX".
    variant NAME BASE {...}       the tokenizer BASE with these fields of its file replaced ("a.b" is a path)
    text "..." [N]                the text that the next lines are about, repeated N times
    NAME ids...                   its ids; "7*3" is 7 7 7
    NAME plain ids...             its ids when special tokens are not recognised, where they differ
    NAME framed ids...            its ids with what post_processor puts around them, where they differ
    NAME decoded "..."            what these ids decode to, where that is not the text (repaired)
    decode NAME "..." ids...      the text of these ids, which no text has
    refuse BASE {...} == words    the file changed like that is refused with a message that has these words
"""
import json, pathlib, random
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)"
          r"|\s+")


def byte_level(use_regex):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), byte_level(False)])


def special(*names):
    return [AddedToken(n, special=True, normalized=False) for n in names]


def train(name, vocab, normalizer, pre, ignore_merges, added, inside=()):
    tok = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tok.normalizer = normalizer
    tok.pre_tokenizer, tok.decoder = pre, decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocab, min_frequency=1, show_progress=False, special_tokens=list(inside),
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tok.train([str(HERE / "corpus.txt")], trainer)
    for a in added:
        (tok.add_special_tokens if a.special else tok.add_tokens)([a])
    file = json.loads(tok.to_str())
    if name == "llama3":
        # Whole words that no merge makes, at the end of the vocabulary: what ignore_merges is for.
        words = [w for w in ("Ġharbour", "numbers", "Ġmeasurement", "ĠÃ©tÃ©") if w not in file["model"]["vocab"]]
        words += ["zq" + c for c in "xyz"]
        for w in words:
            file["model"]["vocab"][w] = 1 + max(file["model"]["vocab"].values())
        for a in file["added_tokens"]:
            a["id"] += len(words)
    if name == "gpt2":
        file["model"]["merges"] = [" ".join(m) for m in file["model"]["merges"]]
    text = json.dumps(file, ensure_ascii=False, separators=(",", ":"))
    (HERE / (name + ".json")).write_text(text + "\n", encoding="utf-8")
    print(name, len(text.encode()), "bytes")


def train_few():
    """SmolLM's kind: digits one by one, and a vocabulary that lacks the bytes which the corpus lacks."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(True)])
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=900, min_frequency=2, show_progress=False, initial_alphabet=[],
                                  special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tok.train_from_iterator((HERE / "corpus.txt").read_text(encoding="utf-8").split("\n")[::3], trainer)
    save("few", json.loads(tok.to_str()))


def train_llama2():
    """Llama 2's kind: characters, U+2581 for spaces, byte_fallback, <s> in front."""
    tok = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tok.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                     decoders.Strip(" ", 1, 0)])
    text = (HERE / "corpus.txt").read_text(encoding="utf-8")
    often = sorted(set(text) - {" ", "\n"}, key=lambda c: (-text.count(c), c))[:120] + ["\u2581"]
    trainer = trainers.BpeTrainer(vocab_size=1500, min_frequency=2, show_progress=False, initial_alphabet=often,
                                  limit_alphabet=len(often), special_tokens=["<unk>", "<s>", "</s>"], max_token_length=12)
    tok.train_from_iterator([w for line in text.split("\n") for w in line.replace(" ", " \u2581").split(" ")], trainer)
    file = json.loads(tok.to_str())
    vocab = file["model"]["vocab"]
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    file["post_processor"] = {
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                 {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [vocab["<s>"]], "tokens": ["<s>"]}}}
    save("llama2", file)


def save(name, file):
    text = json.dumps(file, ensure_ascii=False, separators=(",", ":"))
    (HERE / (name + ".json")).write_text(text + "\n", encoding="utf-8")
    print(name, len(text.encode()), "bytes")


def added(id, content, **flags):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": False} | flags


def changed(base, fields):
    file = json.loads((HERE / (base + ".json")).read_text(encoding="utf-8"))
    for path, value in fields.items():
        at, *keys = file, *path.split(".")
        for k in keys[:-1]:
            at = at[k]
        at[keys[-1]] = value
    return json.dumps(file)


def more_variants():
    """Kinds of pre-tokenizers, normalizers and unknown characters that are not byte-level's own."""
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    join = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}

    def meta(scheme, split=True):
        return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}

    def plain(pre, normalizer=None, decoder=None, **model):
        return ("llama2", {"normalizer": normalizer, "pre_tokenizer": pre, "post_processor": None,
                           "decoder": decoder or {"type": "Sequence", "decoders": [join, {"type": "Fuse"}]}}
                | {"model." + k: v for k, v in model.items()})

    def before(*stages):
        return ("few", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [*stages, last]}})

    def split(behavior, invert, pattern={"Regex": r"[aeiou]+|\d"}):
        return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    strip = {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": True, "strip_right": True},
             {"type": "Replace", "pattern": {"String": "  "}, "content": "__"}, {"type": "NFC"}]}
    both = {"type": "Sequence", "processors": [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        {"type": "TemplateProcessing", "single": [
            {"SpecialToken": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "B", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "A", "type_id": 0}}], "pair": [],
         "special_tokens": {"A": {"id": "A", "ids": [0], "tokens": ["<|endoftext|>"]},
                            "B": {"id": "B", "ids": [1, 2], "tokens": ["<|im_start|>", "<|im_end|>"]}}}]}
    return {
        "always": plain(meta("always"), decoder=meta("always")),
        "first": plain(meta("first"), decoder=meta("first")),
        "never": plain(meta("never", False), decoder=meta("never", False), fuse_unk=False, byte_fallback=False),
        "whole": plain(meta("always", False), decoder=meta("always", False), byte_fallback=False),
        "drop": plain({"type": "WhitespaceSplit"}, unk_token=None, byte_fallback=False),
        "words": plain({"type": "Whitespace"}, normalizer=strip, fuse_unk=False, byte_fallback=False),
        "points": plain({"type": "Sequence", "pretokenizers": [meta("first"), {"type": "Punctuation",
                                                                              "behavior": "Contiguous"}]}),
        "punct": before({"type": "Punctuation", "behavior": "Isolated"}, {"type": "Digits", "individual_digits": False}),
        "removed": before(split("Removed", False)), "kept": before(split("Removed", True)),
        "previous": before(split("MergedWithPrevious", False)), "previous2": before(split("MergedWithPrevious", True)),
        "next": before(split("MergedWithNext", False)), "next2": before(split("MergedWithNext", True)),
        "runs": before(split("Contiguous", False, {"Regex": "[a-e]|[0-5]"})),
        "string": before(split("MergedWithNext", False, {"String": "e."}), split("Isolated", True, {"String": "\u00e9"})),
        "unk": ("few", {"model.unk_token": "<|im_end|>", "model.fuse_unk": True, "post_processor": both}),
        "unks": ("few", {"model.unk_token": "<|im_end|>", "model.fuse_unk": False}),
    }


def variants():
    def of(base):
        return json.loads((HERE / (base + ".json")).read_text(encoding="utf-8"))
    first = {b: max(of(b)["model"]["vocab"].values()) + 1 for b in ("qwen2", "gpt2", "llama3")}
    q, g, l = first["qwen2"], first["gpt2"], first["llama3"]
    strips = [added(q, "<L>", lstrip=True), added(q + 1, "<R>", rstrip=True, special=True),
              added(q + 2, "<LR>", lstrip=True, rstrip=True), added(q + 3, "<W>", single_word=True, special=True),
              added(q + 4, "word", single_word=True), added(q + 5, "<LRW>", lstrip=True), added(q + 6, "<LRWX", rstrip=True)]
    normal = [added(q, "caf\u00e9", normalized=True), added(q + 1, "nai\u0308ve", normalized=True),
              added(q + 2, "cre\u0300me", normalized=False), added(q + 3, "<n>", normalized=True, special=True),
              added(q + 4, "\u212b", normalized=True, lstrip=True), added(q + 5, "<raw>", special=True)]
    prefix = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    two = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\d+|[A-Z][a-z]+"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"Regex": r"(?<=[aeiou])[^aeiou\s]{2,}(?=\S)|[\x{4e00}-\u9fff]|(?>\s+)"},
         "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}]}
    return {
        "strips": ("qwen2", {"added_tokens": strips}),
        "normal": ("qwen2", {"added_tokens": normal, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}}),
        "prefix": ("gpt2", {"pre_tokenizer": prefix, "added_tokens": [added(g, "<x>"), added(g + 1, "<xx>")]}),
        **more_variants(),
        "stages": ("llama3", {"pre_tokenizer": two, "model.ignore_merges": False, "added_tokens": [added(l, "<s>", special=True)]}),
    }


def texts():
    out = [(t, 1) for t in (HERE / "corpus.txt").read_text(encoding="utf-8").split("\n")[::2] if t]
    one = """
a| a|  a|   a |a b|a  b|Hello, world!|don't DON'T I'LL we'Re it'S o'clock 'tis|'\u017f \u017fs 'ſt K\u212a'ſ|x'll'll
123|1234|12345 67|3.14159265|1,000,000|٣٤٥|१२३४|½¾Ⅷ④|x1y22z333|0x1F 1e-9|²³
int x=0;|a+=b;/*c*/|((((|}}}}\\n|#include <stdio.h>|&&||;;::..!!??|--> <-- => ===
🙂|👩‍👩‍👧‍👦|👍🏽👍🏿|🇩🇪🇫🇷🇯🇵|❤️❤|1️⃣2️⃣|🏴󠁧󠁢󠁥󠁮󠁧󠁿|a🙂b🙂 c
e\u0301|cafe\u0301 cafe\u0301s|A\u030a\u0301|\u212b \u2126 \u1e9b\u0323|q\u0307\u0323|o\u0308\u0308\u0323\u0301|\u1112\u1161\u11ab\u1100\u1173\u11af|\uac00\u11a8|\u0958\u0929|\u0b47\u0b3e|a\u0315\u0300\u05ae\u0062|\u0344|\u0f73\u0f75|\ufb1d\ufb2a|\u2adc|\uf900\ufa0c|\ufb00 \ufb01|\u0041\u030a|\u01d5\u0055\u0308\u0304|e\u0323\u0302 \u1ec7 \u00ea\u0323|\u0061\u0328\u0301|\u3099\u304b\u3099\u30cf\u309a|\u09c7\u09be \u0dd9\u0dcf\u0dca|\U0001109a\U00011099\U000110ba|\U0001d15e|\u0300|\u0301\u0300a|>\u0338 =\u0338|\u1fef\u037e\u0387
\t|\t\t\ta|\n|\n\n|\r\n|\r\n\r\n\r\n|a\r\nb|a\rb|a \n b|  \n  \n  x|x\n\n\n|\n x|\u00a0a|a\u00a0\u00a0b|\u0085a|a\u0085\u0085 b|\u180ea|a\u180e\u180eb|\u200ba|a \u200b b|\ufeffa|\u1680\u2000\u2001\u2002\u2003a|\u2004\u2005\u2006\u2007\u2008\u2009\u200aa|\u2028a\u2029b|\u202f\u205f\u3000a|\u3000\u3000日本|\x0b\x0ca|\x1c\x1d\x1e\x1fa| \x1c b|\u2060a|\x7f\x80\x9f
\x00|a\x00b|\x00\x00\x00 a|\x01\x02\x1b[0m
abc\u0301\u0302def|ǅ ǆ ŉ|\u0345ᾳ|İstanbul ıİ|ﬀﬁﬂ|\u0e01\u0e33\u0e48|क्षि ज्ञ|நி கொ|\u0627\u0653 \u0622|שּׁ|ꙮ𝔘𝕟𝖎|𠜎𠜱|\U0010ffff\ue000|\u0378\U000e0001
zqx zqy|numbers| harbour harbour|measurement measurements
""".strip("\n")
    for line in one.split("\n"):
        line = line.encode("ascii", "backslashreplace").decode("unicode_escape").encode("utf-16", "surrogatepass").decode("utf-16")
        out += [(t, 1) for t in line.split("|")]
    bad = [b"\xff", b"a\xffb", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x82a", b"\xf0\x9f\x99", b"\xf0\x9f\x99\xf0\x9f\x99\x82",
           b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\x80\x80\x80", b"ok \xe9t\xe9",
           b"\xe0\x80\x80 x", b"e\xcc", b"e\xcc\x81\xcc", b"\xef\xbf\xbd\xef\xbf", b"<|im_end|>\xff<|im_start|>"]
    out += [(b.decode("utf-8", "surrogateescape"), 1) for b in bad]
    out += [("a", 5000), (" ", 3000), ("\n", 3000), ("ab", 2000), ("1", 3001), ("\U0001f642", 700), ("e\u0301", 900),
            ("the ", 900), ("!?", 1500), ("\u4e2d", 1000), ("a\u0316\u0301", 60), (" \n", 500), ("\u00e9", 97), ("x", 96),
            ("x", 97), ("=", 95), ("a b", 40), ("harbour", 30), ("'s", 300), ("\t ", 200), ("\x00", 300)]
    tokens = """
<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n|<|endoftext|>|a<|endoftext|>b|<|endoftext|><|endoftext|>|<|endoftext|
<think>\nwell\n</think>\nno|<think> x </think>|<thin k>|<<think>>|</think></think>
<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>|<|eot_id|>|<|eot_id |  <|eot_id|>  x|\n<|im_end|>\n
a <L> b|a  \n<L>\tb|a <R>  b|<R><R> <R>\n|x <LR> <LR> y|<L><R><L>|a<W>b|a <W> b|a<W>|<W>b|<W>|é<W>|_<W>|-<W>-|\u0301<W>|\u24b6<W>|word|sword word words word.|(word)|\u00a0<L>\u3000<R>\u0085x|<LRW>|<LRWX> y|a <LRW <LRWX  <LR> 
café|cafe\u0301|cafe\u0301s|naïve nai\u0308ve|crème cre\u0300me|<n>|<n>\u0338|<n\u226f|<raw>\u0338x|a \u00c5b A\u030a \u212b|cafe\u0301<raw>cafe\u0301<n>
<x>y<xx>z| <x> y|a <x> b|<xx><x|<s>One2Three<s>|Hello World 42 times|strengthXlength 中文字 and  two   spaces
""".strip("\n")
    for line in tokens.split("\n"):
        line = line.encode("ascii", "backslashreplace").decode("unicode_escape")
        parts = line.replace("|>", "\x01").replace("<|", "\x02").split("|")
        out += [(p.replace("\x01", "|>").replace("\x02", "<|"), 1) for p in parts]
    rng = random.Random(5)
    alphabet = list("ab \n\t'\u00e9e\u0301\u4e2d1\u0663.\U0001f642\u00a0\u200b\u180e\u0085\r<|>/_\u0338\u1100\u1161\u11a8")
    out += [("".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 40))), 1) for _ in range(60)]
    seen = set()
    return [x for x in out if x[0] and not (x in seen or seen.add(x))]


def runs(ids):
    out, i = [], 0
    while i < len(ids):
        j = i
        while j < len(ids) and ids[j] == ids[i]:
            j += 1
        out.append(str(ids[i]) if j - i == 1 else f"{ids[i]}*{j - i}")
        i = j
    return " ".join(out)


REFUSED = [
    ("gpt2", {"model.type": "Unigram"}, "model.type Unigram is not supported"),
    ("gpt2", {"model.dropout": 0.1}, "model.dropout is set"),
    ("gpt2", {"model.continuing_subword_prefix": "##"}, "model.continuing_subword_prefix is set"),
    ("gpt2", {"model.end_of_word_suffix": "</w>"}, "model.end_of_word_suffix is set"),
    ("gpt2", {"model.extra": 1}, 'model: field "extra" is not known'),
    ("gpt2", {"model.ignore_merges": 3}, 'field "ignore_merges" must be'),
    ("gpt2", {"extra": 1}, 'field "extra" is not known'),
    ("gpt2", {"model": None}, 'field "model" is missing'),
    ("gpt2", {"model.vocab": []}, 'field "model.vocab" must be an object'),
    ("gpt2", {"model.vocab": {"a": 0, "b": 0}}, "two tokens have the id 0"),
    ("gpt2", {"model.vocab": {"a": -1}}, 'the id of "a" must be an integer'),
    ("gpt2", {"model.vocab": {"a": 1 << 40}}, 'the id of "a" must be an integer'),
    ("gpt2", {"model.vocab": {"a": "x"}}, 'the id of "a" must be an integer'),
    ("gpt2", {"model.merges": {}}, 'field "model.merges" must be a list'),
    ("gpt2", {"model.merges": ["a"]}, 'model.merges[0] must be "left right"'),
    ("gpt2", {"model.merges": ["a b c"]}, 'model.merges[0] must be "left right"'),
    ("gpt2", {"model.merges": [["a", "b"], ["a"]]}, "model.merges[1] must be"),
    ("gpt2", {"model.merges": [["~", "Z~Z"]]}, "model.merges[0]: the merged token is not in model.vocab"),
    ("gpt2", {"decoder": {"type": "WordPiece"}}, "decoder WordPiece is not supported"),
    ("gpt2", {"decoder": None}, "decoder null is not supported"),
    ("gpt2", {"normalizer": {"type": "NFKC"}}, "normalizer NFKC is not supported"),
    ("gpt2", {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}}, "normalizer Lowercase"),
    ("gpt2", {"normalizer": {}}, 'normalizer: '),
    ("qwen2", {"pre_tokenizer.pretokenizers": []}, 'has no "pretokenizers"'),
    ("gpt2", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "ByteLevel"}]}},
     "a ByteLevel after ByteLevel"),
    ("gpt2", {"added_tokens": [added(-1, "x")]}, 'added_tokens[0]: the id of "x" must be from 0'),
    ("gpt2", {"added_tokens": [added(100000, "")]}, 'added_tokens[0]: field "content" must be a text'),
    ("gpt2", {"added_tokens": [added(5, "<new>")]}, 'the id 5 of "<new>" belongs to another token'),
    ("gpt2", {"added_tokens": [added(5, "a")]}, '"a" has the id 5 here and'),
    ("gpt2", {"added_tokens": [added(100000, "<y>"), added(100001, "<y>")]}, 'added_tokens holds "<y>" twice'),
    ("gpt2", {"added_tokens": [{"content": "x"}]}, 'field "id" is missing'),
    ("gpt2", {"added_tokens": 7}, 'field "added_tokens" must be a list'),
    ("few", {"model.unk_token": "<none>"}, 'model.unk_token "<none>" is not in model.vocab'),
    ("few", {"model.byte_fallback": True}, "model.byte_fallback is set for a byte-level vocabulary without all bytes"),
    ("gpt2", {"pre_tokenizer": None}, "decoder and pre_tokenizer do not belong together"),
    ("llama2", {"decoder": {"type": "ByteLevel"}}, "decoder and pre_tokenizer do not belong together"),
    ("llama2", {"decoder": {"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}}, "decoder Replace needs a pattern"),
    ("llama2", {"decoder": {"type": "CTC"}}, "decoder CTC is not supported"),
    ("llama2", {"normalizer": {"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}}, "normalizer Replace needs a pattern"),
    ("llama2", {"normalizer": {"type": "Prepend"}}, 'field "prepend" is missing'),
    ("llama2", {"pre_tokenizer": {"type": "Metaspace"}}, 'field "replacement" is missing'),
    ("llama2", {"pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "last"}}, "Metaspace has a"),
    ("llama2", {"pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": False}}, "Metaspace has a"),
    ("llama2", {"pre_tokenizer": {"type": "UnicodeScripts"}}, "pre_tokenizer UnicodeScripts is not supported; ByteLevel, Split,"),
    ("llama2", {"post_processor": {"type": "BertProcessing"}}, "post_processor BertProcessing is not supported"),
    ("llama2", {"post_processor.single": []}, "template for one text must hold it once"),
    ("llama2", {"post_processor.special_tokens": {}}, 'names the token "<s>" without its ids'),
    ("llama2", {"post_processor.special_tokens": {"<s>": {"ids": [99999]}}}, 'an id of "<s>" that is no token'),
]
PATTERNS = [ # more of them in ../patterns.py
    (r"(a)\1", "an escape whose"), (r"[]a]", "an empty class"), (r"[a", "a class that is not closed"), (r"\pL", "without braces"),
    (r"(*ACCEPT)", "a special group"), (r"(?R)", "a special group"), (r"(a", "cannot be compiled"),
    (r"(?<=a+)b", "cannot be compiled"), (r"[z-a]", "cannot be compiled"),
    (r"\x{110000}", "cannot be compiled"), (r"\xe4", "a character code"), ("a\\", "a backslash at the end"), ("", "has 0 bytes"),
    ("a" * 5000, "has 5000 bytes"), ("a\x00", "a NUL byte"),
]


def refused():
    one = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
    split = "pre_tokenizer.pretokenizers"
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    rows = REFUSED + [("qwen2", {split: [one | {"behavior": "Doubled"}, last]}, 'the behavior "Doubled"')]
    rows += [("qwen2", {split: [one | {"pattern": {"String": ""}}, last]}, 'a pattern of the form {"Regex"'),
             ("qwen2", {split: [one] * 9 + [last]}, "more than 8 stages")]
    return rows + [("qwen2", {split: [one | {"pattern": {"Regex": p}}, last]}, why) for p, why in PATTERNS]


def odd_ids(tok):
    """Runs of bytes that are no UTF-8, between tokens and at the ends."""
    runs = ["E4 BD A0", "E4 BD", "E4 BD A0 FF", "FF E4 BD A0", "80", "C3 A9 C3", "F0 9F 99 82", "F0 9F 99", "E4 BD A0 41", "C0 80", "ED A0 80",
            "E4 a BD A0", "a E4 BD A0 b", "a E4 BD b A0", "C3 A9 a C3", "C3 </s> A9", "E2 96 81", "20 41", "E2 96 81 FF", "a FF FE FD", "0A C3 0A"]
    for run in runs:
        yield "llama2", [tok.token_to_id(f"<0x{w}>" if len(w) == 2 else w) for w in run.split(" ")]


def main():
    nfc = normalizers.NFC()
    train("qwen2", 2600, nfc, split(QWEN2), False, special("<|endoftext|>", "<|im_start|>", "<|im_end|>")
          + [AddedToken("<think>", special=False, normalized=False), AddedToken("</think>", special=False, normalized=False)])
    train("llama3", 2400, None, split(LLAMA3), True,
          special("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"))
    train("gpt2", 2200, None, byte_level(True), False, [], inside=special("<|endoftext|>"))
    train_few()
    train_llama2()
    bases = ("qwen2", "llama3", "gpt2", "few", "llama2")
    toks = {n: Tokenizer.from_file(str(HERE / (n + ".json"))) for n in bases}
    with open(HERE.parent / "tokenizer.test", "w", encoding="utf-8", newline="\n") as f:
        f.write("# What the tokenizers library makes of these texts; made by tokenizers/make.py, which states the format.\n")
        for name, (base, fields) in variants().items():
            f.write(f"variant {name} {base} {json.dumps(fields)}\n")
            toks[name] = Tokenizer.from_str(changed(base, fields))
        many = set(more_variants())
        for k, (text, n) in enumerate(texts()):
            clean = (text * n).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            f.write(f"text {json.dumps(text, ensure_ascii=not text.isprintable())}" + (f" {n}\n" if n > 1 else "\n"))
            for name, tok in toks.items():
                if n > 1 and name not in bases or name in many and k % 5 and "<" not in text:
                    continue
                ids = {}
                for plain in (False, True):
                    tok.encode_special_tokens = plain
                    ids[plain] = runs(tok.encode(clean, add_special_tokens=False).ids)
                f.write(f"{name} {ids[False]}\n")
                if ids[True] != ids[False]:
                    f.write(f"{name} plain {ids[True]}\n")
                tok.encode_special_tokens = False
                framed = runs(tok.encode(clean).ids)
                if framed != ids[False]:
                    f.write(f"{name} framed {framed}\n")
                back = tok.decode(tok.encode(clean, add_special_tokens=False).ids, skip_special_tokens=False)
                # Not of "normal", whose added tokens the library's decoder takes for names of bytes.
                if name not in ("qwen2", "llama3", "gpt2", "normal") and len(back) < 400 and back != clean:
                    f.write(f"{name} decoded {json.dumps(back)}\n")
        for name, ids in odd_ids(toks["llama2"]):
            f.write(f"decode {name} {json.dumps(toks[name].decode(ids, skip_special_tokens=True))} {' '.join(map(str, ids))}\n")
        for base, fields, words in refused():
            f.write(f"refuse {base} {json.dumps(fields)} == {words}\n")


if __name__ == "__main__":
    main()
