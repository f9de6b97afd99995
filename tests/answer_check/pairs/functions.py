"""Classes of functions of which only the name is known, of vectors and of derivatives."""

from common import letters, pairs


def function_name(r):
    return r.choice(["f", "g", "h", "F", "G", "P", "\\phi"])


@pairs("unknown function")
def unknown(r):
    f = function_name(r)
    x, y = letters(r, 2, "abmnstuvxy")
    a = r.randint(2, 9)
    yield "%s(%s+%s)" % (f, x, y), "%s(%s+%s)" % (f, y, x), True
    yield "%s(%s+%s)" % (f, x, y), "%s(%s)+%s(%s)" % (f, x, f, y), False
    yield "%s(%d)" % (f, a), "%d%s(1)" % (a, f), False
    yield "%s(%d%s)" % (f, a, x), "%d%s(%s)" % (a, f, x), False
    yield "%s(%s)" % (f, x), "%s(%s)" % (f, y), False
    yield "%s(%s)-%s(%s)" % (f, x, f, y), "%s(%s)-%s(%s)" % (f, y, f, x), False
    yield "%s(%s)+%s(%s)" % (f, x, f, y), "%s(%s) + %s(%s)" % (f, y, f, x), True


@pairs("composition")
def composition(r):
    f, g = r.sample(["f", "g", "h"], 2)
    yield "%s(%s(x))" % (f, g), "%s(%s(x))" % (g, f), False
    yield "%s(%s(x))" % (f, g), "%s(x)%s(x)" % (f, g), False
    yield "%s(x)%s(x)" % (f, g), "%s(x)%s(x)" % (g, f), True
    yield "%s \\circ %s" % (f, g), "%s \\circ %s" % (g, f), False
    yield "%s(%s(x))" % (f, g), "%s \\left( %s(x) \\right)" % (f, g), True


@pairs("functional equation")
def functional(r):
    f = r.choice("fgh")
    yield "%s(x)=%s(-x)" % (f, f), "%s(x)=-%s(x)" % (f, f), False
    yield "%s(x)=%s(-x)" % (f, f), "%s(-x)=%s(x)" % (f, f), True
    yield "%s(-x)=-%s(x)" % (f, f), "%s(-x)=%s(x)" % (f, f), False
    yield "%s(xy)=%s(x)+%s(y)" % (f, f, f), "%s(xy)=%s(x)%s(y)" % (f, f, f), False


@pairs("letter as a factor")
def factor(r):
    a, b, c = letters(r, 3, "abckmnpq")
    yield "%s(%s+%s)" % (a, b, c), "%s%s+%s%s" % (a, b, a, c), True
    yield "%s%s+%s%s" % (a, b, a, c), "%s(%s+%s)" % (a, b, c), True
    yield "%s(%s+%s)" % (a, b, c), "%s%s+%s" % (a, b, c), False
    yield "\\frac{h(%s+%s)}{2}" % (a, b), "\\frac{h}{2}(%s+%s)" % (b, a), True
    yield "\\frac{h(%s+%s)}{2}" % (a, b), "\\frac{h(%s-%s)}{2}" % (a, b), False


@pairs("inverse function")
def inverse(r):
    f = r.choice("fgh")
    yield "%s^{-1}(x)" % f, "\\frac{1}{%s(x)}" % f, False
    yield "%s^{-1}(x)" % f, "%s(x)^{-1}" % f, False
    yield "%s'(x)" % f, "%s(x)" % f, False
    yield "%s''(x)" % f, "%s'(x)" % f, False
    yield "%s^{-1}(x) = 2x+1" % f, "%s^{-1}(x) = 1+2x" % f, True


@pairs("probability")
def probability(r):
    a, b = r.sample("ABCDEX", 2)
    yield "P(%s|%s)" % (a, b), "P(%s \\mid %s)" % (a, b), True
    yield "P(%s|%s)" % (a, b), "P(%s|%s)" % (b, a), False
    yield "P(%s \\cap %s)" % (a, b), "P(%s \\cap %s)" % (b, a), True
    yield "P(%s \\cap %s)" % (a, b), "P(%s \\cup %s)" % (a, b), False
    yield "P(%s)" % a, "P(%s)" % b, False
    yield "P(%s)P(%s)" % (a, b), "P(%s)P(%s)" % (b, a), True


@pairs("vectors")
def vectors(r):
    a, b = letters(r, 2, "abcuvw")
    font = r.choice(["\\vec{%s}", "\\vec %s", "\\mathbf{%s}"])
    x, y = font % a, font % b
    yield "%s \\times %s" % (x, y), "%s \\cdot %s" % (x, y), False
    yield "%s \\times %s" % (x, y), "%s \\times %s" % (y, x), False
    yield "%s \\cdot %s" % (x, y), "%s\\cdot %s" % (y, x), True
    yield "2%s - %s" % (x, y), "-%s + 2%s" % (y, x), True
    yield "2%s - %s" % (x, y), "2%s - %s" % (y, x), False


@pairs("arrows")
def arrows(r):
    p, q = r.sample("ABCDPQRXY", 2)
    yield "\\overrightarrow{%s%s}" % (p, q), "\\overrightarrow{%s%s}" % (q, p), False
    yield "\\vec{%s%s}" % (p, q), "\\overrightarrow{%s%s}" % (p, q), True
    yield "\\vec{%s%s}" % (p, q), "\\vec{%s%s}" % (q, p), False


@pairs("derivative")
def derivative(r):
    y, x = letters(r, 2, "stuvxy")
    yield "\\frac{d%s}{d%s}" % (y, x), "\\frac{%s}{%s}" % (y, x), False
    yield "\\frac{d%s}{d%s}" % (y, x), "\\frac{d%s}{d%s}" % (x, y), False
    yield "\\frac{d%s}{d%s}" % (y, x), "\\dfrac{d%s}{d%s}" % (y, x), True
    yield "\\frac{d^2%s}{d%s^2}" % (y, x), "\\frac{d%s}{d%s}" % (y, x), False
    yield "\\frac{d%s}{d%s} = 2%s" % (y, x, x), "\\frac{d%s}{d%s} = %s + %s" % (y, x, x, x), True
    yield "\\frac{\\partial f}{\\partial %s}" % x, "\\frac{\\partial f}{\\partial %s}" % y, False
