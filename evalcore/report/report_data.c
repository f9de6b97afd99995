/* From records to the numbers of a report.
 *
 * Jobs that failed stay in every denominator: dividing by the survivors would reward a policy for losing its
 * hardest problems. Sums run in problem and sample order, so that the bytes of the tables do not depend on
 * the order in which jobs finished. */
#include "evalcore/report/report_data.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"

/* An option of the cell's params as a number, or `otherwise`. */
static double report_param(const struct cell *c, const char *key, double otherwise)
{
    json_t *o = NULL, *v;
    double out = otherwise;
    if (json_read_text(&o, c->params, strlen(c->params), "params", NULL) != 0)
        return otherwise;
    v = json_object_get(o, key);
    if (json_is_number(v))
        out = json_number_value(v);
    else if (json_is_boolean(v))
        out = json_is_true(v);
    json_decref(o);
    return out;
}

/* A cell's budget, read from its options once. */
struct budget {
    enum { BUDGET_NONE, BUDGET_PAGES, BUDGET_TOKENS, BUDGET_RATIO, BUDGET_CR, BUDGET_GATES } kind;
    double value, page_tokens, min_tokens, window, longest;
    int adds_prompt; /* the prompt is pinned and does not count */
};

static struct budget read_budget(const struct cell *c)
{
    static const char *const keys[] = {"", "k_pages", "budget_tokens", "ratio", "cr"};
    struct budget b = {.kind = BUDGET_NONE,
                       .value = c->budget_value,
                       .page_tokens = report_param(c, "page_tokens", KV_PAGE_TOKENS),
                       .min_tokens = report_param(c, "min_tokens", 0),
                       .window = report_param(c, "window", 128),
                       .longest = c->max_new_tokens};
    b.adds_prompt = report_param(c, "pin_prefill", 0) > 0 && report_param(c, "pin_counts", 1) <= 0;
    for (int i = BUDGET_PAGES; i <= BUDGET_CR; i++)
        if (!strcmp(c->budget_key, keys[i]))
            b.kind = i;
    if (!strcmp(c->policy, "dms"))
        b.kind = BUDGET_GATES;
    return b;
}

/* The budget in tokens for a step that would read `context` tokens, in a sequence with this prompt. */
static double budget_at(const struct budget *b, double context, double prompt)
{
    switch (b->kind) {
    case BUDGET_PAGES:
        return b->value * b->page_tokens;
    case BUDGET_TOKENS:
        return b->value + (b->adds_prompt ? prompt : 0);
    case BUDGET_RATIO:
        return b->value * context > b->min_tokens ? b->value * context : b->min_tokens;
    case BUDGET_CR:
        return b->value > 0 ? (prompt + b->longest) / b->value : NAN;
    case BUDGET_GATES:
        return b->value > 0 ? context / b->value : NAN;
    default:
        return NAN;
    }
}

/* Did some context of this record exceed what the policy may read? Gates forget only behind their window. */
static int exceeds_budget(const struct budget *b, const struct record *r)
{
    double context = r->prompt_tokens + r->tokens - 1;
    if (r->finish == FINISHED_ERROR)
        return 0;
    if (b->kind == BUDGET_GATES)
        return context > b->window + 1;
    double budget = budget_at(b, context, r->prompt_tokens);
    /* A budget in tokens is rounded up to whole pages by policies that work on pages. */
    return isfinite(budget) && context > budget + (b->kind == BUDGET_PAGES ? 0 : KV_PAGE_TOKENS);
}

static void add_lengths(struct cell_stats *s, const struct cell *c)
{
    double *v = xmalloc((size_t)c->n_records * sizeof *v);
    for (int i = 0; i < c->n_records; i++)
        v[i] = c->records[i].tokens;
    s->mean_tokens = stat_mean(v, (size_t)c->n_records);
    stat_sort(v, (size_t)c->n_records);
    s->median_tokens = stat_quantile(v, (size_t)c->n_records, 0.5);
    s->p95_tokens = stat_quantile(v, (size_t)c->n_records, 0.95);
    free(v);
}

static void add_cell(struct cell_stats *s, const struct cell *c, struct arena *a)
{
    int n = c->task->n_problems, exceeded = 0;
    double *sum = arena_alloc(a, (size_t)(n + 1) * sizeof *sum);
    long *jobs = arena_alloc(a, (size_t)(n + 1) * sizeof *jobs);
    struct budget budget = read_budget(c);
    double reads = 0, full = 0, aux = 0, peak = 0, steps = 0, prompts = 0;
    *s = (struct cell_stats){.cell = c, .sum = sum, .jobs = jobs, .accuracy = NAN, .ci = {0, 1}};
    s->mean_tokens = s->median_tokens = s->p95_tokens = s->kv_density = s->aux_density = s->peak_tokens = NAN;
    s->mean_context = s->budget_tokens = NAN;
    for (int i = 0; i < c->n_records; i++) {
        const struct record *r = &c->records[i];
        s->count[r->verdict]++;
        s->n_length += r->finish == FINISHED_LENGTH;
        s->score += r->score;
        sum[r->problem] += r->score;
        jobs[r->problem]++;
        reads += r->kv.reads;
        full += r->kv.reads_full;
        aux += r->kv.aux_reads;
        peak += r->kv.peak_tokens;
        prompts += r->prompt_tokens;
        /* The first token of a completion comes from the prompt's pass; reading starts with the second. */
        steps += r->tokens > 1 ? r->tokens - 1 : 0;
        exceeded += exceeds_budget(&budget, r);
    }
    if (c->n_records) {
        s->accuracy = s->score / c->n_records;
        s->ci = stat_clustered(sum, jobs, (size_t)n, !strcmp(c->task->metric, "accuracy"));
        s->peak_tokens = peak / c->n_records;
        add_lengths(s, c);
    }
    if (full > 0) {
        s->kv_density = reads / full;
        s->aux_density = aux / full;
        s->mean_context = steps > 0 ? full / steps : NAN;
        s->budget_tokens = budget_at(&budget, s->mean_context, prompts / c->n_records);
    }
    if (!c->budget_key[0])
        s->activity = ACTIVITY_FULL;
    else if (full <= 0)
        s->activity = ACTIVITY_UNKNOWN;
    else if (s->kv_density >= 1 - 1e-9)
        s->activity = exceeded ? ACTIVITY_INACTIVE : ACTIVITY_UNNEEDED;
    else
        s->activity = ACTIVITY_USED;
}

static int find_row(struct report *out, const struct cell *c)
{
    for (int i = 0; i < out->n_rows; i++) {
        const struct row *r = &out->rows[i];
        if (!strcmp(r->model, c->model) && !strcmp(r->policy_label, c->policy_label) &&
            !strcmp(r->settings_label, c->settings_label))
            return i;
    }
    out->rows[out->n_rows] = (struct row){c->model, c->policy_label, c->settings_label};
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
        out->cells[i].row = find_row(out, &r->cells[i]);
        out->cells[i].column = find_column(out, &r->cells[i]);
        out->cells[i].panel = find_panel(out, &r->cells[i]);
    }
    name_panels(out, a);
    for (int i = 0; i < r->n_cells; i++) {
        int base = r->cells[i].baseline;
        if (base < 0 || base == i)
            continue;
        struct pair *p = &out->pairs[out->n_pairs];
        report_compare(p, &out->cells[base], &out->cells[i], NULL);
        p->a = base;
        p->b = i;
        group[out->n_pairs++] = out->cells[i].column;
    }
    report_holm(out->pairs, out->n_pairs, group);
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
