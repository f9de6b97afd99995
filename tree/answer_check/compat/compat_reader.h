#ifndef ANSWER_CHECK_COMPAT_COMPAT_READER_H
#define ANSWER_CHECK_COMPAT_COMPAT_READER_H

#include "answer_check/compat/compat_read.h"

/* Inner parts of the reader of the original's grammar, a recursive descent. Every parse function reads at
 * r->at, moves it behind what it has read, and returns the tree; NULL if nothing can be read or no steps are
 * left, and r->at then means nothing. Nodes and strings live in the arena of w. A question about a token
 * returns 1 or 0 and reads nothing. */

struct compat_reader {
    struct math_work *w;
    const struct compat_lexed *at; /* the next token */
    int depth;                     /* how deep the parse functions are nested */
    int bars;                      /* how many | are open around this place */
    int complex;                   /* symbols may be complex; otherwise they are taken for real */
    int failed;                    /* something had no meaning; then no other reading is tried */
};
typedef const struct math_node *compat_parse(struct compat_reader *r);

/* If the next token is of this kind, moves behind it and returns 1; else returns 0. */
int compat_accept(struct compat_reader *r, enum compat_token kind);
/* A new node with the place of the next token as its source; NULL if a child is NULL or no steps are left. */
const struct math_node *compat_node(struct compat_reader *r, enum math_kind kind, int which, int n,
                                    const struct math_node *const *child);

/* compat_read.c. With no_function no operand but the first may be a function. */
compat_parse compat_expr; /* a sum */
/* A summand; and an operand, without powers. */
const struct math_node *compat_product(struct compat_reader *r, int no_function);
const struct math_node *compat_component(struct compat_reader *r, int no_function);

/* compat_read_atom.c */
compat_parse compat_atom;        /* a number or a symbol */
compat_parse compat_atom_symbol; /* a symbol with its subscript and its power */
compat_parse compat_lone_atom;   /* an atom without subscript and power: the n of x_n^2 */
compat_parse compat_braced;      /* "{..}" */
compat_parse compat_superscript; /* "^2", "^{..}" */
/* A symbol of that name, put in lower case; reads nothing. NULL if no steps are left. */
const struct math_node *compat_symbol(struct compat_reader *r, const char *name);
/* Reads a subscript, "_x", "_{n-1}" or "_{1,2}", and returns its text; NULL as for a parse function. */
const char *compat_subscript(struct compat_reader *r);
/* The text of the tokens from `from` to r->at; NULL if no steps are left. */
const char *compat_joined_text(struct compat_reader *r, const struct compat_lexed *from);
int compat_is_symbol(const struct compat_lexed *t); /* is t a letter or another symbol of one token? */

/* compat_read_function.c */
compat_parse compat_applied; /* f(x) */
int compat_is_function(
    const struct compat_lexed *t); /* does a function, root, sum, limit or integral begin? */
/* Reads the function of token t, for which compat_is_function() holds; r->at stands behind it. */
const struct math_node *compat_function(struct compat_reader *r, const struct compat_lexed *t);

/* compat_read_calculus.c. Each function reads what stands behind its token. */
compat_parse compat_limit, compat_integral;
compat_parse compat_determinant; /* \det and a matrix */
compat_parse compat_derivative;  /* "{dy}{dx}", or "{d}{dx}" and the product that follows */
/* Does "{dy}{dx}" or "{d}{dx}" stand at t? compat_derivative() may only be called where it does. */
int compat_is_derivative(const struct compat_lexed *t);

/* compat_read_list.c */
compat_parse compat_set_expression; /* unions, intersections and differences of sets */
/* The forms of a formula beside an expression of sets: "x = 1, 2", a symbol or a tuple of symbols and a list;
 * the same with an expression of sets on its right, or "x \in" it; and a list without brackets, of which one
 * element stands for itself, and several are a MATH_SET. */
compat_parse compat_relation_to_list, compat_relation_to_sets, compat_list;

#endif
