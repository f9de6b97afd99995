"""Classes of expressions with letters. Two sides are equal if they are wherever both are defined on the reals."""

from common import letters, nonzero, pairs, poly, signed


@pairs("expanded product")
def expanded(r):
    (x,) = letters(r)
    a, b, c = nonzero(r, 1, 4), nonzero(r, -9, 9), nonzero(r, -9, 9)
    if a == 1 and b == c:
        return
    gold = "(%s%s)(%s%s)" % (poly([a, 0], x), signed(b), x, signed(c))
    value = [a, a * c + b, b * c]
    yield gold, poly(value, x), True
    yield poly(value, x), gold, True
    yield gold, poly([value[0], value[1] + 1, value[2]], x), False
    yield gold, poly([value[0], value[1], -value[2]], x), False


@pairs("difference of squares")
def squares(r):
    x, y = letters(r, 2)
    a = r.randint(2, 9)
    yield "%s^2 - %d%s^2" % (x, a * a, y), "(%s - %d%s)(%s + %d%s)" % (x, a, y, x, a, y), True
    yield "%s^2 - %s^2" % (x, y), "(%s - %s)^2" % (x, y), False
    yield "(%s + %s)^2" % (x, y), "%s^2 + %s^2" % (x, y), False
    if x + y != "cm":  # which 2cm could also be
        yield "(%s + %s)^2" % (x, y), "%s^2 + 2%s%s + %s^2" % (y, x, y, x), True


@pairs("order of terms")
def order(r):
    a, b, c = letters(r, 3)
    m, n = r.randint(2, 9), r.randint(2, 9)
    yield "%d%s + %d%s - %s" % (m, a, n, b, c), "-%s + %d%s + %d%s" % (c, n, b, m, a), True
    yield "%d%s + %d%s - %s" % (m, a, n, b, c), "%d%s + %d%s + %s" % (m, a, n, b, c), False
    if m != n:
        yield "%d%s + %d%s" % (m, a, n, b), "%d%s + %d%s" % (n, a, m, b), False
    yield "%s^{%d} %s" % (a, m, b), "%s \\cdot %s^%d" % (b, a, m), True
    yield "%s^{%d} %s" % (a, m, b), "%s^{%d} %s" % (b, m, a), False


@pairs("quotient")
def quotient(r):
    x, y = letters(r, 2)
    a, b = r.randint(2, 9), r.randint(2, 9)
    yield "\\frac{%d}{%s} + \\frac{%d}{%s}" % (a, x, b, y), "\\frac{%d%s + %d%s}{%s%s}" % (a, y, b, x, x, y), True
    yield "\\frac{%s}{%s}" % (x, y), "\\frac{%s}{%s}" % (y, x), False
    yield "\\frac{%s+%d}{%s}" % (x, a, y), "%s + \\frac{%d}{%s}" % (x, a, y), False
    yield "\\frac{%s+%d}{%s}" % (x, a, y), "(%s+%d)/%s" % (x, a, y), True
    yield "\\frac{1}{%s+%s}" % (x, y), "\\frac{1}{%s} + \\frac{1}{%s}" % (x, y), False


@pairs("absolute value")
def absolute(r):
    x, y = letters(r, 2)
    a = r.randint(1, 30)
    yield "|%s%s|" % (x, y), "|%s||%s|" % (x, y), True
    yield "|%s - %s|" % (x, y), "|%s - %s|" % (y, x), True
    yield "|%s%s|" % (x, y), "%s%s" % (x, y), False
    yield "|%s + %s|" % (x, y), "|%s| + |%s|" % (x, y), False
    yield "|%s - %d|" % (x, a), "%s - %d" % (x, a), False
    yield "|%s - %d|" % (x, a), "%d - %s" % (a, x), False
    yield "|%s - %d|" % (x, a), "|%s| - %d" % (x, a), False
    yield "|%s - %d|" % (x, a), "\\left| %d - %s \\right|" % (a, x), True


@pairs("root of a square")
def root_of_square(r):
    x, y = letters(r, 2)
    yield "\\sqrt{%s^2}" % x, "|%s|" % x, True
    yield "\\sqrt{%s^2}" % x, x, False
    yield "\\sqrt{%s^2%s^2}" % (x, y), "%s%s" % (x, y), False
    yield "\\sqrt{%s^2 + %s^2}" % (x, y), "%s + %s" % (x, y), False
    yield "\\sqrt{%s}\\sqrt{%s}" % (x, y), "\\sqrt{%s%s}" % (x, y), True
    yield "\\sqrt{%s + %s}" % (x, y), "\\sqrt{%s} + \\sqrt{%s}" % (x, y), False
    yield "\\sqrt[3]{%s^3}" % x, x, True


@pairs("floor and ceiling")
def floor(r):
    x = r.choice("txyuv")
    a = r.randint(1, 9)
    yield "\\lceil %s \\rceil" % x, "-\\lfloor -%s \\rfloor" % x, True
    yield "\\lfloor %s + %d \\rfloor" % (x, a), "\\lfloor %s \\rfloor + %d" % (x, a), True
    yield "\\lceil %s \\rceil" % x, "\\lfloor %s \\rfloor + 1" % x, False
    yield "\\lfloor %s \\rfloor" % x, "\\lceil %s \\rceil" % x, False
    yield "\\lfloor %d%s \\rfloor" % (a + 1, x), "%d\\lfloor %s \\rfloor" % (a + 1, x), False
    yield "\\lfloor %s \\rfloor" % x, x, False


