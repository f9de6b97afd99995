/* The graders on one core: microseconds a pair over a file of pairs (--pairs, JSON Lines with "gold" and
 * "pred"), and milliseconds for hostile responses of up to a megabyte, for math in its two modes and for
 * multiple choice. */
#include <string.h>

#include "answer_check/answer_check.h"
#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/bench/bench.h"
#include "kernels/limits.h"

enum { RUNS = 5, MEGABYTE = 1 << 20 };

typedef void grader(const char *gold, size_t n, const struct response *r, struct arena *a);

static void grade_as_strict(const char *gold, size_t n, const struct response *r, struct arena *a)
{
    struct grade g;
    grade_math(&g, gold, n, r, a);
}

static void grade_as_compat(const char *gold, size_t n, const struct response *r, struct arena *a)
{
    struct grade g;
    grade_math_compat(&g, gold, n, r, &grade_options_default, a);
}

static void grade_as_choice(const char *gold, size_t n, const struct response *r, struct arena *a)
{
    struct choice c;
    (void)gold, (void)n;
    choice_extract(&c, r, 4, a);
}

static double grade_seconds(grader *grade, const char *gold, size_t n_gold, const char *pred, size_t n_pred)
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        struct arena a = {0};
        struct response r = {.text = pred, .len = n_pred};
        double start = clock_seconds(), s;
        grade(gold, n_gold, &r, &a);
        s = clock_seconds() - start;
        best = !run || s < best ? s : best;
        arena_release(&a);
    }
    return best;
}

/* ---- hostile responses */

static const struct hostile {
    const char *name, *before, *unit, *behind;
    size_t bytes; /* the unit is repeated up to them */
} hostile[] = {
    {"open braces", "", "{", "", MEGABYTE},
    {"closed braces", "", "}", "", MEGABYTE},
    {"open boxes", "", "\\boxed{", "", MEGABYTE},
    {"open fractions", "", "\\frac{", "", MEGABYTE},
    {"dollar signs", "", "$", "", MEGABYTE},
    {"spaced dollar signs", "", "$ ", "", MEGABYTE},
    {"open formulas", "", "\\(", "", MEGABYTE},
    {"formulas", "", "$x$ ", "", MEGABYTE},
    {"everything unbalanced", "", "{([$\\(\\[\\left(\\boxed{\\frac{$$", "", MEGABYTE},
    {"tags", "", "<think</think", "", MEGABYTE},
    {"10,000 boxes", "", "\\boxed{42} ", "", 110000},
    {"100,000 digits", "\\boxed{", "7", "}", 100000},
    {"100,000 bare digits", "", "7", "", 100000},
    {"a tower", "\\boxed{", "9^{9^{9^9}}", "}", 1},
    {"a tower of 2", "\\boxed{", "2^", "2}", 14000},
    {"a factorial", "\\boxed{", "100000!", "}", 1},
    {"sums of sums", "\\boxed{", "\\sum_{i=1}^{1000}", "ijk}", 40},
    {"readings", "\\boxed{", "\\log x ", "}", 14000},
    {"subscripts", "\\boxed{", "1_2", "}", 14000},
    {"a long sum", "\\boxed{", "+x^2", "}", 12000},
    {"a power of a sum", "\\boxed{", "(a+b+c+d+e)^{40}", "}", 1},
    {"roots", "\\boxed{", "\\sqrt{2+", "}", 700},
    {"a list", "\\boxed{", "1,", "1}", 14000},
    {"plus-minus", "\\boxed{", "\\pm 1", "}", 10000},
    {"code", "", "__import__('os').system('x');", "", MEGABYTE},
    {"answers", "", "answer: ", "", MEGABYTE},
    {"final answers", "", "final answer is ", "", MEGABYTE},
    {"options", "", "option A ", "", MEGABYTE},
    {"letters", "", "(A) ", "", MEGABYTE},
    {"asterisks", "", "*", "", MEGABYTE},
    {"numbers", "", "12 ", "", MEGABYTE},
    {"blanks", "", " ", "", MEGABYTE},
    {"lines", "", "\n", "", MEGABYTE},
    {"bytes that are no UTF-8", "", "\xff\xfe\x80", "", MEGABYTE},
    {"halves of characters", "", "\xe7\xad", "", MEGABYTE},
};

static const struct {
    const char *name;
    grader *grade;
} graders[] = {{"grade", grade_as_strict}, {"grade, compat", grade_as_compat}, {"choice", grade_as_choice}};

static void bench_hostile(struct bench *b)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        const struct hostile *h = &hostile[i];
        struct str text = {0};
        char name[96];
        str_puts(&text, h->before);
        do
            str_puts(&text, h->unit);
        while (text.len < h->bytes);
        str_puts(&text, h->behind);
        for (size_t k = 0; k < sizeof graders / sizeof *graders; k++) {
            snprintf(name, sizeof name, "%s, hostile: %s", graders[k].name, h->name);
            bench_print(b, name, 1e3 * grade_seconds(graders[k].grade, "42", 2, text.data, text.len), "ms",
                        0);
        }
        str_release(&text);
    }
}

/* ---- pairs */

struct times {
    double *seconds;
    size_t n, cap;
};

static int read_pairs(struct times *t, const char *path, struct err *e)
{
    struct file_lines lines;
    const char *line;
    size_t n;
    int rc = file_lines_open(&lines, path, e);
    if (rc)
        return rc;
    while ((rc = file_lines_next(&lines, &line, &n, e)) > 0) {
        json_t *row = NULL;
        const char *gold, *pred;
        rc = json_read_text(&row, line, n, path, e);
        if (!rc)
            rc = json_get_str(row, "gold", &gold, path, e) || json_get_str(row, "pred", &pred, path, e);
        if (!rc) {
            xgrow(&t->seconds, &t->cap, t->n + 1, sizeof *t->seconds);
            t->seconds[t->n++] = grade_seconds(grade_as_strict, gold, strlen(gold), pred, strlen(pred));
        }
        json_decref(row);
        if (rc)
            break;
    }
    file_lines_close(&lines);
    return rc ? e->code : 0;
}

int bench_grade(struct bench *b, struct err *e)
{
    struct times t = {0};
    if (b->pairs && read_pairs(&t, b->pairs, e))
        return e->code;
    if (t.n) {
        double median = limits_median(t.seconds, (int)t.n); /* sorts them */
        bench_print(b, "grade, median pair", 1e6 * median, "us", 0);
        bench_print(b, "grade, 99 % of pairs below", 1e6 * t.seconds[(t.n - 1) * 99 / 100], "us", 0);
        bench_print(b, "grade, slowest pair", 1e6 * t.seconds[t.n - 1], "us", 0);
    }
    free(t.seconds);
    bench_hostile(b);
    return 0;
}
