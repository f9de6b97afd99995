#ifndef ENGINE_TEXT_JINJA_JINJA_EXPRESSION_H
#define ENGINE_TEXT_JINJA_JINJA_EXPRESSION_H

#include "engine/text/jinja/jinja_parts.h"

/* The state of the parser, shared by statements (jinja_parse.c) and expressions (jinja_expression.c). On an
 * error functions that return a pointer return NULL, and e is set: ERR_FORMAT for what is no Jinja,
 * ERR_UNSUPPORTED for what is not supported. Nodes lie in the arena. */
struct jparser {
    const struct jtoken *at;
    struct arena *a;
    const char *what;
    struct err *e;
    int depth, in_loop;
};
/* Returns an empty node of the present line. */
struct jnode *jparse_node(struct jparser *x, enum jnode_kind kind);
/* Sets the error, with the present line, and returns NULL. */
struct jnode *jparse_fail(struct jparser *x, int code, const char *problem);
/* Return 1 if the present token is this operator, or this name; else 0. */
int jparse_is_op(const struct jparser *x, const char *op);
int jparse_is_name(const struct jparser *x, const char *name);
/* The same, and skip it if it is. */
int jparse_skip_op(struct jparser *x, const char *op);
int jparse_skip_name(struct jparser *x, const char *name);
/* Skips this operator and returns 1; if it is not there returns 0 with ERR_FORMAT. */
int jparse_want_op(struct jparser *x, const char *op);
/* Skips a name, whichever it is, and returns it; NULL with ERR_FORMAT if there is none. */
const char *jparse_want_name(struct jparser *x);

/* Parse an expression and return its tree. */

struct jnode *jparse_expression(struct jparser *x); /* with `a if b else c` */
struct jnode *jparse_simple(struct jparser *x);     /* without: what a loop runs over */
struct jnode *jparse_tuple(struct jparser *x);      /* a, b: a list; one expression alone is itself */
/* Parses the filters, tests and calls that follow an expression and returns it with them applied; `of` itself
 * if there are none. */
struct jnode *jparse_filters(struct jparser *x, struct jnode *of);
/* Returns the list of `(name, name=default)` of a macro, with N_ARG nodes. */
struct jnode *jparse_parameters(struct jparser *x);

#endif
