/* Option parser: one table per command gives parsing, help and "did you mean". Knows nothing of what options
 * mean. */
#include "evalcore/cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int cli_int(const char *text, long min, long max, long *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < min || v > max || text[0] == ' ')
        return ERR_USAGE;
    *out = v;
    return 0;
}

int cli_double(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || text[0] == ' ')
        return ERR_USAGE;
    *out = v;
    return 0;
}

static int same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = b[i] == '_' ? '-' : b[i];
        if (!a[i] || a[i] != c)
            return 0;
    }
    return !a[n];
}

static const struct cli_option *find_long(const struct cli_option *t, const char *name, size_t n)
{
    for (; t && t->name; t++)
        if (same_name(t->name, name, n))
            return t;
    return NULL;
}

static const struct cli_option *find_short(const struct cli_option *t, char c)
{
    for (; t && t->name; t++)
        if (t->short_name == c)
            return t;
    return NULL;
}

static int unknown_option(const struct cli_option *t, const char *arg, struct err *e)
{
    enum { NAMES = 64 };
    const char *names[NAMES + 1] = {"help"};
    char cut[64];
    const char *name = arg + strspn(arg, "-");
    size_t length = strcspn(name, "=");
    for (int n = 1; t && t->name && n < NAMES; t++)
        names[n++] = t->name;
    memcpy(cut, name, length < sizeof cut ? length : sizeof cut - 1);
    cut[length < sizeof cut ? length : sizeof cut - 1] = 0;
    for (char *c = cut; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const char *near = str_nearest(cut, names);
    if (near)
        return err_set(e, ERR_USAGE, "unknown option %s: did you mean --%s?", arg, near);
    return err_set(e, ERR_USAGE, "unknown option %s: --help lists them", arg);
}

/* "--top-p takes a number from 0 to 1, not "7"" */
static int refuse_number(const struct cli_option *o, const char *value, struct err *e)
{
    struct str range = {0};
    if (o->max >= CLI_INT_MAX)
        str_printf(&range, " of at least %.15g", o->min);
    else if (o->min != 0 || o->max != 0)
        str_printf(&range, " from %.15g to %.15g", o->min, o->max);
    const char *zero =
        *value == '-' && o->help ? strstr(o->help, "; 0: ") : NULL; /* -1 is others' word for all */
    if (zero)
        str_printf(&range, " (%s)", zero + 2);
    int rc = err_set(e, ERR_USAGE, "--%s takes a %snumber%s, not \"%s\"", o->name,
                     o->type == CLI_INT ? "whole " : "", str_text(&range), value);
    str_release(&range);
    return rc;
}

static int in_range(const struct cli_option *o, double v)
{
    return (o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max);
}

static int store_value(const struct cli_option *o, void *base, const char *value, struct err *e)
{
    char *at = (char *)base + o->offset;
    long number;
    double real;
    if (o->type != CLI_FLAG && o->type != CLI_TEXT && !*value)
        return err_set(e, ERR_USAGE, "--%s is given an empty value", o->name);
    switch (o->type) {
    case CLI_FLAG:
        *(int *)at = 1;
        return 0;
    case CLI_INT:
        if (cli_int(value, -CLI_INT_MAX, CLI_INT_MAX, &number) || !in_range(o, (double)number))
            return refuse_number(o, value, e);
        *(int *)at = (int)number;
        return 0;
    case CLI_DOUBLE:
        if (cli_double(value, &real) || !in_range(o, real))
            return refuse_number(o, value, e);
        *(double *)at = real;
        return 0;
    case CLI_STRING:
    case CLI_TEXT:
        *(const char **)at = value;
        return 0;
    case CLI_LIST: {
        struct cli_list *list = (struct cli_list *)at;
        if (list->n == (int)(sizeof list->v / sizeof list->v[0]))
            return err_set(e, ERR_USAGE, "--%s may be given at most %d times", o->name, list->n);
        list->v[list->n++] = value;
        return 0;
    }
    }
    return 0;
}

/* One option at argv[*i]; moves *i to its last word. */
static int parse_option(const struct cli_option *t, void *base, int argc, char **argv, int *i, struct err *e)
{
    const char *arg = argv[*i];
    const struct cli_option *o;
    const char *value = NULL;
    if (arg[1] == '-') {
        size_t n = strcspn(arg + 2, "=");
        o = find_long(t, arg + 2, n);
        if (arg[2 + n] == '=')
            value = arg + 3 + n;
    } else {
        o = find_short(t, arg[1]);
        if (o && arg[2] && o->type == CLI_FLAG)
            o = NULL;
        else if (o && arg[2])
            value = arg + 2;
    }
    if (!o)
        return unknown_option(t, arg, e);
    if (o->type == CLI_FLAG) {
        if (value)
            return err_set(e, ERR_USAGE, "--%s takes no value", o->name);
    } else if (!value) {
        if (*i + 1 >= argc)
            return err_set(e, ERR_USAGE, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
        value = argv[++*i];
    }
    return store_value(o, base, value, e);
}

int cli_parse(const struct cli_option *t, void *base, int argc, char **argv, const char **args, int max_args,
              int *n_args, int *want_help, struct err *e)
{
    int only_args = 0;
    *n_args = 0;
    *want_help = 0;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!only_args && !strcmp(arg, "--")) {
            only_args = 1;
        } else if (!only_args && (!strcmp(arg, "-h") || !strcmp(arg, "--help"))) {
            *want_help = 1;
            return 0;
        } else if (!only_args && arg[0] == '-' && arg[1]) {
            int rc = parse_option(t, base, argc, argv, &i, e);
            if (rc)
                return rc;
        } else if (*n_args == max_args) {
            return err_set(e, ERR_USAGE, "unexpected argument \"%s\": see --help", arg);
        } else if (!*arg) {
            return err_set(e, ERR_USAGE, "argument %d is empty", *n_args + 1);
        } else {
            args[(*n_args)++] = arg;
        }
    }
    return 0;
}

void cli_help(const struct cli_option *t, struct str *out)
{
    struct str left = {0};
    for (; t && t->name; t++) {
        str_clear(&left);
        if (t->short_name)
            str_printf(&left, "  -%c, --%s", t->short_name, t->name);
        else
            str_printf(&left, "      --%s", t->name);
        if (t->arg)
            str_printf(&left, " %s", t->arg);
        str_printf(out, "%-32s %s\n", str_text(&left), t->help);
    }
    str_release(&left);
}
