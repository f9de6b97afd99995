/* From records to the numbers of a report.
 *
 * Jobs that failed stay in every denominator: dividing by the survivors would reward a policy for losing its
 * hardest problems. Sums run in problem and sample order, so that the bytes of the tables do not depend on
 * the order in which jobs finished. */
#include "evalcore/report/data/report_data.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_budget.h"
#include "evalcore/report/data/report_match.h"

static enum activity activity_of(const struct cell_stats *s, int has_reads, int exceeded)
{
    if (!s->has_budget)
        return ACTIVITY_FULL;
    if (!has_reads)
        return ACTIVITY_UNKNOWN;
    if (s->kv_density < 1 - 1e-9)
        return ACTIVITY_USED;
    if (s->unknown_budget)
        return ACTIVITY_UNKNOWN;
    return exceeded ? ACTIVITY_INACTIVE : ACTIVITY_UNNEEDED;
}

/* Means over the jobs that did not fail: a failed one has no length, and held nothing. A completion that
 * ended with the prompt's pass has no decode step at whose end held tokens are counted, so its peak of 0 is
 * left out. */
static void add_lengths(struct cell_stats *s, const struct cell *c)
{
    double *v = xmalloc(((size_t)c->n_records + 1) * sizeof *v), peak = 0;
    size_t n = 0, n_peaks = 0;
    for (int i = 0; i < c->n_records; i++) {
        if (c->records[i].finish == FINISHED_ERROR)
            continue;
        v[n++] = c->records[i].tokens;
        peak += c->records[i].kv.peak_tokens;
        n_peaks += c->records[i].kv.peak_tokens != 0;
    }
    s->peak_tokens = n_peaks ? peak / (double)n_peaks : NAN;
    if (n) {
        s->mean_tokens = stat_mean(v, n);
        stat_sort(v, n);
        s->median_tokens = stat_quantile(v, n, 0.5);
        s->p95_tokens = stat_quantile(v, n, 0.95);
    }
    free(v);
}

/* An answer of the prompt's pass alone read nothing: there, too, the policy had no part in it. */
static void add_idle(struct cell_stats *s, const struct cell *c)
{
    enum { FAILED = 1, WHOLE = 2, SPARSE = 4 };
    unsigned char *seen = xcalloc((size_t)c->task->n_problems + 1, 1);
    for (int i = 0; i < c->n_records; i++) {
        const struct record *r = &c->records[i];
        if (r->finish == FINISHED_ERROR)
            seen[r->problem] |= FAILED;
        else
            seen[r->problem] |= r->kv.reads < r->kv.reads_full * (1 - 1e-9) ? SPARSE : WHOLE;
    }
    for (int k = 0; k < c->task->n_problems; k++) {
        s->n_answered += seen[k] != 0;
        s->n_idle += s->has_budget && (seen[k] & WHOLE) && !(seen[k] & SPARSE);
    }
    free(seen);
}

static double sum_ratio(const double *sum, const long *jobs, int n)
{
    double all = 0, count = 0;
    for (int i = 0; i < n; i++) {
        all += sum[i];
        count += (double)jobs[i];
    }
    return all / count;
}

/* A prompt of n tokens has n (n + 1) / 2 pairs of a query and a key that it may see. */
static void add_prefill(struct cell_stats *s, const struct cell *c)
{
    double reads = 0, aux = 0, dense = 0;
    for (int i = 0; i < c->n_records; i++) {
        const struct record *r = &c->records[i];
        if (r->finish == FINISHED_ERROR)
            continue;
        reads += r->kv.prefill_reads > 0 ? r->kv.prefill_reads : NAN;
        aux += r->kv.prefill_aux_reads;
        for (int k = 0; r->options && k < r->options->n; k++)
            dense += r->options->option[k].prompt * (r->options->option[k].prompt + 1.0) / 2;
        dense += r->options ? 0 : r->prompt_tokens * (r->prompt_tokens + 1.0) / 2;
    }
    s->prefill_density = dense > 0 ? reads / dense : NAN;
    s->prefill_aux_density = dense > 0 && isfinite(reads) ? aux / dense : NAN;
}

