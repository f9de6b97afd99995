#!/usr/bin/env python3
"""Policies compared at equal reads: which setting of each reads a given share of what full attention reads.

    equal_reads.py propose RUN --run FILE.json --out FILE.json   # from a short run over many budgets, the budgets to run
    equal_reads.py table RUN [--against LABEL,LABEL]             # a Markdown table of a run, and how its policies differ

RUN is the folder of a sweep with its report (`kveval report RUN`). Settings whose labels differ only in the value of the
budget belong to one policy, and "reads" are total reads: of K and V, and to choose. Of `oracle` only the former count: it is
the bound of what a choice could reach that costs nothing.

propose: reads of a policy are put on a straight line between its budgets, both as logarithms (DMS's bias as it is), and
the budget that reads 10, 20 and 50 % is looked up; a policy that cannot read so little or so much is left out there. The result is
FILE.json (a run file with one budget list per policy) with these budgets.

table: for each share the setting that comes nearest, if it is within two points or a fifth of it. Comparisons are
`kveval compare`'s: paired by problem, with exact tests.
"""
import argparse
import csv
import json
import math
import pathlib
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


def reads(row):
    return float(row["kv_density" if row["label"].startswith("oracle") else "total_density"])


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
    run, probed = json.loads(pathlib.Path(args.run).read_text()), settings(args.folder)
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
    policies = by_policy(settings(args.folder))
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
                d = compare(args.kveval, args.folder, base["label"], chosen[k]["label"])
                print("  %-20s %+6.1f [%+.1f, %+.1f] p %.2g" % (name, 100 * d["delta"], 100 * d["ci_low"],
                                                               100 * d["ci_high"], d["p"]))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=("propose", "table"))
    ap.add_argument("folder")
    ap.add_argument("--run", help="propose: the run file whose budgets are replaced")
    ap.add_argument("--out", help="propose: where to write it")
    ap.add_argument("--targets", type=lambda s: [float(x) for x in s.split(",")], default=[10, 20, 50])
    ap.add_argument("--against", default="", help="table: labels to compare with, such as random,streamingllm,oracle")
    ap.add_argument("--kveval", default=str(ROOT / "build" / "kveval"))
    args = ap.parse_args()
    (propose if args.what == "propose" else table)(args)


if __name__ == "__main__":
    main()
