#!/usr/bin/env python3
"""Policies compared at equal reads: which setting of each reads a given share of what full attention reads.

    equal_reads.py propose RUN --run FILE.json --out FILE.json   # from a short run over many budgets, the budgets to run
    equal_reads.py table RUN [--against LABEL,LABEL]             # a Markdown table of a run, and how its policies differ
    equal_reads.py table RESULT.json                             # Markdown tables of a file of bench/results, one a share
    equal_reads.py figure RESULT.json -o FILE.svg                # the same as a figure: score against total reads

RUN is the folder of a sweep with its report (`kveval report RUN`). Settings whose labels differ only in the value of the
budget belong to one policy, and "reads" are total reads: of K and V, and to choose. Of `oracle` only the former count: it is
the bound of what a choice could reach that costs nothing.

propose: reads of a policy are put on a straight line between its budgets, both as logarithms (DMS's bias as it is), and
the budget that reads 10, 20 and 50 % is looked up; a policy that cannot read so little or so much is left out there. The result is
FILE.json (a run file with one budget list per policy) with these budgets.

table: for each share the setting that comes nearest, if it is within two points or a fifth of it. Comparisons are
`kveval compare`'s: paired by problem, with exact tests. A RESULT.json without comparisons has tables without them.
"""
import argparse
import csv
import html
import json
import math
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def settings(run):
    with open(pathlib.Path(run) / "report" / "settings.csv", newline="") as f:
        return list(csv.DictReader(f))


def policy_of(label):
    """The label without the options that are swept, which follow the name as key=value."""
    return " ".join(w for w in label.split(" ") if "=" not in w)


def by_policy(rows):
    out = {}
    for r in rows:
        out.setdefault(policy_of(r["label"]), []).append(r)
    return out


def budget_key(policy):
    """The one option of a policy's entry that has a list of values."""
    lists = [k for k, v in policy.items() if isinstance(v, list) and k not in ("layers", "anchors")]
    return lists[0] if len(lists) == 1 else None


def is_bound(label):
    """A bound stands at what it attends to: its search is not counted (policy_is_bound() of engine/policies/policy.h)."""
    return label.startswith("oracle")


def reads(row):
    return float(row["kv_density" if is_bound(row["label"]) else "total_density"])


def swept_value(label, key):
    for part in label.split(" "):
        if part.startswith(key + "="):
            return float(part[len(key) + 1:])
    raise SystemExit(f"the label {label!r} does not tell {key}")


def look_up(points, share, scale):
    """Budget that reads `share`, from (budget, reads) of at least two budgets; None beyond their ends."""
    there, back = (lambda x: x, lambda x: x) if scale == "linear" else (math.log, math.exp)
    points = sorted(points, key=lambda p: p[1])
    for (b0, r0), (b1, r1) in zip(points, points[1:]):
        if r0 <= share <= r1 and r1 > r0:
            at = (math.log(share) - math.log(r0)) / (math.log(r1) - math.log(r0))
            return back(there(b0) + at * (there(b1) - there(b0)))
    for b, r in points[:1] + points[-1:]:
        if abs(r - share) <= 0.02 * share:  # an end of the budgets that were tried
            return b
    return None


def whole(key, x):
    if key in ("ratio", "cr", "mass", "bias"):
        return float(f"{x:.3g}")
    return max(1, round(x))


def propose(args):
    run, probed = json.loads(pathlib.Path(args.run).read_text()), settings(args.source)
    kept = []
    for p in run["policies"]:
        key = None if isinstance(p, str) else budget_key(p)
        if not key:
            kept.append(p)
            continue
        name = p.get("as", p["name"])
        points = [(swept_value(r["label"], key), reads(r)) for r in probed if policy_of(r["label"]) == name]
        values = [look_up(points, t / 100, "linear" if key == "bias" else "log") for t in args.targets]
        values = sorted({whole(key, v) for v in values if v is not None})
        print(name, key, values, "reads", [f"{b:g}: {100 * r:.1f} %" for b, r in sorted(points)])
        if values:
            kept.append({**p, key: values})
    run["policies"] = kept
    pathlib.Path(args.out).write_text(json.dumps(run, indent=2) + "\n")


def nearest(rows, target):
    best = min(rows, key=lambda r: abs(reads(r) - target))
    off = abs(reads(best) - target)
    return best if off <= max(0.02, 0.2 * target) else None


def cell(r):
    if not r:
        return "-"
    name = " ".join(w for w in r["label"].split(" ") if "=" in w)
    return "%.1f [%.0f, %.0f]<br>%s%.1f %%" % (
        100 * float(r["accuracy"]), 100 * float(r["accuracy_low"]), 100 * float(r["accuracy_high"]),
        name + ", " if name else "", 100 * reads(r))


