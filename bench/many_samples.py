"""Time and memory of a run folder with many finished samples: how long a sweep takes to find that nothing is left, and a
report to be made, without and with kept grades. One JSON line a figure, as kveval bench prints them.

    python3 bench/many_samples.py build FOLDER                              # 100,000 completions
    python3 bench/many_samples.py build FOLDER --samples 4 --tokens 3000 --bytes 12000      # 20,000 of 30 kB

BUILD holds kveval and fill_run, which writes the records through the program's own writer. FOLDER is made, and is kept: a
second call measures it again. 1,000 problems under five settings, so that --samples 20 makes 100,000.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--problems", type=int, default=1000, help="of the task lookup; default 1000")
parser.add_argument("--samples", type=int, default=20, help="of each problem; default 20")
parser.add_argument("--tokens", type=int, default=200, help="ids of a completion; default 200")
parser.add_argument("--bytes", type=int, default=600, help="text of a completion; default 600")
parser.add_argument("--left", type=int, default=0, help="jobs without a record; default 0")


def measured(command, until=None):
    """Seconds, seconds of processors and MiB of a command, up to the first line of standard error that holds `until`; it is ended there."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = []
    seconds = None
    for line in process.stderr:
        text.append(line)
        if until and until in line:
            seconds = time.monotonic() - started
            process.kill()
            break
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    seconds = seconds or time.monotonic() - started
    if os.waitstatus_to_exitcode(status) not in (0, -9):
        sys.exit("%s failed: %s" % (" ".join(map(str, command)), "".join(text)))
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def show(name, jobs, seconds, processor, mebibytes):
    for value, unit in ((seconds, "s"), (processor, "s of processors"), (mebibytes, "MiB")):
        print(json.dumps({"name": name, "completions": jobs, "value": round(value, 2), "unit": unit}))


def make(a, kveval, run_file, out):
    run = {"model": "pocket", "max_new_tokens": 4096, "samples": a.samples, "temperature": 0.6,
           "tasks": [{"name": "lookup", "steps": 4, "problems": a.problems}],
           "policies": ["full", {"name": "quest", "k_pages": [2, 4, 8, 16]}]}
    run_file.write_text(json.dumps(run))
    # The sweep writes what the folder is about before it decodes, and is ended there.
    measured([kveval, "sweep", run_file, "-o", out], until=" jobs, ")
    for journal in out.glob("journal/*"):
        journal.unlink()
    subprocess.run([a.build / "fill_run", out, str(a.left), str(a.tokens), str(a.bytes)], check=True)


def main():
    a = parser.parse_args()
    kveval = a.build / "kveval"
    run_file, out = a.folder / "run.json", a.folder / "out"
    if not out.exists():
        a.folder.mkdir(parents=True, exist_ok=True)
        make(a, kveval, run_file, out)
    jobs = 5 * a.problems * a.samples
    show("decide what is left", jobs, *measured([kveval, "sweep", run_file, "-o", out], until=" jobs, "))
    for book in out.glob("grades/*"):
        book.unlink()
    show("report, nothing graded", jobs, *measured([kveval, "report", out]))
    show("report, all graded", jobs, *measured([kveval, "report", out]))
    show("journal verify", jobs, *measured([kveval, "journal", "verify", out]))


main()
