/* Run files: expansion to cells, overrides, and the sentence of every mistake. Cases: runfile.test. */
#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile.h"
#include "tests/cases.h"

static void list_cell(const struct runfile *f, int m, int t, int p, int s, struct str *out)
{
    const struct runfile_model *k = &f->models[m];
    int of = k->baseline_policy == p ? k->baseline_model : -1;
    str_printf(out, "%s%s%s%s | %s", out->len ? "\n" : "", f->has_models ? k->label : "",
               f->has_models ? ": " : "", f->tasks[t].label, f->policies[p].label);
    if (of == m)
        str_puts(out, " (baseline)");
    else if (of >= 0)
        str_printf(out, " (against %s)", f->models[of].label);
    str_printf(out, "%s%s", *f->settings[s].swept ? " | " : "", f->settings[s].swept);
}

/* One line per cell: model (of several) | task label | policy label | settings. */
static void list_cells(const struct runfile *f, struct str *out)
{
    for (int m = 0; m < f->n_models; m++)
        for (int t = 0; t < f->n_tasks; t++)
            for (int p = 0; p < f->n_policies; p++)
                for (int s = 0; s < f->n_settings && runfile_has(f, p, m); s++)
                    list_cell(f, m, t, p, s, out);
}

static void list_effective(const struct runfile *f, struct str *out)
{
    json_t *o = json_object();
    json_object_set_new(o, "model", json_string(f->models[0].path));
    json_object_set_new(o, "settings", settings_json(&f->settings[0].s));
    json_object_set_new(o, "task", param_json(task_params, &f->tasks[0].options));
    json_object_set_new(o, "policy", policy_spec_to_json(&f->policies[0].spec));
    json_canonical(out, o);
    json_decref(o);
}

static void run_case(const struct test_case *c)
{
    struct runfile f;
    struct err e = {0};
    struct cli_list set = {0};
    struct str got = {0};
    char *lines = xstrdup(case_text(c, "set") ? case_text(c, "set") : "");
    for (char *at = lines; *at;) {
        char *end = at + strcspn(at, "\n");
        int last = !*end;
        *end = 0;
        set.v[set.n++] = at;
        at = end + !last;
    }
    const char *run = case_need(c, "run");
    CHECK_INT(file_write_atomic("runs/run.json", run, strlen(run), &e), 0);
    if (case_text(c, "figures"))
        CHECK_INT(file_write_atomic("runs/figures.jsonl", case_text(c, "figures"),
                                    strlen(case_text(c, "figures")), &e),
                  0);
    const struct runfile_options o = {.model = case_text(c, "model"),
                                      .tasks = case_text(c, "tasks"),
                                      .set = &set,
                                      .takes_endpoint = !case_text(c, "elsewhere"),
                                      .takes_models = !case_text(c, "elsewhere")};
    int rc = runfile_load(&f, "runs/run.json", &o, &e);
    if (case_text(c, "error")) {
        CASE_STR(c, "error", rc ? e.text : "(no error)");
        CHECK(rc == ERR_USAGE || rc == ERR_FORMAT);
    } else if (rc) {
        CASE_STR(c, case_text(c, "cells") ? "cells" : "effective", e.text);
    }
    if (!rc && case_text(c, "cells")) {
        list_cells(&f, &got);
        CASE_STR(c, "cells", str_text(&got));
    }
    if (!rc && case_text(c, "published")) {
        str_clear(&got);
        json_canonical(&got, f.published);
        CASE_STR(c, "published", str_text(&got));
    }
    if (!rc && case_text(c, "margin")) {
        str_clear(&got);
        json_number(&got, f.margin);
        CASE_STR(c, "margin", str_text(&got));
    }
    if (!rc && case_text(c, "endpoint")) {
        const struct runfile_endpoint *p = f.endpoint;
        str_clear(&got);
        str_printf(&got, "%s, %s, %s, key %s, context %d, %d at once, %d s, %d s, %d retries from %g s%s%s",
                   p->url, p->name, p->tokenizer, p->api_key_env ? p->api_key_env : "none", p->max_context,
                   p->concurrency, p->timeout, p->stall, p->retries, p->retry_wait,
                   p->stream ? ", stream" : "", p->is_text ? ", text" : "");
        CASE_STR(c, "endpoint", str_text(&got));
    }
    if (!rc && case_text(c, "effective")) {
        str_clear(&got);
        list_effective(&f, &got);
        CASE_STR(c, "effective", str_text(&got));
    }
    if (!rc)
        runfile_release(&f);
    str_release(&got);
    free(lines);
}

int main(int argc, char **argv)
{
    struct cases cases;
    struct test_case c;
    struct err e = {0};
    CHECK_INT(file_mkdirs("runs", &e), 0);
    cases_open(&cases, argc > 1 ? argv[1] : NULL);
    while (cases_next(&cases, &c))
        run_case(&c);
    cases_close(&cases);
    return check_done();
}
