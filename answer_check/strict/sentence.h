#ifndef ANSWER_CHECK_STRICT_SENTENCE_H
#define ANSWER_CHECK_STRICT_SENTENCE_H

#include "answer_check/read/math_read.h"
#include "answer_check/strict/extract.h"

/* Sentences of prose and the words in them, for answer_check/strict only. Nothing fails; spans point into the
 * text that was given, and questions are answered with 1 or 0. */

/* Returns where the sentence that begins at byte i ends, behind its point or line end: a point, "!" or "?"
 * with white space behind it, one of their full-width forms, or a new line. Formulas count as one word, also
 * when they stand on lines of their own. */
size_t sentence_next(struct span text, size_t i);

/* The sentences of a text one after the other, which is searched for formulas once in all. */
struct sentences {
    struct span text;
    size_t at;              /* the end of the last one */
    struct formula formula; /* the next one, once it was looked for */
    int exhausted[4], has_formula;
};
struct sentences sentences_from(struct span text, size_t i);
/* Moves on to the next sentence and returns where it ends. */
size_t sentences_next(struct sentences *it);

/* Does one of the phrases, separated by "|", stand in the text as whole words? ASCII case is ignored; a "*"
 * at the end of a phrase stands for the rest of a word. Phrases that begin with a byte beyond ASCII match
 * anywhere. The list is a constant: it is indexed once. sentence_begins(): does the text begin with one,
 * behind blanks and marks of Markdown? */
int sentence_says(struct span text, const char *phrases);
int sentence_begins(struct span text, const char *phrases);

int sentence_is_chatter(struct span s); /* a phrase of politeness or an offer, no part of an answer? */
/* Does the sentence reject the values in it, suppose them or doubt them: "2 is extraneous", "suppose x = 2"?
 */
int sentence_is_doubtful(struct span s);
/* Does the sentence only reject or suppose: with a verb such as "discard" or "suppose"? The words of
 * sentence_is_doubtful() that may also belong to an answer in words ("if n is even", "not") are left out. */
int sentence_rejects(struct span s);

/* The text without the pairs of stars and the backquotes that set words off, and sentence_with_joints(); in
 * w's arena. "**" between two operands is a power and stays. */
struct span sentence_plain(struct span s, struct math_work *w);

/* The text with "and" and "or" for the words of other languages that join two values, "2 oder 3"; in w's
 * arena. */
struct span sentence_with_joints(struct span s, struct math_work *w);

/* Does the text give values each of which holds in a case of its own, "2 when a > 1, and 1 when a <= 1", and
 * draw no conclusion from them? */
int sentence_gives_cases(struct span s);

/* What is longer and states no answer is not read as one value. */
enum { UNDECLARED_BYTES = 4096 };

int sentence_is_math_word(struct span word); /* a name of a function or constant, "sqrt" or "pi"? */
/* Finds the first number in words from byte i on, "twenty-one", "a dozen", "negative one", "three quarters".
 * Returns its length and sets *from, which may be NULL; 0 where there is none. "one" alone is none, unless
 * "is" or "exactly" stands before it. */
size_t sentence_number_word(struct span s, size_t i, size_t *from);

/* Finds the clause that presents the sentence's result (clause.c): 1, or 0 where none does. */
int sentence_clause(struct span *out, struct span sentence);

/* Finds the expression that the sentence presents as its result: the last formula, or the last run of plain
 * mathematics, always as a whole. Returns 0 where the words around it change or reject it, where it is a
 * piece of something that cannot be read, or where there is none. *out may live in w's arena. */
int sentence_result(struct span *out, struct span sentence, struct math_work *w);

/* The same for the sentences that a section ends with: those of politeness are passed over, and of the last
 * three the last one with words such as "so" or "total" counts before one without. */
int sentence_last_result(struct span *out, struct span section, struct math_work *w);

/* Does the text draw a conclusion, with words such as "so" or "total"? */
int sentence_concludes(struct span s);

/* The text without the arrow that it begins with: "\Rightarrow x = 2", "=> 2". */
struct span sentence_without_arrow(struct span s);

/* The section without the sentences of politeness that it ends with. */
struct span sentence_without_chatter(struct span section);

/* The text behind the mark and the word that take a value back, where a value follows: "7" of "- no, 7". */
struct span sentence_behind_fixing(struct span s);

/* Returns the bytes of the text before words such as "Wait" or "Actually" in the middle of it. */
size_t sentence_before_second_thought(struct span s);

/* Is the statement of `value` that ends at byte `end` taken back by what follows: "Wait, that's wrong", "No:
 * the answer is 7"? `start` is where it begins: "not 8". Unless the answer is TAKEN_BACK_NOT, *rest is the
 * text from there on and *by the sentence that does it. */
enum taken_back {
    TAKEN_BACK_NOT,
    TAKEN_BACK_BY_ANSWER, /* only if *rest declares another value: "Let me check that." */
    TAKEN_BACK_BY_RESULT, /* only if *rest presents any: "I forgot a case.", "Checking this, it fails." */
    TAKEN_BACK
};
enum taken_back sentence_takes_back(struct span *rest, struct span *by, struct span section, size_t start,
                                    size_t end, struct span value);

#endif
