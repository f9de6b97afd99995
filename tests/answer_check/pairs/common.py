"""What the classes share: how numbers, fractions and letters are written, and the registry of classes."""

from fractions import Fraction

CLASSES = {}


def pairs(name):
    """Registers a generator: it takes a random.Random and yields (gold, pred, equal)."""
    def register(function):
        assert name not in CLASSES, name
        CLASSES[name] = function
        return function
    return register


def letters(r, n=1, among="abcmnpqrstuvxy"):
    """n different letters."""
    return r.sample(among, n)


def tex(q, r=None):
    """A fraction in LaTeX; with r, in one of its usual forms."""
    q = Fraction(q)
    if q.denominator == 1:
        return str(q.numerator)
    sign, n, d = ("-" if q < 0 else ""), abs(q.numerator), q.denominator
    form = r.choice(["\\frac{%d}{%d}", "\\dfrac{%d}{%d}", "%d/%d", "\\tfrac{%d}{%d}"]) if r else "\\frac{%d}{%d}"
    return sign + form % (n, d)


def nonzero(r, low, high):
    """An integer between low and high that is not 0."""
    while True:
        n = r.randint(low, high)
        if n:
            return n


def signed(n):
    """+ 3 or - 3, for a term behind another one."""
    return ("+ %d" if n >= 0 else "- %d") % abs(n)


def term(n, what):
    """3x, x, -x."""
    return {1: what, -1: "-" + what}.get(n, "%d%s" % (n, what))


def poly(coefficients, x):
    """A polynomial, highest power first."""
    out, degree = "", len(coefficients) - 1
    for i, c in enumerate(coefficients):
        power = degree - i
        if not c:
            continue
        what = "" if power == 0 else x if power == 1 else "%s^%d" % (x, power) if power < 10 else "%s^{%d}" % (x, power)
        piece = term(abs(c), what) if what else str(abs(c))
        out += (" - " if c < 0 else " + ") + piece if out else ("-" if c < 0 else "") + piece
    return out or "0"


def shuffled(r, items):
    """The items in another order, where there is one."""
    items = list(items)
    if len(set(map(str, items))) < 2:
        return items
    while True:
        other = items[:]
        r.shuffle(other)
        if other != items:
            return other
