#!/usr/bin/env python3
"""Gathers the text that train_gates.py reads, as gzipped JSON Lines:

    kveval sweep runs/gates/recipe/ruler_prompts.json -o out/ruler     # may be stopped once out/ruler/problems is there
    python3 gates_data.py DATA out/ruler/problems

DATA/debian.jsonl.gz   {"text"}: manual pages, documentation and changes files of the installed Debian packages, and the
                       descriptions of packages. Copyright files and licences are left out: run files evaluate on one.
DATA/ruler.jsonl.gz    {"family", "tokens", "prompt", "prefix", "answer"}: RULER's prompts and the text that answers them
DATA/topics.txt.gz     short descriptions of packages: what the model is asked to write about
"""
import glob, gzip, html, json, os, pathlib, random, re, subprocess, sys

BYTES = {"man": 5 << 20, "doc": 4 << 20}   # of text from each
PIECE = 24_000                             # bytes of one text at most, some 6,000 tokens


def is_prose(text):
    """English text: mostly letters and spaces, no long runs of one line."""
    letters = sum(c.isalpha() or c == " " for c in text)
    lines = text.split("\n")
    return len(text) > 1500 and letters > 0.75 * len(text) and len(set(lines)) > 0.6 * len(lines) and text.isascii()


def pieces(text):
    text = re.sub(r"[ \t]+\n", "\n", re.sub(r"\n{3,}", "\n\n", text)).strip()
    return [p for p in (text[i:i + PIECE] for i in range(0, len(text), PIECE)) if is_prose(p)]


def man_text(path):
    env = os.environ | {"MANWIDTH": "100", "LC_ALL": "C"}
    done = subprocess.run(["man", "-l", "-P", "cat", path], capture_output=True, env=env)
    text = re.sub(rb".\x08", b"", done.stdout).decode("ascii", "ignore")
    return re.sub(r"(?<=\S) {2,}", " ", re.sub(r"(?m)^ +", "", text))


def doc_text(path):
    data = gzip.open(path).read() if path.endswith(".gz") else pathlib.Path(path).read_bytes()
    text = data.decode("utf-8", "ignore").replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"')
    if ".html" in path:
        text = html.unescape(re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", "", text))
    return text


def gather(rng, paths, read, limit):
    """Texts of the files in a drawn order, at most two of each file, until there are limit bytes."""
    rng.shuffle(paths)
    out, total = [], 0
    for path in paths:
        try:
            found = pieces(read(path))[:2]
        except (OSError, EOFError):
            continue
        out += found
        total += sum(map(len, found))
        if total > limit:
            break
    return out


def answer(family, golds):
    if family == "cwe":
        return " " + " ".join(f"{i + 1}. {g}" for i, g in enumerate(golds))
    return (" " if family != "vt" else "") + ", ".join(golds)


def write(path, rows):
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=9) as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)
    print(path, len(rows), os.path.getsize(path))


def main():
    out, problems = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    rng = random.Random(5)
    rows = []
    for name in sorted(glob.glob(f"{problems}/*.jsonl")):
        for r in map(json.loads, open(name)):
            rows.append(dict(family=r["subset"], tokens=int(r["id"].split("-")[-3]), prompt=r["prompt"], prefix=r["answer_prefix"],
                             answer=answer(r["subset"], r["golds"]), prompt_tokens=r["prompt_tokens"]))
    write(f"{out}/ruler.jsonl.gz", rows)
    about = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True).stdout
    topics = [t for t in re.findall(r"(?m)^Description(?:-en)?: (.{20,90})$", about) if t.isascii()]
    rng.shuffle(topics)
    with gzip.open(f"{out}/topics.txt.gz", "wt") as f:
        f.write("\n".join(topics[:20000]))
    man = [p for p in glob.glob("/usr/share/man/man[1-8]/*") if not os.path.islink(p) and os.path.getsize(p) > 3000]
    doc = [p for p in glob.glob("/usr/share/doc/**/*", recursive=True)
           if re.search(r"(NEWS|README|\.txt|\.md|\.rst|\.html|changelog)(\.gz)?$", p) and not re.search("copyright|licen|COPYING|GPL", p, re.I)
           and not os.path.islink(p) and os.path.isfile(p)]
    texts = gather(rng, man, man_text, BYTES["man"]) + gather(rng, doc, doc_text, BYTES["doc"])
    rng.shuffle(texts)
    write(f"{out}/debian.jsonl.gz", [{"text": t} for t in texts])


if __name__ == "__main__":
    main()
