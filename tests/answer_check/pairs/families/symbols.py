"""Signs that change the meaning: negated relations, operators, marks on a letter, special values, units."""

from writing import letters, nonzero

# (relation, its negation in two writings); order matters for none of them here.
NEGATED = [
    ("\\mid", "\\nmid", "\\not\\mid"),
    ("\\in", "\\notin", "\\not\\in"),
    ("\\parallel", "\\nparallel", "\\not\\parallel"),
    ("\\subseteq", "\\nsubseteq", "\\not\\subseteq"),
    ("=", "\\ne", "\\not="),
    ("\\cong", "\\ncong", "\\not\\cong"),
]
MARKS = ["\\hat{%s}", "\\bar{%s}", "\\tilde{%s}", "\\dot{%s}", "\\ddot{%s}", "%s'", "%s^*", "\\vec{%s}", "%s"]
OPERATORS = [
    ("\\det", "\\operatorname{tr}"),
    ("\\operatorname{rank}", "\\operatorname{tr}"),
    ("\\operatorname{rank}", "\\det"),
    ("\\dim", "\\det"),
    ("\\ker", "\\operatorname{im}"),
    ("\\operatorname{Re}", "\\operatorname{Im}"),
    ("\\arg", "\\operatorname{Re}"),
    ("\\operatorname{Var}", "\\operatorname{E}"),
    ("\\sup", "\\inf"),
    ("\\max", "\\min"),
]
FIELDS = ["\\mathbb{R}", "\\mathbb{Z}", "\\mathbb{Q}", "\\mathbb{N}", "\\mathbb{C}"]
NOUNS = "apples oranges students books marbles coins tickets chairs cars stamps pencils dogs".split()


def negated_relations(rng):
    """A relation beside its negation."""
    plain, one, two = rng.choice(NEGATED)
    a, b, c = letters(rng, 3, "abcmnpqxyABCDE")
    k = rng.randint(2, 99)
    left, right = rng.choice([(a, b), (str(k), a), ("%d%s" % (k, a), b)])
    yield "%s %s %s" % (left, one, right), "%s %s %s" % (left, two, right), True
    yield "%s %s %s" % (left, plain, right), "%s %s %s" % (left, one, right), False
    yield "%s %s %s" % (left, plain, right), "%s %s %s" % (left, two, right), False
    yield "%s %s %s" % (left, two, right), "%s %s %s" % (left, plain, right), False
    yield "%s %s %s" % (left, plain, right), "%s %s %s" % (left, plain, c), False
    if plain in ("\\mid", "\\in", "\\subseteq"):
        yield "%s %s %s" % (left, plain, right), "%s %s %s" % (right, plain, left), False


def relations_of_names(rng):
    """Relations that are not each other."""
    signs = ["\\parallel", "\\perp", "\\cong", "\\sim", "\\mid", "\\propto", "<", "=", "\\in", "\\subset"]
    one, two = rng.sample(signs, 2)
    if {one, two} in ({"=", "\\cong"}, {"\\sim", "\\cong"}, {"\\sim", "\\propto"}):
        return  # Some authors use one for the other.
    a, b = letters(rng, 2, "ABCDKLMPQR")
    k = rng.randint(2, 99)
    yield "%s %s %s" % (a, one, b), "%s %s %s" % (a, one, b), True
    yield "%s %s %s" % (a, one, b), "%s %s %s" % (a, two, b), False
    yield "%s_{%d} %s %s_{%d}" % (a, k, one, b, k), "%s_{%d} %s %s_{%d}" % (a, k, two, b, k), False
    yield "%s_{%d} %s %s" % (a, k, one, b), "%s_{%d} %s %s" % (a, k + 1, one, b), False
    yield "%s \\propto %s" % (a, b), "%s \\propto \\frac{1}{%s}" % (a, b), False


def marks(rng):
    """Marks over and beside a letter."""
    one, two = rng.sample(MARKS, 2)
    if "\\vec{%s}" in (one, two) and "%s" in (one, two):
        return  # Some graders forgive a missing arrow.
    x, y = letters(rng, 2, "apqrstuvxy")
    k = rng.randint(2, 99)
    if "vec" not in one:
        yield "%d%s+%d" % (k, one % x, k), "%d+%d%s" % (k, k, one % x), True
    yield "%d%s" % (k, one % x), "%d%s" % (k, two % x), False
    yield "%d%s" % (k, one % x), "%d%s" % (k, one % y), False
    yield one % x + "+" + y, y + "+" + one % x, True
    yield one % x + "+" + y, x + "+" + one % y if one not in ("%s", "\\vec{%s}") else "%s-%s" % (x, y), False


def operators(rng):
    """Named operators applied to a name."""
    one, two = rng.choice(OPERATORS)
    a, b = letters(rng, 2, "ABMSTXYZ")
    k = rng.randint(2, 99)
    text = "%d%s(%s)"
    yield text % (k, one, a), "%d %s\\left(%s\\right)" % (k, one, a), True
    yield text % (k, one, a), text % (k, two, a), False
    yield text % (k, two, a), text % (k, one, a), False
    yield text % (k, one, a), text % (k, one, b), False
    yield text % (k, one, a), "%d%s" % (k, a), False
    yield "%s(%s)+%d" % (one, a, k), "%d+%s(%s)" % (k, one, a), True


