"""Writes numbers, sums and formulas as LaTeX, and restyles a formula without changing what it means."""

import re
from fractions import Fraction

LATIN = "abcdkmnpqrstuvwxyz"
GREEK = ("\\alpha", "\\beta", "\\gamma", "\\theta", "\\lambda", "\\mu", "\\phi", "\\omega")
WORDY = ("text", "mathrm", "textbf", "operatorname", "mathbb", "mbox", "begin", "end")
OPEN, CLOSE = ("(", "[", "\\{"), (")", "]", "\\}")
RELATIONS = ("=", "<", ">", "\\le", "\\ge", "\\ne")
TOKEN = re.compile(
    r"\\(?:%s)\s*\{[^{}]*\}|\\[A-Za-z]+|\\.|\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?|\s+|." % "|".join(WORDY),
    re.S,
)


def letters(rng, count, pool=LATIN):
    """Returns that many different letters."""
    return rng.sample(list(pool), count)


def nonzero(rng, size):
    """Returns an integer from -size to size that is not 0."""
    return rng.choice([-1, 1]) * rng.randint(1, size)


def number(value):
    """Writes an integer or a fraction, its sign in front."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return "%s\\frac{%d}{%d}" % (sign, abs(value.numerator), value.denominator)


def fraction(rng, max_num=40, max_den=30):
    """Returns a positive fraction that is no integer."""
    while True:
        value = Fraction(rng.randint(1, max_num), rng.randint(2, max_den))
        if value.denominator > 1:
            return value


def ratio(rng, value):
    """Writes a fraction in one of several equal ways."""
    num, den, k = abs(value.numerator), value.denominator, rng.randint(2, 9)
    sign = "-" if value < 0 else ""
    return sign + rng.choice(
        [
            "%d/%d" % (num, den),
            "\\frac{%d}{%d}" % (num, den),
            "\\frac{%d}{%d}" % (num * k, den * k),
            "\\dfrac{%d}{%d}" % (num, den),
        ]
    )


def decimal(value):
    """Writes a fraction whose denominator divides a power of ten as a decimal."""
    value = Fraction(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
        if places > 12:
            raise ValueError("no short decimal: %s" % value)
    digits = "%0*d" % (places + 1, abs(value * 10**places))
    sign = "-" if value < 0 else ""
    return sign + (digits[:-places] + "." + digits[-places:] if places else digits)


def term(coef, text):
    """Writes coefficient times text; an empty text stands for 1."""
    if not text:
        return number(coef)
    if coef in (1, -1):
        return ("-" if coef < 0 else "") + text
    return number(coef) + text


def join(terms):
    """Joins signed texts into a sum."""
    out = ""
    for text in terms:
        out += text if not out or text.startswith("-") else "+" + text
    return out or "0"


def total(terms):
    """Writes the sum of (coefficient, text) pairs, leaving out those that are zero."""
    return join(term(c, t) for c, t in terms if c)


def power(text, exponent):
    """Writes a letter to an integer power."""
    if exponent == 0:
        return ""
    return text if exponent == 1 else "%s^{%d}" % (text, exponent)


def poly(coefs, var, rng=None):
    """Writes a polynomial from its coefficients, lowest first; with rng in any order of its terms."""
    terms = [(c, power(var, k)) for k, c in enumerate(coefs)][::-1]
    if rng:
        rng.shuffle(terms)
    return total(terms)


def times(one, two):
    """Multiplies two polynomials given by coefficients."""
    out = [0] * (len(one) + len(two) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(two):
            out[i + j] += a * b
    return out


def bracket(text):
    """Puts brackets around a sum or a signed text."""
    return "(%s)" % text if re.search(r"(?<![{^])[-+]", text) else text


def linear(a, b, var):
    """Writes a*var + b."""
    return total([(a, var), (b, "")])


def shuffled(rng, items):
    """Returns the items in another order where they have one."""
    items = list(items)
    out = items[:]
    for _ in range(8):
        rng.shuffle(out)
        if out != items:
            break
    return out


def half(rng, gold, pred):
    """Swaps the two sides in half of the cases."""
    return (gold, pred) if rng.random() < 0.5 else (pred, gold)


def tokens(text):
    """Cuts LaTeX into commands, numbers, blanks and characters."""
    return TOKEN.findall(text)


def matching(toks):
    """Returns {opening place: closing place} of the brackets that match inside one brace level."""
    stack, found = [], {}
    for at, tok in enumerate(toks):
        if tok == "{" or tok in OPEN:
            stack.append(at)
        elif tok == "}" or tok in CLOSE:
            if not stack or (toks[stack[-1]] == "{") != (tok == "}"):
                return {}
            start = stack.pop()
            if tok != "}":
                found[start] = at
    return found if not stack else {}


def restyle(rng, text):
    """Writes a formula with other blanks, fractions, brackets and names of relations, meaning the same."""
    toks = tokens(text)
    wide = {}
    if "\\left" not in text and "\\big" not in text and rng.random() < 0.5:
        for start, end in matching(toks).items():
            if rng.random() < 0.6 and not (start and toks[start - 1] == "\\sqrt"):
                wide[start], wide[end] = "\\left" + toks[start], "\\right" + toks[end]
    frac = rng.choice(["\\frac", "\\frac", "\\dfrac", "\\tfrac"])
    less = rng.choice(["", "", "q"])
    pad = rng.choice(["", "", " "])
    comma = rng.choice([", ", ", ", ",\\ ", ",\\, ", ",  ", ","])
    out = ""
    for at, tok in enumerate(toks):
        before = toks[at - 1] if at else ""
        after = toks[at + 1] if at + 1 < len(toks) else ""
        if at in wide:
            piece = wide[at]
        elif tok == "\\frac":
            piece = frac
        elif tok in ("\\le", "\\ge", "\\ne"):
            piece = tok + less
        elif tok == "," and after.isspace():
            following = toks[at + 2] if at + 2 < len(toks) else ""
            piece = ", " if comma == "," and following[:1].isdigit() else comma
        elif tok.isspace():
            if before == "," or after in RELATIONS or before in RELATIONS or after == "" or before == "":
                piece = ""
            else:
                piece = " "
        else:
            piece = tok
        if tok in RELATIONS or tok in "+-" and before not in ("^", "_", "{", "(", "[", ""):
            piece = pad + piece + pad
        if re.search(r"\\[A-Za-z]+$", out) and re.match(r"[A-Za-z]", piece):
            out += " "
        out += piece
    return out.strip()
