"""False pairs that are nearly true: huge integers, close reals, corners far from the origin, lost roots."""

import math
from fractions import Fraction

from writing import letters, linear, nonzero, number, poly, times, total


def huge_integers(rng):
    """Integers of many digits that differ by little."""
    a, n, k = rng.randint(2, 9), rng.randint(40, 160), rng.randint(1, 9)
    value = a**n
    text = "%d^{%d}" % (a, n)
    yield text, str(value), True
    yield "%s+%d" % (text, k), "%d+%s" % (k, text), True
    yield "%s+%d" % (text, k), str(value + k), True
    yield text, "%s+%d" % (text, k), False
    yield text, str(value + rng.choice([1, -1])), False
    yield str(value), str(value + 10 ** rng.randint(0, 12)), False
    yield "%s+%d" % (text, k), "%s-%d" % (text, k), False
    yield text, "%d^{%d}" % (a, n + 1), False
    yield "\\frac{%d}{%d}" % (value + 1, value), "1", False
    yield "\\frac{%s+1}{%s}" % (text, text), "1", False
    m = rng.randint(18, 40)
    yield "%d!" % m, str(math.factorial(m)), True
    yield "%d!" % m, str(math.factorial(m) + rng.choice([1, -1])), False


def close_reals(rng):
    """Reals that agree in many digits."""
    n, k = rng.randint(10**5, 10**9), rng.randint(6, 14)
    yield "2\\sqrt{%d}" % n, "\\sqrt{%d}+\\sqrt{%d}" % (n + 1, n - 1), False
    yield "\\sqrt{%d}" % (n * n + 1), str(n), False
    yield "\\sqrt{%d}" % (n * n), str(n), True
    yield "\\sqrt{%d}" % (4 * n), "2\\sqrt{%d}" % n, True
    yield "\\frac{%d}{%d}" % (n, n + 1), "\\frac{%d}{%d}" % (n + 1, n + 2), False
    m = rng.randint(2, 90)
    yield str(m), "%d+10^{-%d}" % (m, k), False
    yield "\\sqrt{%d}" % (m * m + 1), "\\sqrt{%d}+\\frac{1}{10^{%d}}" % (m * m + 1, k), False
    yield "%d\\pi" % m, "\\frac{%d}{113}" % (355 * m), False
    yield "%d\\pi" % m, "%d\\cdot\\frac{22}{7}" % m, False
    yield number(Fraction(3 * m + 2, 3)), "%d.%s" % (m, "3" * 12), False


def far_corners(rng):
    """Functions of a letter that agree up to a point far away."""
    x = rng.choice("xytrsab")
    a = rng.randint(20, 9000)
    yield "|%s-%d|" % (x, a), "%d-%s" % (a, x), False
    yield "|%s+%d|" % (x, a), "%s+%d" % (x, a), False
    yield "\\sqrt{(%s-%d)^2}" % (x, a), "%d-%s" % (a, x), False
    yield "\\sqrt{(%s-%d)^2}" % (x, a), "|%s-%d|" % (x, a), True
    yield "\\max(%s, %d)" % (x, a), str(a), False
    yield "\\min(%s, %d)" % (x, a), x, False
    yield "\\max(%s, -%d)" % (x, a), x, False
    yield "\\max(%s, %d)" % (x, a), "\\frac{%s+%d+|%s-%d|}{2}" % (x, a, x, a), True
    yield "|%s-%d|+|%s+%d|" % (x, a, x, a), str(2 * a), False
    yield "|%s-%d|+|%s+%d|" % (x, a, x, a), "|%s+%d|+|%s-%d|" % (x, a, x, a), True
    yield "|%s^2+%d|" % (x, a), "%s^2+%d" % (x, a), True
    yield "|%s^2-%d|" % (x, a), "%d-%s^2" % (a, x), False