def compare(kveval, folder, a, b):
    out = subprocess.run([kveval, "compare", folder, a, b, "--flips", "0", "--json"], capture_output=True, text=True)
    if not out.stdout.strip():
        raise SystemExit(out.stderr)
    return json.loads(out.stdout)["all"]


def table(args):
    policies = by_policy(settings(args.source))
    print("| policy | " + " | ".join(f"{t:g} % of Full's reads" for t in args.targets) + " |")
    print("|---|" + "---|" * len(args.targets))
    at = {name: [nearest(rows, t / 100) for t in args.targets] for name, rows in policies.items()}
    for name, chosen in at.items():
        if name == "full":
            r = policies[name][0]
            print(f"| full | {100 * float(r['accuracy']):.1f} [{100 * float(r['accuracy_low']):.0f}, "
                  f"{100 * float(r['accuracy_high']):.0f}] at 100 % |" + " |" * (len(args.targets) - 1))
        elif any(chosen):
            print(f"| {name} | " + " | ".join(cell(r) for r in chosen) + " |")
    for other in args.against.split(",") if args.against else []:
        for k, target in enumerate(args.targets):
            base = at.get(other, [None] * len(args.targets))[k]
            if not base:
                continue
            print(f"\nPoints more than {other} at {target:g} % of reads, with 95 % intervals:")
            for name, chosen in at.items():
                if name in (other, "full") or not chosen[k]:
                    continue
                d = compare(args.kveval, args.source, base["label"], chosen[k]["label"])
                print("  %-20s %+6.1f [%+.1f, %+.1f] p %.2g" % (name, 100 * d["delta"], 100 * d["ci_low"],
                                                               100 * d["ci_high"], d["p"]))


# ---- files of bench/results


def result_reads(setting):
    return setting["kv"] + (0 if is_bound(setting["label"]) else setting["aux"])


def points(low, value, high, digits=1):
    return f"{value:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def result_table(result, targets=(10, 20, 50)):
    """Markdown: for each share of reads a table of the policies' settings nearest to it, best first."""
    series, out = {}, []
    for s in result["settings"]:
        series.setdefault(policy_of(s["label"]), []).append(s)
    pair = {(c["than"], c["at"], c["policy"]): points(c["low"], c["points"], c["high"]) for c in result.get("comparisons", [])}

    def score(s):
        return f"{100 * s['accuracy']:.1f} [{100 * s['low']:.1f}, {100 * s['high']:.1f}]"

    for target in targets:
        rows = []
        for name, found in series.items():
            best = min(found, key=lambda s: abs(result_reads(s) - target / 100))
            if name != "full" and abs(result_reads(best) - target / 100) <= max(0.02, 0.2 * target / 100):
                rows.append((name, best))
        rows.sort(key=lambda r: -r[1]["accuracy"])
        others = [o for o in ("random", "oracle") if any((o, target, name) in pair for name, _ in rows)]
        out += [f"**About {target:g} % of what full attention reads**; full attention itself: {score(series['full'][0])}.", "",
                "| " + " | ".join(["policy", "reads", "score"] + [f"minus {o}" for o in others]) + " |",
                "|" + "---|" * (3 + len(others))]
        for name, s in rows:
            mark = " (a bound)" if is_bound(s["label"]) else ""
            cells = [s["label"] + mark, f"{100 * result_reads(s):.1f} %", score(s)] + [pair.get((o, target, name), "") for o in others]
            out.append("| " + " | ".join(cells) + " |")
        out.append("")
    return "\n".join(out).rstrip("\n")


# The looks of the report's figures (evalcore/page/svg.c, evalcore/report/report_series.c): colours in the light and in the
# dark, shapes, and which of them a policy has, by its place in engine/policies/policies.h.
COLOURS = [("#000000", "#ffffff"), ("#ff43c1", "#984987"), ("#bb8b00", "#f7e300"), ("#6a9f65", "#06ff78"), ("#7e48bd", "#0056f6"),
           ("#ff334f", "#ec7b04"), ("#716201", "#6d673d"), ("#6b1c2c", "#efa998"), ("#a9365a", "#cd1400"), ("#b572f4", "#b373ff"),
           ("#933c88", "#f336c0"), ("#4c1f82", "#c3d3f0"), ("#359dc6", "#028ebd"), ("#465df3", "#69bffe"), ("#0f23af", "#8842ca"),
           ("#5e2251", "#b04b6b"), ("#384100", "#b19554")]
SHAPES = ["M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z", "M-4.2-4.2h8.4v8.4h-8.4z", "M0-5.4L5.2 4H-5.2z",
          "M0-5.8L5.4 0L0 5.8L-5.4 0z", "M0 5.4L5.2-4H-5.2z",
          "M-4.8-2.4L-2.4-4.8L0-2.4L2.4-4.8L4.8-2.4L2.4 0L4.8 2.4L2.4 4.8L0 2.4L-2.4 4.8L-4.8 2.4L-2.4 0z"]
