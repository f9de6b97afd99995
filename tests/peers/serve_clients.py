#!/usr/bin/env python3
"""Programs from the package index against kveval serve, on loopback: serve_clients.py KVEVAL [--model M] [--only openai,lm_eval,inspect]
[--lm-eval-python PYTHON] [--problems 12] [--tokens 64]. Each asks the same problems, as chats and, rendered, as completions, under full attention and under Quest,
greedy; every answer must be that of a local sweep, text for text. lm_eval also scores options, whose log-likelihoods must be those of a sweep that scores them as a block, and which are the greedy ones.
Needs what it asks:

    pip install openai inspect-ai "lm-eval[api]"

What is not installed is said and left out."""
import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

p = argparse.ArgumentParser()
p.add_argument("kveval")
p.add_argument("--model", default="pocket")
p.add_argument("--only", default="openai,lm_eval,inspect")
p.add_argument("--lm-eval-python", default=sys.executable)
p.add_argument("--problems", type=int, default=12)
p.add_argument("--tokens", type=int, default=64)
p.add_argument("--threads", default="0")
o = p.parse_args()
POLICIES = ["full", "quest:k_pages=3"]
name = os.path.basename(os.path.normpath(o.model))
here = os.path.dirname(os.path.abspath(__file__))
o.model = os.path.abspath(o.model) if os.path.exists(o.model) else o.model
folder = tempfile.mkdtemp()
os.chdir(folder)
threads = ["--threads", o.threads] if o.threads != "0" else []


def question(i):
    a, b = 17 * i + 5, 3 * i + 2
    return (f"Apply the rules in order , all values modulo 1000 .\n rule 1 : xp = {a}\n rule 2 : kg = {b}\n"
            f" rule 3 : gb = xp + 2 * kg\n rule 4 : cs = gb - 3 * xp\nFind the value of cs ."), (b * 2 - 2 * a) % 1000


with open("rows.jsonl", "w") as f:
    for i in range(o.problems):
        q, answer = question(i)
        f.write(json.dumps({"question": q, "answer": answer}) + "\n")


def sweep():
    """The answers of a local sweep, by policy and problem, and the prompts as the model got them."""
    run = {"model": o.model, "policies": POLICIES,
           "max_new_tokens": o.tokens, "temperature": 0,
           "tasks": [{"kind": "math", "file": "rows.jsonl", "prompts": {"plain": "{problem}"}, "as": "rows"}]}
    json.dump(run, open("run.json", "w"))
    out = "out"
    r = subprocess.run([o.kveval, "sweep", "run.json", "-o", out, "--quiet", *threads], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    problems = [json.loads(line) for f in os.listdir(f"{out}/problems") for line in open(f"{out}/problems/{f}")]
    records = [json.loads(line) for f in os.listdir(f"{out}/journal") for line in open(f"{out}/journal/{f}")]
    answers = {}
    for r in records:
        at = next(i for i, q in enumerate(problems) if q["id"] == r["problem"])
        answers["full" if ".full." in r["cell"] else POLICIES[1], at] = r["text"]
    return answers, [q["before"] + q["prompt"] + q["after"] for q in problems]


o.kveval = os.path.abspath(os.path.join(os.environ.get("PWD", "."), o.kveval))
answers, rendered = sweep()
server = subprocess.Popen([o.kveval, "serve", o.model, "--port", "0",
                           "--policy", ",".join(POLICIES), "--api-key-env", "KVEVAL_TEST_KEY", *threads],
                          stderr=subprocess.PIPE, text=True, env={**os.environ, "KVEVAL_TEST_KEY": "sk-loopback"})
line = ""
while "is ready" not in line:
    line = server.stderr.readline()
    assert line, "the server did not start"
    print(line, end="", file=sys.stderr)
url = re.search(r"http://\S+", line).group()
questions = [question(i)[0] for i in range(o.problems)]


def compare(who, policy, kind, got, want):
    bad = [i for i in range(o.problems) if got[i] != want[policy, i]]
    print(f"{who}: {kind} under {policy}: {o.problems - len(bad)} of {o.problems} answers are the sweep's")
    for i in bad[:2]:
        print(f"  problem {i}: got {got[i]!r}, want {want[policy, i]!r}")
    return not bad


def with_openai():
    import openai
    client = openai.OpenAI(base_url=url, api_key="sk-loopback")
    good = True
    listed = {m.id for m in client.models.list()}
    for policy in POLICIES:
        model = f"{name}@{policy}"
        assert model in listed, listed
        got = [client.chat.completions.create(model=model, messages=[{"role": "user", "content": q}], temperature=0, max_tokens=o.tokens,
                                              presence_penalty=0, n=1).choices[0].message.content for q in questions]
        good &= compare(f"openai {openai.__version__}", policy, "chats", got, answers)
        got = []
        for q in questions:
            parts = client.chat.completions.create(model=model, messages=[{"role": "user", "content": q}], temperature=0,
                                                   max_completion_tokens=o.tokens, stream=True, stream_options={"include_usage": True})
            text = ""
            for part in parts:
                text += part.choices[0].delta.content or "" if part.choices else ""
                usage = part.usage
            assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens and usage.kv_reads > 0
            got.append(text)
        good &= compare(f"openai {openai.__version__}", policy, "streams", got, answers)
        r = client.completions.create(model=model, prompt=rendered, temperature=0, max_tokens=o.tokens)
        good &= compare(f"openai {openai.__version__}", policy, "completions", [c.text for c in r.choices], answers)
    try:
        client.chat.completions.create(model=name, messages=[{"role": "user", "content": "a"}], frequency_penalty=1)
        good = False
    except openai.BadRequestError as e:
        assert e.param == "frequency_penalty", e
    return good


def samples_of(out):
    found = [os.path.join(d, f) for d, _, files in os.walk(out) for f in files if f.startswith("samples_")]
    return sorted((json.loads(line) for line in open(found[0])), key=lambda s: s["doc_id"])


def ask(**body):
    q = urllib.request.Request(url + "/completions", json.dumps(body).encode(), {"Authorization": "Bearer sk-loopback"})
    return json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(q))


