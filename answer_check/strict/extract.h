#ifndef ANSWER_CHECK_STRICT_EXTRACT_H
#define ANSWER_CHECK_STRICT_EXTRACT_H

#include "answer_check/read/math_read.h"
#include "answer_check/text/response.h"

/* Finds the places where an answer section states an answer. Each function reads the text once, whatever it
 * holds. Spans that are found point into the section. Where a function returns 0, *out means nothing unless
 * noted. A question is answered with 1 or 0. */

struct box {
    size_t start, end; /* the bytes of the whole \boxed{...} in the section */
    struct span content;
};
struct box_list {
    struct box *box;
    size_t n;
};

/* Finds all balanced, non-empty \boxed{..}, \fbox{..} and \framebox{..}, in order of position; where boxes
 * are nested, the outermost. Where there are no boxes: the last <|begin_of_box|>..<|end_of_box|>, or else the
 * last boxed{..} without its backslash; out->n is 0 where there is none of these. The list lives in `a`. */
void extract_boxes(struct box_list *out, struct span section, struct arena *a);
/* Returns the length of the name of a box command ("\boxed", ...) at byte i, or 0 when there is none. */
size_t extract_box_name(struct span section, size_t i);

/* Gives the last boxes of a section (at least a run of them) as the formulas around them make them: the box
 * of "$x = -\boxed{5}$" as "-5", of "$\boxed{16}\pi$" as "16\pi" (box_context.c). A box that takes in the box
 * before it stands for both: "\frac{\boxed{3}}{\boxed{4}}". start and end then hold what was read.
 *
 * Taken in are a sign without an operand before it, factors \pi, \sqrt, \frac, i and e behind the box, powers
 * and "!", and the braces of a fraction, a root or an exponent. Where anything else stands at the box, and
 * outside formulas, the box stays what it is, and so does the label of an option. Returns 1 when any box was
 * changed, else 0; *out, with its texts in w's arena, holds the boxes in either case. */
int extract_box_contexts(struct box_list *out, struct span section, const struct box_list *boxes,
                         struct math_work *w);

enum { DECLARED_MAX = MATH_TREE_BYTES + 1 }; /* bytes of a declaration that are looked at: too many */

/* Does a tag open at byte i in which an answer stands: "<answer>", "[ANSWER]", "<result type=..>"? Sets
 * *content, up to the tag that closes it. Where none does, *is_closed is 0 and the content goes to the end of
 * the text. A tag that is only spoken of, whose content is too long, is none. */
int extract_tag(struct span *content, int *is_closed, struct span section, size_t i);

struct declared {
    const char *rule;  /* "declared", or "tagged" where it stands in tags or behind "####" */
    struct span text;  /* a formula's content, or the sentence without marks around it */
    struct span line;  /* the rest of the line, for an answer that is itself a sentence or holds ". " */
    struct span place; /* the bytes of the section that state it */
    int is_block;      /* the text is all that stands in tags, of several lines */
};
enum declared_status { DECLARED_NONE, DECLARED_FOUND, DECLARED_CUT };

/* Finds what is declared behind "final answer ... is", "answer is" or "answer:", the same in other languages,
 * in <answer> tags and the like, or behind "####" as a value. Among several declarations the last
 * one with a value counts, then the last in words. "final answer", "Answer:" at the start of a sentence and
 * the tags come before a mere "answer is", and behind their colon words are a value. A declaration that opens
 * a box, a brace or a formula and does not close it states nothing; when there is no other, the status is
 * DECLARED_CUT. Only the last 64 declarations, and the last 4096 occurrences of the word, are looked at.
 * Returns DECLARED_FOUND and sets *out, else DECLARED_CUT, or DECLARED_NONE where nothing is declared. */
enum declared_status extract_declared(struct declared *out, struct span section, enum finish finish,
                                      struct math_work *w);

/* A formula from `start` to `end`, and with its marks from `from` to `to`. */
struct formula {
    size_t from, start, end, to;
};
/* Finds the next formula from byte i on. Returns 1, or 0 when there is none. `exhausted` is zeroed before the
 * first call and kept between calls: a kind of mark that once did not close is not tried again. */
int extract_next_formula(struct formula *out, struct span section, size_t i, int exhausted[4]);

/* A formula environment that starts at s: sets *out to its content and returns 1. Returns 0 when none starts
 * here, -1 when none that ends. */
int extract_leading_formula(struct span *out, struct span s);
/* Is it a word that joins values, "and" or "or" in one of several languages? */
int extract_is_joint(struct span word);
/* Where the sentence ends with formulas that the one at the start of s is joined to ("$x = 2$ or $x = 5$"),
 * *out becomes all of them, from s on; else it stays. */
void extract_joined_formulas(struct span *out, struct span s);

/* Finds the content of the last $..$, $$..$$, \(..\) or \[..\]. Returns 1, or 0 when there is no formula.
 * Dollar signs of amounts and marks that end a proof are passed over; formulas at the end of a sentence that
 * only commas, "and" and "or" join ("$x = 2$ or $x = 5$") count as one, with the signs around them. */
int extract_formula(struct span *out, struct span section);
/* The same; *whole is the formula with its marks. */
int extract_formula_in(struct span *out, struct span *whole, struct span section);

/* Finds the content of the formula that holds the bytes from `start` to `end`, in their paragraph. Returns 1,
 * or 0 when there is no such formula or the paragraph begins more than 4096 bytes before `start`. */
int extract_formula_around(struct span *out, struct span section, size_t start, size_t end);

/* Does the dollar sign at `open`, with the next one at `close`, belong to an amount of money? It does where
 * words stand between them ("$5 and got $3"), or a number follows each of them ("$12 + $30"). */
int extract_is_amount(struct span section, size_t open, size_t close);
/* Does the dollar sign at i begin an amount like "$18.90"? With cut_behind it does not where the text ends in
 * the number, since the length limit may have cut off a formula. */
int extract_is_money(struct span section, size_t i, int cut_behind);
int extract_is_end_of_proof(struct span s); /* is it \blacksquare, \square, QED or the like? */
int extract_is_program(struct span s);      /* is there program text in it? */

/* Finds the answer in a table that the section ends with: in the row named "answer", else in the last row's
 * column of that name. *list is that column's cells as a list where the rows are parts (a), (b) and so on,
 * else empty; it lives in a. Returns 1; -1 where the table has neither; 0 where there is no table. */
int extract_table(struct span *out, struct span *list, struct span section, struct arena *a);

/* Finds the last box that is opened and not closed where a formula's end, or the brace that is missing last,
 * shows what it holds: "$\boxed{\frac{1}{2}$". Returns 1, or 0. */
int extract_open_box(struct box *out, struct span section);

/* The text with its doubled backslashes single, where all of its commands have two; a copy in the arena, or
 * the text itself. */
struct span extract_single_backslashes(struct span text, struct arena *a);

/* Finds the last line that is not blank, without marks of Markdown around it; marks that end a proof are no
 * line. Returns 1, or 0 when there is no such line. */
int extract_last_line(struct span *out, struct span section);

#endif
