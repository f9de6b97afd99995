#ifndef TESTS_EVALCORE_REPORT_FAKE_RUN_H
#define TESTS_EVALCORE_REPORT_FAKE_RUN_H

/* A run in memory without a model: cells, problems and records drawn from a fixed generator, so that a report
 * can be tested with known numbers. A problem has a difficulty, a cell an ability; lengths are skewed and cut
 * at the limit. */
#include <math.h>
#include <string.h>

#include "evalcore/base/rng.h"
#include "evalcore/store/run.h"

struct fake_policy {
    const char *policy, *label, *params, *k_pages, *l_pages, *budget_tokens, *budget_key, *budget, *rule;
    double density, ability;
};
struct fake_task {
    const char *name, *label, *metric;
    double difficulty, length; /* mean of the log-normal lengths */
    int prompt;
};
struct fake_options {
    const struct fake_policy *policies;
    int n_policies;
    const struct fake_task *tasks;
    int n_tasks, problems, samples, limit;
    int missing_every; /* leave out every n-th job of all but the first policy; 0: none */
    uint64_t seed;
};

static double fake_normal(struct rng *r)
{
    double u = rng_unit(r) + 1e-12, v = rng_unit(r);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void fake_tasks(struct run *r, const struct fake_options *o)
{
    r->n_tasks = o->n_tasks;
    r->tasks = arena_alloc(&r->arena, (size_t)o->n_tasks * sizeof *r->tasks);
    for (int t = 0; t < o->n_tasks; t++) {
        struct run_task *k = &r->tasks[t];
        *k = (struct run_task){.name = o->tasks[t].name,
                               .label = o->tasks[t].label,
                               .version = "1",
                               .metric = o->tasks[t].metric,
                               .source = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
                               .options = "{}",
                               .file = "problems/x.jsonl",
                               .n_problems = o->problems};
        k->problems = arena_alloc(&r->arena, (size_t)o->problems * sizeof *k->problems);
        for (int i = 0; i < o->problems; i++)
            k->problems[i] = (struct run_problem){.id = arena_printf(&r->arena, "%s-%03d", k->name, i),
                                                  .prompt = "SECRET PROBLEM TEXT",
                                                  .prompt_sha256 = arena_printf(&r->arena, "%064d", i),
                                                  .prompt_tokens = o->tasks[t].prompt,
                                                  .gold = "SECRET GOLD"};
    }
}

static struct record fake_record(const struct fake_options *o, const struct fake_policy *p,
                                 const struct fake_task *k, int problem, int sample, struct rng *noise,
                                 double difficulty)
{
    double z = fake_normal(noise), z_length = fake_normal(noise);
    int ok = p->ability + 0.7 * z > difficulty;
    double length = k->length * exp(0.35 * z_length) * (ok ? 1 : 1.35);
    struct record rec = {.problem = problem,
                         .sample = sample,
                         .key = "0123456789abcdef0123456789abcdef",
                         .prompt_tokens = k->prompt,
                         .tokens = (int)length,
                         .finish = FINISHED_STOP,
                         .error = "",
                         .verdict = ok         ? VERDICT_CORRECT
                                    : z > -1.4 ? VERDICT_WRONG
                                               : VERDICT_UNPARSED,
                         .reason = "",
                         .gold_form = "",
                         .pred_form = ""};
    if (rec.tokens < 4)
        rec.tokens = 4;
    if (rec.tokens >= o->limit) {
        rec.tokens = o->limit;
        rec.finish = FINISHED_LENGTH;
        rec.verdict = sample % 2 ? VERDICT_TRUNCATED : VERDICT_UNFINISHED;
    }
    rec.score = rec.verdict == VERDICT_CORRECT;
    double steps = rec.tokens - 1, mean_context = k->prompt + steps / 2;
    rec.kv.reads_full = steps * mean_context;
    rec.kv.reads = rec.kv.reads_full * p->density;
    rec.kv.aux_reads = p->density < 1 ? rec.kv.reads_full / 16 : 0;
    rec.kv.peak_tokens = k->prompt + rec.tokens;
    return rec;
}

static void fake_cell(struct run *r, const struct fake_options *o, int t, int p)
{
    const struct fake_policy *f = &o->policies[p];
    const struct fake_task *k = &o->tasks[t];
    int has_as = strcmp(k->name, k->label) != 0;
    struct cell *c = &r->cells[r->n_cells];
    *c = (struct cell){
        .id = arena_printf(&r->arena, "%s.%s-%08x", f->policy, k->label, (unsigned)r->n_cells + 0xabc),
        .label = has_as ? arena_printf(&r->arena, "%s/%s", f->label, k->label) : f->label,
        .policy_label = f->label,
        .model = "pocket",
        .policy = f->policy,
        .preset = "",
        .params = f->params,
        .k_pages = f->k_pages,
        .l_pages = f->l_pages,
        .budget_tokens = f->budget_tokens,
        .budget_key = f->budget_key,
        .budget = f->budget,
        .budget_rule = f->rule,
        .settings = "{\"temperature\":0}",
        .settings_label = "",
        .identity = "00",
        .samples = o->samples,
        .temperature = o->samples > 1 ? 0.6 : 0,
        .max_new_tokens = o->limit,
        .task = &r->tasks[t],
        .baseline = p ? t * o->n_policies : -1,
        .is_baseline = p == 0,
        .n_expected = o->problems * o->samples};
    struct record *list = arena_alloc(&r->arena, (size_t)c->n_expected * sizeof *list);
    for (int i = 0; i < o->problems; i++)
        for (int s = 0; s < o->samples; s++) {
            struct rng shared, own;
            rng_init(&shared, o->seed, (uint64_t)(t * 1000 + i));
            rng_init(&own, o->seed + 1, (uint64_t)(((t * 1000 + i) * 64 + s) * 100 + p));
            double difficulty = k->difficulty + fake_normal(&shared);
            if (p && o->missing_every && (i * o->samples + s) % o->missing_every == 0)
                continue;
            list[c->n_records++] = fake_record(o, f, k, i, s, &own, difficulty);
        }
    c->records = list;
    r->n_expected += c->n_expected;
    r->n_done += c->n_records;
    r->n_cells++;
}

static void fake_header(struct run *r, const char *dir)
{
    *r = (struct run){.dir = dir,
                      .model = "pocket",
                      .weights = "0123456789abcdef",
                      .configuration = "fedcba9876543210",
                      .numerics = "cpu fp32",
                      .device = "some processor",
                      .version = "0.1",
                      .grader = "1",
                      .baseline = "full",
                      .margin = 5};
}

static inline void fake_run(struct run *r, const struct fake_options *o)
{
    fake_header(r, "out/old");
    fake_tasks(r, o);
    r->cells = arena_alloc(&r->arena, (size_t)(o->n_tasks * o->n_policies) * sizeof *r->cells);
    for (int t = 0; t < o->n_tasks; t++)
        for (int p = 0; p < o->n_policies; p++)
            fake_cell(r, o, t, p);
    r->config = json_pack("{s:s, s:s}", "model", "pocket", "note", "<b>&\"quoted\"</b>");
}

/* Full attention and quest, with their abilities. */
#define FAKE_FULL(able)                                                                                      \
    {                                                                                                        \
        "full", "full", "{}", "", "", "", "", "", "everything", 1, able                                      \
    }
#define FAKE_QUEST(able)                                                                                     \
    {                                                                                                        \
        "quest", "quest k_pages=8", "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 0.4, able     \
    }

static const struct fake_task fake_relay = {"relay", "relay", "accuracy", 0, 100, 346};

/* Both on the tasks. */
static inline void fake_two(struct run *r, const struct fake_task *tasks, int n_tasks, int problems,
                            int samples, double full, double quest)
{
    const struct fake_policy policies[] = {FAKE_FULL(full), FAKE_QUEST(quest)};
    const struct fake_options o = {.policies = policies,
                                   .n_policies = 2,
                                   .tasks = tasks,
                                   .n_tasks = n_tasks,
                                   .problems = problems,
                                   .samples = samples,
                                   .limit = 1400,
                                   .seed = 7};
    fake_run(r, &o);
}

/* Full attention alone, on four problems. */
static inline void fake_one(struct run *r)
{
    const struct fake_policy full = FAKE_FULL(0);
    const struct fake_options o = {.policies = &full,
                                   .n_policies = 1,
                                   .tasks = &fake_relay,
                                   .n_tasks = 1,
                                   .problems = 4,
                                   .samples = 1,
                                   .limit = 1000,
                                   .seed = 3};
    fake_run(r, &o);
}

static void fake_release(struct run *r)
{
    json_decref(r->config);
    arena_release(&r->arena);
}

#endif
