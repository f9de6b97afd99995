"""The program `kveval`, which comes with the package."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


class Error(Exception):
    """The program ended with an error: what it said, and its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def program() -> str:
    """KVEVAL_PROGRAM, or the one that was installed with this package."""
    path = os.environ.get("KVEVAL_PROGRAM") or str(Path(__file__).parent / "bin" / "kveval")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is not there: install the wheel, or set KVEVAL_PROGRAM to the built program")
    return path


def main() -> None:
    """`kveval` on the path: becomes the program, so that signals and exit codes are its own."""
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python
        signal.signal(ignored, signal.SIG_DFL)
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
