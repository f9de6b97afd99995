"""What the writing says beyond its values: times, chains, products that do not commute, digits under a bar,
remainders, dates, periods, and conditions that take an answer back."""


def clocks(rng):
    """Times of the day, which are no ratios."""
    hour, minute = rng.randint(1, 11), rng.choice((0, 5, 15, 30, 45))
    gold = "%d:%02d" % (hour, minute)
    yield gold, gold, True
    yield gold, "%02d:%02d" % (hour, minute), True
    yield gold + "\\text{ p.m.}", "%d:%02d" % (hour + 12, minute), True
    yield gold + "\\text{ PM}", gold + "\\text{ p.m.}", True
    yield gold + "\\text{ PM}", gold + "\\text{ AM}", False
    yield "%d:00" % hour, "%d:00" % (hour % 11 + 1), False
    yield "%d:00" % (2 * hour % 24), "%d:00" % hour, False, 2 * hour % 24 != hour
    yield "%d:05" % hour, "%d:15" % (3 * hour), False, 3 * hour < 24
    yield "0:%02d" % (minute or 15), "12:%02d\\text{ PM}" % (minute or 15), False
    yield "00:%02d" % (minute or 15), "12:%02d\\text{ AM}" % (minute or 15), True


def chains(rng):
    """Chains of numbers, which state something only where they hold."""
    a, b = rng.randint(2, 60), rng.randint(2, 60)
    yield str(a + b), "%d + %d = %d" % (a, b, a + b), True
    yield str(a * b), "%d \\cdot %d = %d" % (a, b, a * b), True
    yield str(a + b), "x = %d + %d = %d" % (a, b, a + b), True
    yield str(a + b + 1), "%d + %d = %d" % (a, b, a + b + 1), False
    yield str(a * b + 1), "%d \\cdot %d = %d" % (a, b, a * b + 1), False
    yield str(a + b), "%d = %d" % (a + b + 1, a + b), False
    yield str(a), "%s^2 = %d \\implies %s = %d" % ("r", a * a, "r", a), True
    yield str(a * a), "%s^2 = %d \\implies %s = %d" % ("r", a * a, "r", a), False


def ordered_products(rng):
    """Products of matrices, in the order of their factors."""
    a, b, c = rng.sample("ABCDMNPQSUX", 3)
    k = rng.randint(2, 9)
    yield "%s%s%s^{-1}" % (a, b, a), "%s \\cdot %s \\cdot %s^{-1}" % (a, b, a), True
    yield "%d%s^{-1}%s" % (k, a, b), "%s^{-1} \\cdot %d%s" % (a, k, b), True
    yield "(%s%s)^{-1}" % (a, b), "%s^{-1}%s^{-1}" % (b, a), True
    yield "(%s%s)^T" % (a, b), "%s^T%s^T" % (b, a), True
    yield "%s%s%s^{-1}" % (a, b, a), b, False
    yield "%s%s%s^{-1}" % (a, b, a), "%s^{-1}%s%s" % (a, b, a), False
    yield "%s^{-1}%s" % (a, b), "%s%s^{-1}" % (b, a), False
    yield "%s^T%s" % (a, b), "%s%s^T" % (b, a), False
    yield "%s^T%s%s" % (a, b, c), "%s^T%s%s" % (a, c, b), False
    yield "(%s%s)^{-1}" % (a, b), "%s^{-1}%s^{-1}" % (a, b), False
    yield "\\mathbf{%s}\\mathbf{%s}" % (a, b), "\\mathbf{%s}\\mathbf{%s}" % (b, a), False


def bars(rng):
    """Digits under a bar."""
    a, b, c = rng.sample("abcdkmn", 3)
    yield "\\overline{%s%s%s}" % (a, b, c), "\\overline{%s%s%s}" % (a, b, c), True
    yield "\\overline{%s%s}" % (a, b), "\\overline{%s%s}" % (b, a), False
    yield "\\overline{%s%s%s}" % (a, b, c), "\\overline{%s%s%s}" % (a, c, b), False
    yield "\\overline{%s%s}" % (a, b), a + b, False


