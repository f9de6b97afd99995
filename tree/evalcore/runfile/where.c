/* Recursive descent over the text of a "where" condition, evaluated as it is read (contract:
 * runfile_parts.h). Nothing is stored, so there is no tree to free; depth is bounded because the text comes
 * from a file. */
#include "evalcore/runfile/runfile_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 50, NAME_MAX_LENGTH = 63 };

struct reader {
    const char *text, *at;
    expr_lookup_fn lookup;
    void *context;
    int depth;
    struct err *e;
};

static void skip_blanks(struct reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static int refuse_where(struct reader *r, const char *want)
{
    if (!*r->at)
        return err_set(r->e, ERR_USAGE, "\"%s\" ends where %s was expected", r->text, want);
    return err_set(r->e, ERR_USAGE, "\"%s\" has \"%s\" where %s was expected", r->text, r->at, want);
}

static int accept_char(struct reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return 0;
    r->at++;
    return 1;
}

static int parse_sum(struct reader *r, double *out);

static int parse_name(struct reader *r, double *out)
{
    char word[NAME_MAX_LENGTH + 1];
    size_t n = 0;
    while ((isalnum((unsigned char)r->at[n]) || r->at[n] == '_') && n < NAME_MAX_LENGTH)
        n++;
    memcpy(word, r->at, n);
    word[n] = 0;
    if (!strcmp(word, "and"))
        return refuse_where(r, "a number or a name");
    r->at += n;
    return r->lookup(r->context, word, out, r->e);
}

static int parse_atom(struct reader *r, double *out)
{
    if (++r->depth > DEPTH_MAX)
        return err_set(r->e, ERR_USAGE, "\"%s\" is nested deeper than %d", r->text, DEPTH_MAX);
    int rc = 0;
    if (accept_char(r, '-')) {
        rc = parse_atom(r, out);
        *out = -*out;
    } else if (accept_char(r, '(')) {
        rc = parse_sum(r, out);
        if (!rc && !accept_char(r, ')'))
            rc = refuse_where(r, "\")\"");
    } else if (isalpha((unsigned char)*r->at) || *r->at == '_') {
        rc = parse_name(r, out);
    } else if (isdigit((unsigned char)*r->at) || *r->at == '.') {
        char *end;
        *out = strtod(r->at, &end);
        if (end == r->at)
            rc = refuse_where(r, "a number or a name");
        r->at = end;
    } else {
        rc = refuse_where(r, "a number or a name");
    }
    r->depth--;
    return rc;
}

static int parse_product(struct reader *r, double *out)
{
    int rc = parse_atom(r, out);
    while (!rc) {
        double right = 0;
        int times = accept_char(r, '*');
        if (!times && !accept_char(r, '/'))
            break;
        rc = parse_atom(r, &right);
        if (!rc && !times && right == 0)
            rc = err_set(r->e, ERR_USAGE, "\"%s\" divides by zero", r->text);
        if (!rc)
            *out = times ? *out * right : *out / right;
    }
    return rc;
}

static int parse_sum(struct reader *r, double *out)
{
    int rc = parse_product(r, out);
    while (!rc) {
        double right = 0;
        int plus = accept_char(r, '+');
        if (!plus && !accept_char(r, '-'))
            break;
        rc = parse_product(r, &right);
        if (!rc)
            *out = plus ? *out + right : *out - right;
    }
    return rc;
}

enum relation { REL_NONE, REL_LT, REL_LE, REL_GT, REL_GE, REL_EQ, REL_NE };

static enum relation parse_relation(struct reader *r)
{
    static const struct {
        const char *text;
        enum relation relation;
    } table[] = {{"<=", REL_LE}, {">=", REL_GE}, {"==", REL_EQ},
                 {"!=", REL_NE}, {"<", REL_LT},  {">", REL_GT}};
    skip_blanks(r);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!strncmp(r->at, table[i].text, strlen(table[i].text))) {
            r->at += strlen(table[i].text);
            return table[i].relation;
        }
    return REL_NONE;
}

static int relation_holds(enum relation rel, double a, double b)
{
    switch (rel) {
    case REL_LT:
        return a < b;
    case REL_LE:
        return a <= b;
    case REL_GT:
        return a > b;
    case REL_GE:
        return a >= b;
    case REL_EQ:
        return a == b;
    case REL_NE:
        return a != b;
    case REL_NONE:
        break;
    }
    return 0;
}

static int accept_and(struct reader *r)
{
    skip_blanks(r);
    if (strncmp(r->at, "and", 3) || isalnum((unsigned char)r->at[3]) || r->at[3] == '_')
        return 0;
    r->at += 3;
    return 1;
}

int expr_true(const char *text, expr_lookup_fn lookup, void *context, int *result, struct err *e)
{
    struct reader r = {.text = text, .at = text, .lookup = lookup, .context = context, .e = e};
    int all = 1;
    do {
        double a = 0, b = 0;
        int rc = parse_sum(&r, &a);
        if (rc)
            return rc;
        enum relation rel = parse_relation(&r);
        if (rel == REL_NONE)
            return refuse_where(&r, "a comparison (< <= > >= == !=)");
        rc = parse_sum(&r, &b);
        if (rc)
            return rc;
        all &= relation_holds(rel, a, b);
    } while (accept_and(&r));
    if (*r.at)
        return refuse_where(&r, "\"and\" or the end");
    *result = all;
    return 0;
}
