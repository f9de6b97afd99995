"""Classes of numbers."""

from fractions import Fraction
from math import comb, factorial, gcd

from common import nonzero, pairs, tex

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]


@pairs("integer")
def integer(r):
    n = nonzero(r, -5000, 5000)
    yield str(n), r.choice(["%d", "%d.0", "\\text{%d}", "{%d}", "%d."]) % n, True
    yield str(n), str(-n), False
    yield str(n), str(n + r.choice([-1, 1, 10])), False


@pairs("thousands")
def thousands(r):
    n = r.randint(1000, 99999999)
    text = "{:,}".format(n)
    yield str(n), r.choice([text, text.replace(",", "{,}"), text.replace(",", ",\\!"), text.replace(",", "\\,")]), True
    yield text, str(n), True
    yield text, str(n + 1000), False
    yield text, str(n // 10), False


@pairs("fraction")
def fraction(r):
    n, d, k = nonzero(r, -40, 40), r.randint(2, 40), r.randint(2, 5)
    q = Fraction(n, d)
    if q.denominator == 1 or abs(q) == 1:
        return
    yield tex(q), "\\frac{%d}{%d}" % (n * k, d * k), True
    yield tex(q), tex(q, r), True
    yield tex(q), tex(-q, r), False
    yield tex(q), tex(1 / q, r), False
    yield tex(q), tex(q + Fraction(1, q.denominator), r), False


@pairs("mixed number")
def mixed(r):
    whole, d = r.randint(1, 12), r.randint(3, 12)
    n = r.randint(1, d - 1)
    if gcd(n, d) > 1:
        return
    q = whole + Fraction(n, d)
    text = r.choice(["%d\\frac{%d}{%d}", "%d \\frac{%d}{%d}", "%d %d/%d"]) % (whole, n, d)
    yield tex(q), text, True
    if Fraction(whole * n, d) != q:
        yield tex(Fraction(whole * n, d)), text, False
    yield tex(q + 1), text, False


@pairs("decimal")
def decimal(r):
    q = Fraction(nonzero(r, -400, 400), r.choice([4, 5, 8, 16, 20, 25, 40, 50]))
    if q.denominator < 4:
        return
    text = "%.10f" % float(q)
    text = text.rstrip("0")
    yield tex(q), text, True
    yield tex(q), text.replace("0.", ".", 1) if text.startswith("0.") else text + "0", True
    yield tex(q), text[1:] if text[0] == "-" else "-" + text, False
    yield tex(q), "%.10g" % (float(q) * 10), False


@pairs("repeating decimal")
def repeating(r):
    block = str(r.randint(1, 998))
    if set(block) == {"9"} or set(block) == {"0"}:
        return
    whole = r.randint(0, 30)
    q = whole + Fraction(int(block), 10 ** len(block) - 1)
    yield tex(q), r.choice(["%d.\\overline{%s}", "%d.(%s)"]) % (whole, block), True
    if len(block) == 1:
        yield tex(q), "%d.\\dot%s" % (whole, block), True
        yield tex(q), "%d.\\dot{%s}" % (whole, block), True
    yield tex(q + 1), "%d.\\overline{%s}" % (whole, block), False
    other = str((int(block[0]) + 1) % 9) + block[1:]
    yield tex(q), "%d.\\overline{%s}" % (whole, other), False


@pairs("percent")
def percent(r):
    n = r.randint(1, 99)
    yield tex(Fraction(n, 100)), "%d\\%%" % n, True
    yield "%d\\%%" % n, tex(Fraction(n, 100), r), True
    yield "%d\\%%" % n, "%d\\%%" % (n + 1), False
    yield tex(Fraction(n, 100)), "%d\\%%" % (101 - n) if 2 * n != 101 else "7.5\\%", False
    yield "%d" % n, "%d\\%%" % n, False


@pairs("scientific")
def scientific(r):
    m, e = r.randint(2, 9), r.randint(3, 9)
    yield "%d \\times 10^{%d}" % (m, e), str(m * 10**e), True
    yield "%d \\times 10^{%d}" % (m, e), "%d \\cdot 10^%d" % (m, e), True
    yield "%d \\times 10^{-%d}" % (m, e), "0." + "0" * (e - 1) + str(m), True
    yield "%d \\times 10^{%d}" % (m, e), "%d \\times 10^{%d}" % (m, e + 1), False
    yield "%d \\times 10^{%d}" % (m, e), "%d \\times 10^{-%d}" % (m, e), False


@pairs("square root")
def root(r):
    a, b, c = r.randint(2, 12), r.choice([2, 3, 5, 6, 7, 10, 11, 13]), r.randint(1, 9)
    yield "%d\\sqrt{%d}" % (a, b), "\\sqrt{%d}" % (a * a * b), True
    yield "\\frac{%d}{\\sqrt{%d}}" % (c, b), "\\frac{%d\\sqrt{%d}}{%d}" % (c, b, b), True
    yield "%d + \\sqrt{%d}" % (a, b), "\\sqrt{%d} + %d" % (b, a), True
    yield "%d + \\sqrt{%d}" % (a, b), "%d - \\sqrt{%d}" % (a, b), False
    yield "%d\\sqrt{%d}" % (a, b), "\\sqrt{%d}" % (a * b), False
    yield "\\sqrt{%d} + \\sqrt{%d}" % (a, b), "\\sqrt{%d}" % (a + b), False


@pairs("cube root")
def cube_root(r):
    a, b = r.randint(2, 6), r.choice([2, 3, 5, 7])
    yield "%d\\sqrt[3]{%d}" % (a, b), "\\sqrt[3]{%d}" % (a**3 * b), True
    yield "\\sqrt[3]{%d}" % b, "%d^{1/3}" % b, True
    yield "\\sqrt[3]{%d}" % b, "\\sqrt{%d}" % b, False
    yield "%d\\sqrt[3]{%d}" % (a, b), "\\sqrt[3]{%d}" % (a * b), False


@pairs("power")
def power(r):
    a, n = r.randint(2, 9), r.randint(3, 12)
    yield "%d^{%d}" % (a, n), str(a**n), True
    yield "%d^{%d}" % (a, n), "%d \\cdot %d^{%d}" % (a, a, n - 1), True
    if a != n and a**n != n**a:
        yield "%d^{%d}" % (a, n), "%d^{%d}" % (n, a), False
    yield "%d^{%d}" % (a, n), str(a * n), False
    yield "2^{%d}-1" % (10 * n), "2^{%d-1}" % (10 * n), False


@pairs("complex")
def complex_number(r):
    a, b = nonzero(r, -9, 9), nonzero(r, 2, 9)
    yield "%d + %di" % (a, b), "%di %s" % (b, ("+ %d" if a > 0 else "- %d") % abs(a)), True
    yield "%d + %di" % (a, b), "%d+%d i" % (a, b), True
    yield "%d + %di" % (a, b), "%d - %di" % (a, b), False
    if a != b:
        yield "%d + %di" % (a, b), "%d + %di" % (b, a) if a != b else "0", False
    yield "%d + %di" % (a, b), "%d + %d" % (a, b), False


def numeral(n, base):
    digits = ""
    while n:
        digits = "0123456789ABCDEF"[n % base] + digits
        n //= base
    return digits


@pairs("numeral of a base")
def base(r):
    n, b, c = r.randint(20, 400), r.randint(2, 9), r.randint(2, 9)
    digits = numeral(n, b)
    yield "%s_%d" % (digits, b), r.choice(["%s_{%d}", "%s_{\\text{base }%d}", "(%s)_{%d}", "%s_%d"]) % (digits, b), True
    if b != c:
        yield "%s_%d" % (digits, b), "%s_%d" % (numeral(n, c), c), True
        yield "%s_%d" % (digits, b), "%s_%d" % (numeral(n + 1, c), c), False
        if int(max(digits)) < c:
            yield "%s_%d" % (digits, b), "%s_%d" % (digits, c), False
    yield str(n), "%s_{%d}" % (digits, b), True
    yield "%s_%d" % (digits, b), "%s_%d" % (numeral(n + 1, b), b), False


@pairs("factorial")
def factorials(r):
    n = r.randint(4, 10)
    yield "%d!" % n, str(factorial(n)), True
    yield "%d!" % n, "%d \\cdot %d!" % (n, n - 1), True
    yield "%d!" % n, "%d!" % (n - 1), False
    yield "\\frac{%d!}{%d!}" % (n, n - 2), str(n * (n - 1)), True
    yield "\\frac{1}{%d!}" % (100 * n), "\\frac{1}{%d!}" % (100 * n + 1), False


@pairs("binomial")
def binomials(r):
    n = r.randint(5, 12)
    k = r.randint(2, n // 2)
    forms = ["\\binom{%d}{%d}", "{}_{%d}C_{%d}", "C(%d, %d)", "\\dbinom{%d}{%d}"]
    yield str(comb(n, k)), r.choice(forms) % (n, k), True
    yield "\\binom{%d}{%d}" % (n, k), "{%d \\choose %d}" % (n, n - k), True
    yield "\\binom{%d}{%d}" % (n, k), "{}^{%d}C_{%d}" % (n, k), True
    yield "\\binom{%d}{%d}" % (n, k), "\\binom{%d}{%d}" % (n + 1, k), False
    yield "\\binom{%d}{%d}" % (n, k), "\\frac{%d}{%d}" % (n, k), False
    yield "\\binom{n}{k}", r.choice(["{}_nC_k", "\\frac{n!}{k!(n-k)!}", "^nC_k"]), True
    yield "\\binom{n}{k}", "\\binom{k}{n}", False


@pairs("ratio")
def ratio(r):
    a, b, k = r.randint(1, 9), r.randint(1, 9), r.randint(2, 5)
    if a == b or gcd(a, b) > 1:
        return
    yield "%d:%d" % (a, b), r.choice(["%d{:}%d", "%d : %d", "%d \\text{ to } %d"]) % (a, b), True
    yield "%d:%d" % (a, b), "%d:%d" % (a * k, b * k), True
    yield "%d{:}%d" % (a, b), tex(Fraction(a, b)), True
    yield "%d:%d" % (a, b), "%d:%d" % (b, a), False
    yield "%d:%d:%d" % (a, b, k), "%d:%d:%d" % (b, a, k), False


@pairs("number word")
def words(r):
    n = r.randint(2, 20)
    yield str(n), "\\text{%s}" % WORDS[n], True
    yield "\\text{%s}" % WORDS[n], str(n), True
    yield str(n), "\\text{%s}" % WORDS[n - 1], False
    yield "\\text{%s}" % WORDS[n], "\\text{%s}" % WORDS[n - 1], False


@pairs("degrees")
def degrees(r):
    n = r.randint(5, 170)
    yield "%d^\\circ" % n, r.choice(["%d^{\\circ}", "%d \\text{ degrees}", "%d°"]) % n, True
    yield "%d^\\circ" % n, "%d^\\circ" % (180 - n) if n != 90 else "45^\\circ", False
    yield "%d^\\circ" % n, tex(Fraction(n, 180)) + "\\pi", True
    yield "%d^\\circ" % n, tex(Fraction(n, 90)) + "\\pi", False


@pairs("multiples of pi")
def pi(r):
    a, b = r.randint(1, 9), r.randint(2, 9)
    if gcd(a, b) > 1:
        return
    yield "\\frac{%d\\pi}{%d}" % (a, b), "\\frac{%d}{%d}\\pi" % (a, b), True
    yield "\\frac{%d\\pi}{%d}" % (a, b), "%d\\pi/%d" % (a, b), True
    yield "\\frac{%d\\pi}{%d}" % (a, b), "\\frac{%d}{%d}" % (a, b), False
    yield "\\frac{%d\\pi}{%d}" % (a, b), "\\frac{%d}{%d\\pi}" % (a, b), False
    yield "\\frac{%d\\pi}{%d}" % (a, b), "-\\frac{%d\\pi}{%d}" % (a, b), False
