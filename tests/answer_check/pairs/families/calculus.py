"""Derivatives, integrals, sums, products and limits."""

from fractions import Fraction
import math

from writing import join, letters, linear, nonzero, number, poly, power, term, total


def named_derivatives(rng):
    """Derivatives by their signs."""
    y, x, z = letters(rng, 3, "xyztuvwrs")
    k = rng.randint(2, 90)
    f, g = rng.sample("fgh", 2)
    yield "%d\\frac{d%s}{d%s}" % (k, y, x), "\\frac{d%s}{d%s} \\cdot %d" % (y, x, k), True
    yield "%d\\frac{d%s}{d%s}" % (k, y, x), "%d\\frac{\\mathrm{d}%s}{\\mathrm{d}%s}" % (k, y, x), True
    yield "%d%s'(%s)+%d" % (k, f, x, k), "%d+%d%s'(%s)" % (k, k, f, x), True
    yield "%d\\frac{d%s}{d%s}" % (k, y, x), "%d\\frac{%s}{%s}" % (k, y, x), False
    yield "%d\\frac{d%s}{d%s}" % (k, y, x), "%d\\frac{d%s}{d%s}" % (k, x, y), False
    yield "%d\\frac{d%s}{d%s}" % (k, y, x), "%d\\frac{d%s}{d%s}" % (k, y, z), False
    yield "\\frac{d^2%s}{d%s^2}" % (y, x), "\\frac{d%s}{d%s}" % (y, x), False
    yield "\\frac{d^2%s}{d%s^2}" % (y, x), "(\\frac{d%s}{d%s})^2" % (y, x), False
    yield "%d%s'(%s)" % (k, f, x), "%d%s(%s)" % (k, f, x), False
    yield "%d%s'(%s)" % (k, f, x), "%d%s''(%s)" % (k, f, x), False
    yield "%d%s'(%s)" % (k, f, x), "%d%s'(%s)" % (k, g, x), False
    yield "%s'(%d)" % (f, k), "%s(%d)'" % (g, k), False
    yield "\\frac{\\partial %s}{\\partial %s}" % (y, x), "\\frac{\\partial %s}{\\partial %s}" % (x, y), False


def derivatives(rng):
    """Derivatives of polynomials, as operators."""
    x = rng.choice("xtuy")
    coefs = [rng.randint(-12, 12) for _ in range(rng.randint(2, 4))] + [nonzero(rng, 12)]
    slope = [k * c for k, c in enumerate(coefs)][1:]
    gold = poly(slope, x)
    op = "\\frac{d}{d%s}(%s)"
    yield op % (x, poly(coefs, x)), gold, True
    yield op % (x, poly(coefs, x)), poly(slope, x, rng), True
    yield gold, op % (x, poly([coefs[0], coefs[1] + 1] + coefs[2:], x)), False
    yield op % (x, poly(coefs, x)), poly(coefs, x), False
    yield op % (x, poly(coefs, x)), poly(slope[:-1] + [slope[-1] + coefs[-1]], x), False
    yield op % (x, poly(coefs, x)), poly([-c for c in slope], x), False


def antiderivatives(rng):
    """Antiderivatives with their constant."""
    x = rng.choice("xt")
    coefs = [0] + [Fraction(nonzero(rng, 15), rng.choice([1, 1, 2, 3])) for _ in range(rng.choice([2, 3]))]
    gold = poly(coefs, x) + "+C"
    wrong = coefs[:]
    wrong[-1] *= rng.choice([-1, 2, Fraction(1, 2)])
    k = rng.randint(2, 9)
    yield gold, join(["C", poly(coefs, x, rng)]), True
    yield gold, poly(coefs, x, rng) + "+C", True
    yield gold, poly(wrong, x) + "+C", False
    yield gold, poly([0] + coefs, x) + "+C", False
    yield "\\frac{1}{%d}\\sin(%d%s)+C" % (k, k, x), "\\frac{\\sin(%d%s)}{%d}+C" % (k, x, k), True
    yield "\\frac{1}{%d}\\sin(%d%s)+C" % (k, k, x), "%d\\sin(%d%s)+C" % (k, k, x), False
    yield "%d\\ln|%s|+C" % (k, x), "C+%d\\ln|%s|" % (k, x), True
    yield "%d\\ln|%s|+C" % (k, x), "\\ln|%s|+%d+C" % (x, k), False
    yield "\\frac{1}{%d}e^{%d%s}+C" % (k, k, x), "\\frac{e^{%d%s}}{%d}+C" % (k, x, k), True
    yield "\\frac{1}{%d}e^{%d%s}+C" % (k, k, x), "e^{%d%s}+C" % (k, x), False


