"""Lists of values, plus-minus, families with an integer parameter, excluded values, congruences."""

import math
from fractions import Fraction

from writing import fraction, letters, nonzero, number, shuffled, total


def value_lists(rng):
    """Lists of solutions, in any order."""
    values = rng.sample(range(-60, 61), rng.choice([2, 2, 3, 4]))
    items = [str(v) for v in values]
    if rng.random() < 0.4:
        items[0] = number(fraction(rng))
    gold = ", ".join(items)
    yield gold, ", ".join(shuffled(rng, items)), True
    yield gold, ", ".join(items[:-1]) + " \\text{ and } " + items[-1], True
    yield gold, ", ".join(items[:-1]) + " \\text{ or } " + items[-1], True
    yield gold, "\\{%s\\}" % gold, True
    yield gold, ", ".join(items[:-1]), False
    yield gold, ", ".join(items + ["%d" % rng.randint(70, 99)]), False
    yield gold, ", ".join(items[:-1] + ["%d" % rng.randint(70, 99)]), False
    yield gold, "+".join(i for i in items), False


def named_solutions(rng):
    """Solutions with the name of the unknown."""
    x = rng.choice("xytn")
    a, b = rng.sample(range(-80, 81), 2)
    gold = "%s=%d, %s=%d" % (x, a, x, b)
    yield gold, "%s=%d \\text{ or } %s=%d" % (x, b, x, a), True
    yield gold, "%d, %d" % (b, a), True
    yield "%s=%d" % (x, a), str(a), True
    yield "%d, %d" % (a, b), "%s \\in \\{%d, %d\\}" % (x, b, a), True
    yield gold, "%s=%d" % (x, a), False
    yield gold, "%s=%d, %s=%d" % (x, a, x, b + 1), False
    yield "%s=%d" % (x, a), str(a + 1), False
    yield "%s=%d" % (x, a), "%s=%d" % (x, b), False


def solution_pairs(rng):
    """Values of two unknowns: the order of the statements is free, the names count."""
    x, y = rng.sample("xyabmnpq", 2)
    a, b = rng.sample(range(-80, 81), 2)
    gold = "%s=%d, %s=%d" % (x, a, y, b)
    yield gold, "%s=%d, %s=%d" % (y, b, x, a), True
    yield gold, "%s=%d \\text{ and } %s=%d" % (x, a, y, b), True
    yield gold, "%s=%d, %s=%d" % (x, b, y, a), False
    yield gold, "%s=%d, %s=%d" % (x, a, y, b + 1), False
    yield gold, "%s=%d" % (x, a), False
    yield gold, "%s=%d, %s=%d" % (y, a, x, b), False


def plus_minus(rng):
    """Both signs at once."""
    a, b, r = rng.randint(1, 40), rng.randint(1, 40), rng.choice([2, 3, 5, 6, 7, 10, 11, 13])
    root = "%s\\sqrt{%d}" % ("" if b == 1 else b, r)
    gold = "%d \\pm %s" % (a, root)
    yield gold, "%d+%s, %d-%s" % (a, root, a, root), True
    yield "%d-%s, %d+%s" % (a, root, a, root), gold, True
    yield "\\pm %d" % a, "%d, -%d" % (a, a), True
    yield "\\pm %d" % a, "-%d, %d" % (a, a), True
    yield gold, "%d+%s" % (a, root), False
    yield gold, "\\pm %d+%s" % (a, root), False
    yield gold, "-%d \\pm %s" % (a, root), False
    yield gold, "%d \\pm %s" % (a + 1, root), False
    yield "\\pm %d" % a, str(a), False
    yield "\\pm %d" % a, str(-a), False
    yield "\\pm %d" % a, "\\pm %d" % (a + 1), False


def families_of_values(rng):
    """Values with an integer parameter; its name is free."""
    k, n = rng.sample("knm", 2)
    v = fraction(rng, 11, 12)
    period, p = rng.choice([1, 2]), rng.choice(["%s\\pi", "2%s\\pi"])
    start = number(v) + "\\pi"
    gold = "%s+%s, %s \\in \\mathbb{Z}" % (start, p % k, k)
    yield gold, "%s+%s, %s \\in \\mathbb{Z}" % (start, p % n, n), True
    yield gold, "%s+%s, %s \\in \\mathbb{Z}" % (p % n, start, n), True
    yield gold, "%s+%s, %s \\in \\mathbb{Z}" % (start, ("2%s\\pi" if p[0] != "2" else "%s\\pi") % k, k), False
    yield gold, start, False
    yield gold, "-%s+%s, %s \\in \\mathbb{Z}" % (start, p % k, k), (
        2 * v / (2 if p[0] == "2" else 1)
    ) % 1 == 0
    c, d = rng.randint(2, 60), rng.randint(1, 60)
    text = "%d%s+%d, %s \\in \\mathbb{Z}"
    yield text % (c, k, d, k), text % (c, n, d, n), True
    yield text % (c, k, d, k), text % (c + 1, k, d, k), False
    yield text % (c, k, d, k), text % (c, k, d + period, k), period % c == 0
    yield "%d%s\\pi, %s \\in \\mathbb{Z}" % (c, k, k), "%d\\pi %s, %s \\in \\mathbb{Z}" % (c, n, n), True
    yield "%d%s\\pi, %s \\in \\mathbb{Z}" % (c, k, k), "%d%s, %s \\in \\mathbb{Z}" % (c, k, k), False


