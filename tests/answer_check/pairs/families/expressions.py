"""Polynomials, quotients, exponents, logarithms and trigonometry in letters."""

from fractions import Fraction

from writing import bracket, letters, linear, nonzero, number, poly, power, term, times, total


def spoiled(rng, coefs):
    """Changes one coefficient of a polynomial."""
    out = list(coefs)
    at = rng.randrange(len(out))
    out[at] += rng.choice([1, -1, 2, -2 * out[at] or 3])
    return out


def polynomial_order(rng):
    """Polynomials in one letter, terms in another order."""
    x, y = letters(rng, 2)
    coefs = [nonzero(rng, 15) for _ in range(rng.randint(2, 5))]
    gold = poly(coefs, x)
    yield gold, poly(coefs, x, rng), True
    yield gold, "-(%s)" % poly([-c for c in coefs], x, rng), True
    yield gold, poly(spoiled(rng, coefs), x, rng), False
    yield gold, poly(coefs, y), False
    yield gold, poly([-c for c in coefs], x), False
    if coefs != coefs[::-1]:
        yield gold, poly(coefs[::-1], x), False
    yield gold, poly([0] + coefs, x), False


def polynomial_factors(rng):
    """Products of linear factors, expanded or in another order."""
    x = letters(rng, 1)[0]
    roots = [(rng.randint(1, 5), nonzero(rng, 12)) for _ in range(rng.choice([2, 2, 3]))]
    lead = rng.choice([1, 1, nonzero(rng, 7)])
    coefs = [lead]
    for a, b in roots:
        coefs = times(coefs, [b, a])
    factors = ["(%s)" % linear(a, b, x) for a, b in roots]
    front = {1: "", -1: "-"}.get(lead, str(lead))
    gold = front + "".join(factors)
    yield poly(coefs, x), gold, True
    yield gold, poly(coefs, x, rng), True
    yield gold, front + "".join(factors[::-1]), True
    yield gold, front + "(%s)" % linear(-roots[0][0], -roots[0][1], x) + "".join(
        ["(%s)" % linear(-roots[1][0], -roots[1][1], x)] + factors[2:]
    ), True
    wrong = ["(%s)" % linear(a, -b if k == 0 else b, x) for k, (a, b) in enumerate(roots)]
    yield gold, front + "".join(wrong), False
    yield poly(coefs, x), poly(spoiled(rng, coefs), x), False
    yield gold, front + "+".join(factors), False
    yield gold, front + "".join(factors[1:]), False


def binomial_squares(rng):
    """Squares and cubes of sums, which are no sums of squares."""
    x, y = letters(rng, 2)
    a, b = rng.randint(1, 9), nonzero(rng, 9)
    base = total([(a, x), (b, y)])
    yield "(%s)^2" % base, total([(a * a, x + "^2"), (2 * a * b, x + y), (b * b, y + "^2")]), True
    yield "(%s)^2" % base, "(%s)^2" % total([(-b, y), (-a, x)]), True
    yield "(%s)^2" % base, total([(a * a, x + "^2"), (b * b, y + "^2")]), False
    yield "(%s)^2" % base, total([(a * a, x + "^2"), (-2 * a * b, x + y), (b * b, y + "^2")]), False
    yield "(%s)^3" % base, "(%s)^3" % total([(b, y), (a, x)]), True
    yield "(%s)^3" % base, "(%s)^3" % total([(-b, y), (-a, x)]), False
    yield "(%s)^3" % base, total([(a**3, x + "^3"), (b**3, y + "^3")]), False
    yield (
        total([(a * a, x + "^2"), (-b * b, y + "^2")]),
        "(%s)(%s)" % (base, total([(a, x), (-b, y)])),
        True,
    )
    yield total([(a * a, x + "^2"), (-b * b, y + "^2")]), "(%s)^2" % total([(a, x), (-b, y)]), False