def definite_integrals(rng):
    """Integrals of polynomials over intervals."""
    x, y = rng.sample("xytu", 2)
    a, b = sorted(rng.sample(range(-5, 8), 2))
    m, c = rng.randint(1, 4), nonzero(rng, 12)
    value = Fraction(c * (b ** (m + 1) - a ** (m + 1)), m + 1)
    if value == 0 or a == -b:
        return
    text = "\\int_{%d}^{%d} %s \\, d%s"
    body = term(c, power(x, m))
    gold = text % (a, b, body, x)
    yield number(value), gold, True
    yield gold, number(value), True
    yield gold, text % (a, b, term(c, power(y, m)), y), True
    yield gold, number(-value), False
    yield number(value), text % (b, a, body, x), False
    yield gold, number(value * (m + 1)), False
    yield gold, text % (a, b, term(c + 1 or 5, power(x, m)), x), False
    yield gold, number(value + 1), False
    yield gold, text % (a, b + 1, body, x), b ** (m + 1) == (b + 1) ** (m + 1)


def integrals_of_names(rng):
    """Integrals whose value is not known; the name of the variable is free, the bounds are not."""
    f, g = rng.sample("fgh", 2)
    x, t = rng.sample("xtu", 2)
    a, b, c = sorted(rng.sample(range(0, 40), 3))
    text = "\\int_{%d}^{%d} %s(%s) \\, d%s"
    gold = text % (a, b, f, x, x)
    yield gold, text % (a, b, f, t, t), True
    yield gold, text % (a, b, g, x, x), False
    yield gold, text % (b, a, f, x, x), False
    yield gold, text % (a, c, f, x, x), False
    yield gold, "%s(%d)-%s(%d)" % (f, b, f, a), False
    yield "\\int %s(%s) \\, d%s" % (f, x, x), "\\int %s(%s) \\, d%s" % (f, x, t), False
    yield "%d+" % c + gold, "%s+%d" % (gold, c), True
    yield "\\int_{%d}^{%d} e^{%s^2} \\, d%s" % (a, b, x, x), "\\int_{%d}^{%d} e^{%s^2} \\, d%s" % (
        a,
        b,
        t,
        t,
    ), True
    yield "\\int_{%d}^{%d} e^{%s^2} \\, d%s" % (a, b, x, x), "\\int_{%d}^{%d} e^{%s^2} \\, d%s" % (
        a,
        b,
        x,
        t,
    ), False


def sums(rng):
    """Sums with bounds."""
    k, j = rng.sample("kjmi", 2)
    a, n, c = rng.randint(0, 4), rng.randint(5, 14), rng.randint(1, 9)
    m = rng.choice([1, 2])
    value = sum(c * v**m for v in range(a, n + 1))
    text = "\\sum_{%s=%d}^{%d} %s"
    body = term(c, power(k, m))
    gold = text % (k, a, n, body)
    yield gold, str(value), True
    yield str(value), gold, True
    yield gold, text % (j, a, n, term(c, power(j, m))), True
    yield gold, text % (k, a + 1, n, body), a == 0
    yield gold, text % (k, a, n + 1, body), False
    yield gold, text % (k, a, n - 1, body), False
    yield gold, str(value + rng.choice([1, -1, n])), False
    yield gold, gold.replace("sum", "prod"), value == math.prod(c * v**m for v in range(a, n + 1))
    yield gold, text % (k, a, n, term(c + 1, power(k, m))), False


