/* Hostile texts: every grader must answer at once, whatever 128 KiB holds. The checks are on the verdicts;
 * the time limit of the whole program is the ctest timeout, and each text gets a generous two seconds. */
#include "answer_check/answer_check.h"
#include "evalcore/base/str.h"
#include "tests/check.h"

#include <time.h>

/* Length of the texts. */
static size_t text_length(void)
{
    return check_small() ? 1 << 14 : 1 << 17;
}

/* Seconds of processor time, which do not depend on what else runs on the machine. */
static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All graders on a text that is `unit` repeated 128 KiB long, with something in front and behind.
 * VERDICT_COUNT: any verdict will do. */
static void grade_flood(const char *before, const char *unit, const char *behind, enum verdict want)
{
    struct arena a = {0};
    struct grade g;
    struct choice c;
    const char *letter, *rule;
    size_t n_unit = strlen(unit), n = 0, n_before = strlen(before), n_behind = strlen(behind);
    char *text = xmalloc(text_length() + 64 + n_before + n_behind);
    memcpy(text, before, n_before);
    for (n = n_before; n < text_length(); n += n_unit)
        memcpy(text + n, unit, n_unit);
    memcpy(text + n, behind, n_behind);
    n += n_behind;
    double start = seconds_now();
    for (int thinking = THINKING_AUTO; thinking <= THINKING_NONE; thinking++) {
        struct response r = {text, n, (enum thinking)thinking, FINISH_STOP};
        grade_math(&g, "42", 2, &r, &a);
        if (thinking == THINKING_AUTO && want != VERDICT_COUNT && g.verdict != want) {
            fprintf(stderr, "flood of \"%s\": %s (%s)\n", unit, verdict_name(g.verdict), g.reason);
            CHECK(0);
        }
        CHECK(strlen(g.pred_form) <= 400 && strlen(g.gold_form) <= 400);
        grade_exact(&g, "42", 2, &r, &a);
        grade_choice(&g, 'A', &r, 26, &a);
        choice_extract(&c, &r, 4, &a);
    }
    for (int i = 0; choice_preset_name(i); i++)
        choice_preset(&letter, &rule, i, text, n, 26, &a);
    double seconds = seconds_now() - start;
    if (seconds > 2)
        fprintf(stderr, "flood of \"%s\" took %.1f s\n", unit, seconds);
    CHECK(seconds < 2);
    free(text);
    arena_release(&a);
}

static void gold_flood(const char *unit)
{
    struct arena a = {0};
    struct grade g;
    struct str gold = {0};
    while (gold.len < text_length())
        str_puts(&gold, unit);
    struct response r = {"\\boxed{42}", 10, THINKING_AUTO, FINISH_STOP};
    grade_math(&g, gold.data, gold.len, &r, &a);
    CHECK(g.verdict == VERDICT_ERROR || g.verdict == VERDICT_WRONG);
    str_release(&gold);
    arena_release(&a);
}

/* Not equal, and quickly so. */
static void grade_bomb(const char *pred)
{
    struct arena a = {0};
    struct grade g;
    struct str text = {0};
    str_printf(&text, "\\boxed{%s}", pred);
    struct response r = {text.data, text.len, THINKING_AUTO, FINISH_STOP};
    double start = seconds_now();
    grade_math(&g, "42", 2, &r, &a);
    CHECK_INT(g.verdict, VERDICT_WRONG);
    grade_math(&g, pred, strlen(pred), &r,
               &a); /* the same text is equal even where the value is out of reach */
    CHECK_INT(g.verdict, VERDICT_CORRECT);
    CHECK(seconds_now() - start < 1);
    CHECK(a.used < 64u << 20);
    str_release(&text);
    arena_release(&a);
}

static void grade_nested(const char *open, const char *inner, const char *close, int depth)
{
    struct str s = {0};
    for (int i = 0; i < depth; i++)
        str_puts(&s, open);
    str_puts(&s, inner);
    for (int i = 0; i < depth; i++)
        str_puts(&s, close);
    grade_bomb(s.data);
    str_release(&s);
}

