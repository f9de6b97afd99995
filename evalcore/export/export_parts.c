/* What the formats share (contract: export_parts.h). */
#include "evalcore/export/export_parts.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "evalcore/base/hash.h"

enum { NAME_BYTES = 200 };

static int same_system(const struct cell *a, const struct cell *b)
{
    return !strcmp(a->model, b->model) && !strcmp(a->policy_label, b->policy_label) &&
           !strcmp(a->settings_label, b->settings_label);
}

int export_next_system(const struct run *r, int from)
{
    for (int i = from + 1; i < r->n_cells; i++) {
        int is_first = 1;
        for (int k = 0; k < i && is_first; k++)
            is_first = !same_system(&r->cells[k], &r->cells[i]);
        if (is_first)
            return i;
    }
    return -1;
}

int export_next_cell(const struct run *r, int first, int i)
{
    for (i++; i < r->n_cells; i++)
        if (same_system(&r->cells[first], &r->cells[i]))
            return i;
    return -1;
}

const char *export_system_name(struct export *x, const struct cell *c)
{
    return arena_printf(&x->arena, "%s %s%s%s", c->model, c->policy_label, *c->settings_label ? " " : "",
                        c->settings_label);
}

static char *plain_name(struct export *x, const char *label)
{
    char *name = arena_strdup(&x->arena, label);
    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) || (unsigned char)*p >= 0x80)
            *p = '_';
    return name;
}

const char *export_label(struct export *x, const struct run_task *t)
{
    return t->is_misnamed ? arena_printf(&x->arena, "%s_other_problems", t->label) : t->label;
}

const char *export_task_name(struct export *x, int first, int cell)
{
    const char *name = plain_name(x, export_label(x, x->run->cells[cell].task));
    int same = 0;
    for (int i = first; i >= 0 && i < cell; i = export_next_cell(x->run, first, i))
        same += !strcmp(plain_name(x, export_label(x, x->run->cells[i].task)), name);
    return same ? arena_printf(&x->arena, "%s_%d", name, same + 1) : name;
}

const char *export_file_name(struct export *x, const char *name)
{
    static const char special[] = "\"<>:/|\\?*[]";
    struct str out = {0};
    for (const char *p = name; *p;) {
        size_t n = strspn(p, special);
        str_puts(&out, n ? "__" : "");
        p += n;
        for (; *p && !strchr(special, *p); p++)
            str_putc(&out, (unsigned char)*p < 0x20 || *p == 0x7F ? '_' : *p);
    }
    if (out.len > NAME_BYTES) {
        char hex[17];
        size_t n = NAME_BYTES - 16;
        while (n && ((unsigned char)out.data[n] & 0xC0) == 0x80)
            n--;
        sha256_hex(out.data, out.len, hex, 16);
        out.len = n;
        str_puts(&out, hex);
    }
    const char *kept = arena_strndup(&x->arena, str_text(&out), out.len);
    str_release(&out);
    return kept;
}

int export_samples(const struct cell *c, int i)
{
    int n = 1;
    while (i + n < c->n_records && c->records[i + n].problem == c->records[i].problem)
        n++;
    return n;
}

int export_is_withheld(const struct export *x, const struct cell *c)
{
    return !x->o->with_restricted && run_task_is_restricted(c->task);
}

int export_completion(struct export *x, const struct cell *c, const struct record *rec, struct str *out,
                      struct err *e)
{
    str_clear(out);
    if (!export_is_withheld(x, c))
        return run_text(x->run, rec, out, e);
    x->done->withheld++;
    str_puts(out, RUN_TEXT_WITHHELD);
    return 0;
}

json_t *export_question(const struct run_problem *p)
{
    return p->prompt ? json_text(p->prompt, p->prompt_len) : json_string("");
}

json_t *export_prompt(const struct run_problem *p)
{
    struct str text = {0};
    size_t own[2];
    run_prompt(p, &text, own);
    json_t *o = json_text(str_text(&text), text.len);
    str_release(&text);
    return o;
}

json_t *export_golds(const struct run_problem *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->n_golds; i++)
        json_array_append_new(list, json_text_of(p->golds[i]));
    if (!p->n_golds)
        json_array_append_new(list, json_text_of(p->gold));
    return list;
}

json_t *export_settings(const struct cell *c)
{
    json_t *o = json_loads(c->settings, 0, NULL);
    return o ? o : json_object();
}

