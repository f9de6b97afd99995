"""Numbers in their plain writings: integers, fractions, decimals, percent, powers of ten, bases, words."""

from fractions import Fraction

from writing import decimal, fraction, nonzero, number, ratio

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def integer(rng):
    """Integers as products and sums, beside near ones."""
    n, k = rng.randint(2, 4000), rng.randint(2, 60)
    yield str(n), "+%d" % n, True
    yield str(n), "%d.0" % n, True
    yield str(n * k), "%d \\cdot %d" % (n, k), True
    yield str(n * k), "%d \\times %d" % (k, n), True
    yield str(n + k), "%d+%d" % (n, k), True
    yield str(n), str(n + rng.choice([-1, 1, 10, -10])), False
    yield str(n), str(n * 10), False
    yield str(n * k), "%d+%d" % (n * k, k), False
    yield str(n * k), "%d \\cdot %d" % (n, k + 1), False
    if str(n) != str(n)[::-1] and n % 10:
        yield str(n), str(n)[::-1], False


def signed(rng):
    """Negative integers and fractions."""
    n, m = rng.randint(1, 900), rng.randint(1, 900)
    value = fraction(rng)
    yield str(-n), "-(%d)" % n, True
    yield str(-n), "\u2212%d" % n, True
    yield str(m - n - m), "%d-%d" % (m, n + m), True
    yield str(n), "-(-%d)" % n, True
    yield number(-value), "\\frac{-%d}{%d}" % (value.numerator, value.denominator), True
    yield number(-value), "\\frac{%d}{-%d}" % (value.numerator, value.denominator), True
    yield number(value), "\\frac{-%d}{-%d}" % (value.numerator, value.denominator), True
    yield str(-n), str(n), False
    yield number(value), number(-value), False
    yield number(-value), "\\frac{-%d}{-%d}" % (value.numerator, value.denominator), False
    yield str(-n), str(-n - 1), False


def thousands(rng):
    """Numbers of four to nine digits with separators."""
    n = rng.randint(1000, 10 ** rng.randint(4, 9) - 1)
    plain, grouped = str(n), "{:,}".format(n)
    other = "{:,}".format(n + rng.choice([1, -1, 10, 100, 1000]))
    yield plain, grouped, True
    yield grouped, plain, True
    yield grouped, grouped.replace(",", "{,}"), True
    yield plain, grouped.replace(",", "\\,"), True
    yield grouped, grouped.replace(",", ",\\!"), True
    yield grouped, other, False
    yield plain, other, False
    yield grouped, "{:,}".format(n * 1000), False
    yield plain, other.replace(",", "{,}"), False


def fractions_(rng):
    """Fractions in several writings, and neighbours of them."""
    value = fraction(rng, 90, 70)
    num, den, k = value.numerator, value.denominator, rng.randint(2, 12)
    yield number(value), "%d/%d" % (num, den), True
    yield "%d/%d" % (num, den), "\\frac{%d}{%d}" % (num * k, den * k), True
    yield number(value), "%d \\div %d" % (num, den), True
    yield number(value), "%d \\cdot \\frac{1}{%d}" % (num, den), True
    yield number(value), "\\frac{1}{%s}" % number(1 / value), True
    if num > 1:
        yield number(value), number(1 / value), False
    yield number(value), number(value + Fraction(rng.choice([1, -1, 2]), den)), False
    yield number(value), "\\frac{%d}{%d}" % (num, den + 1), False
    yield "%d/%d" % (num, den), str(num * den), False


def mixed(rng):
    """Mixed numbers, which are sums and no products."""
    whole, value = rng.randint(1, 40), fraction(rng, 20, 21)
    value -= int(value)
    num, den = value.numerator, value.denominator
    text = "%d\\frac{%d}{%d}" % (whole, num, den)
    yield text, number(whole + value), True
    yield number(whole + value), text, True
    yield text, "%d %d/%d" % (whole, num, den), True
    yield text, "%d+\\frac{%d}{%d}" % (whole, num, den), True
    yield "-" + text, number(-whole - value), True
    yield number(value), text, False
    yield "%d/%d" % (num, den), "%d %d/%d" % (whole, num, den), False
    yield text, number(value), False
    yield text, number(whole * value), False
    yield text, "%d\\frac{%d}{%d}" % (whole + 1, num, den), False
    yield "-" + text, number(value - whole), False


