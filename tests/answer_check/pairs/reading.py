"""Reads the LaTeX of a pair once more, not knowing how it was made, into functions of values of letters.

Reader(text).whole() returns a function of {letter: SymPy number} that gives a SymPy number or raises
Undefined.
"""

import re

import sympy

CUT = re.compile(r"\\left(?![a-z])|\\right(?![a-z])|\\[,;!:]|\\ |~|\\displaystyle")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+\.\d+|\.\d+|\d|[A-Za-z]|\S")
NAMES = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "cot": sympy.cot,
    "sec": sympy.sec,
    "csc": sympy.csc,
    "ln": sympy.log,
    "exp": sympy.exp,
    "log": sympy.log,
}
GREEK = ("alpha", "beta", "gamma", "theta", "lambda", "mu", "phi", "omega")
STARTS = (
    "\\frac",
    "\\sqrt",
    "\\pi",
    "\\lfloor",
    "\\lceil",
    "\\lvert",
    "\\max",
    "\\min",
    "\\binom",
    "(",
    "[",
    "{",
    ".",
)


class Undefined(Exception):
    """The expression has no real value at this point."""


class Unreadable(Exception):
    """The text is not of the kind that this file reads."""


DIGITS = 40  # What has roots, logarithms or the like is computed with so many digits; all else is exact.


def inexact(value):
    """Returns the number with a fixed count of digits, which keeps later steps fast."""
    return sympy.N(value, DIGITS)


def real(value, least=None):
    """Returns a number that is real and, where asked, not below a bound."""
    if least is not None:
        near = sympy.N(value, 20)
        if not near.is_real or near < least:
            raise Undefined
    return value


def logarithm(value):
    """Returns the logarithm of a positive number."""
    real(value, 0)
    if sympy.N(value) == 0:
        raise Undefined
    return sympy.log(inexact(value))


def divided(one, two):
    """Returns a quotient."""
    if two == 0 or abs(sympy.N(two, 20)) < 1e-15:
        raise Undefined
    return one / two


def raised(base, exponent):
    """Returns a power in the reals."""
    if abs(inexact(exponent)) > (60 if base.is_Float else 10000):
        raise Undefined  # Too large to be compared sharply.
    if exponent.is_Integer:
        if base == 0 and exponent < 0:
            raise Undefined
        return base**exponent
    return inexact(real(base, 0)) ** inexact(exponent)


def root(value, degree):
    """Returns a real root, of a negative number too if the degree is odd."""
    if degree % 2 == 0:
        return inexact(sympy.root(inexact(real(value, 0)), degree))
    return sympy.sign(value) * inexact(sympy.root(inexact(abs(value)), degree))


