"""Matrices, determinants, powers and products."""

from fractions import Fraction

from writing import letters, nonzero, number

KINDS = ("pmatrix", "bmatrix")


def write(rows, kind="pmatrix"):
    """Writes a matrix, or a determinant with kind vmatrix."""
    return "\\begin{%s} %s \\end{%s}" % (kind, " \\\\ ".join(" & ".join(map(str, r)) for r in rows), kind)


def some_matrix(rng, n, m, size=20):
    """Returns a matrix of integers."""
    return [[rng.randint(-size, size) for _ in range(m)] for _ in range(n)]


def product(a, b):
    """Multiplies two matrices."""
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def changed(rng, rows):
    """Changes one entry."""
    out = [list(r) for r in rows]
    i, j = rng.randrange(len(out)), rng.randrange(len(out[0]))
    out[i][j] += rng.choice([1, -1, 3])
    return out


def transpose(rows):
    """Swaps rows and columns."""
    return [list(r) for r in zip(*rows)]


def entries(rng):
    """Matrices entry by entry."""
    a = some_matrix(rng, rng.randint(2, 3), rng.randint(2, 3))
    gold = write(a)
    yield gold, write(a, "bmatrix"), True
    yield gold, write([["%d+%d" % (v - 1, 1) if rng.random() < 0.3 else v for v in r] for r in a]), True
    yield gold, write(changed(rng, a)), False
    yield gold, write(transpose(a)), transpose(a) == a
    yield gold, write(a[::-1]), a[::-1] == a
    yield gold, write([r[::-1] for r in a]), [r[::-1] for r in a] == a
    yield gold, write([[-v for v in r] for r in a]), not any(map(any, a))
    yield gold, write(a[:1]), False
    yield gold, "(%s)" % ", ".join(str(v) for r in a for v in r), False


def symbolic_entries(rng):
    """Matrices of letters."""
    w, x, y, z = letters(rng, 4)
    k = nonzero(rng, 30)
    a = [["%s+%d" % (w, abs(k)), x], [y, "%d%s" % (abs(k) + 1, z)]]
    gold = write(a, rng.choice(KINDS))
    yield gold, write([["%d+%s" % (abs(k), w), x], [y, "%s \\cdot %d" % (z, abs(k) + 1)]]), True
    yield gold, write([[a[0][0], y], [x, a[1][1]]]), False
    yield gold, write([[a[0][0], x], [y, "%d%s" % (abs(k) + 2, z)]]), False
    yield gold, write([["%s-%d" % (w, abs(k)), x], [y, a[1][1]]]), False
    yield gold, write(a, "vmatrix"), False


def columns(rng):
    """Column vectors."""
    a = [[rng.randint(-40, 40)] for _ in range(rng.choice([2, 3]))]
    gold = write(a)
    yield gold, write(a, "bmatrix"), True
    yield gold, write(changed(rng, a)), False
    yield gold, write(a[::-1]), a[::-1] == a
    yield gold, write(a + [[0]]), False
    yield gold, write([[-v for v in r] for r in a]), not any(map(any, a))
    yield gold, write(a[1:]), False


def determinants(rng):
    """Determinants as numbers."""
    a = some_matrix(rng, 2, 2, 12)
    value = a[0][0] * a[1][1] - a[0][1] * a[1][0]
    yield str(value), write(a, "vmatrix"), True
    yield str(value), "\\det %s" % write(a), True
    yield write(a, "vmatrix"), str(value), True
    yield write(a, "vmatrix"), write(transpose(a), "vmatrix"), True
    wrong = a[0][0] * a[1][1] + a[0][1] * a[1][0]
    yield str(wrong), write(a, "vmatrix"), wrong == value
    yield str(-value), write(a, "vmatrix"), value == 0
    yield str(value), write(a), False
    b = some_matrix(rng, 3, 3, 6)
    three = sum(
        b[0][i] * (b[1][(i + 1) % 3] * b[2][(i + 2) % 3] - b[1][(i + 2) % 3] * b[2][(i + 1) % 3])
        for i in range(3)
    )
    yield str(three), write(b, "vmatrix"), True
    yield str(three + rng.choice([1, -1, 2])), write(b, "vmatrix"), False