def several_letters(rng):
    """Polynomials in three letters."""
    x, y, z = letters(rng, 3)
    a, b, c = (nonzero(rng, 12) for _ in range(3))
    m, n = rng.sample(range(1, 5), 2)
    rows = [(a, power(x, m) + power(y, n)), (b, z), (c, y + z)]
    gold = total(rows)
    yield gold, total([rows[2], rows[0], rows[1]]), True
    yield gold, total([(a, power(y, n) + power(x, m)), (c, z + y), (b, z)]), True
    yield gold, term(a, power(x, m) + power(y, n)) + "+%s(%s)" % (z, linear(c, b, y)), True
    yield gold, total([(a, power(x, n) + power(y, m)), (b, z), (c, y + z)]), False
    yield gold, total([rows[0], (b, x), rows[2]]), False
    yield gold, total([rows[0], rows[1], (-c, y + z)]), False
    yield gold, total([rows[0], (b, z), (c, y)]), False
    yield gold, term(a, power(x, m) + power(y, n)) + "+%s(%s)" % (z, linear(b, c, y)), b == c


def fractions_of_letters(rng):
    """Sums and quotients of rational functions."""
    x = letters(rng, 1)[0]
    a, b = rng.sample(range(-12, 13), 2)
    if a == 0 or b == 0:
        return
    p, q = linear(1, a, x), linear(1, b, x)
    gold = "\\frac{1}{%s}+\\frac{1}{%s}" % (p, q)
    yield gold, "\\frac{%s}{(%s)(%s)}" % (linear(2, a + b, x), p, q), True
    yield gold, "\\frac{%s}{%s}" % (linear(2, a + b, x), poly([a * b, a + b, 1], x)), True
    yield gold, "\\frac{2}{%s}" % linear(2, a + b, x), False
    yield gold, "\\frac{1}{%s}-\\frac{1}{%s}" % (p, q), False
    yield "\\frac{%s}{%s}" % (p, q), "(%s)/(%s)" % (p, q), True
    yield "\\frac{%s}{%s}" % (p, q), "1+\\frac{%d}{%s}" % (a - b, q), True
    yield "\\frac{%s}{%s}" % (p, q), "%s/%s" % (p, q), False
    yield "\\frac{%s}{%s}" % (p, q), "\\frac{%s}{%s}" % (q, p), False
    yield "\\frac{%s}{%s}" % (p, q), "\\frac{%s}{%s}" % (linear(-1, -a, x), linear(-1, -b, x)), True
    yield "\\frac{%s}{%s}" % (p, q), "\\frac{%s}{%s}" % (linear(-1, -a, x), q), False
    yield "\\frac{%s}{%s}" % (poly([-a * a, 0, 1], x), p), linear(1, -a, x), True
    yield "\\frac{%s}{%s}" % (poly([-a * a, 0, 1], x), p), linear(1, a, x), False


def letter_quotients(rng):
    """Quotients of letters with numbers."""
    x, y, z = letters(rng, 3)
    a, b = rng.sample(range(2, 30), 2)
    value = Fraction(a, b)
    gold = "\\frac{%d%s}{%d%s}" % (a, x, b, y)
    yield gold, "%s \\cdot \\frac{%s}{%s}" % (number(value), x, y), True
    yield gold, "\\frac{%d%s}{%d%s}" % (a * 3, x, b * 3, y), True
    yield "\\frac{%s}{%s/%s}" % (x, y, z), "\\frac{%s%s}{%s}" % (x, z, y), True
    yield "\\frac{%s+%s}{%s}" % (x, y, z), "\\frac{%s}{%s}+\\frac{%s}{%s}" % (x, z, y, z), True
    yield gold, "\\frac{%d%s}{%d%s}" % (b, x, a, y), False
    yield gold, "\\frac{%d%s}{%d%s}" % (a, y, b, x), False
    yield "\\frac{%s}{%s+%s}" % (x, y, z), "\\frac{%s}{%s}+\\frac{%s}{%s}" % (x, y, x, z), False
    yield "\\frac{%s}{%s+%s}" % (x, y, z), "\\frac{%s}{%s}+%s" % (x, y, z), False
    yield "\\frac{%s}{%s/%s}" % (x, y, z), "\\frac{%s}{%s%s}" % (x, y, z), False
    yield "\\frac{%s+%d}{%s+%d}" % (x, a, y, a), "\\frac{%s}{%s}" % (x, y), False