def excluded(rng):
    """All reals but some."""
    x = rng.choice("xyt")
    a, b = rng.sample(range(-40, 41), 2)
    yield "%s \\ne %d, %d" % (x, a, b), "%s \\ne %d, %d" % (x, b, a), True
    yield "%s \\ne %d, %d" % (x, a, b), "%s \\ne %d \\text{ and } %s \\ne %d" % (x, a, x, b), True
    yield "%s \\ne %d, %d" % (x, a, b), "\\mathbb{R} \\setminus \\{%d, %d\\}" % (b, a), True
    yield "%s \\ne %d" % (x, a), "%d \\ne %s" % (a, x), True
    yield "%s \\ne %d" % (x, a), "%s=%d" % (x, a), False
    yield "%s \\ne %d, %d" % (x, a, b), "%s=%d, %d" % (x, a, b), False
    yield "%s \\ne %d, %d" % (x, a, b), "%s \\ne %d" % (x, a), False
    yield "%s \\ne %d" % (x, a), "%s \\ne %d" % (x, b), False
    yield "%s \\ne %d" % (x, a), "%s>%d" % (x, a), False
    yield "\\mathbb{R} \\setminus \\{%d\\}" % a, "\\mathbb{R}", False
    yield "\\mathbb{R} \\setminus \\{%d\\}" % a, "\\{%d\\}" % a, False


def congruences(rng):
    """Residue classes."""
    n, m = rng.choice("nxk"), rng.randint(5, 60)
    a, b = rng.sample(range(m), 2)
    gold = "%s \\equiv %d \\pmod{%d}" % (n, a, m)
    yield gold, "%s \\equiv %d \\pmod{%d}" % (n, a + m, m), True
    yield gold, "%s \\equiv %d \\mod %d" % (n, a, m), True
    yield gold, "%s \\equiv %d \\pmod{%d}" % (n, a - m, m), True
    yield "%s \\equiv %d, %d \\pmod{%d}" % (n, a, b, m), "%s \\equiv %d, %d \\pmod{%d}" % (n, b, a, m), True
    yield gold, "%s \\equiv %d \\pmod{%d}" % (n, b, m), False
    yield gold, "%s \\equiv %d \\pmod{%d}" % (n, a, m + 1), False
    yield "%s \\equiv %d, %d \\pmod{%d}" % (n, a, b, m), gold, False
    yield gold, "%s \\equiv %d \\pmod{%d}" % (n, -a, m), 2 * a % m == 0
    yield gold, "%s \\not\\equiv %d \\pmod{%d}" % (n, a, m), False


def symbolic_lists(rng):
    """Lists and tuples of expressions."""
    x, y = letters(rng, 2)
    a, b, c = (nonzero(rng, 30) for _ in range(3))
    one, two = total([(a, x), (b, "")]), total([(c, y), (a, "")])
    yield "%s, %s" % (one, two), "%s, %s" % (two, one), True
    yield "(%s, %s)" % (one, two), "(%s, %s)" % (total([(b, ""), (a, x)]), two), True
    yield "(%s, %s)" % (one, two), "(%s, %s)" % (two, one), False
    yield "%s, %s" % (one, two), "%s, %s" % (one, total([(c, x), (a, "")])), False
    yield "%s, %s" % (one, two), one, False
    yield "(%s, %s)" % (one, two), "(%s)(%s)" % (one, two), False
    value = Fraction(a, abs(b) + 1)
    yield "%s, %s" % (x, number(value)), "%s, %s" % (number(value), x), True
    yield "%s, %s" % (x, number(value)), "%s, %s" % (x, number(value + math.gcd(a, b))), False


def angle_families(rng):
    """Angles with an integer parameter, in radians and degrees, as an equation and as a set."""
    d, k, n = rng.choice((2, 3, 4, 6, 9)), *rng.sample("kmn", 2)
    degrees = 180 // d
    gold = "x = \\frac{\\pi}{%d} + 2%s\\pi, %s \\in \\mathbb{Z}" % (d, k, k)
    yield gold, "x = %d^\\circ + 360^\\circ %s, %s \\in \\mathbb{Z}" % (degrees, n, n), True
    yield gold, "x = %d^\\circ + 180^\\circ %s, %s \\in \\mathbb{Z}" % (degrees, n, n), False
    yield gold, "x = %d^\\circ + 360^\\circ %s, %s \\in \\mathbb{Z}" % (degrees + 1, n, n), False
    yield gold, "x \\in \\{\\frac{\\pi}{%d} + 2%s\\pi : %s \\in \\mathbb{Z}\\}" % (d, n, n), True
    yield gold, "x \\in \\{\\frac{\\pi}{%d} + %s\\pi : %s \\in \\mathbb{Z}\\}" % (d, n, n), False
    yield gold, "y \\in \\{\\frac{\\pi}{%d} + 2%s\\pi : %s \\in \\mathbb{Z}\\}" % (d, n, n), False


CLASSES = [
    ("value_list", value_lists, None),
    ("named_solution", named_solutions, None),
    ("solution_pair", solution_pairs, None),
    ("plus_minus", plus_minus, None),
    ("parametrised_family", families_of_values, None),
    ("excluded_value", excluded, "region"),
    ("congruence", congruences, None),
    ("symbolic_list", symbolic_lists, None),
    ("angle_family", angle_families, None),
]
