"""Equations, lines, circles, planes: equal up to a factor."""

from math import gcd

from writing import letters, linear, nonzero, number, poly, total
from fractions import Fraction


def linear_equations(rng):
    """Equations of lines, in implicit form."""
    x, y = "x", "y"
    a, b, c = nonzero(rng, 15), nonzero(rng, 15), nonzero(rng, 40)
    if gcd(a, gcd(b, c)) > 1:
        return
    k = rng.randint(2, 7)
    gold = "%s=%d" % (total([(a, x), (b, y)]), c)
    yield gold, "%s=%d" % (total([(b, y), (a, x)]), c), True
    yield gold, "%s=0" % total([(a, x), (b, y), (-c, "")]), True
    yield gold, "%s=%d" % (total([(-k * a, x), (-k * b, y)]), -k * c), True
    yield gold, "y=%s" % total([(Fraction(-a, b), x), (Fraction(c, b), "")]), True
    yield gold, "%s=%d" % (total([(a, x), (b, y)]), -c), False
    yield gold, "%s=%d" % (total([(a, x), (-b, y)]), c), False
    yield gold, "%s=0" % total([(a, x), (b, y), (c, "")]), False
    if a != b:
        yield gold, "%s=%d" % (total([(b, x), (a, y)]), c), False
    yield gold, "y=%s" % total([(Fraction(a, b), x), (Fraction(c, b), "")]), False
    yield gold, "%s=%d" % (total([(k * a, x), (k * b, y)]), c), False


def lines(rng):
    """Lines in slope form."""
    m, b = Fraction(nonzero(rng, 20), rng.randint(1, 9)), nonzero(rng, 30)
    gold = "y=%s" % total([(m, "x"), (b, "")])
    yield gold, "y=%s" % total([(b, ""), (m, "x")]), True
    yield gold, "y-%d=%s" % (b, total([(m, "x")])) if b > 0 else "y+%d=%s" % (-b, total([(m, "x")])), True
    yield gold, "%s=y" % total([(m, "x"), (b, "")]), True
    yield gold, "%s=0" % total([(m.numerator, "x"), (-m.denominator, "y"), (b * m.denominator, "")]), True
    yield gold, "y=%s" % total([(-m, "x"), (b, "")]), False
    yield gold, "y=%s" % total([(m, "x"), (-b, "")]), False
    if m != b:
        yield gold, "y=%s" % total([(b, "x"), (m, "")]), False
    if abs(m) != 1:
        yield gold, "y=%s" % total([(1 / m, "x"), (b, "")]), False
    if (m, b) != (1, 0):
        yield gold, "x=%s" % total([(m, "y"), (b, "")]), m == -1
    yield "x=%d" % b, "y=%d" % b, False


def circles(rng):
    """Circles in centre form and expanded."""
    p, q, r = nonzero(rng, 12), nonzero(rng, 12), rng.randint(1, 20)
    left = "(%s)^2+(%s)^2" % (linear(1, -p, "x"), linear(1, -q, "y"))
    gold = "%s=%d" % (left, r * r)
    yield gold, "(%s)^2+(%s)^2=%d" % (linear(1, -q, "y"), linear(1, -p, "x"), r * r), True
    yield gold, "%s=%d^2" % (left, r), True
    yield gold, "%s=0" % total(
        [(1, "x^2"), (1, "y^2"), (-2 * p, "x"), (-2 * q, "y"), (p * p + q * q - r * r, "")]
    ), True
    yield gold, "(%s)^2+(%s)^2=%d" % (linear(-1, p, "x"), linear(1, -q, "y"), r * r), True
    yield gold, "(%s)^2+(%s)^2=%d" % (linear(1, p, "x"), linear(1, -q, "y"), r * r), False
    if r > 1:
        yield gold, "%s=%d" % (left, r), False
    if p != q:
        yield gold, "(%s)^2+(%s)^2=%d" % (linear(1, -q, "x"), linear(1, -p, "y"), r * r), False
    yield gold, "(%s)^2-(%s)^2=%d" % (linear(1, -p, "x"), linear(1, -q, "y"), r * r), False
    yield gold, left, False


