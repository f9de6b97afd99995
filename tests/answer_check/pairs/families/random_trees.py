"""Random expressions, rewritten by laws that hold for all reals, and changed in one place.

A changed expression counts as false only if a point was found at which it has clearly another value."""

import math

from writing import nonzero

LETTERS = "abckmnpqrstxy"
POINTS = 24
LARGE = 1e4


def leaf(rng, names):
    """Returns a letter or a positive integer."""
    return ("letter", rng.choice(names)) if rng.random() < 0.65 else ("number", rng.randint(2, 12))


def tree(rng, names, depth, kinds):
    """Returns a random expression; kinds are the operations that may occur."""
    if depth == 0:
        return leaf(rng, names)
    kind = rng.choice(kinds)
    if kind in ("sum", "product"):
        return (kind,) + tuple(tree(rng, names, depth - 1, kinds) for _ in range(rng.choice([2, 2, 3])))
    if kind == "power":
        return (kind, tree(rng, names, depth - 1, kinds), rng.choice([2, 2, 3]))
    if kind == "quotient":
        return (kind, tree(rng, names, depth - 1, kinds), tree(rng, names, depth - 1, kinds))
    return (kind, tree(rng, names, depth - 1, kinds))


def value(node, at):
    """Returns the value at a point, and raises an ArithmeticError or a ValueError where there is none."""
    kind, parts = node[0], node[1:]
    if kind == "letter":
        return at[parts[0]]
    if kind == "number":
        return float(parts[0])
    if kind == "power":
        return value(parts[0], at) ** parts[1]
    args = [value(p, at) for p in parts]
    if any(abs(a) > LARGE for a in args):
        raise OverflowError  # Too large for a sharp comparison.
    if kind == "sum":
        return sum(args)
    if kind == "product":
        return math.prod(args)
    if kind == "quotient":
        if abs(args[1]) < 1e-9:
            raise ZeroDivisionError
        return args[0] / args[1]
    return {
        "minus": lambda v: -v,
        "abs": abs,
        "sqrt": math.sqrt,
        "sin": math.sin,
        "cos": math.cos,
        "exp": math.exp,
        "ln": math.log,
    }[kind](args[0])


def grouped(text):
    """Puts a text into brackets."""
    return "(%s)" % text


def write(node):
    """Writes an expression."""
    kind, parts = node[0], node[1:]
    if kind in ("letter", "number"):
        return str(parts[0])
    if kind == "minus":
        return "-" + (grouped(write(parts[0])) if parts[0][0] in ("sum", "minus") else write(parts[0]))
    if kind == "sum":
        out = ""
        for part in parts:
            text = write(part)
            out += text if not out or text.startswith("-") else "+" + text
        return out
    if kind == "product":
        texts = [
            grouped(write(p)) if p[0] in ("sum", "minus") or write(p).startswith("-") else write(p)
            for p in parts
        ]
        out = texts[0]
        for text in texts[1:]:
            # Letters are set together in twos, and not a letter beside itself, so that no word comes about.
            glued = (
                out[-1].isalpha() and text[0].isalpha() and out[-1] != text[0] and not out[-2:-1].isalpha()
            )
            glued = glued and "\\" not in out[-6:] or text[0] == "(" and not out[-1].isalpha()
            out += text if glued else " \\cdot " + text
        return out
    if kind == "power":
        inner = write(parts[0])
        return "%s^{%d}" % (inner if parts[0][0] in ("letter", "number", "abs") else grouped(inner), parts[1])
    if kind == "quotient":
        return "\\frac{%s}{%s}" % (write(parts[0]), write(parts[1]))
    inner = write(parts[0])
    return {
        "abs": "\\left|%s\\right|",
        "sqrt": "\\sqrt{%s}",
        "sin": "\\sin(%s)",
        "cos": "\\cos(%s)",
        "exp": "e^{%s}",
        "ln": "\\ln(%s)",
    }[kind] % inner


