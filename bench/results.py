#!/usr/bin/env python3
"""Writes the tables of docs/results.md from bench/results, each between <!-- table: NAME --> and <!-- end -->, and the figure
docs/equal_reads.svg.

    python3 bench/results.py             # writes them
    python3 bench/results.py --check     # exit code 1 where page or figure differ from the files, or the gate breaks a promise (a test
                                         # runs it)
"""
import json
import pathlib
import re
import sys

import equal_reads
import ratios

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "results.md"
FIGURE = ROOT / "docs" / "equal_reads.svg"


def load(name):
    return json.loads((RESULTS / name).read_text())


def markdown(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def interval(row, scale=100):
    return f"{scale * row['score']:.1f} [{scale * row['ci_low']:.1f}, {scale * row['ci_high']:.1f}]"


def ruler():
    rows = load("h100_real.json")["ruler"]["rows"]
    lengths = sorted({r["tokens"] for r in rows})
    out = []
    for policy in dict.fromkeys(r["policy"] for r in rows):
        at = {r["tokens"]: r for r in rows if r["policy"] == policy}
        last = at[lengths[-1]]
        out.append([policy] + [interval(at[n]) for n in lengths] +
                   [f"{100 * last['total_density']:.0f} %", f"{100 * (last['prefill_density'] + last['prefill_aux_density']):.0f} %"])
    return markdown(["policy"] + [f"{n:,} tokens" for n in lengths] + ["reads", "prompt"], out)


def table2():
    def cell(score):
        return interval(score) + {"lower": " ▼", "higher": " ▲"}.get(score["mark"], "")

    columns = {"mmlu": "MMLU form, 5 shots", "hellaswag": "HellaSwag form, 10 shots", "vt_2048": "tracking, 2,048", "vt_4096": "tracking, 4,096"}
    return markdown(["policy", *columns.values(), "total reads"],
                    [[r["policy"]] + [cell(r[name]) for name in columns] + [f"{r['total_reads']} %"]
                     for r in load("h200_table2_smollm2.json")["rows"]])


def policy_speeds():
    rows = load("h200_policy_speeds.json")["rows"]
    return markdown(["policy", "tokens/s at 8,192", "of its floor", "tokens/s, 1 to 8,192", "of its floor"],
                    [[r["policy"] + (" (a bound)" if equal_reads.is_bound(r["policy"]) else ""), f"{r['at_last']:,.0f}", f"{100 * r['at_last'] / r['floor_at_last']:.0f} %", f"{r['whole']:,.0f}",
                      f"{100 * r['whole'] / r['floor_whole']:.0f} %"] for r in rows])


def families():
    """A line a shape, batch and policy; delta's layers are in the file."""
    rows = load("h200_families.json")["rows"]
    return markdown(["shape", "batch", "policy", "tokens/s at 8,192", "of its floor"],
                    [[r["shape"], str(r["batch"]), r["policy"].split(":")[0], f"{r['at_last']:,.0f}",
                      f"{100 * r['at_last'] / r['floor_at_last']:.1f} %"] for r in rows])


def peers():
    figures = ratios.read(RESULTS / "h200.json")
    return markdown(["ratio", "measured", "published"],
                    [[what, f"{value():.2f} {unit}", beside] for what, value, unit, beside in ratios.rows(figures)])


def products():
    """The speed of our product as a share of that of cuBLASLt's fastest algorithm for that number of rows; gate and up in one
    kernel with SwiGLU beside cuBLASLt's product and SwiGLU after it, measured as a prompt has them where a step has no such
    number of rows."""
    found, counts = {}, set()
    figures = [f for run in load("h200.json")["runs"] for f in run["figures"]]
    for of_prompt in (False, True):
        for figure in (f for f in figures if ("of a prompt" in f.get("name", "")) == of_prompt):
            m = re.match(r"linear (\S+ .+), (\d+) rows(?: of a prompt)?: beside (the library at its fastest|the two apart)",
                         figure.get("name", ""))
            if m and m[1].endswith("SwiGLU") == (m[3] == "the two apart") and not m[1].endswith("gate and up"):
                found.setdefault(m[1], {}).setdefault(int(m[2]), figure["value"])
                counts.add(int(m[2]))
    counts = sorted(counts)
    return markdown(["product"] + [f"{n:,} rows" for n in counts],
                    [[what] + [f"{100 * at[n]:.0f} %" if n in at else "" for n in counts] for what, at in found.items()])


def attention():
    figures = {f["name"]: f for run in load("h200.json")["runs"] for f in run["figures"] if "name" in f}
    rows = {}
    for name, figure in figures.items():
        m = re.fullmatch(r"attention (\S+) heads d 128, bf16 KV, batch (\d+) x (\d+): (full, pages in order|full|pages 64), ([0-9.]+) us", name)
        if m and figure.get("share"):
            rows.setdefault((m[1], int(m[2]), int(m[3])), {})[m[4]] = f"{float(m[5]):,.0f} us, {100 * figure['share']:.0f} %"
    kinds = ["full", "full, pages in order", "pages 64"]
    return markdown(["query/KV heads, sequences x tokens", "all tokens, pages scattered", "all tokens, pages in order", "64 pages"],
                    [[f"{heads}, {batch} x {tokens:,}"] + [at.get(kind, "") for kind in kinds]
                     for (heads, batch, tokens), at in sorted(rows.items())])


PROMPT_MODES = ["dense", "masses", "top-k 10 %", "lists 10 %", "lists 20 %", "lists 30 %", "window 30 %", "gates"]


def prompts():
    """One layer's milliseconds, and how much faster than dense attention Kascade's is in the shape of its Table 3: of 32
    layers five choose, of which the first is dense."""
    ms, out = {}, []
    for run in load("h200_prompts.json")["runs"]:
        for figure in run["figures"]:
            m = re.fullmatch(r"prompt attention (\S+) heads d 128, bf16 KV, (\d+) tokens: (.*), one layer (\S+) ms", figure["name"])
            if m:
                ms.setdefault((m[1], int(m[2])), {})[m[3]] = float(m[4])
    for (heads, tokens), at in ms.items():
        choice = at["masses"] + at["top-k 10 %"]
        kascade = [32 * at["dense"] / (at["dense"] + 5 * choice + 31 * at[f"lists {p} %"]) for p in (10, 20)]
        out.append([f"{heads}, {tokens:,}"] + [f"{at[mode]:,.3g}" if at[mode] < 1000 else f"{at[mode]:,.0f}" for mode in PROMPT_MODES] +
                   [f"{x:.2f} x" for x in kascade])
    return markdown(["query/KV heads, tokens"] + PROMPT_MODES + ["Kascade 10 %", "20 %"], out)


def whole_prompts():
    """Milliseconds of a whole prompt of the 8B shape, and of these what its attention and the choice of keys take."""
    out = []
    for run in load("h200_prompts.json")["runs"]:
        found = re.fullmatch(r"prefill \S+ (\S+) of (\d+) tokens, (\S+) ms", run["figures"][0]["name"])
        if not found:
            continue
        parts = {f["name"].split(": ")[-1].split(",")[0] + (" sparse" if ", sparse" in f["name"] else ""): f["value"]
                 for f in run["figures"][1:]}
        attention = parts.get("prefill_attend", 0) + parts.get("prefill_attend sparse", 0)
        choice = parts.get("prefill_mass", 0) + parts.get("topk", 0)
        ratio = re.search(r"ratio=0\.(\d)", found[1])
        out.append((int(found[2]), f"Kascade {ratio[1]}0 %" if ratio else "full attention", float(found[3]), attention, choice))
    full = {row[0]: row[2] for row in out if row[1] == "full attention"}
    return markdown(["tokens", "policy", "ms", "of these attention", "the choice", "than full attention"],
                    [[f"{n:,}", policy, f"{ms:,.0f}", f"{attention:,.0f}", f"{choice:,.0f}" if choice else "",
                      "" if policy == "full attention" else f"{full[n] / ms:.2f} x as fast"]
                     for n, policy, ms, attention, choice in sorted(out, key=lambda row: (row[0], row[1] != "full attention", row[1]))])


def cpu_peers():
    table = load("cpu_peers.json")
    return markdown(table["columns"], table["rows"])


def equal_reads_of(model):
    return equal_reads.result_table(load(f"h100_equal_reads_{model}.json"))


TABLES = {"equal reads, SmolLM2": lambda: equal_reads_of("smollm2"), "equal reads, pocket": lambda: equal_reads_of("pocket"),
          "ruler": ruler, "table 2 in small": table2, "attention": attention, "prompts": prompts, "whole prompts": whole_prompts,
          "policy speeds": policy_speeds, "families": families, "peers": peers, "products": products, "cpu peers": cpu_peers}


def broken_promises():
    """The gate's recorded rates beyond what is promised, in percent: at most so many false alarms, at least so many losses found."""
    for figure in load("stats.json")["figures"]:
        value, promised = figure["value"], figure["floor"]
        if figure["name"].startswith(("gate, ", "replays ")) and promised and (value < promised if promised > 50 else value > promised):
            yield f"{figure['name']}: {value} {figure['unit']}, promised {promised}"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    page = PAGE.read_text()
    if broken := list(broken_promises()):
        print(*broken, sep="\n", file=sys.stderr)
        return 1
    named = re.findall(r"<!-- table: (.*?) -->", page)
    if sorted(named) != sorted(TABLES):
        print(f"{PAGE.name} has the tables {sorted(named)}, and this script makes {sorted(TABLES)}", file=sys.stderr)
        return 1
    made = re.sub(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", lambda m: m[1] + TABLES[m[2]]() + "\n" + m[3], page, flags=re.S)
    drawn = equal_reads.result_figure(load("h100_equal_reads_smollm2.json"))
    for path, text in ((PAGE, made), (FIGURE, drawn)):
        if sys.argv[1:] and (not path.exists() or path.read_text() != text):
            print(f"{path.name} is older than bench/results; run python3 bench/results.py", file=sys.stderr)
            return 1
        if not sys.argv[1:]:
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
