"""Roots, powers, logarithms of numbers, multiples of pi and e, complex numbers, numeric functions."""

import math
from fractions import Fraction

from writing import bracket, fraction, letters, nonzero, number, ratio, shuffled, term, total

FREE = (2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 17, 19, 21, 22, 23)
ANGLES = {  # Multiples of pi: (sine, cosine, tangent) as text.
    (1, 6): ("\\frac{1}{2}", "\\frac{\\sqrt{3}}{2}", "\\frac{\\sqrt{3}}{3}"),
    (1, 4): ("\\frac{\\sqrt{2}}{2}", "\\frac{\\sqrt{2}}{2}", "1"),
    (1, 3): ("\\frac{\\sqrt{3}}{2}", "\\frac{1}{2}", "\\sqrt{3}"),
    (2, 3): ("\\frac{\\sqrt{3}}{2}", "-\\frac{1}{2}", "-\\sqrt{3}"),
    (3, 4): ("\\frac{\\sqrt{2}}{2}", "-\\frac{\\sqrt{2}}{2}", "-1"),
    (5, 6): ("\\frac{1}{2}", "-\\frac{\\sqrt{3}}{2}", "-\\frac{\\sqrt{3}}{3}"),
}


def square_roots(rng):
    """Simplified and plain square roots."""
    a, r = rng.randint(2, 25), rng.choice(FREE)
    text = "%d\\sqrt{%d}" % (a, r)
    yield text, "\\sqrt{%d}" % (a * a * r), True
    yield "\\sqrt{%d}" % (a * a * r), text, True
    yield text, "%d \\cdot %d^{1/2}" % (a, r), True
    yield "\\frac{%d}{\\sqrt{%d}}" % (a, r), "\\frac{%d\\sqrt{%d}}{%d}" % (a, r, r), True
    yield "\\sqrt{\\frac{%d}{%d}}" % (a * a, r), "\\frac{%d}{\\sqrt{%d}}" % (a, r), True
    yield text, "\\sqrt{%d}" % (a * r), False
    yield text, "-" + text, False
    yield text, "%d\\sqrt{%d}" % (a, r + 1), False
    yield text, "%d\\sqrt{%d}" % (a + 1, r), False
    yield text, "\\sqrt[3]{%d}" % (a * a * r), False
    if a != r:
        yield text, "%d\\sqrt{%d}" % (r, a), a * a * r == r * r * a
    yield "\\sqrt{%d}" % (a * a), str(a), True
    yield "\\sqrt{%d}" % (a * a), str(-a), False


def surd_sums(rng):
    """Sums of a rational number and a root, also over a denominator."""
    a, b, r, d = rng.randint(1, 30), rng.randint(2, 20), rng.choice(FREE), rng.randint(2, 12)
    root = "%d\\sqrt{%d}" % (b, r)
    gold = "\\frac{%d+%s}{%d}" % (a, root, d)
    yield gold, "\\frac{%s+%d}{%d}" % (root, a, d), True
    yield gold, total([(Fraction(a, d), ""), (Fraction(b, d), "\\sqrt{%d}" % r)]), True
    yield "%d-%s" % (a, root), "-%s+%d" % (root, a), True
    yield "%d-%s" % (a, root), "-(%s-%d)" % (root, a), True
    yield "(%d+\\sqrt{%d})^2" % (a, r), total([(a * a + r, ""), (2 * a, "\\sqrt{%d}" % r)]), True
    yield gold, "\\frac{%d-%s}{%d}" % (a, root, d), False
    yield gold, "\\frac{%d}{%d}+%s" % (a, d, root), False
    yield "%d-%s" % (a, root), "%s-%d" % (root, a), False
    yield "(%d+\\sqrt{%d})^2" % (a, r), str(a * a + r), False
    if a != b and r != 1:
        yield "%d+%s" % (a, root), "%d+%d\\sqrt{%d}" % (b, a, r), False


def nested_roots(rng):
    """Roots in roots that can be undone."""
    a, b = sorted(rng.sample(FREE, 2))
    if math.isqrt(a * b) ** 2 == a * b:
        return
    c = rng.randint(1, 6)
    outer = "\\sqrt{%d+%d\\sqrt{%d}}" % (c * c * (a + b), 2 * c * c, a * b)
    front = "" if c == 1 else str(c)
    yield outer, "%s\\sqrt{%d}+%s\\sqrt{%d}" % (front, a, front, b), True
    yield outer.replace("+", "-"), "%s\\sqrt{%d}-%s\\sqrt{%d}" % (front, b, front, a), True
    yield outer.replace("+", "-"), "%s\\sqrt{%d}-%s\\sqrt{%d}" % (front, a, front, b), False
    yield outer, "%s\\sqrt{%d}-%s\\sqrt{%d}" % (front, b, front, a), False
    yield outer, "\\sqrt{%d+%d\\sqrt{%d}}" % (c * c * (a + b), 2 * c * c, a * b + 1), False
    yield "\\frac{1}{\\sqrt{%d}-\\sqrt{%d}}" % (b, a), "\\frac{\\sqrt{%d}+\\sqrt{%d}}{%d}" % (
        a,
        b,
        b - a,
    ), True
    yield "\\frac{1}{\\sqrt{%d}-\\sqrt{%d}}" % (b, a), "\\sqrt{%d}+\\sqrt{%d}" % (a, b), b - a == 1


