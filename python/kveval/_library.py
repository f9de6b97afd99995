"""libanswer_check.so.1 through ctypes, which releases the GIL while a call runs (answer_check/capi/answer_check_c.h)."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any

INTERFACE = 1
GRADE, CHOICE = 0, 1


class GradeStruct(ctypes.Structure):
    _fields_ = [
        ("verdict", c_int),
        ("verdict_name", c_char_p),
        ("reason", c_char_p),
        ("how", c_char_p),
        ("gold_form", c_char_p),
        ("pred_form", c_char_p),
        ("place", c_char_p),
        ("took", c_char_p),
        ("at", c_int64),
    ]


class ChoiceStruct(ctypes.Structure):
    _fields_ = [("status", c_char_p), ("rule", c_char_p), ("letter", c_char * 8)]


_TEXTS, _LENGTHS, _ERROR = POINTER(c_char_p), POINTER(c_size_t), (c_char_p, c_size_t)
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ac_interface": (c_int, ()),
    "ac_version": (c_char_p, ()),
    "ac_options_new": (c_void_p, (c_int,)),
    "ac_options_set": (c_int, (c_void_p, c_char_p, c_char_p, *_ERROR)),
    "ac_options_free": (None, (c_void_p,)),
    "ac_grade": (
        c_int,
        (POINTER(c_void_p), c_void_p, c_size_t, _TEXTS, _LENGTHS, _TEXTS, _LENGTHS, c_int, *_ERROR),
    ),
    "ac_grades_at": (POINTER(GradeStruct), (c_void_p, c_size_t)),
    "ac_grades_free": (None, (c_void_p,)),
    "ac_choice": (c_int, (POINTER(ChoiceStruct), c_size_t, c_void_p, c_char_p, c_size_t, *_ERROR)),
    "ac_segmenter_open": (c_int, (POINTER(c_void_p), c_char_p, *_ERROR)),
    "ac_segmenter_name": (c_char_p, (c_void_p,)),
    "ac_segmenter_close": (None, (c_void_p,)),
    "ac_textscore_names": (c_char_p, ()),
    "ac_textscore_needs_segmenter": (c_int, (c_char_p,)),
    "ac_textscore": (
        c_int,
        (POINTER(c_double), c_char_p, c_char_p, c_char_p, c_size_t, c_char_p, c_size_t)
        + (_TEXTS, c_size_t, c_void_p, *_ERROR),
    ),
}


def _path() -> str:
    """KVEVAL_LIBRARY, or the one that was installed with this package."""
    if chosen := os.environ.get("KVEVAL_LIBRARY"):
        return chosen
    here = Path(__file__).parent
    for folder in ("lib", "lib64"):
        if (path := here / folder / "libanswer_check.so.1").exists():
            return str(path)
    raise ImportError(f"{here} has no libanswer_check.so.1: install the wheel, or set KVEVAL_LIBRARY to the built one")


@lru_cache(maxsize=None)
def library() -> Any:
    """The library, loaded at the first call that needs it."""
    lib = ctypes.CDLL(_path())
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    if (found := lib.ac_interface()) != INTERFACE:
        raise ImportError(f"{_path()} has version {found} of the interface, and this package needs {INTERFACE}")
    return lib


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes bytes that are not, which the graders take as they take all bytes."""
    if not isinstance(text, str):
        raise TypeError(f"a text must be a str, not {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass")


def decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def checked(call: Any, *arguments: Any) -> None:
    """Calls a function that writes a sentence to its last two arguments, and raises it as a ValueError.

    The sentence is asked for by a second call, since memory for it takes longer than grading.
    """
    if not call(*arguments, None, 0):
        return
    error = ctypes.create_string_buffer(1000)
    result = call(*arguments, error, len(error))
    if result == -2:
        raise OSError(decode(error.value))
    if result:
        raise ValueError(decode(error.value))


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "+".join(map(str, value))
    return str(value)


class Options:
    """A handle of struct ac_options, freed with this object."""

    def __init__(self, call: int, given: tuple[tuple[str, str], ...]) -> None:
        lib = library()
        self._free = lib.ac_options_free
        self.handle = lib.ac_options_new(call)
        for name, value in given:
            checked(lib.ac_options_set, self.handle, encode(name), encode(value))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._free(self.handle)


_options = lru_cache(maxsize=64)(Options)


def options(call: int, given: dict[str, Any]) -> Options:
    """The options of a call by name; the last ones that were asked for are kept."""
    return _options(call, tuple([(name, _as_text(value)) for name, value in given.items()]) if given else ())
