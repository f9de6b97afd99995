/* Several answers to a problem (contract: report_samples.h). */
#include "evalcore/report/data/report_samples.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_data.h"
#include "evalcore/stats/stats.h"
#include "evalcore/store/grades.h"

const char *sample_kind_name(enum sample_kind k)
{
    static const char *const names[] = {"avg", "pass", "maj"};
    return names[k];
}

int report_can_vote(const struct run_task *t)
{
    return !t->kind || strcmp(t->kind, "code") != 0;
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

static void list_values(struct sample_stats *out, int is_binary, int can_vote)
{
    out->n_values = 0;
    add_value(out, SAMPLE_AVG, out->n);
    if (!is_binary)
        return;
    for (int k = 1; k < out->n && out->n_values < SAMPLE_VALUES_MAX - 2; k *= 2)
        add_value(out, SAMPLE_PASS, k);
    add_value(out, SAMPLE_PASS, out->n);
    if (can_vote)
        add_value(out, SAMPLE_MAJ, out->n);
}

void report_samples(struct sample_stats *out, const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    *out = (struct sample_stats){.n = c->samples};
    if (!has_several(c))
        return;
    list_values(out, !strcmp(c->task->metric, "accuracy"), report_can_vote(c->task));
    size_t capacity = (size_t)c->task->n_problems + 1, n = 0;
    double *v = xmalloc(capacity * (size_t)out->n_values * sizeof *v);
    for (int at = 0, m; at < c->n_records; at += m) {
        const struct record *first = &c->records[at];
        for (m = 1; at + m < c->n_records && first[m].problem == first->problem; m++)
            ;
        if (m < c->samples)
            continue;
        for (int i = 0; i < out->n_values; i++)
            v[(size_t)i * capacity + n] =
                value_of(&out->value[i], first, s->answer ? s->answer + at : NULL, m);
        n++;
    }
    out->n_problems = (int)n;
    for (int i = 0; i < out->n_values; i++)
        out->value[i].over = stat_average(v + (size_t)i * capacity, NULL, n);
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

/* ---- Which of several answers to a problem are the same (report_answers() of report_data.h).
 *
 * The right ones are, however they are written: the grader took them all for the reference. Were wrong ones
 * told apart by spelling, 0.5 and 1/2 would split their votes, and the right answer would win majorities that
 * it has not. So the task's grader is asked there too, with one of them as the reference. It knows only the
 * readable form that was kept of an answer, so a form counts only where reading it again gives the same form.
 * And it is asked both ways: 1/3 is met by no decimal, while 0.333 is met by 1/3. */

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
    int max_number = 0;
    for (int i = 0; i < n; i++) {
        if (!strcmp(seen[i].form, form))
            return seen[i].number;
        max_number = seen[i].number > max_number ? seen[i].number : max_number;
    }
    for (int i = 0; i < n; i++)
        if (seen[i].is_first && may_be_same(p, seen[i].form, form) && (*left)-- > 0 &&
            accepts_answer(t, p, seen[i].form, form) && accepts_answer(t, p, form, seen[i].form))
            return seen[i].number;
    return max_number + 1;
}

/* The n records of one problem. */
static void number_wrong_answers(const struct run_task *t, const struct record *first, int n, int *out)
{
    struct wrong_answer *seen = xmalloc((size_t)n * sizeof *seen);
    int n_seen = 0, max_number = 0, left = COMPARISONS_MAX;
    for (int i = 0; i < n; i++) {
        out[i] = first[i].verdict == VERDICT_CORRECT ? ANSWER_RIGHT : ANSWER_MISSING;
        if (out[i] == ANSWER_RIGHT || !first[i].pred_form[0])
            continue;
        out[i] = number_of(t, &t->problems[first[i].problem], seen, n_seen, first[i].pred_form, &left);
        seen[n_seen++] = (struct wrong_answer){first[i].pred_form, out[i], out[i] > max_number};
        max_number = out[i] > max_number ? out[i] : max_number;
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
            number_wrong_answers(c->task, &c->records[first[p]], first[p + 1] - first[p], answer + first[p]);
    s->answer = answer;
}

void report_answers(struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        if (c->samples > 1 && !c->task->is_text && !strcmp(c->task->metric, "accuracy") &&
            report_can_vote(c->task))
            number_answers(&r->cells[i], r->arena);
    }
}

/* ---- The majority of several answers to one problem. */

double votes_any(const struct record *first, int n, int limit, int w)
{
    long right = 0;
    for (int i = 0; i < n; i++)
        right += first[i].verdict == VERDICT_CORRECT && first[i].tokens <= limit;
    return stat_pass_at_k(n, right, w);
}

/* How the answers to one problem split: votes[i] for the i-th different answer, the right one first. Without
 * an answer there is no vote. */
struct split {
    long votes[64], n_votes;
    size_t n;
};

static void count_votes(struct split *out, const struct record *first, const int *answer, int n, int limit)
{
    enum { ANSWERS = sizeof out->votes / sizeof *out->votes };
    int number[ANSWERS] = {ANSWER_RIGHT};
    *out = (struct split){.n = 1};
    for (int i = 0; i < n; i++) {
        size_t k = 0;
        if (first[i].tokens > limit || answer[i] == ANSWER_MISSING)
            continue;
        while (k < out->n && number[k] != answer[i])
            k++;
        if (k == ANSWERS)
            continue;
        if (k == out->n)
            number[out->n++] = answer[i];
        out->votes[k]++;
        out->n_votes++;
    }
}

/* lgamma() writes a global, and points of a frontier are computed by several threads. */
static double log_factorial(long n)
{
    int sign;
    return lgamma_r((double)n + 1, &sign);
}

static double log_choose(long n, long k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/* Some of the w have no answer and do not vote; how many do is hypergeometric. */
double votes_majority(const struct record *first, const int *answer, int n, int limit, int w)
{
    struct split s;
    double p = 0;
    count_votes(&s, first, answer, n, limit);
    for (long j = 1; j <= w && j <= s.n_votes; j++) {
        if (w - j > n - s.n_votes)
            continue;
        double drawn = exp(log_choose(s.n_votes, j) + log_choose(n - s.n_votes, w - j) - log_choose(n, w));
        p += drawn * stat_majority_at_k(s.votes, s.n, 0, j);
    }
    return p;
}