def hidden_corners(rng):
    """Functions of a letter whose sign changes where few points lie."""
    x = rng.choice("xytrsab")
    a, n = rng.randint(1, 5), rng.randint(20, 900)
    yield "|\\ln %s+%d|" % (x, a), "\\ln %s+%d" % (x, a), False
    yield "|\\ln %s-%d|" % (x, a), "%d-\\ln %s" % (a, x), False
    yield "|e^{%s}-%d|" % (x, n), "%d-e^{%s}" % (n, x), False
    yield "|e^{%s}-%d|" % (x, n), "|%d-e^{%s}|" % (n, x), True
    yield "|e^{%s}+%d|" % (x, n), "e^{%s}+%d" % (x, n), True
    yield "|%d%s-1|" % (n, x), "|1-%d%s|" % (n, x), True
    yield "|%s-\\frac{1}{%d}|" % (x, n), "|%s|-\\frac{1}{%d}" % (x, n), False
    yield "\\sqrt{%s^2+\\frac{1}{%d}}" % (x, n * n), "|%s|" % x, False
    yield "|%s(%s-%d)|" % (x, x, n), "|%s|(%d-%s)" % (x, n, x), False
    yield "|%s^2-\\frac{1}{%d}|" % (x, n), "%s^2-\\frac{1}{%d}" % (x, n), False
    yield "\\sqrt{(\\ln %s+%d)^2}" % (x, a), "\\ln %s+%d" % (x, a), False
    yield "\\sqrt{(\\ln %s+%d)^2}" % (x, a), "|%d+\\ln %s|" % (a, x), True


def vanishing(rng):
    """Expressions that differ by something that is zero at many small integers, or tiny."""
    x, y = letters(rng, 2, "xytrs")
    a, k, n = nonzero(rng, 60), rng.randint(2, 6), rng.randint(6, 12)
    zero = "%s(%s-1)(%s+1)(%s-2)(%s+2)" % (x, x, x, x, x)
    coefs = [0, 1]
    for r in (1, -1, 2, -2):
        coefs = times(coefs, [-r, 1])
    line = linear(1, a, x)
    yield line, "%s+%s" % (line, zero), False
    yield "%s+%s" % (line, zero), "%s+%s" % (line, poly(coefs, x)), True
    yield "%d%s+%s" % (k, x, y), "%d%s+%s+\\sin(2\\pi %s)" % (k, x, y, x), False
    yield line, "%s\\cos(2\\pi %s)" % ("(%s)" % line, x), False
    yield line, "%s+10^{-%d}" % (line, n), False
    yield line, "%s+\\frac{%s}{10^{%d}}" % (line, x, n), False
    yield "%d\\lfloor %s \\rfloor" % (k, x), "%d%s" % (k, x), False
    yield "%s^{%d}" % (x, 2 * k), "|%s|^{%d}" % (x, 2 * k), True
    yield "%s^{%d}" % (x, 2 * k + 1), "|%s|^{%d}" % (x, 2 * k + 1), False
    yield "e^{-%s^2}+%d" % (x, k), str(k), False
    yield "%d%s" % (k, x), "\\frac{%d%s^2}{|%s|}" % (k, x, x), False


def lost_solutions(rng):
    """Equations and their consequences."""
    x = rng.choice("xyt")
    a = rng.randint(2, 60)
    b = rng.choice([n for n in range(-30, 31) if abs(n) != a])
    yield "%s=%d" % (x, a), "%s^2=%d" % (x, a * a), False
    yield "%s=%d, %s=%d" % (x, a, x, -a), "%s=\\pm %d" % (x, a), True
    yield "%s=%d" % (x, a), "|%s|=%d" % (x, a), False
    yield "%s=%d, %s=%d" % (x, a, x, b), "%s=%d, %s=%d" % (x, a, x, -b if b else 99), False
    yield "y=%dx" % a, "y^2=%dx^2" % (a * a), False
    yield "y=%dx" % a, "xy=%dx^2" % a, False
    yield "y=%d|x|" % a, "y=%dx" % a, False
    yield "y=\\sqrt{x+%d}" % a, "y^2=x+%d" % a, False
    yield "x^2+y^2=%d" % (a * a), "y=\\sqrt{%d-x^2}" % (a * a), False
    yield "x^2+y^2 \\le %d" % a, "x^2+y^2<%d" % a, False
    yield "x^2+y^2 \\le %d" % a, "y^2+x^2 \\le %d" % a, True
    yield "x^2+y^2 \\le %d" % a, "%d \\ge x^2+y^2" % a, True
    yield "x^2+y^2 \\le %d" % a, "x^2+y^2 \\ge %d" % a, False


def wrong_decimals(rng):
    """Decimals of irrational numbers: seven digits, right or wrong in one."""
    n = rng.choice([v for v in range(2, 400) if math.isqrt(v) ** 2 != v])
    name, value = rng.choice(
        [
            ("\\sqrt{%d}" % n, math.sqrt(n)),
            ("\\ln %d" % n, math.log(n)),
            ("%d\\pi" % n, n * math.pi),
            ("\\frac{%d}{7}" % (7 * n + 3), n + 3 / 7),
        ]
    )
    digits = "%.5f" % value
    yield name, digits, True
    yield name, "%.8f" % value, True
    at = len(digits) - rng.randint(1, 4)
    wrong = digits[:at] + str((int(digits[at]) + rng.randint(2, 8)) % 10) + digits[at + 1 :]
    yield name, wrong, False
    yield name, "%.5f" % (value + rng.choice([2e-5, -2e-5, 1e-4])), False
    yield name, "%.5f" % (value * 10), False
    yield name, "-" + digits, False


