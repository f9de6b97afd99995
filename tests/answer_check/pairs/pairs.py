#!/usr/bin/env python3
"""Makes answer pairs whose truth is known by construction, and grades a program on them. See README.md."""

import argparse
import collections
import json
import random
import subprocess
import sys
import time

import choices
import endings
import families
import forms
import languages
import provisos
import remarks
import sentences
import thinking
import writing

SHOWN = 3  # Examples of each fault.
LEAST_RIGHT = 0.98
# Each has rows(): (class, gold, response, equal), the class as "group: name".
AROUND = (endings, remarks, forms, thinking, sentences, provisos, languages)
LEAST_AROUND = {"plain": 0.95}  # Of the groups that may have more faults than others.
LEAST_LETTERS = 0.98
WRAPPERS = ("\\boxed{%s}", "\\boxed{%s}", "So the answer is $\\boxed{%s}$.", "$$\\boxed{%s}$$")


def make_class(rng, name, generator, check, count):
    """Returns that many different pairs of one class, or fewer where the class has no more."""
    made, seen, tries = [], set(), 0
    while len(made) < count and tries < 50 * count:
        tries += 1
        for gold, pred, equal in generator(rng):
            if check != "text":
                if rng.random() < 0.3:
                    gold = writing.restyle(rng, gold)
                pred = writing.restyle(rng, pred)
            if (gold, pred) not in seen and len(made) < count:
                seen.add((gold, pred))
                made.append((gold, pred, equal))
    return [{"class": name, "gold": g, "pred": p, "equal": e} for g, p, e in made]


