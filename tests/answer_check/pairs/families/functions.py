"""Functions: unknown ones, compositions, definitions, cases."""

from writing import letters, linear, nonzero, poly, shuffled, term

NAMES = "fghFG"


def unknown_functions(rng):
    """Nothing is known of f but that it is a function."""
    f, g = rng.sample(NAMES, 2)
    x, y = letters(rng, 2, "xyztuabpq")
    n, k = rng.randint(2, 60), rng.randint(2, 60)
    yield "%d%s(%s+%s)" % (k, f, x, y), "%d%s(%s+%s)" % (k, f, y, x), True
    yield "%s(%s)+%d%s(%s)" % (f, x, k, g, y), "%d%s(%s)+%s(%s)" % (k, g, y, f, x), True
    yield "%s(%d)" % (f, n), "%s(%d+%d)" % (f, n - 1, 1), True
    yield "%s(%s)%s(%s)" % (f, x, g, y), "%s(%s) \\cdot %s(%s)" % (g, y, f, x), True
    yield "%s(%s+%d)" % (f, x, k), "%s(%d+%s)" % (f, k, x), True
    yield "%s(%s+%s)" % (f, x, y), "%s(%s)+%s(%s)" % (f, x, f, y), False
    yield "%s(%d)" % (f, n), "%d%s(1)" % (n, f), False
    yield "%s(%d%s)" % (f, k, x), "%d%s(%s)" % (k, f, x), False
    yield "%s(-%s)" % (f, x), "-%s(%s)" % (f, x), False
    yield "%s(%s)%s(%s)" % (f, x, g, y), "%s(%s)%s(%s)" % (f, y, g, x), False
    yield "%s(%s+%d)" % (f, x, k), "%s(%s)+%d" % (f, x, k), False
    yield "%s(%d)" % (f, n), "%s(%d)" % (f, n + 1), False
    yield "%s(%d)" % (f, n), "%s(%d)" % (g, n), False
    yield "%d%s(%s)" % (k, f, x), "%d%s(%s)" % (k, f, y), False


def functions_of_two(rng):
    """Functions of two arguments, whose order matters."""
    f = rng.choice(NAMES)
    x, y = letters(rng, 2, "xyztuabpq")
    n, m = rng.sample(range(1, 60), 2)
    k = rng.randint(2, 60)
    yield "%d%s(%s, %s)+%d" % (k, f, x, y, n), "%d+%d%s(%s, %s)" % (n, k, f, x, y), True
    yield "%s(%d, %d)" % (f, n, m), "%s(%d, %d)" % (f, m, n), False
    yield "%s(%s, %d)" % (f, x, n), "%s(%d, %s)" % (f, n, x), False
    yield "%d%s(%s, %s)" % (k, f, x, y), "%d%s(%s, %s)" % (k, f, y, x), False
    yield "%s(%s+%d, %s)" % (f, x, n, y), "%s(%d+%s, %s)" % (f, n, x, y), True
    yield "%s(%s+%d, %s)" % (f, x, n, y), "%s(%s, %s+%d)" % (f, x, y, n), False


def compositions(rng):
    """Functions of functions, inverses, and powers."""
    f, g = rng.sample("fgh", 2)
    x = rng.choice("xytu")
    k = rng.randint(2, 90)
    yield "%d%s(%s(%s))" % (k, f, g, x), "%s(%s(%s)) \\cdot %d" % (f, g, x, k), True
    yield "%s(%s(%s))+%d" % (f, g, x, k), "%d+%s(%s(%s))" % (k, f, g, x), True
    yield "%s(%s(%d))" % (f, g, k), "(%s \\circ %s)(%d)" % (f, g, k), True
    yield "%s(%s(%d))" % (f, g, k), "%s(%s(%d))" % (g, f, k), False
    yield "%d%s(%s(%s))" % (k, f, g, x), "%d%s(%s(%s))" % (k, g, f, x), False
    yield "%s(%s(%s))+%d" % (f, g, x, k), "%s(%s)%s(%s)+%d" % (f, x, g, x, k), False
    yield "%s \\circ %s" % (f, g), "%s \\circ %s" % (g, f), False
    yield "%s^{-1}(%d)" % (f, k), "%s(%d)" % (f, k), False
    yield "%s^{-1}(%d)" % (f, k), "%s^{-1}(%d)" % (f, k + 1), False
    yield "%s^{-1}(%d)" % (f, k), "%s^{-1}(%d)" % (g, k), False


