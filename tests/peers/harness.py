"""Tasks of the kind likelihood beside lm-evaluation-harness (pip install lm_eval==0.4.9 torch transformers).

    harness.py rows FOLDER [N] [--told]     N made-up rows a set (100), in each set's exact form, with examples; told:
                                            of HellaSwag and MMLU, and their context says what is right, so that a
                                            small model can know it and a policy can lose it
    harness.py expected FOLDER --model MODEL  what lm_eval finds, one line a problem, as tests/cli/likelihood keeps it
    harness.py tiny MODEL FOLDER            a model of random weights with MODEL's tokenizer, for prompts
    harness.py prompts FOLDER --model MODEL [--kveval build/kveval] [--shots 0,5]
    harness.py compare FOLDER --model MODEL [--kveval build/kveval] [--shots 0]

prompts compares the token ids of every context and option, by their digest in the run folder, and decodes whatever the
model is; it exits 1 where one differs. compare decodes them with policy full and with lm_eval's HFLM in fp32 on the CPU, and prints for each set the largest
difference of an option's log-likelihood, how many choices (acc, acc_norm) differ, and how many are within 1e-3 of a tie.
It exits 1 where a log-likelihood differs by more than 1e-3 or a choice that is no such tie differs."""
import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

NAMES = ["Ada", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun", "Kofi", "Lena"]
PLACES = ["harbour", "market", "old mill", "library", "railway station", "garden", "school", "bakery", "museum", "ferry"]
THINGS = ["lantern", "basket of apples", "letter", "bicycle", "map", "violin", "ladder", "kettle", "coat", "radio"]
ACTS = ["Repairing a bicycle", "Making soup", "Painting a fence", "Planting beans", "Folding a kite", "Washing a car"]
SUBJECTS = ["abstract_algebra", "world_religions", "high_school_physics"]


def place(r): return r.choice(PLACES)


def ending(r):
    kind = r.randrange(4)
    who = r.choice(["she", "he", "the man", "the woman", "they"])
    text = [f"{who} carries the {r.choice(THINGS)} to the {place(r)} and waits there.",
            f"{who} looks at the {r.choice(THINGS)}  twice and puts it down .",
            f"{who} [substeps] wipes both hands and starts again with the {r.choice(THINGS)}.",
            f"{who} leaves."][kind]
    return text + (" [title] Then rest for a while." if r.random() < 0.2 else "")


def hellaswag(r, i):
    wiki = i % 2
    return {"ind": i, "activity_label": r.choice(ACTS),
            "ctx_a": f"[header] How to find the {r.choice(THINGS)} [title] Go to the {place(r)}." if wiki else
                     f"A {r.choice(['man', 'woman'])} named {r.choice(NAMES)} stands in the {place(r)}.",
            "ctx_b": "" if wiki else r.choice(["she", "he", "the other one", "a DOG"]),
            "endings": [ending(r) for _ in range(4)], "label": str(r.randrange(4)), "split": "val", "source_id": f"x~{i}"}


def arc(r, i):
    n = 5 if i % 17 == 3 else 3 if i % 19 == 4 else 4
    letters = "12345" if i % 5 == 0 else "ABCDE"
    return {"id": f"Made_{i}", "question": f"{r.choice(NAMES)} leaves a {r.choice(THINGS)} in the {place(r)} for {i} days. "
                                           "Which of these changes first?" + ("  " if i % 9 == 0 else ""),
            "choices": {"text": [f"the {r.choice(['colour', 'mass', 'shape', 'warmth'])} of the {r.choice(THINGS)}"
                                 for _ in range(n)], "label": list(letters[:n])}, "answerKey": letters[r.randrange(n)]}


def boolq(r, i):
    who, where, what = r.choice(NAMES), place(r), r.choice(THINGS)
    return {"question": f"did {who.lower()} take the {what} to the {r.choice([where, place(r)])}",
            "passage": f"On day {i} {who} was at the {where}. There {who} found a {what}, which had been lost since the "
                       f"winter, and brought it home before the {place(r)} closed.", "idx": i, "label": r.randrange(2)}


def openbookqa(r, i):
    return {"id": f"8-{i}", "question_stem": f"A {r.choice(THINGS)} that stands in the sun at the {place(r)} will",
            "choices": {"text": [f"{v} the {r.choice(THINGS)}" for v in ["warm", "cool", "hide", "break"]],
                        "label": list("ABCD")}, "answerKey": r.choice("ABCD")}


def piqa(r, i):
    goal = f"How do I carry a {r.choice(THINGS)} to the {place(r)} in under {i + 2} minutes?"
    return {"goal": goal, "sol1": f"Put it into the {r.choice(THINGS)} and walk.",
            "sol2": f"Tie it to the {r.choice(THINGS)}, and ask {r.choice(NAMES)} to pull.", "label": r.randrange(2)}


def winogrande(r, i):
    a, b = r.sample(NAMES, 2)
    return {"sentence": f"{a} gave the {r.choice(THINGS)} to {b} on day {i} because _ wanted to leave the {place(r)} early.",
            "option1": a, "option2": b, "answer": r.choice("12")}


def mmlu(r, i):
    a, b = r.randrange(2, 40), r.randrange(2, 40)
    return {"question": f" {r.choice(NAMES)} has {a} of one kind and {b} of another at the {place(r)}. How many in all?\n"
                        if i % 7 == 0 else f"What is {a} plus {b}, as asked at the {place(r)} on day {i}?",
            "subject": SUBJECTS[i % len(SUBJECTS)], "choices": [str(a + b + k) for k in (0, 1, -1, 10)], "answer": r.randrange(4)}


PEOPLE = [f"the {a} {b}" for a in ["tall", "young", "tired", "cheerful", "famous", "quiet", "blind", "rich"]
          for b in ["baker", "teacher", "sailor", "doctor", "farmer", "painter", "judge", "singer"]]
VERBS = ["painted", "repaired", "carried", "hid", "sold", "borrowed", "cleaned", "photographed"]


def told(r):
    """Four things that somebody did, each in words of its own, and then other sentences."""
    rows = list(zip(r.sample(PEOPLE, 4), r.sample(VERBS, 4), r.sample(THINGS, 4), r.sample(PLACES, 4)))
    text = [f"In the {where}, {who} {did} the {what}." for who, did, what, where in rows]
    text += [f"On day {r.randrange(2, 90)} {r.choice(NAMES)} {r.choice(['walked home', 'slept well', 'said nothing', 'saw rain'])}."
             for _ in range(20)]
    return rows, " ".join(text)


def told_hellaswag(r, i):
    rows, text = told(r)
    right = r.randrange(4)
    who, did, _, where = rows[right]
    return {"ind": i, "activity_label": r.choice(ACTS), "ctx_a": text, "ctx_b": f"in the {where}, {who} {did}", "split": "val",
            "endings": [f"the {what}." for _, _, what, _ in rows], "label": str(right), "source_id": f"x~{i}"}


def told_mmlu(r, i):
    rows, text = told(r)
    right = r.randrange(4)
    return {"question": f"{text} What was it that {rows[right][0]} {rows[right][1]}?", "subject": SUBJECTS[i % len(SUBJECTS)],
            "choices": [f"the {what}" for _, _, what, _ in rows], "answer": right}


TOLD = {"hellaswag": told_hellaswag, "mmlu": told_mmlu}
FORMS = {"hellaswag": (hellaswag, "hellaswag/validation", "hellaswag/train"),
         "arc_challenge": (arc, "arc/ARC-Challenge-test", "arc/ARC-Challenge-train"),
         "arc_easy": (arc, "arc/ARC-Easy-test", "arc/ARC-Easy-train"),
         "boolq": (boolq, "boolq/validation", "boolq/train"),
         "openbookqa": (openbookqa, "openbookqa/test", "openbookqa/train"),
         "piqa": (piqa, "piqa/validation", "piqa/train"),
         "winogrande": (winogrande, "winogrande/validation", "winogrande/train"),
         "mmlu": (mmlu, "mmlu/test", "mmlu/dev")}
YAML = {"hellaswag": "hellaswag/hellaswag", "arc_challenge": "arc/arc_challenge", "arc_easy": "arc/arc_easy",
        "boolq": "super_glue/boolq/default", "openbookqa": "openbookqa/openbookqa", "piqa": "piqa/piqa",
        "winogrande": "winogrande/default", "mmlu": "mmlu/default/mmlu_{}"}


def write_rows(folder, n, n_examples, told):
    for name, (make, rows, examples) in FORMS.items():
        if told and name not in TOLD:
            continue
        for part, (path, count) in enumerate([(rows, n), (examples, n_examples)]):
            r = random.Random(f"{name} {part}")
            row = TOLD[name] if told and part == 0 else make
            path = folder / (path + ".jsonl")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row(r, i + part * 1000)) + "\n" for i in range(count)))


