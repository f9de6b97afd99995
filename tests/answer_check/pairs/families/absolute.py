"""Absolute values, roots of squares, floors, largest and least, conjugates: what signs decide.

Letters that often stand for complex numbers, such as z, are left out where a truth needs real ones."""

from writing import letters, linear, nonzero

COMPLEX = "zwuv"


def abs_products(rng):
    """Absolute values of products and powers."""
    x, y = letters(rng, 2, "xyabcpqrst")
    k, n = rng.randint(2, 90), rng.randint(1, 4)
    yield "%d|%s%s|" % (k, x, y), "%d|%s| \\cdot |%s|" % (k, x, y), True
    yield "|%d%s|" % (k, x), "%d|%s|" % (k, x), True
    yield "|-%d%s|" % (k, x), "%d|%s|" % (k, x), True
    yield "%d|%s|^{%d}" % (k, x, 2 * n), "%d%s^{%d}" % (k, x, 2 * n), True
    yield "\\frac{|%s|}{|%s|}" % (x, y), "|\\frac{%s}{%s}|" % (x, y), True
    yield "|%d%s|" % (k, x), "\\lvert %d%s \\rvert" % (k, x), True
    yield "%d|%s%s|" % (k, x, y), "%d%s%s" % (k, x, y), False
    yield "%d|%s%s|" % (k, x, y), "%d%s|%s|" % (k, x, y), False
    yield "|%d%s|" % (k, x), "%d%s" % (k, x), False
    yield "%d|%s|^{%d}" % (k, x, 2 * n + 1), "%d%s^{%d}" % (k, x, 2 * n + 1), False
    yield "|-%d%s|" % (k, x), "-%d|%s|" % (k, x), False
    yield "\\frac{|%s|}{|%s|}" % (x, y), "\\frac{%s}{%s}" % (x, y), False


def abs_sums(rng):
    """Absolute values of sums and differences."""
    x, y = letters(rng, 2, "xyabcpqrst")
    a, b = rng.randint(1, 60), rng.randint(2, 60)
    yield "%d|%s-%s|" % (b, x, y), "%d|%s-%s|" % (b, y, x), True
    yield "|%s-%d|" % (x, a), "|%d-%s|" % (a, x), True
    yield "|%s+%s|" % (x, y), "|-%s-%s|" % (x, y), True
    yield "|%s|+%d" % (x, b), "%d+|%s|" % (b, x), True
    yield "|%s+%s|" % (x, y), "|%s|+|%s|" % (x, y), False
    yield "%d|%s-%s|" % (b, x, y), "%d(%s-%s)" % (b, x, y), False
    yield "|%s-%s|" % (x, y), "|%s+%s|" % (x, y), False
    yield "|%s-%d|" % (x, a), "|%s+%d|" % (x, a), False
    yield "|%s-%d|" % (x, a), "|%s|-%d" % (x, a), False
    yield "|%s|+%d" % (x, b), "|%s+%d|" % (x, b), False
    yield "%d|%s|" % (b, x), "%d|%s|" % (b, y), False


def roots_of_squares(rng):
    """The root of a square is the absolute value."""
    x, y = letters(rng, 2, "xyabcpqrst")
    k, a = rng.randint(2, 20), nonzero(rng, 30)
    line = linear(1, a, x)
    yield "\\sqrt{%d%s^2}" % (k * k, x), "%d|%s|" % (k, x), True
    yield "\\sqrt{(%s)^2}" % line, "|%s|" % line, True
    yield "\\sqrt{%s^2%s^2}" % (x, y), "|%s%s|" % (x, y), True
    yield "\\sqrt[3]{%d%s^3}" % (k**3, x), "%d%s" % (k, x), True
    yield "\\sqrt{%d%s^4}" % (k * k, x), "%d%s^2" % (k, x), True
    yield "\\sqrt{%d%s^2}" % (k * k, x), "%d%s" % (k, x), False
    yield "\\sqrt{(%s)^2}" % line, line, False
    yield "\\sqrt{%s^2%s^2}" % (x, y), "%s%s" % (x, y), False
    yield "\\sqrt{%s^2+%d}" % (x, k * k), "|%s|+%d" % (x, k), False
    yield "\\sqrt{%s^2+%s^2}" % (x, y), "%s+%s" % (x, y), False
    yield "\\sqrt[3]{%d%s^3}" % (k**3, x), "%d|%s|" % (k, x), False
    yield "%d\\sqrt{%s+%s}" % (k, x, y), "%d\\sqrt{%s}+%d\\sqrt{%s}" % (k, x, k, y), False


