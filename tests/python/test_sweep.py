"""kveval.run and kveval.load on the embedded model, and `python -m kveval`. Needs no pandas but for the frames."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import kveval

try:
    import pandas
except ImportError:
    pandas = None

RUN = {"model": "pocket", "max_new_tokens": 10, "temperature": 0, "policies": ["full", {"name": "quest", "k_pages": 4}],
       "tasks": [{"name": "pocket.lookup", "steps": 12, "problems": 2}]}
LONG = {**RUN, "max_new_tokens": 2000, "tasks": [{"name": "pocket.relay", "steps": 64, "problems": 400}]}


class Sweeps(unittest.TestCase):
    def test_run_and_load(self):
        states = list(kveval.run(RUN, "out", threads=1))
        self.assertEqual((states[-1]["state"], states[-1]["done"], states[-1]["total"]), ("finished", 4, 4))
        again = kveval.run(RUN, "out", threads=1)
        self.assertEqual(list(again)[-1]["done"], 4)
        self.assertEqual(list(again), [])
        if not pandas:
            self.skipTest("no pandas")
        tables = kveval.load("out")
        lengths = tables["lengths"]
        self.assertEqual(len(lengths), 4)
        self.assertEqual(tables["accuracy"]["label"].tolist()[0], "full")
        kinds = {"text": "string", "int": "Int64", "float": "Float64", "bool": "boolean"}
        text = pathlib.Path("out/report/columns.md").read_text(encoding="utf-8")
        seen = 0
        for name, frame in tables.items():
            rows = text.split(f"## {name}.csv\n")[1].split("\n## ")[0]
            for line in rows.splitlines():
                cells = [c.strip() for c in line.strip("| ").split(" | ")]
                if len(cells) > 2 and cells[1] in kinds:
                    self.assertEqual(str(frame[cells[0]].dtype), kinds[cells[1]], (name, cells))
                    self.assertEqual(frame.attrs["columns"][cells[0]]["unit"], cells[2])
                    seen += 1
        self.assertGreater(seen, 50)
        self.assertEqual(set(kveval.load("out/report")), set(tables))

    def test_texts_of_a_spreadsheet(self):
        if not pandas:
            self.skipTest("no pandas")
        labels = ["=1+2", "'quoted", "NA", "None", 'a "b", c', "-1 x"]
        policies = [{"name": "full"}] + [{"name": "quest", "k_pages": 4 + i, "as": label} for i, label in enumerate(labels)]
        list(kveval.run({**RUN, "policies": policies}, "texts", threads=1))
        self.assertEqual(kveval.load("texts")["settings"]["label"].tolist(), ["full"] + labels)

    def test_names_count_from_here(self):
        pathlib.Path("mine.jsonl").write_text('{"problem": "What is 2 + 3?", "answer": "5"}\n', encoding="utf-8")
        run = {**RUN, "tasks": [{"kind": "math", "file": "mine.jsonl"}]}
        self.assertEqual(list(kveval.run(run, "mine", threads=1))[-1]["state"], "finished")
        pathlib.Path("run.json").write_text(json.dumps(run), encoding="utf-8")
        self.assertEqual(list(kveval.run(pathlib.Path("run.json"), "mine2", threads=1, limit=1))[-1]["state"], "finished")

    def test_mistakes(self):
        for run, options, word in (({**RUN, "modle": 1}, {}, "modle"), (RUN, {"limits": 1}, "--limits"),
                                   ("nowhere.json", {}, "nowhere.json"), (RUN, {"devices": "cuda:99"}, "cuda"),
                                   ({**RUN, "policies": ["qest"]}, {}, "quest")):
            with self.assertRaises(kveval.Error) as caught:
                list(kveval.run(run, "bad", **options))
            self.assertIn(word, str(caught.exception))
            self.assertFalse(str(caught.exception).startswith("kveval"))
            self.assertIn(caught.exception.code, (2, 3))
            if isinstance(run, dict):  # it has no path that the caller knows
                self.assertNotIn("/proc/", str(caught.exception))
        with self.assertRaisesRegex(kveval.Error, "^run: .*modle"):
            list(kveval.run({**RUN, "modle": 1}, "bad"))
        with self.assertRaises(kveval.Error):
            kveval.load("nowhere")

    def test_close(self):
        sweep = kveval.run(LONG, "long", threads=1)
        pid = next(sweep)["pid"]
        sweep.close()
        sweep.close()
        self.assertEqual(list(sweep), [])
        with kveval.run(LONG, "long", threads=1) as sweep:
            second = next(sweep)["pid"]
        del sweep
        for ended in (pid, second):
            with self.assertRaises(ProcessLookupError):
                os.kill(ended, 0)

    def test_killed(self):
        sweep = kveval.run(LONG, "killed", threads=1)
        os.kill(next(sweep)["pid"], signal.SIGKILL)
        with self.assertRaisesRegex(kveval.Error, "SIGKILL"):
            list(sweep)

    def test_program(self):
        command = [sys.executable, "-m", "kveval"]
        said = subprocess.run([*command, "--version"], capture_output=True, text=True)
        self.assertTrue(said.stdout.startswith("kveval ") and said.returncode == 0)
        self.assertEqual(subprocess.run([*command, "swep"], capture_output=True).returncode, 2)
        pathlib.Path("long.json").write_text(json.dumps(LONG), encoding="utf-8")
        child = subprocess.Popen([*command, "sweep", "long.json", "-o", "signals", "--threads", "1", "--display", "json"],
                                 stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.assertEqual(json.loads(child.stderr.readline())["pid"], child.pid)  # it became the program
        child.stderr.close()
        while not pathlib.Path("signals/status.json").exists():
            time.sleep(0.05)
        child.terminate()
        self.assertIn(child.wait(), (75, -signal.SIGTERM))


for folder in ("out", "texts", "mine", "mine2", "bad", "long", "killed", "signals"):
    shutil.rmtree(folder, ignore_errors=True)
unittest.main()