def peer_task(name, folder, subject):
    from lm_eval import utils
    import lm_eval.tasks
    base = Path(lm_eval.tasks.__file__).parent
    config = utils.load_yaml_config(str(base / (YAML[name].format(subject) + ".yaml")))
    for key in ("tag", "group", "dataset_kwargs", "dataset_name", "include", "task_alias"):
        config.pop(key, None)
    rows, examples = (str(folder / (path + ".jsonl")) for path in FORMS[name][1:])
    if subject:     # of all subjects' rows those of one
        paths = []
        for path in (rows, examples):
            kept = [line for line in open(path) if json.loads(line)["subject"] == subject]
            paths.append(Path(path).with_suffix(f".{subject}.jsonl"))
            paths[-1].write_text("".join(kept))
        rows, examples = map(str, paths)
    splits = {config.get("test_split") or config["validation_split"]: rows,
              config.get("fewshot_split") or config["training_split"]: examples}
    for split in ("test_split", "validation_split", "training_split"):
        if config.get(split) and config[split] not in splits:
            config.pop(split)
    config.update(dataset_path="json", dataset_kwargs={"data_files": splits})
    return config


def peer_scores(lm, name, folder, shots):
    """By row: log-likelihoods, chosen by acc and by acc_norm."""
    import lm_eval
    import numpy as np
    out = {}
    lines = [json.loads(line) for line in open(folder / (FORMS[name][1] + ".jsonl"))]
    for subject in SUBJECTS if name == "mmlu" else [""]:
        config = peer_task(name, folder, subject)
        result = lm_eval.simple_evaluate(model=lm, tasks=[config], num_fewshot=shots, bootstrap_iters=0, verbosity="ERROR")
        places = [i for i, line in enumerate(lines) if not subject or line["subject"] == subject]
        for s in next(iter(result["samples"].values())):
            lls = np.array([float(x[0][0]) for x in s["resps"]])
            out[places[s["doc_id"]]] = (lls, {m: s[m] for m in ("acc", "acc_norm") if m in s},
                                        [a["arg_0"] + "\0" + a["arg_1"] for a in s["arguments"].values()]
                                        if isinstance(s["arguments"], dict) else [a[0] + "\0" + a[1] for a in s["arguments"]])
    return [out[i] for i in range(len(lines))]


