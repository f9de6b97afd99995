#ifndef ANSWER_CHECK_COMPAT_COMPAT_H
#define ANSWER_CHECK_COMPAT_COMPAT_H

#include <string.h>

#include "answer_check/answer_check.h"
#include "answer_check/tree/math_tree.h"

/* Inner parts of mode `compat`, which gives the verdicts of Math-Verify 0.8.0 with the versions it pins;
 * the entry is grade_math_compat() in answer_check.h. "The original" means that program's documented and
 * observed behaviour. Everything is written anew, with scanners in place of its regular expressions.
 * Lengths that the original counts in characters are counted in characters here; a malformed byte counts
 * as one. Texts may hold NULs; spans returned point into the text or live in the arena. */

/* ---- characters */
size_t compat_next(struct span t, size_t i);       /* start of the next character */
size_t compat_space(struct span t, size_t i);      /* bytes of the white space character at i, or 0 */
size_t compat_digits(struct span t, size_t i);     /* the first position that is no ASCII digit */
size_t compat_skip_space(struct span t, size_t i); /* the first position that is no white space */
struct span compat_move_str(struct str *s, struct arena *a);      /* a copy in the arena; s is empty again */
struct span compat_trim(struct span s);                           /* without white space at both ends */
int compat_at_folded(struct span t, size_t i, const char *lower); /* ASCII case ignored */
size_t compat_length(struct span t);                              /* in characters */

/* The length of the percent sign or word at i, or 0. Of "percentage" only the first seven letters count. */
size_t compat_percent(struct span t, size_t i);

/* ---- where an answer may stand */
enum { COMPAT_JOINED = 6 }; /* formulas in a row, "$1$ and $2$" */

/* A text with what its scanners remember of it, so that no stretch is scanned again for every start. */
enum { COMPAT_STOPS = 8, COMPAT_WORDS = 1000 };
struct compat_text {
    struct span t;
    long last_brace;           /* last "}", or -1 */
    size_t boxes_end;          /* 1 + where the last "\boxed{" starts, or 0 */
    size_t word[COMPAT_WORDS]; /* the last places of "answer" in any case, from the last to the first */
    int words;
    struct {
        size_t from, stop, brace; /* a search that begins in [from, stop] ends at stop; brace: 1 + the last
                                     "}" in [from, stop) */
        int known;
    } seen[COMPAT_STOPS];
};
struct compat_text compat_text_of(struct span t);

struct compat_formula {
    struct span content;
    int percent; /* a percent sign or word follows */
};

/* One match: a row of formulas, a bare box, a number or plain arithmetic, or one of the strings A to D. */
struct compat_match {
    size_t end;
    int n; /* formulas; 0 for the others */
    struct compat_formula formula[COMPAT_JOINED];
    int bare_box;                 /* formula[0] runs from the first \boxed{ to the last brace */
    struct span integer, decimal; /* a number; decimal holds its point */
    struct span arithmetic;       /* "1/2", "(3+4)*2" */
    int percent;                  /* of the number */
    struct span letter;
};

/* A matcher reads what stands at position i and returns 1 and *out, or 0. */
typedef int compat_matcher(struct compat_text *t, size_t i, struct compat_match *out);
enum compat_start {
    COMPAT_FINAL_HOPE,       /* "final answer is", perhaps a colon; the reader asks for "I hope" */
    COMPAT_FINAL_IS,         /* "final answer", at most 100 characters, "is", perhaps a colon */
    COMPAT_FINAL_IS_ON_LINE, /* the same, on one line */
    COMPAT_ANSWER_COLON,     /* "answer:" */
    COMPAT_ANSWER,           /* "answer"; the starts up to this one begin with words */
    COMPAT_FORMULA,          /* no words: the formula itself */
    COMPAT_BOX,
    COMPAT_BLANK
};
struct compat_pattern {
    compat_matcher *read; /* reads what follows those words */
    int priority;
    enum compat_start start; /* what its matches begin with */
    int in_box;              /* every match holds the start of a box */
};
int compat_pattern_at(const struct compat_pattern *p, struct compat_text *t, size_t i,
                      struct compat_match *out);
/* Does "I hope" follow at *end, with a full stop before it or not? *end moves behind it. */
int compat_skip_hope(struct span t, size_t *end);
enum { COMPAT_PATTERNS = 32 };
/* Write the patterns of each target, in the original's order, and return their number. */
int compat_latex_patterns(struct compat_pattern *out, int boxed_priority);
int compat_expr_patterns(struct compat_pattern *out);
int compat_string_patterns(struct compat_pattern *out);

/* ---- from text to tree */
/* The formula after the original's replacements, in the form in which it is read. */
struct span compat_normalise(struct span formula, int last_box_only, struct arena *a);
struct span compat_strip_units(struct span t);                         /* without the units at its end */
struct span compat_complete_operators(struct span t, struct arena *a); /* \frac12, \sqrt3, ^(..), a/b */

/* ---- the whole way */
struct compat_candidate {
    const struct math_node *tree; /* the first match that could be read, or NULL */
    struct span word; /* the same for the String target: a lower-case letter; empty when there is none */
    struct span text; /* the first match as a string; empty when there is none */
};
void compat_extract(struct compat_candidate *out, struct math_work *w, struct span text,
                    const struct grade_options *o);

#endif
