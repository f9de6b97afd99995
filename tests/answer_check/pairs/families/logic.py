"""Propositions and quantifiers."""

from writing import letters


def connectives(rng):
    """And, or: commutative, and not the same."""
    p, q, r = letters(rng, 3, "pqrstABCPQR")
    yield "%s \\land %s" % (p, q), "%s \\land %s" % (q, p), True
    yield "%s \\lor %s" % (p, q), "%s \\lor %s" % (q, p), True
    yield "%s \\land %s" % (p, q), "%s \\wedge %s" % (p, q), True
    yield "(%s \\lor %s) \\land %s" % (p, q, r), "%s \\land (%s \\lor %s)" % (r, q, p), True
    yield "%s \\land %s" % (p, q), "%s \\lor %s" % (p, q), False
    yield "%s \\lor %s" % (p, q), "%s \\land %s" % (p, q), False
    yield "%s \\land %s" % (p, q), "%s \\land %s" % (p, r), False
    yield "%s \\land %s" % (p, q), p, False
    yield "(%s \\lor %s) \\land %s" % (p, q, r), "%s \\lor (%s \\land %s)" % (p, q, r), False


def negations(rng):
    """Negations, and De Morgan's mistakes."""
    p, q, r = letters(rng, 3, "pqrstABCPQR")
    op, dual = rng.sample(["\\land", "\\lor"], 2)
    yield "\\neg %s %s %s" % (p, op, q), "\\lnot %s %s %s" % (p, op, q), True
    yield "\\neg %s %s %s" % (p, op, q), "%s %s \\neg %s" % (q, op, p), True
    yield "\\neg %s" % p, p, False
    yield "\\neg %s %s %s" % (p, op, q), "%s %s \\neg %s" % (p, op, q), False
    yield "\\neg(%s %s %s)" % (p, op, q), "\\neg %s %s \\neg %s" % (p, op, q), False
    yield "\\neg(%s %s %s)" % (p, op, q), "\\neg %s %s %s" % (p, op, q), False
    yield "\\neg %s %s \\neg %s" % (p, op, r), "\\neg %s %s \\neg %s" % (p, dual, r), False


def implications(rng):
    """Implications, which have a direction, and equivalences, which have none."""
    p, q, r = letters(rng, 3, "pqrstABCPQR")
    yield "%s \\to %s" % (p, q), "%s \\rightarrow %s" % (p, q), True
    yield "%s \\Rightarrow %s" % (p, q), "%s \\implies %s" % (p, q), True
    yield "%s \\leftrightarrow %s" % (p, q), "%s \\leftrightarrow %s" % (q, p), True
    yield "%s \\iff %s" % (p, q), "%s \\iff %s" % (q, p), True
    yield "%s \\to %s" % (p, q), "%s \\to %s" % (q, p), False
    yield "%s \\Rightarrow %s" % (p, q), "%s \\Rightarrow %s" % (q, p), False
    yield "%s \\to %s" % (p, q), "\\neg %s \\to \\neg %s" % (p, q), False
    yield "%s \\to %s" % (p, q), "%s \\leftrightarrow %s" % (p, q), False
    yield "%s \\to %s" % (p, q), "%s \\land %s" % (p, q), False
    yield "%s \\to %s" % (p, q), "%s \\to %s" % (p, r), False


def quantifiers(rng):
    """For all and there is."""
    x = rng.choice("xyzn")
    y = rng.choice([c for c in "xyzn" if c != x])
    p, q = letters(rng, 2, "PQRST")
    yield "\\forall %s\\, %s(%s)" % (x, p, x), "\\forall %s %s(%s)" % (x, p, x), True
    yield "\\forall %s\\, %s(%s)" % (x, p, x), "\\exists %s\\, %s(%s)" % (x, p, x), False
    yield "\\exists %s\\, %s(%s)" % (x, p, x), "\\forall %s\\, %s(%s)" % (x, p, x), False
    yield "\\forall %s\\, %s(%s)" % (x, p, x), "\\forall %s\\, %s(%s)" % (x, q, x), False
    yield "\\exists %s\\, %s(%s)" % (x, p, x), "\\exists %s\\, \\neg %s(%s)" % (x, p, x), False
    yield (
        "\\forall %s \\exists %s\\, %s(%s, %s)" % (x, y, p, x, y),
        "\\exists %s \\forall %s\\, %s(%s, %s)" % (y, x, p, x, y),
        False,
    )
    yield (
        "\\forall %s \\exists %s\\, %s(%s, %s)" % (x, y, p, x, y),
        "\\forall %s\\,\\exists %s\\, %s(%s,%s)" % (x, y, p, x, y),
        True,
    )


def truth_words(rng):
    """True and false."""
    gold, other = rng.sample(["True", "False"], 2)
    yield gold, gold.lower(), True
    yield "\\text{%s}" % gold, gold, True
    yield gold, "\\textbf{%s}" % gold, True
    yield gold, gold + ".", True
    yield gold, other, False
    yield gold, "\\text{%s}" % other.lower(), False
    yield gold, "not " + gold.lower(), False


CLASSES = [
    ("and_or", connectives, "logic"),
    ("negation", negations, "logic"),
    ("implication", implications, "logic"),
    ("quantifier", quantifiers, None),
    ("true_false", truth_words, "text"),
]
