/* The graders on one core: microseconds a response, over a file (--pairs, JSON Lines with "gold" and "pred")
 * or over responses that are made up, and milliseconds for hostile responses of up to a megabyte, for math in
 * its two modes and for multiple choice. */
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
    {"second thoughts", "\\boxed{42}\n", "Wait, ", "", MEGABYTE},
    {"offers", "", "Let me know. ", "", MEGABYTE},
    {"sentences that open formulas", "", "\\[a. ", "", MEGABYTE},
    {"objects", "", "{\"answer\":", "", MEGABYTE},
    {"struck out", "", "~~8~~", "", MEGABYTE},
    {"open tags", "", "<", "", MEGABYTE},
    {"open closing tags", "", "</", "", MEGABYTE},
    {"open brackets", "", "[", "", MEGABYTE},
    {"ends of messages", "", "</s>", "", MEGABYTE},
    {"beginnings of a noun", "", "an", "", MEGABYTE},
    {"backslashes", "", "\\", "", MEGABYTE},
    {"a string that stays open", "{\"answer\":\"", "\\\"", "", MEGABYTE},
    {"a line of 16 KB", "", "f(x)", "", 16000},
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

/* ---- responses */

struct times {
    double *seconds;
    size_t n, cap;
};

static void add_time(struct times *t, grader *grade, const char *gold, const char *pred, size_t n)
{
    xgrow(&t->seconds, &t->cap, t->n + 1, sizeof *t->seconds);
    t->seconds[t->n++] = grade_seconds(grade, gold, strlen(gold), pred, n);
}

static void print_times(struct bench *b, const char *of, struct times *t)
{
    char name[64];
    double sum = 0, median = limits_median(t->seconds, (int)t->n); /* sorts them */
    for (size_t i = 0; i < t->n; i++)
        sum += t->seconds[i];
    const struct {
        const char *what;
        double seconds;
    } figures[] = {{"mean response", sum / (double)t->n},
                   {"median response", median},
                   {"99 % of responses below", t->seconds[(t->n - 1) * 99 / 100]},
                   {"slowest response", t->seconds[t->n - 1]}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        snprintf(name, sizeof name, "%s, %s", of, figures[i].what);
        bench_print(b, name, 1e6 * figures[i].seconds, "us", 0);
    }
    free(t->seconds);
    *t = (struct times){0};
}

/* Every answer under every ending, behind thinking and none to 16 lines of a solution. */
static void bench_made_up(struct bench *b)
{
    static const struct {
        const char *gold, *answer;
    } answers[] = {{"42", "42"},
                   {"\\frac{3}{8}", "0.375"},
                   {"2\\sqrt{3}", "\\sqrt{12}"},
                   {"x^2-1", "(x-1)(x+1)"},
                   {"(1,-2)", "(1,-2)"},
                   {"[-2,7]", "\\left[-2, 7\\right]"},
                   {"\\{1,2,3\\}", "\\{3,2,1\\}"},
                   {"\\frac{\\pi}{6}", "\\frac{\\pi}{3}"},
                   {"y=2x+1", "y = 2x - 1"},
                   {"\\text{no solution}", "\\text{no solution}"},
                   {"12\\text{ cm}", "12"},
                   {"\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}"}};
    static const char *const endings[][2] = {
        {"So the answer is $\\boxed{", "}$."},
        {"**Answer:** $", "$"},
        {"Therefore, the final answer is $", "$. I hope it is correct."},
        {"<answer>$", "$</answer>"},
        {"Hence we obtain $", "$."},
        {"$$\\boxed{", "}$$\n\nWait, let me double-check that. Yes, this is correct."}};
    static const char line[] =
        "Next we square both sides and find $x^2 + 2x = 15$, so that $x$ is 3 or $-5$.\n";
    static const char *const letters[] = {"**Answer: C**", "The correct answer is C.", "$\\boxed{C}$",
                                          "So we can rule out A and D, and B fails. That leaves C.",
                                          "{\"answer\": \"C\", \"confidence\": 0.9}"};
    struct times math = {0}, choice = {0};
    struct str text = {0};
    for (int lines = 0; lines <= 16; lines = lines ? 4 * lines : 1) {
        text.len = 0;
        for (int i = 0; i < 64; i++)
            str_puts(&text, line);
        str_puts(&text, "</think>\n\n");
        for (int i = 0; i < lines; i++)
            str_puts(&text, line);
        size_t n = text.len;
        for (size_t k = 0; k < sizeof answers / sizeof *answers; k++)
            for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
                text.len = n;
                str_printf(&text, "%s%s%s", endings[i][0], answers[k].answer, endings[i][1]);
                add_time(&math, grade_as_strict, answers[k].gold, text.data, text.len);
            }
        for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
            text.len = n;
            str_puts(&text, letters[i]);
            add_time(&choice, grade_as_choice, "C", text.data, text.len);
        }
    }
    print_times(b, "grade", &math);
    print_times(b, "choice", &choice);
    str_release(&text);
}

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
        if (!rc)
            add_time(t, grade_as_strict, gold, pred, strlen(pred));
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
    if (t.n)
        print_times(b, "grade", &t);
    else
        bench_made_up(b);
    bench_hostile(b);
    return 0;
}
