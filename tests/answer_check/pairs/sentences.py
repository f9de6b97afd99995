"""Last sentences of responses that declare no answer: what they present as the result, and what they do not.

In COUNTED %s is a whole number that is the answer; other numbers in the sentence are not. In STATED it is a value of
any kind. In REFUSED %s is no answer. WORDS are answers in words: the reference, a sentence that presents it, and
whether it does. Each sentence of COUNTED and REFUSED is also written with its numbers as formulas. A new sentence is
one line."""

import re

WHOLE = ("12", "480")
VALUES = (("12", "21"), ("-7", "7"), ("3/8", "8/3"), (r"$\frac{3}{8}$", "8/3"), ("2√3", "3√2"), ("$x = 5$", "6"))

COUNTED = (
    "Thus exactly %s of the 1000 numbers qualify.",
    "So %s out of 3000 students play chess.",
    "Hence %s of these 2000 are prime.",
    "So it will take them %s hours to paint the 3 rooms together.",
    "Tom has to pay $%s for the 4 tickets.",
    "Each child gets %s sweets, with 2 left over.",
    "The side length is %s, not -5.",
    "The side length is %s (we discard -5).",
    "The side length is %s rather than 13.",
    "The side length is %s since 3 + 4 = 7.",
    "The smallest such number is %s — smaller ones like 3 and 4 fail.",
    "We reject x = -2, which leaves x = %s.",
    "It cannot be 9 or 10, so it has to be %s.",
    "Eliminating 3 and 5 as too small, the smallest prime that works is %s.",
    "Therefore, after 3 days, there are %s apples left.",
    "In 4 years, Ann will be %s years old.",
    "So for n = 3 the number of ways is %s.",
    "The car travels %s km in 3 hours.",
    "Thus the price of the 3 books is $%s.",
    "The sum of the first 3 terms is %s.",
    "The value of the 5th term is %s.",
    "Thus the area of the triangle with sides 3, 4 and 5 is %s.",
    "Out of 2000 students, %s passed.",
    "Using n = 3, we obtain %s.",
    "So we get %s, where n = 3.",
    "So the maximum is %s, achieved when a = b = 2.",
    "Thus, there are %s ways to choose 2 of the 5 people.",
    "So there are %s ways to arrange the 4 letters.",
    "This takes %s minutes for each of the 3 machines.",
    "Hence x = %s (x = -3 is rejected).",
    "Among the first 1000 integers, %s are good.",
    "A rectangle with sides 8 and 10 has perimeter %s.",
    "So when x = 4, y = %s.",
    "Maria bought %s pencils in 3 packs.",
    "She now has %s pencils left after giving away 15.",
    "The smallest n is %s; n = 5 fails.",
    "Only %s works (5 and 7 do not).",
    "%s, because 6 times 6 is more.",
    "The sum is %s, so that's the count.",
    "With x = 4 we get y = %s.",
    "Janet therefore has 9 eggs left, which at $2 each brings in $%s.",
    "The third sprint adds 60 meters, for a final total of %s meters.",
    "First 3, then 4 more, and finally 5, for %s in all.",
    "There are 4 rows of 3, making %s.",
    "Ann has 3 and Bob has 9, so together they have %s.",
    "After paying $8 from his $20, he has $%s left.",
    "The area is %s, where the base is 3.",
    "The maximum of the function is %s at x = 3.",
    "There are %s solutions in total, 3 of them negative.",
    "Of the 4 candidates only one works: %s.",
    "Tom reads 6 pages a day, so in 8 days he reads %s pages.",
    "The roots are 6 and 30, whose sum is %s.",
    "Since $c^2=25$, we get $c=%s$ (as $c>0$).",
    "By symmetry the sum equals %s, or about 3 times 5.",
    "The last digit of the sum is %s.",
    "The answer has to be %s.",
)

STATED = (
    "Since $-2$ is extraneous, the only solution is %s.",
    "So the value is %s.",
    "Hence we get %s, as desired.",
    "So we get %s, which is what we wanted.",
    "Therefore the result is %s, and we are done.",
    "So it has to be %s.",
    "⇒ %s",
    "=> %s",
    "Final result → %s",
    "• Final answer → %s",
    "That leaves only %s.",
)