def exponents(rng):
    """Laws of exponents with positive bases or integer exponents."""
    x = letters(rng, 1, "xyztuab")[0]
    m, n, b = rng.randint(2, 9), rng.randint(2, 9), rng.choice([2, 3, 5, 7, 10])
    yield "%s^{%d}" % (x, m + n), "%s^{%d} \\cdot %s^{%d}" % (x, m, x, n), True
    yield "%s^{%d}" % (x, m * n), "(%s^{%d})^{%d}" % (x, m, n), True
    yield "%s^{-%d}" % (x, m), "\\frac{1}{%s^{%d}}" % (x, m), True
    yield "%d^{%s+%d}" % (b, x, m), "%d \\cdot %d^{%s}" % (b**m, b, x), True
    yield "%d^{%d%s}" % (b, m, x), "(%d^{%d})^{%s}" % (b, m, x), True
    yield "%d^{%d%s}" % (b, 2, x), "%d^{%s}" % (b * b, x), True
    yield "%s^{%d}" % (x, m + n), "%s^{%d}+%s^{%d}" % (x, m, x, n), False
    yield "%s^{%d}" % (x, m + n), "%s^{%d}" % (x, m * n), m + n == m * n
    yield "%d^{%s+%d}" % (b, x, m), "%d^{%s}+%d" % (b, x, b**m), False
    yield "%d^{%d%s}" % (b, m, x), "%d^{%s^{%d}}" % (b, x, m), False
    yield "%s^{-%d}" % (x, m), "-%s^{%d}" % (x, m), False
    yield "%d^{%s}" % (b, x), "%s^{%d}" % (x, b), False
    yield "%d%s^{%d}" % (b, x, m), "(%d%s)^{%d}" % (b, x, m), False


def e_of_letters(rng):
    """Exponential functions."""
    x, y = letters(rng, 2, "xyztuvw")
    a, b = rng.randint(2, 40), nonzero(rng, 30)
    if abs(b) == 1:
        return
    yield "e^{%d%s}" % (a, x), "(e^{%s})^{%d}" % (x, a), True
    yield "e^{%s+%s}" % (x, y), "e^{%s}e^{%s}" % (x, y), True
    yield "%de^{%d%s}" % (a, b, x), "\\frac{%d}{e^{%d%s}}" % (a, -b, x), True
    yield "e^{%d%s}" % (a, x), "\\exp(%d%s)" % (a, x), True
    yield "e^{%s+%s}" % (x, y), "e^{%s}+e^{%s}" % (x, y), False
    yield "e^{%d%s}" % (a, x), "%de^{%s}" % (a, x), False
    yield "%de^{%d%s}" % (a, b, x), "%de^{%d%s}" % (a, -b, x), False
    yield "e^{%d%s}" % (a, x), "e^{%s^{%d}}" % (x, a), False
    yield "e^{%d%s}+%d" % (a, x, abs(b)), "e^{%d%s+%d}" % (a, x, abs(b)), False


def logarithms(rng):
    """Laws of logarithms, where both sides are defined."""
    x, y = letters(rng, 2, "xytrsabc")
    a, b = rng.randint(2, 30), rng.randint(2, 12)
    yield "\\ln %s+\\ln %s" % (x, y), "\\ln(%s%s)" % (x, y), True
    yield "\\ln %s-\\ln %s" % (x, y), "\\ln\\frac{%s}{%s}" % (x, y), True
    yield "%d\\ln %s" % (a, x), "\\ln %s^{%d}" % (x, a), True
    yield "%d\\ln|%s|" % (2 * b, x), "\\ln(%s^{%d})" % (x, 2 * b), True
    yield "\\log_{%d} %s" % (b, x), "\\frac{\\ln %s}{\\ln %d}" % (x, b), True
    yield "\\ln(%d%s)" % (a, x), "\\ln %d+\\ln %s" % (a, x), True
    yield "\\ln(%s+%s)" % (x, y), "\\ln %s+\\ln %s" % (x, y), False
    yield "\\ln(%s%s)" % (x, y), "\\ln %s \\cdot \\ln %s" % (x, y), False
    yield "\\ln(%d%s)" % (a, x), "%d\\ln %s" % (a, x), False
    yield "\\log_{%d} %s" % (b, x), "\\log_{%d} %s" % (b + 1, x), False
    yield "%d\\ln %s" % (a, x), "(\\ln %s)^{%d}" % (x, a), False
    yield "\\ln(%s+%d)" % (x, a), "\\ln %s+%d" % (x, a), False
    yield "\\log_{%s} %s" % (x, y), "\\log_{%s} %s" % (y, x), False