def symbolic_sums(rng):
    """Sums up to a letter."""
    n, k, j = rng.choice(["nkj", "nij", "mki"])
    c, a = rng.randint(2, 30), rng.randint(1, 3)
    text = "\\sum_{%s=%s}^{%s} %s"
    x = rng.choice("xab")
    gold = text % (k, a, n, "%d%s_{%s}" % (c, x, k))
    yield gold, text % (j, a, n, "%d%s_{%s}" % (c, x, j)), True
    yield gold, text % (k, a + 1, n, "%d%s_{%s}" % (c, x, k)), False
    yield gold, text % (k, a, n + "-1", "%d%s_{%s}" % (c, x, k)), False
    yield gold, text % (k, a, n, "%d%s_{%s}" % (c + 1, x, k)), False
    yield gold, text.replace("sum", "prod") % (k, a, n, "%d%s_{%s}" % (c, x, k)), False
    yield "%d" % c + text % (k, 1, n, k), "\\frac{%d%s(%s+1)}{2}" % (c, n, n), True
    yield "%d" % c + text % (k, 1, n, k), "\\frac{%d%s(%s-1)}{2}" % (c, n, n), False


def products(rng):
    """Products with bounds."""
    k, j = rng.sample("kjmi", 2)
    a, n, c = rng.randint(1, 3), rng.randint(4, 8), rng.randint(0, 5)
    value = math.prod(v + c for v in range(a, n + 1))
    text = "\\prod_{%s=%d}^{%d} %s"
    body = "(%s)" % linear(1, c, k) if c else k
    gold = text % (k, a, n, body)
    yield gold, str(value), True
    yield str(value), gold, True
    yield gold, text % (j, a, n, "(%s)" % linear(1, c, j) if c else j), True
    yield gold, text % (k, a, n - 1, body), False
    yield gold, text % (k, a + 1, n, body), a + c == 1
    yield gold, str(value * 2), False
    yield gold, gold.replace("prod", "sum"), value == sum(v + c for v in range(a, n + 1))


def limits(rng):
    """Limits of quotients of polynomials."""
    x, t = rng.sample("xtuy", 2)
    a, b, c = nonzero(rng, 12), nonzero(rng, 12), rng.randint(2, 12)
    text = "\\lim_{%s \\to %s} %s"
    gold = text % (x, "\\infty", "\\frac{%s}{%s}" % (linear(a, b, x), linear(c, 1, x)))
    yield number(Fraction(a, c)), gold, True
    yield number(Fraction(a, c)), gold.replace(x + " \\to", t + " \\to"), Fraction(a, c) == b
    yield number(Fraction(c, a)), gold, a * a == c * c
    yield number(b), gold, Fraction(a, c) == b
    cut = "\\frac{%s}{%s}" % (total([(1, x + "^2"), (-c * c, "")]), linear(1, -c, x))
    yield str(2 * c), text % (x, c, cut), True
    yield "0", text % (x, c, cut), False
    yield str(2 * c + 1), text % (x, c, cut), False
    yield str(c), text % (x, 0, "\\frac{\\sin(%d%s)}{%s}" % (c, x, x)), True
    yield "1", text % (x, 0, "\\frac{\\sin(%d%s)}{%s}" % (c, x, x)), False


def geometric_series(rng):
    """Infinite geometric series."""
    k, q = rng.choice("kn"), rng.randint(2, 12)
    p, c = rng.randint(1, q - 1), rng.randint(1, 20)
    if math.gcd(p, q) > 1:
        return
    r = Fraction(p, q)
    text = "\\sum_{%s=%d}^{\\infty} %d(%s)^{%s}"
    yield number(c / (1 - r)), text % (k, 0, c, number(r), k), True
    yield number(c * r / (1 - r)), text % (k, 1, c, number(r), k), True
    yield number(c / (1 - r)), text % (k, 1, c, number(r), k), False
    yield number(c * r), text % (k, 1, c, number(r), k), False
    yield number(c / (1 - r) + 1), text % (k, 0, c, number(r), k), False


