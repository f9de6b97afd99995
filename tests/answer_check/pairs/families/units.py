"""Units of measure, money, angles, times of day. A unit on one side only is dropped and not planted."""

from fractions import Fraction

from writing import decimal

# Name: (kind, size). The sizes of one kind share a unit.
SIZES = {
    "mm": ("length", "0.001"),
    "cm": ("length", "0.01"),
    "m": ("length", "1"),
    "km": ("length", "1000"),
    "mg": ("mass", "0.001"),
    "g": ("mass", "1"),
    "kg": ("mass", "1000"),
    "s": ("time", "1"),
    "minutes": ("time", "60"),
    "hours": ("time", "3600"),
    "days": ("time", "86400"),
    "weeks": ("time", "604800"),
    "ms": ("time", "0.001"),
    "mL": ("volume", "0.001"),
    "L": ("volume", "1"),
    "inches": ("imperial", "1"),
    "feet": ("imperial", "12"),
    "yards": ("imperial", "36"),
    "miles": ("imperial", "63360"),
    "ounces": ("weight", "1"),
    "pounds": ("weight", "16"),
}
LONG = {
    "mm": "millimeters",
    "cm": "centimeters",
    "m": "meters",
    "km": "kilometers",
    "g": "grams",
    "kg": "kilograms",
    "s": "seconds",
    "L": "liters",
    "mL": "milliliters",
    "mg": "milligrams",
}
AREAS = {"cm^2": "0.0001", "m^2": "1", "km^2": "1000000", "mm^2": "0.000001"}
VOLUMES = {"cm^3": "0.000001", "m^3": "1", "mm^3": "0.000000001"}


def size(name):
    """Returns the size of a unit."""
    return Fraction(SIZES[name][1])


def quantity(rng, value, unit):
    """Writes a value with its unit; None if it has no short decimal."""
    try:
        text = decimal(value)
    except ValueError:
        return None
    if len(text) > 9:
        return None
    name = LONG[unit] if unit in LONG and rng.random() < 0.4 else unit
    return text + rng.choice(["\\text{ %s}", "\\ \\text{%s}", "\\,\\mathrm{%s}", "~\\text{%s}"]) % name


def conversions(rng, kinds, amount=None):
    """Yields pairs of two units of one kind, and wrong factors."""
    kind = rng.choice(kinds)
    one, two = rng.sample([u for u in SIZES if SIZES[u][0] == kind], 2)
    value = amount or Fraction(rng.randint(1, 999), rng.choice([1, 1, 2, 10]))
    factor = size(one) / size(two)
    gold, same = quantity(rng, value, one), quantity(rng, value * factor, two)
    if not gold or not same:
        return
    yield gold, same, True
    yield gold, quantity(rng, value, one), True
    wrong = quantity(rng, value * factor * rng.choice([Fraction(1, 10), 10, 2]), two)
    for answer in (
        wrong,
        quantity(rng, value, two),
        quantity(rng, value / factor, two),
        quantity(rng, value + 1, one),
    ):
        if answer:
            yield gold, answer, False


def metric_lengths(rng):
    """Lengths."""
    yield from conversions(rng, ["length"])


def masses(rng):
    """Masses."""
    yield from conversions(rng, ["mass"])


def durations(rng):
    """Times that last."""
    yield from conversions(rng, ["time"])


def volumes(rng):
    """Volumes in litres."""
    yield from conversions(rng, ["volume"])


def imperial(rng):
    """Feet, inches, pounds and ounces."""
    yield from conversions(rng, ["imperial", "weight"], Fraction(rng.randint(1, 400)))


def squares_and_cubes(rng):
    """Areas and volumes of squares and cubes of units."""
    table = rng.choice([AREAS, VOLUMES])
    one, two = rng.sample(sorted(table), 2)
    value = Fraction(rng.randint(1, 999), rng.choice([1, 1, 2, 10]))

    def write(v, unit):
        name, _, exponent = unit.partition("^")
        return decimal(v) + rng.choice(["\\text{ %s}^%s", "\\ \\mathrm{%s}^{%s}"]) % (name, exponent)

    gold = write(value, one)
    factor = Fraction(table[one]) / Fraction(table[two])
    if not Fraction(1, 1000) < value * factor < 10**8 or len(decimal(value * factor)) > 9:
        return
    yield gold, write(value, one), True
    yield gold, write(value * factor, two), True
    yield gold, write(value * factor * 100, two), False
    yield gold, write(value, two), False
    yield gold, write(value, one.replace("2", "4").replace("3", "2").replace("4", "3")), False


def speeds(rng):
    """Quotients of units."""
    v = rng.randint(2, 300)
    k = 18 * v
    yield "%d\\text{ km/h}" % k, "%d\\text{ m/s}" % (5 * v), True
    yield "%d\\text{ m/s}" % (5 * v), "%d\\ \\text{km/h}" % k, True
    yield "%d\\text{ km/h}" % k, "%d\\text{ km}/\\text{h}" % k, True
    yield "%d\\text{ km/h}" % k, "%d\\text{ m/s}" % k, False
    yield "%d\\text{ km/h}" % k, "%d\\text{ km}" % k, False
    yield "%d\\text{ m/s}" % v, "%d\\text{ m/s}^2" % v, False
    yield "%d\\text{ km/h}" % k, "%d\\text{ km/h}" % (k + 1), False
    yield "%d\\text{ miles per hour}" % v, "%d\\text{ mph}" % v, True
    yield "%d\\text{ m/s}" % v, "%d\\text{ s/m}" % v, False