/* The second metric of options: a failed job scores nothing, as by the first. */
static void add_second(struct cell_stats *s, const struct cell *c, struct arena *a)
{
    size_t n = (size_t)c->task->n_problems;
    const char *names = c->task->option_metrics;
    double *sum;
    s->second = NAN;
    if (!names || !strchr(names, ',') || !c->n_records)
        return;
    s->second_name = strchr(names, ',') + 1;
    sum = arena_alloc(a, (n + 1) * sizeof *sum);
    for (int i = 0; i < c->n_records; i++)
        sum[c->records[i].problem] += isnan(c->records[i].second) ? 0 : c->records[i].second;
    s->second_sum = sum;
    s->second = sum_ratio(sum, s->jobs, (int)n);
    s->second_ci = stat_clustered(sum, s->jobs, n, 1);
}

static void add_cell(struct cell_stats *s, const struct cell *c, struct arena *a)
{
    int n = c->task->n_problems, exceeded = 0;
    double *sum = arena_alloc(a, (size_t)(n + 1) * sizeof *sum);
    long *jobs = arena_alloc(a, (size_t)(n + 1) * sizeof *jobs);
    struct cell_budget budget = report_budget_read(c, a);
    const struct policy_ops *ops = policy_find(c->policy);
    int is_greedy = c->temperature <= 0 && !c->task->is_text && !(ops && policy_draws(ops));
    double reads = 0, full = 0, aux = 0, keys = 0, selected = 0, steps = 0, contexts = 0, prompts = 0,
           limits = 0;
    *s = (struct cell_stats){.cell = c, .sum = sum, .jobs = jobs, .accuracy = NAN, .ci = {0, 1}};
    s->is_bound = ops && policy_is_bound(ops);
    s->mean_tokens = s->median_tokens = s->p95_tokens = s->kv_density = s->aux_density = s->peak_tokens = NAN;
    s->total_density = s->mean_context = s->budget_tokens = s->key_density = s->selected_density = NAN;
    s->unknown_budget = budget.unknown;
    s->has_budget = report_has_budget(&budget, c);
    s->needs_limit = report_budget_needs_limit(&budget);
    for (int i = 0; i < c->n_records; i++) {
        const struct record *r = &c->records[i];
        if (r->likelihood)
            likelihood_merge(&s->likelihood, r->likelihood);
        else
            s->count[r->verdict]++;
        s->n_length += !r->likelihood && r->finish == FINISHED_LENGTH;
        s->n_cut += !r->likelihood && r->finish == FINISHED_LENGTH && r->verdict != VERDICT_CORRECT;
        s->score += r->score;
        if (!is_greedy || !jobs[r->problem]) {
            sum[r->problem] += r->score;
            jobs[r->problem] += !c->task->is_text || r->likelihood;
        }
        reads += r->kv.reads;
        full += r->kv.reads_full;
        aux += r->kv.aux_reads;
        keys += r->kv.key_elements > 0 || r->kv.reads_full <= 0 ? r->kv.key_elements : NAN;
        selected += r->kv.selected > 0 || r->kv.reads_full <= 0 ? r->kv.selected : NAN;
        prompts += r->prompt_tokens;
        limits += run_limit(c, r->problem);
        steps += report_decode_steps(c, r);
        contexts += report_context_sum(c, r);
        exceeded += report_exceeds_budget(&budget, r);
    }
    if (c->n_records && !c->task->is_text) {
        s->accuracy = sum_ratio(sum, jobs, n);
        s->ci = stat_clustered(sum, jobs, (size_t)n, !strcmp(c->task->metric, "accuracy"));
    }
    add_lengths(s, c);
    s->reads_full = full;
    if (full > 0) {
        s->kv_density = reads / full;
        s->aux_density = aux / full;
        s->key_density = keys / full;
        s->selected_density = selected / full;
        s->total_density = s->kv_density + (s->is_bound ? 0 : s->aux_density);
        s->mean_context = steps > 0 ? contexts / steps : NAN;
        struct budget_tokens t =
            report_budget_tokens(&budget, s->mean_context, prompts / c->n_records, limits / c->n_records);
        s->budget_tokens = t.tokens;
        s->budget_beside = t.beside;
    }
    add_prefill(s, c);
    add_second(s, c, a);
    add_idle(s, c);
    s->activity = activity_of(s, full > 0, exceeded);
}