def higher_roots(rng):
    """Cube roots and higher ones of integers."""
    k, a, r = rng.choice([3, 3, 4, 5]), rng.randint(2, 6), rng.choice(FREE)
    text = "%d\\sqrt[%d]{%d}" % (a, k, r)
    yield text, "\\sqrt[%d]{%d}" % (k, a**k * r), True
    yield text, "%d \\cdot %d^{\\frac{1}{%d}}" % (a, r, k), True
    yield "\\sqrt[%d]{%d}" % (k, r**2), "%d^{2/%d}" % (r, k), True
    yield text, "%d\\sqrt{%d}" % (a, r), False
    yield text, "%d\\sqrt[%d]{%d}" % (a, k + 1, r), False
    yield text, "\\sqrt[%d]{%d}" % (k, a * r), False
    yield "\\sqrt[%d]{%d}" % (k, r**2), "%d^{%d/2}" % (r, k), False
    yield "\\sqrt[3]{-%d}" % (a**3), str(-a), True
    yield "\\sqrt[3]{-%d}" % (a**3), str(a), False


def powers(rng):
    """Powers of integers."""
    a, m, n = rng.randint(2, 12), rng.randint(2, 7), rng.randint(2, 5)
    text = "%d^{%d}" % (a, m)
    yield text, str(a**m), True
    yield str(a**m), text, True
    yield "%d^{%d}" % (a, -m), "\\frac{1}{%d}" % a**m, True
    yield "%d^{%d}" % (a**n, m), "%d^{%d}" % (a, m * n), True
    yield "%d^{%d}" % (a, m + n), "%d^{%d} \\cdot %d^{%d}" % (a, m, a, n), True
    yield "(-%d)^{%d}" % (a, m), str((-a) ** m), True
    yield "-%d^{%d}" % (a, m), str(-(a**m)), True
    yield "-%d^{2}" % a, "(-%d)^{2}" % a, False
    yield text, str(a * m), a**m == a * m
    yield text, "%d^{%d}" % (m, a), m**a == a**m
    yield text, "%d^{%d}" % (a, m + 1), False
    yield "%d^{%d}" % (a, -m), str(-(a**m)), False
    yield "%d^{%d}" % (a, m + n), "%d^{%d}+%d^{%d}" % (a, m, a, n), a ** (m + n) == a**m + a**n