def different_kinds(rng):
    """Equal numbers with units of different kinds."""
    one, two = rng.sample(sorted(SIZES), 2)
    value = Fraction(rng.randint(1, 9999), rng.choice([1, 10]))
    gold = quantity(rng, value, one)
    if SIZES[one][0] != SIZES[two][0] and {SIZES[one][0], SIZES[two][0]} != {"weight", "mass"}:
        yield gold, quantity(rng, value, two), False
        yield gold, quantity(rng, value, one), True
        yield gold, quantity(rng, value + 1, one), False
        yield gold, decimal(value) + "^\\circ", False
        yield gold, "\\$" + decimal(value), False


def money(rng):
    """Dollars, cents and other currencies."""
    n, cents = rng.randint(1, 900), rng.randint(1, 99)
    amount = "%d.%02d" % (n, cents)
    yield "\\$%d" % n, "\\$%d.00" % n, True
    yield "\\$" + amount, "%s \\text{ dollars}" % amount, True
    yield "\\$" + amount, "%d \\text{ cents}" % (n * 100 + cents), True
    yield "%d \\text{ cents}" % cents, "\\$0.%02d" % cents, True
    yield "\\$%d" % n, "%d \\text{ cents}" % n, False
    yield "\\$%d" % n, "\\$%d" % (n + 1), False
    yield "\\$%d" % n, "\u20ac%d" % n, False
    yield "\\$" + amount, "\\$%d.%02d" % (n, cents % 99 + 1), False
    yield "\\$%d" % n, "\\$%d" % (n * 100), False
    yield "\\$%d" % n, "%d \\text{ euros}" % n, False
    yield "\\$%d" % n, "-\\$%d" % n, False


def times_of_day(rng):
    """Times of day on clocks of 12 and 24 hours."""
    h, m = rng.randint(1, 11), rng.randint(0, 59)
    yield "%d:%02d" % (h + 12, m), "%d:%02d \\text{ PM}" % (h, m), True
    yield "%d:%02d \\text{ p.m.}" % (h, m), "%d:%02d \\text{ PM}" % (h, m), True
    yield "%d:%02d \\text{ AM}" % (h, m), "%d:%02d \\text{ a.m.}" % (h, m), True
    yield "%d{:}%02d \\text{ AM}" % (h, m), "%d:%02d \\text{ AM}" % (h, m), True
    yield "%d:%02d \\text{ AM}" % (h, m), "%d:%02d \\text{ PM}" % (h, m), False
    yield "%d:%02d" % (h + 12, m), "%d:%02d \\text{ AM}" % (h, m), False
    yield "%d:%02d \\text{ PM}" % (h, m), "%d:%02d \\text{ PM}" % (h, (m + 1) % 60), False
    yield "%d:%02d \\text{ PM}" % (h, m), "%d:%02d \\text{ PM}" % (h + 1, m), False
    yield "%d:%02d" % (h + 12, m), "%d:%02d \\text{ PM}" % (h + 1, m), False


def angles(rng):
    """Degrees, minutes of arc, radians."""
    n = rng.randint(1, 359)
    v = Fraction(n, 180)
    radians = "\\frac{%s\\pi}{%d}" % ("" if v.numerator == 1 else v.numerator, v.denominator)
    yield "%d^\\circ" % n, "%d^{\\circ}" % n, True
    yield "%d^\\circ" % n, "%d\\text{ degrees}" % n, True
    if v.denominator > 1:
        yield "%d^\\circ" % n, radians, True
        yield "%d^\\circ" % (n + 1), radians, False
    yield "%d^\\circ" % n, "%d^\\circ" % (n + 1), False
    yield "%d^\\circ" % n, "%d^\\circ" % (360 - n), n == 180
    yield "%d^\\circ" % n, "-%d^\\circ" % n, False
    yield "%d^\\circ" % n, "%d\\text{ cm}" % n, False
    yield "%d^\\circ" % n, "%d\\pi" % n, False


def temperatures(rng):
    """Degrees of temperature."""
    n = rng.randint(-60, 400)
    yield "%d^\\circ\\text{C}" % n, "%d^{\\circ}\\mathrm{C}" % n, True
    yield "%d^\\circ\\text{F}" % n, "%d\\,^\\circ\\text{F}" % n, True
    if n != -40:
        yield "%d^\\circ\\text{C}" % n, "%d^\\circ\\text{F}" % n, False
    yield "%d^\\circ\\text{C}" % n, "%d^\\circ\\text{C}" % (n + 1), False
    yield "%d^\\circ\\text{F}" % n, "%d\\text{ kg}" % n, False


CLASSES = [
    ("metric_length", metric_lengths, None),
    ("mass", masses, None),
    ("duration", durations, None),
    ("litres", volumes, None),
    ("imperial", imperial, None),
    ("square_cubic_unit", squares_and_cubes, None),
    ("speed", speeds, None),
    ("units_of_two_kinds", different_kinds, None),
    ("money", money, None),
    ("time_of_day", times_of_day, None),
    ("angle", angles, None),
    ("temperature", temperatures, None),
]