def own_run(args, name, folder, shots, scored="steps"):
    run = folder / f"run-{name}-{shots}-{scored}"
    file = folder / "run.json"
    task = {"name": name, "few_shot": shots, "scored": scored, "duplicates": "fold"}
    file.write_text(json.dumps({"model": str(Path(args.model).resolve()), "tasks": [task], "policies": ["full"], "kv_dtype": "fp32"}))
    subprocess.run([args.kveval, "sweep", str(file), "-o", str(run), "--data", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return run, [json.loads(line) for path in sorted((run / "problems").glob("*.jsonl")) for line in open(path)]


def own_scores(args, name, folder, shots, scored):
    run, problems = own_run(args, name, folder, shots, scored)
    records = {}
    for path in (run / "journal").glob("*.jsonl"):
        for line in open(path):
            o = json.loads(line)
            records[o["problem"]] = [x[2] for x in o["options"]]
    return [(records[p["id"]], p) for p in problems]


def peer_digests(tokenizer, name, folder, shots):
    """By row: the digest of what the harness would score, as kveval keeps it (evalcore/plan/option_prompts.c)."""
    import hashlib
    from lm_eval.api.model import TemplateLM
    from lm_eval.api.task import ConfigurableTask

    class Encoder:
        def tok_encode(self, text): return tokenizer.encode(text, add_special_tokens=False)
    lines = [json.loads(line) for line in open(folder / (FORMS[name][1] + ".jsonl"))]
    out = {}
    for subject in SUBJECTS if name == "mmlu" else [""]:
        config = peer_task(name, folder, subject)
        config["num_fewshot"] = shots
        task = ConfigurableTask(config=config)
        task.set_fewshot_seed(1234)
        task.build_all_requests(limit=None, rank=0, world_size=1)
        places = [i for i, line in enumerate(lines) if not subject or line["subject"] == subject]
        rows = {}
        for r in task.instances:
            rows.setdefault(r.doc_id, []).append(TemplateLM._encode_pair(Encoder(), *r.args))
        for doc, pairs in rows.items():
            ids = [-1]
            for context, given in pairs:
                ids += [len(context), len(given), *context, *given]
            out[places[doc]] = hashlib.sha256(b"".join((i & 0xffffffff).to_bytes(4, "little") for i in ids)).hexdigest()
    return [out[i] for i in range(len(lines))]


def tiny(model, folder):
    import shutil
    import torch
    import transformers
    folder, model = Path(folder), Path(model)
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    vocab = json.loads((model / "config.json").read_text())["vocab_size"]
    config = transformers.LlamaConfig(vocab_size=vocab, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
                                      num_attention_heads=1, num_key_value_heads=1, head_dim=32, max_position_embeddings=8192,
                                      tie_word_embeddings=True)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(model / file, folder)


def prompts(args):
    sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent]
    import transformers
    tokenizer, bad = transformers.AutoTokenizer.from_pretrained(args.model), 0
    for name in args.sets.split(",") if args.sets else FORMS:
        for shots in map(int, args.shots.split(",")):
            theirs = peer_digests(tokenizer, name, Path(args.folder), shots)
            ours = [p["prompt_sha256"] for p in own_run(args, name, Path(args.folder), shots)[1]]
            differ = sum(a != b for a, b in zip(theirs, ours)) + abs(len(theirs) - len(ours))
            bad += differ > 0
            print(f"{name}, {shots} examples: {len(ours)} problems, {differ} differ", flush=True)
    return 1 if bad else 0


def open_peer(args):
    sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent]
    import torch
    from lm_eval.models.huggingface import HFLM
    torch.set_num_threads(args.threads)
    return HFLM(pretrained=args.model, device="cpu", dtype="float32", batch_size=8)


