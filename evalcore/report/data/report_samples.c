/* Several answers to a problem (contract: report_samples.h). */
#include "evalcore/report/data/report_samples.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_votes.h"

const char *sample_kind_name(enum sample_kind k)
{
    static const char *const names[] = {"avg", "pass", "maj"};
    return names[k];
}

static int has_several(const struct cell *c)
{
    return !c->task->is_text && c->samples > 1 && c->temperature > 0;
}

static double value_of(const struct sample_value *v, const struct record *first, const int *answer, int n)
{
    double score = 0;
    long correct = 0;
    if (v->kind == SAMPLE_MAJ)
        return votes_majority(first, answer, n, INT_MAX, n);
    for (int i = 0; i < n; i++) {
        score += first[i].score;
        correct += first[i].verdict == VERDICT_CORRECT;
    }
    return v->kind == SAMPLE_AVG ? score / n : stat_pass_at_k(n, correct, v->k);
}

static void add_value(struct sample_stats *out, enum sample_kind kind, int k)
{
    out->value[out->n_values++] = (struct sample_value){.kind = kind, .k = k};
}

static void list_values(struct sample_stats *out, int is_binary)
{
    out->n_values = 0;
    add_value(out, SAMPLE_AVG, out->n);
    if (!is_binary)
        return;
    for (int k = 1; k < out->n && out->n_values < SAMPLE_VALUES_MAX - 2; k *= 2)
        add_value(out, SAMPLE_PASS, k);
    add_value(out, SAMPLE_PASS, out->n);
    add_value(out, SAMPLE_MAJ, out->n);
}

void report_samples(struct sample_stats *out, const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    *out = (struct sample_stats){.n = c->samples};
    if (!has_several(c))
        return;
    list_values(out, !strcmp(c->task->metric, "accuracy"));
    size_t room = (size_t)c->task->n_problems + 1, n = 0;
    double *v = xmalloc(room * (size_t)out->n_values * sizeof *v);
    for (int at = 0, m; at < c->n_records; at += m) {
        const struct record *first = &c->records[at];
        for (m = 1; at + m < c->n_records && first[m].problem == first->problem; m++)
            ;
        if (m < c->samples)
            continue;
        for (int i = 0; i < out->n_values; i++)
            v[(size_t)i * room + n] = value_of(&out->value[i], first, s->answer ? s->answer + at : NULL, m);
        n++;
    }
    out->n_problems = (int)n;
    for (int i = 0; i < out->n_values; i++)
        out->value[i].over = stat_average(v + (size_t)i * room, NULL, n);
    if (!n)
        out->n_values = 0;
    free(v);
}

int report_has_samples(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].column >= 0 && has_several(r->cells[i].cell) && r->cells[i].cell->n_records)
            return 1;
    return 0;
}
