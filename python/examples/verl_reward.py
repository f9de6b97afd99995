"""A reward function as verl calls it: custom_reward_function.path=verl_reward.py, name=compute_score.

1 for an answer that is right, 0 otherwise, also where the length limit cut it or two answers contradict each other.
`extra_info` and others that verl passes are not needed. For many answers at once see kveval.grade_many.
"""
import kveval


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **unused):
    return float(bool(kveval.grade(ground_truth, solution_str)))
