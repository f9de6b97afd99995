"""The matrix of endings and kinds of answers: every ending that models write, with every kind of answer in it.

A row of LATEX or PLAIN is an ending; %s is the answer. A row of KINDS is a kind of answer: the reference, the
answer in LaTeX and in plain text, and the same two of a false neighbour. None: the kind has no such writing."""

LATEX = (
    ("box", r"\boxed{%s}"),
    ("box in a formula", r"$\boxed{%s}$"),
    ("box in a display", r"$$\boxed{%s}$$"),
    ("box on lines of its own", "Thus\n\\[\n\\boxed{%s}\n\\]"),
    ("box in a sentence", r"So the answer is $\boxed{%s}$."),
    ("box in bold", r"**$\boxed{%s}$**"),
    ("box under a heading", "### Final Answer\n\n$\\boxed{%s}$"),
    ("box with a hope", r"The final answer is $\boxed{%s}$. I hope it is correct."),
    ("box and chatter", "$\\boxed{%s}$\n\nLet me know if you need 3 more examples!"),
    ("box that says answer", r"\boxed{\text{Answer: }%s}"),
    ("box behind a box taken back", "\\boxed{7777}\n\nWait, that's wrong. The correct answer is $\\boxed{%s}$."),
    ("box checked", "\\boxed{%s}\n\nWait, let me double-check that. Yes, this is correct."),
    ("box in tags", r"<answer>\boxed{%s}</answer>"),
    ("box of tokens", "So it is <|begin_of_box|>%s<|end_of_box|>."),
    ("fbox", r"$\fbox{%s}$"),
    ("box without backslash", "The answer is boxed{%s}."),
    ("box in Chinese", r"故答案为：$\boxed{%s}$。"),
    ("box with doubled backslashes", None),
    ("answer with a colon", r"Answer: $%s$"),
    ("answer in bold", r"**Answer:** $%s$"),
    ("bold with the answer in it", r"**Answer: $%s$**"),
    ("final answer", r"**Final Answer:** \(%s\)"),
    ("final answer with is", r"The final answer is: $%s$"),
    ("the answer is", r"Therefore, the answer is $%s$."),
    ("the answer is, in brackets", r"The answer is \(%s\)."),
    ("the answer on its lines", "The answer is\n$$\n%s\n$$"),
    ("the answer under a heading", "## Answer\n\n\\[%s\\]"),
    ("corrected", "The answer is $7777$. Wait, that is incorrect. The answer is $%s$."),
    ("tags", r"<answer>$%s$</answer>"),
    ("hashes", r"#### $%s$"),
    ("JSON", None),
    ("table", r"| Answer | $%s$ |"),
    ("conclusion", r"Hence we obtain $%s$."),
    ("display", "Thus we get\n\\[\n%s\n\\]"),
    ("in Chinese", r"所以答案是 $%s$。"),
)

PLAIN = (
    ("bare", "%s"),
    ("bold", "**%s**"),
    ("code", "`%s`"),
    ("fence", "```\n%s\n```"),
    ("answer", "Answer: %s"),
    ("ANSWER", "ANSWER: %s"),
    ("answer in bold", "**Answer:** %s"),
    ("bold with the answer in it", "**Answer: %s**"),
    ("quoted", "> **Answer:** %s"),
    ("item", "- Answer: %s"),
    ("mark", "✅ Answer: %s"),
    ("heading", "### Final Answer\n\n%s"),
    ("bold under a heading", "**Final Answer**\n\n**%s**"),
    ("final answer", "Final answer: %s"),
    ("final answer in bold", "**Final Answer: %s**"),
    ("the answer is", "The answer is %s."),
    ("the answer is, in bold", "The answer is **%s**."),
    ("the final answer is", "Therefore, the final answer is %s."),
    ("is with a colon", "So the answer is: %s"),
    ("with chatter", "Answer: %s\n\nI hope this helps!"),
    ("with an offer", "The answer is %s. Let me know if you need 3 more examples."),
    ("corrected", "Answer: 7777\n\nWait, that's wrong. Answer: %s"),
    ("result", "Result: %s"),
    ("conclusion", "Hence we get %s."),
    ("the result is", "Thus the result is %s."),
    ("tags", "<answer>%s</answer>"),
    ("other tags", "<final_answer>%s</final_answer>"),
    ("hashes", "#### %s"),
    ("JSON", '{"final_answer": "%s", "steps": 3}'),
    ("table", "| Answer | %s |"),
    ("in Chinese", "答案：%s"),
    ("in a Chinese sentence", "所以答案是%s。"),
)

