"""Answers in and behind thinking: the marks of each family, whole, cut off and spoken of.

A row of MARKS is what stands before the thoughts, between them and the answer, and behind the answer. A new family
is one line."""

MARKS = (
    ("<think>", "</think>", ""),
    ("<think>\n", "\n</think>\n\n", "<|im_end|>"),
    ("<think>", "</think>", "<｜end▁of▁sentence｜>"),
    ("<Think>", "</Think>", ""),
    ("<thinking>", "</thinking>", ""),
    ("<thinking>", "</thinking>\n<output>", "</output>"),
    ("<thought>\n", "</thought>\n", ""),
    ("<thoughts>", "</thoughts>", ""),
    ("<reasoning>", "</reasoning>", ""),
    ("<reasoning>", "</reasoning><answer>", "</answer>"),
    ("<scratchpad>", "</scratchpad>\n", ""),
    ("<seed:think>", "</seed:think>", "<seed:eos>"),
    ("<longcat_think>", "</longcat_think>", ""),
    ("[THINK]", "[/THINK]", "</s>"),
    ("◁think▷", "◁/think▷", ""),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>\n", "\n<|end_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>", ""),
    ("<unused94>thought\n", "<unused95>", ""),
    ("[unused16]", "[unused17]", ""),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
        "<|return|>",
    ),
    ("<|channel>thought\n", "<channel|>", "<turn|>"),
    ("analysisWe think. ", "assistantfinal", ""),
    ("<|think|>", "<|end|><|begin|>assistant<|content|>", "<|end|>"),
    ("<|im_start|>think\n", "\n<|im_start|>answer\n", ""),
    ("Here is my thought process:\n", "\nHere is my response:\n", ""),
    ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n", "\n[END FINAL RESPONSE]"),
)

THOUGHTS = (r"Maybe \boxed{8}?", "The answer is 8.", '{"answer": 8}', "**Final Answer:** 8\n\nWait.", "<answer>8</answer>", "So 8")
ANSWERS = (r"\boxed{7}", "The answer is 7.", "7", "It is 7.", '{"answer": 7}', "**Answer:** $7$", "So we get $x = 7$.")


def rows():
    """Yields (class, gold, response, equal)."""
    for opens, closes, ends in MARKS:
        name = "thinking: " + repr(opens)
        for thought in THOUGHTS:
            for answer in ANSWERS:
                for gold in ("7", "8"):
                    yield name, gold, opens + thought + closes + answer + ends, gold == "7"
            yield name, "8", opens + thought, False
            yield name, "8", opens + thought + closes, False
            yield name, "8", opens + thought + closes + "I am done." + ends, False
            yield name, "8", opens + "So" + closes + opens + thought, False
