"""Answers in a form: objects of JSON, YAML, fences of code, tags, tables, lists.

%s is the answer. Where a form holds the number 3 beside it, 3 is not the answer. A new form is one line. In JSON
backslashes are doubled, and in RAW they are not. TAGS are the names of tags; TAGGED is what stands in and around
one. NOTHING are forms that state no answer, of which 3 and 7 are neither."""

ANSWERS = (("7", "8"), ("-7", "7"), (r"\frac{4}{9}", r"\frac{9}{4}"), (r"2\sqrt{5}", r"5\sqrt{2}"), ("x+1", "x-1"))

JSON = (
    '{"answer": "%s", "confidence": 3}',
    '{"final_answer": "%s", "steps": 3}',
    '{"steps": 3, "answer": "%s"}',
    '{"Final Answer": "%s", "n": 3}',
    '{"finalAnswer": "%s"}',
    '{"numeric_answer": "%s", "n": 3}',
    '{"answer": "$%s$"}',
    '{"answer": "The answer is %s."}',
    '{"answer": ["%s"]}',
    '{"answer": {"value": "%s", "steps": 3}}',
    '{"answer": {"t": "%s"}}',
    '{"final_answer": {"latex": "%s", "text": "in 3 words"}}',
    '{"response": "%s", "n": 3}',
    '{"result": {"answer": "%s", "confidence": 3}}',
    '{"data": {"output": {"final_answer": "%s"}}, "n": 3}',
    '{"steps": [{"n": 1, "value": 3}, {"n": 2, "value": 5}], "answer": "%s"}',
    '{"answer": "%s", "steps": [{"n": 1, "answer": 3}]}',
    '{"step": 1, "result": 3}\n{"step": 2, "result": "%s"}',
    '{"step": 1, "result": 3}\n{"final_answer": "%s"}',
    '{"final_answer": "%s"}\n{"confidence": 0.9, "value": 3}',
    '[{"step": 3}, {"answer": "%s"}]',
    '{"reasoning": "a } brace and \\"answer\\": 3", "answer": "%s"}',
    '{"reasoning": "the answer is 3? no", "answer": "%s"}',
    '{"reasoning": "not \\\\boxed{3}", "answer": "%s"}',
    '{"answer": "%s", "explanation": "then the answer is 3"}',
    '{"answer": "%s",}',
    '{"answer": "%s" // in 3 steps\n}',
    '{"answer": "\\\\boxed{%s}", "n": 3}',
    "{'final_answer': '%s', 'steps': 3}",
    '```json\n{\n  "answer": "%s",\n  "steps": 3\n}\n```',
    '```json\n{\n  "answer": "%s"\n}\n```\nThe confidence is 3.',
    'Here it is:\n```json\n{"answer": "%s"}\n```\nLet me know if you need 3 more.',
    '{"answer": "%s", "steps": 3, "expl',
    '```json\n{"answer": "%s", "explanation": "We need 3 st',
    '{"explanation": "3 words", "answer": "%s"',
)

RAW = (
    "answer: %s\nconfidence: 3",
    "confidence: 3\nanswer: %s",
    "```yaml\nanswer: %s\nsteps: 3\n```",
    "final_answer: %s\nsteps: 3",
    "- final_answer: %s\n- steps: 3",
    "answer:\n  value: %s\n  steps: 3",
    "Answer:\n- %s",
    "```\n%s\n```",
    "```text\n%s\n```",
    "```latex\n%s\n```",
    "```\nAnswer: %s\n```",
    "```\n%s\n```\nThis took 3 steps.",
    "Final answer:\n```text\n%s\n```",
    "<reasoning>3+4</reasoning>\n<answer>%s</answer>",
    "<answer>3</answer>\n<answer>%s</answer>",
    "<answer>%s</answer><explanation>The answer is 3+4</explanation>",
    "<answer>%s</answer><confidence>3</confidence>",
    "<confidence>3</confidence><answer>%s</answer>",
    '<answer type="math">%s</answer>',
    "[ANSWER]%s[/ANSWER]",
    "<answer>%s",
    "<answer><value>%s</value></answer>",
    "<output><answer>%s</answer></output>",
    "<result><final_answer>%s</final_answer><steps>3</steps></result>",
    "<answer>First 3, then more.\nSo the total is %s.</answer>",
    "<b>Answer: %s</b>",
    "> **Final Answer:**\n>\n> **%s**",
    "| Answer |\n|---|\n| %s |",
    "| Answer | %s |\n| Confidence | 3 |",
    "| Answer | Steps |\n|---|---|\n| %s | 3 |",
    "| Steps | Answer |\n|:--|:--:|\n| 3 | **%s** |",
    "| Quantity | Value |\n|---|---|\n| Steps | 3 |\n| **Answer** | $%s$ |",
    "| n | f(n) |\n|---|---|\n| 1 | 3 |\n\nSo the answer is $%s$.",
)

TAGS = ("answer", "final_answer", "ans", "result", "solution", "output", "finalAnswer", "ANSWER", "final_result")
TAGGED = (
    "<{t}>%s</{t}>",
    "<{t}>\n%s\n</{t}>",
    "<{t}>$%s$</{t}>\n\nIt took 3 steps.",
    "<{t}>The answer is $%s$.</{t}>",
    "<{t}>**%s**</{t}>",
)

NOTHING = (
    '{"answer": null, "steps": 3}',
    '{"answer": "", "steps": 7}',
    '{"steps": 3}',
    '{"steps": 3, "explanation": "some words"',
    '{"steps": 3, "explanation": "so',
    '{"answer": "7',
    "```python\nx = 3\nprint(x + 4)\n```",
    "<answer></answer>",
    "<answer>7 or",
)


def rows():
    """Yields (class, gold, response, equal)."""
    forms = [("json", form) for form in JSON] + [("form", form) for form in RAW]
    forms += [("tag", form.replace("{t}", tag)) for tag in TAGS for form in TAGGED]
    for group, form in forms:
        for answer, wrong in ANSWERS:
            text = form.replace("%s", answer.replace("\\", "\\\\") if group == "json" else answer)
            name = "%s: %r" % (group, form)
            yield name, answer, text, True
            yield name, wrong, text, False
            if "3" in form.replace("%s", ""):
                yield name, "3", text, False
    for form in NOTHING:
        for gold in ("3", "7"):
            yield "nothing: %r" % form, gold, form, False