static int find_row(struct report *out, int cell)
{
    const struct cell *c = &out->run->cells[cell];
    for (int i = 0; i < out->n_rows; i++) {
        const struct row *r = &out->rows[i];
        if (!strcmp(r->model, c->model) && !strcmp(r->policy_label, c->policy_label) &&
            !strcmp(r->settings_label, c->settings_label))
            return i;
    }
    out->rows[out->n_rows] = (struct row){c->model, c->policy_label, c->settings_label, cell};
    return out->n_rows++;
}

static int find_column(struct report *out, const struct cell *c)
{
    for (int i = 0; i < out->n_columns; i++)
        if (!strcmp(out->columns[i], c->task->label))
            return i;
    out->columns[out->n_columns] = c->task->label;
    return out->n_columns++;
}

static int find_panel(struct report *out, const struct cell *c)
{
    for (int i = 0; i < out->n_panels; i++) {
        const struct panel *p = &out->panels[i];
        if (!strcmp(p->task->label, c->task->label) && !strcmp(p->model, c->model) &&
            !strcmp(p->settings_label, c->settings_label))
            return i;
    }
    out->panels[out->n_panels] =
        (struct panel){.task = c->task, .model = c->model, .settings_label = c->settings_label};
    return out->n_panels++;
}

static void name_panels(struct report *out, struct arena *a)
{
    int several_models = 0;
    for (int i = 1; i < out->run->n_cells; i++)
        several_models |= strcmp(out->run->cells[i].model, out->run->cells[0].model) != 0;
    for (int i = 0; i < out->n_panels; i++) {
        struct panel *p = &out->panels[i];
        p->title =
            arena_printf(a, "%s%s%s%s%s", p->task->label, several_models ? ", " : "",
                         several_models ? p->model : "", p->settings_label[0] ? ", " : "", p->settings_label);
        p->slug = report_slug(a, p->title);
        for (int k = 0; k < i; k++)
            if (!strcmp(out->panels[k].slug, p->slug))
                p->slug = arena_printf(a, "%s-%d", p->slug, i + 1);
    }
}

void report_compute(struct report *out, const struct run *r, struct arena *a)
{
    size_t n = (size_t)r->n_cells + 1;
    *out = (struct report){.run = r, .arena = a};
    out->cells = arena_alloc(a, n * sizeof *out->cells);
    out->rows = arena_alloc(a, n * sizeof *out->rows);
    out->columns = arena_alloc(a, n * sizeof *out->columns);
    out->panels = arena_alloc(a, n * sizeof *out->panels);
    out->pairs = arena_alloc(a, n * sizeof *out->pairs);
    int *group = arena_alloc(a, n * sizeof *group);
    for (int i = 0; i < r->n_cells; i++) {
        add_cell(&out->cells[i], &r->cells[i], a);
        out->cells[i].row = find_row(out, i);
        out->cells[i].column = r->cells[i].task->is_text ? -1 : find_column(out, &r->cells[i]);
        out->cells[i].panel = find_panel(out, &r->cells[i]);
    }
    name_panels(out, a);
    for (int i = 0; i < r->n_cells; i++) {
        int base = r->cells[i].baseline;
        if (base < 0 || base == i || r->cells[i].task->is_text)
            continue;
        out->pairs[out->n_pairs] = (struct pair){.a = base, .b = i};
        group[out->n_pairs++] = report_cell_family(out, i);
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < out->n_pairs; i++) {
        struct pair *p = &out->pairs[i];
        int base = p->a, cell = p->b;
        match_one(p, &out->cells[base], &out->cells[cell], r->margin / 100, NULL);
        p->a = base;
        p->b = cell;
    }
    report_mark_pairs(out->pairs, out->n_pairs, group, r->margin);
    report_settings(out);
    report_second_pairs(out);
    report_text_pairs(out);
    report_answers(out);
}