def limits_at_infinity(rng):
    """Limits at infinity that need more than leading terms."""
    n = rng.choice("nxt")
    a, b = nonzero(rng, 12), rng.randint(2, 12)
    text = "\\lim_{%s \\to \\infty} %%s" % n
    growth = text % ("\\left(%s\\right)^{%d%s}" % (total([(1, ""), (a, "\\frac{1}{%s}" % n)]), b, n))
    yield "e^{%d}" % (a * b), growth, True
    yield "e^{%d}" % (a + b), growth, a + b == a * b
    yield "1", growth, False
    root = "\\sqrt{%s^2 + %d%s} - \\sqrt{%s^2 + %d}" % (n, b, n, n, b)
    yield number(Fraction(b, 2)), text % ("\\left(%s\\right)" % root), True
    yield number(Fraction(-b, 2)), text % ("\\left(%s\\right)" % root), False
    yield "0", text % ("\\left(%s\\right)" % root), False
    yield "0", text % ("\\frac{%d\\ln %s}{%s}" % (b, n, n)), True
    yield str(b), text % ("%s^{1/%s} + %d" % (n, n, b - 1)), True
    yield str(b), text % ("%s^{1/%s} + %d" % (n, n, b)), False
    yield str(b), text % ("\\left(%s^{1/%s} + %d\\right)" % (n, n, b - 1)), True
    yield "0", text % ("\\frac{%s^%d}{e^{%s}}" % (n, b, n)), True
    yield "1", text % ("\\frac{%s^%d}{e^{%s}}" % (n, b, n)), False


def known_series(rng):
    """Infinite series with known sums: reciprocal powers, partial fractions, r^n/n!, alternating."""
    n, c, k = rng.choice("nk"), rng.randint(2, 20), rng.randint(2, 5)
    text = "\\sum_{%s=%d}^{\\infty} %s"
    head = sum((Fraction(c, j * j) for j in range(1, k)), Fraction(0))
    square = "\\frac{%d}{%s^2}" % (c, n)
    yield "\\frac{%d\\pi^2}{6} - %s" % (c, number(head)), text % (n, k, square), True
    yield "\\frac{%d\\pi^2}{6}" % c, text % (n, k, square), False
    yield "\\frac{%d\\pi^2}{6}" % c, text % (n, 1, square), True
    yield "\\frac{%d\\pi^2}{6}" % c, text % (n, 1, "\\frac{%d}{%s^3}" % (c, n)), False
    parts = sum((Fraction(1, j) for j in range(1, k + 1)), Fraction(0)) / k
    yield number(parts), text % (n, 1, "\\frac{1}{%s(%s+%d)}" % (n, n, k)), True
    yield number(parts), text % (n, 2, "\\frac{1}{%s(%s+%d)}" % (n, n, k)), False
    yield number(parts), text % (n, 1, "\\frac{1}{%s(%s+%d)}" % (n, n, k + 1)), False
    yield "e^{%d}" % c, text % (n, 0, "\\frac{%d^%s}{%s!}" % (c, n, n)), True
    yield "e^{%d} - 1" % c, text % (n, 1, "\\frac{%d^%s}{%s!}" % (c, n, n)), True
    yield "e^{%d}" % c, text % (n, 1, "\\frac{%d^%s}{%s!}" % (c, n, n)), False
    yield "%d\\ln 2" % c, text % (n, 1, "\\frac{%d(-1)^{%s+1}}{%s}" % (c, n, n)), True
    yield "%d\\ln 2" % c, text % (n, 1, "\\frac{%d(-1)^{%s}}{%s}" % (c, n, n)), False


CLASSES = [
    ("named_derivative", named_derivatives, None),
    ("derivative", derivatives, None),
    ("antiderivative", antiderivatives, "value"),
    ("definite_integral", definite_integrals, None),
    ("integral_of_name", integrals_of_names, None),
    ("sum", sums, None),
    ("sum_to_letter", symbolic_sums, None),
    ("product", products, None),
    ("limit", limits, None),
    ("limit_at_infinity", limits_at_infinity, None),
    ("geometric_series", geometric_series, None),
    ("known_series", known_series, None),
]
