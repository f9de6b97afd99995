"""The examples as their harness runs them: test_scorers.py SOURCE_DIR verl|inspect|lm_eval. 77 without the package."""
import importlib.util
import json
import os
import pathlib
import sys

source, which = pathlib.Path(sys.argv[1]), sys.argv[2]
examples = source / "python" / "examples"
sys.path.insert(0, str(examples))
ANSWERS = [("1/4", "It is $\\boxed{25\\%}$.", True), ("204", "Answer: 205", False), ("7", "I do not know.", False)]


def need(module):
    if not importlib.util.find_spec(module):
        print(f"skipped: {module} is not installed for {sys.executable}", file=sys.stderr)
        sys.exit(77)


def verl():
    from verl_reward import compute_score
    for gold, text, right in ANSWERS:
        score = compute_score(data_source="math", solution_str=text, ground_truth=gold, extra_info={"index": 1})
        assert type(score) is float and score == right, (gold, text, score)
    assert compute_score("math", "Answer: 204", 204) == 1 and compute_score("math", "Answer: 205", 204) == 0  # data sets with numbers
    assert compute_score("math", "So $\\boxed{204}$. Then I will go on and", "204") == 1  # cut: what stands there counts
    for unreadable in ("", "  ", None):
        try:
            score = compute_score("math", "Answer: 5", unreadable)
        except ValueError as e:
            assert "math" in str(e), e
        else:
            raise AssertionError(f"a reference that cannot be read, {unreadable!r}, gives {score}")


def inspect():
    need("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate
    from inspect_scorer import kveval_math
    outputs = [ModelOutput.from_content("mockllm/model", text) for _, text, _ in ANSWERS]
    for output in outputs:
        output.usage = ModelUsage(output_tokens=1)  # else Inspect counts with a tokenizer that it downloads
    task = Task(dataset=[Sample(input="?", target=gold) for gold, _, _ in ANSWERS], solver=generate(), scorer=kveval_math())
    log = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), display="none", log_dir="logs", max_samples=1)[0]
    assert log.status == "success", log.error
    assert [s.scores["kveval_math"].value for s in log.samples] == ["C", "I", "N"], [s.scores for s in log.samples]
    assert abs(log.results.scores[0].metrics["accuracy"].value - 1 / 3) < 1e-9


def lm_eval():
    from lm_eval_math import process_results
    assert process_results({"answer": 204}, ["Answer: 204"])["correct"] == 1
    try:
        raise AssertionError(process_results({"answer": None}, ["Answer: None"]))  # once graded as the text "None"
    except ValueError:
        pass
    need("lm_eval")
    need("datasets")
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Recorded(LM):
        def generate_until(self, requests):
            return [dict((gold, text) for gold, text, _ in ANSWERS)[r.doc["answer"]] for r in requests]

        def loglikelihood(self, requests):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    with open("problems.jsonl", "w") as f:
        for gold, _, _ in ANSWERS:
            f.write(json.dumps({"problem": f"What is {gold}?", "answer": gold}) + "\n")
    tasks = TaskManager(include_path=str(examples), include_defaults=False)
    found = simple_evaluate(Recorded(), tasks=["lm_eval_math"], task_manager=tasks, bootstrap_iters=0)["results"]["lm_eval_math"]
    assert abs(found["correct,none"] - 1 / 3) < 1e-9 and abs(found["answered,none"] - 2 / 3) < 1e-9, found


os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=os.path.abspath("hub"))
{"verl": verl, "inspect": inspect, "lm_eval": lm_eval}[which]()
