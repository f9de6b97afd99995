#!/usr/bin/env python3
"""Makes the small tokenizers of this folder (Qwen2's, Llama 3's and GPT-2's kind, trained on corpus.txt) and
../tokenizer.test: what the tokenizers library makes of many texts.

    pip install tokenizers
    python3 make.py

Lines of tokenizer.test ('#' comments). JSON strings are plain, bytes that are no UTF-8 are written as "\\udcXX".
    variant NAME BASE {...}       the tokenizer BASE with these fields of its file replaced ("a.b" is a path)
    text "..." [N]                the text that the next lines are about, repeated N times
    NAME ids...                   its ids; "7*3" is 7 7 7
    NAME plain ids...             its ids when special tokens are not recognised, where they differ
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
    ("gpt2", {"model.unk_token": "<unk>"}, "model.unk_token is set"),
    ("gpt2", {"model.byte_fallback": True}, "model.byte_fallback is set"),
    ("gpt2", {"model.continuing_subword_prefix": "##"}, "model.continuing_subword_prefix is set"),
    ("gpt2", {"model.end_of_word_suffix": "</w>"}, "model.end_of_word_suffix is set"),
    ("gpt2", {"model.extra": 1}, 'model: field "extra" is not known'),
    ("gpt2", {"model.ignore_merges": 3}, 'field "ignore_merges" must be'),
    ("gpt2", {"extra": 1}, 'field "extra" is not known'),
    ("gpt2", {"model": None}, 'field "model" is missing'),
    ("gpt2", {"model.vocab": []}, 'field "model.vocab" must be an object'),
    ("gpt2", {"model.vocab": {"a": 0}}, "has no token for the byte 0x00"),
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
    ("gpt2", {"pre_tokenizer": None}, "pre_tokenizer must be an object"),
    ("gpt2", {"pre_tokenizer": {"type": "Metaspace"}}, "pre_tokenizer Metaspace is not supported"),
    ("qwen2", {"pre_tokenizer.pretokenizers": [{"type": "Digits", "individual_digits": True}]}, "pre_tokenizer Digits is not"),
    ("qwen2", {"pre_tokenizer.pretokenizers": []}, 'has no "pretokenizers"'),
    ("qwen2", {"pre_tokenizer.type": "Split"}, "must end in ByteLevel"),
    ("gpt2", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "ByteLevel"}]}},
     "must end in ByteLevel"),
    ("gpt2", {"added_tokens": [added(-1, "x")]}, 'added_tokens[0]: the id of "x" must be from 0'),
    ("gpt2", {"added_tokens": [added(100000, "")]}, 'added_tokens[0]: field "content" must be a text'),
    ("gpt2", {"added_tokens": [added(5, "<new>")]}, 'the id 5 of "<new>" belongs to another token'),
    ("gpt2", {"added_tokens": [added(5, "a")]}, '"a" has the id 5 here and'),
    ("gpt2", {"added_tokens": [added(100000, "<y>"), added(100001, "<y>")]}, 'added_tokens holds "<y>" twice'),
    ("gpt2", {"added_tokens": [{"content": "x"}]}, 'field "id" is missing'),
    ("gpt2", {"added_tokens": 7}, 'field "added_tokens" must be a list'),
]
PATTERNS = [
    (r"\w+", "an escape whose meaning differs"), (r"a\b", "an escape whose meaning differs"), (r"(a)\1", "an escape whose"),
    (r"^a", "an anchor"), (r"a$", "an anchor"), (r"[a-z&&[^b]]", "an intersection"), (r"[[:alpha:]]", "a class inside a class"),
    (r"[]a]", "an empty class"), (r"[a", "a class that is not closed"), (r"\p{Han}", "not a general category"),
    (r"\pL", "without braces"), (r"a{,3}", "a repetition count"), (r"a{2}+", "a repetition count"), (r"a{2", "a repetition count"),
    (r"(?<n>a)", "a special group"), (r"(*ACCEPT)", "a special group"), (r"(?R)", "a special group"), (r"(?#c)", "a special group"),
    (r"a*", "may match nothing"), (r"(a", "cannot be compiled"), (r"(?<=a+)b", "cannot be compiled"), (r"[z-a]", "cannot be compiled"),
    (r"\x{110000}", "cannot be compiled"), (r"\xe4", "a character code"), ("a\\", "a backslash at the end"), ("", "has 0 bytes"),
    ("a" * 5000, "has 5000 bytes"), ("a\x00", "a NUL byte"),
]


def refused():
    one = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
    split = "pre_tokenizer.pretokenizers"
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    rows = REFUSED + [("qwen2", {split: [one | {"behavior": b}, last]}, f'behavior "{b}"')
                      for b in ("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")]
    rows += [("qwen2", {split: [one | {"invert": True}, last]}, "invert true"),
             ("qwen2", {split: [one | {"pattern": {"String": "a"}}, last]}, 'a pattern of the form {"Regex"'),
             ("qwen2", {split: [one] * 9 + [last]}, "more than 8 stages")]
    return rows + [("qwen2", {split: [one | {"pattern": {"Regex": p}}, last]}, why) for p, why in PATTERNS]


def main():
    nfc = normalizers.NFC()
    train("qwen2", 2600, nfc, split(QWEN2), False, special("<|endoftext|>", "<|im_start|>", "<|im_end|>")
          + [AddedToken("<think>", special=False, normalized=False), AddedToken("</think>", special=False, normalized=False)])
    train("llama3", 2400, None, split(LLAMA3), True,
          special("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"))
    train("gpt2", 2200, None, byte_level(True), False, [], inside=special("<|endoftext|>"))
    toks = {n: Tokenizer.from_file(str(HERE / (n + ".json"))) for n in ("qwen2", "llama3", "gpt2")}
    with open(HERE.parent / "tokenizer.test", "w", encoding="utf-8", newline="\n") as f:
        f.write("# What the tokenizers library makes of these texts; made by tokenizers/make.py, which states the format.\n")
        for name, (base, fields) in variants().items():
            f.write(f"variant {name} {base} {json.dumps(fields)}\n")
            toks[name] = Tokenizer.from_str(changed(base, fields))
        for text, n in texts():
            clean = (text * n).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            f.write(f"text {json.dumps(text, ensure_ascii=not text.isprintable())}" + (f" {n}\n" if n > 1 else "\n"))
            for name, tok in toks.items():
                if n > 1 and name not in ("qwen2", "llama3", "gpt2"):
                    continue
                ids = {}
                for plain in (False, True):
                    tok.encode_special_tokens = plain
                    ids[plain] = runs(tok.encode(clean, add_special_tokens=False).ids)
                f.write(f"{name} {ids[False]}\n")
                if ids[True] != ids[False]:
                    f.write(f"{name} plain {ids[True]}\n")
        for base, fields, words in refused():
            f.write(f"refuse {base} {json.dumps(fields)} == {words}\n")


if __name__ == "__main__":
    main()