def rewritten(rng, node):
    """Rewrites an expression by laws that hold wherever both sides are defined."""
    kind = node[0]
    if kind in ("letter", "number"):
        return node
    if kind == "power":
        base = rewritten(rng, node[1])
        return ("product",) + (base,) * node[2] if rng.random() < 0.3 else (kind, base, node[2])
    parts = [rewritten(rng, p) for p in node[1:]]
    if kind in ("sum", "product"):
        rng.shuffle(parts)
        sums = [p for p in parts if p[0] == "sum"]
        if kind == "product" and sums and rng.random() < 0.6:
            rest = [p for p in parts if p is not sums[0]]
            return (
                ("sum",) + tuple(("product",) + tuple(rest) + (p,) for p in sums[0][1:]) if rest else sums[0]
            )
    if kind == "quotient" and rng.random() < 0.3:
        if parts[0][0] == "sum":
            return ("sum",) + tuple(("quotient", p, parts[1]) for p in parts[0][1:])
        return ("product", parts[0], ("quotient", ("number", 1), parts[1]))
    if kind == "minus" and parts[0][0] == "sum":
        return ("sum",) + tuple(("minus", p) for p in parts[0][1:])
    if kind in ("abs", "cos") and rng.random() < 0.4:
        return (kind, ("minus", parts[0]) if parts[0][0] != "minus" else parts[0][1])
    if kind == "sin" and rng.random() < 0.3:
        return ("minus", ("sin", ("minus", parts[0]) if parts[0][0] != "minus" else parts[0][1]))
    return (kind,) + tuple(parts)


def spoiled(rng, node, names):
    """Changes one place of an expression: a letter, a number, a sign, an exponent, an operation."""
    kind, parts = node[0], list(node[1:])
    if kind == "letter":
        return rng.choice([("letter", rng.choice([n for n in names if n != parts[0]])), ("minus", node)])
    if kind == "number":
        return ("number", parts[0] + rng.choice([1, 1, -1]))
    if rng.random() < 0.35:
        if kind == "power":
            return (kind, parts[0], parts[1] + 1)
        if kind == "quotient":
            return (kind, parts[1], parts[0])
        if kind in ("sum", "product"):
            return ({"sum": "product", "product": "sum"}[kind],) + tuple(parts)
        if kind in ("sin", "cos"):
            return ({"sin": "cos", "cos": "sin"}[kind], parts[0])
        return parts[0] if kind in ("abs", "minus", "sqrt") else ("minus", node)
    places = [k for k, p in enumerate(parts) if isinstance(p, tuple)]
    at = rng.choice(places)
    parts[at] = spoiled(rng, parts[at], names)
    return (kind,) + tuple(parts)


def compare(rng, one, two, names):
    """Returns (number of points where both have a value, whether some of them separates the two clearly)."""
    both, apart = 0, False
    for _ in range(POINTS):
        at = {n: rng.uniform(0.3, 3.0) * rng.choice([-1, 1]) for n in names}
        try:
            u, v = value(one, at), value(two, at)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if max(abs(u), abs(v)) > 1e8:
            continue
        both += 1
        apart = apart or abs(u - v) > 1e-5 * (1 + abs(u) + abs(v))
    return both, apart


def trees(kinds, depth):
    """Returns a generator of pairs of random expressions."""

    def generate(rng):
        names = rng.sample(LETTERS, rng.choice([2, 2, 3]))
        gold = tree(rng, names, depth, kinds)
        gold = ("sum", gold, ("number", abs(nonzero(rng, 90)))) if rng.random() < 0.3 else gold
        if len(write(gold)) > 90 or not any(n in write(gold) for n in names):
            return
        for _ in range(2):
            same = rewritten(rng, gold)
            both, apart = compare(rng, gold, same, names)
            # A law that is not one would be a mistake of this file.
            if apart:
                raise ValueError("rewriting changed %s to %s" % (write(gold), write(same)))
            if both >= 4 and write(same) != write(gold) and len(write(same)) < 200:
                yield write(gold), write(same), True
        for _ in range(3):
            other = spoiled(rng, gold, names)
            other = rewritten(rng, other) if rng.random() < 0.5 else other
            if compare(rng, gold, other, names)[1] and len(write(other)) < 200:
                yield write(gold), write(other), False

    return generate


CLASSES = [
    ("tree_polynomial", trees(["sum", "product", "sum", "product", "power", "minus"], 2), "value"),
    ("tree_deep", trees(["sum", "product", "power", "minus"], 3), "value"),
    ("tree_rational", trees(["sum", "product", "quotient", "power"], 2), "value"),
    ("tree_abs", trees(["sum", "product", "abs", "minus", "power"], 3), "value"),
    ("tree_root", trees(["sum", "product", "sqrt", "quotient"], 3), "value"),
    ("tree_function", trees(["sum", "product", "sin", "cos", "exp", "minus"], 3), "value"),
    ("tree_logarithm", trees(["sum", "product", "ln", "quotient", "abs"], 3), "value"),
]