def trigonometry(rng):
    """Identities of sine, cosine and tangent."""
    x, y = letters(rng, 2, ["x", "y", "t", "u", "\\theta", "\\alpha", "\\beta", "\\phi"])
    k, m = rng.randint(2, 12), rng.randint(2, 30)
    yield "\\sin(2%s)" % x, "2\\sin %s\\cos %s" % (x, x), True
    yield "%d\\cos^2 %s" % (m, x), "%d-%d\\sin^2 %s" % (m, m, x), True
    yield "\\cos(%d%s)" % (k, x), "\\cos(-%d%s)" % (k, x), True
    yield "\\sin(%s+%s)" % (x, y), "\\sin %s\\cos %s+\\cos %s\\sin %s" % (x, y, x, y), True
    yield "%d\\tan %s" % (m, x), "\\frac{%d\\sin %s}{\\cos %s}" % (m, x, x), True
    yield "%d\\sin^2 %s" % (m, x), "%d(\\sin %s)^2" % (m, x), True
    yield "%d\\sec %s" % (m, x), "\\frac{%d}{\\cos %s}" % (m, x), True
    yield "\\sin(%d%s)" % (k, x), "%d\\sin %s" % (k, x), False
    yield "\\sin(%d%s)" % (k, x), "\\sin(-%d%s)" % (k, x), False
    yield "%d\\cos^2 %s" % (m, x), "%d+%d\\sin^2 %s" % (m, m, x), False
    yield "%d\\sin^2 %s" % (m, x), "%d\\sin(%s^2)" % (m, x), False
    yield "\\sin(%s+%s)" % (x, y), "\\sin %s+\\sin %s" % (x, y), False
    yield "\\cos(%s+%s)" % (x, y), "\\cos %s\\cos %s+\\sin %s\\sin %s" % (x, y, x, y), False
    yield "%d\\sin %s" % (m, x), "%d\\cos %s" % (m, x), False
    yield "%d\\tan %s" % (m, x), "%d\\tan %s" % (m, y), False


def letter_case(rng):
    """Letters that differ in case or alphabet."""
    a, b = letters(rng, 2, "abcmnpqrst")
    k = rng.randint(2, 90)
    gold = "%d%s+%s" % (k, a.upper(), b)
    yield gold, "%s+%d%s" % (b, k, a.upper()), True
    yield gold, "%d%s+%s" % (k, a, b), False
    yield gold, "%d%s+%s" % (k, a.upper(), b.upper()), False
    yield "%d\\alpha+%s" % (k, b), "%s+\\alpha \\cdot %d" % (b, k), True
    yield "%d\\alpha+%s" % (k, b), "%d\\beta+%s" % (k, b), False
    yield "%d\\pi %s" % (k, b), "%s \\cdot %d\\pi" % (b, k), True
    yield "%d\\pi %s" % (k, b), "%s%s" % (bracket(str(k)), b), False
    yield "%d%s'+%s" % (k, a, b), "%d%s+%s" % (k, a, b), False


CLASSES = [
    ("polynomial_order", polynomial_order, "value"),
    ("polynomial_factored", polynomial_factors, "value"),
    ("binomial_square", binomial_squares, "value"),
    ("several_letters", several_letters, "value"),
    ("rational_function", fractions_of_letters, "value"),
    ("letter_quotient", letter_quotients, "value"),
    ("exponent_law", exponents, "value"),
    ("exponential", e_of_letters, "value"),
    ("log_law", logarithms, "value"),
    ("trig_identity", trigonometry, "value"),
    ("letter_case", letter_case, None),
]