static void grade_floods(void)
{
    static const char *const units[] = {
        "{",
        "}",
        "(",
        "$",
        "$$ ",
        "\\(",
        "\\[",
        "\\",
        "*",
        "\\boxed{",
        "<think",
        "</think",
        "answer",
        "answer: ",
        "answer is ",
        "final answer ",
        "final answer is\n",
        "option ",
        "option A ",
        "(A)",
        "**",
        "it is ",
        "it is (",
        "A or ",
        "9^",
        "\n",
        " ",
        "\xff",
        "\xef\xbc",
        "a,",
        "\xe7\xad\x94\xe6\xa1\x88",
        "answer:\n",
        "\\text{",
        "\\boxed {",
        "\\textbf{",
        "( ",
        "|-",
        "([",
        "_A",
        "**A)",
        "answer:  ",
        "answer\n",
        "final answer is ",
        "\xc2\xa0",
        "~~", /* what Markdown strikes through */
        "~~8~~",
        "<",
        "</",
        "[",
        "</s>", /* the end of a message */
        "an",
        "\xe2",
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        grade_flood("", units[i], "\n\n\\boxed{42}", VERDICT_CORRECT);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) /* no box: declarations are looked at */
        grade_flood("", units[i], "", VERDICT_COUNT);
    grade_flood("", "\\boxed{1}\n", "\\boxed{42}", VERDICT_CORRECT);
    grade_flood("", "\\boxed{1} ", "\\boxed{42}", VERDICT_AMBIGUOUS);
    grade_flood("", "</think>", "\\boxed{42}", VERDICT_CORRECT);
    grade_flood("\\boxed{", "7", "}", VERDICT_WRONG);
    grade_flood("\\boxed{", "{", "}", VERDICT_UNPARSED);
    grade_flood("\\boxed{", "\\fracis \\det", "}", VERDICT_WRONG); /* letters that are applied */
    grade_flood("\\boxed{", "f(B \\frac{d}{dx}", "}", VERDICT_WRONG);
    grade_flood("\\boxed{", "\\int_0^1 f(", "}", VERDICT_WRONG);
    grade_flood("Answer: ", "9", "", VERDICT_WRONG);
    grade_flood("", "7", "", VERDICT_UNPARSED); /* too long for a value that nothing declares */
}

/* Texts that end within a character, in memory of just their size: sanitizers see a read behind it. */
static void grade_cut_characters(void)
{
    static const char *const ends[] = {"Hence it is \xcf",       "So 5 \xe2\x88",      "So 5 \xe2", "7 \xc2",
                                       "Also ist es 5 \xe2\x82", "\xe7\xad\x94 7\xe3", "\xcf"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct arena a = {0};
        struct grade g;
        size_t n = strlen(ends[i]);
        char *text = memcpy(xmalloc(n), ends[i], n);
        struct response r = {text, n, THINKING_AUTO, FINISH_STOP};
        grade_math(&g, "42", 2, &r, &a);
        CHECK(g.verdict != VERDICT_CORRECT);
        grade_choice(&g, 'A', &r, 4, &a);
        CHECK(g.verdict != VERDICT_CORRECT);
        free(text);
        arena_release(&a);
    }
}

int main(void)
{
    grade_floods();
    grade_cut_characters();
    gold_flood("7");
    gold_flood("{");
    gold_flood("\\boxed{");

    grade_bomb("9^{9^{9^9}}");
    grade_bomb("9^9^9^9^9^9");
    grade_bomb("(a+b+c+d+e+f+g+h)^{60}");
    grade_bomb("(((a+b)^{8}+(c+d)^{8})^{7}+x)^{6}");
    grade_bomb("2^{1000000000}");
    grade_nested("(", "7", ")", 1900);
    grade_nested("{", "x", "}", 3000);
    grade_nested("\\frac{1}{", "x", "}", 300);
    grade_nested("\\sqrt{", "x", "}", 500);
    grade_nested("[1,", "2", "]", 600);
    grade_nested("-", "x+1", "", 3000);
    return check_done();
}
