"""Factorials, binomials, permutations, divisors, probabilities and sequences."""

import math
from fractions import Fraction

from writing import letters, number, power, term, total


def factorials(rng):
    """Factorials of numbers and quotients of them."""
    n, k = rng.randint(3, 12), rng.randint(1, 3)
    m = rng.randint(2, 60)
    if n - k < 2:
        return
    value = math.factorial(n)
    yield str(value), "%d!" % n, True
    yield "%d!" % n, str(value), True
    yield "%d!" % n, "%d \\cdot %d!" % (n, n - 1), True
    yield "\\frac{%d!}{%d!}" % (n, n - k), str(math.perm(n, k)), True
    yield "%d \\cdot %d!" % (m, n), "%d! \\cdot %d" % (n, m), True
    yield "\\frac{%d!}{%d}" % (n, m), number(Fraction(value, m)), True
    yield "%d!" % n, "%d!" % (n - 1), False
    yield "%d!" % n, str(n), False
    yield "%d \\cdot %d!" % (m, n), "%d!" % (m * n), False
    yield "%d \\cdot %d!" % (m, n), "%d \\cdot %d!" % (m + 1, n), False
    if k > 1 or n - k > 1:
        yield "\\frac{%d!}{%d!}" % (n, n - k), "%d!" % k, math.perm(n, k) == math.factorial(k)


def factorial_letters(rng):
    """Factorials of letters; the letters stand for positive integers."""
    n = rng.choice("nmkp")
    k, c = rng.randint(1, 20), rng.randint(2, 9)
    yield "\\frac{(%s+1)!}{%s!}" % (n, n), "%s+1" % n, True
    yield "%d(%s+%d)!" % (c, n, k), "%d(%d+%s)!" % (c, k, n), True
    yield "(%s+%d)!" % (n, k), (
        "(%s+%d)(%s+%d)!" % (n, k, n, k - 1) if k > 1 else "(%s+1) \\cdot %s!" % (n, n)
    ), True
    yield "%d \\cdot %s!" % (c, n), "%s! \\cdot %d" % (n, c), True
    yield "(%s+%d)!" % (n, k), "%s!+%d" % (n, k), False
    yield "(%s+%d)!" % (n, k), "%s!+%d!" % (n, k), False
    yield "%d \\cdot %s!" % (c, n), "(%d%s)!" % (c, n), False
    yield "%d \\cdot %s!" % (c, n), "%d%s" % (c, n), False
    yield "(%s!)^2" % n, "(%s^2)!" % n, False
    yield "(%s+%d)!" % (n, k), "(%s-%d)!" % (n, k), False


def binomials(rng):
    """Binomial coefficients in their writings."""
    n = rng.randint(4, 24)
    k = rng.randint(1, n - 1)
    value, text = math.comb(n, k), "\\binom{%d}{%d}" % (n, k)
    yield str(value), text, True
    yield text, str(value), True
    yield text, "\\binom{%d}{%d}" % (n, n - k), True
    yield text, "{}_{%d}C_{%d}" % (n, k), True
    yield text, "{%d \\choose %d}" % (n, k), True
    yield text, "\\dbinom{%d}{%d}" % (n, k), True
    yield text, "C(%d, %d)" % (n, k), True
    yield text, "\\frac{%d!}{%d! \\cdot %d!}" % (n, k, n - k), True
    for wrong in ((n, k + 1), (n + 1, k), (n - 1, k)):
        yield text, "\\binom{%d}{%d}" % wrong, math.comb(*wrong) == value
    yield text, number(Fraction(n, k)), value == Fraction(n, k)
    if k > 1:
        yield text, "{}_{%d}P_{%d}" % (n, k), False
        yield str(value), str(math.perm(n, k)), False


def binomial_letters(rng):
    """Binomial coefficients of letters."""
    n, k = rng.choice(["nk", "nr", "mk", "mn", "pq"])
    c = rng.randint(1, 30)
    yield "\\binom{%s}{%s}" % (n, k), "{%s \\choose %s}" % (n, k), True
    yield "\\binom{%s+%d}{%s}" % (n, c, k), "\\binom{%d+%s}{%s}" % (c, n, k), True
    yield "\\binom{%s+%d}{2}" % (n, c), "\\frac{(%s+%d)(%s+%d)}{2}" % (n, c, n, c - 1), True
    yield "\\binom{%s+%d}{%s}" % (n, c, k), "\\binom{%s+%d}{%s}" % (n, c + 1, k), False
    yield "\\binom{%s}{%s}" % (n, k), "\\binom{%s}{%s}" % (k, n), False
    yield "\\binom{%s+%d}{2}" % (n, c), "\\frac{(%s+%d)(%s+%d)}{2}" % (n, c, n, c + 1), False
    yield "\\binom{%s+%d}{%s}" % (n, c, k), "\\frac{%s+%d}{%s}" % (n, c, k), False
    yield "\\binom{%s}{%d}" % (n, c + 2), "\\binom{%s}{%d}" % (n, c + 3), False


