"""Loads exports in the tools that they are for: load_exports.py TOOL KVEVAL RUN SCRATCH.

TOOL is lm_eval, inspect, lighteval or pandas. Exit 77 with a word on standard error when it is not installed."""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

tool, kveval, run, scratch = sys.argv[1:5]


def need(*modules):
    for name in modules:
        try:
            __import__(name)
        except ImportError as cause:
            print(f"skipped: {name} is not installed for {sys.executable} ({cause})", file=sys.stderr)
            sys.exit(77)


def export(name, out):
    subprocess.run([kveval, "export", run, "--format", name, "-o", out], check=True, stdout=subprocess.DEVNULL)


def completions():
    """From the run's own table: (label, task) -> list of (problem, sample, correct)."""
    import csv
    rows = {}
    with open(os.path.join(run, "report", "lengths.csv"), newline="") as f:
        for r in csv.DictReader(f):
            rows.setdefault((r["label"], r["task"]), []).append((r["problem"], int(r["sample"]), float(r["correct"])))
    return rows


def check(is_right, what):
    if not is_right:
        print(f"FAILED: {tool}: {what}", file=sys.stderr)
        sys.exit(1)


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def load_lm_eval(out):
    need("lm_eval.utils")
    from lm_eval.utils import (get_file_task_name, get_latest_filename, get_results_filenames,
                               get_sample_results_filenames, make_table, sanitize_model_name)
    export("lm-eval", out)
    want, seen = completions(), 0
    for folder in sorted(os.listdir(out)):
        files = [f"{out}/{folder}/{f}" for f in os.listdir(f"{out}/{folder}")]
        results = get_results_filenames(files)
        check(len(results) == 1, f"{folder} has {len(results)} files of results")
        with open(get_latest_filename(results), encoding="utf-8") as f:
            r = json.load(f)
        check(r["model_name_sanitized"] == folder == sanitize_model_name(r["model_name"]), "the folder's name")
        # As scripts/zeno_visualize.py finds a task's samples and reads them.
        check(isinstance(re.sub("x", "y", r["config"]["model_args"]), str), "model_args is no string")
        table = make_table(r)
        for task, result in r["results"].items():
            check(result["alias"] in table, f"{task} is not in the table of results")
            samples = [f for f in get_sample_results_filenames(files) if get_file_task_name(os.path.basename(f)) == task]
            check(len(samples) == 1, f"{task} has {len(samples)} files of samples")
            with open(get_latest_filename(samples), encoding="utf-8") as f:
                rows = [json.loads(line) for line in f]
            metric = r["configs"][task]["metric_list"][0]["metric"]
            mean = sum(x[metric] for x in rows) / len(rows)
            check(abs(mean - result[f"{metric},none"]) < 1e-9, f"{task}: the mean of the samples is {mean}")
            check(r["n-samples"][task]["effective"] == len(rows), f"{task}: effective")
            for x in rows:
                prompt, kwargs = x["arguments"]["gen_args_0"]["arg_0"], x["arguments"]["gen_args_0"]["arg_1"]
                check(x["prompt_hash"] == sha(prompt) and x["target_hash"] == sha(x["target"]), "hashes")
                check(x["doc_hash"] == sha(json.dumps(x["doc"], indent=2, ensure_ascii=False)), "doc_hash")
                check({"until", "max_gen_toks", "temperature"} <= set(kwargs), "the generation's arguments")
                check(len(x["resps"][0]) == len(x["filtered_resps"]) == r["configs"][task]["repeats"], "resps")
            hashes = "".join(x["doc_hash"] + x["prompt_hash"] + x["target_hash"] for x in rows)
            check(r["task_hashes"][task] == sha(hashes), f"{task}: task_hashes")
            key = (r["x_kv"][task]["label"], r["configs"][task]["metadata"]["task"])
            got = sorted((x["doc"]["id"], i, float(v == "correct")) for x in rows for i, v in enumerate(x["verdicts"]))
            check(got == sorted(want[key]), f"{key}: other completions than in lengths.csv")
            seen += len(got)
    check(seen == sum(map(len, want.values())), f"{seen} completions")
    try:
        import datasets
    except ImportError:
        return
    datasets.disable_progress_bars()
    one = glob.glob(f"{glob.escape(out)}/*/samples_*.jsonl")[0]
    data = datasets.load_dataset("json", data_files=one, split="train", cache_dir=f"{scratch}/cache")
    check(len(data) > 0 and "resps" in data.column_names, "datasets cannot load the samples")