REFUSED = (
    "We cannot conclude that the answer is %s.",
    "It is false that the answer is %s.",
    "There is no reason to believe the answer is %s.",
    "The wrong answer is %s.",
    "So the square of the answer is %s.",
    "The first part of the answer is %s.",
    "The answer depends on %s parameters.",
    "The answer ends in %s.",
    "One of the solutions is %s.",
    "At first glance the answer is %s.",
    "All %s of them must still be checked.",
    "So it is %s only for even n.",
    "I got %s but the key says otherwise.",
    "The maximum occurs at x = %s.",
    "This question is worth %s points.",
    "Some textbooks claim the answer is %s.",
    "This is a known problem from AIME %s.",
    "A similar question appeared on the %s IMO.",
    "Since %s is even, the group is cyclic.",
    "I have used %s seconds of my time, so I will stop.",
    "We are asked to prove that the answer is %s.",
    "It remains to show that the sum equals %s.",
    "I doubt that it is %s.",
    "The polynomial has degree %s, so a closed form is hard to find.",
    "Hence the sequence has period %s, but the requested term is unknown.",
    "So the answer lies in the interval from 1 to %s.",
    "So it is close to %s, though I have no exact value.",
    "The answer to the previous problem was %s.",
    "The answer is %s times the radius.",
    "The answer is %s less than the total.",
    "So x = %s, which is impossible.",
    "So x = %s, but this contradicts the assumption.",
    "Thus %s would be too large.",
    "We could try %s next.",
    "So far we have %s cases to check.",
    "The answer is greater than %s.",
    "This holds for n up to %s.",
    "The proof uses Lemma %s.",
    "It can't be %s.",
    "Neither 1 nor %s works.",
    "Maybe %s.",
    "Let x = %s.",
    "If n = %s, we are done.",
    "For example, n = %s.",
    "So x ≠ %s.",
    "An upper bound is %s.",
    "It's either 1 or %s.",
    "The other %s cases are similar.",
    "Repeat this %s times.",
    "We use %s variables.",
    "We still need to subtract %s.",
    "Next we multiply by %s.",
    "So x is less than or equal to %s.",
    "Therefore, the answer differs from %s.",
    "So %s is just an estimate.",
    "Roughly %s, I think.",
    "So the answer is %s or so.",
    "So it's %s more than the original.",
    "If they were distinct, the sum would be %s.",
    "Then there would be %s of them, a contradiction.",
    "Confidence: %s%",
    "Time: %s minutes.",
    "Hence it is the %sth prime.",
    "So it is %s to the power of 5.",
    "So it is 2 to the power of %s.",
    "So it is %s and a half.",
    "So it is log base %s of 7.",
    "La respuesta no es %s.",
    "La réponse n'est pas %s.",
    "Die Antwort ist nicht %s.",
    "答案不是%s。",
    "答えは%sではない。",
    "Ответ не %s.",
    "So the number is a divisor of %s.",
    "Hence n is a factor of %s.",
    "So the two are coprime to %s.",
    "So it is 30 percent of %s.",
    "So the answer squared is %s.",
    "Hence the answer plus 3 is %s.",
    "So the answer times 2 is %s.",
    "So three times the number is %s.",
    "So half the answer is %s.",
    "적어도 %s개",
    "%s通り以下である。",
    "%s以上である。",
    "%s개 이하이다.",
    "höchstens %s",
    "au plus %s",
    "como máximo %s",
    "%s ways at most",
)
# Behind an answer: numbers that are none of it.
AFTERWORDS = (
    "### Key takeaways\n1. Always factor first.\n2. Check the domain.\n3. Be patient.",
    "**Key points:**\n- Factor first.\n- There are 3 cases.",
    "**Lessons**\n1. Draw a picture.\n2. Count to 3.",
    "Explanation: there are 4 groups of 3.",
    "*Reasoning:* each of the 4 groups has 3.",
    "**Why this works:** we used 3 rules.",
    "Notes:\n* This took 3 steps.",
    "Substituting back: 147 − 144 = 3. The solution is correct.",
    "Indeed, 9 − 6 = 3, which checks out.",
    "Plugging in: 2·1 + 1 = 3 ✓",
)

