/* What was run in every detail: budget rules, tasks, the resolved run file. */
#include "evalcore/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

/* {"a":1,"b":[2,5],"name":"delta"} as "a=1, b=[2,5]", which a page can wrap. */
static const char *options_text(struct arena *a, const struct cell *c)
{
    json_t *options = json_loads(c->params, 0, NULL), *value;
    const char *key, *out = "";
    json_object_foreach(options, key, value)
    {
        if (!strcmp(key, "name"))
            continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
        out = arena_printf(a, "%s%s%s=%s", out, *out ? ", " : "", key, text ? text : "?");
        free(text);
    }
    json_decref(options);
    return out;
}

/* Which layers a model has given to its policies, each choice once. */
static void add_taken(struct doc *d, const json_t *config)
{
    json_t *cells = json_object_get(config, "cells"), *told = json_object(), *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        const char *policy = json_string_value(json_object_get(cell, "policy"));
        const char *taken = json_string_value(json_object_get(cell, "taken"));
        if (!policy || !taken)
            continue;
        const char *line = arena_printf(d->arena, "%s: %s.", policy, taken);
        if (!json_object_get(told, line))
            doc_paragraph(d, "%s", line);
        json_object_set_new(told, line, json_true());
    }
    json_decref(told);
}

int report_task_is_told(const struct run *run, int i)
{
    const struct run_task *t = &run->tasks[i];
    for (int k = 0; k < i; k++) {
        const struct run_task *o = &run->tasks[k];
        if (!strcmp(o->label, t->label) && !strcmp(o->name, t->name) && !strcmp(o->source, t->source) &&
            o->n_problems == t->n_problems)
            return 1;
    }
    return 0;
}

void report_add_config(struct doc *d, const struct report *r)
{
    const struct run *run = r->run;
    struct table *t = doc_table(d, "Budget rules, as the policies applied them.");
    static const struct table_column policy_columns[] = {
        {"policy", 0}, {"preset", 0}, {"budget rule", 0}, {"options", 0}};
    table_columns(d, t, policy_columns, sizeof policy_columns / sizeof *policy_columns);
    for (int row = 0; row < r->n_rows; row++) {
        for (int i = 0; i < run->n_cells; i++) {
            const struct cell *c = &run->cells[i];
            if (r->cells[i].row != row)
                continue;
            table_row(d, t);
            table_add(d, t, 0, "%s", report_full_name(r, row));
            table_add(d, t, 0, "%s", c->preset);
            table_add(d, t, 0, "%s", c->budget_rule);
            table_add(d, t, CELL_MUTED, "%s", options_text(d->arena, c));
            break;
        }
    }
    add_taken(d, run->config);
    t = doc_table(d, "Tasks.");
    static const struct table_column task_columns[] = {{"task", 0},
                                                       {"name", 0},
                                                       {"version", 0},
                                                       {"metric", 0},
                                                       {"problems", CELL_NUMBER},
                                                       {"SHA-256 of the problems", 0}};
    table_columns(d, t, task_columns, sizeof task_columns / sizeof *task_columns);
    for (int i = 0; i < run->n_tasks; i++) {
        const struct run_task *k = &run->tasks[i];
        if (report_task_is_told(run, i))
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", k->label);
        table_add(d, t, 0, "%s", k->name);
        table_add(d, t, 0, "%s", report_or_unknown(k->version));
        table_add(d, t, 0, "%s", report_or_unknown(k->metric));
        table_add(d, t, 0, "%d", k->n_problems);
        table_add(d, t, CELL_MUTED, "%s", report_short_hash(d->arena, k->source));
    }
    doc_paragraph(d,
                  "Weights %s. Intervals of single answers are Wilson's; with several samples they are "
                  "clustered by problem.",
                  report_or_unknown(run->weights));
    struct str text = {0};
    json_t *config = json_copy(run->config); /* the figures have a section of their own */
    if (config)
        json_object_del(config, "published");
    char *json = config ? json_dumps(config, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(config);
    if (json) {
        str_puts(&text, json);
        free(json);
        doc_literal(d, "config.resolved.json", &text);
    }
    str_release(&text);
}
