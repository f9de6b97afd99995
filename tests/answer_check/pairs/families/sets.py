"""Sets, intervals, unions, set builders, operations of sets, events."""

from writing import letters, nonzero, shuffled

INF = "\\infty"


def some_numbers(rng, count, size=40):
    """Returns different integers as text."""
    return [str(n) for n in rng.sample(range(-size, size + 1), count)]


def braces(items):
    """Writes a set."""
    return "\\{" + ", ".join(items) + "\\}"


def finite_sets(rng):
    """Sets of numbers and letters; the order is free."""
    items = some_numbers(rng, rng.randint(2, 5))
    if rng.random() < 0.3:
        items[0] = "\\frac{%d}{%d}" % (rng.randint(1, 20) * 2 + 1, 2)
    gold = braces(items)
    yield gold, braces(shuffled(rng, items)), True
    yield gold, "\\lbrace " + ", ".join(items) + " \\rbrace", True
    yield gold, braces(items[1:]), False
    yield gold, braces(items + ["%d" % rng.randint(50, 90)]), False
    yield gold, braces(["%d" % rng.randint(50, 90)] + items[1:]), False
    if items[0] != "0":
        flip = items[0][1:] if items[0].startswith("-") else "-" + items[0]
        yield gold, braces([flip] + items[1:]), False


def nested_sets(rng):
    """Sets in sets."""
    a, b, c = some_numbers(rng, 3, 90)
    yield braces([braces([a]), b]), braces([b, braces([a])]), True
    yield braces([braces([a, b]), braces([c])]), braces([braces([c]), braces([b, a])]), True
    yield braces([a]), braces([braces([a])]), False
    yield braces([braces([a])]), braces([a]), False
    yield braces([braces([a]), b]), braces([a, b]), False
    yield braces([braces([a, b]), braces([c])]), braces([braces([a]), braces([b, c])]), False
    yield braces([braces([a, b])]), braces([a, b]), False
    yield braces([braces([a, b])]), braces([braces([b, a])]), True


def empty_sets(rng):
    """The empty set, and sets that contain it or something else."""
    a = some_numbers(rng, 1, 900)[0]
    gold = rng.choice(["\\emptyset", "\\varnothing", "\\{\\}"])
    yield gold, rng.choice(["\\emptyset", "\\varnothing", "\\{\\}", "\\{ \\}"]), True
    yield gold, "\\{\\emptyset\\}", False
    yield "\\{\\emptyset\\}", gold, False
    yield gold, braces([a]), False
    yield braces([a]), gold, False
    yield gold, "\\{0\\}", False
    yield braces(["\\emptyset", a]), braces([a, "\\emptyset"]), True
    yield braces(["\\emptyset", a]), braces([a]), False


def tuples(rng):
    """Tuples; the order matters."""
    items = some_numbers(rng, rng.randint(2, 4))
    gold = "(%s)" % ", ".join(items)
    yield gold, "(%s)" % ", ".join(i + ".0" if i != "0" else i for i in items), True
    wrong = shuffled(rng, items)
    if wrong != items:
        yield gold, "(%s)" % ", ".join(wrong), False
    yield gold, "(%s)" % ", ".join(items + ["0"]), False
    yield gold, "(%s)" % ", ".join([str(int(items[0]) + 1)] + items[1:]), False
    yield gold, "(%s)" % ", ".join(items[:-1] + [str(int(items[-1]) - 1)]), False
    if items[0] != "0":
        yield gold, "(%s)" % ", ".join([str(-int(items[0]))] + items[1:]), False


def sets_of_tuples(rng):
    """Lists and sets of pairs: the pairs in any order, each pair in its own."""
    a, b, c, d = some_numbers(rng, 4)
    gold = "(%s, %s), (%s, %s)" % (a, b, c, d)
    yield gold, "(%s, %s), (%s, %s)" % (c, d, a, b), True
    yield gold, "(%s, %s) \\text{ and } (%s, %s)" % (a, b, c, d), True
    yield "\\{%s\\}" % gold, "\\{(%s, %s), (%s, %s)\\}" % (c, d, a, b), True
    yield gold, "(%s, %s), (%s, %s)" % (b, a, c, d), False
    yield gold, "(%s, %s), (%s, %s)" % (a, d, c, b), False
    yield gold, "(%s, %s)" % (a, b), False
    yield gold, "(%s, %s, %s, %s)" % (a, b, c, d), False
    yield "\\{%s\\}" % gold, "\\{(%s, %s), (%s, %s)\\}" % (b, a, d, c), {(a, b), (c, d)} == {(b, a), (d, c)}


