/* Mode compat: the data file has one row for each of Math-Verify's rules and for each of its known
 * accidents. Rows that name no target search for formulas and numbers. */
#include "tests/answer_check/answer_case.h"

static int read_count(const struct test_case *t, const char *key, int otherwise)
{
    const char *text = case_text(t, key);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void check_case(const struct test_case *t)
{
    const char *targets = case_text(t, "targets"), *gold = case_need(t, "gold"), *pred = case_need(t, "pred");
    struct grade_options o = grade_options_default;
    struct response r = {pred, strlen(pred), THINKING_AUTO, FINISH_STOP};
    struct arena a = {0};
    struct grade g;
    o.mode = GRADE_COMPAT;
    if (targets) {
        o.latex = strstr(targets, "latex") != NULL;
        o.expr = strstr(targets, "expr") != NULL;
        o.string = strstr(targets, "string") != NULL;
    }
    o.boxed_match_priority = read_count(t, "boxed", o.boxed_match_priority);
    o.float_rounding = read_count(t, "rounding", o.float_rounding);
    o.strict = read_count(t, "strict", o.strict);
    o.allow_set_relation_comp = read_count(t, "both_ways", o.allow_set_relation_comp);
    if (case_text(t, "thinking"))
        r.thinking = THINKING_OPEN;
    CHECK_INT(grade_math_compat(&g, gold, strlen(gold), &r, &o, &a), 0);
    CASE_STR(t, "verdict", verdict_name(g.verdict));
    CHECK(g.reason && g.gold_form && g.pred_form);
    CHECK_NEAR(g.score, g.verdict == VERDICT_CORRECT, 0);
    if (case_text(t, "pred_form"))
        CASE_STR(t, "pred_form", g.pred_form);
    arena_release(&a);
}

/* Bytes that no row can hold. Each of these texts was once read past its end, which the sanitized build
 * would notice. */
static void check_odd_bytes(void)
{
    static const struct {
        const char *name, *text;
        size_t n;
    } row[] = {
        {"a NUL behind a leading point", "$.\0 + 5^$", 9},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct response r = {row[i].text, row[i].n, THINKING_AUTO, FINISH_STOP};
        struct arena a = {0};
        struct grade g;
        CHECK_INT(grade_math_compat(&g, "$1$", 3, &r, &grade_options_default, &a), 0);
        if (g.verdict != VERDICT_WRONG && g.verdict != VERDICT_UNPARSED) {
            fprintf(stderr, "%s: %s\n", row[i].name, verdict_name(g.verdict));
            CHECK(0);
        }
        arena_release(&a);
    }
}

/* Hostile texts lead to some verdict, and quickly, because the tests also run with sanitizers. */
static void check_hostile_texts(void)
{
    static const char *const piece[] = {
        "{",       "\\[",      "$",      "\\boxed{", "\\boxed{1} ", "\\frac",
        "(",       "x(",       "x_{",    "1+",       "answer ",     "final answer is ",
        "1 ",      "\xff\xc3", "|",      "9^{",      ",",           "=",
        "\\text{", "$$ $",     "a and ", "\\left(",  "- "};
    enum { BYTES = 100000 };
    char *text = xmalloc(BYTES + 64);
    for (size_t k = 0; k < sizeof piece / sizeof *piece; k++)
        for (int closed = 0; closed < 2; closed++) {
            size_t n = 0, len = strlen(piece[k]);
            while (n < BYTES)
                for (size_t i = 0; i < len; i++)
                    text[n++] = piece[k][i];
            text[n++] = closed ? '}' : '\n';
            struct response r = {text, n, THINKING_AUTO, FINISH_STOP};
            struct arena a = {0};
            struct grade g;
            CHECK_INT(grade_math_compat(&g, "$1$", 3, &r, &grade_options_default, &a), 0);
            CHECK_INT(grade_math_compat(&g, text, n, &r, &grade_options_default, &a), 0);
            arena_release(&a);
        }
    free(text);
}

int main(int argc, char **argv)
{
    (void)argc;
    cases_each(argv[1], check_case);
    check_odd_bytes();
    check_hostile_texts();
    return check_done();
}
