/* The CSV files: tidy tables, one row per cell, pair or completion, in run-file order. */
#include "evalcore/report/data/report_longbench.h"
#include "evalcore/report/data/report_ruler.h"
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct csv {
    struct str *out;
    int column;
};

static void comma(struct csv *c)
{
    if (c->column++)
        str_putc(c->out, ',');
}

static void csv_text(struct csv *c, const char *s)
{
    comma(c);
    if (!s)
        return;
    if (!strpbrk(s, ",\"\r\n")) {
        str_add_utf8(c->out, s, strlen(s));
        return;
    }
    struct str clean = {0};
    str_add_utf8(&clean, s, strlen(s));
    str_putc(c->out, '"');
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '"')
            str_putc(c->out, '"');
        str_putc(c->out, clean.data[i]);
    }
    str_putc(c->out, '"');
    str_release(&clean);
}

static void csv_int(struct csv *c, long v)
{
    comma(c);
    str_printf(c->out, "%ld", v);
}

/* Counts of verdicts: a text has none. */
static void csv_verdicts(struct csv *c, const struct cell_stats *s, enum verdict v)
{
    if (s->cell->task->is_text)
        csv_text(c, NULL);
    else
        csv_int(c, s->count[v]);
}

static void csv_number(struct csv *c, double v)
{
    comma(c);
    if (!isfinite(v))
        return;
    char text[400];
    int n = snprintf(text, sizeof text, "%.6f", fabs(v) < 5e-7 ? 0.0 : v);
    while (n > 0 && text[n - 1] == '0')
        n--;
    if (n > 0 && text[n - 1] == '.')
        n--;
    str_add(c->out, text, (size_t)n);
}

static void csv_p(struct csv *c, double p)
{
    comma(c);
    if (isfinite(p))
        str_printf(c->out, "%.6g", p);
}

static void csv_end(struct csv *c)
{
    str_putc(c->out, '\n');
    c->column = 0;
}

static void csv_budget(struct csv *c, const struct cell *cell)
{
    csv_text(c, cell->k_pages);
    csv_text(c, cell->l_pages);
    csv_text(c, cell->budget_tokens);
}

static void csv_likelihood(struct csv *c, const struct likelihood *l)
{
    struct likelihood_figures f = report_likelihood_figures(l);
    csv_number(c, f.bits_per_byte);
    csv_number(c, f.kl);
    csv_number(c, f.top1);
}

static const char *activity_name(enum activity a)
{
    static const char *const names[] = {"", "active", "budget not reached", "policy inactive", ""};
    return names[a];
}

void report_accuracy_csv(struct str *out, const struct report *r)
{
    str_puts(out, "cell,label,model,policy,preset,params,k_pages,l_pages,budget_tokens,task,problems,jobs,"
                  "correct,accuracy,"
                  "ci_low,ci_high,mean_tokens,truncated,unparsed,unfinished,errors,kv_density,peak_tokens,"
                  "wrong,ambiguous,"
                  "length_limit,median_tokens,p95_tokens,aux_density,samples,expected_jobs,activity,settings,"
                  "budget_rule,bits_per_byte,kl,top1\n");
    struct csv c = {out, 0};
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        const struct cell *cell = s->cell;
        csv_text(&c, cell->id);
        csv_text(&c, cell->label);
        csv_text(&c, cell->model);
        csv_text(&c, cell->policy);
        csv_text(&c, cell->preset);
        csv_text(&c, cell->params);
        csv_budget(&c, cell);
        csv_text(&c, cell->task->name);
        csv_int(&c, cell->task->n_problems);
        csv_int(&c, cell->n_records);
        csv_verdicts(&c, s, VERDICT_CORRECT);
        csv_number(&c, s->accuracy);
        csv_number(&c, isfinite(s->accuracy) ? s->ci.low : NAN);
        csv_number(&c, isfinite(s->accuracy) ? s->ci.high : NAN);
        csv_number(&c, s->mean_tokens);
        csv_verdicts(&c, s, VERDICT_TRUNCATED);
        csv_verdicts(&c, s, VERDICT_UNPARSED);
        csv_verdicts(&c, s, VERDICT_UNFINISHED);
        csv_int(&c, s->count[VERDICT_ERROR]);
        csv_number(&c, s->kv_density);
        csv_number(&c, s->peak_tokens);
        csv_verdicts(&c, s, VERDICT_WRONG);
        csv_verdicts(&c, s, VERDICT_AMBIGUOUS);
        csv_int(&c, s->n_length);
        csv_number(&c, s->median_tokens);
        csv_number(&c, s->p95_tokens);
        csv_number(&c, s->aux_density);
        csv_int(&c, cell->samples);
        csv_int(&c, cell->n_expected);
        csv_text(&c, activity_name(s->activity));
        csv_text(&c, cell->settings);
        csv_text(&c, cell->budget_rule);
        csv_likelihood(&c, &s->likelihood);
        csv_end(&c);
    }
}