def matrix_powers(rng):
    """Small powers of matrices."""
    a, n = some_matrix(rng, 2, 2, 5), rng.choice([2, 2, 3])
    value = product(a, a)
    if n == 3:
        value = product(value, a)
    each = [[v**n for v in r] for r in a]
    yield write(value), "%s^%d" % (write(a), n), True
    yield "%s^%d" % (write(a), n), write(value, "bmatrix"), True
    yield write(each), "%s^%d" % (write(a), n), each == value
    yield write(changed(rng, value)), "%s^%d" % (write(a), n), False
    twice = [[n * v for v in r] for r in a]
    yield "%s^%d" % (write(a), n), write(twice), twice == value


def matrix_products(rng):
    """Products and sums of matrices."""
    a, b = some_matrix(rng, 2, 2, 9), some_matrix(rng, 2, 2, 9)
    value, other = product(a, b), product(b, a)
    each = [[x * y for x, y in zip(r, s)] for r, s in zip(a, b)]
    both = [[x + y for x, y in zip(r, s)] for r, s in zip(a, b)]
    yield write(value), write(a) + write(b), True
    yield write(value), write(b) + write(a), value == other
    yield write(each), write(a) + write(b), value == each
    yield write(both), "%s+%s" % (write(a), write(b)), True
    yield write(both), "%s-%s" % (write(a), write(b)), not any(map(any, b))
    yield write(changed(rng, both)), "%s+%s" % (write(a), write(b)), False


def multiples(rng):
    """A factor in front of a matrix, and inverses."""
    a, k = some_matrix(rng, 2, 2), rng.randint(2, 12)
    if not a[0][0] or not any(a[1]):
        return
    yield "%d%s" % (k, write(a)), write([[k * v for v in r] for r in a]), True
    yield "\\frac{1}{%d}%s" % (k, write(a)), write([[number(Fraction(v, k)) for v in r] for r in a]), True
    yield "%d%s" % (k, write(a)), write([[k * v for v in a[0]], a[1]]), False
    yield "%d%s" % (k, write(a)), write(a), False
    yield "\\frac{1}{%d}%s" % (k, write(a)), write([[k * v for v in r] for r in a]), False
    det = a[0][0] * a[1][1] - a[0][1] * a[1][0]
    if det not in (0, 1, -1):
        adjugate = [[a[1][1], -a[0][1]], [-a[1][0], a[0][0]]]
        yield "\\frac{1}{%d}%s" % (det, write(adjugate)), write(
            [[number(Fraction(v, det)) for v in r] for r in adjugate]
        ), True
        yield "%s^{-1}" % write(a), write([[number(Fraction(v, det)) for v in r] for r in adjugate]), True
        yield "%s^{-1}" % write(a), write(adjugate), False


def named_matrices(rng):
    """Products of named matrices are not looked at: only powers, transposes and inverses of one."""
    a, b = letters(rng, 2, "ABMPQ")
    k = rng.randint(2, 40)
    yield "%d%s^T" % (k, a), "%d%s^{T}" % (k, a), True
    yield "%d%s^{-1}" % (k, a), "%d%s^{-1}" % (k, b), False
    yield "%d%s^T" % (k, a), "%d%s" % (k, a), False
    yield "%d%s+%s^T" % (k, a, b), "%s^T+%d%s" % (b, k, a), True
    yield "%d%s+%s^T" % (k, a, b), "%d%s+%s^T" % (k, b, a), False


CLASSES = [
    ("matrix", entries, None),
    ("matrix_of_letters", symbolic_entries, None),
    ("column", columns, None),
    ("determinant", determinants, None),
    ("matrix_power", matrix_powers, None),
    ("matrix_product", matrix_products, None),
    ("matrix_multiple", multiples, None),
    ("named_matrix", named_matrices, None),
]