json_t *export_params(const struct cell *c)
{
    json_t *o = json_loads(c->params, 0, NULL);
    return o ? o : json_object();
}

json_t *export_stops(const struct cell *c, const struct run_problem *p)
{
    json_t *settings = export_settings(c), *stop = json_object_get(settings, "stop");
    json_t *list = json_is_array(stop) ? json_copy(stop) : json_array();
    if (p && p->own_stop)
        json_array_append_new(list, json_text_of(p->own_stop));
    json_decref(settings);
    return list;
}

/* The run file's limit goes before the problem's own. */
int export_max_new(const struct cell *c, const struct run_problem *p)
{
    json_t *settings = export_settings(c);
    int is_set = json_is_integer(json_object_get(settings, "max_new_tokens"));
    json_decref(settings);
    return p && p->own_max_new > 0 && !is_set ? p->own_max_new : c->max_new_tokens;
}

json_t *export_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

void export_count(struct export_totals *t, const struct cell *c)
{
    double sum = 0, squares = 0;
    *t = (struct export_totals){.mean = NAN, .stderr_ = NAN};
    for (int i = 0, n; i < c->n_records; i += n) {
        double score = 0;
        n = export_samples(c, i);
        for (int k = i; k < i + n; k++) {
            const struct record *rec = &c->records[k];
            if (rec->likelihood)
                likelihood_merge(&t->likelihood, rec->likelihood);
            else
                t->verdict[rec->verdict]++;
            score += rec->score;
            if (rec->finish != FINISHED_ERROR) { /* a failed job ended at some token that says nothing */
                t->n_lengths++;
                t->tokens += rec->tokens;
                t->peak += rec->kv.peak_tokens;
                t->n_peaks += rec->kv.peak_tokens != 0; /* 0: no decode step */
            }
            t->prompt_tokens += rec->prompt_tokens;
            t->reads += rec->kv.reads;
            t->reads_full += rec->kv.reads_full;
            t->aux += rec->kv.aux_reads;
        }
        score /= n;
        sum += score;
        squares += score * score;
        t->problems++;
    }
    double n = t->problems;
    t->mean = n ? sum / n : NAN;
    double variance = n > 1 ? (squares - n * t->mean * t->mean) / (n - 1) : NAN;
    t->stderr_ = n > 1 ? sqrt((variance > 0 ? variance : 0) / n) : NAN;
}

json_t *export_kv(const struct cell *c, const struct export_totals *t)
{
    double n = t->n_lengths ? t->n_lengths : 1, full = t->reads_full;
    json_t *o = json_pack(
        "{s:s, s:s, s:i, s:i, s:f, s:o, s:o, s:o, s:s, s:s}", "cell", c->id, "label", c->label, "jobs",
        c->n_records, "jobs_expected", c->n_expected, "mean_tokens", t->tokens / n, "peak_tokens",
        export_number(t->n_peaks ? t->peak / (double)t->n_peaks : NAN), "kv_density",
        export_number(full <= 0 ? 1.0 : t->reads / full), "aux_density",
        export_number(full <= 0 ? 0.0 : t->aux / full), "budget_rule", c->budget_rule, "policy", c->policy);
    json_object_set_new(o, "params", export_params(c));
    json_object_set_new(o, "problems", c->task->set ? json_text_of(c->task->set) : json_null());
    for (int v = c->task->is_text ? VERDICT_ERROR : 0; v < VERDICT_COUNT; v++)
        json_object_set_new(o, verdict_name((enum verdict)v), json_integer(t->verdict[v]));
    return o;
}

const char *export_first_name(const struct cell *c)
{
    return strncmp(c->task->option_metrics, "acc_norm", strlen("acc_norm")) ? "acc" : "acc_norm";
}

const char *export_second_name(const struct cell *c)
{
    const char *names = c->task->option_metrics;
    return names && strchr(names, ',') ? strchr(names, ',') + 1 : NULL;
}

double export_second(const struct record *rec)
{
    return isnan(rec->second) ? 0 : rec->second;
}

double export_mean_second(const struct cell *c)
{
    double sum = 0;
    for (int i = 0; i < c->n_records; i++)
        sum += export_second(&c->records[i]);
    return c->n_records ? sum / c->n_records : NAN;
}

json_t *export_options(const struct option_scores *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->n; i++)
        json_array_append_new(list, json_real(s->option[i].logprob));
    return list;
}