def make(seed, count, only=None):
    """Returns count pairs spread evenly over the classes, or all of one class."""
    table = families.classes()
    names = [n for n in table if not only or n == only]
    if not names:
        raise SystemExit("pairs.py: no class %s; there are: %s" % (only, " ".join(table)))
    out = []
    for at, name in enumerate(names):
        # What a small class cannot fill is left to the later ones.
        share = -(-(count - len(out)) // (len(names) - at))
        # A class depends on the seed and on its own name only, so that a new class changes no other one.
        rng = random.Random("%s %s" % (seed, name))
        out += make_class(rng, name, table[name][0], table[name][1], share)
    random.Random(seed).shuffle(out)
    for pair in out:
        pair["pred"] = wrapped(pair)
    return out


def wrapped(pair):
    """Puts the answer into a box, in one of a few sentences that the pair itself chooses."""
    return random.Random(pair["gold"] + pair["pred"]).choice(WRAPPERS) % pair["pred"]


def unwrapped(text):
    """Returns what stands in the box of wrapped()."""
    for wrapper in WRAPPERS:
        head, tail = wrapper.split("%s")
        if text.startswith(head) and text.endswith(tail):
            return text[len(head) : len(text) - len(tail)]
    return text


def filtered(program, command, rows):
    """Returns the program's answer to each row."""
    lines = "".join(json.dumps(r) + "\n" for r in rows)
    done = subprocess.run([program, command], input=lines.encode(), stdout=subprocess.PIPE, check=False)
    answers = done.stdout.decode().splitlines()
    if len(answers) != len(rows):
        raise SystemExit(
            "pairs.py: %d answers to %d rows, exit code %d" % (len(answers), len(rows), done.returncode)
        )
    return [json.loads(a) for a in answers]


def run(program, pairs):
    """Returns the program's verdict on each pair."""
    rows = [{"gold": p["gold"], "pred": p["pred"]} for p in pairs]
    return [a.get("verdict", "error") for a in filtered(program, "grade", rows)]


def grade(program, pairs):
    """Prints one line for each class and returns whether the program is good enough."""
    groups = collections.OrderedDict((name, []) for name in families.classes())
    for pair, verdict in zip(pairs, run(program, pairs)):
        groups[pair["class"]].append((pair, verdict))
    print("%-28s %7s %7s %13s %15s" % ("class", "pairs", "right", "wrong passes", "wrong refusals"))
    sums = [0, 0, 0, 0]
    for name, rows in groups.items():
        passes = [(p, v) for p, v in rows if v == "correct" and not p["equal"]]
        refusals = [(p, v) for p, v in rows if v != "correct" and p["equal"]]
        counts = (len(rows), len(rows) - len(passes) - len(refusals), len(passes), len(refusals))
        if not rows:
            continue
        print("%-28s %7d %7d %13d %15d" % ((name,) + counts))
        for fault, found in (("wrong pass", passes), ("wrong refusal", refusals)):
            for pair, verdict in found[:SHOWN]:
                print("    %s: gold %s, pred %s, verdict %s" % (fault, pair["gold"], pair["pred"], verdict))
        sums = [a + b for a, b in zip(sums, counts)]
    print("%-28s %7d %7d %13d %15d" % (("all",) + tuple(sums)))
    return sums[2] == 0 and sums[1] >= LEAST_RIGHT * sums[0]


def grade_around(program, seed, count):
    """Grades what models write around answers, or that many of its pairs. Prints each class with a fault, and
    returns whether the program is good enough."""
    rows = [row for module in AROUND for row in module.rows()]
    if count and count < len(rows):
        rows = random.Random(seed).sample(rows, count)
    pairs = [{"class": c, "gold": g, "pred": p, "equal": e} for c, g, p, e in rows]
    total, wrong, good, shown = collections.Counter(), collections.Counter(), True, set()
    for pair, verdict in zip(pairs, run(program, pairs)):
        group = pair["class"].split(":")[0]
        total[group] += 1
        if (verdict == "correct") == pair["equal"]:
            continue
        wrong[group] += 1
        good = good and pair["equal"]
        if pair["class"] not in shown or not pair["equal"]:
            shown.add(pair["class"])
            print("    %s: gold %s, pred %r, verdict %s" % (pair["class"], pair["gold"], pair["pred"], verdict))
    for group in total:
        print("%s: %d of %d pairs right" % (group, total[group] - wrong[group], total[group]))
        good = good and total[group] - wrong[group] >= LEAST_AROUND.get(group, LEAST_RIGHT) * total[group]
    return good


def grade_choices(program):
    """Extracts the letters of all endings with letters. Prints those with a fault, and returns whether no letter
    was found where there is none, and enough of the others."""
    rows = list(choices.endings())
    answers = filtered(program, "choice", [{"text": r[2], "n_options": r[1]} for r in rows])
    total, right, letters, shown = 0, 0, 0, set()
    for (line, _, text, want), answer in zip(rows, answers):
        got = answer.get("letter")
        total += want is not None
        right += want is not None and got == want
        letters += got is not None and got != want
        if got != want and line not in shown:
            shown.add(line)
            print("    %r: want %s, got %s (%s)" % (text, want, got, answer.get("rule")))
    print("choices: %d of %d letters found, %d wrong ones" % (right, total, letters))
    return not letters and right >= LEAST_LETTERS * total


def main():
    """Reads the command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--seed", type=int, default=int(time.time()), help="default: from the clock")
    ap.add_argument("--count", type=int, default=5000, help="pairs in all")
    ap.add_argument("--class", dest="only", metavar="NAME", help="one class only")
    ap.add_argument("--check", action="store_true", help="verify the truth with SymPy where it applies")
    ap.add_argument("--grade", metavar="PROGRAM", help="grade the pairs with this program")
    ap.add_argument("--list", action="store_true", help="print the names of the classes")
    ap.add_argument("--endings", action="store_true", help="what models write around answers; with --count N a sample")
    ap.add_argument("--choices", action="store_true", help="endings with letters of options")
    args = ap.parse_args()
    if args.choices:
        return 0 if grade_choices(args.grade) else 1
    if args.endings:
        print("seed %d" % args.seed, flush=True)
        return 0 if grade_around(args.grade, args.seed, args.count if args.count != 5000 else 0) else 1
    if args.list:
        print("\n".join(families.classes()))
        return 0
    print("seed %d" % args.seed, file=sys.stdout if args.grade else sys.stderr, flush=True)
    pairs = make(args.seed, args.count, args.only)
    if args.check:
        import check  # Only here is SymPy needed.

        if not check.all_hold(pairs, families.classes(), unwrapped):
            return 1
    if args.grade:
        return 0 if grade(args.grade, pairs) else 1
    for pair in pairs:
        print(json.dumps(pair))
    return 0


if __name__ == "__main__":
    sys.exit(main())
