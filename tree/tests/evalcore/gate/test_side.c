/* What a run folder becomes as a side of the gate: which failures count, and what of a task is compared. */
#include <string.h>

#include "evalcore/gate/gate.h"
#include "tests/check.h"

static const char *golds[] = {"7"}, *corrected[] = {"8"};

struct changed { /* beside the usual run; 0, NULL: as usual */
    const char *const *golds;
    const char *options, *own_stop;
    int own_max_new, tokens;
    enum finish_reason finish;
    enum verdict verdict;
};

static void side(struct gate_side *out, const struct changed *h, struct arena *a)
{
    struct err e = {0};
    struct run_problem problem = {.id = "p0",
                                  .prompt_sha256 = "0123456789abcdef0123456789abcdef",
                                  .gold = h->golds ? h->golds[0] : golds[0],
                                  .golds = h->golds ? h->golds : golds,
                                  .n_golds = 1,
                                  .own_stop = h->own_stop,
                                  .own_max_new = h->own_max_new};
    struct run_task task = {.name = "aime24",
                            .label = "aime24",
                            .version = "1",
                            .metric = "accuracy",
                            .options = h->options ? h->options : "{\"file\":\"a/aime24.jsonl\",\"steps\":2}",
                            .problems = &problem,
                            .n_problems = 1};
    struct record record = {.finish = h->finish, .verdict = h->verdict, .tokens = h->tokens ? h->tokens : 3};
    struct cell cell = {.policy_label = "quest",
                        .params = "{}",
                        .settings = "{\"temperature\":0.6,\"seed\":1}",
                        .settings_label = "",
                        .samples = 1,
                        .temperature = 0.6,
                        .task = &task,
                        .records = &record,
                        .n_expected = 1,
                        .n_records = 1};
    struct run run = {.dir = "run",
                      .model = "pocket",
                      .weights = "w",
                      .configuration = "c",
                      .numerics = "cpu",
                      .version = "1",
                      .grader = "g",
                      .margin = 5,
                      .cells = &cell,
                      .n_cells = 1,
                      .n_expected = 1,
                      .n_done = 1};
    CHECK_INT(gate_side_run(out, &run, 0, a, &e), 0);
}

static const struct {
    const char *what;
    struct changed now;
    int code;
} rows[] = {
    {"nothing", {.verdict = VERDICT_CORRECT}, 0},
    {"the data lies elsewhere", {.options = "{\"file\":\"b/aime24.jsonl\",\"steps\":2}"}, 0},
    {"another size of problems", {.options = "{\"file\":\"a/aime24.jsonl\",\"steps\":3}"}, ERR_USAGE},
    {"a corrected reference answer", {.golds = corrected}, ERR_USAGE},
    {"a limit of its own", {.own_max_new = 8}, ERR_USAGE},
    {"a stop string of its own", {.own_stop = "\n"}, ERR_USAGE},
};

int main(void)
{
    struct arena a = {0};
    struct gate_side base, now;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        side(&base, &(struct changed){.verdict = VERDICT_CORRECT}, &a);
        side(&now, &rows[i].now, &a);
        int rc = gate_match(&base, &now, &e);
        if (rc != rows[i].code)
            fprintf(stderr, "%s: %d %s\n", rows[i].what, rc, e.text);
        CHECK_INT(rc, rows[i].code);
    }
    /* A job that failed and an answer that the grader refused are both errors. The failed one counted as an
     * answer without a token, so that answers looked shorter. */
    struct gate_setting s = {.label = "quest"};
    struct gate_limits limits = {.length = 10, .errors = 1};
    side(&now, &(struct changed){.finish = FINISHED_ERROR, .verdict = VERDICT_ERROR}, &a);
    CHECK_INT(now.cells[0].problems[0].all.errors, 1);
    gate_guards(&s, &base, &now, &limits, 1, 1, &a);
    CHECK_NEAR(s.guard[0].now, 1, 1e-12);
    side(&now, &(struct changed){.finish = FINISHED_STOP, .verdict = VERDICT_ERROR, .tokens = 4}, &a);
    CHECK_INT(now.cells[0].problems[0].all.errors, 1);
    gate_guards(&s, &base, &now, &limits, 1, 1, &a);
    CHECK_NEAR(s.guard[0].now, 1.25, 1e-12); /* (1 + 4) / (1 + 3) */
    arena_release(&a);
    return check_done();
}
