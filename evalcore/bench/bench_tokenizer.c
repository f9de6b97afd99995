/* Tokenizer throughput on one core: generated problems of all families, prompt by prompt. */
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"
#include "evalcore/bench/bench.h"
#include "tasks/task.h"

static int encode_all(const struct tokenizer *t, const struct task *tasks, int n_tasks, size_t *bytes,
                      double *seconds, struct err *e)
{
    struct tokenizer_scratch s = {0};
    struct token_list ids = {0};
    double start = clock_seconds();
    *bytes = 0;
    for (int round = 0; round < 8 && !e->code; round++)
        for (int k = 0; k < n_tasks && !e->code; k++)
            for (size_t i = 0; i < tasks[k].n_problems && !e->code; i++) {
                ids.n = 0;
                tokenizer_encode(t, &s, tasks[k].problems[i].prompt, tasks[k].problems[i].prompt_len, 1, &ids,
                                 e);
                *bytes += tasks[k].problems[i].prompt_len;
            }
    *seconds = clock_seconds() - start;
    tokenizer_scratch_release(&s);
    token_list_release(&ids);
    return e->code;
}

int bench_tokenizer(struct bench *b, struct err *e)
{
    static const char *const families[] = {"pocket.relay", "pocket.algebra", "pocket.lookup",
                                           "pocket.choice"};
    struct task tasks[4];
    struct engine *en = NULL;
    struct engine_options o = {.model = b->model, .max_batch = 1, .max_context = 64};
    memset(tasks, 0, sizeof tasks);
    int rc = engine_open(&en, &o, e), n = 0;
    for (; n < 4 && !rc; n++) {
        struct task_options t;
        param_defaults(task_params, &t);
        t.problems = 256;
        rc = task_open(&tasks[n], families[n], &t, NULL, NULL, e);
    }
    size_t bytes;
    double best = 0, s;
    if (!rc && !engine_tokenizer(en))
        rc = err_set(e, ERR_USAGE, "model %s has no tokenizer.json", b->model);
    for (int run = 0; run < 3 && !rc; run++) {
        rc = encode_all(engine_tokenizer(en), tasks, n, &bytes, &s, e);
        best = !run || s < best ? s : best;
    }
    if (!rc)
        bench_print(b, "tokenizer, one core", (double)bytes / best / 1e6, "MB/s", 0);
    for (int i = 0; i < n; i++)
        task_close(&tasks[i]);
    engine_close(en);
    return rc;
}
