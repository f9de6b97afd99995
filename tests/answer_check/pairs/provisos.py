"""Answers with a proviso behind them: one that holds for all values leaves the answer as it is, another does not.

In UNIVERSAL and LIMITING %s is the answer; ANSWERS are the kinds. DOMAINS say where an expression in x is defined,
FIXED where a function was looked at, ATTAINED where a number is reached. A new proviso is one line."""

ANSWERS = ("5", r"\frac{3}{8}", "2n+1", "f(x)=2x", r"\frac{x^3}{3}+C")

UNIVERSAL = (
    r"%s\text{ for all }x",
    r"%s\text{ for all real }x",
    r"%s\text{ for every }n",
    r"%s\text{ for any }n",
    r"%s\quad\forall x\in\mathbb{R}",
    r"%s\text{ for all }x\in\mathbb{R}",
    r"%s\text{ for all positive integers }n",
    r"%s\text{ for each real number }x",
    r"%s\text{, where }C\text{ is a constant}",
    r"%s\text{ where }C\text{ is an arbitrary constant}",
)

LIMITING = (
    r"%s\text{ unless }n=2",
    r"%s\text{, unless }n=2",
    r"%s\text{ except when }n=2",
    r"%s\text{ except for }n=2",
    r"%s\text{ excluding }n=2",
    r"%s\text{ only if }n=2",
    r"%s\text{ only for }n=1",
    r"%s\text{ for some }n",
    r"%s\text{ sometimes}",
    r"%s\text{ or }6",
    r"%s\text{ but not always}",
    r"%s\text{ if }n\text{ is even, }6\text{ otherwise}",
    r"%s\text{ if }n=1\text{ and }6\text{ if }n=2",
    r"%s\text{ when }n=3,\ 7\text{ otherwise}",
    r"%s;\ 6\text{ if }n=2",
)

DOMAINS = (
    r",\ x\neq -1",
    r"\text{ for }x\ne -1",
    r"\text{ if }x\ne -1",
    r"\ (x\ne-1)",
    r",\ x>-1",
    r"\text{ where }x\neq -1",
    r"\text{ provided }x\ne-1",
    r"\text{ for }x>-1",
    r",\ |x|<1",
    r",\ -1<x<1",
)

FIXED = (
    r"f(x)=0\text{ for }x=1",
    r"f(x)=0,\ x=1",
    r"f(x)=0\text{ at }x=1",
    r"f(x)=0\text{ only at }x=1",
    r"f(x)=0\text{ for some }x",
    r"f(x)=0\text{ if }x\text{ is rational}",
    r"f(x)=0\text{ unless }x=1",
    "f(1)=0",
)

ATTAINED = (
    r"2,\text{ attained when }a=b=c",
    r"2\text{ (attained at }x=1)",
    r"2\text{ when }x=1",
    r"2,\text{ achieved when }a=b",
    r"2\text{ with equality iff }a=b",
)

TEXTS = (
    (r"\text{no solution}", r"\text{no solution for }n=2", False),
    (r"\text{no solution}", r"\text{no solution unless }n=2", False),
    (r"\text{no solution}", r"\text{no solution with }x<0\text{, so }x=3", False),
    (r"\text{yes}", r"\text{yes, it is}", True),
    (r"\text{yes}", r"\text{yes, if }n\text{ is even}", False),
    (r"\text{yes}", r"\text{yes, unless }n=2", False),
    (r"\text{yes}", r"\text{only if }n=2", False),
)


def rows():
    """Yields (class, gold, response, equal)."""
    found = [("universal", gold, form.replace("%s", gold), True) for form in UNIVERSAL for gold in ANSWERS]
    found += [("limiting", gold, form.replace("%s", gold), False) for form in LIMITING for gold in ANSWERS]
    found += [("domain", r"\frac{1}{x+1}", r"\frac{1}{x+1}" + form, True) for form in DOMAINS]
    found += [("domain", r"\frac{1}{x+1}", r"\frac{1}{x-1}" + form, False) for form in DOMAINS]
    found += [("fixed", "f(x)=0", form, False) for form in FIXED]
    found += [("attained", "2", form, True) for form in ATTAINED] + [("attained", "1", form, False) for form in ATTAINED]
    found += [("text proviso", gold, text, equal) for gold, text, equal in TEXTS]
    for group, gold, text, equal in found:
        yield "%s: %s" % (group, text), gold, r"\boxed{%s}" % text, equal
        yield "%s: %s" % (group, text), gold, "The answer is $%s$." % text, equal
