/* Where the time of a decode step goes, as in DELTA's Figures 8 to 10 (arXiv 2510.09883): the operations of
 * each part are recorded as a program of their own and replayed. The sum of the parts stands beside the whole
 * step as it is recorded; both contain the gaps between operations. */
#include "evalcore/bench/bench_engine.h"

enum { WARM = 16, REPLAYED = 128, DEFAULT_TOKENS = 1024 };

struct title {
    struct bench *b;
    char text[400];
};

static void print_figure(struct title *t, const char *what, int n_ops, const char *suffix, double value,
                         const char *unit)
{
    char name[512], ops[40] = "";
    if (n_ops)
        snprintf(ops, sizeof ops, ", %d operation%s", n_ops, n_ops == 1 ? "" : "s");
    snprintf(name, sizeof name, "%s: %s%s%s", t->text, what, ops, suffix);
    bench_print(t->b, name, value, unit, 0);
}

static void print_all(struct title *t, const struct step_times *s)
{
    double sum = 0;
    for (int p = 0; p < STEP_PARTS; p++)
        sum += s->part[p].seconds;
    for (int p = 0; p < STEP_PARTS; p++) {
        const char *name = step_part_name((enum step_part)p);
        int n = s->part[p].n_ops;
        if (!n)
            continue;
        print_figure(t, name, n, "", s->part[p].seconds * 1e6, "us");
        if (p >= STEP_ATTENTION_DENSE && p <= STEP_ATTENTION_SPARSE)
            print_figure(t, name, 0, ", one layer", s->part[p].seconds * 1e6 / n, "us");
        print_figure(t, name, 0, ", share of the sum", 100 * s->part[p].seconds / sum, "%");
    }
    print_figure(t, "sum of the parts", 0, "", sum * 1e6, "us");
    print_figure(t, "the whole step as recorded", 0, "", s->whole * 1e6, "us");
}

int bench_components(struct bench *b, struct err *e)
{
    int batch = bench_batch(b), tokens = b->tokens ? b->tokens : DEFAULT_TOKENS;
    struct bench_engine x;
    struct bench_window warm;
    struct step_times s;
    struct title t = {.b = b};
    /* sequences of their own memory, see bench_length.c; room for what the replays append */
    int rc = bench_engine_open(&x, b, batch, tokens + REPLAYED, 1, e);
    if (!rc)
        rc = bench_submit(&x, batch, tokens - WARM, 1, WARM + 2, 0, e);
    if (!rc)
        rc = bench_window(&x, WARM, &warm, e);
    if (!rc)
        rc = engine_time_step(x.en, &s, e);
    if (!rc) {
        snprintf(t.text, sizeof t.text, "components %s %s batch %d at %d tokens", b->model,
                 b->policy ? b->policy : "full", batch, tokens);
        print_all(&t, &s);
    }
    bench_engine_close(&x);
    return rc ? e->code : 0;
}
