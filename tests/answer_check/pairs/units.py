"""Classes of units, money and times. A unit on one side only is ignored by the default rule, so it is not planted."""

from common import pairs

SAME = [("m", "cm", 100), ("km", "m", 1000), ("cm", "mm", 10), ("kg", "g", 1000), ("g", "mg", 1000),
        ("hours", "minutes", 60), ("minutes", "seconds", 60), ("days", "hours", 24), ("weeks", "days", 7),
        ("feet", "inches", 12), ("yards", "feet", 3), ("miles", "feet", 5280), ("pounds", "ounces", 16),
        ("L", "mL", 1000), ("years", "months", 12), ("gallons", "quarts", 4), ("m^2", "cm^2", 10000),
        ("m^3", "L", 1000), ("bytes", "bits", 8)]


@pairs("conversion")
def conversion(r):
    a, b, k = r.choice(SAME)
    n = r.randint(2, 30)
    write = lambda v, u: "%d\\text{ %s}" % (v, u) if "^" not in u else "%d\\text{ %s}^%s" % (v, u[0:-2], u[-1])
    yield write(n, a), write(n * k, b), True
    yield write(n * k, b), write(n, a), True
    yield write(n, a), write(n, b), False
    yield write(n, a), write(n * k + 1, b), False


@pairs("other unit")
def other(r):
    units = ["cm", "kg", "s", "L", "hours", "dollars", "people"]
    u, v = r.sample(units, 2)
    n = r.randint(2, 60)
    yield "%d\\text{ %s}" % (n, u), "%d\\text{ %s}" % (n, v), False
    yield "%d\\text{ %s}" % (n, u), "%d\\,\\text{%s}" % (n, u), True
    yield "%d\\text{ %s}" % (n, u), "%d\\text{ %s}" % (n + 1, u), False
    yield "%d\\text{ %s}" % (n, u), str(n), True


@pairs("money")
def money(r):
    n, c = r.randint(2, 99), r.randint(1, 99)
    yield "\\$%d" % n, "%d\\text{ cents}" % n, False
    yield "\\$%d.%02d" % (n, c), "\\$%d.%02d" % (n, c), True
    yield "\\$%d" % n, "%d\\text{ dollars}" % n, True
    yield "\\$0.%02d" % c, "%d\\text{ cents}" % c, True
    yield "\\$%d" % n, "%d\\text{ cm}" % n, False
    yield "%d\\text{ cm}" % n, "\\$%d" % n, False


@pairs("speed")
def speed(r):
    n = r.randint(2, 99)
    yield "%d\\text{ km/h}" % n, "%d\\text{ kilometers per hour}" % n, True
    yield "%d\\text{ m/s}" % n, "%d\\text{ km/h}" % n, False
    yield "%d\\text{ m/s}" % (5 * n), "%d\\text{ km/h}" % (18 * n), True
    yield "%d\\text{ mph}" % n, "%d\\text{ miles per hour}" % n, True


@pairs("time of day")
def time(r):
    h, m = r.randint(1, 11), r.randint(0, 59)
    yield "%d:%02d" % (h + 12, m), "%d:%02d\\text{ PM}" % (h, m), True
    yield "%d:%02d \\text{ PM}" % (h, m), "%d:%02d p.m." % (h, m), True
    yield "%d{:}%02d\\text{ PM}" % (h, m), "%d:%02d pm" % (h, m), True
    yield "%d:%02d\\text{ PM}" % (h, m), "%d:%02d\\text{ AM}" % (h, m), False
    yield "%d:%02d" % (h + 12, m), "%d:%02d\\text{ AM}" % (h, m), False
    yield "%d:%02d\\text{ AM}" % (h, m), "%d:%02d\\text{ AM}" % (h, (m + 1) % 60), False
