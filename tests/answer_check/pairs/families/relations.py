"""Inequalities and systems of them."""

from writing import fraction, letters, nonzero, number, shuffled, total

FLIP = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}
OTHER = {"<": "\\le", "\\le": "<", ">": "\\ge", "\\ge": ">"}


def relation(one, sign, two):
    """Writes a relation."""
    return "%s %s %s" % (one, sign, two)


def inequalities(rng):
    """One inequality in one letter."""
    x, y = letters(rng, 2, "xytrpn")
    a, sign = rng.randint(-90, 90), rng.choice(sorted(FLIP))
    v = fraction(rng)
    gold = relation(x, sign, a)
    yield gold, relation(a, FLIP[sign], x), True
    yield gold, relation("2" + x, sign, 2 * a), True
    yield gold, relation("-" + x, FLIP[sign], -a), True
    yield relation(x, sign, number(v)), relation("%d%s" % (v.denominator, x), sign, v.numerator), True
    yield gold, relation(x, FLIP[sign], a), False
    yield gold, relation(a, sign, x), False
    yield gold, relation(x, OTHER[sign], a), False
    yield gold, relation(x, sign, a + 1), False
    yield gold, relation(y, sign, a), False
    yield gold, relation("-" + x, sign, -a), False
    yield gold, relation(x, "=", a), False
    yield gold, relation("2" + x, sign, a), a == 0


def chains(rng):
    """Bounds on both sides."""
    x = rng.choice("xytrp")
    a, b = sorted(rng.sample(range(-90, 91), 2))
    s, t = rng.choice(["<", "\\le"]), rng.choice(["<", "\\le"])
    gold = "%d %s %s %s %d" % (a, s, x, t, b)
    yield gold, "%d %s %s %s %d" % (b, FLIP[t], x, FLIP[s], a), True
    yield gold, "%s %s %d \\text{ and } %s %s %d" % (x, FLIP[s], a, x, t, b), True
    yield gold, "%s %s %d, %s %s %d" % (x, t, b, x, FLIP[s], a), True
    yield gold, "%d %s %s %s %d" % (a, OTHER[s], x, t, b), False
    yield gold, "%d %s %s %s %d" % (a, s, x, OTHER[t], b), False
    yield gold, "%d %s %s %s %d" % (a, s, x, t, b + 1), False
    yield gold, "%s %s %d \\text{ or } %s %s %d" % (x, t, a, x, FLIP[s], b), False
    yield gold, "%s %s %d" % (x, t, b), False
    yield gold, "%d %s %s %s %d" % (-b, s, x, t, -a), a == -b


def outside(rng):
    """Values outside two bounds."""
    x = rng.choice("xytrp")
    a, b = sorted(rng.sample(range(-90, 91), 2))
    gold = "%s<%d \\text{ or } %s>%d" % (x, a, x, b)
    yield gold, "%s>%d \\text{ or } %s<%d" % (x, b, x, a), True
    yield gold, "(-\\infty, %d) \\cup (%d, \\infty)" % (a, b), True
    yield gold, "%s<%d \\text{ and } %s>%d" % (x, a, x, b), False
    yield gold, "%s \\le %d \\text{ or } %s>%d" % (x, a, x, b), False
    yield gold, "%s<%d \\text{ or } %s>%d" % (x, a, x, b + 1), False
    yield gold, "%d<%s<%d" % (a, x, b), False
    yield gold, "%s<%d" % (x, a), False
    yield gold, "%s<%d \\text{ or } %s>%d" % (x, b, x, a), False


def absolute(rng):
    """Inequalities with an absolute value."""
    x = rng.choice("xytrp")
    c, d = rng.randint(-60, 60), rng.randint(1, 40)
    inner = total([(1, x), (-c, "")])
    yield "|%s|<%d" % (inner, d), "%d<%s<%d" % (c - d, x, c + d), True
    yield "%d \\le %s \\le %d" % (c - d, x, c + d), "|%s| \\le %d" % (inner, d), True
    yield "|%s|>%d" % (inner, d), "%s<%d \\text{ or } %s>%d" % (x, c - d, x, c + d), True
    yield "|%s|<%d" % (inner, d), "|%s|>%d" % (inner, d), False
    yield "|%s|<%d" % (inner, d), "%s<%d" % (inner, d), False
    yield "|%s|<%d" % (inner, d), "|%s| \\le %d" % (inner, d), False
    yield "|%s|<%d" % (inner, d), "%d<%s<%d" % (c - d, x, c + d + 1), False


def systems(rng):
    """Conditions on two letters."""
    x, y = letters(rng, 2, "xyabmnpq")
    a, b = rng.sample(range(-60, 61), 2)
    s, t = rng.choice(sorted(FLIP)), rng.choice(sorted(FLIP))
    rows = ["%s %s %d" % (x, s, a), "%s %s %d" % (y, t, b)]
    gold = ", ".join(rows)
    yield gold, ", ".join(shuffled(rng, rows)), True
    yield gold, "%s \\text{ and } %s" % tuple(rows), True
    yield gold, "%d %s %s, %s" % (a, FLIP[s], x, rows[1]), True
    yield gold, "%s %s %d, %s %s %d" % (y, s, a, x, t, b), False
    yield gold, "%s %s %d, %s" % (x, FLIP[s], a, rows[1]), False
    yield gold, "%s, %s %s %d" % (rows[0], y, OTHER[t], b), False
    yield gold, rows[0], False
    yield gold, "%s, %s %s %d" % (rows[0], y, t, b + 1), False


def several(rng):
    """Inequalities in several letters."""
    x, y, z = letters(rng, 3, "xyabcpqr")
    a, b, c = nonzero(rng, 9), nonzero(rng, 9), rng.randint(-60, 60)
    s = rng.choice(sorted(FLIP))
    left = total([(a, x), (b, y)])
    gold = relation(left, s, c)
    yield gold, relation(total([(b, y), (a, x)]), s, c), True
    yield gold, relation(c, FLIP[s], left), True
    yield gold, relation(total([(2 * a, x), (2 * b, y)]), s, 2 * c), True
    yield gold, relation(total([(-a, x), (-b, y)]), FLIP[s], -c), True
    yield gold, relation(left, FLIP[s], c), False
    yield gold, relation(left, OTHER[s], c), False
    yield gold, relation(left, s, c + 1), False
    yield gold, relation(total([(a, x), (-b, y)]), s, c), False
    if a != b:
        yield gold, relation(total([(b, x), (a, y)]), s, c), False
    yield "%s<%s<%s" % (x, y, z), "%s>%s>%s" % (z, y, x), True
    yield "%s<%s<%s" % (x, y, z), "%s<%s<%s" % (z, y, x), False
    yield "%s<%s<%s" % (x, y, z), "%s<%s<%s" % (x, z, y), False


CLASSES = [
    ("inequality", inequalities, "truth"),
    ("bounds", chains, "region"),
    ("outside", outside, "region"),
    ("abs_inequality", absolute, "region"),
    ("system", systems, None),
    ("inequality_of_letters", several, "truth"),
]
