"""Classes of equations, inequalities, congruences and cases."""

from common import letters, nonzero, pairs, poly, signed, tex
from fractions import Fraction


@pairs("assignment")
def assignment(r):
    x, y = letters(r, 2)
    a, b = r.sample(range(-30, 30), 2)
    yield str(a), "%s = %d" % (x, a), True
    yield "%s = %d" % (x, a), str(a), True
    yield "%s = %d" % (x, a), "%s = %d" % (x, b), False
    yield "%s = %d, %s = %d" % (x, a, y, b), "%s = %d, %s = %d" % (y, b, x, a), True
    yield "%s = %d, %s = %d" % (x, a, y, b), "%s = %d, %s = %d" % (x, b, y, a), False
    yield "%s = %d" % (x, a), "%s \\ne %d" % (x, a), False


@pairs("alternatives")
def alternatives(r):
    x = r.choice("xyt")
    a, b = r.sample(range(-30, 30), 2)
    yield "%s = %d \\text{ or } %s = %d" % (x, a, x, b), "%s = %d, %d" % (x, b, a), True
    yield "%s = %d \\text{ or } %s = %d" % (x, a, x, b), "\\{%d, %d\\}" % (b, a), True
    yield "%s = %d \\text{ or } %s = %d" % (x, a, x, b), "%s = %d" % (x, a), False
    yield "%s = %d, %d" % (x, a, b), "%s = %d, %d" % (x, a, b + 50), False


@pairs("inequality and interval")
def inequality(r):
    x = r.choice("xyt")
    a, b = sorted(r.sample(range(-30, 30), 2))
    yield "%s > %d" % (x, a), "(%d, \\infty)" % a, True
    yield "%d < %s \\le %d" % (a, x, b), "(%d, %d]" % (a, b), True
    yield "%s > %d" % (x, a), "%d < %s" % (a, x), True
    yield "%s > %d" % (x, a), "%s \\ge %d" % (x, a), False
    yield "%s > %d" % (x, a), "%s < %d" % (x, a), False
    yield "%d < %s \\le %d" % (a, x, b), "[%d, %d)" % (a, b), False
    yield "%s < %d \\text{ or } %s > %d" % (x, a, x, b), "(-\\infty, %d) \\cup (%d, \\infty)" % (a, b), True
    yield "%s < %d \\text{ or } %s > %d" % (x, a, x, b), "(%d, %d)" % (a, b), False


@pairs("inequality of a polynomial")
def quadratic(r):
    a = r.randint(1, 12)
    x = r.choice("xyt")
    yield "%s^2 < %d" % (x, a * a), "-%d < %s < %d" % (a, x, a), True
    yield "%s^2 < %d" % (x, a * a), "%s < %d" % (x, a), False
    yield "|%s| \\le %d" % (x, a), "[-%d, %d]" % (a, a), True
    yield "|%s| \\le %d" % (x, a), "(-%d, %d)" % (a, a), False
    yield "2%s + 1 > %d" % (x, 2 * a + 1), "%s > %d" % (x, a), True
    yield "-2%s > %d" % (x, 2 * a), "%s > -%d" % (x, a), False


@pairs("inequality of two letters")
def plane(r):
    x, y = letters(r, 2)
    a = r.randint(1, 9)
    yield "|%s + %s| \\le %d" % (x, y, a), "|%s| + |%s| \\le %d" % (x, y, a), False
    yield "%s > %s" % (x, y), "%s < %s" % (y, x), True
    yield "%s > %s" % (x, y), "%s > %s" % (y, x), False
    yield "%s + %s \\le %d" % (x, y, a), "%d \\ge %s + %s" % (a, y, x), True
    yield "%s + %s \\le %d" % (x, y, a), "%s + %s < %d" % (x, y, a), False


@pairs("system of inequalities")
def system(r):
    x, y = letters(r, 2)
    a, b = r.sample(range(-9, 9), 2)
    yield "%s > %d, %s > %d" % (x, a, y, b), "%s > %d, %s > %d" % (y, b, x, a), True
    yield "%s > %d, %s > %d" % (x, a, y, b), "%s > %d, %s > %d" % (x, b, y, a), False
    yield "%s > %d, %s > %d" % (x, a, y, b), "%s > %d" % (x, a), False
    yield "%s > %d, %s < %d" % (x, a, y, b), "%s > %d, %s > %d" % (x, a, y, b), False


@pairs("equation up to a factor")
def equation(r):
    x, y = letters(r, 2, "abmnpqstuvxy")
    a, b, c, k = nonzero(r, 1, 9), nonzero(r, -9, 9), nonzero(r, -9, 9), r.randint(2, 4)
    gold = "%d%s %s%s = %d" % (a, x, signed(b), y, c)
    yield gold, "%d%s %s%s = %d" % (a * k, x, signed(b * k), y, c * k), True
    yield gold, "%d = %d%s %s%s" % (c, a, x, signed(b), y), True
    yield gold, "%d%s %s%s = %d" % (a, x, signed(-b), y, c), False
    yield gold, "%d%s %s%s = %d" % (a, x, signed(b), y, c + 1), False


