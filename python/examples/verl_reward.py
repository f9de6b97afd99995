"""A reward function as verl calls it: custom_reward_function.path=verl_reward.py, name=compute_score.

1 for an answer that is right, 0 otherwise, also where there is none or two contradict each other. verl does not say
whether the length limit cut the text: what stands in it is graded. A reference that cannot be read raises a
ValueError. `extra_info` and others that verl passes are not needed. For many answers at once see kveval.grade_many.
"""
import kveval


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **unused):
    gold = "" if ground_truth is None else str(ground_truth)  # some data sets have numbers
    g = kveval.grade(gold, solution_str)
    if g.verdict == "error":
        raise ValueError(f"{data_source}, {ground_truth!r}: {g.reason}")
    return float(bool(g))