void report_second_pairs(struct report *out)
{
    const struct run *r = out->run;
    size_t n = (size_t)r->n_cells + 1;
    int *group = arena_alloc(out->arena, n * sizeof *group);
    out->second_pairs = arena_alloc(out->arena, n * sizeof *out->second_pairs);
    for (int i = 0; i < r->n_cells; i++) {
        int base = r->cells[i].baseline;
        if (base < 0 || base == i || !out->cells[i].second_sum || !out->cells[base].second_sum)
            continue;
        struct cell_stats a = out->cells[base], b = out->cells[i];
        struct pair *p = &out->second_pairs[out->n_second_pairs];
        a.sum = a.second_sum;
        b.sum = b.second_sum;
        match_one(p, &a, &b, r->margin / 100, NULL);
        p->a = base;
        p->b = i;
        group[out->n_second_pairs++] = report_cell_family(out, i);
    }
    report_mark_pairs(out->second_pairs, out->n_second_pairs, group, r->margin);
}

const struct pair *report_second_pair_of(const struct report *r, int cell)
{
    for (int i = 0; i < r->n_second_pairs; i++)
        if (r->second_pairs[i].b == cell)
            return &r->second_pairs[i];
    return NULL;
}

const struct pair *report_pair_of(const struct report *r, int cell)
{
    for (int i = 0; i < r->n_pairs; i++)
        if (r->pairs[i].b == cell)
            return &r->pairs[i];
    return NULL;
}

const char *report_label_without(struct arena *a, const char *label, const char *key)
{
    size_t n = strlen(key);
    if (!n)
        return label;
    for (const char *at = label; (at = strchr(at, ' ')) != NULL; at++) {
        if (strncmp(at + 1, key, n) || at[1 + n] != '=')
            continue;
        const char *rest = strchr(at + 1, ' ');
        return arena_printf(a, "%.*s%s", (int)(at - label), label, rest ? rest : "");
    }
    return label;
}

const char *report_slug(struct arena *a, const char *text)
{
    char *out = arena_strdup(a, text);
    size_t n = 0;
    for (const char *p = text; *p && n < 80; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c < 0x80 && isalnum(c)) || c == '_')
            out[n++] = (char)tolower(c);
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = 0;
    return n ? out : "x";
}

/* ---- How settings and shares are written, the same in tables, figures and comparisons (contract:
 * report_data.h).
 */

const char *report_setting_name(struct arena *a, const char *policy_label, const char *settings_label)
{
    return *settings_label ? arena_printf(a, "%s %s", policy_label, settings_label) : policy_label;
}

const char *report_row_name(const struct report *r, int row)
{
    return report_setting_name(r->arena, r->rows[row].policy_label, r->rows[row].settings_label);
}

static int has_models(const struct run *run)
{
    for (int i = 1; i < run->n_cells; i++)
        if (strcmp(run->cells[i].model, run->cells[0].model) != 0)
            return 1;
    return 0;
}

static const char *last_part(const char *model)
{
    const char *slash = strrchr(model, '/');
    return slash && slash[1] ? slash + 1 : model;
}

static const char *short_model(const struct run *run, const char *model)
{
    const char *name = last_part(model);
    for (int i = 0; i < run->n_cells; i++)
        if (!strcmp(last_part(run->cells[i].model), name) && strcmp(run->cells[i].model, model))
            return model;
    return name;
}

int report_several_models(const struct report *r)
{
    return has_models(r->run);
}

const char *report_model_name(const struct report *r, int row)
{
    return short_model(r->run, r->rows[row].model);
}

const char *report_full_name(const struct report *r, int row)
{
    const char *name = report_row_name(r, row);
    return has_models(r->run) ? arena_printf(r->arena, "%s on %s", name, report_model_name(r, row)) : name;
}

const char *report_cell_name(struct arena *a, const struct run *run, const struct cell *c)
{
    const char *name = report_setting_name(a, c->policy_label, c->settings_label);
    return has_models(run) ? arena_printf(a, "%s on %s", name, short_model(run, c->model)) : name;
}

const char *report_percent(struct arena *a, double mean, struct interval ci)
{
    int digits = ci.high - ci.low < 0.1;
    return arena_printf(a, "%.*f [%.*f-%.*f]", digits, 100 * mean, digits, 100 * ci.low, digits,
                        100 * ci.high);
}
