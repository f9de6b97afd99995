"""Reads sets of reals, equations and propositions of a pair once more, for check.py."""

import itertools
import random
import re

import sympy

import reading

PLAIN = (
    ("\\leq", "<="),
    ("\\geq", ">="),
    ("\\le", "<="),
    ("\\ge", ">="),
    ("\\neq", "!"),
    ("\\ne", "!"),
    ("\\cup", "U"),
    ("\\cap", "I"),
    ("\\infty", "oo"),
    ("\\in", "@"),
    ("\\setminus", "S"),
    ("\\mathbb{R}", "R"),
    ("\\lbrace", "\\{"),
    ("\\rbrace", "\\}"),
    ("\\text{or}", "|or|"),
    ("\\text{and}", "|and|"),
)
SIGNS = {
    "<": lambda v: v < 0,
    ">": lambda v: v > 0,
    "<=": lambda v: v <= 0,
    ">=": lambda v: v >= 0,
    "=": lambda v: v == 0,
}
INTERVAL = re.compile(r"([\[(])([^,]*),([^,]*)([\])])")
STEPS = {
    "\\land": "&",
    "\\wedge": "&",
    "\\lor": "|",
    "\\vee": "|",
    "\\neg": "~",
    "\\lnot": "~",
    "\\to": ">",
    "\\rightarrow": ">",
    "\\Rightarrow": ">",
    "\\implies": ">",
    "\\leftrightarrow": "=",
    "\\iff": "=",
}


def plain(text):
    """Writes a condition without commands and blanks."""
    text = re.sub(r"\\text\{ *(or|and) *\}", r"\\text{\1}", reading.CUT.sub(" ", text))
    for name, sign in PLAIN:
        text = re.sub(
            re.escape(name) + ("(?![a-z])" if name[-1].isalpha() else ""), sign.replace("\\", "\\\\"), text
        )
    return re.sub(r"\s+", "", text)


def number(text):
    """Returns an integer or an infinity."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    return sign * (sympy.oo if digits == "oo" else sympy.Integer(digits))


def chain(text, x):
    """Says whether a chain of relations in one letter holds."""
    parts = re.split("(<=|>=|<|>|=)", text)
    if len(parts) < 3:
        raise reading.Unreadable(text)
    for k in range(0, len(parts) - 2, 2):
        reader = reading.Reader("(%s)-(%s)" % (parts[k], parts[k + 2]))
        side = reader.whole()
        if not SIGNS[parts[k + 1]](side({name: x for name in reader.letters})):
            return False
    return True


def inside(text, x):
    """Says whether a number belongs to a set of reals."""
    if "|or|" in text:
        return any(inside(part, x) for part in text.split("|or|"))
    if "|and|" in text:
        return all(inside(part, x) for part in text.split("|and|"))
    text = re.sub("^[a-z]@", "", text)
    if "U" in text:
        return any(inside(part, x) for part in text.split("U"))
    if "I" in text:
        return all(inside(part, x) for part in text.split("I"))
    found = INTERVAL.fullmatch(text)
    if found:
        low, high = number(found.group(2)), number(found.group(3))
        return (low < x or low == x and found.group(1) == "[") and (
            x < high or x == high and found.group(4) == "]"
        )
    if text == "R":
        return True
    found = re.fullmatch(r"(RS)?\\\{(.*)\\\}", text) or re.fullmatch(r"([a-z]!)(.*)", text)
    if found:
        return (x in [number(n) for n in found.group(2).split(",")]) != bool(found.group(1))
    found = re.fullmatch("([^!]+)!([a-z])", text)
    if found:
        return x != number(found.group(1))
    if "," in text:
        return all(inside(part, x) for part in text.split(","))
    return chain(text, x)


def same_region(gold, pred):
    """Compares two sets of reals with integer bounds at all integers and between them."""
    one, two = plain(gold), plain(pred)
    return all(
        bool(inside(one, sympy.Rational(k, 2))) == bool(inside(two, sympy.Rational(k, 2)))
        for k in range(-240, 241)
    )


def same_equation(gold, pred):
    """Compares two equations: the quotient of left minus right is one constant."""
    sides, letters, rng = [], set(), random.Random(gold + pred)
    for text in (gold, pred):
        left, equals, right = text.partition("=")
        if not equals:
            return False
        reader = reading.Reader("(%s)-(%s)" % (left, right))
        sides.append(reader.whole())
        letters |= reader.letters
    quotients = []
    while len(quotients) < 8:
        where = {x: sympy.Rational(rng.randint(-9600, 9600), 97) for x in sorted(letters)}
        one, two = sides[0](where), sides[1](where)
        if one != 0 and two != 0:
            quotients.append(one / two)
    return len(set(quotients)) == 1


class Proposition:
    """Recursive descent over a proposition; implications bind least."""

    def __init__(self, text):
        self.toks = [STEPS.get(t, t) for t in reading.TOKEN.findall(reading.CUT.sub(" ", text))]
        self.letters = {t for t in self.toks if t.isalpha()}
        self.at = 0

    def peek(self):
        """Returns the next token."""
        return self.toks[self.at] if self.at < len(self.toks) else ""

    def read(self, level=0):
        """Reads a proposition of at least this level: 0 implications, 1 or, 2 and, 3 negations, letters."""
        if level == 3:
            tok = self.peek()
            self.at += 1
            if tok == "~":
                inner = self.read(3)
                return lambda at: not inner(at)
            if tok == "(":
                inner = self.read()
                self.at += 1
                return inner
            if not tok.isalpha():
                raise reading.Unreadable(tok)
            return lambda at: at[tok]
        out = self.read(level + 1)
        while self.peek() and self.peek() in (">=", "|", "&")[level]:
            sign = self.peek()
            self.at += 1
            one, two = out, self.read(level + 1)
            out = {
                "&": lambda at, a=one, b=two: a(at) and b(at),
                "|": lambda at, a=one, b=two: a(at) or b(at),
                ">": lambda at, a=one, b=two: not a(at) or b(at),
                "=": lambda at, a=one, b=two: a(at) == b(at),
            }[sign]
        return out


def same_proposition(gold, pred):
    """Compares two propositions by their tables."""
    one, two = Proposition(gold), Proposition(pred)
    letters, first, second = sorted(one.letters | two.letters), one.read(), two.read()
    return all(
        first(dict(zip(letters, row))) == second(dict(zip(letters, row)))
        for row in itertools.product([False, True], repeat=len(letters))
    )
