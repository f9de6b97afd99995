"""kveval in Python: grade answers in this process, read a run's tables, and start a sweep.

    import kveval
    if kveval.grade("1/4", "So it is $\\\\boxed{25\\\\%}$."): ...
    tables = kveval.load("out/mine")                  # pandas frames
    for now in kveval.run({"model": "pocket", ...}, "out/mine"): print(now["done"])

docs/python.md has more.
"""

from ._grading import Choice, Grade, Score, choice, grade, grade_many, grader_version, textscore
from ._program import Error
from ._sweep import Sweep, run
from ._tables import load

try:
    from importlib.metadata import version as _version

    __version__ = _version("kveval")
except ImportError:  # imported from a checkout
    __version__ = "0"

__all__ = [
    "Choice",
    "Error",
    "Grade",
    "Score",
    "Sweep",
    "choice",
    "grade",
    "grade_many",
    "grader_version",
    "load",
    "run",
    "textscore",
]
