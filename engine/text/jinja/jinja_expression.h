#ifndef ENGINE_TEXT_JINJA_JINJA_EXPRESSION_H
#define ENGINE_TEXT_JINJA_JINJA_EXPRESSION_H

#include "engine/text/jinja/jinja_parts.h"

/* The state of the parser, shared by statements (jinja_parse.c) and expressions (jinja_expression.c). On an
 * error the functions return NULL or 0 and e is set. */
struct jparser {
    const struct jtoken *at;
    struct arena *a;
    const char *what;
    struct err *e;
    int depth, in_loop;
};
struct jnode *jparse_node(struct jparser *x, enum jnode_kind kind);
struct jnode *jparse_fail(struct jparser *x, int code, const char *problem);
int jparse_is_op(const struct jparser *x, const char *op);
int jparse_is_name(const struct jparser *x, const char *name);
int jparse_skip_op(struct jparser *x, const char *op);     /* 1: it stood there and was skipped */
int jparse_skip_name(struct jparser *x, const char *name); /* the same */
int jparse_want_op(struct jparser *x, const char *op);     /* 0 and an error when it is not there */
const char *jparse_want_name(struct jparser *x);           /* any name; skipped */

struct jnode *jparse_expression(struct jparser *x); /* with `a if b else c` */
struct jnode *jparse_simple(struct jparser *x);     /* without: what a loop runs over */
struct jnode *jparse_tuple(struct jparser *x);      /* a, b: a list; one expression alone is itself */
struct jnode *jparse_filters(struct jparser *x, struct jnode *of);
/* The list of `(name, name=default)` of a macro, with N_ARG nodes. */
struct jnode *jparse_parameters(struct jparser *x);

#endif
