"""The words of the code (docs/glossary.md): words.py SOURCE_DIR prints in how many files each of the field's words stands, the
identifiers that use a word for something else than its one meaning, and the share of functions whose name is one word (with
Universal Ctags). Exit code 1 when a word is missing, a word has two meanings, or more than 6 % of the names are one word."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = ("kernels", "engine", "tasks", "answer_check", "code_check", "evalcore")
ONE_WORD_LIMIT = 0.06

# Somebody who ports a method greps for these; regular expressions, case ignored.
FIELD = ["split-k", "split-kv|flash-decoding", "online softmax", "warpgroup", r"programmatic dependent|\bpdl\b", "pipeline", r"\bstages?\b",
         r"\btma\b", "producer", "double.?buffer", "coalesc", "warp.speciali[sz]", "block.table", "page table", "physical (page|block)",
         "free list", "reference count", "copy.on.write", "cuda graph", "continuous batching", "occupancy", "bank conflict", "watchdog",
         "back-?off", "work queue", "grouped-query"]

# An identifier of this name means one thing, so it stands only in the files that are about it.
ONE_MEANING = {
    "slot": ("a token's place in the cache of its head", r"^(kernels|engine|evalcore/bench)/"),
    "lane": ("a lane of a warp or vector", r"^kernels/"),
    "room": ("a folder of sources; as an identifier a place in a generated problem", r"^tasks/pocket\.c$"),
    "rule": ("a rule of grading, or of GPQA's order", r"^(answer_check|tasks|evalcore/(commands|export))/"),
    "unit": ("a unit of measure", r"^(answer_check|evalcore/(bench|base|page|report|stats|status|export|gate|sweep))/|^engine/policies/oracle\.c$|^tasks/ruler"),
}


def code_of(text):
    """Without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def one_word_functions(files):
    out = subprocess.run(["ctags", "--c-kinds=f", "--cuda-kinds=f", "--langmap=CUDA:+.cuh", "-f", "-", *files], capture_output=True,
                         text=True, cwd=ROOT).stdout
    names = [line.split("\t")[0] for line in out.splitlines() if not line.startswith("!")]
    return sum("_" not in name for name in names), len(names)


def main():
    files = [p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".c", ".h", ".cu", ".cuh")]
    texts = {str(p.relative_to(ROOT)): p.read_text() for p in files}
    wrong = 0
    for word in FIELD:
        n = sum(bool(re.search(word, text, flags=re.I)) for text in texts.values())
        print(f"{n:5} files  {word}")
        wrong += not n
    for name, text in texts.items():
        found = set(re.findall(r"\b(" + "|".join(ONE_MEANING) + r")\b", code_of(text)))
        for word in sorted(w for w in found if not re.search(ONE_MEANING[w][1], name)):
            print(f"{name}: `{word}` means {ONE_MEANING[word][0]}")
            wrong += 1
    if shutil.which("ctags"):
        one, n = one_word_functions(list(texts))
        print(f"{one} of {n} functions have a name of one word ({100 * one / max(n, 1):.1f} %)")
        wrong += not n or one > ONE_WORD_LIMIT * n
    return 1 if wrong else 0


sys.exit(main())
