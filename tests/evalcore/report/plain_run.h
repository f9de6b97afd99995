#ifndef TESTS_EVALCORE_REPORT_PLAIN_RUN_H
#define TESTS_EVALCORE_REPORT_PLAIN_RUN_H

#include <string.h>

#include "tests/evalcore/report/fake_run.h"

/* A run of seven cells written by hand: one letter a job, by problem and then sample.
 * C correct, W wrong, U unparsed, T truncated, F unfinished, E error, '.' missing */
struct plain_cell {
    const char *label, *policy, *params, *k, *l, *key, *budget, *rule, *jobs;
    double density;
};
static const struct plain_cell relay_cells[] = {
    {"full", "full", "{}", "", "", "", "", "everything", "CCCCCCCCCW", 1},
    {"delta k_pages=8 l_pages=2", "delta", "{\"k_pages\":8,\"l_pages\":2}", "8", "2", "k_pages", "8",
     "8 pages of 16 tokens, the last 2 among them", "FFWWFUCCWT", 0.5},
    {"delta k_pages=8 l_pages=4", "delta", "{\"k_pages\":8,\"l_pages\":4}", "8", "4", "k_pages", "8",
     "8 pages of 16 tokens, the last 4 among them", "CFCWCUCCCW", 0.5},
    {"delta k_pages=16 l_pages=2", "delta", "{\"k_pages\":16,\"l_pages\":2}", "16", "2", "k_pages", "16",
     "16 pages of 16 tokens, the last 2 among them", "CCCWCUCCCW", 0.75},
    {"delta k_pages=16 l_pages=4", "delta", "{\"k_pages\":16,\"l_pages\":4}", "16", "4", "k_pages", "16",
     "16 pages of 16 tokens, the last 4 among them", "CCCCCCCCCC", 0.75},
};
static const struct plain_cell quiz_cells[] = {
    {"full", "full", "{}", "", "", "", "", "everything", "CCCCCWWW", 1},
    {"quest <b>|k_pages=4", "quest", "{\"k_pages\":4}", "4", "", "k_pages", "4", "4 pages of 16 tokens",
     "CCWCWE..", 1},
};

static void plain_record(struct record *r, const struct plain_cell *p, int at, int samples, char job)
{
    static const char letters[] = "CWUTFE";
    static const enum verdict verdicts[] = {VERDICT_CORRECT,   VERDICT_WRONG,      VERDICT_UNPARSED,
                                            VERDICT_TRUNCATED, VERDICT_UNFINISHED, VERDICT_ERROR};
    enum verdict v = verdicts[strchr(letters, job) - letters];
    int cut = v == VERDICT_TRUNCATED || v == VERDICT_UNFINISHED, failed = v == VERDICT_ERROR;
    *r = (struct record){.problem = at / samples,
                         .sample = at % samples,
                         .key = "k",
                         .prompt_tokens = 100,
                         .tokens = failed ? 0
                                   : cut  ? 300
                                          : 101 + 10 * at,
                         .finish = failed ? FINISHED_ERROR
                                   : cut  ? FINISHED_LENGTH
                                          : FINISHED_STOP,
                         .error = failed ? "no memory" : "",
                         .verdict = v,
                         .score = v == VERDICT_CORRECT,
                         .reason = "",
                         .gold_form = "",
                         .pred_form = ""};
    if (failed)
        return;
    r->kv.reads_full = 200.0 * (cut ? r->tokens - 1 : r->tokens); /* the end token takes a step, too */
    r->kv.reads = r->kv.reads_full * p->density;
    r->kv.aux_reads = r->kv.reads_full / 8;
    r->kv.peak_tokens = 100 + r->tokens;
    if (samples > 1) /* records that are older than these counts */
        return;
    r->kv.prefill_reads = p->density == 0.5 ? 2020 : 5050;
    r->kv.prefill_aux_reads = p->density == 0.5 ? 252.5 : 0;
    r->kv.selected =
        p->density == 0.5 ? 0.75 * r->kv.reads : r->kv.reads; /* its heads choose for themselves */
    r->kv.key_elements = p->density == 0.75 ? 0.875 * r->kv.reads_full : 0;
}

static void plain_cells(struct run *r, const struct run_task *t, const struct plain_cell *list, int n,
                        int samples)
{
    int base = r->n_cells;
    for (int i = 0; i < n; i++) {
        const struct plain_cell *p = &list[i];
        struct cell *c = &r->cells[r->n_cells++];
        *c = (struct cell){.id = arena_printf(&r->arena, "%s-%08d", p->policy, r->n_cells),
                           .label = p->label,
                           .policy_label = p->label,
                           .model = "pocket",
                           .policy = p->policy,
                           .preset = i == 1 ? "paper" : "",
                           .params = p->params,
                           .k_pages = p->k,
                           .l_pages = p->l,
                           .budget_tokens = "",
                           .budget_key = p->key,
                           .budget = p->budget,
                           .budget_rule = p->rule,
                           .settings = "{\"temperature\":0}",
                           .settings_label = "",
                           .identity = "",
                           .samples = samples,
                           .temperature = samples > 1 ? 0.6 : 0,
                           .max_new_tokens = 300,
                           .task = t,
                           .baseline = i ? base : -1,
                           .is_baseline = !i,
                           .n_expected = (int)strlen(p->jobs)};
        struct record *records = arena_alloc(&r->arena, strlen(p->jobs) * sizeof *records);
        for (int k = 0; p->jobs[k]; k++)
            if (p->jobs[k] != '.')
                plain_record(&records[c->n_records++], p, k, samples, p->jobs[k]);
        c->records = records;
        r->n_expected += c->n_expected;
        r->n_done += c->n_records;
    }
}

static void plain_run(struct run *r)
{
    fake_header(r, "out/plain");
    r->n_tasks = 2;
    r->tasks = arena_alloc(&r->arena, 2 * sizeof *r->tasks);
    r->cells = arena_alloc(&r->arena, 7 * sizeof *r->cells);
    for (int t = 0; t < 2; t++) {
        struct run_task *k = &r->tasks[t];
        *k = (struct run_task){.name = t ? "choice" : "relay",
                               .label = t ? "my \"quiz\", part 1" : "relay",
                               .version = "1",
                               .metric = "accuracy",
                               .source = "feedfacefeedface",
                               .options = "{}",
                               .file = "",
                               .n_problems = t ? 4 : 10};
        k->problems = arena_alloc(&r->arena, 10 * sizeof *k->problems);
        for (int i = 0; i < k->n_problems; i++)
            k->problems[i] = (struct run_problem){.id = arena_printf(&r->arena, "p%d", i + 1),
                                                  .prompt = "SECRET",
                                                  .prompt_sha256 = "",
                                                  .gold = "REFERENCE"};
    }
    plain_cells(r, &r->tasks[0], relay_cells, 5, 1);
    plain_cells(r, &r->tasks[1], quiz_cells, 2, 2);
    r->config = json_pack("{s:s}", "note", "</pre><script>alert(1)</script>");
}

#endif