KINDS = (
    ("integer", "42", "42", "42", "43", "43"),
    ("negative", "-7", "-7", "−7", "7", "7"),
    ("thousands", "12345", "12{,}345", "12,345", "12{,}354", "12,354"),
    ("fraction", r"\frac{3}{8}", r"\dfrac{3}{8}", "3/8", r"\frac{8}{3}", "8/3"),
    ("mixed", r"\frac{7}{2}", r"3\tfrac{1}{2}", "3 1/2", r"3\tfrac{1}{3}", "3 1/3"),
    ("decimal", "0.125", "0.125", "0.125", "0.215", "0.215"),
    ("percent", r"25\%", r"25\%", "25%", r"35\%", "35%"),
    ("money", r"\$18", r"\$18", "$18", r"\$81", "$81"),
    ("degrees", r"30^\circ", r"30^{\circ}", "30°", r"60^\circ", "60°"),
    ("unit", r"12\text{ cm}", r"12\text{ cm}", "12 cm", r"21\text{ cm}", "21 cm"),
    ("root", r"2\sqrt{3}", r"\sqrt{12}", "2√3", r"3\sqrt{2}", "3√2"),
    ("pi", r"\frac{\pi}{6}", r"\frac{\pi}{6}", "π/6", r"\frac{\pi}{3}", "π/3"),
    ("power", "2^{10}", "1024", "2^10", "2^{11}", "2^11"),
    ("logarithm", r"\ln 2", r"\ln(2)", "ln(2)", r"\ln 3", "ln(3)"),
    ("complex", "3+4i", "3+4i", "3 + 4i", "3-4i", "3 - 4i"),
    ("binomial", "120", r"\binom{10}{3}", "120", r"\binom{10}{4}", "210"),
    ("expression", "x^2-1", "(x-1)(x+1)", "x^2 - 1", "x^2+1", "x^2 + 1"),
    ("fraction of letters", r"\frac{x}{x+1}", r"\frac{x}{1+x}", "x/(x+1)", r"\frac{x+1}{x}", "(x+1)/x"),
    ("pair", "(1,-2)", "(1,-2)", "(1, -2)", "(-2,1)", "(-2, 1)"),
    ("triple", "(1,2,3)", "(1,2,3)", "(1, 2, 3)", "(1,3,2)", "(1, 3, 2)"),
    ("interval", "[-2,7]", r"\left[-2,7\right]", "[-2, 7]", "(-2,7]", "(-2, 7]"),
    ("half-open", "[0,1)", "[0,1)", "[0, 1)", "[0,1]", "[0, 1]"),
    ("set", r"\{1,2,3\}", r"\{3,2,1\}", "{1, 2, 3}", r"\{1,2,4\}", "{1, 2, 4}"),
    ("list", "2, 5", "5, 2", "2, 5", "2, 6", "2, 6"),
    ("assignment", "9", "x = 9", "x = 9", "x = 6", "x = 6"),
    ("equation", "y=2x+1", "y = 2x + 1", "y = 2x + 1", "y = 2x - 1", "y = 2x - 1"),
    ("inequality", "x>3", "x > 3", "x > 3", r"x \ge 3", "x ≥ 3"),
    ("ratio", "3:4", "3:4", "3:4", "4:3", "4:3"),
    ("matrix", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}", None,
     r"\begin{pmatrix}1&3\\2&4\end{pmatrix}", None),
    ("word", r"\text{ellipse}", r"\text{ellipse}", "ellipse", r"\text{circle}", "circle"),
    ("nothing", r"\text{no solution}", r"\text{no solution}", "no solution", "0", "0"),
)


def doubled(answer):
    """The answer in a box, with every backslash written twice."""
    return r"So the answer is $\boxed{%s}$.".replace("\\", "\\\\") % answer.replace("\\", "\\\\")


def as_json(answer):
    """The answer as a string of JSON, in a fence."""
    return '```json\n{"answer": "%s", "confidence": 0.9}\n```' % answer.replace("\\", "\\\\")


SPECIAL = {"box with doubled backslashes": doubled, "JSON": as_json}


def written(ending, answer):
    """Returns the response that ends so."""
    name, text = ending
    return SPECIAL[name](answer) if text is None else text.replace("%s", answer)


def rows():
    """Yields (class, gold, response, equal) for every ending and kind, true and false."""
    for group, endings, true_at in (("latex", LATEX, 2), ("plain", PLAIN, 3)):
        for ending in endings:
            for kind in KINDS:
                for equal, at in ((True, true_at), (False, true_at + 2)):
                    if kind[at] is not None:
                        yield "%s: %s" % (group, ending[0]), kind[1], written(ending, kind[at]), equal
