/* The fields of a run folder's JSON objects (contract: run_fields.h). */
#include "evalcore/store/run_fields.h"

#define RUN(member)     offsetof(struct run, member)
#define TASK(member)    offsetof(struct run_task, member)
#define CELL(member)    offsetof(struct cell, member)
#define PROBLEM(member) offsetof(struct run_problem, member)

const struct run_field run_config_fields[] = {
    {"version", FIELD_TEXT, RUN(version), 0},
    {"model", FIELD_TEXT, RUN(model), 0},
    {"weights", FIELD_TEXT, RUN(weights), 0},
    {"configuration", FIELD_TEXT, RUN(configuration), 0},
    {"numerics", FIELD_TEXT, RUN(numerics), 0},
    {"device", FIELD_TEXT, RUN(device), 0},
    {"baseline", FIELD_TEXT, RUN(baseline), 0},
    {"margin", FIELD_NUMBER, RUN(margin), 0},
    {0},
};

const struct run_field run_task_fields[] = {
    {"name", FIELD_TEXT, TASK(name), 0},
    {"label", FIELD_TEXT, TASK(label), 0},
    {"version", FIELD_TEXT, TASK(version), 0},
    {"metric", FIELD_TEXT, TASK(metric), 0},
    {"kind", FIELD_TEXT, TASK(kind), 1},
    {"option_metrics", FIELD_TEXT, TASK(option_metrics), 1},
    {"source", FIELD_TEXT, TASK(source), 0},
    {"file", FIELD_TEXT, TASK(file), 0},
    {"problems_sha256", FIELD_TEXT, TASK(problems_sha256), 0},
    {"problems", FIELD_COUNT, TASK(n_problems), 0},
    {"original", FIELD_COUNT, TASK(n_original), 0},
    {"tests_file", FIELD_TEXT, TASK(tests_file), 1},
    {"set", FIELD_TEXT, TASK(set), 1},
    {"set_size", FIELD_COUNT, TASK(set_size), 1},
    {"set_first", FIELD_COUNT, TASK(set_first), 1},
    {"misnamed", FIELD_FLAG, TASK(is_misnamed), 1},
    {0},
};

const struct run_field run_cell_fields[] = {
    {"id", FIELD_TEXT, CELL(id), 0},
    {"label", FIELD_TEXT, CELL(label), 0},
    {"policy_label", FIELD_TEXT, CELL(policy_label), 0},
    {"model", FIELD_TEXT, CELL(model), 0},
    {"model_path", FIELD_TEXT, CELL(model_path), 1},
    {"weights", FIELD_TEXT, CELL(weights), 1},
    {"configuration", FIELD_TEXT, CELL(configuration), 1},
    {"policy", FIELD_TEXT, CELL(policy), 0},
    {"preset", FIELD_TEXT, CELL(preset), 0},
    {"k_pages", FIELD_TEXT, CELL(k_pages), 0},
    {"l_pages", FIELD_TEXT, CELL(l_pages), 0},
    {"budget_tokens", FIELD_TEXT, CELL(budget_tokens), 0},
    {"budget_key", FIELD_TEXT, CELL(budget_key), 0},
    {"budget", FIELD_TEXT, CELL(budget), 0},
    {"budget_rule", FIELD_TEXT, CELL(budget_rule), 0},
    {"settings_label", FIELD_TEXT, CELL(settings_label), 0},
    {"identity", FIELD_TEXT, CELL(identity), 0},
    {"samples", FIELD_COUNT, CELL(samples), 0},
    {"max_new_tokens", FIELD_COUNT, CELL(max_new_tokens), 0},
    {"task", FIELD_COUNT, CELL(task_index), 0},
    {"baseline", FIELD_COUNT, CELL(baseline), 0},
    {"temperature", FIELD_NUMBER, CELL(temperature), 0},
    {0},
};

const struct run_field run_problem_fields[] = {
    {"id", FIELD_TEXT, PROBLEM(id), 0},
    {"prompt_sha256", FIELD_TEXT, PROBLEM(prompt_sha256), 0},
    {"prompt_tokens", FIELD_COUNT, PROBLEM(prompt_tokens), 0},
    {"is_rendered", FIELD_FLAG, PROBLEM(is_rendered), 1},
    {"thinking_open", FIELD_FLAG, PROBLEM(thinking_open), 1},
    {"n_options", FIELD_COUNT, PROBLEM(n_options), 1},
    {"max_new_tokens", FIELD_COUNT, PROBLEM(own_max_new), 1},
    {"option_order", FIELD_TEXT, PROBLEM(option_order), 1},
    {"stop", FIELD_TEXT, PROBLEM(own_stop), 1},
    {"subset", FIELD_TEXT, PROBLEM(subset), 1},
    {"tests", FIELD_TEXT, PROBLEM(tests), 1},
    {"metric", FIELD_TEXT, PROBLEM(metric), 1},
    {"first_line", FIELD_COUNT, PROBLEM(first_line), 1},
    {"answer_prefix", FIELD_TEXT, PROBLEM(answer_prefix), 1},
    {0},
};

static json_t *field_json(const struct run_field *f, const void *member)
{
    switch (f->kind) {
    case FIELD_TEXT: {
        const char *s = *(const char *const *)member;
        return s ? json_text_of(s) : NULL;
    }
    case FIELD_COUNT: {
        int n = *(const int *)member;
        return n || !f->is_optional ? json_integer(n) : NULL;
    }
    case FIELD_NUMBER:
        return json_real(*(const double *)member);
    case FIELD_FLAG:
        return json_boolean(*(const int *)member);
    }
    return NULL;
}

json_t *run_fields_json(const struct run_field *fields, const void *base)
{
    json_t *o = json_object();
    for (const struct run_field *f = fields; f->name; f++) {
        json_t *v = field_json(f, (const char *)base + f->offset);
        if (v)
            json_object_set_new(o, f->name, v);
    }
    return o;
}

static int read_count(int *out, const json_t *o, const struct run_field *f, const char *where, struct err *e)
{
    int64_t v = *out;
    int rc = (f->is_optional ? json_opt_int : json_get_int)(o, f->name, &v, where, e);
    if (!rc && (v < -1 || v > 2000000000))
        rc = err_set(e, ERR_FORMAT, "%s: field \"%s\" is out of range", where, f->name);
    if (!rc)
        *out = (int)v;
    return rc;
}

static int read_text(const char **out, const json_t *o, const struct run_field *f, struct arena *a,
                     const char *where, struct err *e)
{
    const char *s = NULL;
    int rc = (f->is_optional ? json_opt_str : json_get_str)(o, f->name, &s, where, e);
    if (!rc && s)
        *out = arena_strdup(a, s);
    return rc;
}

int run_fields_read(const struct run_field *fields, void *base, const json_t *o, struct arena *a,
                    const char *where, struct err *e)
{
    int rc = 0;
    for (const struct run_field *f = fields; f->name && !rc; f++) {
        void *member = (char *)base + f->offset;
        switch (f->kind) {
        case FIELD_TEXT:
            rc = read_text(member, o, f, a, where, e);
            break;
        case FIELD_COUNT:
            rc = read_count(member, o, f, where, e);
            break;
        case FIELD_NUMBER:
            rc = (f->is_optional ? json_opt_double : json_get_double)(o, f->name, member, where, e);
            break;
        case FIELD_FLAG: /* none must be there */
            rc = json_opt_bool(o, f->name, member, where, e);
            break;
        }
    }
    return rc;
}
