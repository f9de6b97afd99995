"""Endings of responses to multiple-choice questions, with every set of letters filled in (choices.txt)."""

import os
import re

# For X, P, Q and R, by the number of options. "I" is left out: in a sentence it is a pronoun.
LETTERS = {4: ("ABCD", "BCDA", "CDAB", "DABC"), 10: ("AHJB", "GFAJ", "JCAD", "DBHE")}
LETTER = r"(?<![A-Za-zÀ-ỹ\\])%s(?![A-Za-zÀ-ỹ])"


def filled(text, letters):
    """Returns the ending with these letters in it."""
    names = dict(zip("XPQR", letters), x=letters[0].lower())
    text = re.sub(LETTER % "XP", letters[0] + letters[1], text)
    return re.sub(LETTER % "[XPQRx]", lambda m: names[m.group(0)], text).replace("⏎", "\n")


def endings():
    """Yields (line, number of options, text, letter or None)."""
    path = os.path.join(os.path.dirname(__file__), "choices.txt")
    with open(path, encoding="utf-8") as file:
        for line in file:
            want, bar, text = line.rstrip("\n").partition(" | ")
            for n_options, sets in LETTERS.items() if bar and line[0] != "#" else ():
                for letters in sets:
                    yield text, n_options, filled(text, letters), letters[0] if want == "X" else None