STYLE = (".bg{fill:#fff}.t{fill:#1c2127;font:13px Helvetica,Arial,'Liberation Sans',sans-serif}.m{fill:#59616b}.b{font-weight:600}"
         ".ax{stroke:#59616b;fill:none}.g{stroke:#e3e6ea;fill:none}.l{fill:none;stroke-width:1.5;opacity:.55}.e{fill:none;stroke-width:1.3}"
         ".k{fill:none;stroke-width:1;opacity:.7;stroke-dasharray:1.5 3}.band{opacity:.13}.h{stroke:#fff;stroke-width:1}.o{fill:#fff;stroke-width:1.8}")
DARK = ".bg{fill:#16191d}.t{fill:#e8eaed}.m{fill:#a3abb5}.ax{stroke:#a3abb5}.g{stroke:#2c3239}.h{stroke:#16191d}.o{fill:#16191d}"


def registered():
    text = (ROOT / "engine" / "policies" / "policies.h").read_text()
    return re.findall(r"X\((\w+)\)", text[text.index("define POLICIES"):text.index("/* clang-format on")])


def look(place):
    """Behind the last colour they begin again with the second, in other shapes."""
    if place < len(COLOURS):
        return place, place % len(SHAPES)
    again = place - len(COLOURS)
    colour, turn = 1 + again % (len(COLOURS) - 1), 1 + again // (len(COLOURS) - 1)
    return colour, (colour + turn) % len(SHAPES)


def text_width(text, size=13):
    return sum(0.28 if c in "ijl|'.,:;! -" else 0.36 if c in "frtI()[]/" else 0.86 if c in "mMW%" else 0.57 for c in text) * size * 1.06


def spread(wanted, gap, low, high):
    """Moves ascending positions apart, to at least `gap` between neighbours, as little as a few rounds find."""
    at = list(wanted)
    for _ in range(500):
        for i in range(len(at) - 1):
            lack = gap - (at[i + 1] - at[i])
            if lack > 0:
                at[i] -= lack / 2
                at[i + 1] += lack / 2
        for i in range(len(at)):
            at[i] = min(max(at[i], low + i * gap), high - (len(at) - 1 - i) * gap)
    return at