def decimals(rng):
    """Decimals that end."""
    places = rng.randint(1, 4)
    value = Fraction(rng.randint(1, 10**places * 40), 10**places)
    text = decimal(value)
    if value.denominator == 1:
        return
    step = Fraction(1, 10 ** len(text.split(".")[1]))  # A smaller one would round to the reference.
    yield text, number(value), True
    yield number(value), text, True
    yield text, ratio(rng, value), True
    yield number(value), text + "0", True
    if text.startswith("0."):
        yield text, text[1:], True
    yield text, decimal(value + rng.choice([1, 2, 3]) * step), False
    yield number(value), decimal(value * 10), False
    yield text, decimal(value / 10), False
    yield text, number(1 / value) if value != 1 else "2", False
    yield text, "-" + text, False


def repeating(rng):
    """Decimals with a period."""
    length = rng.randint(1, 3)
    period = "%0*d" % (length, rng.randint(1, 10**length - 2))
    if len(set(period)) == 1 and length > 1:
        return
    lead = rng.choice(["", str(rng.randint(1, 8))])
    if lead == period[-1]:
        return
    scale = Fraction(1, 10 ** len(lead))
    value = Fraction(int(lead or 0)) * scale + Fraction(int(period), 10**length - 1) * scale
    text = "0.%s\\overline{%s}" % (lead, period)
    yield text, number(value), True
    yield number(value), text, True
    yield text, "0.%s%s\\overline{%s}" % (lead, period, period), True
    if length > 1:
        yield text, "0.%s%s\\overline{%s}" % (lead, period[0], period[1:] + period[0]), True
    if len(lead + period) < 4:  # Four digits would be a rounded value.
        yield number(value), "0.%s%s" % (lead, period), False
    yield text, "0.%s\\overline{%0*d}" % (lead, length, int(period) + 1), False
    if lead:
        yield text, "0.\\overline{%s%s}" % (lead, period), False
    elif length > 1:
        yield text, "0.%s\\overline{%s}" % (period[0], period[1:]), period[1:] == period[0]
    yield text, "1.%s\\overline{%s}" % (lead, period), False


def percent(rng):
    """Percent are hundredths."""
    n = rng.choice([rng.randint(1, 99), rng.randint(101, 400), Fraction(rng.randint(1, 999), 10)])
    text, value = decimal(n) + "\\%", Fraction(n) / 100
    yield text, number(value), True
    yield number(value), text, True
    yield text, decimal(value), True
    yield text, decimal(n) + "\\text{ percent}", True
    yield text, decimal(n), False
    yield decimal(n), text, False
    yield text, decimal(value) + "\\%", False
    yield text, decimal(Fraction(n) + 1) + "\\%", False
    yield number(value), decimal(Fraction(n) * 10) + "\\%", False
    yield text, decimal(value * 10), False


def scientific(rng):
    """Numbers times a power of ten."""
    mantissa, e = Fraction(rng.randint(11, 99), 10), nonzero(rng, 7)
    if mantissa.denominator == 1:
        return
    text = "%s \\times 10^{%d}" % (decimal(mantissa), e)
    value = mantissa * Fraction(10) ** e
    yield text, decimal(value), True
    yield decimal(value), text, True
    yield text, "%s \\cdot 10^{%d}" % (decimal(mantissa), e), True
    yield text, "%s \\times 10^{%d}" % (decimal(mantissa * 10), e - 1), True
    yield text, "%s \\times 10^{%d}" % (decimal(mantissa), -e), False
    yield text, "%s \\times 10^{%d}" % (decimal(mantissa), e + rng.choice([1, -1])), False
    yield text, "%s \\times 10^{%d}" % (decimal(mantissa * 10), e), False
    yield text, "%s \\times 10^{%d}" % (decimal(mantissa + Fraction(1, 10)), e), False
    yield text, decimal(value * 10), False