def field_operators(rng):
    """Gradients, divergences, curls and one-sided limits of unknown functions."""
    f, g = rng.sample("FGHE", 2)
    a = rng.randint(1, 60)
    yield "\\nabla \\cdot %s" % f, "\\nabla \\times %s" % f, False
    yield "\\nabla %s" % f, "\\nabla^2 %s" % f, False
    yield "\\nabla \\times %s" % f, "\\nabla \\times %s" % g, False
    yield "\\lim_{x \\to %d^+} %s(x)" % (a, f), "\\lim_{x \\to %d^-} %s(x)" % (a, f), False
    yield "\\lim_{x \\to %d} %s(x)" % (a, f), "\\lim_{x \\to -%d} %s(x)" % (a, f), False
    yield "\\lim_{x \\to %d} %s(x)" % (a, f), "\\lim_{x \\to %d} %s(x)" % (a, g), False
    yield "\\lim_{x \\to %d} %s(x)" % (a, f), "\\lim_{x\\rightarrow %d} %s(x)" % (a, f), True
    yield "\\lim_{x \\to %d} %s(x)" % (a, f), "%s(%d)" % (f, a), False
    yield "\\bigcup_{n=1}^{%d} %s_n" % (a + 1, f), "\\bigcap_{n=1}^{%d} %s_n" % (a + 1, f), False
    yield "%s \\oplus %s" % (f, g), "%s \\otimes %s" % (f, g), False


def special_values(rng):
    """Infinity, no value, no solution, all numbers."""
    n = nonzero(rng, 99999)
    field, other = rng.sample(FIELDS, 2)
    sign = rng.choice(["", "+"])
    nothing = rng.choice(
        ["\\text{no solution}", "\\text{does not exist}", "\\text{undefined}", "\\text{DNE}"]
    )
    yield "\\infty", "+\\infty", True
    yield "\\text{does not exist}", "\\text{DNE}", True
    yield "\\text{all real numbers}", "(-\\infty, \\infty)", True
    yield "%s\\infty" % sign, "-\\infty", False
    yield "-\\infty", "%s\\infty" % sign, False
    yield "\\infty", str(n), False
    yield str(n), "%s\\infty" % sign, False
    yield nothing, str(n), False
    yield str(n), nothing, False
    yield nothing, "0", False
    yield field, other, False
    yield field, "%s \\setminus \\{%d\\}" % (field, abs(n)), False
    yield "\\text{all real numbers}", str(n), False
    yield "\\text{no solution}", "\\text{all real numbers}", False


def mixed_units(rng):
    """Quantities in two units at once."""
    a, b = rng.randint(1, 40), rng.randint(1, 59)
    inches = b % 11 + 1
    gold = "%d \\text{ hours } %d \\text{ minutes}" % (a, b)
    yield gold, "%d\\text{ minutes}" % (60 * a + b), True
    yield gold, "%d\\text{ minutes}" % (60 * a + b + 1), False
    yield gold, "%d\\text{ minutes}" % (100 * a + b), False
    yield gold, "%d \\text{ hours}" % a, False
    yield gold, "%d \\text{ hours } %d \\text{ minutes}" % (a, b + 1), False
    feet = "%d \\text{ feet } %d \\text{ inches}" % (a, inches)
    yield feet, "%d \\text{ inches}" % (12 * a + inches), True
    yield feet, "%d \\text{ inches}" % (10 * a + inches), False
    yield feet, "%d \\text{ feet } %d \\text{ inches}" % (inches, a), inches == a
    yield "%d^\\circ %d'" % (a, b), "%d^\\circ %d'" % (a, b % 59 + 1), False
    yield "%d^\\circ 30'" % a, "%d.5^\\circ" % a, True
    yield "%d^\\circ 30'" % a, "%d.3^\\circ" % a, False


def counted_things(rng):
    """Numbers of things: other numbers, other things, other powers of a unit."""
    one, two = rng.sample(NOUNS, 2)
    n = rng.randint(2, 9999)
    yield "%d \\text{ %s}" % (n, one), "%d\\ \\text{%s}" % (n, one), True
    yield "%d \\text{ %s}" % (n, one), "%d \\text{ %s}" % (n + 1, one), False
    yield "%d \\text{ %s}" % (n, one), "%d \\text{ %s}" % (n, two), False
    unit, other = rng.sample(["cm", "m", "km", "mm", "kg", "s"], 2)
    yield "%d\\text{ %s}" % (n, unit), "%d\\text{ %s}^2" % (n, unit), False
    yield "%d\\text{ %s}^2" % (n, unit), "%d\\text{ %s}^3" % (n, unit), False
    yield "%d\\text{ %s}" % (n, unit), "%d\\ \\mathrm{%s}" % (n, unit), True
    yield "%d\\text{ %s}" % (n, unit), "%d\\text{ %s}" % (n, other), False
    yield "%d\\%%" % n, "%d\\text{ %s}" % (n, unit), False
    yield "%d\\text{ %s}" % (n, unit), "%d\\%%" % n, False


CLASSES = [
    ("negated_relation", negated_relations, None),
    ("relation_of_names", relations_of_names, None),
    ("mark", marks, None),
    ("operator", operators, None),
    ("field_operator", field_operators, None),
    ("special_value", special_values, None),
    ("mixed_units", mixed_units, None),
    ("counted_thing", counted_things, None),
]