def parabolas(rng):
    """Quadratic functions as equations."""
    a, p, q = nonzero(rng, 9), nonzero(rng, 12), nonzero(rng, 30)
    coefs = [a * p * p + q, -2 * a * p, a]
    front = {1: "", -1: "-"}.get(a, str(a))
    gold = "y=%s(%s)^2%+d" % (front, linear(1, -p, "x"), q)
    yield gold, "y=%s" % poly(coefs, "x"), True
    yield "y=%s" % poly(coefs, "x"), gold, True
    yield gold, "y=%+d%s(%s)^2" % (q, "+" + front if a > 0 else front, linear(1, -p, "x")), True
    yield gold, "y=%s(%s)^2%+d" % (front, linear(1, p, "x"), q), False
    yield gold, "y=%s(%s)^2%+d" % (front, linear(1, -p, "x"), -q), False
    yield gold, "y=%s" % poly([c + (k == 0) for k, c in enumerate(coefs)], "x"), False
    yield gold, "x=%s(%s)^2%+d" % (front, linear(1, -p, "y"), q), False
    yield gold, "y=%s" % poly([-c for c in coefs], "x"), False


def conics(rng):
    """Ellipses and hyperbolas."""
    a, b = rng.sample(range(2, 20), 2)
    gold = "\\frac{x^2}{%d}+\\frac{y^2}{%d}=1" % (a * a, b * b)
    yield gold, "\\frac{y^2}{%d}+\\frac{x^2}{%d}=1" % (b * b, a * a), True
    yield gold, "%dx^2+%dy^2=%d" % (b * b, a * a, a * a * b * b), True
    yield gold, "\\frac{x^2}{%d}-\\frac{y^2}{%d}=1" % (a * a, b * b), False
    yield gold, "\\frac{x^2}{%d}+\\frac{y^2}{%d}=1" % (b * b, a * a), False
    yield gold, "%dx^2+%dy^2=%d" % (a * a, b * b, a * a * b * b), False
    yield gold, "\\frac{x^2}{%d}+\\frac{y^2}{%d}=0" % (a * a, b * b), False
    yield gold, "\\frac{x}{%d}+\\frac{y}{%d}=1" % (a, b), False
    k = rng.randint(2, 90)
    yield "xy=%d" % k, "yx=%d" % k, True
    yield "xy=%d" % k, "y=\\frac{%d}{x}" % k, True
    yield "xy=%d" % k, "x+y=%d" % k, False
    yield "xy=%d" % k, "y=%dx" % k, False


def planes(rng):
    """Planes in space."""
    a, b, c, d = (nonzero(rng, 12) for _ in range(4))
    rows = [(a, "x"), (b, "y"), (c, "z")]
    gold = "%s=%d" % (total(rows), d)
    yield gold, "%s=0" % total(rows + [(-d, "")]), True
    yield gold, "%s=%d" % (total([(-2 * v, t) for v, t in rows]), -2 * d), True
    yield gold, "%s=%d" % (total(rows[::-1]), d), True
    yield gold, "%s=0" % total(rows + [(d, "")]), False
    yield gold, "%s=%d" % (total([(-a, "x")] + rows[1:]), d), False
    yield gold, "%s=%d" % (total([(v, t) for v, t in zip((b, c, a), "xyz")]), d), a == b == c
    yield gold, "%s=%d" % (total(rows), d + 1 or 5), False


def formulas(rng):
    """Formulas solved for a letter."""
    y, x, c, d = letters(rng, 4, "ABCDFKPRSTVW")
    n = rng.randint(2, 90)
    gold = "%s=\\frac{%s%s}{%s}" % (y, x, c, d)
    yield gold, "%s=\\frac{%s%s}{%s}" % (y, c, x, d), True
    yield gold, "%s=%s \\cdot \\frac{%s}{%s}" % (y, x, c, d), True
    yield "%s=%d%s+%s" % (y, n, x, c), "%s=%s+%d%s" % (y, c, n, x), True
    yield gold, "%s=\\frac{%s%s}{%s}" % (x, y, c, d), False
    yield gold, "%s=\\frac{%s%s}{%s}" % (y, x, d, c), False
    yield gold, "%s=\\frac{%s}{%s%s}" % (y, x, c, d), False
    yield "%s=%d%s+%s" % (y, n, x, c), "%s=%d%s-%s" % (y, n, x, c), False
    yield "%s=%d%s+%s" % (y, n, x, c), "%s=%d%s+%s" % (x, n, y, c), False
    yield "%s=%d%s+%s" % (y, n, x, c), "%s=%s%s+%s" % (y, number(n + 1), x, c), False


CLASSES = [
    ("linear_equation", linear_equations, "equation"),
    ("line", lines, "equation"),
    ("circle", circles, "equation"),
    ("parabola", parabolas, "equation"),
    ("conic", conics, None),
    ("plane", planes, "equation"),
    ("formula", formulas, "equation"),
]
