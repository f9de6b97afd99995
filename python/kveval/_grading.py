"""Grading in this process: kveval.grade, grade_many, choice and textscore."""

from __future__ import annotations

import importlib.util
import os
from ctypes import byref, c_char_p, c_double, c_size_t, c_void_p, sizeof
from functools import lru_cache
from itertools import islice
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

from . import _library
from ._library import checked, decode, encode, library

_AT_A_TIME = 8192  # pairs of one call: Ctrl-C is seen in between, and memory stays bounded

_CONTINUATION = bytes(range(0x80, 0xC0))  # of UTF-8: the bytes that begin no character


class Grade(NamedTuple):
    """What a grader says of one answer. It is true where the answer is correct."""

    verdict: str
    """correct, wrong, ambiguous, unparsed, unfinished, truncated, or error (of the reference)."""
    reason: str
    """A sentence: where the answer stood, and what decided."""
    how: Optional[str]
    """What an equality rests on: exact, certified, probed or text."""
    gold_form: str
    """The reference as it was compared, in readable form."""
    pred_form: str
    """The answer as it was compared; empty where none was found."""
    place: Optional[str]
    """The rule that found the answer: boxed, declared, last sentence and others."""
    took: Optional[str]
    """What that rule took of the response."""
    at: Optional[int]
    """Where it begins: an index of the response, None where it does not stand there as it is."""

    def __bool__(self) -> bool:
        return self.verdict == "correct"


class Choice(NamedTuple):
    """The letter of a multiple-choice answer. It is true where there is one."""

    letter: Optional[str]
    status: str
    """ok, ambiguous, unparsed or unfinished."""
    rule: str
    """Which statement decided."""

    def __bool__(self) -> bool:
        return self.letter is not None


class Score(float):
    """A score from 0 to 1. `segmenter` says how Chinese was cut ("jieba" or "char"), where the score depends on it."""

    segmenter: Optional[str] = None


def grade(gold: str, pred: str, **rules: Any) -> Grade:
    """Grades the response `pred` against the reference answer `gold`, as `kveval grade` does.

    Rules and options are those of the program, by name: percent="number", units="keep", thinking="none",
    finish="length", mode="compat" and so on. One that there is not raises a ValueError that says which there are.

    >>> bool(grade("1/4", "So it is $\\\\boxed{25\\\\%}$."))
    True
    """
    return _grade([gold], [pred], 1, rules)[0]


def grade_many(pairs: Iterable[tuple[str, str]], threads: Optional[int] = None, **rules: Any) -> list[Grade]:
    """Grades pairs (gold, pred), in order. All get the same rules, which are those of grade().

    The GIL is released meanwhile. `threads` is how many to use, by default one for each core.
    """
    rest, done = iter(pairs), []
    count = 0 if threads is None else threads
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    while some := list(islice(rest, _AT_A_TIME)):
        for pair in some:
            if isinstance(pair, (str, bytes)) or len(pair) != 2:  # "44" would be a pair of letters
                raise TypeError(f"a pair must be (gold, pred), not {pair!r:.100}")
        done += _grade([gold for gold, _ in some], [pred for _, pred in some], count, rules)
    return done


def _grade(golds: Sequence[str], preds: Sequence[str], threads: int, rules: dict[str, Any]) -> list[Grade]:
    lib, n, out = library(), len(golds), c_void_p()
    options = _library.options(_library.GRADE, rules)
    gold, pred = list(map(encode, golds)), list(map(encode, preds))
    texts, lengths = c_char_p * n, c_size_t * n
    arguments = (texts(*gold), lengths(*map(len, gold)), texts(*pred), lengths(*map(len, pred)))
    checked(lib.ac_grade, byref(out), options.handle, n, *arguments, threads)
    try:
        return list(_grades(out, preds, pred))
    finally:
        lib.ac_grades_free(out)


def _grades(out: c_void_p, texts: Sequence[str], encoded: Sequence[bytes]) -> Iterator[Grade]:
    at = library().ac_grades_at
    for i, raw in enumerate(encoded):
        g = at(out, i).contents
        place, begin = g.place, g.at
        if begin >= 0 and len(raw) != len(texts[i]):
            begin = len(raw[:begin].translate(None, _CONTINUATION))  # characters before it
        yield Grade(
            _word(g.verdict_name),
            _word(g.reason),
            _word(g.how),
            decode(g.gold_form),
            decode(g.pred_form),
            _word(place),
            None if place is None else decode(g.took),
            begin if begin >= 0 else None,
        )


@lru_cache(maxsize=1024)
def _word(text: Optional[bytes]) -> Any:
    """Of what mostly comes again."""
    return None if text is None else decode(text)


def choice(text: str, n_options: int = 4, **options: Any) -> Choice:
    """Finds the letter that a response chooses among n_options, as `kveval choice` does.

    Options by name: preset="strict" (ours) or "simple_evals", "gpt_oss", "lighteval", "inspect_ai",
    "lm_eval_flexible"; thinking and finish as in grade().

    >>> choice("The answer is (C).").letter
    'C'
    """
    found, raw = _library.ChoiceStruct(), encode(text)
    used = _library.options(_library.CHOICE, {"n_options": n_options, **options})
    checked(library().ac_choice, byref(found), sizeof(found), used.handle, raw, len(raw))
    letter = decode(found.letter)
    return Choice(letter or None, decode(found.status), decode(found.rule))


@lru_cache(maxsize=8)
def _segmenter(folder: Optional[str]) -> Optional[int]:
    """jieba's data in `folder`; without one those of Debian, else those of the Python package jieba, else None."""
    lib, out = library(), c_void_p()
    checked(lib.ac_segmenter_open, byref(out), None if folder is None else os.fsencode(folder))
    if folder is None and not out.value and (jieba := importlib.util.find_spec("jieba")) and jieba.origin:
        return _segmenter(os.path.dirname(jieba.origin))
    return out.value


def textscore(
    metric: str,
    gold: Union[str, Sequence[str]],
    pred: str,
    *,
    variant: Optional[str] = None,
    all_classes: Optional[Sequence[str]] = None,
    zh_dict: Optional[str] = None,
) -> Score:
    """Scores `pred` by a public metric of texts, as `kveval textscore` does; of several references the best counts.

    `variant` is of code_sim_score ("difflib" or "indel"), `all_classes` of classification_score, and `zh_dict` the
    folder of jieba's data for the Chinese metrics. An unknown metric raises a ValueError that names those that
    there are.

    >>> textscore("qa_f1_score", "red house", "the red house")
    1.0
    """
    lib, best = library(), Score(0)
    name, raw = encode(metric), encode(pred)
    golds = [gold] if isinstance(gold, str) else list(gold)
    if not golds:
        raise ValueError("there must be at least one reference")
    needs = bool(lib.ac_textscore_needs_segmenter(name))
    segmenter = _segmenter(zh_dict) if needs else None
    classes = [encode(c) for c in all_classes or ()]
    names = None if all_classes is None else (c_char_p * len(classes))(*classes)
    kind = None if variant is None else encode(variant)
    for one in map(encode, golds):
        score = c_double()
        checked(
            lib.ac_textscore, byref(score), name, kind, one, len(one), raw, len(raw), names, len(classes), segmenter
        )
        best = max(best, Score(score.value))
    if needs:
        best.segmenter = decode(lib.ac_segmenter_name(segmenter))
    return best


def grader_version() -> str:
    """The version of the graders. Verdicts of different ones must not be mixed."""
    return decode(library().ac_version())