WORDS = (
    ("12", "So there are twelve such integers.", True),
    ("12", "Hence there are a dozen of them.", True),
    ("21", "Therefore, Tom needs twenty-one more stickers.", True),
    ("305", "In total there are three hundred and five seats.", True),
    ("5", "In total there are three hundred and five seats.", False),
    ("-1", "So the slope must be negative one.", True),
    (r"\frac{3}{4}", "So three quarters of the tank is filled.", True),
    ("3", "So three quarters of the tank is filled.", False),
    ("1", "So there is exactly one solution.", True),
    ("1", "So this is one way to see it.", False),
    ("2", "So the two roots are complex.", False),
    (r"\frac{3}{5}", "So the probability is 3 out of 5.", True),
    (r"\frac{1}{6}", "There is a 1 in 6 chance.", True),
    ("6", "There is a 1 in 6 chance.", False),
    ("3:2", "The odds are 3 to 2.", True),
    ("2", "The odds are 3 to 2.", False),
    ("(3,4)", r"So the vertex is at \((3, 4)\).", True),
    ("(0,-3)", "The focus is at (0, -3).", True),
    ("x=-1", "The axis of symmetry is the line x = -1.", True),
    ("f(x)=2x", r"The only solution is $f(x)=2x$ for all $x \in \mathbb{Z}$.", True),
    (r"\text{no solution}", "Hence the equation has no real solutions.", True),
    (r"\text{no solution}", "There is no solution with $x<0$, so the only solution is $x=3$.", False),
    (r"\text{DNE}", "So the limit does not exist.", True),
    (r"\text{diverges}", "So the series diverges.", True),
    (r"\text{converges}", "So the series does not converge.", False),
    (r"\text{infinitely many}", "Therefore the system has **infinitely many solutions**.", True),
    (r"\text{impossible}", "So this is impossible.", True),
    (r"\text{Alice}", "Therefore, Alice wins with optimal play.", True),
    (r"\text{Alice}", "Hence Alice has a winning strategy.", True),
    (r"\text{Alice}", "So Alice does not win.", False),
    (r"\text{Alice}", "Therefore, Alice loses.", False),
    (r"\text{Alice}", "Bob wins against Alice.", False),
    (r"\text{yes}", "**Yes**, such a polynomial exists.", True),
    (r"\text{yes}", "No, it is not.", False),
    ("3, 5", "1) $3$\n2) $5$", True),
    ("3, 5", "(a) 3\n(b) 5", True),
    ("3, 6", "(a) 3\n(b) 5", False),
    ("3, 5", "**Part 1:** 3\n\n**Part 2:** 5", True),
    ("3, 5", "(i) $3$; (ii) $5$", True),
    ("a=1, b=2", "a = 1\nb = 2", True),
    ("2, -3", "- $x = 2$\n- $x = -3$", True),
    ("3, -8", "| Part | Answer |\n|---|---|\n| (a) | 3 |\n| (b) | -8 |", True),
    ("-8, 3", "| Part | Answer |\n|---|---|\n| (a) | 3 |\n| (b) | -8 |", False),
    ("-8", "| Part | Answer |\n|---|---|\n| (a) | 3 |\n| (b) | -8 |", False),
    ("(2,5)", "| Answer | (2, 5) |\n|---|---|\n| Method | elimination |", True),
    ("7", "| Answer | Method |\n|---|---|\n| 7 | elimination |", True),
    ("March 15", "Day 74 of a common year is **March 15th**.", True),
    ("15", "Day 74 of a common year is **March 15th**.", False),
    ("7.20 euros", "Therefore, Maria has **€7.20** left.", True),
    ("7.20 dollars", "Therefore, Maria has **€7.20** left.", False),
    ("x<9", "Hence x must be less than 9, i.e. the solution set is $x < 9$.", True),
    ("9", "Hence x must be less than 9, i.e. the solution set is $x < 9$.", False),
    (r"\text{no solution}", "Die Gleichung hat keine Lösung.", True),
    (r"\text{no solution}", "La ecuación no tiene solución.", True),
    (r"\text{no solution}", "L'équation a une solution.", False),
    (r"x\equiv5\pmod{11}", r"Hence $x \equiv \boxed{5} \pmod{11}$.", True),
    (r"x\equiv5\pmod{12}", r"Hence $x \equiv \boxed{5} \pmod{11}$.", False),
    ("6, 2", r"So the mean is \boxed{6} and the variance is \boxed{2}.", True),
    ("2, 6", r"So the mean is \boxed{6} and the variance is \boxed{2}.", False),
    ("-3", "- $x = 2$\n- $x = -3$", False),
    ("x=-3", "Solutions:\n* $x = 2$\n* $x = -3$", False),
    ("4", "The roots are:\n- 1\n- 4", False),
    ("4", "- $2x = 8$\n- $x = 4$", True),
    (r"(a)\ 12\quad(b)\ 7", "**(a)** 12\n**(b)** 7", True),
    (r"(a)\ 12\quad(b)\ 7", "**(a)** 7\n**(b)** 12", False),
    (r"\text{a) Yes, b) No}", "a) Yes\nb) No", True),
    (r"\text{a) Yes, b) No}", "a) No\nb) Yes", False),
    ("7", "(a) 12\n(b) 7", False),
    ("4", "The circle $(x-3)^2+(y+1)^2=16$ has radius 4.", True),
    (r"\text{rhombus}", "So the quadrilateral is a *rhombus*.", True),
    (r"\text{rhombus}", "So the quadrilateral is not a *rhombus*.", False),
    (r"\text{all odd primes}", "The condition holds for **all odd primes**.", True),
    (r"\text{all odd primes}", "It does not hold for all odd primes.", False),
    (r"\text{Tuesday}", "Counting 100 days ahead from Sunday we land on Tuesday.", True),
    (r"\text{Tuesday}", "So it does not fall on Tuesday.", False),
    (r"\text{Beth, Ann, Carl}", "The order is Beth, Ann, Carl.", True),
    (r"\text{Beth, Ann, Carl}", "The order is Ann, Beth, Carl.", False),
    (r"\infty", "The expression grows without bound, so the limit is ∞.", True),
    (r"-\infty", "The expression grows without bound, so the limit is ∞.", False),
    (r"-\infty", "Hence the limit is negative infinity.", True),
    (r"\infty", "Hence the limit is negative infinity.", False),
    (r"80\text{ minutes}", "It takes 1 hour and 20 minutes.", True),
    ("20", "It takes 1 hour and 20 minutes.", False),
    ("1:2:3", "The three volumes are in the ratio **1 : 2 : 3**.", True),
    ("3", "The three volumes are in the ratio **1 : 2 : 3**.", False),
    ("9", "**The maximum value is 9**, which occurs at x = 3.", True),
    ("3", "**The maximum value is 9**, which occurs at x = 3.", False),
    ("15", "So we have 15 (half of 30) in total.", True),
    ("30", "So we have 15 (half of 30) in total.", False),
    ("x=4", "Only x = 4 satisfies x > 0, so x = −4 is rejected.", True),
    ("x=-4", "Only x = 4 satisfies x > 0, so x = −4 is rejected.", False),
    ("36", "Tom needs 36 boxes to pack all of the 12-packs.", True),
    ("12", "Tom needs 36 boxes to pack all of the 12-packs.", False),
    ("(2,-1), 3", "The centre is (2, −1) and the radius is 3.", True),
    ("(2,1), 3", "The centre is (2, −1) and the radius is 3.", False),
    (r"x=1\text{ 或 }x=2", "所以方程的解为 x=1 或 x=2。", True),
    ("x=2", "所以方程的解为 x=1 或 x=2。", False),
    ("8", "答案：8（注意不是9）", True),
    ("9", "答案：8（注意不是9）", False),
    ("12", "Answer: 12 [10 points]", True),
    ("10", "Answer: 12 [10 points]", False),
    (r"\frac{1}{2}", "The answer is 0.5 (or 1/2).", True),
    (r"\frac{1}{2}", "The answer is 0.5 (or 1/3).", False),
    ("0.6", "P(not A) = 1 − 0.4 = 0.6", True),
    ("0.4", "P(not A) = 1 − 0.4 = 0.6", False),
    ("-7", "Answer: &minus;7", True),
    ("7", "Answer: &minus;7", False),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "Answer: Matrix([[1, 2], [3, 4]])", True),
    (r"\begin{pmatrix}1&3\\2&4\end{pmatrix}", "Answer: Matrix([[1, 2], [3, 4]])", False),
    ("45", "\\begin{align*}\ns&=1+2+\\dots+9\\\\\n&=\\frac{9\\cdot10}{2}\\\\\n&=45\n\\end{align*}", True),
    ("(x+1)(x^2-x+1)", "So x³ + 1 = (x + 1)(x² − x + 1).", True),
    ("(x+1)(x^2+x+1)", "So x³ + 1 = (x + 1)(x² − x + 1).", False),
    ("2,3", '{"answers": [2, 3]}', True),
    ("3", '{"answers": [2, 3]}', False),
    ("16", "The circle $(x-3)^2+(y+1)^2=16$ has radius 4.", False),
)

