"""What models write behind an answer: remarks that take it back, with a new answer, and remarks that do not.

In STATED and NEW %s is the answer. In BACK and KEPT {old} is the answer that was stated and {other} a value that
nobody states. A new statement or remark is one line. VALUES holds the old answer, the new one and another value."""

VALUES = (
    ("8", "7", "5"),
    (r"\frac{3}{8}", r"\frac{5}{8}", "2"),
    ("x=3", "x=4", "x=9"),
    (r"2\sqrt{3}", r"3\sqrt{2}", "1"),
)

STATED = (
    r"\boxed{%s}",
    r"$\boxed{%s}$.",
    r"The answer is $\boxed{%s}$.",
    "**Final Answer:** $%s$.",
    "The answer is $%s$.",
    "Answer: %s.",
    "<answer>%s</answer>",
    "#### %s\n",
    '{"answer": "%s"}',
)

BACK = (
    "Wait, that's wrong.",
    "Wait, that is not correct.",
    "Wait, I made a mistake.",
    "Hold on, I made an error.",
    "Hold on. I overlooked a case.",
    "Actually, that's not right.",
    "Actually, I made an arithmetic error.",
    "Actually, I should have used the other formula.",
    "Hmm, that can't be right.",
    "Hmm, I see I misread the question.",
    "On checking, {old} does not satisfy the equation.",
    "Checking this, {old} does not work.",
    "Upon verification, this fails.",
    "After rechecking, I found an error above.",
    "Re-examining the problem, I see that I misread it.",
    "Let me recheck. 2+2=4, so that's incorrect.",
    "Let me double-check: substituting gives a contradiction, so {old} is wrong.",
    "Let me reconsider. The value above is not valid.",
    "Correction: I forgot the sign.",
    "I made a mistake.",
    "I apologize, I made an error in the calculation.",
    "I need to correct my answer.",
    "Sorry, there is an error in my calculation.",
    "My previous answer was incorrect.",
    "That was wrong.",
    "This is incorrect.",
    "However, this is not correct, since x must be positive.",
    "But this does not satisfy the original equation.",
    "But wait, we need to exclude one case.",
    "Oops, I forgot a factor.",
    "Scratch that.",
    "No wait, I double counted.",
    "Wait, I forgot to subtract the duplicates.",
    "Ah, I made a sign error.",
    "On second thought, the above is off by one.",
    "Oh wait — I dropped a minus sign along the way.",
    "Wait, but the problem asks for something else.",
    "This is not the final answer; we still have to halve it.",
    "Please disregard the above.",
    "Ignore my previous answer.",
    "I take that back.",
    "I miscounted.",
)

NEW = (
    "So the answer is $%s$.",
    r"\boxed{%s}",
    "The correct answer is %s.",
    r"Therefore, the final answer is $\boxed{%s}$.",
    "Answer: %s",
    "**Final Answer:** %s",
    "My mistake: it's %s.",
)

KEPT = (
    "Wait, let me verify: yes, {old} is right.",
    "Wait, let me double-check. Yes, that's correct.",
    "Wait, is that right? Yes, it is.",
    "Wait, could it be {other}? No, that fails.",
    "Hold on, let me check: everything is consistent.",
    "Hmm, let me verify once more. It is correct.",
    "Actually, this is well known.",
    "Actually, we can also see this geometrically.",
    "Let me double check: it holds.",
    "Let me recheck: the computation is right.",
    "Let me verify: substituting gives equality, so the answer is correct.",
    "Check: 2+2=4. ✓",
    "Verification: {old} satisfies the equation.",
    "Checking {other}: it does not satisfy the equation.",
    "A common mistake is to answer {other}.",
    "Many students make the error of writing {other}.",
    "One might think the answer is {other}, but that is wrong.",
    "(If you got {other}, you made a sign error.)",
    "Note that {other} is incorrect because it is negative.",
    "Other values, such as {other}, do not satisfy the equation.",
    "The value {other} does not work.",
    "It can't be {other}, since that is too large.",
    "If I made a mistake, let me know.",
    "I hope there is no mistake.",
    "So the other root is extraneous.",
    "No other value works.",
    "This is correct.",
    "However, if order mattered, the answer would be {other}.",
    "For comparison, the answer to the previous part was {other}.",
    "Actually, we can generalize: for n points the answer is $2^n$.",
    "Wait, could the answer be {other}? No: {other} is too large.",
    "Some might argue that the answer is {other}, but this overlooks the constraint.",
    "I double-checked and found no errors.",
    "I made no mistake here.",
    "Wait. The problem says positive, so 0 does not count.",
)

# The last box is a part of the answer or is supposed only: {old} is no answer.
BOXES = (
    r"Suppose the answer were $\boxed{{{old}}}$.",
    r"Assume it is \boxed{{{old}}}. Then we get a contradiction.",
    r"If it were \boxed{{{old}}} then the sum would be negative, a contradiction.",
    r"(a) \boxed{{{other}}} (b) \boxed{{{old}}}",
    "**(a)** The first is $\\boxed{{{other}}}$.\n**(b)** The second is $\\boxed{{{old}}}$.",
    r"Imagine that the answer is \boxed{{{old}}}.",
    r"It would be \boxed{{{old}}} if order mattered.",
    r"For part (a), \boxed{{{other}}}. For part (b), \boxed{{{old}}}.",
    "Part 1: $\\boxed{{{other}}}$\n\nPart 2: $\\boxed{{{old}}}$",
)


def said(statement, answer):
    """The answer in a statement."""
    return statement % (answer.replace("\\", "\\\\") if statement.startswith("{") else answer)


def rows():
    """Yields (class, gold, response, equal)."""
    for statement in STATED:
        for gap in ("\n\n", " "):
            for at, (old, new, other) in enumerate(VALUES):
                head = said(statement, old) + gap
                for k, remark in enumerate(BACK):
                    name = "taken back: " + remark
                    text = head + remark.format(old=old) + " " + NEW[(at + k) % len(NEW)] % new
                    yield name, new, text, True
                    yield name, old, text, False
                for remark in KEPT:
                    text = head + remark.format(old=old, other=other)
                    yield "kept: " + remark, old, text, True
                    yield "kept: " + remark, other, text, False
    for old, new, other in VALUES:
        for text in BOXES:
            box = text.format(old=old, other=other)
            yield "no answer: " + text, old, box, False
            if "(a)" not in box and "Part 1" not in box:
                yield "no answer: " + text, new, box + " So it is $\\boxed{" + new + "}$.", True
