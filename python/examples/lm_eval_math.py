"""A scorer for lm-evaluation-harness, as a task's YAML names it (lm_eval_math.yaml): grades the whole completion."""
import kveval


def process_results(doc, results):
    gold = "" if doc["answer"] is None else str(doc["answer"])
    g = kveval.grade(gold, results[0])
    if g.verdict == "error":
        raise ValueError(f"{doc['answer']!r}: {g.reason}")
    return {"correct": float(bool(g)), "answered": float(g.verdict in ("correct", "wrong", "ambiguous"))}