def polar(rng):
    """Complex numbers in polar form."""
    r = rng.randint(1, 60)
    k = "" if r == 1 else str(r)
    yield "%d+%s\\sqrt{3}i" % (r, k), "%de^{i\\pi/3}" % (2 * r), True
    yield "%s\\sqrt{3}+%si" % (k, k), "%de^{\\frac{i\\pi}{6}}" % (2 * r), True
    yield "%d+%di" % (r, r), "%s\\sqrt{2}e^{i\\pi/4}" % k, True
    yield "-%d" % r, "%se^{i\\pi}" % k, True
    yield "%si" % k, "%se^{i\\pi/2}" % k, True
    yield "%d+%s\\sqrt{3}i" % (r, k), "%de^{-i\\pi/3}" % (2 * r), False
    yield "%d+%s\\sqrt{3}i" % (r, k), "%de^{i\\pi/6}" % (2 * r), False
    yield "%d+%di" % (r, r), "%s\\sqrt{2}e^{3i\\pi/4}" % k, False
    yield "%si" % k, "%se^{-i\\pi/2}" % k, False
    yield "-%d" % r, "%se^{2i\\pi}" % k, False
    yield "%d+%di" % (r, r), "%de^{i\\pi/4}" % (2 * r), False
    yield "%d(\\cos\\frac{\\pi}{3}+i\\sin\\frac{\\pi}{3})" % r, "%se^{i\\pi/3}" % k, True
    yield "%d(\\cos\\frac{\\pi}{3}+i\\sin\\frac{\\pi}{3})" % r, "%se^{-i\\pi/3}" % k, False


def inverse_functions(rng):
    """Inverse and hyperbolic functions."""
    x = rng.choice("xytu")
    f, g = rng.sample(["sin", "cos", "tan"], 2)
    k, a = rng.randint(2, 40), rng.randint(2, 40)
    yield "%d\\arc%s %s" % (k, f, x), "%d\\%s^{-1} %s" % (k, f, x), True
    yield "%d\\arc%s(%s)+%d" % (k, f, x, a), "%d+%d\\arc%s %s" % (a, k, f, x), True
    yield "%d\\arc%s %s" % (k, f, x), "\\frac{%d}{\\%s %s}" % (k, f, x), False
    yield "%d\\arc%s %s" % (k, f, x), "%d\\arc%s %s" % (k, g, x), False
    yield "%d\\arc%s %s" % (k, f, x), "%d\\%s %s" % (k, f, x), False
    yield "%d\\%sh %s" % (k, f, x), "%d\\%s %s" % (k, f, x), False
    yield "%d\\%sh %s" % (k, f, x), "%d\\%sh %s" % (k, g, x), False
    yield "%d\\sinh %s" % (2 * k, x), "%d(e^{%s}-e^{-%s})" % (k, x, x), True
    yield "%d\\cosh %s" % (2 * k, x), "%d(e^{%s}-e^{-%s})" % (k, x, x), False
    yield "\\arctan(%d%s)" % (k, x), "%d\\arctan %s" % (k, x), False


def expanded_products(rng):
    """Long products, one coefficient of which is wrong."""
    x = rng.choice("xyt")
    coefs, text = [1], ""
    for _ in range(rng.randint(4, 6)):
        a, b = rng.randint(1, 4), nonzero(rng, 9)
        coefs = times(coefs, [b, a])
        text += "(%s)" % linear(a, b, x)
    wrong = coefs[:]
    wrong[rng.randrange(len(wrong))] += rng.choice([1, -1])
    yield text, poly(coefs, x), True
    yield poly(coefs, x), text, True
    yield text, poly(wrong, x), False
    yield poly(coefs, x), poly(wrong, x), False
    yield "%s" % total([(1, x)]) + text, poly([0] + wrong, x), False


CLASSES = [
    ("huge_integer", huge_integers, "value"),
    ("close_reals", close_reals, None),
    ("far_corner", far_corners, "value"),
    ("hidden_corner", hidden_corners, "value"),
    ("vanishing_difference", vanishing, "value"),
    ("lost_solution", lost_solutions, None),
    ("wrong_decimal", wrong_decimals, None),
    ("polar_form", polar, "value"),
    ("inverse_function", inverse_functions, None),
    ("long_product", expanded_products, "value"),
]