def load_inspect(out):
    need("inspect_ai.log")
    from inspect_ai.log import list_eval_logs, read_eval_log
    export("inspect", out)
    want, seen = completions(), 0
    logs = list_eval_logs(out)
    check(len(logs) == len(want), f"{len(logs)} logs of {len(want)} cells")
    for info in logs:
        log = read_eval_log(info)
        head = read_eval_log(info, header_only=True)
        check(log.status == head.status == "success" and log.version == 2, "status")
        key = (log.eval.metadata["x_kv"]["label"], log.eval.dataset.name)
        got = sorted((s.id, s.epoch - 1, float(s.scores["kveval"].value == "C")) for s in log.samples)
        check(got == sorted(want[key]), f"{key}: other completions than in lengths.csv")
        check(all(len(s.messages) == 2 and s.output.completion == s.messages[1].text for s in log.samples), "messages")
        check(all(s.output.usage.output_tokens >= 0 and s.scores["kveval"].explanation is not None for s in log.samples),
              "usage and explanation")
        accuracy = head.results.scores[0].metrics["accuracy"].value
        check(abs(accuracy - sum(x[2] for x in got) / len(got)) < 1e-9, f"{key}: accuracy {accuracy}")
        check(log.eval.config.epochs >= 1 and log.eval.metadata["policy"], "the policy is not in the log")
        seen += len(got)
    check(seen == sum(map(len, want.values())), f"{seen} completions")


def load_lighteval(out):
    """Its own classes take each row's fields; details go through Parquet, as docs/exports.md has it."""
    need("pandas", "pyarrow", "torch", "lighteval.tasks.requests", "lighteval.models.model_output")
    import pandas
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc
    export("lighteval", out)
    want, seen = completions(), 0
    for path in glob.glob(f"{glob.escape(out)}/results/*/results_*.json"):
        with open(path, encoding="utf-8") as f:
            r = json.load(f)
        name = r["config_general"]["model_name"]
        stamp = os.path.basename(path)[len("results_"):-len(".json")]
        for task in r["results"]:
            if task == "all":
                continue
            file = f"{out}/details/{name}/{stamp}/details_{task}_{stamp}.jsonl"
            with open(file, encoding="utf-8") as f:
                rows = [json.loads(line) for line in f]
            for x in rows:
                doc, answer = Doc(**x["doc"]), ModelResponse(**x["model_response"])
                check(len(doc.get_golds()) >= 1 and len(answer.final_text) == doc.num_samples, "golds and answers")
            metric = next(m for m in r["results"][task] if not m.endswith("_stderr"))
            mean = sum(x["metric"][metric] for x in rows) / len(rows)
            check(abs(mean - r["results"][task][metric]) < 1e-9, f"{task}: the mean of the details is {mean}")
            frame = pandas.read_json(file, lines=True)
            check(sorted(frame.columns) == ["doc", "metric", "model_response"], "columns")
            frame.to_parquet(file.replace(".jsonl", ".parquet"))
            check(len(pandas.read_parquet(file.replace(".jsonl", ".parquet"))) == len(rows), "Parquet")
            seen += sum(len(x["model_response"]["text"]) for x in rows)
    check(seen == sum(map(len, want.values())), f"{seen} completions")
    try:
        from lighteval.logging.evaluation_tracker import EvaluationTracker
    except ImportError as cause:
        print(f"lighteval's EvaluationTracker was not tried: {cause}", file=sys.stderr)
        return
    tracker = EvaluationTracker(output_dir=out, save_details=True)
    tracker.general_config_logger.model_name = name
    tasks = [t.split("|")[0] for t in r["results"] if t != "all"]
    check(len(tracker.load_details_datasets("last", tasks)) == len(tasks), "load_details_datasets")


def load_pandas(out):
    need("pandas")
    import pandas
    export("csv", out + ".csv")
    frame = pandas.read_csv(out + ".csv", keep_default_na=False, na_values=[""])
    want = completions()
    for (label, task), rows in want.items():
        mine = frame[(frame["label"] == label) & (frame["task"] == task)]
        got = sorted(zip(mine["problem"], mine["sample"], mine["correct"]))
        check(got == sorted(rows), f"{label}, {task}: other completions than in lengths.csv")
    check(len(frame) == sum(map(len, want.values())), f"{len(frame)} rows")
    for column in ("tokens", "sample", "prompt_tokens"):
        check(frame[column].dtype.kind == "i", f"{column} is {frame[column].dtype}")
    for column in ("score", "kv_reads", "aux_reads", "kv_reads_full", "peak_tokens"):
        check(frame[column].dtype.kind in "if", f"{column} is {frame[column].dtype}")


os.environ.setdefault("HF_HUB_OFFLINE", "1")
shutil.rmtree(scratch, ignore_errors=True)
os.makedirs(scratch)
{"lm_eval": load_lm_eval, "inspect": load_inspect, "lighteval": load_lighteval, "pandas": load_pandas}[tool](f"{scratch}/out")
