"""Bounds, second thoughts and joined values in languages other than English, and values in cases of their own.

In BOUNDS %s is a bound and no answer; in EXACT it is the answer. In BACK {old} was stated before and {new} is the
answer; in KEPT {old} stays the answer. In JOINED the values {a} and {b} are one list. In CASES neither {a} nor {b} is
the answer, and in ONE {a} is. A new sentence is one line."""

BOUNDS = (
    "Die Lösung ist kleiner als %s.",
    "Die Antwort ist größer als %s.",
    "Die Antwort ist kleiner oder gleich %s.",
    "Die Antwort ist mindestens %s.",
    "Antwort: höchstens %s",
    "Es sind weniger als %s.",
    "La réponse est supérieure à %s.",
    "La valeur est inférieure ou égale à %s.",
    "La réponse est au plus %s.",
    "La réponse est au moins %s.",
    "La réponse est plus grande que %s.",
    "Il y en a moins de %s.",
    "La respuesta es mayor que %s.",
    "La respuesta es menor o igual que %s.",
    "La respuesta es al menos %s.",
    "La respuesta es como máximo %s.",
    "La respuesta es a lo sumo %s.",
    "Hay más de %s.",
    "A resposta é maior do que %s.",
    "A resposta é pelo menos %s.",
    "A resposta é no máximo %s.",
    "La risposta è minore di %s.",
    "La risposta è almeno %s.",
    "La risposta è al massimo %s.",
    "答案是小于%s的数。",
    "答案大于%s。",
    "答案：至多%s",
    "因此答案至少为%s。",
    "答案为%s以上。",
    "答えは%s未満である。",
    "답은 %s 이상입니다.",
    "Ответ больше %s.",
)

EXACT = (
    "Die Anzahl der Zahlen kleiner als 100 ist %s.",
    "Also ist die Anzahl %s, denn sie ist kleiner als 100.",
    "Le nombre d'entiers inférieurs à 100 est %s.",
    "El número de enteros menores que 100 es %s.",
    "El valor máximo es %s.",
    "Le minimum est %s.",
)

BACK = (
    r"\boxed{{{old}}}. Moment, das ist falsch. Die richtige Antwort ist {new}.",
    r"\boxed{{{old}}}" + "\n\nHalt, das stimmt nicht. Die Antwort ist {new}.",
    "Die Antwort ist {old}.\n\nWarte, ich habe mich verrechnet. Die Antwort ist {new}.",
    r"\boxed{{{old}}}. Espera, eso es incorrecto. La respuesta correcta es {new}.",
    r"\boxed{{{old}}}. Espera, cometí un error. La respuesta es {new}.",
    r"\boxed{{{old}}}. Attendez, c'est faux. La bonne réponse est {new}.",
    r"\boxed{{{old}}}. Attends, je me suis trompé. La réponse correcte est {new}.",
    r"\boxed{{{old}}}. Espera, isso está errado. A resposta correta é {new}.",
    r"\boxed{{{old}}}. Aspetta, è sbagliato. La risposta corretta è {new}.",
    r"\boxed{{{old}}}。等等，这不对，正确答案是{new}。",
    "答案是{old}。等等，我算错了。答案是{new}。",
    r"\boxed{{{old}}}。待って、間違えました。正しい答えは{new}です。",
    r"\boxed{{{old}}}. 잠깐, 틀렸습니다. 정답은 {new}입니다.",
    r"\boxed{{{old}}}. Подождите, это неверно. Правильный ответ: {new}.",
)

KEPT = (
    r"\boxed{{{old}}}. Moment, ist das richtig? Ja, das stimmt.",
    r"\boxed{{{old}}}. Ein häufiger Fehler ist {new}.",
    r"\boxed{{{old}}}. Die Antwort {new} wäre falsch.",
    r"\boxed{{{old}}}. Un error común es responder {new}.",
    r"\boxed{{{old}}}. Espera, verifiquemos: es correcto.",
    r"\boxed{{{old}}}. Une erreur courante est de répondre {new}.",
    r"\boxed{{{old}}}。常见错误是{new}。",
)

JOINED = (
    "**最终答案**：${a}$ 或 ${b}$",
    "综上，$x$ 的值为 ${a}$ 或 ${b}$。",
    "解为 ${a}$ 和 ${b}$。",
    "Antwort: ${a}$ oder ${b}$",
    "Die Antwort ist ${a}$ oder ${b}$.",
    "Die Lösungen sind ${a}$ und ${b}$.",
    "Die Lösung ist {a} oder {b}.",
    "La réponse est ${a}$ ou ${b}$.",
    "Les solutions sont ${a}$ et ${b}$.",
    "La respuesta es ${a}$ o ${b}$.",
    "Las soluciones son ${a}$ y ${b}$.",
)

CASES = (
    "**Answer:** ${a}$ when $t>1$, and ${b}$ when $t\\le 1$.",
    "Answer: ${a}$ if $t>1$, ${b}$ otherwise.",
    "The answer is ${a}$ for $t>1$ and ${b}$ for $t\\le 1$.",
    "The answer is {a} for t>1 and {b} for t<=1.",
    "The sequence converges to {a} only if t > 0; for t < 0 it converges to {b}.",
    "The sequence converges to ${a}$ if $t > 0$, and to ${b}$ if $t < 0$.",
    "For t > 0 the limit is {a}, for t < 0 it is {b}.",
    "When t > 0, the limit is {a}. When t < 0, the limit is {b}.",
    "The limit is {a} when t is positive and {b} when t is negative.",
    "The answer is {a} if n is even and {b} if n is odd.",
    "So there are {a} solutions if n is even, otherwise {b}.",
    "So for even n it is {a} and for odd n it is {b}.",
    "The answer is {a} for n = 1 and {b} for n = 2.",
    r"It is $\boxed{{{a}}}$ if $t>1$, and $\boxed{{{b}}}$ if $t\le 1$.",
)

ONE = (
    "For n = 1 we get 5 and for n = 2 we get 7, giving {a} in all.",
    "He pays $60 a week, for a total of {a}.",
    "The answer is ${a}$ when $n=1$.",
    "So when x = 4, y = {a}.",
    "The minimum of f for x > 0 is {a}, attained when x = 3.",
)


def rows():
    """Yields (class, gold, response, equal)."""
    for text in BOUNDS:
        for value in ("15", "$15$"):
            yield "bound: " + text, "15", text.replace("%s", value), False
    for text in EXACT:
        yield "bound: " + text, "24", text.replace("%s", "24"), True
        yield "bound: " + text, "100", text.replace("%s", "24"), False
    for texts, right, wrong in ((BACK, "6", "9"), (KEPT, "9", "6")):
        for text in texts:
            said = text.format(old="9", new="6")
            yield "second thought: " + text, right, said, True
            yield "second thought: " + text, wrong, said, False
    for text in JOINED:
        said = text.format(a="2", b="-3")
        yield "joined: " + text, "2, -3", said, True
        yield "joined: " + text, "2", said, False
        yield "joined: " + text, "-3", said, False
        yield "joined: " + text, "2, 3", said, False
    for text in CASES:
        said = text.format(a="3", b="8")
        yield "case: " + text, "3", said, False
        yield "case: " + text, "8", said, False
    for text in ONE:
        yield "case: " + text, "12", text.format(a="12"), True
        yield "case: " + text, "5", text.format(a="12"), False
