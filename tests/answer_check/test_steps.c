/* Hostile texts by counted work: whatever stands in a response, the grader ends in the verdict that it
 * should, with a bounded arena, and twice the text takes at most about twice the steps; the rows that need
 * more end at the limit. Counted, not timed, so that the sanitized build gives the same numbers; the time is
 * in `kveval bench grade`. Steps may run out at any place: the second half stops comparisons at many of them.
 */
#include <stdlib.h>

#include "answer_check/compat/compat_equal.h"
#include "answer_check/compat/compat_read.h"
#include "answer_check/equal/equal_answer.h"
#include "tests/cases.h"

#if defined(__SANITIZE_ADDRESS__)
enum { FLOOD = 1 << 19 }; /* the same steps in half the time */
#else
enum { FLOOD = 1 << 20 };
#endif
enum { ARENA_MAX = 16 << 20, STEPS_MORE = 5000 };
enum { STRICT = 1, COMPAT = 2 };

static const struct hostile {
    const char *name, *before, *unit, *behind;
    size_t bytes; /* the unit is repeated up to them */
    int limited;  /* modes in which the steps run out */
    enum verdict strict, compat;
} hostile[] = {
    {"open braces", "", "{", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"closed braces", "", "}", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"open boxes", "", "\\boxed{", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"open boxes, one closed", "", "\\boxed{", "}", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"a box in front", "\\boxed{42}", "{", "", FLOOD, 0, VERDICT_CORRECT, VERDICT_UNPARSED},
    {"open fractions", "", "\\frac{", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"open brackets", "", "[", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"dollar signs", "", "$", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"spaced dollar signs", "", "$ ", "", FLOOD, COMPAT, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"open formulas", "", "\\(", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"formulas", "", "$x$ ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_WRONG},
    {"everything unbalanced", "", "{([$\\(\\[\\left(\\boxed{\\frac{$$", "", FLOOD, COMPAT, VERDICT_UNPARSED,
     VERDICT_WRONG},
    {"everything unbalanced in a box", "\\boxed{", "([$\\(\\[\\left(|\\frac1", "}", FLOOD, COMPAT,
     VERDICT_WRONG, VERDICT_WRONG},
    {"tags", "", "<think</think", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"10,000 boxes", "", "\\boxed{42} ", "", 110000, 0, VERDICT_CORRECT, VERDICT_WRONG},
    {"10,000 boxes that differ", "", "\\boxed{42} \\boxed{43} ", "", 110000, 0, VERDICT_AMBIGUOUS,
     VERDICT_WRONG},
    {"a run of long boxes", "", "\\boxed{1+x+x^2+x^3+x^4+x^5+x^6+x^7+x^8}, ", "", 100000, 0, VERDICT_WRONG,
     VERDICT_WRONG},
    {"100,000 digits", "\\boxed{", "7", "}", 100000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"100,000 bare digits", "", "7", "", 100000, 0, VERDICT_UNPARSED, VERDICT_WRONG},
    {"16,000 digits", "\\boxed{", "7", "}", 16000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"a tower", "\\boxed{", "9^{9^{9^9}}", "}", 1, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"a tower of 2", "\\boxed{", "2^", "2}", 14000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"a factorial", "\\boxed{", "100000!", "}", 1, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"sums of sums", "\\boxed{", "\\sum_{i=1}^{1000}", "ijk}", 40, STRICT | COMPAT, VERDICT_WRONG,
     VERDICT_WRONG},
    {"a long product", "\\boxed{", "\\prod_{k=1}^{100000}k", "}", 1, STRICT | COMPAT, VERDICT_WRONG,
     VERDICT_WRONG},
    {"a long sum", "\\boxed{", "+x^2", "}", 12000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"a power of a sum", "\\boxed{", "(a+b+c+d+e)^{40}", "}", 1, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"roots", "\\boxed{", "\\sqrt{2+", "}", 700, 0, VERDICT_UNPARSED, VERDICT_WRONG},
    {"a list", "\\boxed{", "1,", "1}", 14000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"equations", "\\boxed{", "1=", "1}", 14000, COMPAT, VERDICT_WRONG, VERDICT_WRONG},
    {"plus-minus", "\\boxed{", "\\pm 1", "}", 10000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"subscripts", "\\boxed{", "1_2", "}", 14000, 0, VERDICT_WRONG, VERDICT_WRONG},
    {"readings", "\\boxed{", "\\log x ", "}", 14000, STRICT, VERDICT_WRONG, VERDICT_WRONG},
    {"code", "", "__import__('os').system('x');", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"code in a box", "\\boxed{", "__import__('os').system('x');", "}", FLOOD, 0, VERDICT_WRONG,
     VERDICT_UNPARSED},
    {"answers", "", "answer: ", "", FLOOD, 0, VERDICT_WRONG, VERDICT_UNPARSED},
    {"answers before a long line", "answer: answer: answer: answer: ", "x ", "", FLOOD, 0, VERDICT_WRONG,
     VERDICT_UNPARSED},
    {"final answers", "", "final answer is ", "", FLOOD, 0, VERDICT_WRONG, VERDICT_UNPARSED},
    {"numbers", "", "12 ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_WRONG},
    {"blanks", "", " ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"lines", "", "\n", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"zeros", "", "", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"offers", "", "Let me know. ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"offers of one section", "", "Let me know. ", "", 16000, 0, VERDICT_UNPARSED,
     VERDICT_UNPARSED}, /* crashed */
    {"second thoughts", "\\boxed{42}\n", "Wait, ", "", FLOOD, 0, VERDICT_CORRECT, VERDICT_UNPARSED},
    {"sentences that open formulas", "", "\\[a. ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"sentences with commands", "", "\\a. ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"objects", "", "{\"answer\":", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"letters and bars", "", "(A) | ", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"bytes that are no UTF-8", "", "\xff\xfe\x80", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"halves of characters", "", "\xe7\xad", "", FLOOD, 0, VERDICT_UNPARSED, VERDICT_UNPARSED},
    {"no UTF-8 in a box", "\\boxed{", "\xff\xfe\x80", "}", 14000, 0, VERDICT_WRONG, VERDICT_WRONG},
};

static void fill_text(struct str *out, const struct hostile *h, size_t bytes)
{
    str_puts(out, h->before);
    do
        str_add(out, h->unit, *h->unit ? strlen(h->unit) : 1); /* "": a NUL */
    while (out->len < bytes);
    str_puts(out, h->behind);
}

static struct grade grade_flood(const struct hostile *h, int mode, size_t bytes)
{
    struct str text = {0};
    struct arena a = {0};
    struct grade g;
    fill_text(&text, h, bytes);
    struct response r = {text.data, text.len, THINKING_AUTO, FINISH_STOP};
    if (mode == COMPAT)
        grade_math_compat(&g, "42", 2, &r, &grade_options_default, &a);
    else
        grade_math(&g, "42", 2, &r, &a);
    CHECK(strlen(g.pred_form) <= 400 && strlen(g.gold_form) <= 400);
    CHECK(a.used <= ARENA_MAX);
    arena_release(&a);
    str_release(&text);
    return g;
}

static void check_flood(const struct hostile *h, int mode)
{
    int before = check_failures;
    int64_t limit = mode == COMPAT ? 3 * MATH_STEPS : MATH_STEPS; /* reference, response, comparison */
    struct grade g = grade_flood(h, mode, h->bytes);
    int64_t half = grade_flood(h, mode, h->bytes / 2).steps;
    CHECK_INT(g.verdict, mode == COMPAT ? h->compat : h->strict);
    CHECK(g.steps >= 0 && g.steps <= limit);
    if (h->limited & mode)
        CHECK(g.steps >= MATH_STEPS);
    else
        CHECK(g.steps <= 2 * half + STEPS_MORE && g.steps < MATH_STEPS);
    if (check_failures > before)
        fprintf(stderr, "    %s, %s: %s in %lld steps, %lld for half of it\n", h->name,
                mode == COMPAT ? "compat" : "strict", verdict_name(g.verdict), (long long)g.steps,
                (long long)half);
}

/* Where a report compares wrong answers of votes, forms of at most 400 bytes, one of them is the reference.
 */
static void check_reference(const struct hostile *h)
{
    struct arena a = {0};
    struct grade g;
    struct str gold = {0}, text = {0};
    struct hostile form = {.before = "", .unit = h->unit, .behind = ""};
    fill_text(&gold, &form, 400 - strlen(h->unit));
    str_printf(&text, "\\boxed{1+%s}", str_text(&gold));
    struct response r = {text.data, text.len, THINKING_NONE, FINISH_STOP};
    grade_math(&g, gold.data, gold.len, &r, &a);
    CHECK(g.steps >= 0 && g.steps <= MATH_STEPS);
    CHECK(a.used <= ARENA_MAX);
    str_release(&gold);
    str_release(&text);
    arena_release(&a);
}

/* ---- running out of steps */

struct outcome {
    int equal;
    int64_t steps; /* taken */
};

static struct outcome compare_strict(struct span gold, struct span pred, int64_t steps)
{
    struct arena a = {0};
    struct math_work w = {.arena = &a, .steps = steps};
    struct answer g = answer_read(&w, gold), p = answer_read(&w, pred);
    struct answer_match m = answer_compare(&w, &g, &p, &grade_options_default.rules);
    CHECK(w.steps >= 0 && m.how);
    arena_release(&a);
    return (struct outcome){m.equal, steps - w.steps};
}

static struct outcome compare_compat(struct span gold, struct span pred, int64_t steps)
{
    struct arena a = {0};
    struct math_work w = {.arena = &a, .steps = steps};
    struct compat_candidate g, p;
    struct compat_comparison c = {.w = &w, .rounding = 6};
    compat_extract(&g, &w, gold, &grade_options_default);
    compat_extract(&p, &w, pred, &grade_options_default);
    int equal = g.tree && p.tree && compat_equal(&c, g.tree, p.tree);
    CHECK(w.steps >= 0);
    arena_release(&a);
    return (struct outcome){equal, steps - w.steps};
}

typedef struct outcome comparison(struct span gold, struct span pred, int64_t steps);

/* With fewer steps nothing may be equal that is not with all of them. */
static void starve(const char *gold, const char *pred, comparison *compare)
{
    enum { STOPS = 8 };
    struct span g = {gold, strlen(gold)}, p = {pred, strlen(pred)};
    struct outcome all = compare(g, p, MATH_STEPS);
    for (int k = 0; k < STOPS; k++)
        CHECK(compare(g, p, all.steps * k / STOPS).equal <= all.equal);
    CHECK_INT(compare(g, p, all.steps).equal, all.equal);
    CHECK_INT(compare(g, p, all.steps).steps, all.steps);
}

static void starve_both(const char *gold, const char *pred)
{
    int before = check_failures;
    struct str g = {0}, p = {0};
    str_printf(&g, "$%s$", gold);
    str_printf(&p, "$%s$", pred);
    starve(gold, pred, compare_strict);
    starve(g.data, p.data, compare_compat);
    str_release(&g);
    str_release(&p);
    if (check_failures > before)
        fprintf(stderr, "    %s and %s, short of steps\n", gold, pred);
}

/* An answer is compared once and the reference parsed once, wherever the answer stands: the whole grading
 * takes the steps of one comparison, and a few for reading what is around the answer. */
static void compared_once(void)
{
    static const struct {
        const char *before, *behind;
    } places[] = {{"So \\boxed{", "}"}, {"The final answer is $", "$"}, {"$", "$"}, {"So this.\n\n$", "$"}};
    static const char gold[] = "\\sum_{k=1}^{50}\\frac{1}{k^2}+\\sqrt{2}",
                      pred[] = "\\sqrt{2}+\\sum_{k=1}^{50}k^{-2}";
    int64_t once =
        compare_strict((struct span){gold, strlen(gold)}, (struct span){pred, strlen(pred)}, MATH_STEPS)
            .steps;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct arena a = {0};
        struct grade g;
        const char *text = arena_printf(&a, "%s%s%s", places[i].before, pred, places[i].behind);
        struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
        grade_math(&g, gold, strlen(gold), &r, &a);
        CHECK_INT(g.verdict, VERDICT_CORRECT);
        CHECK(g.steps >= once && g.steps < once + 200);
        arena_release(&a);
    }
}

/* Two long answers that differ in their last item only: each look through them counts. */
static void long_answers(void)
{
    enum { LEVELS = 10, ITEMS = 3500 };
    struct str gold = {0};
    for (int i = 0; i < LEVELS; i++)
        str_puts(&gold, "(1,");
    for (int i = 0; i < ITEMS; i++)
        str_puts(&gold, "x=1,");
    str_puts(&gold, "2");
    for (int i = 0; i < LEVELS; i++)
        str_puts(&gold, ")");
    char *pred = xmalloc(gold.len + 1);
    memcpy(pred, gold.data, gold.len + 1);
    *strchr(pred, '2') = '3';
    struct outcome r =
        compare_strict((struct span){gold.data, gold.len}, (struct span){pred, gold.len}, MATH_STEPS);
    CHECK(!r.equal && r.steps > (int64_t)(2 * LEVELS * gold.len));
    free(pred);
    str_release(&gold);
}

int main(void)
{
    struct cases c;
    int line;
    char *text, *pred;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        for (int mode = STRICT; mode <= COMPAT; mode++)
            check_flood(&hostile[i], mode);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        check_reference(&hostile[i]);
    compared_once();
    long_answers();
    starve_both("1/3", "\\prod_{k=1}^{100000}k"); /* compat followed a null pointer */
    starve_both("\\sqrt2+1/3", "\\sum_{k=1}^{50}\\frac{1}{k^2}");
    cases_open(&c, SOURCE_DIR "/tests/answer_check/equal/math_equal.test");
    while ((text = cases_line(&c, &line)))
        if ((pred = case_cut(text, strstr(text, "  ==  ")   ? "  ==  "
                                   : strstr(text, "  =>  ") ? "  =>  "
                                                            : "  !=  ")))
            starve_both(text, pred);
    cases_close(&c);
    return check_done();
}