class Reader:
    """Recursive descent over the tokens of one side."""

    def __init__(self, text):
        text = (
            CUT.sub(" ", text)
            .replace("\\dfrac", "\\frac")
            .replace("\\tfrac", "\\frac")
            .replace("\u2212", "-")
        )
        self.toks, self.at, self.bars, self.letters = TOKEN.findall(text), 0, 0, set()

    def peek(self):
        """Returns the next token or an empty string."""
        return self.toks[self.at] if self.at < len(self.toks) else ""

    def take(self, wanted=None):
        """Takes the next token, which must be the wanted one."""
        tok = self.peek()
        if wanted and tok != wanted or not tok:
            raise Unreadable("%s instead of %s" % (tok, wanted))
        self.at += 1
        return tok

    def whole(self):
        """Reads all of the text."""
        out = self.sum()
        if self.peek():
            raise Unreadable("rest %s" % self.peek())
        return out

    def sum(self):
        """Reads a sum."""
        out = self.signed()
        while self.peek() in ("+", "-"):
            sign, one, two = self.take(), out, self.product()
            out = lambda at, s=sign, a=one, b=two: a(at) + b(at) if s == "+" else a(at) - b(at)
        return out

    def signed(self):
        """Reads a product with signs in front."""
        if self.peek() in ("+", "-"):
            sign, inner = self.take(), self.signed()
            return inner if sign == "+" else (lambda at: -inner(at))
        return self.product()

    def starts(self):
        """Says whether a factor begins here."""
        tok = self.peek()
        if tok == "|":
            return self.bars == 0
        return bool(tok) and (
            tok[0].isalnum()
            or tok[0] == "."
            or tok in STARTS
            or tok[0] == "\\"
            and tok[1:] in NAMES
            or tok[1:] in GREEK
        )

    def product(self):
        """Reads a product, of which some signs may be missing."""
        out = self.factor()
        while True:
            tok = self.peek()
            if tok in ("\\cdot", "\\times", "/", "\\div"):
                self.take()
                one, two = out, self.factor() if self.peek() not in ("-", "+") else self.signed()
                divide = tok in ("/", "\\div")
                out = lambda at, a=one, b=two, d=divide: divided(a(at), b(at)) if d else a(at) * b(at)
            elif self.starts():
                one, two = out, self.factor()
                out = lambda at, a=one, b=two: a(at) * b(at)
            else:
                return out

    def factor(self):
        """Reads a base with its exponents and exclamation marks."""
        out = self.base()
        while self.peek() in ("^", "!"):
            if self.take() == "!":
                out = lambda at, a=out: sympy.factorial(a(at))
            elif self.toks[self.at : self.at + 1] == ["\\circ"] or self.toks[self.at : self.at + 2] == [
                "{",
                "\\circ",
            ]:
                self.at += 1 if self.peek() == "\\circ" else 3
                out = lambda at, a=out: a(at) * inexact(sympy.pi) / 180
            else:
                out = lambda at, a=out, n=self.argument(): raised(a(at), n(at))
        return out

    def argument(self):
        """Reads a group in braces or one token."""
        if self.peek() == "{":
            return self.group("{", "}")
        if self.peek().isdigit() or self.peek().isalpha():
            return self.leaf(self.take())
        return self.base()

    def group(self, start, end):
        """Reads a sum in brackets."""
        self.take(start)
        bars, self.bars = self.bars, 1 if start == "|" else 0
        out = self.sum()
        if self.peek() == "\\choose":
            self.take()
            out = lambda at, a=out, b=self.sum(): sympy.binomial(a(at), b(at))
        self.bars = bars
        self.take(end)
        return out

    def leaf(self, tok):
        """Returns the value of a number or a letter."""
        if tok[0].isdigit() or tok[0] == ".":
            value = sympy.Rational(tok)
        elif tok in ("e", "i"):
            value = inexact(sympy.E) if tok == "e" else sympy.I
        else:
            self.letters.add(tok)
            return lambda at: at[tok]
        return lambda at: value

    def base(self):
        """Reads a factor without its exponent."""
        tok = self.peek()
        if tok and tok[0].isdigit() and "." not in tok:
            digits = self.take()
            while re.fullmatch(r"\d|\.\d+|\d+\.\d+", self.peek()) and "." not in digits:
                digits += self.take()
            return self.leaf(digits)
        if tok and (tok[0].isalpha() or tok[0].isdigit() or tok[0] == "." or tok[1:] in GREEK):
            return self.leaf(self.take())
        if tok in ("(", "[", "{"):
            return self.group(tok, {"(": ")", "[": "]", "{": "}"}[tok])
        for start, end, function in (
            ("|", "|", abs),
            ("\\lvert", "\\rvert", abs),
            ("\\lfloor", "\\rfloor", sympy.floor),
            ("\\lceil", "\\rceil", sympy.ceiling),
        ):
            if tok == start:
                return lambda at, a=self.group(start, end), f=function: f(a(at))
        self.take()
        if tok == "\\pi":
            return lambda at: inexact(sympy.pi)
        if tok in ("\\frac", "\\binom"):
            one, two = self.argument(), self.argument()
            return lambda at: (divided if tok == "\\frac" else sympy.binomial)(one(at), two(at))
        if tok == "\\sqrt":
            degree = 2
            if self.peek() == "[":
                degree = int(self.toks[self.at + 1])
                self.at += 3
            return lambda at, a=self.argument(): root(a(at), degree)
        if tok in ("\\max", "\\min"):
            self.take("(")
            one = self.sum()
            self.take(",")
            two = self.sum()
            self.take(")")
            return lambda at: (sympy.Max if tok == "\\max" else sympy.Min)(one(at), two(at))
        if tok[1:] in NAMES:
            return self.named(tok[1:])
        raise Unreadable(tok)

    def named(self, name):
        """Reads a function with its exponent, its base and its argument, which may lack brackets."""
        exponent = base = None
        while self.peek() in ("^", "_"):
            if self.take() == "^":
                exponent = self.argument()
            else:
                base = self.argument()
        if self.peek() == "(":
            inner = self.group("(", ")")
        elif self.peek() == "|":
            inner = self.base()
        else:
            inner = self.factor()
            while self.starts() and self.peek()[1:] not in NAMES and self.peek() not in ("(", "|"):
                inner = lambda at, a=inner, b=self.factor(): a(at) * b(at)

        def value(at):
            given = inner(at)
            if abs(inexact(given)) > 10**9:
                raise Undefined
            out = logarithm(given) if name in ("ln", "log") else inexact(NAMES[name](inexact(given)))
            if base:
                out = divided(out, logarithm(base(at)))
            if out.has(sympy.zoo, sympy.nan):
                raise Undefined
            return out ** exponent(at) if exponent else out

        return value