def floors(rng):
    """Floors and ceilings of letters."""
    x, y = letters(rng, 2, "xyrst")
    n, k = rng.randint(1, 90), rng.randint(2, 9)
    yield "\\lfloor %s \\rfloor+%d" % (x, n), "\\lfloor %s+%d \\rfloor" % (x, n), True
    yield "\\lceil %s \\rceil-%d" % (x, n), "\\lceil %s-%d \\rceil" % (x, n), True
    yield "-\\lfloor %s-%d \\rfloor" % (x, n), "\\lceil %d-%s \\rceil" % (n, x), True
    yield "%d\\lfloor %s \\rfloor" % (k, x), "\\lfloor %s \\rfloor \\cdot %d" % (x, k), True
    yield "%d\\lfloor %s \\rfloor" % (k, x), "\\lfloor %d%s \\rfloor" % (k, x), False
    yield "\\lfloor %s \\rfloor+%d" % (x, n), "\\lceil %s \\rceil+%d" % (x, n), False
    yield "\\lfloor %s \\rfloor+%d" % (x, n), "%s+%d" % (x, n), False
    yield "\\lfloor %s+%s \\rfloor" % (x, y), "\\lfloor %s \\rfloor+\\lfloor %s \\rfloor" % (x, y), False
    yield "-\\lfloor %s-%d \\rfloor" % (x, n), "\\lfloor %d-%s \\rfloor" % (n, x), False
    yield "\\lceil %s \\rceil-%d" % (x, n), "\\lfloor %s \\rfloor-%d" % (x, n - 1), False


def largest(rng):
    """Maximum and minimum of letters."""
    x, y = letters(rng, 2, "xyabcpqrst")
    k = rng.randint(2, 90)
    yield "%d\\max(%s, %s)" % (k, x, y), "%d\\max(%s, %s)" % (k, y, x), True
    yield "\\max(%s, %d)" % (x, k), "\\max(%d, %s)" % (k, x), True
    yield "-\\max(%s, %d)" % (x, k), "\\min(-%s, -%d)" % (x, k), True
    yield "%d\\max(%s, %s)" % (k, x, y), "%d\\min(%s, %s)" % (k, x, y), False
    yield "\\max(%s, %d)" % (x, k), "\\max(%s, %d)" % (x, k + 1), False
    yield "\\max(%s, %d)" % (x, k), "%s+%d" % (x, k), False
    yield "\\max(%s, %s)" % (x, y), x, False


def conjugates(rng):
    """Conjugates and absolute values of complex letters; a true pair holds for all complex values."""
    z, w = letters(rng, 2, COMPLEX)
    k = rng.randint(2, 90)
    yield "%d\\overline{%s+%s}" % (k, z, w), "%d(\\overline{%s}+\\overline{%s})" % (k, z, w), True
    yield "%d\\overline{%s}\\overline{%s}" % (k, z, w), "%d\\overline{%s%s}" % (k, z, w), True
    yield "%d\\bar{%s}" % (k, z), "\\bar{%s} \\cdot %d" % (z, k), True
    yield "%d\\bar{%s}+%s" % (k, z, w), "%d%s+%s" % (k, z, w), False
    yield "%d\\bar{%s}" % (k, z), "%d%s" % (k, z), False
    yield "%d\\overline{%s}%s" % (k, z, w), "%d%s\\overline{%s}" % (k, z, w), False
    yield "%d\\overline{%s}" % (k, z), "%d\\overline{%s}" % (k, w), False
    yield "%d\\overline{%s+%s}" % (k, z, w), "%d(\\overline{%s}-\\overline{%s})" % (k, z, w), False


def signs(rng):
    """A sign in front, in a bracket, under a power."""
    x, y = letters(rng, 2)
    a, n = rng.randint(2, 90), rng.randint(1, 4)
    yield "%s-(%s-%d)" % (x, y, a), "%s-%s+%d" % (x, y, a), True
    yield "(-%s)^{%d}" % (x, 2 * n), "%s^{%d}" % (x, 2 * n), True
    yield "(-%s)^{%d}" % (x, 2 * n + 1), "-%s^{%d}" % (x, 2 * n + 1), True
    yield "(%s-%d)^{%d}" % (x, a, 2 * n), "(%d-%s)^{%d}" % (a, x, 2 * n), True
    yield "(-%s)^{%d}" % (x, 2 * n), "-%s^{%d}" % (x, 2 * n), False
    yield "%s-(%s-%d)" % (x, y, a), "%s-%s-%d" % (x, y, a), False
    yield "(%s-%d)^{%d}" % (x, a, 2 * n + 1), "(%d-%s)^{%d}" % (a, x, 2 * n + 1), False
    yield "\\frac{-%s}{%d}" % (x, a), "-\\frac{%s}{%d}" % (x, a), True
    yield "\\frac{-%s}{%d}" % (x, a), "\\frac{%s}{%d}" % (x, a), False
    yield "%d%s-%s" % (a, x, y), "%s-%d%s" % (y, a, x), False


CLASSES = [
    ("abs_product", abs_products, "value"),
    ("abs_sum", abs_sums, "value"),
    ("root_of_square", roots_of_squares, "value"),
    ("floor_ceiling", floors, "value"),
    ("max_min", largest, "value"),
    ("conjugate", conjugates, None),
    ("sign", signs, "value"),
]
