"""A scorer for Inspect: Task(dataset=..., solver=generate(), scorer=kveval_math())."""
import kveval
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, accuracy, scorer, stderr

NO_ANSWER = ("unparsed", "unfinished", "truncated")


@scorer(metrics=[accuracy(), stderr()])
def kveval_math(**rules):
    async def score(state, target):
        cut = state.output.stop_reason in ("max_tokens", "model_length")
        g = kveval.grade(target.text, state.output.completion, finish="length" if cut else "stop", **rules)
        if g.verdict == "error":
            raise ValueError(f"{state.sample_id}: {g.reason}")
        value = CORRECT if g else NOANSWER if g.verdict in NO_ANSWER else INCORRECT
        return Score(value=value, answer=g.pred_form, explanation=g.reason, metadata={"verdict": g.verdict})

    return score
