/* The forecast on simulated runs: lengths are drawn, steps take a known time, and what is said is compared
 * with what then happens. Between a tenth and four fifths of a run nine of ten estimates are right within a
 * factor of 2 (fewer where jobs are few, or much shorter than expected, which the first to end do not show)
 * and all within 4. In the last fifth, where the lengths of a few completions decide, they are off by less
 * than a third of the whole run.
 *
 * test_forecast -v prints what was said and what happened. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/sweep/forecast.h"
#include "tests/check.h"

enum { CELLS = 4 };
struct cell_row { /* its lengths are log-normal: median times exp(sigma times a normal number) */
    int jobs, prompt, limit;
    double usual, median, sigma;
};
struct run_row {
    const char *name;
    int places, devices, is_gpu;
    double base, row, token; /* ms of a step: per step, per row, per token of context; of a device */
    double prompt;           /* ms per token of a prompt */
    double least;            /* share of estimates that are right within a factor of 2 */
    struct cell_row cell[CELLS];
    double
        scatter; /* of a step's time: a normal number times that in its logarithm; the first steps are slow */
};

/* clang-format off */
static const struct run_row runs[] = {
    {"20 jobs at once, the limit ends them", 32, 1, 0, 30, 10, 1e-3, 10, 0.9, {{20, 150, 300, 4000, 2000, 0.5}}, 0},
    {"20 jobs at once, many end before", 32, 1, 0, 30, 10, 1e-3, 10, 0.9, {{20, 150, 300, 4000, 250, 0.5}}, 0},
    {"20 jobs on 8 places", 8, 1, 0, 20, 20, 1e-3, 10, 0.9, {{20, 150, 1000, 400, 250, 0.6}}, 0},
    {"pocket: four tasks, long and short", 32, 1, 0, 1, 0.6, 2e-3, 0.5, 0.9, {{60, 100, 1400, 930, 900, 0.3}, {60, 120, 1400, 850, 700, 0.4}, {60, 90, 1400, 680, 500, 0.3},
      {60, 300, 1400, 52, 52, 0.1}}, 0},
    {"a GPU's steps that read weights", 128, 1, 1, 10, 0.01, 1e-5, 0.01, 0.9, {{480, 150, 32768, 12000, 9000, 0.7}, {500, 120, 32768, 4000, 3000, 0.8}}, 0},
    {"a GPU's steps that read K and V", 128, 1, 1, 4, 0.01, 2e-5, 0.01, 0.9, {{480, 150, 32768, 12000, 9000, 0.7}, {500, 120, 32768, 4000, 3000, 0.8}}, 0},
    {"twice as long as usual", 64, 1, 1, 5, 0.1, 1e-5, 0.01, 0.9, {{500, 150, 32768, 4000, 8000, 0.6}}, 0},
    {"half as long as usual", 64, 1, 1, 5, 0.1, 1e-5, 0.01, 0.9, {{500, 150, 32768, 4000, 2000, 0.6}}, 0},
    {"a third of the usual", 64, 1, 1, 5, 0.1, 1e-5, 0.01, 0.55, {{500, 150, 32768, 4000, 1300, 0.6}}, 0},
    {"a quarter of the usual, all alike", 64, 1, 1, 5, 0.1, 1e-5, 0.01, 0.55, {{500, 150, 32768, 4000, 1000, 0.3}}, 0},
    {"one policy sends all to the limit", 64, 1, 1, 5, 0.1, 1e-5, 0.01, 0.9, {{200, 150, 16384, 4000, 3000, 0.6}, {200, 150, 16384, 4000, 60000, 0.3}}, 0},
    {"eight devices", 512, 8, 1, 10, 0.01, 1e-5, 0.01, 0.75, {{4000, 150, 32768, 4000, 3500, 0.8}}, 0},
    {"LongBench: prompts are the work", 32, 1, 1, 20, 1, 1e-5, 0.1, 0.9, {{600, 8000, 64, 20, 25, 0.5}, {200, 4000, 512, 200, 150, 0.5}}, 0},
    {"short jobs beside a few long ones, slow first steps", 32, 1, 0, 4, 0.35, 2e-4, 0.06, 0.9, {{9, 220, 1400, 930, 900, 0.1}, {300, 1300, 1400, 52, 52, 0.3}}, 0.5},
    {"one length, no end token", 16, 1, 0, 10, 1, 1e-3, 0.1, 0.9, {{100, 50, 200, INFINITY, 1e9, 0.1}}, 0},
};
/* clang-format on */
#define LATE 0.805 /* from here on single completions decide */
enum { N_RUNS = sizeof runs / sizeof *runs, SEEDS = 3 };

struct sim {
    const struct run_row *row;
    struct forecast run;
    struct forecast_job *job;
    int *length; /* that each job will have */
    long next;   /* to start */
    double time;
    struct forecast_sample since; /* the last forecast_add */
    uint64_t seed, n_steps;
};

