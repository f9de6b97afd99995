#!/usr/bin/env python3
"""What the named harness of each set sends to a model for the made-up rows beside this file.

    render.py           writes NAME.expected.json again
    render.py --check   says where one is not what this would write

Each function does what the harness's code does with a row, step by step, and names the file and commit that was
read; test_sets.c compares kveval's prompts with its texts byte for byte. Rows have each set's own columns and were
written for these tests."""
import base64
import hashlib
import json
import os
import pickle
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))


def box(solution):
    """NeMo-Skills 0b012df, nemo_skills/evaluation/math_grader.py: the last \\boxed{...} of a text."""
    start = solution.rindex("\\boxed{") + len("\\boxed{")
    depth, at = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(solution[at], 0)
        at += 1
    return solution[start : at - 1].strip()


def matharena(instruction):
    """matharena e927660, src/matharena/runner.py: where an instruction does not name the problem, the problem comes
    behind it, and solvers fill both with str.format_map."""

    def render(row):
        template = instruction if "{problem}" in instruction else instruction + "\n\n{problem}"
        return {"prompt": template.format_map({"problem": row["problem"]}), "gold": str(row["answer"])}

    return render


# matharena e927660, configs/competitions: aime/aime_2026.yaml, hmmt/hmmt_*.yaml and brumo/brumo_2025.yaml, and
# cmimc/cmimc_2025.yaml
AIME = "Put your final answer within \\boxed{{}}.\nThe answer is an integer between 0 and 999 inclusive."
PLAIN = "Put your final answer within \\boxed{{}}."
CMIMC = (
    "Put your final answer within \\boxed{{}}. Thus, format your final answer as follows:\n\n### Final answer\n\n"
    "The final answer is \\boxed{{your final answer}}."
)


def nemo(answer):
    """NeMo-Skills 0b012df, nemo_skills/prompt/config/generic/math.yaml (a block whose last line end is dropped) and
    nemo_skills/dataset/utils.py (save_data_from_qwen: which column is the problem)."""
    template = "Solve the following math problem. Make sure to put the answer (and only answer) inside \\boxed{{}}.\n\n{examples}{problem}"

    def render(row):
        problem = row["problem"] if "problem" in row else row["question"]
        return {"prompt": template.format(examples="", problem=problem), "gold": answer(row)}

    return render


def number(row):
    """The copies of AMC 2023 have 27.0 and 27 for one answer; the checker takes them for the same."""
    return str(int(row["answer"])) if float(row["answer"]).is_integer() else str(row["answer"])


def longbench_v2(template):
    """LongBench 2e00731, pred.py (get_pred): each part stripped and put in its place; prompts/0shot.txt and
    prompts/0shot_no_context.txt."""

    def render(row):
        text = template.replace("$DOC$", row["context"].strip()).replace("$Q$", row["question"].strip())
        for letter in "ABCD":
            text = text.replace("$C_" + letter + "$", row["choice_" + letter].strip())
        return {"prompt": text, "gold": row["answer"]}

    return render


CHOICES_V2 = "What is the correct answer to this question: $Q$\nChoices:\n(A) $C_A$\n(B) $C_B$\n(C) $C_C$\n(D) $C_D$\n\n"
FORM_V2 = 'Format your response as follows: "The correct answer is (insert answer here)".'
LONGBENCH_V2 = "Please read the following text and answer the question below.\n\n<text>\n$DOC$\n</text>\n\n" + CHOICES_V2 + FORM_V2
NO_CONTEXT_V2 = CHOICES_V2 + "What is the single, most likely answer choice? " + FORM_V2


def supergpqa(row):
    """SuperGPQA 03a3e27, infer/data_loader.py (load_data) and config/prompt/zero-shot.yaml (a block with its last line
    end)."""
    template = (
        "Answer the following multiple choice question. There is only one correct answer. The last line of your "
        "response should be in the format 'Answer: $LETTER' (without quotes), where LETTER is one of A, B, C, D, E, "
        "F, G, H, I, or J.\n\n{}\n"
    )
    options = [chr(65 + i) + ") " + option for i, option in enumerate(row["options"])]
    return {"prompt": template.format(row["question"] + "\n" + "\n".join(options)), "gold": row["answer_letter"]}


