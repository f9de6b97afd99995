/* Flipped problems, and the verdict in words. */
#include <math.h>
#include <string.h>

#include "evalcore/compare/compare_parts.h"

const struct run_problem *flip_problem(const struct comparison *c, const struct flip *f)
{
    return &c->b->run->cells[c->cells[f->cells].b].task->problems[f->problem_b];
}

const char *flip_task(const struct comparison *c, const struct flip *f)
{
    return c->b->run->cells[c->cells[f->cells].b].task->label;
}

/* The sample that stands for all of a problem: the first that did what most of them did. */
int flip_answer(const struct comparison *c, const struct flip *f, int is_b, struct answer *out, struct err *e)
{
    const struct run *r = is_b ? c->b->run : c->a->run;
    const struct cell *cell = &r->cells[is_b ? c->cells[f->cells].b : c->cells[f->cells].a];
    int problem = is_b ? f->problem_b : f->problem_a, is_solved = f->is_lost != is_b;
    *out = (struct answer){0};
    for (int i = 0; i < cell->n_records; i++) {
        const struct record *rec = &cell->records[i];
        if (rec->problem != problem || (out->rec && (rec->score > 0.5) != is_solved))
            continue;
        if (!out->rec || (out->rec->score > 0.5) != is_solved)
            out->rec = rec;
    }
    if (!out->rec)
        return err_set(e, ERR_FORMAT, "%s has no answer to problem %s", r->dir, flip_problem(c, f)->id);
    out->verdict = verdict_name(out->rec->verdict);
    out->form = *out->rec->pred_form ? out->rec->pred_form : "(none)";
    if (!run_task_is_restricted(cell->task))
        return run_text(r, out->rec, &out->text, e);
    str_puts(&out->text, RUN_TEXT_WITHHELD);
    return 0;
}

int flips_shown(const struct comparison *c, int max)
{
    return max < 0 || max > c->n_flips ? c->n_flips : max;
}

static const char *p_text(struct arena *a, double p)
{
    return p < 0.0001 ? "p < 0.0001" : arena_printf(a, "p = %.*f", p < 0.001 ? 4 : 3, p);
}

static const char *difference_words(struct comparison *c)
{
    const struct pair *p = c->all;
    int is_scores = 0;
    for (int i = 0; i < c->n_cells; i++)
        is_scores |= strcmp(c->b->run->cells[c->cells[i].b].task->metric, "accuracy") != 0;
    int digits = p->ci.high - p->ci.low < 0.1;
    const char *interval =
        arena_printf(&c->arena, "[%+.*f, %+.*f]", digits, 100 * p->ci.low, digits, 100 * p->ci.high);
    if (fabs(p->delta) < 5e-4)
        return arena_printf(&c->arena, "B %s as much as A %s", is_scores ? "scores" : "solves", interval);
    return arena_printf(&c->arena, "B %s %.1f points %s than A %s", is_scores ? "scores" : "solves",
                        100 * fabs(p->delta),
                        is_scores      ? p->delta < 0 ? "lower" : "higher"
                        : p->delta < 0 ? "fewer"
                                       : "more",
                        interval);
}

static const char *enough_words(struct comparison *c, const char *about)
{
    return c->all->enough < 0 ? "no number below 100,000 would do"
                              : arena_printf(&c->arena, "%s%ld would do", about, c->all->enough);
}

const char *compare_verdict(struct comparison *c)
{
    struct arena *a = &c->arena;
    const struct pair *p = c->all;
    if (!p)
        return compare_settings_verdict(c);
    const char *said = difference_words(c), *margin = report_points(a, c->margin);
    switch (p->mark) {
    case MARK_LOWER:
    case MARK_HIGHER:
        return arena_printf(a, "%s; this is more than chance explains (%s).", said, p_text(a, p->p));
    case MARK_WITHIN:
        return arena_printf(a, "%s; B is as good as A within %s (one-sided %s).", said, margin,
                            p_text(a, p->noninferior));
    case MARK_OPEN:
        if (p->is_incomplete)
            return arena_printf(a, "%s; no verdict, because answers are missing.", said);
        if (p->is_below_margin)
            return arena_printf(
                a,
                "%s; not decided: chance explains this too (%s), and A solves less than %s above "
                "what guessing does, so that it could not lose as much.",
                said, p_text(a, p->p), margin);
        return arena_printf(a,
                            "%s; not decided: chance explains this too (%s), and a loss of %s is not ruled "
                            "out (one-sided %s). Of such problems %s.",
                            said, p_text(a, p->p), margin, p_text(a, p->noninferior),
                            enough_words(c, "about "));
    case MARK_TOO_FEW:
        return arena_printf(a, "%s; %d problems are too few for any verdict: %s.", said, p->problems,
                            enough_words(c, ""));
    case MARK_NONE:
        break;
    }
    return "No problem was answered on both sides.";
}
