"""Classes of sums, integrals and limits."""

from fractions import Fraction

from common import letters, nonzero, pairs, poly, tex


@pairs("finite sum")
def finite(r):
    n, k = r.randint(4, 30), r.choice("kij")
    total = n * (n + 1) // 2
    yield "\\sum_{%s=1}^{%d} %s" % (k, n, k), str(total), True
    yield str(total), "\\sum_{%s=1}^{%d} %s" % (k, n, k), True
    yield "\\sum_{%s=1}^{%d} %s" % (k, n, k), "\\sum_{%s=1}^{%d} %s" % (k, n + 1, k), False
    yield "\\sum_{%s=1}^{%d} %s^2" % (k, n, k), str(total * total), False
    yield "\\sum_{k=1}^{n} k", "\\frac{n(n+1)}{2}", True
    yield "\\sum_{k=1}^{n} k", "\\frac{n(n-1)}{2}", False
    yield "\\sum_{k=1}^{%d} f(k)" % n, "%df(k)" % n, False


@pairs("finite product")
def product(r):
    n = r.randint(3, 8)
    value = 1
    for i in range(1, n + 1):
        value *= i
    yield "\\prod_{k=1}^{%d} k" % n, str(value), True
    yield "\\prod_{k=1}^{%d} k" % n, "%d!" % n, True
    yield "\\prod_{k=1}^{%d} k" % n, "\\sum_{k=1}^{%d} k" % n, value == n * (n + 1) // 2


@pairs("geometric series")
def geometric(r):
    q = Fraction(r.randint(1, 4), r.randint(5, 9))
    first = r.choice([0, 1])
    gold = "\\sum_{n=%d}^{\\infty} \\left(%s\\right)^n" % (first, tex(q))
    value = q**first / (1 - q)
    yield gold, tex(value), True
    yield tex(value), gold, True
    yield gold, tex(value + 1), False
    yield gold, tex(1 / value), value == 1


@pairs("definite integral")
def definite(r):
    coefficients = [r.randint(-5, 5) for _ in range(r.randint(2, 4))]
    if not any(coefficients):
        return
    a, b = sorted(r.sample(range(-3, 5), 2))
    n = len(coefficients)
    value = sum(Fraction(c, n - i) * (b ** (n - i) - a ** (n - i)) for i, c in enumerate(coefficients))
    x = r.choice("xtu")
    gold = "\\int_{%d}^{%d} \\left(%s\\right)\\,d%s" % (a, b, poly(coefficients, x), x)
    yield gold, tex(value), True
    yield tex(value), gold, True
    if value:
        yield gold, tex(-value), False
    yield gold, tex(value + 1), False


@pairs("integral of an elementary function")
def elementary(r):
    a = r.randint(2, 9)
    yield "\\int_0^{\\pi} \\sin x\\,dx", "2", True
    yield "\\int_1^{%d} \\frac{1}{x}\\,dx" % a, "\\ln %d" % a, True
    yield "\\int_1^{%d} \\frac{1}{x}\\,dx" % a, "\\ln %d" % (a + 1), False
    yield "\\int_0^{%d} e^{x}\\,dx" % a, "e^{%d} - 1" % a, True
    yield "\\int_0^{%d} e^{x}\\,dx" % a, "e^{%d}" % a, False
    yield "\\int_{-%d}^{%d} \\frac{1}{x^2}\\,dx" % (a, a), "-\\frac{2}{%d}" % a, False


@pairs("integral left as it is")
def left(r):
    x, y = letters(r, 2, "stuvxy")
    yield "\\int %s\\,d%s" % (x, y), "\\int %s\\,d%s" % (y, x), False
    yield "\\int_0^1 f(%s)\\,d%s" % (x, x), "\\int_{0}^{1} f(%s) \\, d%s" % (x, x), True
    yield "\\int_0^1 f(%s)\\,d%s" % (x, x), "\\int_0^2 f(%s)\\,d%s" % (x, x), False
    yield "\\int_0^1 f(%s)\\,d%s" % (x, x), "f(%s)" % x, False


@pairs("limit")
def limit(r):
    a, b = nonzero(r, 2, 9), nonzero(r, 2, 9)
    yield "\\lim_{x \\to \\infty} \\frac{%dx^2 + 1}{%dx^2 - x}" % (a, b), tex(Fraction(a, b)), True
    if a != b:
        yield "\\lim_{x \\to \\infty} \\frac{%dx^2 + 1}{%dx^2 - x}" % (a, b), tex(Fraction(b, a)), False
    yield "\\lim_{x \\to %d} \\frac{x^2 - %d}{x - %d}" % (a, a * a, a), str(2 * a), True
    yield "\\lim_{x \\to %d} \\frac{x^2 - %d}{x - %d}" % (a, a * a, a), str(a), False
    yield "\\lim_{x \\to 0} \\frac{\\sin %dx}{x}" % a, str(a), True


@pairs("antiderivative")
def antiderivative(r):
    a, b = r.randint(2, 9), nonzero(r, 1, 9)
    gold = "%dx^3 + %dx + C" % (a, b)
    yield gold, "%dx + %dx^3 + C" % (b, a), True
    yield gold, "%dx^3 + %dx + K" % (a, b), True
    yield gold, "%dx^3 + %dx + C" % (a, b + 1), False
    yield gold, "%dx^2 + %dx + C" % (a, b), False
