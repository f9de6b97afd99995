/* The C interface: versions, errors, and options by name (contract: answer_check_c.h). */
#include "answer_check/capi/capi_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)AC_USAGE == ERR_USAGE && (int)AC_IO == ERR_IO && (int)AC_FORMAT == ERR_FORMAT &&
                   (int)AC_UNSUPPORTED == ERR_UNSUPPORTED,
               "results are the codes of errors");

#define AT(member) offsetof(struct ac_options, member)

static const struct param response_params[] = {
    {"thinking", PARAM_ENUM, AT(thinking), "auto", 0, 0, thinking_names, NULL},
    {"finish", PARAM_ENUM, AT(finish), "stop", 0, 0, finish_names, NULL},
    {NULL, PARAM_INT, 0, NULL, 0, 0, NULL, NULL},
};
static const struct param choice_params[] = {
    {"n_options", PARAM_INT, AT(n_options), "4", 2, 26, NULL, NULL},
    {NULL, PARAM_INT, 0, NULL, 0, 0, NULL, NULL},
};

void capi_defaults(struct ac_options *o, enum ac_call call)
{
    *o = (struct ac_options){.call = call, .grade = grade_options_default, .n_options = 4, .preset = -1};
}

int ac_interface(void)
{
    return ANSWER_CHECK_C_VERSION;
}

const char *ac_version(void)
{
    return answer_check_version();
}

int capi_fail(const struct err *e, char *error, size_t error_size)
{
    if (error && error_size)
        snprintf(error, error_size, "%s", e->text);
    return e->code;
}

struct ac_options *ac_options_new(enum ac_call call)
{
    if (call != AC_GRADE && call != AC_CHOICE)
        return NULL;
    struct ac_options *o = xmalloc(sizeof *o);
    capi_defaults(o, call);
    return o;
}

void ac_options_free(struct ac_options *o)
{
    free(o);
}

/* "latex+expr" */
static int set_match_types(struct grade_options *o, const char *value, struct err *e)
{
    struct grade_options to = *o;
    to.latex = to.expr = to.string = 0;
    for (const char *at = value;; at++) {
        char name[16];
        size_t n = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, at);
        if (grade_match_type(&to, name))
            return err_set(e, ERR_USAGE,
                           "match_types must be some of latex, expr and string, joined by +, not \"%.60s\"",
                           value);
        at += n;
        if (!*at)
            break;
    }
    *o = to;
    return 0;
}

static int set_preset(struct ac_options *o, const char *value, struct err *e)
{
    struct str names = {0};
    int found = strcmp(value, "strict") ? -2 : -1, rc = 0;
    str_puts(&names, "strict");
    for (int i = 0; choice_preset_name(i); i++) {
        str_printf(&names, ", %s", choice_preset_name(i));
        if (!strcmp(value, choice_preset_name(i)))
            found = i;
    }
    if (found == -2)
        rc = err_set(e, ERR_USAGE, "preset must be one of %s, not \"%.60s\"", str_text(&names), value);
    else
        o->preset = found;
    str_release(&names);
    return rc;
}

/* The tables of a call, each with the struct that its offsets count from. */
struct group {
    const struct param *table;
    void *base;
};

static int groups_of(struct ac_options *o, struct group g[3])
{
    int n = 0;
    g[n++] = (struct group){response_params, o};
    if (o->call == AC_CHOICE) {
        g[n++] = (struct group){choice_params, o};
    } else {
        g[n++] = (struct group){grade_rule_params, &o->grade.rules};
        g[n++] = (struct group){grade_option_params, &o->grade};
    }
    return n;
}

static int refuse_name(struct ac_options *o, const char *name, struct err *e)
{
    const char *names[32] = {o->call == AC_CHOICE ? "preset" : "match_types"}, *near;
    struct group g[3];
    struct str all = {0};
    int n = 1;
    for (int i = 0, n_groups = groups_of(o, g); i < n_groups; i++)
        for (const struct param *p = g[i].table; p->name && n < 31; p++)
            names[n++] = p->name;
    near = str_nearest(name, names);
    for (int i = 0; i < n; i++)
        str_printf(&all, "%s%s", i ? ", " : "", names[i]);
    int rc = near ? err_set(e, ERR_USAGE, "unknown option \"%.60s\"; did you mean \"%s\"?", name, near)
                  : err_set(e, ERR_USAGE, "unknown option \"%.60s\"; there are %s", name, str_text(&all));
    str_release(&all);
    return rc;
}

static int set_option(struct ac_options *o, const char *name, const char *value, struct err *e)
{
    struct group g[3];
    const char *call = o->call == AC_CHOICE ? "choice" : "grade";
    for (int i = 0, n = groups_of(o, g); i < n; i++)
        if (param_find(g[i].table, name))
            return param_set_text(g[i].table, g[i].base, NULL, name, value, call, e);
    if (o->call == AC_GRADE && !strcmp(name, "match_types"))
        return set_match_types(&o->grade, value, e);
    if (o->call == AC_CHOICE && !strcmp(name, "preset"))
        return set_preset(o, value, e);
    return refuse_name(o, name, e);
}

int ac_options_set(struct ac_options *o, const char *name, const char *value, char *error, size_t error_size)
{
    struct err e = {0};
    if (!o || !name || !value)
        err_set(&e, ERR_USAGE, "options, a name and a value are needed, and one of them is NULL");
    else
        set_option(o, name, value, &e);
    return e.code ? capi_fail(&e, error, error_size) : AC_OK;
}
