#ifndef ANSWER_CHECK_COMPAT_COMPAT_H
#define ANSWER_CHECK_COMPAT_COMPAT_H

#include <string.h>

#include "answer_check/answer_check.h"
#include "answer_check/tree/math_tree.h"

/* Inner parts of mode `compat`, which gives the verdicts of Math-Verify 0.8.0 with the versions it pins;
 * the entry is grade_math_compat() in answer_check.h. "The original" means that program's documented and
 * observed behaviour. Everything is written anew, with scanners in place of its regular expressions.
 * Lengths that the original counts in characters are counted in characters here; a malformed byte counts
 * as one. Texts may hold NULs; spans returned point into the text or live in the arena. No function returns
 * an ERR_ code. A question is answered with 1 or 0. */

/* ---- characters (compat_chars.c); positions are in bytes, and may lie at the end unless noted */

size_t compat_next(struct span t, size_t i); /* the start of the character after the one at i < t.n */
size_t compat_space(struct span t,
                    size_t i); /* bytes of the white space character at i; 0 if there is none */
size_t compat_digits(struct span t, size_t i); /* the first position from i on that holds no ASCII digit */
size_t compat_skip_space(struct span t,
                         size_t i);     /* the first position from i on that holds no white space */
struct span compat_trim(struct span s); /* s without white space at both ends */
size_t compat_length(struct span t);    /* the length in characters */
/* Returns a copy of s in the arena, terminated, and releases s. */
struct span compat_move_str(struct str *s, struct arena *a);
/* Do these lower-case words stand at i, in any case of ASCII letters? */
int compat_at_folded(struct span t, size_t i, const char *lower);
/* The length in bytes of the percent sign or word ("percent", "pct") at i, or 0. Only the first seven letters
 * of "percentage" count. */
size_t compat_percent(struct span t, size_t i);

/* ---- where an answer may stand */

enum { COMPAT_JOINED = 6 }; /* most formulas in a row: "$1$ and $2$" */

/* A text, and what its scanners remember of it, so that no part is scanned again for every place where a
 * match may begin. */
enum { COMPAT_STOPS = 8, COMPAT_WORDS = 1000 };
struct compat_text {
    struct span t;
    long last_brace;           /* the last "}", or -1 */
    size_t boxes_end;          /* 1 + where the last "\boxed{" starts, or 0 */
    size_t word[COMPAT_WORDS]; /* the last places of "answer" in any case, from the last to the first */
    int words;
    struct {
        size_t from, stop, brace; /* a search that begins in [from, stop] ends at stop; brace: 1 + the last
                                     "}" in [from, stop) */
        int known;
    } seen[COMPAT_STOPS]; /* by kind of search */
};
/* Prepares a text for its scanners, in one pass; t is borrowed. */
void compat_text_of(struct compat_text *out, struct span t);

struct compat_formula {
    struct span content;
    int percent; /* a percent sign or word follows */
};

/* One match: a row of formulas, a bare box, a number, plain arithmetic, or one of the letters A to D. */
struct compat_match {
    size_t end;
    int n; /* number of formulas; 0 for the other kinds */
    struct compat_formula formula[COMPAT_JOINED];
    int bare_box;                 /* formula[0] runs from the first \boxed{ to the last brace */
    struct span integer, decimal; /* a number; decimal begins with its point */
    struct span arithmetic;       /* "1/2", "(3+4)*2" */
    int percent;                  /* a percent sign or word follows the number */
    struct span letter;
};

/* Reads what stands at position i. Returns 1 and fills *out, which the caller zeroes, or returns 0, after
 * which *out means nothing. */
typedef int compat_matcher(struct compat_text *t, size_t i, struct compat_match *out);
enum compat_start {
    COMPAT_FINAL_HOPE,       /* "final answer is", perhaps a colon; the matcher asks for "I hope" */
    COMPAT_FINAL_IS,         /* "final answer", at most 100 characters, "is", perhaps a colon */
    COMPAT_FINAL_IS_ON_LINE, /* the same, on one line */
    COMPAT_ANSWER_COLON,     /* "answer:" */
    COMPAT_ANSWER,           /* "answer"; the starts up to this one begin with words */
    COMPAT_FORMULA,          /* no words: the formula itself */
    COMPAT_BOX,
    COMPAT_BLANK,
    COMPAT_NUMBER /* a number behind a blank or an equals sign */
};
struct compat_pattern {
    compat_matcher *read; /* reads what follows the words */
    int priority;         /* patterns with a lower number are tried first */
    enum compat_start start;
    int in_box; /* every match holds the start of a box */
};
/* Reads a match of the pattern at i, its words included. Returns and fills *out as its matcher does; 0 also
 * when the words do not stand there. */
int compat_pattern_at(const struct compat_pattern *p, struct compat_text *t, size_t i,
                      struct compat_match *out);
/* Returns 1 and moves *end behind it when "I hope" follows at *end, with or without a full stop before it;
 * else returns 0 and leaves *end. */
int compat_skip_hope(struct span t, size_t *end);
enum { COMPAT_PATTERNS = 32 }; /* capacity for all patterns */
/* Write the patterns of each target to `out`, in the original's order, and return their number, at most 7.
 * boxed_priority < 0 leaves out the patterns of boxes. */
int compat_latex_patterns(struct compat_pattern *out, int boxed_priority);
int compat_expr_patterns(struct compat_pattern *out);
int compat_string_patterns(struct compat_pattern *out);
int compat_may_be_number(char c); /* may a match of COMPAT_NUMBER go on with this byte behind its blank? */

/* ---- from text to tree */

/* A formula in the form in which it is read: the contents of its boxes, after the original's replacements.
 * With last_box_only only the last box and those joined to it count. A formula without a box is its own
 * content; one longer than MATH_TREE_BYTES is only trimmed. */
struct span compat_normalise(struct span formula, int last_box_only, struct arena *a);
struct span compat_strip_units(struct span t); /* t without the units at its end; t if there are none */
/* Completes what may be written without braces: \frac12, \sqrt3, ^(..), a/b. */
struct span compat_complete_operators(struct span t, struct arena *a);

/* ---- the whole way */

struct compat_candidate {
    const struct math_node *tree; /* the first match that could be read, or NULL */
    struct span word;             /* the letter of the first such match, in lower case; empty if it is none */
    struct span text;             /* the first match as a string; empty if there is no match */
};
/* Finds the candidates for the answer of a text, whose last 256 KiB are searched, by the targets of o (latex,
 * expr, string), and always fills *out. Where there is no match, or w has no steps left before one, tree is
 * NULL and both spans are empty. */
void compat_extract(struct compat_candidate *out, struct math_work *w, struct span text,
                    const struct grade_options *o);

#endif
