#ifndef ANSWER_CHECK_COMPAT_COMPAT_READ_H
#define ANSWER_CHECK_COMPAT_COMPAT_READ_H

#include "answer_check/compat/compat.h"
#include "answer_check/scalar/scalar.h"

/* The original's grammar. It has a reader of its own because what the original does NOT read matters as much
 * as what it reads: when a formula fails, the next candidate is tried, which may be a number inside that
 * formula. The trees are those of math_tree.h; some kinds have the original's meaning:
 *
 * - MATH_SET: its FiniteSet, elements as written (compat_equal() drops equal ones).
 * - MATH_RELATION: one relation or a chain of them.
 * - MATH_DIVIDE: which = COMPAT_FRACTION for two integers, which the original holds as one number, as does
 *   MATH_ADD for a mixed number (COMPAT_WHOLE: of integers only).
 * - MATH_SYMBOL: lower case; a trailing COMPAT_COMPLEX where the original did not take it for real.
 * - MATH_OPAQUE: "limit", "limit from below", "integral" and "derivative d/dx", as the
 *   reader of mode strict makes them. */
enum { COMPAT_COMPLEX = 1 };
enum { COMPAT_FRACTION = 1, COMPAT_WHOLE = 2 };
enum { COMPAT_PERCENT = 1 }; /* `which` of the product with 1/100 that stands for a percent sign */

enum compat_token {
    CT_END,
    CT_ADD,
    CT_SUB,
    CT_MUL,
    CT_DIV,
    CT_MOD,
    CT_L_PAREN,
    CT_R_PAREN,
    CT_L_BRACE,
    CT_R_BRACE,
    CT_L_SET, /* \{ */
    CT_R_SET,
    CT_L_CURL, /* \lbrace */
    CT_R_CURL,
    CT_L_BRACKET,
    CT_R_BRACKET,
    CT_L_BRACK,
    CT_R_BRACK,
    CT_L_GROUP,
    CT_R_GROUP,
    CT_L_VISUAL, /* \( */
    CT_R_VISUAL,
    CT_BAR,
    CT_L_VERT,
    CT_R_VERT,
    CT_VERT,
    CT_L_FLOOR,
    CT_R_FLOOR,
    CT_L_CEIL,
    CT_R_CEIL,
    CT_BOXED,
    CT_PHANTOM,
    CT_FUNCTION, /* one argument; value: enum math_function */
    CT_SEVERAL,  /* \gcd, \max: several arguments */
    CT_SQRT,
    CT_LIM,
    CT_TO, /* \to */
    CT_INT,
    CT_PARTIAL,
    CT_SUM,
    CT_PROD,
    CT_FRAC,
    CT_BINOM,
    CT_CHOOSE,
    CT_OPERATORNAME,
    CT_MATRIX, /* \begin{pmatrix} and so on */
    CT_MATRIX_END,
    CT_ARRAY,
    CT_ARRAY_END,
    CT_DETERMINANT, /* \det */
    CT_DET,         /* \begin{vmatrix} */
    CT_DET_END,
    CT_COLUMN,
    CT_ROW,
    CT_UNDERSCORE,
    CT_CARET,
    CT_TRANSPOSE,
    CT_DEGREE,
    CT_SEMICOLON,
    CT_COMMA,
    CT_BANG,
    CT_LETTER,
    CT_E,     /* e */
    CT_BIG_E, /* E */
    CT_GREEK, /* value: index of the name */
    CT_OTHER, /* \ell and the like */
    CT_ACCENT,
    CT_DIFFERENTIAL,
    CT_NUMBER,
    CT_E_NOTATION,
    CT_PERCENT,
    CT_INFINITY,
    CT_IN,
    CT_NOT_IN,
    CT_EQUALS, /* = */
    CT_EQUIV,  /* ==, \equiv */
    CT_APPROX,
    CT_LESS,
    CT_LESS_EQUAL,
    CT_GREATER,
    CT_GREATER_EQUAL,
    CT_UNEQUAL,
    CT_UNION,
    CT_INTERSECTION,
    CT_MINUS_SET,
    CT_PLUS_MINUS,
    CT_SUBSET,
    CT_EMPTY,
    CT_NUMBER_SET, /* value: 'N' ... */
    CT_SKIP,
    CT_UNREADABLE /* a token that makes a formula unreadable */
};

struct compat_lexed {
    enum compat_token kind;
    int value;
    struct span text;
};
/* Returns the tokens of t as an array in the arena, with CT_END last and CT_SKIP left out; NULL if a
 * character begins no token. Their texts point into t. */
struct compat_lexed *compat_lex(struct span t, struct arena *a);
/* The name of the Greek letter of a CT_GREEK token's value, "alpha"; NULL for the value behind the last. */
const char *compat_greek(int value);

/* ---- trees (compat_tree.c). The builders return a new node, and NULL if no steps are left or m is NULL. The
 * questions return 1 or 0; there m is not NULL. */

/* The number that is written in `text`, as "12", ".5" or "1.5E3"; with `percent` a hundredth of it. */
const struct math_node *compat_number_node(struct math_work *w, struct span text, int percent);
/* m % as m times 1/100; m is not NULL here. */
const struct math_node *compat_percentage(struct math_work *w, const struct math_node *m);
/* -m; the number itself for the negation of a number. */
const struct math_node *compat_negated(struct math_work *w, const struct math_node *m);

int compat_is_integer(const struct math_node *m);   /* written without a point, with or without a sign */
int compat_is_rational(const struct math_node *m);  /* an integer or a fraction of integers, as one number */
int compat_is_positive(const struct math_node *m);  /* an integer or fraction above 0 */
int compat_is_number(const struct math_node *m);    /* a rational or a decimal */
int compat_only_symbols(const struct math_node *m); /* symbols and what is made of them, without numbers */

/* ---- reading */

/* Reads a normalised formula as the original does: the whole text, or else what stands behind the last of
 * several equals signs. Returns the tree, which points into t, or NULL if neither can be read or no steps
 * are left. */
const struct math_node *compat_read(struct math_work *w, struct span t);
/* Reads plain arithmetic by the rules of a programming language: "(3+4)/2", "2^3". Returns the tree of the
 * whole text, or NULL if it cannot be read as a whole or no steps are left. */
const struct math_node *compat_arithmetic(struct math_work *w, struct span t);

#endif