@pairs("line")
def line(r):
    m, b = nonzero(r, -9, 9), nonzero(r, -9, 9)
    yield "y = %dx %s" % (m, signed(b)), "y - %dx = %d" % (m, b) if m > 0 else "y %s x = %d" % (signed(-m), b), True
    yield "y = %dx %s" % (m, signed(b)), "y = %d %s x" % (b, signed(m)), True
    yield "y = %dx %s" % (m, signed(b)), "y = %dx %s" % (m, signed(-b)), False
    yield "y = %dx %s" % (m, signed(b)), "x = %dy %s" % (m, signed(b)), abs(m) == 1 and m * m == 1 and b == -m * b


@pairs("circle")
def circle(r):
    a, b, c = nonzero(r, -9, 9), nonzero(r, -9, 9), r.randint(2, 9)
    gold = "(x %s)^2 + (y %s)^2 = %d" % (signed(-a), signed(-b), c * c)
    free = a * a + b * b - c * c
    yield gold, "x^2 + y^2 %s x %s y %s = 0" % (signed(-2 * a), signed(-2 * b), signed(free)), True
    yield gold, "(y %s)^2 + (x %s)^2 = %d" % (signed(-b), signed(-a), c * c), True
    yield gold, "(x %s)^2 + (y %s)^2 = %d" % (signed(a), signed(-b), c * c), False
    yield gold, "(x %s)^2 + (y %s)^2 = %d" % (signed(-a), signed(-b), c), False


@pairs("function by its equation")
def function(r):
    a, b = nonzero(r, 2, 9), nonzero(r, -9, 9)
    f = r.choice("fgh")
    yield "%s(x) = %dx %s" % (f, a, signed(b)), "%dx %s" % (a, signed(b)), True
    yield "%s(x) = %dx %s" % (f, a, signed(b)), "%s(t) = %dt %s" % (f, a, signed(b)), True
    yield "%s(x) = %dx %s" % (f, a, signed(b)), "%s(x) = %dx %s" % (f, a, signed(-b)), False
    yield "%s(x) = %dx %s" % (f, a, signed(b)), "%s(x) = %d" % (f, a), False


@pairs("congruence")
def congruence(r):
    m = r.randint(5, 12)
    a, b = r.sample(range(1, m), 2)
    n = r.choice("nxk")
    yield "%s \\equiv %d \\pmod{%d}" % (n, a, m), "%s \\equiv %d \\pmod{%d}" % (n, a + m, m), True
    yield "%s \\equiv %d \\pmod{%d}" % (n, a, m), "%s \\equiv %d \\pmod{%d}" % (n, b, m), False
    yield "%s \\equiv %d \\pmod{%d}" % (n, a, m), "%s \\equiv %d \\pmod{%d}" % (n, a, m + 1), False
    yield "%s \\equiv %d, %d \\pmod{%d}" % (n, a, b, m), "%s \\equiv %d, %d \\pmod %d" % (n, b, a, m) \
        if m < 10 else "%s \\equiv %d, %d \\pmod{%d}" % (n, b, a, m), True
    yield "%s \\equiv %d, %d \\pmod{%d}" % (n, a, b, m), "%s \\equiv %d \\pmod{%d}" % (n, a, m), False
    if 2 * a != m:
        yield "%s \\equiv \\pm %d \\pmod{%d}" % (n, a, m), "%s \\equiv %d, %d \\pmod{%d}" % (n, a, m - a, m), True


@pairs("cases")
def cases(r):
    x = r.choice("xtn")
    a, b, c = r.sample(range(1, 30), 3)
    form = "\\begin{cases} %s & %s \\\\ %s & %s \\end{cases}"
    gold = form % (a, "%s \\ge %d" % (x, c), b, "%s < %d" % (x, c))
    yield gold, form % (b, "%s < %d" % (x, c), a, "%s \\ge %d" % (x, c)), True
    yield gold, form % (b, "%s \\ge %d" % (x, c), a, "%s < %d" % (x, c)), False
    yield gold, str(b), False
    yield str(b), gold, False
    yield "|%s|" % x, form % (x, "%s \\ge 0" % x, "-" + x, "%s < 0" % x), True
    yield "|%s|" % x, form % ("-" + x, "%s \\ge 0" % x, x, "%s < 0" % x), False


@pairs("geometry")
def geometry(r):
    a, b, c, d = r.sample("ABCDPQRS", 4)
    yield "%s%s \\parallel %s%s" % (a, b, c, d), "%s%s \\parallel %s%s" % (c, d, a, b), True
    yield "%s%s \\parallel %s%s" % (a, b, c, d), "%s%s \\perp %s%s" % (a, b, c, d), False
    yield "\\angle %s%s%s" % (a, b, c), "\\angle %s%s%s" % (b, a, c), False
    yield "\\triangle %s%s%s" % (a, b, c), "\\triangle %s%s%s" % (a, b, d), False


@pairs("value of an equation")
def stated(r):
    a, b = r.randint(1, 50), r.randint(1, 50)
    yield str(a + b), "m + n = %d + %d = %d" % (a, b, a + b), True
    yield str(a + b), "m + n = %d" % (a + b), True
    yield str(a), "m + n = %d" % (a + b), False
    yield tex(Fraction(a, 60)), "p = %s" % tex(Fraction(a, 60), r), True
    yield poly([a, b], "x"), "y = %s" % poly([a, b], "x"), True
