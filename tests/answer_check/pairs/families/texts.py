"""Answers in words, names and labels of choices."""

from fractions import Fraction

from writing import nonzero, number

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = ("January February March April May June July August September October November December").split()
NAMES = (
    "Alice Bob Carol David Erin Frank Grace Henry Irene Jack Karen Liam Maria Noah Olivia Peter Quinn Rosa "
    "Sam Tina Victor Wendy Yara Zoe Anna Ben Clara Dora Emil Felix"
).split()
COLOURS = "red green blue yellow black white orange purple brown pink".split()
SHAPES = (
    "triangle square rectangle rhombus trapezoid pentagon hexagon circle ellipse parabola hyperbola".split()
)
OPPOSITES = [
    ("yes", "no"),
    ("odd", "even"),
    ("increasing", "decreasing"),
    ("convergent", "divergent"),
    ("positive", "negative"),
    ("rational", "irrational"),
    ("prime", "composite"),
    ("maximum", "minimum"),
    ("continuous", "discontinuous"),
    ("linear", "nonlinear"),
    ("dependent", "independent"),
    ("acute", "obtuse"),
    ("injective", "surjective"),
    ("finite", "infinite"),
    ("always", "never"),
]


def written(rng, word):
    """Writes a word in one of several ways."""
    word = rng.choice([word, word.lower(), word.capitalize()])
    return (
        rng.choice(
            [
                "%s",
                "\\text{%s}",
                "\\text{ %s }",
                "\\mathrm{%s}",
                "\\textbf{%s}",
                "\\textit{%s}",
                "\\mbox{%s}",
                "%s.",
            ]
        )
        % word
    )


def words_of(rng, pool):
    """Yields pairs of words of one pool."""
    one, two = rng.sample(pool, 2)
    yield one, written(rng, one), True
    yield "\\text{%s}" % one, written(rng, one), True
    yield one, written(rng, two), False
    yield "\\text{%s}" % two, written(rng, one), False


def opposites(rng):
    """Words and their opposites."""
    yield from words_of(rng, list(rng.choice(OPPOSITES)))


def dates(rng):
    """Days, months and dates."""
    yield from words_of(rng, rng.choice([DAYS, MONTHS]))
    month, day = rng.choice(MONTHS), rng.randint(1, 28)
    yield "%s %d" % (month, day), "\\text{%s %d}" % (month, day), True
    yield "\\text{%s %d}" % (month, day), "\\text{%s } %d" % (month, day), True
    yield "%s %d" % (month, day), "%s %d" % (month, day + 1), False
    other = rng.choice([m for m in MONTHS if m != month])
    yield "\\text{%s %d}" % (month, day), "\\text{%s %d}" % (other, day), False


def names(rng):
    """Names of people, colours and shapes."""
    yield from words_of(rng, rng.choice([NAMES, NAMES, COLOURS, SHAPES]))


def several_names(rng):
    """Two or three names."""
    one, two, three = rng.sample(NAMES, 3)
    gold = "\\text{%s}, \\text{%s}" % (one, two)
    yield gold, "\\text{%s, %s}" % (one, two), True
    yield gold, "\\text{%s and %s}" % (one, two), True
    yield gold, "\\text{%s}, \\text{%s}" % (one, three), False
    yield gold, "\\text{%s}" % one, False
    yield gold, "\\text{%s, %s, %s}" % (one, two, three), False


def labels(rng):
    """The label of a choice before its value."""
    label, other = rng.sample("ABCDE", 2)
    v = Fraction(nonzero(rng, 400), rng.choice([1, 1, 1, 2, 3, 7]))
    value, wrong = number(v), number(v + rng.choice([1, -1, 2]))
    yield value, "\\textbf{(%s)}\\ %s" % (label, value), True
    yield value, "\\textbf{(%s) } %s" % (label, value), True
    yield value, "\\text{(%s)}\\ %s" % (label, value), True
    yield value, "\\textbf{(%s)}\\ %s" % (label, wrong), False
    yield value, "\\textbf{(%s) } %s" % (other, wrong), False


def choices(rng):
    """Letters of choices alone."""
    one, two = rng.sample("ABCDEFGH", 2)
    yield one, rng.choice(
        ["\\text{%s}", "(%s)", "\\textbf{(%s)}", "\\mathrm{%s}", "\\textbf{%s}"]
    ) % one, True
    yield "\\text{(%s)}" % one, rng.choice(["%s", "(%s)", "\\text{%s}"]) % one, True
    yield one, rng.choice(["%s", "\\text{%s}", "(%s)", "\\textbf{(%s)}"]) % two, False
    yield "\\text{%s}" % one, rng.choice(["%s", "\\text{%s}"]) % two, False
    yield one, "\\text{%s, %s}" % (one, two), False


def phrases(rng):
    """Short phrases, with and without an article."""
    colour, shape = rng.choice(COLOURS), rng.choice(SHAPES)
    other, form = rng.choice([c for c in COLOURS if c != colour]), rng.choice(
        [s for s in SHAPES if s != shape]
    )
    yield "%s %s" % (colour, shape), "\\text{%s %s}" % (colour, shape), True
    yield "\\text{%s %s}" % (colour, shape), "\\text{the %s %s}" % (colour, shape), True
    yield "%s %s" % (colour, shape), "\\text{%s %s}" % (other, shape), False
    yield "\\text{%s %s}" % (colour, shape), "\\text{%s %s}" % (colour, form), False
    yield "\\text{%s %s}" % (colour, shape), "\\text{not a %s %s}" % (colour, shape), False
    yield "\\text{%s}" % shape, "\\text{not a %s}" % shape, False


CLASSES = [
    ("opposite_words", opposites, "text"),
    ("date", dates, "text"),
    ("name", names, "text"),
    ("names", several_names, "text"),
    ("choice_label", labels, "text"),
    ("choice_letter", choices, "text"),
    ("phrase", phrases, "text"),
]
