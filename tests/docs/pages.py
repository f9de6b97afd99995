"""Checks the Markdown pages: every relative link and anchor leads somewhere, `FILE:FUNCTION` names a function of that file, the
README stays short, and docs/results.md has the tables of bench/results. Run as: pages.py SOURCE_DIR"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = ("", "docs", "runs", "runs/published", "bench", "bench/transformers", "engine", "answer_check", "tests")
README_LINES, README_WORDS, README_ROWS = 120, 1500, 10


def pages():
    for top in FOLDERS:
        folder = ROOT / top
        yield from folder.glob("*.md")
        if top in ("engine", "answer_check", "tests"):
            yield from folder.glob("*/**/*.md")


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def wrong_links(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if link.startswith(("http:", "https:")):
            continue
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: {link} is not there"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{page.relative_to(ROOT)}: {link} names no heading"


def wrong_functions(page):
    """Of `folder/file.c:name`: the file has to define or declare name."""
    for path, name in re.findall(r"`([\w/]+\.(?:c|h|cu|cuh)):(\w+)(?:\(\))?`", page.read_text()):
        file = next((f for f in (ROOT / path, page.parent / path) if f.exists()), None)
        if not file:
            yield f"{page.relative_to(ROOT)}: {path} is not there"
        elif not re.search(rf"\b{name}\b", file.read_text()):
            yield f"{page.relative_to(ROOT)}: {path} has no {name}"


def long_readme():
    text = (ROOT / "README.md").read_text()
    rows = max(len(t.strip().splitlines()) - 2 for t in re.findall(r"(?:^\|.*\n)+", text, flags=re.M))
    for what, count, limit in (("lines", text.count("\n"), README_LINES), ("words", len(text.split()), README_WORDS),
                               ("rows in a table", rows, README_ROWS)):
        if count > limit:
            yield f"README.md has {count} {what}, more than {limit}"


def cut_tables(page):
    """An empty line ends a table: the rows behind it are shown as text."""
    lines = page.read_text().splitlines()
    for i, line in enumerate(lines):
        is_first = line.startswith("|") and not (i and lines[i - 1].startswith("|"))
        if is_first and not (i + 1 < len(lines) and re.match(r"\|[\s:|-]+$", lines[i + 1])) and not in_code(lines, i):
            yield f"{page.relative_to(ROOT)}:{i + 1}: a row of a table without its head"


def in_code(lines, i):
    return sum(line.startswith("```") for line in lines[:i]) % 2 == 1


wrong = [w for page in pages() for check in (wrong_links, wrong_functions, cut_tables) for w in check(page)] + list(long_readme())
print(*wrong, sep="\n")
if subprocess.run([sys.executable, ROOT / "bench" / "results.py", "--check"]).returncode:
    wrong.append("results")
sys.exit(1 if wrong else 0)
