"""Classes of logic."""

from common import pairs


@pairs("and, or")
def connectives(r):
    p, q, s = r.sample("pqrst", 3)
    conj, disj = r.choice([("\\land", "\\lor"), ("\\wedge", "\\vee")])
    yield "%s %s %s" % (p, conj, q), "%s %s %s" % (p, disj, q), False
    yield "%s %s %s" % (p, conj, q), "%s %s %s" % (q, conj, p), True
    yield "%s %s %s" % (p, disj, q), "%s %s %s" % (q, disj, p), True
    yield "%s %s (%s %s %s)" % (p, conj, q, disj, s), "(%s %s %s) %s %s" % (p, conj, q, disj, s), False
    yield "%s %s %s" % (p, conj, q), "%s \\land %s" % (p, q), True
    yield "%s %s %s" % (p, conj, q), "%s %s %s" % (p, conj, s), False


@pairs("implication")
def implication(r):
    p, q = r.sample("pqrst", 2)
    sign = r.choice(["\\to", "\\implies", "\\Rightarrow", "\\rightarrow"])
    yield "%s %s %s" % (p, sign, q), "%s %s %s" % (q, sign, p), False
    yield "%s %s %s" % (p, sign, q), "%s %s  %s" % (p, sign, q), True
    yield "%s \\iff %s" % (p, q), "%s \\Leftrightarrow %s" % (p, q), True


@pairs("negation")
def negation(r):
    p, q = r.sample("pqrst", 2)
    yield "\\neg %s" % p, p, False
    yield "\\neg %s" % p, "\\lnot %s" % p, True
    yield "\\neg %s \\land %s" % (p, q), "\\neg(%s \\land %s)" % (p, q), False
    yield "\\neg %s \\land %s" % (p, q), "%s \\land \\neg %s" % (q, p), True


@pairs("quantifier")
def quantifier(r):
    x = r.choice("xyn")
    yield "\\forall %s, P(%s)" % (x, x), "\\exists %s, P(%s)" % (x, x), False
    yield "%s \\in A" % x, "%s \\notin A" % x, False
    yield "A \\subset B", "B \\subset A", False
