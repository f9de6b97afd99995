#!/usr/bin/env python3
"""Compares the ids of `kveval tokenize` with those of the tokenizers library, and what both make of these ids.

    pip install tokenizers
    python3 compare_tokenizer.py build/kveval FOLDER [--megabytes 5] [--seed 1] [FILE ...]

The texts are the files named, or else documentation, source code and Chinese text of a Debian system; a third of the
amount on top are drawn: lines of all scripts and emoji, mixed from Unicode's blocks. Prints one line, exit 1 when any
text differs.
"""
import argparse, json, pathlib, random, subprocess, sys

PLACES = ["/usr/share/doc", "/usr/share/common-licenses", "/usr/include", "/usr/lib/python3", "/usr/share/perl",
          "/usr/lib/python3/dist-packages/jieba"]
BLOCKS = [(0x20, 0x7f, 12), (0xa0, 0x250, 4), (0x370, 0x400, 1), (0x400, 0x500, 2), (0x590, 0x700, 1),
          (0x900, 0xa00, 1), (0xe00, 0xe80, 1), (0x2000, 0x2070, 2), (0x2190, 0x2400, 1), (0x3040, 0x3100, 2),
          (0x4e00, 0x9fff, 4), (0xac00, 0xd7a4, 1), (0xff00, 0xfff0, 1), (0x1f300, 0x1f650, 3), (0x1f900, 0x1fa00, 1),
          (0x20000, 0x20100, 1), (0x0, 0x20, 1)]


def read(path):
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def pieces_of(text, rng):
    """Pieces of very different lengths, so that borders fall everywhere."""
    at = 0
    while at < len(text):
        n = int(10 ** rng.uniform(1, 4.5))
        yield text[at:at + n]
        at += n


def corpus(files, size, rng):
    paths = [pathlib.Path(f) for f in files]
    if not paths:
        paths = [p for place in PLACES for p in sorted(pathlib.Path(place).rglob("*")) if p.is_file()
                 and p.suffix in ("", ".txt", ".md", ".h", ".py", ".html", ".pl", ".pm", ".rst")]
        rng.shuffle(paths)
    got = 0
    for path in paths:
        text = read(path)[:300_000]
        got += len(text.encode())
        yield from pieces_of(text, rng)
        if got > size:
            break
    weights = [w for _, _, w in BLOCKS]
    drawn = 0
    while drawn < size // 3:
        parts = []
        for _ in range(rng.randint(1, 60)):
            low, high, _ = rng.choices(BLOCKS, weights)[0]
            parts += chr(rng.randrange(low, high)) * rng.choice([1, 1, 1, 2, 5]), rng.choice(["", "", " ", "\n", "  ", "1", "\u200d"])
        text = "".join(parts)
        drawn += len(text.encode())
        yield text


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("model")
    p.add_argument("files", nargs="*")
    p.add_argument("--megabytes", type=float, default=5)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    import tokenizers
    other = tokenizers.Tokenizer.from_file(o.model + "/tokenizer.json")
    texts = [t for t in corpus(o.files, int(o.megabytes * 1e6), random.Random(o.seed)) if t]
    ids = [other.encode(t).ids for t in texts]
    lines = [{"text": t} for t in texts] + [{"ids": i} for i in ids]
    done = subprocess.run([o.program, "tokenize", "-M", o.model], input="".join(json.dumps(x) + "\n" for x in lines),
                          capture_output=True, text=True, encoding="utf-8")
    got = [json.loads(x) for x in done.stdout.split("\n") if x]
    if done.returncode or len(got) != len(lines):
        sys.exit(f"kveval tokenize ended with {done.returncode}: {done.stderr.strip()}")
    wrong = 0
    for k, text in enumerate(texts):
        back = got[len(texts) + k].get("text")
        if got[k].get("ids") != ids[k]:
            print(f"ids differ for {text[:200]!r}")
            wrong += 1
        elif back != other.decode(ids[k], skip_special_tokens=False):
            print(f"texts differ for {text[:200]!r}: {back[:200]!r}")
            wrong += 1
    size = sum(len(t.encode()) for t in texts)
    print(f"{len(texts)} texts, {size:,} bytes, {sum(map(len, ids)):,} ids: {wrong} differ from tokenizers {tokenizers.__version__}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
