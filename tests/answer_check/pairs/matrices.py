"""Classes of matrices."""

from common import nonzero, pairs


def matrix(m, kind="pmatrix"):
    rows = " \\\\ ".join(" & ".join(str(v) for v in row) for row in m)
    return "\\begin{%s} %s \\end{%s}" % (kind, rows, kind)


def random_matrix(r, n=2):
    return [[r.randint(-6, 6) for _ in range(n)] for _ in range(n)]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** c * m[0][c] * determinant([row[:c] + row[c + 1:] for row in m[1:]]) for c in range(len(m)))


@pairs("matrix")
def plain(r):
    m = random_matrix(r)
    other = [row[:] for row in m]
    other[r.randint(0, 1)][r.randint(0, 1)] += 1
    yield matrix(m), matrix(m, "bmatrix"), True
    yield matrix(m), matrix(other), False
    if m[0][1] != m[1][0]:
        yield matrix(m), matrix([list(c) for c in zip(*m)]), False
    yield matrix([[2 * v for v in row] for row in m]), "2" + matrix(m), True


@pairs("determinant")
def determinants(r):
    m = random_matrix(r, r.choice([2, 2, 3]))
    d = determinant(m)
    form = r.choice([matrix(m, "vmatrix"), "\\det" + matrix(m)])
    yield str(d), form, True
    yield form, str(d), True
    yield form, str(d + 1), False
    if d:
        yield form, str(-d), False
    yield "\\begin{vmatrix} a & b \\\\ c & d \\end{vmatrix}", "ad - bc", True
    yield "\\begin{vmatrix} a & b \\\\ c & d \\end{vmatrix}", "ad + bc", False


@pairs("power of a matrix")
def powers(r):
    m = random_matrix(r)
    square = product(m, m)
    n = r.randint(2, 9)
    yield matrix(m) + "^2", matrix(square), True
    yield matrix([[1, n], [0, 1]]) + "^3", matrix([[1, 3 * n], [0, 1]]), True
    entrywise = [[v * v for v in row] for row in m]
    if entrywise != square:
        yield matrix(m) + "^2", matrix(entrywise), False


@pairs("product of matrices")
def products(r):
    a, b = random_matrix(r), random_matrix(r)
    yield matrix(a) + matrix(b), matrix(product(a, b)), True
    if product(a, b) != product(b, a):
        yield matrix(a) + matrix(b), matrix(product(b, a)), False


@pairs("column vector")
def column(r):
    a, b, c = nonzero(r, -9, 9), nonzero(r, -9, 9), nonzero(r, -9, 9)
    yield matrix([[a], [b], [c]]), "\\left( %d, %d, %d \\right)" % (a, b, c), True
    if a != b:
        yield matrix([[a], [b], [c]]), matrix([[b], [a], [c]]), False
    yield matrix([[a], [b], [c]]), matrix([[-a], [b], [c]]), False
