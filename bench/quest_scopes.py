#!/usr/bin/env python3
"""Quest's scopes side by side: what answers are worth, what a head selects and what is read.

    quest_scopes.py RUN...          # Markdown, a row per budget, task and scope
    quest_scopes.py --json RUN...   # the same as JSON

RUN is the folder of a sweep of runs/scopes_pocket.json or runs/scopes_smollm2.json with its report (`kveval report RUN`).
"""
import csv
import json
import pathlib
import sys


NUMBERS = ("accuracy", "ci_low", "ci_high", "bits_per_byte", "kl", "selected_density", "kv_density", "aux_density")


def rows(run):
    with open(pathlib.Path(run) / "report" / "accuracy.csv", newline="") as f:
        for r in csv.DictReader(f):
            number = {k: float(r[k]) if r.get(k) else None for k in NUMBERS}
            params = json.loads(r["params"])
            if number["selected_density"] is None:
                sys.exit(f"{run}: selected_density is missing, since a cell is not decoded or was by an older version; "
                         "decode it again")
            task = r["label"].split("/")[-1] if "/" in r["label"] else r["task"]
            yield {"model": pathlib.PurePath(r["model"]).name, "task": task, "jobs": int(r["jobs"]),
                   "k_pages": params.get("k_pages"), "scope": params.get("scope"), **number}


def outcome(r):
    if r["accuracy"] is None:
        return f"{r['bits_per_byte']:.3f} bits a byte" + (f", divergence {r['kl']:.3f}" if r["kl"] else "")
    return f"{100 * r['accuracy']:.0f} [{100 * r['ci_low']:.0f}-{100 * r['ci_high']:.0f}]"


def table(all_rows):
    print("| task | pages | scope | outcome | a head selects | read | read / selected |")
    print("|---|---|---|---|---|---|---|")
    for r in sorted(all_rows, key=lambda r: (r["model"], r["task"], r["k_pages"] or 0)):
        share = (r["selected_density"], r["kv_density"])
        print(f"| {r['task']} ({r['jobs']}) | {r['k_pages'] or 'all'} | {r['scope'] or '-'} | {outcome(r)} | "
              f"{100 * share[0]:.1f} % | {100 * share[1]:.1f} % | {share[1] / share[0]:.2f} |")


def main(*args):
    found = [r for run in args if run != "--json" for r in rows(run)]
    if "--json" in args:
        print(json.dumps(found, indent=1))
    else:
        table(found)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
