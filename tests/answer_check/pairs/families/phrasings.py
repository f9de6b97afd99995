"""What words and signs write that formulas write otherwise: 5 choose 2, half past seven, the y-axis, 3 R 2, ohms,
cycles, and the names of arbitrary constants."""

from families.meanings import filtered

HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def binomials(rng):
    """Binomial coefficients in words."""
    n = rng.randint(4, 12)
    k = rng.randint(2, n - 2)
    value = 1
    for i in range(k):
        value = value * (n - i) // (i + 1)
    yield str(value), "%d\\text{ choose }%d" % (n, k), True
    yield "\\binom{%d}{%d}" % (n, k), "\\text{%d choose %d}" % (n, k), True
    yield "3\\binom{%d}{%d}" % (n, k), "3 \\cdot (%d \\text{ choose } %d)" % (n, k), True
    yield "\\binom{%d}{%d}" % (n, k), "%d\\text{ choose }%d" % (n + 1, k), False
    yield str(k), "%d\\text{ choose }%d" % (n, k), False
    yield str(n), "%d\\text{ choose }%d" % (n, k), False


def clock_words(rng):
    """Times of the day in words, and spans of time."""
    h = rng.randint(1, 12)
    before = 12 if h == 1 else h - 1
    word, part = HOURS[h - 1], rng.randint(1, 29)
    yield "%d:30" % h, "\\text{half past %s}" % word, True
    yield "%d:15" % h, "\\text{a quarter past %s}" % word, True
    yield "%d:45" % before, "\\text{quarter to %s}" % word, True
    yield "%d:%02d" % (h, part), "\\text{%d minutes past %s}" % (part, word), True
    yield "%d:00" % h, "\\text{%s o'clock}" % word, True
    yield "%d:30" % before, "\\text{half past %s}" % word, False
    yield "%d:45" % h, "\\text{quarter to %s}" % word, False
    yield str(h), "\\text{half past %s}" % word, False
    minutes = rng.choice((10, 20, 40, 50))
    yield "%d:%d:00" % (h, minutes), "%d\\text{ hours }%d\\text{ minutes}" % (h, minutes), True
    yield "%d:%d:00" % (h, minutes), "%d\\text{ h }%d\\text{ min}" % (h, minutes), True
    yield "%d:%d:00" % (h, minutes), "%d\\text{ minutes}" % (60 * h + minutes), True
    yield "%d:%02d:00" % (2 * h, 20), "%d:10:00" % h, False


def lines(rng):
    """Axes by their names."""
    yield "x=0", "\\text{the }y\\text{-axis}", True
    yield "\\text{the x-axis}", "y = 0", True
    yield "x=0", "\\text{the x-axis}", False
    yield "\\text{the y-axis}", "y = 0", False


def quotients(rng):
    """Division with a remainder."""
    q, r = rng.sample(range(1, 40), 2)
    yield "%d\\text{ R }%d" % (q, r), "%d\\text{ remainder }%d" % (q, r), True
    yield "%d\\text{ R }%d" % (q, r), "%d R %d" % (q, r), True
    yield "%d\\text{ remainder }%d" % (q, r), "\\text{quotient }%d\\text{, remainder }%d" % (q, r), True
    yield "%d\\text{ R }%d" % (q, r), "%d\\text{ R }%d" % (r, q), False
    yield "%d\\text{ R }%d" % (q, r), "%d\\text{ R }%d" % (q, r + 1), False
    yield str(q), "%d\\text{ R }%d" % (q, r), False


def extremes(rng):
    """The largest and the smallest value by their names."""
    low, high = sorted(rng.sample(range(-30, 60), 2))
    yield "(%d, %d)" % (high, low), "\\text{max } %d, \\text{ min } %d" % (high, low), True
    yield "\\max = %d, \\min = %d" % (high, low), "\\text{minimum }%d\\text{ and maximum }%d" % (low, high), True
    yield "\\max = %d, \\min = %d" % (high, low), "\\text{maximum }%d, \\text{minimum }%d" % (low, high), False


def remarks(rng):
    """What stands behind a value and changes nothing, and what does not."""
    v, other = rng.sample(range(2, 90), 2)
    x = rng.choice("abnxy")
    yield "%s=%d" % (x, v), "%s = %d \\text{ only}" % (x, v), True
    yield str(v), "%s = %d \\text{ only}" % (x, v), True
    yield str(v), "%d \\text{ (not %d)}" % (v, other), True
    yield str(v), "%d \\text{ at } %s = %d" % (v, x, other), True
    yield str(v), "%d \\text{ at the point } (%d, 1)" % (v, other), True
    yield str(other), "%d \\text{ (not %d)}" % (v, other), False
    yield str(other), "%d \\text{ at } %s = %d" % (v, x, other), False
    yield "f(%s)=%d" % (x, v), "f(%s)=%d \\text{ only for } %s = %d" % (x, v, x, other), False


