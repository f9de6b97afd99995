"""Vectors: products, directed segments, components, lengths; names of angles, segments and triangles."""

from writing import letters, nonzero, total


def vector_products(rng):
    """Dot and cross products of named vectors."""
    a, b, c = letters(rng, 3, "abcpquvw")
    accent = rng.choice(["\\vec{%s}", "\\mathbf{%s}", "\\vec %s"])
    a, b, c = accent % a, accent % b, accent % c
    k = rng.randint(2, 90)
    yield "%d%s \\cdot %s" % (k, a, b), "%d%s \\cdot %s" % (k, b, a), True
    yield "%s+%d%s" % (a, k, b), "%d%s+%s" % (k, b, a), True
    yield "%d%s \\times %s" % (k, a, b), "%d(%s \\times %s)" % (k, a, b), True
    yield "%d%s \\times %s" % (k, a, b), "%d%s \\times %s" % (k, b, a), False
    yield "%d%s \\times %s" % (k, a, b), "%d%s \\cdot %s" % (k, a, b), False
    yield "%d%s \\cdot %s" % (k, a, b), "%d%s \\times %s" % (k, a, b), False
    yield "%s+%d%s" % (a, k, b), "%s-%d%s" % (a, k, b), False
    yield "%s+%d%s" % (a, k, b), "%d%s+%s" % (k, a, b), False
    yield "%d%s \\cdot %s" % (k, a, b), "%d%s \\cdot %s" % (k, a, c), False


def vector_or_letter(rng):
    """A vector is not its letter."""
    a, b = letters(rng, 2, "abcpquvw")
    k = rng.randint(2, 90)
    yield "%d\\vec{%s}" % (k, a), "%d\\vec %s" % (k, a), True
    yield "%d\\vec{%s}" % (k, a), "%d\\vec{%s}" % (k, b), False
    yield "%d\\vec{%s}" % (k, a), "%d\\vec{%s}" % (k + 1, a), False
    yield "%d\\vec{%s}" % (k, a), "-%d\\vec{%s}" % (k, a), False
    yield "%d|\\vec{%s}|" % (k, a), "%d\\|\\vec{%s}\\|" % (k, a), True
    yield "%d|\\vec{%s}|" % (k, a), "%d\\vec{%s}" % (k, a), False
    yield "%d|\\vec{%s}|" % (k, a), "%d|\\vec{%s}|" % (k, b), False
    yield "|\\vec{%s}+\\vec{%s}|" % (a, b), "|\\vec{%s}|+|\\vec{%s}|" % (a, b), False
    yield "|\\vec{%s}+\\vec{%s}|" % (a, b), "|\\vec{%s}+\\vec{%s}|" % (b, a), True


def directed_segments(rng):
    """Vectors between points."""
    p, q, r = letters(rng, 3, "ABCDEFHMNPQRST")
    k = rng.randint(2, 60)
    arrow = "\\overrightarrow{%s%s}"
    yield "%d%s" % (k, arrow % (p, q)), "%s \\cdot %d" % (arrow % (p, q), k), True
    yield (arrow % (p, q)) + "+" + str(k) + arrow % (p, r), str(k) + arrow % (p, r) + "+" + arrow % (
        p,
        q,
    ), True
    yield arrow % (p, q), "\\vec{%s%s}" % (p, q), True
    yield arrow % (p, q), arrow % (q, p), False
    yield "%d%s" % (k, arrow % (p, q)), "%d%s" % (k, arrow % (q, p)), False
    yield arrow % (p, q), arrow % (p, r), False
    yield arrow % (p, q) + "+" + arrow % (q, r), arrow % (r, p), False
    yield "%d%s" % (k, arrow % (p, q)), "%d%s" % (k + 1, arrow % (p, q)), False
    yield arrow % (p, q) + "-" + arrow % (p, r), arrow % (p, r) + "-" + arrow % (p, q), False


def components(rng):
    """Vectors by components and unit vectors."""
    a, b, c = (nonzero(rng, 20) for _ in range(3))
    gold = "\\langle %d, %d, %d \\rangle" % (a, b, c)
    yield gold, "(%d, %d, %d)" % (a, b, c), True
    yield gold, "\\langle %d, %d, %d \\rangle" % (a, b, -c), False
    yield gold, "\\langle %d, %d \\rangle" % (a, b), False
    yield gold, "\\langle %d, %d, %d \\rangle" % (c, b, a), a == c
    yield gold, str(a + b + c), False
    hats = ["\\hat{i}", "\\hat{j}", "\\hat{k}"]
    unit = total(zip((a, b, c), hats))
    yield unit, total([(b, hats[1]), (c, hats[2]), (a, hats[0])]), True
    yield unit, total(zip((b, a, c), hats)), a == b
    yield unit, total(zip((a, b, -c), hats)), False
    yield unit, total(zip((a, b, c), "xyz")), False


def named_figures(rng):
    """Angles, segments and triangles named by points."""
    p, q, r, s = letters(rng, 4, "ABCDEFHMNPQRST")
    yield "\\angle %s%s%s" % (p, q, r), "\\angle %s%s%s" % (r, q, p), True
    yield "\\angle %s%s%s" % (p, q, r), "\\angle %s%s%s" % (q, p, r), False
    yield "\\angle %s%s%s" % (p, q, r), "\\angle %s%s%s" % (p, q, s), False
    yield "\\triangle %s%s%s" % (p, q, r), "\\triangle %s%s%s" % (p, q, s), False
    yield "\\overline{%s%s}" % (p, q), "\\overline{%s%s}" % (p, r), False
    yield "%s%s" % (p, q), "%s%s" % (p, r), False
    yield "%s%s \\parallel %s%s" % (p, q, r, s), "%s%s \\perp %s%s" % (p, q, r, s), False
    yield "%s%s=%s%s" % (p, q, r, s), "%s%s=%s%s" % (r, s, p, q), True


CLASSES = [
    ("vector_product", vector_products, None),
    ("vector_length", vector_or_letter, None),
    ("directed_segment", directed_segments, None),
    ("component", components, None),
    ("named_figure", named_figures, None),
]