def intervals(rng):
    """Intervals with all brackets."""
    a, b = sorted(rng.sample(range(-60, 61), 2))
    left, right = rng.choice("(["), rng.choice(")]")
    if left + right == "()":
        right = "]"  # An open interval may be read as a pair.
    gold = "%s%d, %d%s" % (left, a, b, right)
    relation = "%d %s x %s %d" % (a, "<" if left == "(" else "\\le", "<" if right == ")" else "\\le", b)
    yield gold, "x \\in " + gold, True
    yield gold, relation, True
    yield relation, gold, True
    other = "%s%d, %d%s"
    yield gold, other % ("[" if left == "(" else "(", a, b, right), False
    yield gold, other % (left, a, b, ")" if right == "]" else "]"), False
    yield gold, other % (left, a, b + 1, right), False
    yield gold, other % (left, a - 1, b, right), False
    yield gold, other % (left, -b, -a, right), a == -b
    yield "(-\\infty, %d]" % a, "(-\\infty, %d)" % a, False
    yield "(-\\infty, %d]" % a, "x \\le %d" % a, True
    yield "[%d, \\infty)" % a, "[%d, +\\infty)" % a, True
    yield "(%d, \\infty)" % a, "(-\\infty, %d)" % a, False
    yield "[%d, \\infty)" % a, "(%d, \\infty)" % a, False


def unions(rng):
    """Unions of intervals."""
    a, b, c, d = sorted(rng.sample(range(-60, 61), 4))
    gold = "(-\\infty, %d) \\cup [%d, %d)" % (a, b, c)
    yield gold, "[%d, %d) \\cup (-\\infty, %d)" % (b, c, a), True
    yield gold, "(-\\infty, %d) \\cap [%d, %d)" % (a, b, c), False
    yield gold, "(-\\infty, %d] \\cup [%d, %d)" % (a, b, c), False
    yield gold, "(-\\infty, %d) \\cup [%d, %d]" % (a, b, c), False
    yield gold, "(-\\infty, %d)" % a, False
    yield gold, "(-\\infty, %d) \\cup [%d, %d)" % (a, b, d), False
    yield "(-\\infty, %d) \\cup (%d, \\infty)" % (a, b), "x<%d \\text{ or } x>%d" % (a, b), True
    yield "(-\\infty, %d) \\cup (%d, \\infty)" % (a, a), "\\mathbb{R} \\setminus \\{%d\\}" % a, True
    yield "(-\\infty, %d) \\cup (%d, \\infty)" % (a, a), "x \\ne %d" % a, True
    yield "(-\\infty, %d) \\cup (%d, \\infty)" % (a, a), "\\mathbb{R}", False
    yield "(-\\infty, %d) \\cup (%d, \\infty)" % (a, b), "(%d, %d)" % (a, b), False
    yield "[%d, %d] \\cup [%d, %d]" % (a, b, c, d), "[%d, %d]" % (a, d), False
    yield "[%d, %d] \\cup [%d, %d]" % (a, c, b, d), "[%d, %d]" % (a, d), True


def real_builders(rng):
    """Sets of reals with a condition."""
    x, y = letters(rng, 2, "xyt")
    a, b = sorted(rng.sample(range(-90, 91), 2))
    yield "\\{%s : %s>%d\\}" % (x, x, a), "\\{%s : %s>%d\\}" % (y, y, a), True
    yield "\\{%s : %s>%d\\}" % (x, x, a), "\\{%s \\mid %s>%d\\}" % (x, x, a), True
    yield "\\{%s \\in \\mathbb{R} : %s \\ge %d\\}" % (x, x, a), "[%d, \\infty)" % a, True
    yield "\\{%s : %d \\le %s<%d\\}" % (x, a, x, b), "[%d, %d)" % (a, b), True
    yield "\\{%s : %s>%d\\}" % (x, x, a), "\\{%s : %s \\ge %d\\}" % (x, x, a), False
    yield "\\{%s : %s>%d\\}" % (x, x, a), "\\{%s : %s<%d\\}" % (x, x, a), False
    yield "\\{%s : %d \\le %s<%d\\}" % (x, a, x, b), "(%d, %d]" % (a, b), False
    yield "\\{%s \\in \\mathbb{R} : %s \\ge %d\\}" % (x, x, a), "[%d, \\infty)" % b, False
    yield "\\{%s : %s>%d\\}" % (x, x, a), "\\{%d\\}" % a, False


