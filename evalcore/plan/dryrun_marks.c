/* Which marks a run can earn at all (contract: dryrun.h): a reader who learns after a night that no outcome
 * of 16 problems could have been "=" has lost it. By the rules of the reports (docs/statistics.md): all
 * settings of a model are one family (Holm, 5 %), and the first of them needs the smallest p. */
#include <math.h>
#include <stdio.h>

#include "evalcore/plan/dryrun.h"
#include "evalcore/plan/runplan_parts.h"
#include "evalcore/stats/stats.h"

static const double ALPHA = 0.05;

struct family {                    /* the settings of a model that are compared */
    const struct plan_cell *first; /* a cell of the first of them */
    int n;
    int tasks, problems, fewest; /* of the first one */
    int samples;                 /* that differ */
};

static int is_compared(const struct runplan *p, int i, const struct runfile_model *m)
{
    const struct plan_cell *c = &p->cells[i];
    return c->model == m && c->baseline >= 0 && c->baseline != i && !task_is_text(c->task->ops->metric);
}

static int same_setting(const struct plan_cell *a, const struct plan_cell *b)
{
    return a->policy == b->policy && a->settings == b->settings;
}

static struct family find_family(const struct runplan *p, const struct runfile_model *m)
{
    struct family f = {0};
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        int is_new = is_compared(p, i, m);
        for (int k = 0; k < i && is_new; k++)
            is_new = !is_compared(p, k, m) || !same_setting(&p->cells[k], c);
        f.n += is_new;
        f.first = is_new && !f.first ? c : f.first;
        if (!is_compared(p, i, m) || !same_setting(f.first, c))
            continue;
        int n = (int)p->sets[c->set].task.n_problems;
        f.tasks++;
        f.problems += n;
        f.fewest = f.tasks == 1 || n < f.fewest ? n : f.fewest;
    }
    f.samples = f.first && f.first->settings->s.temperature > 0 ? f.first->settings->s.samples : 1;
    return f;
}

/* Tasks that alone can earn no mark, whatever comes out. */
static void print_small_tasks(const struct runplan *p, const struct family *f, const struct runfile_model *m)
{
    int n = 0;
    for (int i = 0; i < p->n_cells && f->tasks > 1; i++) {
        const struct plan_cell *c = &p->cells[i];
        int problems = (int)p->sets[c->set].task.n_problems;
        if (is_compared(p, i, m) && same_setting(f->first, c) &&
            !stat_can_differ(problems, f->samples, f->n, ALPHA))
            printf("%s%s (%d)",
                   n++ ? ", " : "Too few problems for any mark of that task alone: ", c->task->label,
                   problems);
    }
    printf("%s", n ? "\n" : "");
}

static void print_family(const struct runplan *p, const struct family *f, const struct runfile_model *m)
{
    double margin = p->file->margin / 100, alpha = ALPHA / f->n;
    double heaviest = (double)f->problems / ((double)f->tasks * f->fewest);
    /* Where tasks do not have as many problems the samples of one do not count apart. */
    int samples = f->fewest * f->tasks == f->problems ? f->samples : 1;
    int can_differ = stat_can_differ(f->problems, samples, f->n, ALPHA);
    int can_be_within = pow(1 - margin / heaviest, f->problems) < alpha;
    double each = ceil(log(alpha) / log1p(-margin) / f->tasks - 1e-9);
    printf("\nmarks%s%s: %d setting%s compared over %d problem%s of %d task%s (Holm over the settings)\n",
           p->file->n_models > 1 ? " on " : "", p->file->n_models > 1 ? m->label : "", f->n,
           f->n == 1 ? " is" : "s are", f->problems, f->problems == 1 ? "" : "s", f->tasks,
           f->tasks == 1 ? "" : "s of the same weight");
    printf("lower, higher: %s", can_differ ? "can be earned" : "no outcome can earn them");
    if (samples == 1)
        printf("; %ld problems that all go one way are needed", stat_problems_to_differ(alpha));
    printf("\n= within %g points: %s; without any difference %.0f problems%s are needed, and more where some "
           "differ\n",
           p->file->margin, can_be_within ? "can be earned" : "no outcome can earn it", each,
           f->tasks > 1 ? " of each task" : "");
    print_small_tasks(p, f, m);
}

void dryrun_marks(const struct runplan *p)
{
    for (int m = 0; m < p->file->n_models; m++) {
        struct family f = find_family(p, &p->file->models[m]);
        if (f.first && f.fewest > 0)
            print_family(p, &f, &p->file->models[m]);
    }
}