static double normal(uint64_t seed, uint64_t i)
{
    struct rng r;
    rng_init(&r, seed, i);
    double u = rng_unit(&r), v = rng_unit(&r);
    return sqrt(-2 * log(u > 1e-12 ? u : 1e-12)) * cos(6.283185307179586 * v);
}

static int draw(const struct cell_row *c, uint64_t seed, uint64_t i)
{
    double length = c->median * exp(c->sigma * normal(seed, i));
    return length < 1 ? 1 : length > c->limit ? c->limit : (int)length;
}

/* The tasks come in the order of the table. Cells of which the same length is expected are of one task, and
 * their jobs take turns, as those of the policies of a sweep do. */
static void begin(struct sim *s, const struct run_row *row, uint64_t seed)
{
    long n = 0;
    int left[CELLS], task[CELLS];
    *s = (struct sim){.row = row, .seed = seed};
    for (int c = 0; c < CELLS; c++) {
        n += left[c] = row->cell[c].jobs;
        for (task[c] = 0; row->cell[task[c]].usual != row->cell[c].usual;)
            task[c]++;
    }
    s->job = xcalloc((size_t)n, sizeof *s->job);
    s->length = xcalloc((size_t)n, sizeof *s->length);
    s->run = (struct forecast){.job = s->job,
                               .n_jobs = n,
                               .n_cells = CELLS,
                               .n_tasks = CELLS,
                               .n_models = 1,
                               .devices = row->devices,
                               .places = row->places,
                               .is_gpu = row->is_gpu};
    s->run.speed[0].devices = row->devices;
    n = 0;
    for (int t = 0; t < CELLS; t++)
        for (int some = 1; some;) {
            some = 0;
            for (int c = t; c < CELLS; c++) {
                const struct cell_row *k = &row->cell[c];
                if (task[c] != t || !left[c])
                    continue;
                some = 1;
                left[c]--;
                s->job[n] = (struct forecast_job){
                    .cell = c, .task = t, .prompt = k->prompt, .limit = k->limit, .usual = k->usual};
                s->length[n] = draw(k, seed, (uint64_t)n);
                n++;
            }
        }
}

static void start_jobs(struct sim *s, int running)
{
    for (; s->next < s->run.n_jobs && running < s->row->places; running++) {
        struct forecast_job *j = &s->job[s->next++];
        double seconds = 1e-3 * s->row->prompt * j->prompt;
        j->state = JOB_RUNNING;
        s->since.prompt_seconds += seconds;
        s->since.prompts += j->prompt;
        s->since.wall += seconds;
        s->time += seconds / s->row->devices;
    }
}

/* A step of every device. 0 when nothing is left. */
static int step(struct sim *s)
{
    double context = 0;
    int n = 0;
    for (long i = 0; i < s->next; i++)
        n += s->job[i].state == JOB_RUNNING;
    start_jobs(s, n);
    n = 0;
    for (long i = 0; i < s->next; i++) {
        struct forecast_job *j = &s->job[i];
        if (j->state != JOB_RUNNING)
            continue;
        n++;
        j->tokens++;
        context += j->prompt + j->tokens;
        if (j->tokens == s->length[i])
            j->state = JOB_DONE;
    }
    if (!n)
        return 0;
    int devices = n < s->row->devices ? n : s->row->devices;
    double seconds = 1e-3 * (s->row->base + (s->row->row * n + s->row->token * context) / devices);
    if (s->row->scatter > 0)
        seconds *= exp(s->row->scatter * normal(s->seed, 1000000 + s->n_steps)) * (s->n_steps < 14 ? 3 : 1);
    s->n_steps++;
    s->time += seconds;
    s->since.steps += devices;
    s->since.seconds += seconds * devices;
    s->since.wall += seconds * s->row->devices;
    s->since.rows += n;
    return 1;
}

static void end(struct sim *s)
{
    forecast_release(&s->run);
    free(s->job);
    free(s->length);
}

static double whole(const struct run_row *row, uint64_t seed)
{
    struct sim s;
    begin(&s, row, seed);
    while (step(&s))
        ;
    end(&s);
    return s.time;
}

struct score {
    int n, right;       /* estimates up to four fifths, those within a factor of 2 */
    double worst, late; /* the largest factor of these; the largest error after them, as a share of the run */
};

static void count(struct score *c, double share, double said, double left, double total)
{
    double factor = said > left ? said / left : left / said;
    if (share < LATE) {
        c->n++;
        c->right += said > 0 && factor <= 2;
        c->worst = said > 0 && factor < c->worst ? c->worst : said > 0 ? factor : INFINITY;
    } else if (!(fabs(said - left) / total < c->late)) {
        c->late = fabs(said - left) / total;
    }
}

