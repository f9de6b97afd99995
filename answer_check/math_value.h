#ifndef ANSWER_CHECK_MATH_VALUE_H
#define ANSWER_CHECK_MATH_VALUE_H

#include "answer_check/polynomial.h"
#include "answer_check/response.h"

/* What the math grader compares part by part: a polynomial (numbers included), or a tuple, interval, set or
 * bare list of values. An item that is no polynomial is kept as flattened text. */
struct math_value {
    struct polynomial poly; /* when n_items is 0 */
    struct span text;       /* an item that is only text; s is NULL otherwise */
    int has_text;           /* this or an item below is text */
    int is_percent;         /* poly was followed by a percent sign */
    int n_items;
    struct math_value *items;
    char open, close; /* '(' '[' '{' and their ends; 0 for a bare list */
};

enum { MATH_INPUT_MAX = 4096, MATH_DEPTH_MAX = 100, MATH_ITEMS_MAX = 64 };

/* Reads a span that latex_clean made. thousands: 1,234 is a number (else a list). 0, or -1 when it is not of
 * these forms, or beyond the limits. Values live in w->arena. */
int math_parse(struct math_value *out, struct poly_work *w, struct span cleaned, int thousands);

/* One expression without commas. */
int math_parse_expression(struct math_value *out, struct poly_work *w, struct span cleaned);

/* Sets and bare lists are compared without order, tuples and intervals with it. When one side alone has a
 * percent sign, 25% equals 25 and 1/4. */
int math_value_equal(const struct math_value *a, const struct math_value *b);
void math_value_print(struct str *out, const struct math_value *v);

struct math_match {
    int equal;
    const char *how; /* "exactly" or "as text" */
    const char *gold_form;
    const char *pred_form;
};
/* Compares two answers as they stand in a text. */
void math_compare(struct math_match *out, struct span gold, struct span pred, struct arena *a);

/* Is the whole text one exact value ("42", "x + 1", "3\text{ cm}")? */
int math_is_value(struct span text, struct arena *a);

#endif
