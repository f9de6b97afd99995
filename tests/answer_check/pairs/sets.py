"""Classes of sets, tuples and intervals."""

from common import letters, nonzero, pairs, shuffled, tex
from fractions import Fraction


def numbers(r, n=3):
    return r.sample(range(-20, 40), n)


def listed(items):
    return ", ".join(str(i) for i in items)


@pairs("finite set")
def finite(r):
    items = numbers(r, r.randint(2, 5))
    gold = "\\{%s\\}" % listed(items)
    yield gold, "\\{%s\\}" % listed(shuffled(r, items)), True
    yield gold, "\\left\\{ %s \\right\\}" % listed(items), True
    yield gold, "\\{%s\\}" % listed(items[:-1]), False
    yield gold, "\\{%s\\}" % listed(items[:-1] + [items[-1] + 100]), False
    yield gold, "\\{%s\\}" % listed(items + [99]), False


@pairs("set of sets")
def nested(r):
    a, b = numbers(r, 2)
    yield "\\{%d\\}" % a, "\\{\\{%d\\}\\}" % a, False
    yield "\\{%d, %d\\}" % (a, b), "\\{%d, \\{%d\\}\\}" % (a, b), False
    yield "\\{\\{%d\\}, \\{%d\\}\\}" % (a, b), "\\{\\{%d\\}, \\{%d\\}\\}" % (b, a), True
    yield "\\{\\{%d\\}, \\{%d\\}\\}" % (a, b), "\\{%d, %d\\}" % (a, b), False
    yield "\\{\\{%d, %d\\}\\}" % (a, b), "\\{%d, %d\\}" % (a, b), False


@pairs("empty set")
def empty(r):
    yield "\\emptyset", r.choice(["\\varnothing", "\\{\\}", "\\{ \\}"]), True
    yield "\\emptyset", "\\{\\emptyset\\}", False
    yield "\\emptyset", "\\{0\\}", False
    yield "\\emptyset", "0", False
    yield "\\emptyset", str(nonzero(r, -9, 9)), False


@pairs("tuple")
def tuples(r):
    items = numbers(r, r.randint(3, 4))
    yield "(%s)" % listed(items), "\\left(%s\\right)" % listed(items), True
    yield "(%s)" % listed(items), "(%s)" % listed(shuffled(r, items)), False
    yield "(%s)" % listed(items), "(%s)" % listed(items[:-1]), False
    a, b = numbers(r, 2)
    yield "(%d, %s)" % (a, tex(Fraction(b, 7))), "(%d, %s)" % (a, tex(Fraction(b, 7), r)), True
    if b:
        yield "(%d, %d)" % (a, b), "(%d, %d)" % (a, -b), False


@pairs("interval")
def interval(r):
    a, b = sorted(numbers(r, 2))
    yield "[%d, %d)" % (a, b), "\\left[%d, %d\\right)" % (a, b), True
    yield "[%d, %d)" % (a, b), "(%d, %d]" % (a, b), False
    yield "[%d, %d]" % (a, b), "[%d, %d)" % (a, b), False
    yield "(%d, \\infty)" % a, "[%d, \\infty)" % a, False
    yield "(%d, \\infty)" % a, "(-\\infty, %d)" % a, False
    yield "[%d, %d]" % (a, b), "[%d, %d]" % (a, b + 1), False


@pairs("union")
def union(r):
    a, b, c, d = sorted(numbers(r, 4))
    gold = "(-\\infty, %d) \\cup [%d, %d]" % (a, b, c)
    yield gold, "[%d, %d] \\cup (-\\infty, %d)" % (b, c, a), True
    yield gold, "(-\\infty, %d] \\cup [%d, %d]" % (a, b, c), False
    yield gold, "(-\\infty, %d) \\cap [%d, %d]" % (a, b, c), False
    yield gold, "(-\\infty, %d)" % a, False
    yield "[%d, %d] \\cup [%d, %d]" % (a, c, b, d), "[%d, %d]" % (a, d), True
    yield "[%d, %d] \\cap [%d, %d]" % (a, c, b, d), "[%d, %d]" % (b, c), True


