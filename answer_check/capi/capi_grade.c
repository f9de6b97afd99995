/* The C interface: answers of mathematics, in several threads (contract: answer_check_c.h). */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "answer_check/capi/capi_parts.h"

_Static_assert((int)AC_CORRECT == VERDICT_CORRECT && (int)AC_WRONG == VERDICT_WRONG &&
                   (int)AC_AMBIGUOUS == VERDICT_AMBIGUOUS && (int)AC_UNPARSED == VERDICT_UNPARSED &&
                   (int)AC_UNFINISHED == VERDICT_UNFINISHED && (int)AC_TRUNCATED == VERDICT_TRUNCATED &&
                   (int)AC_ERROR == VERDICT_ERROR && AC_ERROR + 1 == VERDICT_COUNT,
               "verdicts have the graders' numbers");

enum { THREADS_MAX = 256, PAIRS_AT_A_TIME = 64 };

struct ac_grades {
    size_t n;
    struct ac_grade *at;
    int n_kept;
    struct arena *kept; /* the strings, of each thread */
};

struct pairs {
    const struct ac_options *o;
    const char *const *gold, *const *pred;
    const size_t *gold_len, *pred_len;
    struct ac_grades *out;
    atomic_size_t next; /* pair that nobody has begun */
};

struct grader {
    struct pairs *pairs;
    struct arena *kept;
};

static const char *kept_text(struct arena *a, const char *s)
{
    return s ? arena_strdup(a, s) : NULL;
}

static void keep_grade(struct ac_grade *out, const struct grade *g, struct arena *kept)
{
    const struct grade_step *last = g->n_places ? &g->places[g->n_places - 1] : NULL;
    *out = (struct ac_grade){.verdict = (int)g->verdict,
                             .verdict_name = verdict_name(g->verdict),
                             .reason = kept_text(kept, g->reason),
                             .how = kept_text(kept, g->how),
                             .gold_form = kept_text(kept, g->gold_form),
                             .pred_form = kept_text(kept, g->pred_form),
                             .place = last ? kept_text(kept, last->rule) : NULL,
                             .took = last ? kept_text(kept, last->took) : NULL,
                             .at = last ? last->at : -1};
}

static void grade_pair(const struct pairs *p, size_t i, struct arena *kept)
{
    struct arena a = {0};
    struct grade g = {0};
    struct response r = {p->pred[i], p->pred_len ? p->pred_len[i] : strlen(p->pred[i]), p->o->thinking,
                         p->o->finish};
    size_t n = p->gold_len ? p->gold_len[i] : strlen(p->gold[i]);
    grade_math_as(&g, p->gold[i], n, &r, &p->o->grade, &a);
    keep_grade(&p->out->at[i], &g, kept);
    arena_release(&a);
}

static void *grade_pairs(void *context)
{
    struct grader *me = context;
    struct pairs *p = me->pairs;
    for (;;) {
        size_t from = atomic_fetch_add(&p->next, PAIRS_AT_A_TIME);
        if (from >= p->out->n)
            break;
        for (size_t i = from; i < p->out->n && i < from + PAIRS_AT_A_TIME; i++)
            grade_pair(p, i, me->kept);
    }
    answer_check_release_thread(); /* whose last call this may be */
    return NULL;
}

static int count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

/* The caller is one of the threads. Signals are for the others, which know what to do with them. */
static void run_threads(struct pairs *p, int threads)
{
    struct grader grader[THREADS_MAX];
    pthread_t started[THREADS_MAX];
    sigset_t all, before;
    int n = 1;
    for (int i = 0; i < threads; i++)
        grader[i] = (struct grader){p, &p->out->kept[i]};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (n < threads && !pthread_create(&started[n], NULL, grade_pairs, &grader[n]))
        n++; /* with fewer it takes longer */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    grade_pairs(&grader[0]);
    for (int i = 1; i < n; i++)
        pthread_join(started[i], NULL);
}

static int check_pairs(const struct pairs *p, size_t n, int threads, struct err *e)
{
    if (!p->o || p->o->call != AC_GRADE)
        return err_set(e, ERR_USAGE, "these options are not of AC_GRADE");
    if (threads < 0)
        return err_set(e, ERR_USAGE, "threads must be at least 0, not %d", threads);
    if (n && (!p->gold || !p->pred))
        return err_set(e, ERR_USAGE, "references or responses are NULL");
    for (size_t i = 0; i < n; i++)
        if (!p->gold[i] || !p->pred[i])
            return err_set(e, ERR_USAGE, "pair %zu: its %s is NULL", i,
                           p->gold[i] ? "response" : "reference");
    return 0;
}

int ac_grade(struct ac_grades **out, const struct ac_options *o, size_t n, const char *const *gold,
             const size_t *gold_len, const char *const *pred, const size_t *pred_len, int threads,
             char *error, size_t error_size)
{
    struct ac_options usual;
    struct err e = {0};
    capi_defaults(&usual, AC_GRADE);
    struct pairs p = {o ? o : &usual, gold, pred, gold_len, pred_len, NULL, 0};
    if (!out)
        err_set(&e, ERR_USAGE, "out is NULL");
    else
        *out = NULL;
    if (e.code || check_pairs(&p, n, threads, &e))
        return capi_fail(&e, error, error_size);
    threads = threads ? threads : count_cores();
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    size_t shares = (n + PAIRS_AT_A_TIME - 1) / PAIRS_AT_A_TIME;
    threads = (size_t)threads < shares ? threads : shares ? (int)shares : 1;
    p.out = xcalloc(1, sizeof *p.out);
    p.out->n = n;
    p.out->at = xcalloc(n, sizeof *p.out->at);
    p.out->n_kept = threads;
    p.out->kept = xcalloc((size_t)threads, sizeof *p.out->kept);
    run_threads(&p, threads);
    *out = p.out;
    return AC_OK;
}

size_t ac_grades_count(const struct ac_grades *g)
{
    return g ? g->n : 0;
}

const struct ac_grade *ac_grades_at(const struct ac_grades *g, size_t i)
{
    return g && i < g->n ? &g->at[i] : NULL;
}

void ac_grades_free(struct ac_grades *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->n_kept; i++)
        arena_release(&g->kept[i]);
    free(g->kept);
    free(g->at);
    free(g);
}