def squad_v2(row):
    """lm-evaluation-harness 4e7e0d4, lm_eval/tasks/squadv2/task.py (doc_to_text); evaluate's squad_v2 takes the best F1
    over the answers, and HasAns_f1 is over the questions that have one."""
    if not row["answers"]["text"]:
        return None
    text = "Title: " + row["title"] + "\n\n" + "Background: " + row["context"] + "\n\n"
    text += "Question: " + row["question"] + "\n\n" + "Answer:"
    answers = row["answers"]["text"]
    return {"prompt": text, "gold": answers[0], "right": " The " + answers[-1].upper() + ".\nQuestion: Who?"}


def mmlu_pro_question(row, is_stripped):
    text = "Question:\n" + row["question"] + "\nOptions:\n"
    for letter, option in zip("ABCDEFGHIJ", row["options"]):
        text += letter + ". " + (option.strip() if is_stripped else option) + "\n"
    return text


def mmlu_pro_lm_eval(shots):
    """lm-evaluation-harness 4e7e0d4, lm_eval/tasks/mmlu_pro: the description of mmlu_pro_law.yaml and its like, whose
    fewshot_config takes the first examples of the subject, utils.py (doc_to_text, fewshot_to_target), and between
    the parts the harness's own blank and empty line (target_delimiter, fewshot_delimiter)."""

    def render(row):
        text = "The following are multiple choice questions (with answers) about " + row["category"]
        text += '. Think step by step and then finish your answer with "the answer is (X)" where X is the correct letter choice.\n'
        for example in [x for x in rows_of("validation") if x["category"] == row["category"]][:shots]:
            target = example["cot_content"].replace("A: Let's think step by step. ", "")
            text += mmlu_pro_question(example, True) + "Answer: Let's think step by step." + " " + target + "\n\n"
        return {"prompt": text + mmlu_pro_question(row, True) + "Answer: Let's think step by step.", "gold": row["answer"]}

    return render


def mmlu_pro_authors(row):
    """MMLU-Pro f418b11, evaluate_from_local.py (generate_cot_prompt, format_cot_example) and
    cot_prompt_lib/initial_prompt.txt, which ends in three line ends; five examples, as where they fit."""
    text = (
        "The following are multiple choice questions (with answers) about {$}. Think step by step and then finish your "
        'answer with "the answer is (X)" where X is the correct letter choice.\n\n\n'
    ).replace("{$}", row["category"]) + "\n"
    for example in [x for x in rows_of("validation") if x["category"] == row["category"]][:5]:
        cot = example["cot_content"].replace("A: Let's think step by step.", "Answer: Let's think step by step.")
        text += mmlu_pro_question(example, False) + cot + "\n\n"
    return {"prompt": text + mmlu_pro_question(row, False) + "Answer: Let's think step by step.", "gold": row["answer"]}


def nemo_choice(row):
    """NeMo-Skills 0b012df, nemo_skills/prompt/config/eval/aai/mcq-10choices.yaml and nemo_skills/dataset/utils.py
    (get_mcq_fields)."""
    options = "\n".join(chr(65 + i) + ") " + option for i, option in enumerate(row["options"]))
    template = (
        "Answer the following multiple choice question. The last line of your response should be in the following "
        "format: 'Answer: A/B/C/D/E/F/G/H/I/J' (e.g. 'Answer: A').\n\n{problem}"
    )
    problem = row["question"].strip("\n") + "\n\n" + options
    return {"prompt": template.format(problem=problem), "gold": row["answer"]}


GENERIC = (
    "You are an expert Python programmer. You will be given a question (problem specification) and will generate a "
    "correct Python program that matches the specification and passes all tests."
)
WITH_STARTER = (
    "You will use the following starter code to write the solution to the problem and enclose your code within "
    "delimiters."
)
WITHOUT_STARTER = (
    "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on the sample "
    "inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, it reads the "
    "inputs, runs the algorithm and writes output to STDOUT."
)
SOLUTIONS = {
    "abc900_a": "a, b = map(int, input().split())\nprint(a + b)",
    "9001": "class Solution:\n    def kthFromEnd(self, nums, k):\n        return nums[-k]",
    "1900_C": "for _ in range(int(input())):\n    print(int(input()) / 2)",
}


