/* Budgets in tokens: where a policy stands in the figure "accuracy against budget". */
#include <math.h>

#include "evalcore/report/data/report_budget.h"
#include "tests/check.h"

static const struct row {
    const char *what, *policy, *params;
    double tokens, beside; /* at a context of 1,000 tokens, 340 of them the prompt's; tokens NAN: unknown */
    int needs_limit;
} rows[] = {
    {"full attention has none", "full", "{}", INFINITY, 0, 0},
    {"pages are 16 tokens", "quest", "{\"k_pages\":8}", 128, 0, 0},
    {"raas 512 stood at 852: the prompt was added to its budget", "raas", "{\"budget_tokens\":512}", 512, 340,
     0},
    {"a prompt inside the budget", "raas", "{\"budget_tokens\":512,\"pin_counts\":true}", 512, 0, 0},
    {"a prompt that fills the budget", "raas", "{\"budget_tokens\":256,\"pin_counts\":true}", 256, 84, 0},
    {"a share of the context", "kascade", "{\"ratio\":0.2}", 200, 0, 0},
    {"a compression ratio", "dms", "{\"cr\":4}", 250, 0, 0},
    {"quest cr=4 is a share of the longest request", "quest", "{\"cr\":4}", 435, 0, 1},
    {"snapkv cuts the prompt and then keeps everything: its budget was the context", "snapkv",
     "{\"budget_tokens\":76}", 736, 0, 0},
    {"omnikv takes a share of the prompt and all that is generated", "omnikv",
     "{\"ratio\":0.1,\"of\":\"prompt\"}", 694, 0, 0},
    {"a policy of another version", "later", "{\"ratio\":0.5}", NAN, 0, 1},
    {"an option of another version", "raas", "{\"budget_tokens\":512,\"old_option\":3}", NAN, 0, 1},
};

static const struct ended {
    const char *what;
    enum finish_reason finish;
    int tokens, steps; /* steps that the engine took */
} endings[] = {
    {"cut off at the limit", FINISHED_LENGTH, 4, 3},
    {"a completion that ended by itself was counted a step short", FINISHED_STOP, 4, 4},
    {"ended at a stop string", FINISHED_STOP, 4, 3},
    {"the end token alone: no step, and no budget exceeded", FINISHED_STOP, 0, 0},
    {"one token and the end token", FINISHED_STOP, 1, 1},
};

static const struct windowed {
    const char *what;
    int n_layers, windows[3];
} models[] = {
    {"no windows", 0, {0}},
    {"a stop string of a model with windows counted a step more", 3, {8, 0, 31}},
    {"every layer has one", 2, {8, 8}},
};

/* Two pages hold 32 tokens, and the prompts end around them. Behind a prompt of P tokens full attention reads
 * P + 1 in the first step, P + 2 in the second, and a layer with a window no more than that. */
static double own_reads(const struct windowed *m, int context)
{
    double sum = 0;
    for (int l = 0; l < m->n_layers; l++)
        sum += m->windows[l] && m->windows[l] < context ? m->windows[l] : context;
    return m->n_layers ? sum / m->n_layers : context;
}

static void test_steps(const struct windowed *m)
{
    struct arena a = {0};
    struct run_problem problem = {.prompt_tokens = 30};
    const struct run_task task = {.problems = &problem, .n_problems = 1};
    struct cell c = {.policy = "quest",
                     .params = "{\"k_pages\":2}",
                     .budget_key = "k_pages",
                     .max_new_tokens = 20,
                     .windows = m->n_layers ? m->windows : NULL,
                     .n_layers = m->n_layers,
                     .task = &task};
    struct cell_budget b = report_budget_read(&c, &a);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        for (int prompt = 26; prompt < 35; prompt++) {
            const struct ended *w = &endings[i];
            struct record r = {.finish = w->finish, .prompt_tokens = prompt, .tokens = w->tokens};
            for (int k = 1; k <= w->steps; k++)
                r.kv.reads_full += own_reads(m, prompt + k);
            int ok = fabs(report_decode_steps(&c, &r) - w->steps) < 1e-9 &&
                     fabs(run_own_reads(&c, prompt, w->steps) - r.kv.reads_full) < 1e-9 &&
                     report_exceeds_budget(&b, &r) == (w->steps > 0 && prompt + w->steps > 32);
            if (!ok)
                fprintf(stderr, "%s, %s, behind a prompt of %d: %g steps\n", m->what, w->what, prompt,
                        report_decode_steps(&c, &r));
            CHECK(ok);
        }
    arena_release(&a);
}

static const struct limited {
    const char *what;
    int own, asked, total, context; /* 0: none */
    int limit;                      /* behind a prompt of 864 tokens */
} limits[] = {
    {"what none asks for is the program's limit", 0, 0, 0, 0, 32768},
    {"a problem's own limit was taken for 32,768", 128, 0, 0, 4096, 128},
    {"an explicit limit goes before a problem's own", 128, 200, 0, 4096, 200},
    {"the context ends a completion", 0, 4000, 0, 4096, 3232},
    {"max_total_tokens was not looked at", 0, 4000, 1000, 4096, 136},
    {"a context below max_total_tokens", 0, 4000, 8192, 4096, 3232},
    {"a prompt that fills the context", 128, 0, 0, 800, 0},
};

/* quest cr=2 reads (prompt + limit) / 2 tokens in pages; a context beyond that was taken for one within. */
static void test_limits(void)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct limited *w = &limits[i];
        struct arena a = {0};
        struct run_problem problem = {.prompt_tokens = 864, .own_max_new = w->own};
        const struct run_task task = {.problems = &problem, .n_problems = 1};
        struct cell c = {.policy = "quest",
                         .params = "{\"cr\":2}",
                         .budget_key = "cr",
                         .max_new_tokens = w->asked ? w->asked : 32768,
                         .is_limit_set = w->asked > 0,
                         .max_total_tokens = w->total,
                         .max_context = w->context,
                         .task = &task};
        struct cell_budget b = report_budget_read(&c, &a);
        double whole = ceil((864 + w->limit) / 2.0 / 16) * 16;
        struct record r = {.finish = FINISHED_LENGTH, .prompt_tokens = 864, .tokens = 101};
        int ok = run_limit(&c, 0) == w->limit && report_exceeds_budget(&b, &r) == (864 + 100 > whole);
        if (!ok)
            fprintf(stderr, "%s: a limit of %d\n", w->what, run_limit(&c, 0));
        CHECK(ok);
        arena_release(&a);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        test_steps(&models[i]);
    test_limits();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *w = &rows[i];
        struct arena a = {0};
        struct cell c = {.policy = w->policy, .params = w->params, .budget_key = ""};
        struct cell_budget b = report_budget_read(&c, &a);
        struct budget_tokens t = report_budget_tokens(&b, 1000, 340, 1400);
        int ok = isnan(w->tokens)   ? isnan(t.tokens) && b.unknown
                 : isinf(w->tokens) ? isinf(t.tokens) && !report_has_budget(&b, &c)
                                    : fabs(t.tokens - w->tokens) < 1e-9 && report_has_budget(&b, &c);
        ok = ok && fabs(t.beside - w->beside) < 1e-9 && report_budget_needs_limit(&b) == w->needs_limit;
        if (!ok)
            fprintf(stderr, "%s: %g tokens and %g besides, needs the limit: %d\n", w->what, t.tokens,
                    t.beside, report_budget_needs_limit(&b));
        CHECK(ok);
        arena_release(&a);
    }
    return check_done();
}
