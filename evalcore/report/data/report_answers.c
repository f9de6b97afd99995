/* Which of several answers to a problem are the same (contract: report_data.h).
 *
 * The right ones are, however they are written: the grader took them all for the reference. Were wrong ones
 * told apart by spelling, 0.5 and 1/2 would split their votes, and the right answer would win majorities that
 * it has not. So the task's grader is asked there too, with one of them as the reference. It knows only the
 * readable form that was kept of an answer, so a form counts only where reading it again gives the same form.
 * And it is asked both ways: 1/3 is met by no decimal, while 0.333 is met by 1/3. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_data.h"
#include "evalcore/store/grades.h"

/* The report compares in its own process, so the comparison's bounds on steps are joined by two more: pairs
 * for one problem of a cell (20 different answers need 190), and bytes of a form, which the grader keeps
 * shorter. Beyond them answers are told apart by spelling. */
enum { COMPARISONS_MAX = 200, COMPARED_BYTES = 500 };

struct wrong_answer {
    const char *form;
    int number, is_first; /* is_first: of those with this number */
};

static int accepts_answer(const struct run_task *t, const struct run_problem *p, const char *gold,
                          const char *pred)
{
    struct arena a = {0};
    struct str box = {0};
    struct record rec = {.finish = FINISHED_STOP};
    struct run_problem as = *p;
    as.gold = gold;
    as.golds = &gold;
    as.n_golds = 1;
    as.has_no_thinking = 1;
    str_printf(&box, "\\boxed{%s}", pred);
    grade_record(&rec, t, &as, str_text(&box), box.len, NULL, &a);
    int yes = rec.verdict == VERDICT_CORRECT && !strcmp(rec.gold_form, gold) && !strcmp(rec.pred_form, pred);
    str_release(&box);
    arena_release(&a);
    return yes;
}

static int is_integer(const char *s)
{
    s += *s == '-';
    return *s && strspn(s, "0123456789") == strlen(s);
}

/* Letters and integers are what they are spelled. */
static int may_be_same(const struct run_problem *p, const char *a, const char *b)
{
    return !p->n_options && !(is_integer(a) && is_integer(b)) && strlen(a) <= COMPARED_BYTES &&
           strlen(b) <= COMPARED_BYTES;
}

static int number_of(const struct run_task *t, const struct run_problem *p, const struct wrong_answer *seen,
                     int n, const char *form, int *left)
{
    int most = 0;
    for (int i = 0; i < n; i++) {
        if (!strcmp(seen[i].form, form))
            return seen[i].number;
        most = seen[i].number > most ? seen[i].number : most;
    }
    for (int i = 0; i < n; i++)
        if (seen[i].is_first && may_be_same(p, seen[i].form, form) && (*left)-- > 0 &&
            accepts_answer(t, p, seen[i].form, form) && accepts_answer(t, p, form, seen[i].form))
            return seen[i].number;
    return most + 1;
}

/* The n records of one problem. */
static void tell_apart(const struct run_task *t, const struct record *first, int n, int *out)
{
    struct wrong_answer *seen = xmalloc((size_t)n * sizeof *seen);
    int n_seen = 0, most = 0, left = COMPARISONS_MAX;
    for (int i = 0; i < n; i++) {
        out[i] = first[i].verdict == VERDICT_CORRECT ? ANSWER_RIGHT : ANSWER_MISSING;
        if (out[i] == ANSWER_RIGHT || !first[i].pred_form[0])
            continue;
        out[i] = number_of(t, &t->problems[first[i].problem], seen, n_seen, first[i].pred_form, &left);
        seen[n_seen++] = (struct wrong_answer){first[i].pred_form, out[i], out[i] > most};
        most = out[i] > most ? out[i] : most;
    }
    free(seen);
}

static void number_answers(struct cell_stats *s, struct arena *a)
{
    const struct cell *c = s->cell;
    int n_problems = c->task->n_problems;
    int *answer = arena_alloc(a, ((size_t)c->n_records + 1) * sizeof *answer);
    int *first =
        arena_alloc(a, ((size_t)n_problems + 1) * sizeof *first); /* record of a problem, or behind */
    for (int p = 0, i = 0; p <= n_problems; p++) {
        while (i < c->n_records && c->records[i].problem < p)
            i++;
        first[p] = i;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int p = 0; p < n_problems; p++)
        if (first[p + 1] > first[p])
            tell_apart(c->task, &c->records[first[p]], first[p + 1] - first[p], answer + first[p]);
    s->answer = answer;
}

void report_answers(struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        if (c->samples > 1 && !c->task->is_text && !strcmp(c->task->metric, "accuracy"))
            number_answers(&r->cells[i], r->arena);
    }
}