def permutations(rng):
    """Numbers of ordered selections."""
    n = rng.randint(4, 15)
    k = rng.randint(2, min(n - 1, 5))
    text, value = "{}_{%d}P_{%d}" % (n, k), math.perm(n, k)
    yield str(value), text, True
    yield text, str(value), True
    yield text, "\\frac{%d!}{%d!}" % (n, n - k), True
    yield text, " \\cdot ".join(str(n - j) for j in range(k)), True
    yield str(math.comb(n, k)), text, False
    yield text, "{}_{%d}C_{%d}" % (n, k), False
    yield text, "{}_{%d}P_{%d}" % (n + 1, k), False
    yield text, str(n**k), False
    yield text, " \\cdot ".join(str(n - j) for j in range(k + 1)), n - k == 1


def divisors(rng):
    """Greatest common divisors and least common multiples."""
    a, b = rng.randint(4, 400), rng.randint(4, 400)
    g, m = math.gcd(a, b), math.lcm(a, b)
    if g in (a, b):
        return
    yield str(g), "\\gcd(%d, %d)" % (a, b), True
    yield "\\gcd(%d, %d)" % (a, b), "\\gcd(%d, %d)" % (b, a), True
    yield str(m), "\\operatorname{lcm}(%d, %d)" % (a, b), True
    yield str(m), "\\gcd(%d, %d)" % (a, b), False
    yield str(g), "\\gcd(%d, %d)" % (a, b + 1), math.gcd(a, b + 1) == g
    yield str(a * b), "\\operatorname{lcm}(%d, %d)" % (a, b), g == 1


def probabilities(rng):
    """Probabilities as fractions, decimals, percent and quotients of counts."""
    n = rng.randint(5, 30)
    k = rng.randint(2, n - 2)
    all_, some = math.comb(n, 2), math.comb(k, 2)
    value = Fraction(some, all_)
    yield number(value), "\\frac{%d}{%d}" % (some, all_), True
    yield number(value), "\\frac{\\binom{%d}{2}}{\\binom{%d}{2}}" % (k, n), True
    yield number(value), "\\frac{%d}{%d} \\cdot \\frac{%d}{%d}" % (k, n, k - 1, n - 1), True
    yield number(value), "1-%s" % number(1 - value), True
    yield number(value), number(1 - value), value == Fraction(1, 2)
    yield number(value), "\\frac{%d}{%d} \\cdot \\frac{%d}{%d}" % (k, n, k, n), False
    yield number(value), "\\frac{\\binom{%d}{2}}{\\binom{%d}{2}}" % (n, k), False
    hundred = Fraction(rng.randint(1, 99), 100)
    yield number(hundred), "%d\\%%" % (hundred * 100), True
    yield number(hundred), "%d\\%%" % (100 - hundred * 100), hundred * 2 == 1


def sequences(rng):
    """Formulas of the n-th term and closed forms."""
    n = rng.choice("nkm")
    a, d, r, c = rng.randint(1, 40), rng.randint(2, 20), rng.randint(2, 9), rng.randint(2, 30)
    gold = total([(d, n), (a - d, "")])
    yield gold, "%d+%d(%s-1)" % (a, d, n), True
    yield gold, total([(d, n), (a, "")]), False
    yield gold, "%d-%d(%s-1)" % (a, d, n), False
    yield "%d \\cdot %d^{%s-1}" % (c * r, r, n), "%d \\cdot %d^{%s}" % (c, r, n), True
    yield "%d \\cdot %d^{%s-1}" % (c * r, r, n), "%d \\cdot %d^{%s+1}" % (c, r, n), False
    yield "%d \\cdot %d^{%s}" % (c, r, n), "%d^{%s}" % (c * r, n), False
    yield "\\frac{%s(%s+1)}{2}" % (n, n), "\\frac{%s^2+%s}{2}" % (n, n), True
    yield "%d+\\frac{%s(%s-1)}{2}" % (c, n, n), "\\frac{%s^2-%s+%d}{2}" % (n, n, 2 * c), True
    yield "%d+\\frac{%s(%s+1)}{2}" % (c, n, n), "%d+\\frac{%s(%s-1)}{2}" % (c, n, n), False
    yield "%d^{%s+1}-%d" % (r, n, c), "%d \\cdot %d^{%s}-%d" % (r, r, n, c), True
    yield "%d^{%s+1}-%d" % (r, n, c), "%d^{%s}-%d" % (r, n, c), False


def big_products(rng):
    """Products of powers of letters, as in counting formulas."""
    x, y, z = letters(rng, 3)
    p, q, s, c = (rng.randint(1, 6) for _ in range(4))
    gold = term(c, power(x, p) + power(y, q))
    if p == q:
        return
    yield gold, term(c, power(y, q) + power(x, p)), True
    yield gold, "%d \\cdot %s \\cdot %s" % (c, power(y, q), power(x, p)), True
    yield gold, term(c, power(x, q) + power(y, p)), False
    yield gold, term(c, power(x, p) + power(z, q)), False
    yield gold, term(c, power(x, p + s) + power(y, q)), False
    yield gold, term(c, power(x, p)) + "+" + power(y, q), False
    yield gold, term(c + 1, power(x, p) + power(y, q)), False


CLASSES = [
    ("factorial", factorials, "value"),
    ("factorial_of_letter", factorial_letters, "count"),
    ("binomial", binomials, None),
    ("binomial_of_letter", binomial_letters, "count"),
    ("permutation", permutations, None),
    ("gcd_lcm", divisors, None),
    ("probability", probabilities, None),
    ("sequence", sequences, "value"),
    ("monomial", big_products, "value"),
]