NUMBER = re.compile(r"(?<![\w.$/-])-?\d+(?![\w.]*\w|\s*=)")


def as_formulas(text):
    """Writes the numbers of a sentence as formulas; None where that would make two of one."""
    if "$" in text or "=" in text:
        return None
    return NUMBER.sub(lambda found: "$%s$" % found.group(0), text)


def forms(sentence, value):
    """Yields the sentence as it is and with formulas for its numbers."""
    text = sentence.replace("%s", value)
    yield text
    if as_formulas(text):
        yield as_formulas(text)


def rows():
    """Yields (class, gold, response, equal)."""
    for sentence in COUNTED:
        others = NUMBER.findall(sentence.replace("%s", ""))
        for value in WHOLE:
            for text in forms(sentence, value):
                for gold in (value, *others):
                    yield "counted: " + sentence, gold, text, gold == value
    for sentence in STATED:
        for value, wrong in VALUES:
            gold = value.strip("$")
            yield "stated: " + sentence, gold, sentence.replace("%s", value), True
            yield "stated: " + sentence, wrong, sentence.replace("%s", value), False
    for sentence in REFUSED:
        for value in WHOLE:
            for text in forms(sentence, value):
                yield "refused: " + sentence, value, text, False
    for afterword in AFTERWORDS:
        for value, wrong in VALUES:
            for head in ("### Final Answer\n%s", "So the result is %s.", "%s"):
                text = head % value + "\n\n" + afterword
                yield "afterword: " + afterword, value.strip("$"), text, True
                yield "afterword: " + afterword, "3", text, False
    for gold, text, equal in WORDS:
        yield "words: " + repr(text), gold, text, equal
