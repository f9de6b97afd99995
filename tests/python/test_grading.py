"""kveval.grade, grade_many, choice and textscore: values, the program's own answers on all pairs of the graders' tests,
threads, and what is refused. test_grading.py SOURCE_DIR"""
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

import kveval
from kveval import _library, _program

SOURCE = pathlib.Path(sys.argv.pop(1))


def known_pairs():
    """The rows of the graders' tests, in boxes."""
    found = []
    for name in ("equal/math_equal", "compat/compat_pairs"):
        for line in (SOURCE / f"tests/answer_check/{name}.test").read_text(encoding="utf-8").splitlines():
            sides = re.split(r"  (?:==|!=|=>)  ", line)
            if len(sides) > 1:
                found.append((f"\\boxed{{{sides[0]}}}", f"So $\\boxed{{{sides[1]}}}$, é."))
    texts = (SOURCE / "tests/answer_check/strict/places.test").read_text(encoding="utf-8").split("\n=== ")[1:]
    return found + [("7", text) for text in texts]


def program(command, rows, *options):
    done = subprocess.run([_program.program(), command, *options], capture_output=True,
                          input="".join(json.dumps(row) + "\n" for row in rows).encode())
    return [json.loads(line) for line in done.stdout.splitlines()]


class Grading(unittest.TestCase):
    def test_values(self):
        g = kveval.grade("1/4", "Só: the answer is $\\boxed{25\\%}$.")
        self.assertTrue(g)
        self.assertEqual((g.verdict, g.how, g.gold_form, g.pred_form, g.place), ("correct", "exact", "1/4", "25%", "boxed"))
        self.assertEqual("Só: the answer is $\\boxed{25\\%}$."[g.at:g.at + len(g.took)], g.took)
        for gold, pred, verdict in (("25", "\\boxed{25\\%}", "wrong"), ("5", "<think>5", "unfinished"), ("", "5", "error"),
                                    ("5", "no idea", "unparsed"), ("5", "\\boxed{5} or \\boxed{6}", "ambiguous")):
            g = kveval.grade(gold, pred)
            self.assertEqual(g.verdict, verdict)
            self.assertFalse(g)
        self.assertIsNone(kveval.grade("5", "no idea").at)
        self.assertTrue(kveval.grade("25", "\\boxed{25\\%}", percent="number"))
        self.assertFalse(kveval.grade("25", "\\boxed{25\\%}"))
        self.assertTrue(kveval.grade("0.34", "$0.31$", mode="compat", float_rounding=1, strict=False))
        self.assertTrue(kveval.grade("B", "$B$", mode="compat", match_types=["latex", "string"]))
        self.assertEqual(kveval.grade("5", "no idea", finish="length").verdict, "truncated")

    def test_as_the_program(self):
        pairs = known_pairs()
        self.assertGreater(len(pairs), 1200)
        for rules in ({}, {"mode": "compat"}, {"percent": "number", "decimals": "exact"}):
            row = {"mode": rules["mode"]} if "mode" in rules else {"rule": rules}
            want = program("grade", [{"gold": g, "pred": p, **row} for g, p in pairs], "--explain")
            got = kveval.grade_many(pairs, **rules)
            self.assertEqual(len(got), len(want))
            for pair, g, w in zip(pairs, got, want):
                last = (w.get("explain", {}).get("places") or [{}])[-1]
                at = last.get("at")
                text = pair[1].encode()
                self.assertEqual(
                    (g.verdict, g.reason, g.how, g.gold_form, g.pred_form, g.place, g.took,
                     None if g.at is None else len(pair[1][:g.at].encode())),
                    (w["verdict"], w["reason"], w.get("how"), w["gold_form"], w["pred_form"], last.get("rule"),
                     last.get("took"), at), (pair, text))

    def test_threads(self):
        pairs = known_pairs()[:400]
        want = kveval.grade_many(pairs, threads=1)
        self.assertEqual(kveval.grade_many(iter(pairs * 30), threads=3), want * 30)
        self.assertEqual(kveval.grade_many([]), [])
        got = {}
        threads = [threading.Thread(target=lambda i=i: got.update({i: kveval.grade_many(pairs)})) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([got[i] for i in range(4)], [want] * 4)
        self.assertNotIsInstance(_library.library(), ctypes.PyDLL)  # which would keep the GIL

    def test_after_fork(self):
        kveval.grade_many([("1", "1")] * 200, threads=2)
        child = os.fork()
        if not child:
            os._exit(0 if all(kveval.grade_many([("1", "1")] * 200, threads=2)) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_refused(self):
        for rules, words in (({"percents": "number"}, ["percents", '"percent"']), ({"percent": "half"}, ["hundredth", "half"]),
                             ({"preset": "lighteval"}, ["preset"]), ({"float_rounding": 101}, ["100"]),
                             ({"match_types": ["tex"]}, ["latex", "tex"]), ({"strict": "maybe"}, ["strict"])):
            with self.assertRaises(ValueError) as caught:
                kveval.grade("1", "1", **rules)
            for word in words:
                self.assertIn(word, str(caught.exception))
        for bad in ((1, "1"), ("1", None), (b"1", "1")):
            with self.assertRaises(TypeError):
                kveval.grade(*bad)
        with self.assertRaises(ValueError):
            kveval.grade_many([("1", "1")], threads=0)
        # a third of each was dropped, and a str of two letters was a pair
        for bad in ([("1", "1", "2")], [("1", "1"), ("1", "1", "2")], [("1",)], ["44", "55"], [b"44"], [()], "44", [1]):
            with self.assertRaisesRegex(TypeError, "pair|len"):
                kveval.grade_many(bad)
        self.assertTrue(all(kveval.grade_many([["1", "1"], ("2", "2")])))

    def test_hostile(self):
        for text in ("\0", "\\boxed{\0}", "\ud800", "\U0010ffff", "{" * 100000, "\\boxed{" * 3000, "(" * 5000, ""):
            for mode in ("strict", "compat"):
                self.assertIn(kveval.grade("7", text, mode=mode).verdict, ("wrong", "unparsed", "ambiguous"))
                kveval.grade(text, "7", mode=mode)
            kveval.choice(text)
        self.assertTrue(kveval.grade("7", "\ud800é \\boxed{7}"))
        self.assertEqual(kveval.grade("7", "\ud800é \\boxed{7}").at, 10)


class Choices(unittest.TestCase):
    def test_choice(self):
        self.assertEqual(kveval.choice("Answer: (C)").letter, "C")
        self.assertTrue(kveval.choice("Answer: (C)"))
        self.assertEqual(kveval.choice("<think>A")[:2], (None, "unfinished"))
        self.assertFalse(kveval.choice("no idea"))
        self.assertEqual(kveval.choice("Answer: (F)").status, "unparsed")
        self.assertEqual(kveval.choice("Answer: (F)", 6).letter, "F")
        self.assertEqual(kveval.choice("答", preset="gpt_oss").letter, "答")
        for options, word in (({"n_options": 27}, "26"), ({"preset": "lightevil"}, "lighteval"), ({"percent": "number"}, "percent")):
            with self.assertRaisesRegex(ValueError, word):
                kveval.choice("A", **options)

    def test_as_the_program(self):
        texts = (SOURCE / "tests/answer_check/choice/choice.test").read_text(encoding="utf-8").split("\n=== ")[1:]
        want = program("choice", [{"text": text, "n_options": 5} for text in texts])
        self.assertEqual([kveval.choice(text, 5)._asdict() for text in texts], want)


class Scores(unittest.TestCase):
    def test_scores(self):
        self.assertEqual(kveval.textscore("qa_f1_score", "red house", "the red house"), 1)
        self.assertEqual(kveval.textscore("qa_f1_score", ["blue", "red house"], "the red house"), 1)
        self.assertEqual(kveval.textscore("classification_score", "cat", "a cat", all_classes=["dog", "cat"]), 1)
        self.assertIsNone(kveval.textscore("qa_f1_score", "a", "b").segmenter)
        dictionary = str(SOURCE / "tests/answer_check/textscore/zh_dict")
        self.assertEqual(kveval.textscore("qa_f1_zh_score", "红", "红", zh_dict=dictionary).segmenter, "jieba")
        self.assertIn(kveval.textscore("qa_f1_zh_score", "红", "红").segmenter, ("jieba", "char"))
        row = {"metric": "rouge_score", "prediction": "a red house", "ground_truth": ["a house", "red"]}
        self.assertEqual(kveval.textscore("rouge_score", ["a house", "red"], "a red house"), program("textscore", [row])[0]["score"])

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, "bleu.*qa_f1_score"):
            kveval.textscore("bleu", "a", "b")
        with self.assertRaises(ValueError):
            kveval.textscore("classification_score", "a", "b")
        with self.assertRaises(ValueError):
            kveval.textscore("qa_f1_score", [], "b")
        with self.assertRaises(OSError):
            kveval.textscore("rouge_zh_score", "a", "b", zh_dict="/nowhere/at/all")


unittest.main()
