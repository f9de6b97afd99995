#!/usr/bin/env python3
"""What LiveCodeBench's own grader says of the submissions in tests/code_check/judge.test.

    git clone https://github.com/LiveCodeBench/LiveCodeBench lcb; pip install numpy
    python3 tests/peers/livecodebench.py lcb                 # a line for each: what the file says, what it says
    python3 tests/peers/livecodebench.py lcb --check         # exit 1 where the two differ

Nothing of it is here: run_test() of lcb_runner/evaluation/testing_util.py is called in a process of its own for each
submission, as its compute_code_generation_metrics.py does. That process runs the submissions outside of any sandbox, so
give it none but those of that file.
"""
import importlib.util
import json
import multiprocessing
import pathlib
import re
import sys

SECONDS = 6
HERE = pathlib.Path(__file__).resolve().parent


def read_rows(path):
    rows, key = [], None
    for line in path.read_text().split("\n"):
        if line.startswith("=== "):
            rows.append({"name": line[4:]})
            key = None
        elif re.fullmatch(r"--- \w+", line):
            key = line[4:]
            rows[-1][key] = []
        elif key:
            rows[-1][key].append(line)
    for row in rows:
        last = list(row)[-1]
        while row[last] and row[last][-1] == "":
            row[last].pop()
        for key in list(row)[1:]:
            row[key] = "\n".join(row[key])
    return rows


def sample_of(row):
    n = sum(1 for key in row if re.fullmatch(r"in\d", key))
    return {"input_output": json.dumps({"inputs": [row[f"in{i + 1}"] for i in range(n)],
                                        "outputs": [row[f"out{i + 1}"] for i in range(n)],
                                        "fn_name": row.get("call")})}, n


def judge(row, results):
    spec = importlib.util.spec_from_file_location(
        "testing_util", pathlib.Path(sys.argv[1]) / "lcb_runner/evaluation/testing_util.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    verdicts, _ = module.run_test(sample_of(row)[0], test=row["code"], timeout=SECONDS)
    results.append([v if isinstance(v, int) else bool(v) for v in verdicts])


def verdict_of(row):
    with multiprocessing.Manager() as manager:
        results = manager.list()
        process = multiprocessing.Process(target=judge, args=(row, results))
        process.start()
        process.join((SECONDS + 1) * sample_of(row)[1] + 5)
        if process.is_alive():
            process.kill()
            process.join()
        if not results:
            return "died"
        said = results[0]
    if all(v is True for v in said):
        return "pass"
    last = said[-1]
    return "-2" if last is False else str(last)


def main():
    sys.set_int_max_str_digits(50000)
    differ = 0
    for row in read_rows(HERE.parent / "code_check" / "judge.test"):
        said = verdict_of(row)
        same = said == row["said"]
        differ += not same
        print(f"{'same' if same else 'OTHER':5}  {row['said']:5} {said:5} {row['name']}", flush=True)
    print(f"{differ} differ")
    return 1 if differ and "--check" in sys.argv[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
