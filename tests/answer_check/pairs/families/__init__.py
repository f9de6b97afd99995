"""The registry: every family has a table CLASSES of (name, generator, how --check reads a pair)."""

import importlib

FAMILIES = (
    "numbers",
    "surds",
    "combinatorics",
    "expressions",
    "absolute",
    "functions",
    "sets",
    "lists",
    "relations",
    "equations",
    "units",
    "logic",
    "vectors",
    "matrices",
    "calculus",
    "texts",
    "random_trees",
    "near_misses",
    "symbols",
    "meanings",
    "phrasings",
)


def classes():
    """Returns {name: (generator, way of checking)} of all families, in their order."""
    found = {}
    for family in FAMILIES:
        for name, generator, check in importlib.import_module("families." + family).CLASSES:
            if name in found:
                raise ValueError("two classes are named %s" % name)
            found[name] = (generator, check)
    return found
