"""Verifies the truth of pairs with SymPy: both sides are read again and compared at points of all signs."""

import random
import re
import sys

try:
    import sympy
    import conditions
    import reading
except ImportError:
    sympy = None

POINTS = 160
ENOUGH = 50  # Points at which both sides of a true pair must be defined and equal.


def point(rng, letters, check, numbers):
    """Returns a value for each letter; rational, so that floors and signs are exact.

    A third of the points lies near the numbers of the texts, where corners and jumps are."""
    if check == "count":
        return {x: sympy.Integer(rng.randint(1, 60)) for x in letters}
    if numbers and check == "value" and rng.random() < 0.3:
        return {
            x: rng.choice([-1, 1]) * rng.choice(numbers) * rng.choice([1, 2])
            + sympy.Rational(rng.randint(-300, 300), 97)
            for x in letters
        }
    if rng.random() < 0.25:  # Small values.
        return {
            x: sympy.Rational(rng.choice([-1, 1]) * rng.randint(1, 100), 10 ** rng.randint(0, 6))
            for x in letters
        }
    if rng.random() < 0.25:  # Integers, at which floors jump.
        return {x: sympy.Integer(rng.randint(-30, 30)) for x in letters}
    widths = [300, 9000, 9000, 10**6]
    return {x: sympy.Rational(rng.choice([-1, 1]) * rng.randint(1, rng.choice(widths)), 97) for x in letters}


def at_point(side, where):
    """Returns a value as a number, or None where there is none."""
    try:
        out = side(where)
        out = out if out.is_Rational else sympy.N(out, 20, maxn=400)
    except (reading.Undefined, ZeroDivisionError, OverflowError):
        return None
    if out.has(sympy.zoo, sympy.nan, sympy.oo) or not out.is_number:
        return None
    return out


def same(one, two):
    """Compares two numbers, exactly where they are rational."""
    if one.is_Rational and two.is_Rational:
        return one == two
    size = max(abs(one), abs(two), 1 if min(abs(one), abs(two)) > 1e-3 else sympy.Float("1e-9"))
    return abs(one - two) < size * sympy.Float("1e-12")


def truth(gold, pred, check):
    """Returns True or False, or None if no point decides."""
    sides = [reading.Reader(gold), reading.Reader(pred)]
    one, two = (s.whole() for s in sides)
    letters = sorted(sides[0].letters | sides[1].letters)
    rng, equal = random.Random(gold + pred), 0
    numbers = sorted({int(n) for n in re.findall(r"\d{1,5}", gold + " " + pred)})
    for _ in range(POINTS if letters else 1):
        where = point(rng, letters, check, numbers)
        values = at_point(one, where), at_point(two, where)
        if None in values or letters and not all(v.is_real for v in values):
            continue
        if not same(*values):
            return False
        equal += 1
        if equal >= ENOUGH:
            return True
    return True if equal else None


def relations(text):
    """Reads a chain of relations into [(reader's function of left minus right, sign)] and its letters."""
    for name, sign in (("\\leq", "<="), ("\\geq", ">="), ("\\le", "<="), ("\\ge", ">=")):
        text = re.sub(re.escape(name) + "(?![a-z])", sign, text)
    parts = re.split("(<=|>=|<|>|=)", text)
    if len(parts) < 3:
        raise reading.Unreadable(text)
    rows, letters = [], set()
    for k in range(0, len(parts) - 2, 2):
        reader = reading.Reader("(%s)-(%s)" % (parts[k], parts[k + 2]))
        rows.append((reader.whole(), parts[k + 1]))
        letters |= reader.letters
    return rows, letters


def holds(rows, where):
    """Says whether all relations of a chain hold at a point."""
    values = [(side(where), sign) for side, sign in rows]
    return all({"<": v < 0, ">": v > 0, "<=": v <= 0, ">=": v >= 0, "=": v == 0}[sign] for v, sign in values)


def truth_of_relations(gold, pred):
    """Compares two inequalities at random points and at points on their bounds."""
    (one, names), (two, others) = relations(gold), relations(pred)
    letters, rng = sorted(names | others), random.Random(gold + pred)
    for turn in range(80):
        where = {x: sympy.Rational(rng.randint(-9600, 9600), 97) for x in letters}
        if turn % 2:  # A point at which one side is zero: the sides are linear in each letter.
            x, (side, _) = rng.choice(letters), rng.choice(one + two)
            low, high = side({**where, x: sympy.Integer(0)}), side({**where, x: sympy.Integer(1)})
            if high != low:
                where[x] = low / (low - high)
        if holds(one, where) != holds(two, where):
            return False
    return True


def find(gold, pred, check):
    """Returns the truth of a pair that is read in this way, or None if it stays open."""
    ways = {
        "truth": truth_of_relations,
        "region": conditions.same_region,
        "equation": conditions.same_equation,
        "logic": conditions.same_proposition,
    }
    return ways[check](gold, pred) if check in ways else truth(gold, pred, check)


def all_hold(pairs, classes, unwrapped):
    """Prints what was verified and every pair whose truth is not as claimed; says whether there is none."""
    if not sympy:
        print("check: SymPy is not installed, nothing was verified", file=sys.stderr)
        return True
    verified = open_ = 0
    wrong = []
    for pair in pairs:
        check = classes[pair["class"]][1]
        if check in (None, "text"):
            continue
        gold, pred = pair["gold"], unwrapped(pair["pred"])
        try:
            found = find(gold, pred, check)
        except reading.Unreadable as why:
            print("check: cannot read %s: %s | %s (%s)" % (pair["class"], gold, pred, why), file=sys.stderr)
            found = None
        if found is None:
            open_ += 1
        elif found == pair["equal"]:
            verified += 1
        else:
            wrong.append(pair)
    for pair in wrong:
        print(
            "check: claimed %s: %s: %s | %s" % (pair["equal"], pair["class"], pair["gold"], pair["pred"]),
            file=sys.stderr,
        )
    print(
        "check: of %d pairs %d were verified, %d left open, %d are wrong"
        % (len(pairs), verified, open_, len(wrong)),
        file=sys.stderr,
    )
    return not wrong