def expected(args):
    lm = open_peer(args)
    with open(Path(args.folder) / "expected.jsonl", "w") as f:
        for name in args.sets.split(",") if args.sets else FORMS:
            for shots in map(int, args.shots.split(",")):
                for row, (lls, verdicts, _) in enumerate(peer_scores(lm, name, Path(args.folder), shots)):
                    f.write(json.dumps({"set": name, "few_shot": shots, "row": row + 1, "options": [round(float(x), 4) for x in lls],
                                        **verdicts}) + "\n")
                f.flush()


def compare(args):
    import numpy as np
    folder, bad, lm = Path(args.folder), 0, open_peer(args)
    print("| set | examples | problems | options | largest difference, nats | choices that differ: acc | acc_norm | ties |")
    print("|---|---|---|---|---|---|---|---|")
    for name in args.sets.split(",") if args.sets else FORMS:
        for shots in map(int, args.shots.split(",")):
            theirs, ours = peer_scores(lm, name, folder, shots), own_scores(args, name, folder, shots, args.scored)
            assert len(theirs) == len(ours), (len(theirs), len(ours))
            worst, differ, ties, options = 0, [0, 0], 0, 0
            for (lls, verdicts, _), (own, p) in zip(theirs, ours):
                own = np.array(own)
                assert len(own) == len(lls) == p["n_options"]
                options += len(own)
                worst = max(worst, float(np.abs(own - lls).max()))
                lengths = np.array(p["option_lengths"])
                for k, (metric, by) in enumerate([("acc", 1), ("acc_norm", lengths)]):
                    if metric not in verdicts:
                        continue
                    right = chr(65 + int(np.argmax(own / by))) in p["golds"]
                    two = np.sort(lls / by)[-2:]
                    is_tie = two[1] - two[0] < 1e-3
                    ties += is_tie and right != bool(verdicts[metric])
                    differ[k] += right != bool(verdicts[metric]) and not is_tie
            bad += worst > 1e-3 or sum(differ) > 0
            print(f"| {name} | {shots} | {len(ours)} | {options} | {worst:.1e} | {differ[0]} | {differ[1]} | {ties} |", flush=True)
    return 1 if bad else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["rows", "expected", "tiny", "prompts", "compare"])
    p.add_argument("folder")
    p.add_argument("more", nargs="?", default="100")
    p.add_argument("--model")
    p.add_argument("--examples", type=int, default=30)
    p.add_argument("--kveval", default="build/kveval")
    p.add_argument("--told", action="store_true", help="rows: their context says what is right")
    p.add_argument("--shots", default="0")
    p.add_argument("--scored", default="steps")
    p.add_argument("--sets")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    if args.what == "rows":
        return write_rows(Path(args.folder), int(args.more), args.examples, args.told)
    if args.what == "expected":
        return expected(args)
    if args.what == "tiny":
        return tiny(args.folder, args.more)
    return prompts(args) if args.what == "prompts" else compare(args)


if __name__ == "__main__":
    sys.exit(main())