def is_greedy(model, context, option):
    """Is the option what the model generates behind the context?"""
    ids = [ask(model=model, prompt=text, max_tokens=0, echo=True, add_special_tokens=False, return_token_ids=True)["choices"][0]["prompt_token_ids"]
           for text in (context, context + option)]
    rest = ids[1][len(ids[0]):]
    return rest == ask(model=model, prompt=ids[1][:len(ids[0])], max_tokens=len(rest), temperature=0, ignore_eos=True,
                       return_token_ids=True)["choices"][0]["token_ids"]


def options_by_lm_eval(version, lm_eval):
    """Options: a sweep's log-likelihoods, scored as a block, beside those that lm_eval takes from an echo."""
    model, rows = f"{name}@full", []
    for i, q in enumerate(questions):
        likely = ask(model=model, prompt=f"Question: {q}\nAnswer:", max_tokens=1 + i % 3, temperature=0, add_special_tokens=False)["choices"][0]["text"].strip()
        rows.append({"question": q, "options": [str(question(i)[1]), f"{3 * i + 1} \u00e9 x", likely or "7"], "answer": "A", "gold": 0})
    with open("options.jsonl", "w") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)
    with open("tasks/options.yaml", "w") as f:
        f.write(f"""task: kveval_options
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/options.jsonl}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_target: gold
doc_to_choice: options
metric_list: [{{metric: acc}}]
""")
    run = {"model": o.model, "policies": POLICIES,
           "tasks": [{"kind": "likelihood", "file": "options.jsonl", "as": "options", "scored": "block"}]}
    json.dump(run, open("options.json", "w"))
    r = subprocess.run([o.kveval, "sweep", "options.json", "-o", "options", "--quiet", *threads], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    records = [json.loads(line) for f in os.listdir("options/journal") for line in open(f"options/journal/{f}")]
    os.makedirs("tokenizer", exist_ok=True)
    shutil.copy(f"{here}/../../engine/pocket/tokenizer.json" if o.model == "pocket" else f"{o.model}/tokenizer.json", "tokenizer")
    with open("tokenizer/tokenizer_config.json", "w") as f:
        f.write('{"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 4000}')
    good = True
    for policy in POLICIES:
        out = f"lm_options_{policy[:4]}"
        lm_eval("local-completions", f"model={name}@{policy},base_url={url}/completions,num_concurrent=4,max_retries=1,tokenizer={folder}/tokenizer",
                "kveval_options", out, [])
        most, agree, n_greedy = 0, 0, 0
        samples = samples_of(out)
        for i, s in enumerate(samples):
            want = next(r["options"] for r in records if r["problem"] == str(i + 1) and (".full." in r["cell"]) == (policy == "full"))
            got = [resp[0] for resp in s["resps"]]
            most = max([most] + [abs(float(g[0]) - w[2]) for g, w in zip(got, want)])
            greedy = [is_greedy(model, f"Question: {questions[i]}\nAnswer:", " " + x) for x in rows[i]["options"]]
            agree += greedy == [str(g[1]) == "True" for g in got]
            n_greedy += sum(greedy)
        print(f"lm_eval {version}: options under {policy}: log-likelihoods differ from the sweep's by at most {most:.1e}; "
              f"which are greedy: {agree} of {o.problems} rows agree, {n_greedy} options are")
        good &= most < 1e-4 and agree == o.problems == len(samples) and n_greedy > 0
    return good


def with_lm_eval():
    os.makedirs("tasks", exist_ok=True)
    with open("lm_rows.jsonl", "w") as f:
        for q, r in zip(questions, rendered):
            f.write(json.dumps({"question": q, "rendered": r, "answer": "x"}) + "\n")
    for column in ("question", "rendered"):
        with open(f"tasks/{column}.yaml", "w") as f:
            f.write(f"""task: kveval_{column}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/lm_rows.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{{column}}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: [], do_sample: false, temperature: 0, max_gen_toks: {o.tokens}}}
metric_list: [{{metric: exact_match}}]
""")
    version = subprocess.run([o.lm_eval_python, "-c", "import importlib.metadata as m; print(m.version('lm_eval'))"], capture_output=True,
                             text=True).stdout.strip()
    if not version:
        print("lm_eval is not installed")
        return True

    def lm_eval(kind, args, task, out, more):
        r = subprocess.run([o.lm_eval_python, "-m", "lm_eval", "--model", kind, "--model_args", args, "--include_path", "tasks", "--tasks", task,
                            "--output_path", out, "--log_samples", *more], capture_output=True, text=True,
                           env={**os.environ, "OPENAI_API_KEY": "sk-loopback", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"})
        assert r.returncode == 0, r.stderr[-3000:]

    good = options_by_lm_eval(version, lm_eval)
    for policy in POLICIES:
        for kind, path, column in (("local-chat-completions", "chat/completions", "question"), ("local-completions", "completions", "rendered")):
            out = f"lm_{kind}_{policy[:4]}"
            args = f"model={name}@{policy},base_url={url}/{path},num_concurrent=4,max_retries=1,tokenizer_backend=None,tokenized_requests=False"
            if "," in policy:
                raise ValueError("lm_eval divides model_args at commas")
            lm_eval(kind, args, f"kveval_{column}", out, ["--apply_chat_template"] if "chat" in kind else [])
            samples = samples_of(out)
            good &= compare(f"lm_eval {version}", policy, kind, [s["resps"][0][0] for s in samples], answers)
    return good


def with_inspect():
    import importlib.metadata
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import generate
    os.environ.update(KVEVAL_API_KEY="sk-loopback", KVEVAL_BASE_URL=url)
    good = True
    for policy in POLICIES:
        task = inspect_ai.Task(dataset=[Sample(input=q, target="x", id=i) for i, q in enumerate(questions)], solver=generate())
        log = inspect_ai.eval(task, model=f"openai-api/kveval/{name}@{policy}", temperature=0, max_tokens=o.tokens, display="none",
                              log_dir="inspect", max_connections=8)[0]
        assert log.status == "success", log.error
        got = {s.id: s.output.completion for s in log.samples}
        good &= compare(f"inspect_ai {importlib.metadata.version('inspect_ai')}", policy, "openai-api", [got[i] for i in range(o.problems)], answers)
    return good


good = True
try:
    for who, run in (("openai", with_openai), ("lm_eval", with_lm_eval), ("inspect", with_inspect)):
        if who not in o.only.split(","):
            continue
        if who != "lm_eval" and not importlib.util.find_spec("inspect_ai" if who == "inspect" else who):
            print(f"{who} is not installed")
            continue
        good &= run()
finally:
    server.terminate()
    server.wait()
print("equal" if good else "DIFFERENT")
sys.exit(not good)
