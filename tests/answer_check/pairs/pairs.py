#!/usr/bin/env python3
"""Pairs of answers whose truth is known by construction, and what a grader makes of them.

    pairs.py --seed 1 --count 5000                      JSON lines: class, gold, pred, equal
    pairs.py --seed 1 --count 5000 --grade build/kveval grades them: a line for each class that has a miss

Each class draws letters and numbers at random and yields true pairs and planted neighbours, which are false. With
--grade the exit code is 1 if one false pair passes or fewer than 98 % of all are right.
"""

import argparse
import json
import random
import subprocess
import sys
import time

import calculus  # noqa: F401  (importing a module registers its classes)
import expressions  # noqa: F401
import functions  # noqa: F401
import logic  # noqa: F401
import matrices  # noqa: F401
import numbers_  # noqa: F401
import relations  # noqa: F401
import sets  # noqa: F401
import texts  # noqa: F401
import units  # noqa: F401
from common import CLASSES

LEAST_RIGHT = 0.98


def drawn(seed, count, only):
    """The pairs of a seed: the classes in turn, each pair once, until there are enough."""
    r, out, seen, idle = random.Random(seed), [], set(), 0
    names = [only] if only else list(CLASSES)
    while len(out) < count and idle < 1000:
        before = len(out)
        for name in names:
            for gold, pred, equal in CLASSES[name](r):
                if (gold, pred) not in seen and len(out) < count:
                    seen.add((gold, pred))
                    out.append({"class": name, "gold": gold, "pred": pred, "equal": equal})
        idle = idle + 1 if len(out) == before else 0
    return out


def verdicts(program, rows):
    lines = "".join(json.dumps({"gold": p["gold"], "pred": "\\boxed{%s}" % p["pred"]}) + "\n" for p in rows)
    done = subprocess.run([program, "grade"], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit("pairs: %s grade ended with %d: %s" % (program, done.returncode, done.stderr.strip()))
    return [json.loads(line)["verdict"] == "correct" for line in done.stdout.splitlines()]


def report(rows, passed, everything):
    classes = {}
    for p, ok in zip(rows, passed):
        c = classes.setdefault(p["class"], {"n": 0, "passes": [], "refusals": []})
        c["n"] += 1
        if ok != p["equal"]:
            c["passes" if ok else "refusals"].append("%s | %s" % (p["gold"], p["pred"]))
    for name, c in classes.items():
        misses = c["passes"] + c["refusals"]
        if misses or everything:
            print("%-36s %4d pairs, %5.1f %% right" % (name, c["n"], 100 * (1 - len(misses) / c["n"])))
        for kind, sign in (("passes", "wrong pass   "), ("refusals", "wrong refusal")):
            for example in c[kind][:3]:
                print("    %s  %s" % (sign, example))
    passes = sum(len(c["passes"]) for c in classes.values())
    refusals = sum(len(c["refusals"]) for c in classes.values())
    right = len(rows) - passes - refusals
    print("%d pairs in %d classes: %d right (%.2f %%), %d wrong passes, %d wrong refusals"
          % (len(rows), len(classes), right, 100 * right / len(rows), passes, refusals))
    return 1 if passes or right < LEAST_RIGHT * len(rows) else 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--count", type=int, default=5000)
    options.add_argument("--class", dest="only", choices=list(CLASSES))
    options.add_argument("--grade", metavar="PROGRAM")
    options.add_argument("--all", action="store_true", help="with --grade: classes without a miss too")
    o = options.parse_args()
    rows = drawn(o.seed, o.count, o.only)
    if not o.grade:
        for p in rows:
            print(json.dumps(p, ensure_ascii=False))
        return 0
    print("seed %d" % o.seed)
    return report(rows, verdicts(o.grade, rows), o.all)


sys.exit(main())