static void follow(const struct run_row *row, uint64_t seed, struct score *c, int print)
{
    static const double share[] = {0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98};
    double total = whole(row, seed);
    struct sim s;
    size_t k = 0;
    int steps = 0;
    begin(&s, row, seed);
    while (step(&s) && k < sizeof share / sizeof *share) {
        int is_due = s.time >= share[k] * total;
        if (++steps % 7 == 0 || is_due) {
            forecast_add(&s.run, 0, &s.since);
            s.since = (struct forecast_sample){0};
        }
        if (!is_due)
            continue;
        forecast_update(&s.run);
        double said = forecast_seconds(&s.run), left = total - s.time;
        if (print)
            printf("  at %2.0f %%: %8.1f s left, said %8.1f\n", 100 * s.time / total, left, said);
        count(c, s.time / total, said, left, total);
        for (; k < sizeof share / sizeof *share && s.time >= share[k] * total; k++)
            ;
    }
    end(&s);
}

/* A model that nothing was decoded with yet: as another one, with steps that take three times as long. */
static void scaled(void)
{
    struct forecast_job job[4];
    struct forecast_speed seen, other;
    for (int i = 0; i < 4; i++)
        job[i] = (struct forecast_job){.prompt = 50, .limit = 400, .usual = 200};
    struct forecast f = {
        .job = job, .n_jobs = 4, .n_cells = 1, .n_tasks = 1, .n_models = 2, .devices = 1, .places = 2};
    f.speed[0].weight = 2;
    f.speed[1].weight = 6;
    forecast_update(&f);
    CHECK(!forecast_speed_of(&f, 1, &other));
    CHECK(forecast_seconds(&f) < 0);
    for (int i = 1; i < 5; i++)
        forecast_add(&f, 0,
                     &(struct forecast_sample){.steps = 100,
                                               .seconds = i,
                                               .rows = 50 * i,
                                               .prompt_seconds = 0.5,
                                               .prompts = 100,
                                               .wall = i + 1});
    double before = forecast_seconds(&f);
    CHECK(forecast_speed_of(&f, 0, &seen) && forecast_speed_of(&f, 1, &other));
    CHECK_NEAR(forecast_step(&f, &other, 2) / forecast_step(&f, &seen, 2), 3, 1e-6);
    for (int i = 0; i < 4; i++)
        job[i].model = 1;
    CHECK(before > 0 && fabs(forecast_seconds(&f) / before - 3) < 1e-6);
    forecast_release(&f);
}

/* The percentile of those that got further, the task's where the cell has too few, else what is usual. */
static void percentiles(void)
{
    enum { DONE = 20 };
    struct forecast_job job[DONE + 2];
    for (int i = 0; i < DONE; i++)
        job[i] = (struct forecast_job){
            .state = JOB_DONE, .cell = 0, .limit = 4000, .usual = 100, .tokens = 10 * (i + 1)};
    job[DONE] = (struct forecast_job){.cell = 0, .limit = 4000, .usual = 100};
    job[DONE + 1] = (struct forecast_job){.cell = 1, .limit = 150, .usual = 100};
    struct forecast f = {.job = job, .n_jobs = DONE + 2, .n_cells = 2, .n_tasks = 1, .n_models = 1};
    forecast_update(&f);
    CHECK_NEAR(forecast_tokens(&f, &job[DONE], 0.5), 111, 1); /* 1.1 times 100, rounded up */
    CHECK_NEAR(forecast_tokens(&f, &job[DONE], 0.75), 160, 0);
    CHECK_NEAR(forecast_tokens(&f, &job[DONE + 1], 0.75), 150, 0); /* its own limit */
    job[DONE].state = JOB_RUNNING;
    job[DONE].tokens = 100;
    CHECK_NEAR(forecast_tokens(&f, &job[DONE], 0.5), 160, 0);
    job[DONE].tokens = 190; /* one got further, which is too few */
    CHECK_NEAR(forecast_tokens(&f, &job[DONE], 0.5), 238, 0);
    job[0].tokens = job[0].limit = 7; /* a limit ended it */
    forecast_update(&f);
    CHECK_NEAR(forecast_tokens(&f, &job[DONE + 1], 0.99), 150, 0);
    f.job[DONE + 1].usual = INFINITY;
    CHECK_NEAR(forecast_tokens(&f, &job[DONE + 1], 0.5), 150, 0);
    forecast_release(&f);
}

int main(int argc, char **argv)
{
    scaled();
    percentiles();
    int print = argc > 1 && !strcmp(argv[1], "-v");
    for (int i = 0; i < N_RUNS; i++) {
        struct score c = {0};
        for (uint64_t seed = 0; seed < (check_small() ? 1 : SEEDS); seed++) {
            if (print)
                printf("%s, seed %d\n", runs[i].name, (int)seed);
            follow(&runs[i], seed, &c, print);
        }
        int is_good = c.right >= runs[i].least * c.n && c.worst <= 4 && c.late <= 0.3;
        if (print || !is_good)
            fprintf(stderr, "%s: %d of %d right within 2, the worst %.2f, later off by %.2f of the run\n",
                    runs[i].name, c.right, c.n, c.worst, c.late);
        CHECK(is_good);
    }
    return check_done();
}