def digits_in(value, base):
    """Writes an integer in a base up to 10."""
    out = ""
    while value:
        out, value = str(value % base) + out, value // base
    return out or "0"


def based(rng):
    """Numerals of a base. Digits without a base count as the numeral, so only other digits are planted."""
    value = rng.randint(10, 3000)
    one, two = rng.sample([2, 3, 4, 5, 6, 7, 8, 9], 2)
    a, b = digits_in(value, one), digits_in(value, two)
    gold = "%s_{%d}" % (a, one)
    yield gold, "%s_%d" % (a, one), True
    yield gold, "%s_{%d}" % (b, two), True
    yield gold, str(value), True
    yield gold, "%s_{%d}" % (digits_in(value + 1, one), one), False
    yield gold, "%s_{%d}" % (digits_in(value + two, two), two), False
    for wrong in (value + 1, value - 1, value * 2):
        if str(wrong) != a:
            yield gold, str(wrong), False
    if all(int(d) < two for d in a) and int(a, two) != value:
        yield gold, "%s_{%d}" % (a, two), False


def ratios(rng):
    """Ratios of two or three integers."""
    parts = rng.sample(range(1, 60), rng.choice([2, 2, 3]))
    text = ":".join(map(str, parts))
    yield text, text.replace(":", "{:}"), True
    yield text, text.replace(":", " : "), True
    yield text, text.replace(":", " \\colon "), True
    yield text, ":".join(map(str, parts[::-1])), False
    at = rng.randrange(len(parts))
    wrong = parts[:]
    wrong[at] += 1
    if wrong[0] * parts[-1] != wrong[-1] * parts[0]:
        yield text, ":".join(map(str, wrong)), False
    yield text, ":".join(map(str, [parts[0] + parts[-1]] + parts[1:])), False


def spoken(n):
    """Writes an integer below ten thousand in English words."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")
    size, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    rest = n % size
    return spoken(n // size) + " " + name + (" " + spoken(rest) if rest else "")


def words(rng):
    """Numbers in words."""
    n = rng.choice([rng.randint(2, 20), rng.randint(21, 99), rng.randint(100, 999), rng.randint(1000, 9999)])
    other = n + rng.choice([1, -1, 10, 100])
    yield str(n), spoken(n), True
    yield spoken(n), str(n), True
    yield str(n), "\\text{%s}" % spoken(n), True
    yield spoken(n), spoken(n).capitalize(), True
    yield str(n), spoken(other), False
    yield spoken(n), str(other), False
    yield spoken(n), spoken(other), False


def fraction_sums(rng):
    """Sums, differences and products of two fractions."""
    a, b = fraction(rng), fraction(rng)
    if a == b or 1 in (a - b, b - a):
        return
    yield number(a + b), "%s+%s" % (number(a), number(b)), True
    yield number(a - b), "%s-%s" % (number(a), number(b)), True
    yield number(a * b), "%s \\cdot %s" % (number(a), number(b)), True
    yield number(a / b), "\\frac{%s}{%s}" % (number(a), number(b)), True
    yield number(a + b), "%s-%s" % (number(a), number(b)), False
    yield number(a - b), "%s-%s" % (number(b), number(a)), False
    yield number(a / b), "%s \\cdot %s" % (number(a), number(b)), b * b == 1
    middle = Fraction(a.numerator + b.numerator, a.denominator + b.denominator)
    yield number(a + b), number(middle), False


CLASSES = [
    ("integer", integer, "value"),
    ("signed", signed, "value"),
    ("thousands", thousands, None),
    ("fraction", fractions_, "value"),
    ("mixed_number", mixed, None),
    ("decimal", decimals, "value"),
    ("repeating_decimal", repeating, None),
    ("percent", percent, None),
    ("scientific", scientific, "value"),
    ("base_numeral", based, None),
    ("ratio", ratios, None),
    ("number_words", words, "text"),
    ("fraction_sum", fraction_sums, "value"),
]
