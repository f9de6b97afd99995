#!/usr/bin/env python3
"""Does recall foretell accuracy? Joins `kveval probe recall` with the accuracy of the same settings in a sweep:

    recall_accuracy.py RUN RECALL.csv [RECALL.csv ...]

RUN is the folder of a sweep with its report (`kveval report RUN`). Several files of recall, of different tasks say, are
averaged. Prints a Markdown table, lowest recall first, and Spearman's rank correlation over all settings but full
attention, whose recall is 1 by definition. With --reads LOW,HIGH only settings that read such a share of what full attention
reads, in percent: among equals, recall cannot merely stand for the budget. Needs nothing but Python.
"""
import argparse
import csv
import pathlib
import sys

from equal_reads import reads


def recall_of(files):
    values = {}
    for name in files:
        with open(name, newline="") as f:
            for row in csv.DictReader(f):
                values.setdefault(row["policy"], []).append(float(row["recall"]))
    return {label: sum(v) / len(v) for label, v in values.items()}


def ranks(values):
    """Ranks from 1; those that are equal share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in order[i:j + 1]:
            out[k] = (i + j) / 2 + 1
        i = j + 1
    return out


def pearson(a, b):
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    va, vb = sum((x - ma) ** 2 for x in a), sum((y - mb) ** 2 for y in b)
    if va == 0 or vb == 0:
        raise SystemExit("no correlation: all settings have the same recall or the same accuracy")
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / (va * vb) ** 0.5


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("run")
    ap.add_argument("recall", nargs="+")
    ap.add_argument("--reads", type=lambda s: [float(x) / 100 for x in s.split(",")], default=[0, 1])
    args = ap.parse_args()
    recall = recall_of(args.recall)
    with open(pathlib.Path(args.run) / "report" / "settings.csv", newline="") as f:
        scored = {r["label"]: r for r in csv.DictReader(f)}
    for label in sorted(recall.keys() - scored.keys()):
        print(f"{label}: no accuracy in {args.run}, left out", file=sys.stderr)
    for label in sorted(scored.keys() - recall.keys()):
        print(f"{label}: no recall, left out", file=sys.stderr)
    low, high = args.reads
    rows = [(recall[label], float(r["accuracy"]), reads(r), label) for label, r in scored.items()
            if label in recall and label != "full"]
    rows = sorted(r for r in rows if low <= r[2] <= high)
    if len(rows) < 3:
        raise SystemExit(f"only {len(rows)} settings have both recall and accuracy; use the same run file for both")
    print("| setting | reads | recall | accuracy |\n|---|---|---|---|")
    for rec, acc, kv, label in rows:
        print(f"| {label} | {100 * kv:.1f} % | {rec:.4f} | {100 * acc:.1f} |")
    spearman = pearson(ranks([r[0] for r in rows]), ranks([r[1] for r in rows]))
    print(f"\nSpearman's rank correlation of recall and accuracy over {len(rows)} settings: {spearman:.2f}")


if __name__ == "__main__":
    main()
