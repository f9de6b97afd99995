/* Costs under a smaller limit (contract: report_cost.h).
 *
 * Between two points of a curve reads are put on a straight line, and the peak at the next point's, which it
 * cannot have exceeded. Where there is no curve both are put at the most that they can have been: all that
 * the completion read, and at most what full attention reads in its first L steps, which is exact for full
 * attention. A policy that forgets nothing and reads a fixed budget, a share of the context or all of it
 * never reads less in a later step than in an earlier one (but for the part of a page), so there the first
 * steps took at most their share. What forgets may begin with the whole prompt, and a share of the attention
 * mass may be any number of tokens. A sparse policy never looks cheaper than it was. */
#include "evalcore/report/data/report_cost.h"

#include <math.h>

#include "evalcore/report/data/report_budget.h"
#include "evalcore/store/curve_json.h"

/* A line is fetched from its journal for each; beyond so many completions a report would take too long. */
enum { CURVES_MAX = 20000 };

static struct cost cost_of(const struct record *r)
{
    /* 0: it ended with the prompt's pass, and no step's end was counted. */
    double peak = r->kv.peak_tokens == 0 ? r->prompt_tokens : r->kv.peak_tokens;
    return (struct cost){r->kv.reads + r->kv.aux_reads, peak};
}

static int reads_may_fall(const struct cell *c)
{
    struct arena a = {0};
    struct cell_budget b = report_budget_read(c, &a);
    int may = b.unknown || policy_needs(&b.spec) & POLICY_DROP ||
              isnan(report_budget_tokens(&b, 1e6, 1, 1e6).tokens);
    arena_release(&a);
    return may;
}

static struct cost cost_bound(const struct record *r, int limit, int may_fall)
{
    double steps = report_decode_steps(r), taken = limit - 1;
    if (steps <= taken || isnan(r->kv.reads)) /* not counted: nothing is known of less either */
        return cost_of(r);
    double share = may_fall ? 1 : taken / steps, full = taken * r->prompt_tokens + taken * (taken + 1) / 2;
    /* Page bounds are held besides the tokens, as many per token at any length. */
    double besides = fmax(1, r->kv.peak_tokens / ((double)r->prompt_tokens + r->tokens));
    return (struct cost){fmin(r->kv.reads * share, full) + r->kv.aux_reads * share,
                         fmin(r->kv.peak_tokens, ((double)r->prompt_tokens + limit) * besides)};
}

/* After point i; before the first one nothing is read and the prompt is held, after the last one the
 * completion ends. */
static struct cost at_point(const struct record *r, const struct kv_curve *c, int i, double *tokens)
{
    if (i < 0) {
        *tokens = 1; /* the prompt's own step gives the first token */
        return (struct cost){0, r->prompt_tokens};
    }
    if (i >= c->n) {
        *tokens = r->tokens;
        return cost_of(r);
    }
    const struct kv_point *p = &c->point[i];
    *tokens = (double)(i + 1) * c->every;
    return (struct cost){((double)p->reads + p->aux) / c->heads, (double)p->peak / c->heads};
}

static struct cost cost_along_curve(const struct record *r, const struct kv_curve *c, int limit)
{
    double from, to;
    int before = limit / c->every - 1;
    before = before < c->n ? before : c->n - 1;
    struct cost a = at_point(r, c, before, &from), b = at_point(r, c, before + 1, &to);
    double share = to > from ? fmin(fmax((limit - from) / (to - from), 0), 1) : 0;
    return (struct cost){a.reads + share * (b.reads - a.reads), share > 0 ? b.peak : a.peak};
}

int report_costs(const struct report *r, const struct cell *c, int limit, struct cost *out)
{
    int are_bounds = 0, may_fall = reads_may_fall(c), may_read = r->run->n_done <= CURVES_MAX;
#pragma omp parallel for schedule(dynamic, 16) reduction(| : are_bounds)
    for (int i = 0; i < c->n_records; i++) {
        const struct record *rec = &c->records[i];
        struct kv_curve curve = {0};
        struct err e = {0};
        if (rec->tokens <= limit) {
            out[i] = cost_of(rec);
        } else if (may_read && !run_curve(r->run, rec, &curve, &e) && curve.every) {
            out[i] = cost_along_curve(rec, &curve, limit);
        } else {
            out[i] = cost_bound(rec, limit, may_fall);
            are_bounds = 1;
        }
        curve_json_release(&curve);
    }
    return are_bounds;
}