def electric(rng):
    """Ohms and parts per mille."""
    v = rng.randint(2, 90)
    yield str(v), "%d\\,\\Omega" % v, True
    yield "%d\\text{ ohms}" % v, "%d Ω" % v, True
    yield "%d\\text{ k}\\Omega" % v, "%d~\\Omega" % (1000 * v), True
    yield "%d\\,k\\Omega" % v, "%d\\,\\Omega" % v, False
    yield "%d\\,\\Omega" % v, "%d\\,\\text{V}" % v, False
    yield "%d‰" % v, "%.1f\\%%" % (v / 10), True
    yield "%.3f" % (v / 1000), "%d‰" % v, True
    yield "%d‰" % v, "%d\\%%" % v, False
    yield str(v), "%d‰" % v, False


def cycles(rng):
    """Permutations as products of cycles."""
    a, b, c, d, e = rng.sample(range(1, 10), 5)
    yield "(%d\\ %d)(%d\\ %d)" % (a, b, c, d), "(%d\\,%d)(%d\\,%d)" % (c, d, b, a), True
    yield "(%d\\ %d\\ %d)(%d\\ %d)" % (a, b, c, d, e), "(%d %d)(%d %d %d)" % (d, e, c, a, b), True
    yield "(%d\\ %d\\ %d)" % (a, b, c), "(%d\\ %d\\ %d)" % (b, c, a), True
    yield "(%d\\ %d\\ %d)" % (a, b, c), "(%d\\ %d\\ %d)" % (a, c, b), False
    yield "(%d\\ %d)(%d\\ %d)" % (a, b, b, c), "(%d\\ %d)(%d\\ %d)" % (b, c, a, b), False
    yield "(%d\\ %d)(%d\\ %d)" % (a, b, c, d), "(%d\\ %d)(%d\\ %d)" % (a, c, b, d), False


def signs(rng):
    """Signs that are chosen one by one."""
    a, b = rng.randint(2, 9), rng.choice((2, 3, 5, 7))
    four = ", ".join("%s%d%s\\sqrt{%d}" % (s, a, t, b) for s in ("", "-") for t in "+-")
    two = "%d+\\sqrt{%d}, -%d-\\sqrt{%d}" % (a, b, a, b)
    yield four, "x = \\pm %d \\pm \\sqrt{%d}" % (a, b), True
    yield "\\pm %d \\pm \\sqrt{%d}" % (a, b), four, True
    yield "\\pm %d \\pm \\sqrt{%d}" % (a, b), two, False
    yield "\\pm %d \\pm \\sqrt{%d}" % (a, b), "%d \\pm \\sqrt{%d}" % (a, b), False


def constants(rng):
    """General solutions, whose constants have names of the writer's choice."""
    m, n = rng.sample(range(1, 9), 2)
    one, two = "e^{%dx}" % m, "e^{-%dx}" % n
    yield "y=C_1%s+C_2%s" % (one, two), "y = A%s + B%s" % (one, two), True
    yield "y=c_1%s+c_2%s" % (one, two), "y(x) = C_2%s + C_1%s" % (two, one), True
    yield "y=A%s+B%s" % (one, two), "y = C_1%s + C_2%s" % (one, two), True
    yield "y=C%s" % one, "y = K%s" % one, True
    yield "y=(C_1+C_2x)%s" % one, "y = A%s + Bx%s" % (one, one), True
    yield "y=C_1%s+C_2%s" % (one, two), "y = A%s + A%s" % (one, two), False
    yield "y=C_1%s+C_2%s" % (one, two), "y = A%s + B%s" % (one, one), False
    yield "Ax+By=%d" % m, "C_1x+C_2y=%d" % m, False
    yield "A%s+By" % one, "Bx+A%s" % one, False


CLASSES = [
    ("binomials in words", binomials, "text"),
    ("times in words", clock_words, "text"),
    ("axes", lines, "text"),
    ("quotients with remainders", filtered(quotients), "text"),
    ("extremes by name", extremes, "text"),
    ("remarks behind values", remarks, "text"),
    ("ohms and per mille", electric, "text"),
    ("cycles", cycles, "text"),
    ("signs one by one", signs, "text"),
    ("arbitrary constants", constants, "text"),
]