@pairs("trigonometry")
def trigonometry(r):
    x = r.choice(["x", "t", "\\theta", "\\alpha"])
    yield "\\sin^2 %s" % x, "1 - \\cos^2 %s" % x, True
    yield "\\sin 2%s" % x, "2\\sin %s\\cos %s" % (x, x), True
    yield "\\tan %s" % x, "\\frac{\\sin %s}{\\cos %s}" % (x, x), True
    yield "\\sin %s" % x, "\\cos %s" % x, False
    yield "\\sin 2%s" % x, "2\\sin %s" % x, False
    yield "\\sin^2 %s" % x, "\\sin %s^2" % x, False
    yield "\\cos(-%s)" % x, "-\\cos %s" % x, False
    yield "\\sin^{-1} %s" % x, "\\frac{1}{\\sin %s}" % x, False
    yield "\\arcsin %s" % x, "\\sin^{-1} %s" % x, True


@pairs("logarithm")
def logarithm(r):
    x, y = letters(r, 2, "abmnpqtuvxy")
    n = r.randint(2, 9)
    yield "\\ln(%s%s)" % (x, y), "\\ln %s + \\ln %s" % (x, y), True
    yield "%d\\ln %s" % (n, x), "\\ln(%s^{%d})" % (x, n), True
    yield "\\ln(%s + %s)" % (x, y), "\\ln %s + \\ln %s" % (x, y), False
    yield "\\ln\\frac{%s}{%s}" % (x, y), "\\frac{\\ln %s}{\\ln %s}" % (x, y), False
    yield "\\log_%d %s" % (n, x), "\\frac{\\ln %s}{\\ln %d}" % (x, n), True
    yield "\\log_%d %s" % (n, x), "\\log_%d %s" % (n + 1, x), False


@pairs("exponential")
def exponential(r):
    x, y = letters(r, 2, "abmnpqtuvxy")
    n = r.randint(2, 9)
    yield "e^{%s + %s}" % (x, y), "e^%s e^%s" % (x, y), True
    yield "%d^{%s+1}" % (n, x), "%d \\cdot %d^{%s}" % (n, n, x), True
    yield "e^{%s + %s}" % (x, y), "e^%s + e^%s" % (x, y), False
    yield "%d^{%s}" % (n, x), "%s^{%d}" % (x, n), False
    yield "(e^{%s})^%d" % (x, n), "e^{%d%s}" % (n, x), True
    yield "e^{-%s}" % x, "-e^{%s}" % x, False


@pairs("number before a power")
def glued(r):
    n = r.choice("nkm")
    a = r.randint(2, 9)
    yield "%s%d^{%s-1}" % (n, a, n), "%s \\cdot %d^{%s-1}" % (n, a, n), True
    yield "%s%d^{%s-1}" % (n, a, n), "%d^{%s-1}%s" % (a, n, n), True
    yield "%s%d^{%s-1}" % (n, a, n), "%s%d^{%s}" % (n, a, n), False
    yield "%s%d^{%s-1}" % (n, a, n), "(%s \\cdot %d)^{%s-1}" % (n, a, n), False


@pairs("subscript")
def subscript(r):
    x = r.choice("abxy")
    i, j = r.sample(range(1, 9), 2)
    yield "%s_%d + %s_%d" % (x, i, x, j), "%s_{%d} + %s_{%d}" % (x, j, x, i), True
    yield "%s_%d" % (x, i), "%s_%d" % (x, j), False
    yield "%s_%d" % (x, i), "%s^%d" % (x, i), False
    yield "%s_%d - %s_%d" % (x, i, x, j), "%s_%d - %s_%d" % (x, j, x, i), False


@pairs("maximum and minimum")
def maximum(r):
    x, y = letters(r, 2)
    yield "\\max(%s, %s)" % (x, y), "\\max(%s, %s)" % (y, x), True
    yield "\\max(%s, %s)" % (x, y), "\\min(%s, %s)" % (x, y), False
    yield "\\max(%s, %s)" % (x, y), "\\frac{%s + %s + |%s - %s|}{2}" % (x, y, x, y), True
    yield "\\max(%s, %s)" % (x, y), "\\frac{%s + %s - |%s - %s|}{2}" % (x, y, x, y), False


@pairs("sign of a power")
def parity(r):
    n, x = r.choice("nk"), r.choice("xy")
    yield "(-1)^{%s}" % n, "(-1)^{%s+2}" % n, True
    yield "(-1)^{%s}" % n, "(-1)^{%s+1}" % n, False
    yield "(-1)^{%s} %s" % (n, x), "(-1)^{%s} |%s|" % (n, x), False
    yield "(-%s)^2" % x, "-%s^2" % x, False


@pairs("conjugate")
def conjugate(r):
    z = r.choice("zw")
    yield "%s\\bar{%s}" % (z, z), "|%s|^2" % z, True
    yield "\\bar{%s}" % z, z, False
    yield "|%s|^2" % z, "%s^2" % z, False
    yield "\\overline{%s + 1}" % z, "\\bar{%s} + 1" % z, True
    yield "\\operatorname{Re}(%s)" % z, z, False
    yield "\\bar x", "x", False