@pairs("without points")
def without(r):
    a, b = sorted(numbers(r, 2))
    gold = "\\mathbb{R} \\setminus \\{%d, %d\\}" % (a, b)
    yield gold, "(-\\infty, %d) \\cup (%d, %d) \\cup (%d, \\infty)" % (a, a, b, b), True
    yield gold, "x \\ne %d, %d" % (a, b), True
    yield gold, "\\mathbb{R} \\setminus \\{%d\\}" % a, False
    yield gold, "\\mathbb{R} \\setminus (%d, %d)" % (a, b), False
    yield "x \\ne %d, %d" % (a, b), "x \\neq %d \\text{ and } x \\neq %d" % (b, a), True
    yield "x \\ne %d, %d" % (a, b), "x \\ne %d" % a, False
    yield "x \\ne %d" % a, "x = %d" % a, False


@pairs("set builder over the reals")
def builder(r):
    a, b = sorted(numbers(r, 2))
    x, y = letters(r, 2, "xyt")
    yield "\\{%s : %d < %s \\le %d\\}" % (x, a, x, b), "(%d, %d]" % (a, b), True
    yield "\\{%s : %d < %s \\le %d\\}" % (x, a, x, b), "\\{%s \\mid %d < %s \\leq %d\\}" % (y, a, y, b), True
    yield "\\{%s : %d < %s \\le %d\\}" % (x, a, x, b), "[%d, %d)" % (a, b), False
    yield "\\{%s : %s > %d\\}" % (x, x, a), "\\{%s : %s < %d\\}" % (x, x, a), False


@pairs("set builder over the integers")
def integers(r):
    a = r.randint(-6, 6)
    b = a + r.randint(1, 5)
    x = r.choice("nkmx")
    items = list(range(a, b + 1))
    gold = "\\{%s \\in \\mathbb{Z} : %d \\le %s \\le %d\\}" % (x, a, x, b)
    yield gold, "\\{%s\\}" % listed(items), True
    yield "\\{%s\\}" % listed(items), gold, True
    yield gold, "\\{%s\\}" % listed(items[1:]), False
    yield gold, "\\{%s \\in \\mathbb{Z} : %d < %s \\le %d\\}" % (x, a - 1, x, b), True
    yield gold, "\\{%s \\in \\mathbb{R} : %d \\le %s \\le %d\\}" % (x, a, x, b), False


@pairs("operations on sets")
def operations(r):
    a, b, c = r.sample("ABCDEST", 3)
    yield "%s \\cap %s" % (a, b), "%s \\cap %s" % (b, a), True
    yield "%s \\cup %s \\cup %s" % (a, b, c), "%s \\cup %s \\cup %s" % (c, a, b), True
    yield "%s \\cap %s" % (a, b), "%s \\cup %s" % (a, b), False
    yield "%s \\setminus %s" % (a, b), "%s \\setminus %s" % (b, a), False
    yield "%s \\cap %s" % (a, b), "%s \\cap %s" % (a, c), False


@pairs("number sets")
def number_sets(r):
    s, t = r.sample("NZQRC", 2)
    yield "\\mathbb{%s}" % s, "\\mathbb %s" % s, True
    yield "\\mathbb{%s}" % s, "\\mathbb{%s}" % t, False
    yield "\\mathbb{R}", "(-\\infty, \\infty)", True
    yield "x \\in \\mathbb{%s}" % s, "x \\in \\mathbb{%s}" % t, False


@pairs("list of values")
def values(r):
    items = numbers(r, r.randint(2, 4))
    yield listed(items), listed(shuffled(r, items)), True
    yield listed(items), " \\text{ and } ".join(map(str, items)), True
    yield listed(items), listed(items[1:]), False
    yield listed(items), listed([items[0] + 60] + items[1:]), False
    if len(set(map(abs, items))) == len(items) and 0 not in items:
        yield listed(items), listed([-items[0]] + items[1:]), False


@pairs("plus-minus")
def plus_minus(r):
    a, b = r.randint(1, 20), r.choice([2, 3, 5, 7])
    yield "\\pm %d" % a, "%d, -%d" % (a, a), True
    yield "%d \\pm \\sqrt{%d}" % (a, b), "%d + \\sqrt{%d}, %d - \\sqrt{%d}" % (a, b, a, b), True
    yield "\\pm %d" % a, str(a), False
    yield "%d \\pm \\sqrt{%d}" % (a, b), "%d + \\sqrt{%d}" % (a, b), False
    yield "%d \\pm \\sqrt{%d}" % (a, b), "-%d \\pm \\sqrt{%d}" % (a, b), False