def livecodebench(form):
    """LiveCodeBench 28fef95, lcb_runner/prompts/code_generation.py: get_generic_question_template_answer() behind
    SYSTEM_MESSAGE_GENERIC (style OpenAIReasonPreview), and the user's turn of get_deepseek_r1_question_template_answer().
    The reference is how many tests there are, and a digest of the two columns that hold them."""

    def render(row):
        starter = row["starter_code"]
        code = "```python\n" + (starter or "# YOUR CODE HERE") + "\n```\n\n"
        how = WITH_STARTER if starter else WITHOUT_STARTER
        columns = row["public_test_cases"], row["private_test_cases"]
        tests = json.loads(columns[0])
        if columns[1].startswith("["):
            tests += json.loads(columns[1])
        else:
            tests += json.loads(pickle.loads(zlib.decompress(base64.b64decode(columns[1]))))
        digests = "".join(hashlib.sha256(c.encode()).hexdigest() for c in columns)
        return {
            "prompt": form(row["question_content"], how, code),
            "gold": f"{len(tests)} tests, sha256 {hashlib.sha256(digests.encode()).hexdigest()[:16]}",
            "right": "So:\n```python\n" + SOLUTIONS[row["question_id"]] + "\n```\n",
        }

    return render


def generic(question, how, code):
    return f"{GENERIC}\n\n### Question:\n{question}\n\n### Format: {how}\n{code}### Answer: (use the provided format with backticks)\n\n"


def deepseek_r1(question, how, code):
    head = GENERIC[GENERIC.index("You will be given") :]
    return f"{head}\n\nQuestion: {question}\n\n{how}\n{code}"


SETS = {
    "aime26": {"matharena": matharena(AIME), "nemo": nemo(lambda row: str(row["answer"]))},
    "hmmt_feb25": {"matharena": matharena(PLAIN), "nemo": nemo(lambda row: row["answer"])},
    "hmmt_nov25": {"matharena": matharena(PLAIN)},
    "hmmt_feb26": {"matharena": matharena(PLAIN)},
    "brumo25": {"matharena": matharena(PLAIN), "nemo": nemo(lambda row: row["answer"])},
    "cmimc25": {"matharena": matharena(CMIMC)},
    "amc23": {"nemo": nemo(number)},
    "olympiadbench": {"nemo": nemo(lambda row: row["final_answer"][0].replace("$", ""))},
    "minerva": {"nemo": nemo(lambda row: box(row["solution"]))},
    "longbench_v2": {"0shot": longbench_v2(LONGBENCH_V2), "no_context": longbench_v2(NO_CONTEXT_V2)},
    "supergpqa": {"zeroshot": supergpqa},
    "squad_v2": {"lm_eval": squad_v2},
    "mmlu_pro": {
        "lm_eval": mmlu_pro_lm_eval(5),
        "authors": mmlu_pro_authors,
        "zero_shot": mmlu_pro_lm_eval(0),
        "nemo": nemo_choice,
    },
    "livecodebench": {"livecodebench": livecodebench(generic), "dms": livecodebench(deepseek_r1)},
}


def rows_of(name):
    for ending in (".jsonl", ".json"):
        path = os.path.join(HERE, name + ending)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return [json.loads(line) for line in f] if ending == ".jsonl" else json.load(f)
    raise SystemExit(name + " has no rows")


def main():
    check, wrong = "--check" in sys.argv[1:], 0
    for name, variants in SETS.items():
        rows = rows_of(name)
        want = {variant: [x for row in rows if (x := render(row))] for variant, render in variants.items()}
        text = json.dumps(want, ensure_ascii=False, indent=1) + "\n"
        path = os.path.join(HERE, name + ".expected.json")
        if not check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        elif not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            print(path + " is not what render.py writes")
            wrong = 1
    return wrong


sys.exit(main())
