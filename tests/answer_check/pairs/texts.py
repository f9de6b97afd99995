"""Classes of words, labels and parametrised answers."""

from common import pairs

WORDS = [("Yes", "No"), ("odd", "even"), ("true", "false"), ("Monday", "Friday"), ("increasing", "decreasing"),
         ("red", "blue"), ("parallel", "perpendicular"), ("Alice", "Bob"), ("square", "circle"), ("north", "south")]


@pairs("word")
def word(r):
    a, b = r.choice(WORDS)
    if r.random() < 0.5:
        a, b = b, a
    yield a, r.choice(["\\text{%s}", "\\textbf{%s}", "\\mathrm{%s}", "%s"]) % a, True
    yield "\\text{%s}" % a, a.lower(), True
    yield "\\text{%s}" % a, "\\text{%s}" % b, False


@pairs("label of a choice")
def label(r):
    letter, n = r.choice("ABCDE"), r.randint(2, 99)
    yield str(n), "\\textbf{(%s)}\\ %d" % (letter, n), True
    yield str(-n), "(%s)\\ -%d" % (letter, n), True
    yield str(n), "\\textbf{(%s)}\\ %d" % (letter, n + 1), False
    yield "\\textbf{(%s) } %d" % (letter, n), str(n), True
    yield "\\text{(%s)}" % letter, letter, True
    yield "\\text{(%s)}" % letter, "ABCDEF"["ABCDE".index(letter) + 1], False


@pairs("family")
def family(r):
    a, b = r.sample("kmn", 2)
    q = r.randint(2, 6)
    yield "%s\\pi, %s \\in \\mathbb{Z}" % (a, a), "%s\\pi, %s \\in \\mathbb{Z}" % (b, b), True
    yield "\\frac{\\pi}{%d} + %s\\pi, %s \\in \\mathbb{Z}" % (q, a, a), \
        "%s\\pi + \\frac{\\pi}{%d}, %s \\in \\mathbb{Z}" % (b, q, b), True
    yield "%s\\pi, %s \\in \\mathbb{Z}" % (a, a), "2%s\\pi, %s \\in \\mathbb{Z}" % (a, a), False
    yield "\\frac{\\pi}{%d} + %s\\pi, %s \\in \\mathbb{Z}" % (q, a, a), \
        "\\frac{\\pi}{%d} + %s\\pi, %s \\in \\mathbb{Z}" % (q + 1, a, a), False


@pairs("letters of a figure")
def figure(r):
    a, b, c = r.sample("ABCDEFPQR", 3)
    yield "\\text{%s, %s}" % (a, b), "%s and %s" % (b, a), True
    yield "\\text{%s, %s}" % (a, b), "\\text{%s, %s}" % (a, c), False
    yield "%s" % a, "\\text{%s}" % a, True
    yield "%s" % a, "%s" % b, False


@pairs("no solution")
def nothing(r):
    yield "\\text{no solution}", r.choice(["\\emptyset", "\\text{No solutions}", "\\varnothing"]), True
    yield "\\text{no solution}", str(r.randint(0, 9)), False
    yield "\\infty", r.choice(["+\\infty", "\\text{infinity}"]), True
    yield "\\infty", "-\\infty", False
    yield "\\text{all real numbers}", r.choice(["\\mathbb{R}", "(-\\infty, \\infty)"]), True
    yield "\\text{all real numbers}", "\\mathbb{Z}", False