class Chart:
    """Score against total reads, the latter on a logarithmic axis."""
    left, right, top, bottom, label_x = 62, 720, 66, 560, 752
    width = 960

    def __init__(self, result):
        self.out, names = [], registered()
        self.series = {}
        for s in result["settings"]:
            self.series.setdefault(policy_of(s["label"]), []).append(s)
        self.full = self.series.pop("full")[0]
        low = min(result_reads(s) for found in self.series.values() for s in found)
        self.shares = (min(0.075, 0.92 * low), 0.6)
        self.high = 10 * math.ceil(10 * max([self.full["high"]] + [s["high"] for found in self.series.values() for s in found])) / 100
        self.base = {name: max((n for n in names if re.match(rf"{n}([ -]|$)", name)), key=len) for name in self.series}
        self.looks = {name: look(names.index(base)) for name, base in self.base.items()}
        self.is_first = {name: name == next(n for n in self.series if self.base[n] == base) for name, base in self.base.items()}
        for found in self.series.values():
            found.sort(key=result_reads)

    def x(self, share):
        low, high = (math.log(v) for v in self.shares)
        return self.left + (self.right - self.left) * (math.log(share) - low) / (high - low)

    def y(self, score):
        return self.bottom - (self.bottom - self.top) * score / self.high

    def put(self, text):
        self.out.append(text)

    def text(self, x, y, text, anchor="start", classes="t"):
        self.put(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">{html.escape(text)}</text>')

    def line(self, classes, *at):
        self.put(f'<path class="{classes}" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in at) + '"/>')

    def marker(self, name, x, y):
        """The first series of a policy has filled markers; its other forms have open ones."""
        colour, shape = self.looks[name]
        classes = f"f{colour} h" if self.is_first[name] else f"o s{colour}"
        self.put(f'<path transform="translate({x:.1f} {y:.1f})" class="{classes}" d="{SHAPES[shape]}"/>')

    def axes(self):
        for percent in range(0, round(100 * self.high) + 1, 10):
            self.line("g", (self.left, self.y(percent / 100)), (self.right, self.y(percent / 100)))
            self.text(self.left - 8, self.y(percent / 100) + 4, f"{percent}", "end", "t m")
        for percent in (10, 20, 30, 50):
            self.line("ax", (self.x(percent / 100), self.bottom), (self.x(percent / 100), self.bottom + 5))
            self.text(self.x(percent / 100), self.bottom + 20, f"{percent} %", "middle", "t m")
        self.line("ax", (self.left, self.bottom), (self.right, self.bottom))
        self.text((self.left + self.right) / 2, self.bottom + 40, "total reads, as a share of full attention's", "middle", "t m")
        self.text(self.left, self.top - 16, "score, with 95 % intervals", "start", "t m")
        top, bottom = self.y(self.full["high"]), self.y(self.full["low"])
        self.put(f'<rect class="f0 band" x="{self.left}" y="{top:.1f}" width="{self.right - self.left}" height="{bottom - top:.1f}"/>')
        self.put(f'<path class="e s0" stroke-dasharray="7 4" d="M{self.left} {self.y(self.full["accuracy"]):.1f}H{self.right}"/>')

    def lines_and_bars(self):
        for name, found in self.series.items():
            at = [(self.x(result_reads(s)), self.y(s["accuracy"])) for s in found]
            if len(at) > 1:
                self.line(f"l s{self.looks[name][0]}", *at)
        for name, found in self.series.items():
            for s in found:
                x = self.x(result_reads(s))
                self.line(f"e s{self.looks[name][0]}", (x, self.y(s["low"])), (x, self.y(s["high"])))
        for name, found in self.series.items():
            for s in found:
                self.marker(name, self.x(result_reads(s)), self.y(s["accuracy"]))

    def labels(self):
        """Every series is named in a column on the right, in the order of its last points, with a thin line to it."""
        ends = sorted([(self.y(found[-1]["accuracy"]), self.x(result_reads(found[-1])), name) for name, found in self.series.items()] +
                      [(self.y(self.full["accuracy"]), self.right, "full attention")])
        for (y, x, name), at in zip(ends, spread([e[0] for e in ends], 17, self.top - 10, self.bottom + 10)):
            colour = self.looks[name][0] if name in self.looks else 0
            if name in self.looks:
                self.line(f"k s{colour}", (x + 6, y), (self.label_x - 14, at), (self.label_x - 4, at))
            else:
                self.line("k s0", (x, y), (self.label_x - 4, at))
            self.text(self.label_x, at + 4, name, "start", f"t f{colour}")

    def legend(self):
        """A marker for each policy."""
        x, y = self.left, self.bottom + 70
        for name in [n for n in self.series if self.is_first[n]]:
            width = 30 + text_width(self.base[name])
            if x + width > self.width - 20:
                x, y = self.left, y + 22
            self.marker(name, x + 5, y - 4)
            self.text(x + 16, y, self.base[name])
            x += width
        note = "Open markers: other forms of the policy. The reads of oracle leave out its search; it bounds what a choice can reach."
        self.text(self.left, y + 26, note, "start", "t m")
        return y + 40

    def draw(self, title, note):
        self.text(self.left - 46, 22, title, "start", "t b")
        self.axes()
        self.lines_and_bars()
        self.labels()
        height = self.legend()
        rules = ["".join(f".s{i}{{stroke:{c[k]}}}.f{i}{{fill:{c[k]}}}" for i, c in enumerate(COLOURS)) for k in (0, 1)]
        style = STYLE + rules[0] + "@media(prefers-color-scheme:dark){" + DARK + rules[1] + "}"
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" viewBox="0 0 {self.width} {height}" role="img">\n'
                f"<title>{html.escape(title)}</title><desc>{html.escape(note)}</desc><style>{style}</style>\n"
                f'<rect class="bg" width="{self.width}" height="{height}"/>\n' + "\n".join(self.out) + "\n</svg>\n")


def result_figure(result):
    """The SVG of a file of bench/results, named by the first two parts of its "what"."""
    return Chart(result).draw(", ".join(result["what"].split(", ")[:2]), result["what"])


def figure(args):
    pathlib.Path(args.out).write_text(result_figure(json.loads(pathlib.Path(args.source).read_text())))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=("propose", "table", "figure"))
    ap.add_argument("source", help="the folder of a run, or a file of bench/results")
    ap.add_argument("--run", help="propose: the run file whose budgets are replaced")
    ap.add_argument("-o", "--out", help="propose, figure: the file to write")
    ap.add_argument("--targets", type=lambda s: [float(x) for x in s.split(",")], default=[10, 20, 50])
    ap.add_argument("--against", default="", help="table: labels to compare with, such as random,streamingllm,oracle")
    ap.add_argument("--kveval", default=str(ROOT / "build" / "kveval"))
    args = ap.parse_args()
    if args.what == "table" and args.source.endswith(".json"):
        print(result_table(json.loads(pathlib.Path(args.source).read_text()), args.targets))
        return
    if args.what != "table" and not args.out:
        ap.error("name the file to write with -o")
    {"propose": propose, "table": table, "figure": figure}[args.what](args)


if __name__ == "__main__":
    main()