def letters_before_brackets(rng):
    """Products of a letter and a bracket."""
    a, b, c = letters(rng, 3, "abcmnpqrstxyz")
    k = rng.randint(2, 90)
    yield "%s(%s+%s)+%d" % (a, b, c, k), "%s%s+%s%s+%d" % (a, b, a, c, k), True
    yield "%d%s(%s-%s)" % (k, a, b, c), "%d(%s-%s)%s" % (k, b, c, a), True
    yield "(%s+%d)(%s+%s)" % (a, k, b, c), "(%s+%s)(%d+%s)" % (c, b, k, a), True
    yield "%s(%s+%s)+%d" % (a, b, c, k), "%s%s+%s+%d" % (a, b, c, k), False
    yield "%d%s(%s-%s)" % (k, a, b, c), "%d%s(%s-%s)" % (k, a, c, b), False
    yield "(%s+%d)(%s+%s)" % (a, k, b, c), "%s+%d(%s+%s)" % (a, k, b, c), False
    yield "%s(%s+%s)+%d" % (a, b, c, k), "%s(%s+%s)+%d" % (b, a, c, k), False
    yield "%s(%s+%s)+%d" % (a, b, c, k), "%s(%s+%s+%d)" % (a, b, c, k), False


def definitions(rng):
    """Answers of the form f(x) = ..."""
    f, g = rng.sample("fgh", 2)
    x = rng.choice("xt")
    coefs = [nonzero(rng, 20) for _ in range(rng.choice([2, 3]))]
    body = poly(coefs, x)
    wrong = coefs[:]
    wrong[rng.randrange(len(wrong))] *= -1
    gold = "%s(%s)=%s" % (f, x, body)
    yield gold, "%s(%s)=%s" % (f, x, poly(coefs, x, rng)), True
    yield gold, poly(coefs, x, rng), True
    yield gold, "%s(%s)=%s" % (f, x, poly(wrong, x)), False
    yield gold, poly(wrong, x), False
    yield gold, "%s(%s)=%s" % (f, x, poly([c * 2 for c in coefs], x)), False
    yield gold, "%s(%s)=-(%s)" % (f, x, body), False
    yield "%s(%s)=%s" % (f, x, linear(coefs[1], coefs[0], x)), "%s(%s)=%s" % (f, x, coefs[0]), False


def case_blocks(rng):
    """Functions given by cases."""
    x = rng.choice("xt")
    a, b, c = rng.sample(range(-20, 21), 3)
    p, q = linear(nonzero(rng, 9), a, x), (
        "%s^2" % x if b == 0 else "%s^2+%d" % (x, b) if b > 0 else "%s^2%d" % (x, b)
    )
    rows = [(p, "%s<%d" % (x, c)), (q, "%s \\ge %d" % (x, c))]

    def write(lines, name="f(%s)=" % x, word="& "):
        return (
            name
            + "\\begin{cases} "
            + " \\\\ ".join("%s %s%s" % (v, word, r) for v, r in lines)
            + " \\end{cases}"
        )

    gold = write(rows)
    yield gold, write(rows[::-1]), True
    yield gold, write(rows, word="& \\text{if } "), True
    yield gold, write([rows[0], (q, "%d \\le %s" % (c, x))]), True
    yield gold, write([(q, rows[0][1]), (p, rows[1][1])]), False
    yield gold, write([(p, "%s<%d" % (x, c + 1)), (q, "%s \\ge %d" % (x, c + 1))]), False
    yield gold, write([(p, rows[0][1]), (q + "+1", rows[1][1])]), False
    yield gold, write([(p, "%s>%d" % (x, c)), (q, "%s \\le %d" % (x, c))]), False
    yield gold, p, False


def argument_lists(rng):
    """Named values f(1)=2, f(2)=5 in any order."""
    f = rng.choice("fgh")
    points = rng.sample(range(0, 20), 2)
    values = rng.sample(range(-30, 31), 2)
    rows = ["%s(%d)=%d" % (f, p, v) for p, v in zip(points, values)]
    wrong = ["%s(%d)=%d" % (f, p, v) for p, v in zip(points, values[::-1])]
    yield ", ".join(rows), ", ".join(shuffled(rng, rows)), True
    yield ", ".join(rows), ", ".join(wrong), False
    yield ", ".join(rows), ", ".join([rows[0], rows[0].replace("=", "=-1")]), False
    k = rng.randint(2, 30)
    yield rows[0], "%s(%d)=%d" % (f, points[0], values[0] + k), False
    yield term(k, "%s(%d)" % (f, points[0])), term(k, "%s(%d)" % (f, points[1])), False


CLASSES = [
    ("unknown_function", unknown_functions, None),
    ("function_of_two", functions_of_two, None),
    ("composition", compositions, None),
    ("letter_before_bracket", letters_before_brackets, "value"),
    ("definition", definitions, None),
    ("cases_block", case_blocks, None),
    ("function_values", argument_lists, None),
]