def integer_builders(rng):
    """Sets of integers with a condition."""
    n = rng.choice("nkm")
    a = rng.randint(-40, 40)
    b = a + rng.randint(2, 4)
    whole = [str(v) for v in range(a, b + 1)]
    gold = "\\{%s \\in \\mathbb{Z} : %d \\le %s \\le %d\\}" % (n, a, n, b)
    yield gold, "\\{%s \\in \\mathbb{Z} \\mid %d \\le %s \\le %d\\}" % (n, a, n, b), True
    yield gold, braces(whole), True
    yield gold, braces(whole[1:]), False
    yield gold, braces(whole + [str(b + 1)]), False
    yield gold, "\\{%s \\in \\mathbb{R} : %d \\le %s \\le %d\\}" % (n, a, n, b), False
    yield gold, "[%d, %d]" % (a, b), False
    yield gold, "\\{%s \\in \\mathbb{Z} : %d<%s \\le %d\\}" % (n, a, n, b), False
    k = nonzero(rng, 9)
    yield "\\{%dn : n \\in \\mathbb{Z}\\}" % abs(2 * k), "\\{%dn : n \\in \\mathbb{Z}\\}" % abs(3 * k), False


def set_operations(rng):
    """Intersections, unions, differences, complements and products of named sets."""
    a, b, c = letters(rng, 3, "ABCDKMSTUVWXY")
    yield "%s \\cap %s" % (a, b), "%s \\cap %s" % (b, a), True
    yield "%s \\cup %s" % (a, b), "%s \\cup %s" % (b, a), True
    yield "(%s \\cup %s) \\cap %s" % (a, b, c), "%s \\cap (%s \\cup %s)" % (c, b, a), True
    yield "%s \\subset %s" % (a, b), "%s \\supset %s" % (b, a), True
    yield "%s \\cap %s" % (a, b), "%s \\cup %s" % (a, b), False
    yield "%s \\setminus %s" % (a, b), "%s \\setminus %s" % (b, a), False
    yield "%s \\subset %s" % (a, b), "%s \\subset %s" % (b, a), False
    yield "%s \\times %s" % (a, b), "%s \\cup %s" % (a, b), False
    yield "(%s \\cup %s) \\cap %s" % (a, b, c), "%s \\cup (%s \\cap %s)" % (a, b, c), False
    yield "%s \\cap %s" % (a, b), "%s \\cap %s" % (a, c), False
    yield "%s \\setminus %s" % (a, b), "%s \\cap %s" % (a, b), False
    yield "%s^c" % a, a, False
    yield "\\overline{%s \\cup %s}" % (a, b), "\\overline{%s} \\cup \\overline{%s}" % (a, b), False


def events(rng):
    """Probabilities of events."""
    a, b, c = letters(rng, 3, "ABCDEMSTXY")
    k = rng.randint(2, 30)
    yield "P(%s \\mid %s)" % (a, b), "P(%s|%s)" % (a, b), True
    yield "P(%s \\cap %s)" % (a, b), "P(%s \\cap %s)" % (b, a), True
    yield "P(%s)+%d" % (a, k), "%d+P(%s)" % (k, a), True
    yield "P(%s|%s)" % (a, b), "P(%s|%s)" % (b, a), False
    yield "P(%s|%s)" % (a, b), "P(%s \\cap %s)" % (a, b), False
    yield "P(%s \\cap %s)" % (a, b), "P(%s \\cup %s)" % (a, b), False
    yield "P(%s)P(%s)" % (a, b), "P(%s)+P(%s)" % (a, b), False
    yield "P(%s)" % a, "P(%s)" % c, False
    yield "%dP(%s)" % (k, a), "P(%d%s)" % (k, a), False


CLASSES = [
    ("finite_set", finite_sets, None),
    ("nested_set", nested_sets, None),
    ("empty_set", empty_sets, None),
    ("tuple", tuples, None),
    ("tuples", sets_of_tuples, None),
    ("interval", intervals, "region"),
    ("union", unions, "region"),
    ("set_of_reals", real_builders, None),
    ("set_of_integers", integer_builders, None),
    ("set_operation", set_operations, None),
    ("event", events, None),
]
