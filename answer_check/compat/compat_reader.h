#ifndef ANSWER_CHECK_COMPAT_COMPAT_READER_H
#define ANSWER_CHECK_COMPAT_COMPAT_READER_H

#include "answer_check/compat/compat_read.h"

/* Inner parts of the reader of the original's grammar. Every function reads at r->at and moves it; after
 * NULL the value of r->at means nothing. */

struct compat_reader {
    struct math_work *w;
    const struct compat_lexed *at;
    int depth, bars; /* bars: how many | are open around this place */
    int complex;     /* symbols may be complex; otherwise they are taken for real */
    int failed;      /* something had no meaning; then no other reading is tried */
};
typedef const struct math_node *compat_rule(struct compat_reader *r);

int compat_accept(struct compat_reader *r, enum compat_token kind); /* returns 1 if it stood there */
const struct math_node *compat_node(struct compat_reader *r, enum math_kind kind, int which, int n,
                                    const struct math_node *const *child);

compat_rule compat_expr;
const struct math_node *compat_product(struct compat_reader *r, int no_function);
const struct math_node *compat_component(struct compat_reader *r, int no_function); /* without powers */

/* compat_read_atom.c */
compat_rule compat_atom, compat_atom_symbol; /* a symbol is read with its subscript and its power */
compat_rule compat_braced;                   /* "{..}" */
compat_rule compat_superscript;              /* "^2", "^{..}" */
compat_rule compat_lone_atom; /* an atom that leaves what is raised or lowered behind it: the n of x_n^2 */
const struct math_node *compat_symbol(struct compat_reader *r, const char *name); /* in lower case */
const char *compat_subscript(struct compat_reader *r); /* the text of the subscript */
/* The text from `from` to r->at; NULL when the steps are used up. */
const char *compat_joined_text(struct compat_reader *r, const struct compat_lexed *from);
int compat_is_symbol(const struct compat_lexed *t);

/* compat_read_function.c */
compat_rule compat_applied; /* f(x) */
int compat_is_function(const struct compat_lexed *t);
const struct math_node *compat_function(struct compat_reader *r,
                                        const struct compat_lexed *t); /* r->at stands behind t */

/* compat_read_calculus.c: each reads what stands behind its token */
compat_rule compat_limit, compat_integral;
compat_rule compat_determinant; /* \det and a matrix */
compat_rule compat_derivative;  /* "{dy}{dx}", or "{d}{dx}" and the product that follows */
int compat_is_derivative(const struct compat_lexed *t); /* does "{dy}{dx}" or "{d}{dx}" stand at t? */

/* compat_read_list.c */
compat_rule compat_set_expression;
compat_rule compat_relation_to_list, compat_relation_to_sets, compat_list; /* the three forms of a formula */

#endif