def remainders(rng):
    """Classes of integers by their remainder."""
    m = rng.randint(3, 12)
    r = rng.randint(1, m - 1)
    other = r % (m - 1) + 1
    yield "x \\equiv %d \\pmod{%d}" % (r, m), "x = %dk + %d" % (m, r), True
    yield "x = %dk + %d" % (m, r), "x \\equiv %d \\pmod{%d}" % (r - m, m), True
    yield str(r), "N \\equiv %d \\pmod{%d}" % (r, m), True
    yield "x \\equiv %d \\pmod{%d}" % (r, m), "x = %dk + %d" % (m, other), False, other != r
    yield "x \\equiv %d \\pmod{%d}" % (r, m), "x = %dk + %d" % (m + 1, r), False
    yield str(m), "N \\equiv %d \\pmod{%d}" % (r, m), False
    yield "\\text{all even }n", "n = 2k", True
    yield "\\text{all odd }n", "n = 2k + 1", True
    yield "\\text{all odd }n", "n = 2k", False


def dates(rng):
    """Days of the year."""
    months = ("January", "March", "April", "June", "July", "October", "December")
    month, other = rng.sample(months, 2)
    day = rng.randint(4, 20)
    gold = "\\text{%s %d}" % (month, day)
    yield gold, "\\text{%s %dth}" % (month, day), True
    yield gold, "%d \\text{ %s}" % (day, month), True
    yield gold, "\\text{the %dth of %s}" % (day, month), True
    yield gold, "\\text{%s %dth}" % (month, day + 1), False
    yield gold, "\\text{%s %dth}" % (other, day), False


def dots(rng):
    """Sums with dots."""
    n, step = rng.randint(9, 60), rng.randint(1, 4)
    terms = [1 + step * i for i in range(n)]
    text = "%d + %d + %d + \\cdots + %d" % (terms[0], terms[1], terms[2], terms[-1])
    yield str(sum(terms)), text, True
    yield str(sum(terms) + terms[-1] + step), text, False
    yield str(sum(terms[:-1])), text, False


def periods(rng):
    """Decimals with a period, which a decimal must show at least twice."""
    a, b = rng.sample("123456789", 2)
    yield "0.\\overline{%s%s}" % (a, b), "\\frac{%s%s}{99}" % (a, b), True
    yield "0.\\overline{%s%s}" % (a, b), "0.\\overline{%s%s%s%s}" % (a, b, a, b), True
    yield "0.\\overline{%s%s}" % (a, b), "0.%s%s" % (a, b), False
    yield "1.\\overline{1%s%s}" % (a, b), "1.1%s%s" % (a, b), False
    yield "0.\\overline{%s%s}" % (a, b), "0.%s\\overline{%s}" % (a, b), False


def exceptions(rng):
    """Conditions that leave no bare value."""
    v, n, x = rng.randint(2, 90), rng.choice("nkm"), rng.choice("xyt")
    yield str(v), "%d\\text{ for all }%s" % (v, n), True
    yield "f(%s)=0" % x, "f(%s)=0\\text{ for all }%s" % (x, x), True
    yield str(v), "%d\\text{ unless }%s=2" % (v, n), False
    yield str(v), "%d\\text{ except when }%s=2" % (v, n), False
    yield "f(%s)=0" % x, "f(%s)=0\\text{ for }%s=1" % (x, x), False
    yield "%s+%d" % (x, v), "%s+%d\\text{ for }%s=1" % (x, v, x), False
    yield str(v), "%d\\text{ reversed}" % v, False
    yield "%s \\ne \\pm %d" % (x, v), "%s \\ne %d, -%d" % (x, v, v), True
    yield "%s \\ne \\pm %d" % (x, v), "%s \\ne \\pm %d" % (x, v + 1), False
    yield "%s \\ne \\pm %d" % (x, v), "%s = \\pm %d" % (x, v), False


def amounts(rng):
    """Dollars and cents."""
    v = rng.randint(2, 90)
    yield "\\$%d" % v, "%d\\text{ dollars}" % v, True
    yield "%d\\text{ cents}" % v, "%d¢" % v, True
    yield "%d\\text{ dollars}" % v, "%d¢" % v, False
    yield "%d¢" % v, "\\$%d" % v, False


def filtered(generator):
    """A generator whose fourth member, where there is one, says that the pair is what it should be."""

    def draw(rng):
        for pair in generator(rng):
            if len(pair) == 3 or pair[3]:
                yield pair[:3]

    draw.__doc__ = generator.__doc__
    return draw


CLASSES = [
    ("clock times", filtered(clocks), "text"),
    ("chains of numbers", filtered(chains), None),
    ("ordered products", ordered_products, "text"),
    ("digits under a bar", bars, "text"),
    ("remainders", filtered(remainders), "text"),
    ("dates", dates, "text"),
    ("sums with dots", dots, None),
    ("periods", periods, None),
    ("exceptions", exceptions, "text"),
    ("dollars and cents", amounts, "text"),
]