static void csv_pair(struct csv *c, const struct pair *p)
{
    csv_int(c, p->problems);
    csv_int(c, p->both);
    csv_int(c, p->only_a);
    csv_int(c, p->only_b);
    csv_int(c, p->neither);
    csv_number(c, p->accuracy_a);
    csv_number(c, p->accuracy_b);
    csv_number(c, p->delta);
    csv_number(c, p->problems ? p->ci.low : NAN);
    csv_number(c, p->problems ? p->ci.high : NAN);
    csv_p(c, p->p);
    csv_p(c, p->holm);
    csv_text(c, p->test);
}

void report_pairs_csv(struct str *out, const struct report *r)
{
    str_puts(out, "cell,label,policy,k_pages,l_pages,budget_tokens,task,baseline,baseline_label,problems,"
                  "both,only_baseline,"
                  "only_cell,neither,baseline_accuracy,accuracy,delta,ci_low,ci_high,p,p_holm,test\n");
    struct csv c = {out, 0};
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pair *p = &r->pairs[i];
        const struct cell *cell = r->cells[p->b].cell, *base = r->cells[p->a].cell;
        csv_text(&c, cell->id);
        csv_text(&c, cell->label);
        csv_text(&c, cell->policy);
        csv_budget(&c, cell);
        csv_text(&c, cell->task->name);
        csv_text(&c, base->id);
        csv_text(&c, base->label);
        csv_pair(&c, p);
        csv_end(&c);
    }
}

/* A row for each bucket of positions, and one for all together, whose first_position is empty. */
static void likelihood_row(struct csv *c, const struct report *r, int i, const struct likelihood *l)
{
    const struct cell *cell = r->cells[i].cell;
    const struct pair *p = report_text_pair_of(r, i);
    struct likelihood_bucket sum = likelihood_total(l);
    int is_bucket = l != &r->cells[i].likelihood;
    csv_text(c, cell->id);
    csv_text(c, cell->label);
    csv_text(c, cell->policy);
    csv_budget(c, cell);
    csv_text(c, cell->task->name);
    csv_number(c, is_bucket ? l->bucket[0].first : NAN);
    csv_int(c, sum.tokens);
    csv_int(c, (long)sum.bytes);
    csv_likelihood(c, l);
    csv_text(c, p && !is_bucket ? r->cells[p->a].cell->id : NULL);
    csv_number(c, p && !is_bucket ? p->problems : NAN);
    csv_number(c, p && !is_bucket ? p->delta : NAN);
    csv_number(c, p && !is_bucket ? p->ci.low : NAN);
    csv_number(c, p && !is_bucket ? p->ci.high : NAN);
    csv_p(c, p && !is_bucket ? p->p : NAN);
    csv_p(c, p && !is_bucket ? p->holm : NAN);
    csv_end(c);
}

void report_likelihood_csv(struct str *out, const struct report *r)
{
    str_puts(out, "cell,label,policy,k_pages,l_pages,budget_tokens,task,first_position,tokens,bytes,"
                  "bits_per_byte,kl,top1,baseline,windows,delta,ci_low,ci_high,p,p_holm\n");
    struct csv c = {out, 0};
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct likelihood *l = &r->cells[i].likelihood;
        if (!r->run->cells[i].task->is_text)
            continue;
        likelihood_row(&c, r, i, l);
        for (int k = 0; k < l->n; k++) {
            struct likelihood one = {.n = 1};
            one.bucket[0] = l->bucket[k];
            likelihood_row(&c, r, i, &one);
        }
    }
}

void report_lengths_csv(struct str *out, const struct report *r)
{
    static const struct likelihood none;
    str_puts(out, "cell,label,policy,k_pages,l_pages,budget_tokens,task,problem,sample,tokens,finish,correct,"
                  "verdict,score,"
                  "prompt_tokens,kv_reads,kv_reads_full,peak_tokens,bits_per_byte,kl,top1\n");
    struct csv c = {out, 0};
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *cell = r->cells[i].cell;
        for (int k = 0; k < cell->n_records; k++) {
            const struct record *rec = &cell->records[k];
            csv_text(&c, cell->id);
            csv_text(&c, cell->label);
            csv_text(&c, cell->policy);
            csv_budget(&c, cell);
            csv_text(&c, cell->task->name);
            csv_text(&c, cell->task->problems[rec->problem].id);
            csv_int(&c, rec->sample);
            csv_int(&c, rec->tokens);
            csv_text(&c, finish_name(rec->finish));
            csv_number(&c, rec->likelihood ? NAN : rec->verdict == VERDICT_CORRECT);
            csv_text(&c, rec->likelihood ? NULL : verdict_name(rec->verdict));
            csv_number(&c, rec->likelihood ? NAN : rec->score);
            csv_int(&c, rec->prompt_tokens);
            csv_number(&c, rec->kv.reads);
            csv_number(&c, rec->kv.reads_full);
            csv_number(&c, rec->kv.peak_tokens);
            csv_likelihood(&c, rec->likelihood ? rec->likelihood : &none);
            csv_end(&c);
        }
    }
}

