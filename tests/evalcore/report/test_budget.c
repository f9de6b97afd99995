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
    {"a policy of another version", "later", "{\"ratio\":0.5}", NAN, 0, 1},
    {"an option of another version", "raas", "{\"budget_tokens\":512,\"old_option\":3}", NAN, 0, 1},
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *w = &rows[i];
        struct arena a = {0};
        struct cell c = {.policy = w->policy, .params = w->params, .budget_key = "", .max_new_tokens = 1400};
        struct cell_budget b = report_budget_read(&c, &a);
        struct budget_tokens t = report_budget_tokens(&b, 1000, 340);
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