def prime_factors(rng):
    """Products of powers of primes."""
    primes = rng.sample([2, 3, 5, 7, 11, 13], rng.choice([2, 3]))
    parts = [(p, rng.randint(1, 4)) for p in primes]
    value = math.prod(p**e for p, e in parts)

    def write(rows):
        return " \\cdot ".join(str(p) if e == 1 else "%d^{%d}" % (p, e) for p, e in rows)

    yield write(sorted(parts)), write(shuffled(rng, parts)), True
    yield str(value), write(parts), True
    yield write(parts), str(value), True
    wrong = [(p, e + (at == 0)) for at, (p, e) in enumerate(parts)]
    yield write(parts), write(wrong), False
    yield write(parts), str(value // primes[0]), False
    yield write(parts), write(parts).replace(" \\cdot ", "+", 1), False
    if parts[0][1] != parts[1][1]:
        swapped = [(parts[0][0], parts[1][1]), (parts[1][0], parts[0][1])] + parts[2:]
        yield write(parts), write(swapped), False


def pi_multiples(rng):
    """Multiples of pi."""
    v, n = fraction(rng, 30, 24), rng.randint(2, 90)
    gold = "\\frac{%s\\pi}{%d}" % ("" if v.numerator == 1 else v.numerator, v.denominator)
    yield gold, "%s\\pi" % number(v), True
    yield gold, "\\pi \\cdot %s" % ratio(rng, v), True
    yield gold, "\\frac{\\pi}{%s}" % number(1 / v), True
    yield "%d\\pi" % n, "\\pi \\cdot %d" % n, True
    yield "%d+%d\\pi" % (n, v.numerator), "%d\\pi+%d" % (v.numerator, n), True
    yield gold, "%s\\pi" % number(1 / v), False
    yield gold, number(v), False
    yield gold, "-%s\\pi" % number(v), False
    yield "%d\\pi" % n, "%d\\pi" % (n + 1), False
    yield "%d\\pi" % n, "%d\\pi^2" % n, False
    yield "%d\\pi" % n, "%d+\\pi" % n, False


def e_powers(rng):
    """Powers of e and natural logarithms."""
    n, a = rng.randint(2, 40), rng.randint(2, 40)
    if n == a:
        return
    yield "\\frac{1}{e^{%d}}" % n, "e^{-%d}" % n, True
    yield "%de^{%d}" % (a, n), "e^{%d} \\cdot %d" % (n, a), True
    yield "e^{%d}" % n, "\\exp(%d)" % n, True
    yield "\\ln %d" % a**2, "2\\ln %d" % a, True
    yield "\\ln %d" % (a * n), "\\ln %d+\\ln %d" % (a, n), True
    yield "\\ln \\frac{%d}{%d}" % (a, n), "\\ln %d-\\ln %d" % (a, n), True
    yield "e^{\\ln %d}" % a, str(a), True
    yield "e^{%d}" % n, "e^{-%d}" % n, False
    yield "%de^{%d}" % (a, n), "%de^{%d}" % (n, a), False
    yield "\\ln %d" % (a * n), "\\ln %d \\cdot \\ln %d" % (a, n), False
    yield "\\ln %d-\\ln %d" % (a, n), "\\ln %d-\\ln %d" % (n, a), False
    yield "e^{%d}-1" % n, "e^{%d}" % (n - 1), False


def log_values(rng):
    """Logarithms whose value is rational."""
    b, m, n = rng.randint(2, 9), rng.randint(2, 5), rng.randint(2, 4)
    yield "\\log_{%d} %d" % (b, b**m), str(m), True
    yield str(m), "\\log_{%d} %d" % (b, b**m), True
    yield "\\log_{%d}{\\frac{1}{%d}}" % (b, b**m), str(-m), True
    yield "\\log_{%d} %d" % (b**n, b**m), number(Fraction(m, n)), True
    yield "\\log_{%d} %d" % (b, b**m + 1), "\\frac{\\ln %d}{\\ln %d}" % (b**m + 1, b), True
    yield "\\log_{%d} %d" % (b, b**m), str(m + 1), False
    yield "\\log_{%d} %d" % (b**n, b**m), number(Fraction(n, m)), n == m
    yield "\\log_{%d} %d" % (b, b**m + 1), "\\log_{%d} %d" % (b**m + 1, b), False
    yield "\\log_{%d} %d" % (b, b**m + 1), "\\ln %d" % (b**m + 1), False


def complex_numbers(rng):
    """Complex numbers a+bi."""
    a, b, c, d = (nonzero(rng, 20) for _ in range(4))
    gold = total([(a, ""), (b, "i")])
    yield gold, total([(b, "i"), (a, "")]), True
    product = (a * c - b * d, a * d + b * c)
    if 0 not in product:
        yield total([(product[0], ""), (product[1], "i")]), "(%s)(%s)" % (
            gold,
            total([(c, ""), (d, "i")]),
        ), True
    size = c * c + d * d
    quotient = (Fraction(a * c + b * d, size), Fraction(b * c - a * d, size))
    if 0 not in quotient:
        yield (
            total([(quotient[0], ""), (quotient[1], "i")]),
            "\\frac{%s}{%s}" % (gold, total([(c, ""), (d, "i")])),
            True,
        )
    yield gold, total([(a, ""), (-b, "i")]), False
    yield gold, total([(-a, ""), (b, "i")]), False
    if a != b:
        yield gold, total([(b, ""), (a, "i")]), False
    yield gold, total([(a, ""), (b, "")]), False
    yield gold, total([(a, ""), (b + 1, "i")]) if b != -1 else total([(a, ""), (b - 1, "i")]), False
    yield total([(b, "i")]), str(b), False


def imaginary_powers(rng):
    """Powers of i, and products with roots of negative numbers."""
    n, r = rng.randint(2, 60), rng.choice(FREE)
    value = ("1", "i", "-1", "-i")[n % 4]
    yield value, "i^{%d}" % n, True
    yield ("1", "i", "-1", "-i")[(n + 1) % 4], "i^{%d}" % n, False
    yield "%di\\sqrt{%d}" % (n, r), "%d\\sqrt{%d}i" % (n, r), True
    yield "%d\\sqrt{%d}i" % (n, r), "i \\cdot \\sqrt{%d}" % (n * n * r), True
    yield "%di\\sqrt{%d}" % (n, r), "%d\\sqrt{%d}" % (n, r), False
    yield "%di\\sqrt{%d}" % (n, r), "-%di\\sqrt{%d}" % (n, r), False
    yield "%d+%di" % (n, r), "%s" % bracket("%d+%di" % (n, r)), True
    yield "|%d+%di|" % (3 * n, 4 * n), str(5 * n), True
    yield "|%d+%di|" % (3 * n, 4 * n), str(7 * n), False


def trig_values(rng):
    """Trigonometric functions at known angles."""
    (p, q), values = rng.choice(sorted(ANGLES.items()))
    k, turn = rng.randint(2, 30), rng.choice([0, 0, 1, -1])
    angle = "\\frac{%s\\pi}{%d}" % ("" if p + 2 * q * turn == 1 else p + 2 * q * turn, q)
    which = rng.randrange(3)
    name, value = ("\\sin", "\\cos", "\\tan")[which], values[which]
    flipped = value[1:] if value.startswith("-") else "-" + value
    yield value, "%s %s" % (name, angle), True
    yield flipped, "%s %s" % (name, angle), False
    yield "%d%s" % (k, name) + "(%s)" % angle, "%d \\cdot (%s)" % (k, value), True
    yield "%d%s" % (k, name) + "(%s)" % angle, "%d \\cdot (%s)" % (k, flipped), False
    yield value, "%s(%d^\\circ)" % (name, 180 * p // q + 360 * turn), True
    other = {"\\sin": "\\cos", "\\cos": "\\sin", "\\tan": "\\cot"}[name]
    if q != 4 or p != 1:
        yield "%d%s %s" % (k, name, angle), "%d%s %s" % (k, other, angle), q == 4 and name == "\\tan"


def roundings(rng):
    """Floors, ceilings, absolute values, largest and least of numbers."""
    n, part, m = rng.randint(-40, 40), rng.randint(1, 9), rng.randint(-40, 40)
    value = "%s%d.%d" % ("-" if n < 0 else "", abs(n), part)
    low = n - 1 if n < 0 else n
    yield str(low), "\\lfloor %s \\rfloor" % value, True
    yield str(low + 1), "\\lceil %s \\rceil" % value, True
    yield str(low + 1), "\\lfloor %s \\rfloor" % value, False
    yield str(low), "\\lceil %s \\rceil" % value, False
    if n != m:
        yield str(max(n, m)), "\\max(%d, %d)" % (n, m), True
        yield str(min(n, m)), "\\max(%d, %d)" % (n, m), False
        yield str(abs(n - m)), "|%d-%d|" % (n, abs(m)) if m > 0 else "|%d+%d|" % (n, -m), True
        yield str(-abs(n - m)), "|%d|" % (n - m), False


def indexed(rng):
    """Letters with indices."""
    a, b, x = letters(rng, 3, "abcpqrstuvwxyz")
    i, j = rng.sample(range(1, 10), 2)
    k = rng.randint(2, 30)
    gold = "%d%s_{%d}+%s_{%d}" % (k, a, i, b, j)
    yield gold, "%s_%d+%d%s_%d" % (b, j, k, a, i), True
    yield gold, "%d%s_{%d}+%s_{%d}" % (k, a, j, b, i), False
    yield gold, "%d%s_{%d}+%s_{%d}" % (k, b, i, a, j), False
    yield gold, "%d%s_{%d}-%s_{%d}" % (k, a, i, b, j), False
    yield "%s_{%d}" % (x, i), "%s_{%d}" % (x, j), False
    yield "%s_{%d}" % (x, i), "%s^{%d}" % (x, i), False
    yield "%s_{n+1}" % x, "%s_{n}+1" % x, False
    yield "%s_{n+1}" % x, "%s_{1+n}" % x, True
    yield term(k, "%s_{n}" % x), term(k, "%s_{n-1}" % x), False


CLASSES = [
    ("square_root", square_roots, "value"),
    ("surd_sum", surd_sums, "value"),
    ("nested_root", nested_roots, "value"),
    ("higher_root", higher_roots, "value"),
    ("power", powers, "value"),
    ("prime_factors", prime_factors, "value"),
    ("pi_multiple", pi_multiples, "value"),
    ("e_and_ln", e_powers, "value"),
    ("log_value", log_values, "value"),
    ("complex", complex_numbers, "value"),
    ("imaginary", imaginary_powers, "value"),
    ("trig_value", trig_values, "value"),
    ("rounding", roundings, "value"),
    ("indexed_letter", indexed, None),
]