void report_against_csv(struct str *out, const struct report *r)
{
    str_puts(out,
             "cell,label,policy,k_pages,l_pages,budget_tokens,task,old_cell,problems,both,only_old,only_new,"
             "neither,"
             "old_accuracy,new_accuracy,delta,ci_low,ci_high,p,p_holm,test,dropped_problems,old_mean_tokens,"
             "new_mean_tokens,length_ratio,length_p,differs\n");
    struct csv c = {out, 0};
    for (int i = 0; i < r->n_against; i++) {
        const struct against *x = &r->against[i];
        const struct cell *cell = r->cells[x->pair.b].cell;
        csv_text(&c, cell->id);
        csv_text(&c, cell->label);
        csv_text(&c, cell->policy);
        csv_budget(&c, cell);
        csv_text(&c, cell->task->name);
        csv_text(&c, r->old->cells[x->pair.a].cell->id);
        csv_pair(&c, &x->pair);
        csv_int(&c, x->dropped);
        csv_number(&c, x->tokens_a);
        csv_number(&c, x->tokens_b);
        csv_number(&c, x->length_ratio);
        csv_p(&c, x->length_p);
        csv_text(&c, x->differs);
        csv_end(&c);
    }
}

void report_published_csv(struct str *out, const struct report *r)
{
    str_puts(out, "cell,label,model,policy,task,paper,where,paper_task,metric,word,published,published_low,"
                  "published_high,published_problems,published_samples,data_sets,measured,ci_low,ci_high,"
                  "is_inside,p_problems,p_answers,told_from_low,told_from_high,differs,verdict\n");
    struct csv c = {out, 0};
    for (int i = 0; i < r->n_published; i++) {
        const struct published *x = &r->published[i];
        const struct cell *cell = r->cells[x->cell].cell;
        int is_known = isfinite(x->p), is_run = isfinite(x->measured);
        double n = (double)x->n_ours;
        csv_text(&c, cell->id);
        csv_text(&c, cell->label);
        csv_text(&c, cell->model);
        csv_text(&c, cell->policy);
        csv_text(&c, cell->task->name);
        csv_text(&c, x->paper);
        csv_text(&c, x->where);
        csv_text(&c, x->task);
        csv_text(&c, x->metric);
        csv_text(&c, x->word);
        csv_number(&c, x->value);
        csv_number(&c, x->theirs_ci.low);
        csv_number(&c, x->theirs_ci.high);
        csv_number(&c, x->problems > 0 ? x->problems : NAN);
        csv_number(&c, x->problems > 0 ? x->samples : NAN);
        csv_int(&c, x->n_cells);
        csv_number(&c, x->measured);
        csv_number(&c, x->ci.low);
        csv_number(&c, x->ci.high);
        csv_number(&c, is_run && !x->is_bound ? x->value >= x->ci.low && x->value <= x->ci.high : NAN);
        csv_p(&c, x->p);
        csv_p(&c, x->p_answers);
        csv_number(&c, is_known && x->reach.low >= 0 ? (double)x->reach.low / n : NAN);
        csv_number(&c, is_known && x->reach.high <= x->n_ours ? (double)x->reach.high / n : NAN);
        csv_text(&c, report_published_differs(r, x));
        csv_text(&c, report_published_verdict(r, x));
        csv_end(&c);
    }
}

/* One row per policy setting and class; the last of six is the average. */
void report_longbench_csv(struct str *out, const struct report *r)
{
    str_puts(out, "model,policy,settings,class,data_sets,data_sets_expected,score,ci_low,ci_high\n");
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k <= LONGBENCH_CLASSES; k++) {
            struct csv c = {out, 0};
            struct longbench_mean m = longbench_mean(r, k, row);
            if (!longbench_mean(r, LONGBENCH_CLASSES, row).n)
                continue;
            csv_text(&c, r->rows[row].model);
            csv_text(&c, r->rows[row].policy_label);
            csv_text(&c, r->rows[row].settings_label);
            csv_text(&c, longbench_name(k));
            csv_int(&c, m.n);
            csv_int(&c, m.n_sets);
            csv_number(&c, m.mean);
            csv_number(&c, m.ci.low);
            csv_number(&c, m.ci.high);
            str_putc(out, '\n');
        }
}

/* One row per policy setting and length. */
void report_ruler_csv(struct str *out, const struct report *r)
{
    int n;
    const int *lengths = ruler_lengths(r, &n);
    str_puts(out, "model,policy,settings,tokens,families,score,ci_low,ci_high\n");
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k < n; k++) {
            struct csv c = {out, 0};
            struct group_mean m = ruler_mean(r, row, lengths[k]);
            if (!m.n)
                continue;
            csv_text(&c, r->rows[row].model);
            csv_text(&c, r->rows[row].policy_label);
            csv_text(&c, r->rows[row].settings_label);
            csv_int(&c, lengths[k]);
            csv_int(&c, m.n);
            csv_number(&c, m.mean);
            csv_number(&c, m.ci.low);
            csv_number(&c, m.ci.high);
            csv_end(&c);
        }
}
