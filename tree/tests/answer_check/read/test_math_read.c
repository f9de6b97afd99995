/* The reader of mathematics. Each line of the data file is a text and the tree that is read from it, in
 * prefix form ("==>"), as printed for people ("-->"), or as LaTeX ("~~>"). The functions here test what no
 * text may do: exceed the limits, or be read only in part. */
#include "answer_check/read/math_read.h"
#include "evalcore/base/arena.h"
#include "tests/cases.h"

static const struct math_node *read_text(struct arena *a, const char *text, size_t n, int64_t *steps)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    const struct math_node *m = math_read(&w, (struct span){text, n});
    if (steps)
        *steps = MATH_STEPS - w.steps;
    return m;
}

static void data_file(const char *path)
{
    struct cases c;
    int line;
    char *text;
    cases_open(&c, path);
    while ((text = cases_line(&c, &line))) {
        struct arena a = {0};
        struct str s = {0};
        int infix = strstr(text, "  -->  ") != NULL, latex = strstr(text, "  ~~>  ") != NULL;
        char *want = case_cut(text, infix ? "  -->  " : latex ? "  ~~>  " : "  ==>  ");
        const struct math_node *m = read_text(&a, text, strlen(text), NULL);
        if (infix)
            math_print_infix(&s, m);
        else if (latex)
            math_print_latex(&s, m);
        else
            math_print(&s, m);
        check_count++;
        if (!want || strcmp(str_text(&s), want) != 0) {
            check_failures++;
            fprintf(stderr, "%s:%d: %s is read as\n    %s\nnot\n    %s\n", path, line, text, str_text(&s),
                    want ? want : "(nothing)");
        }
        str_release(&s);
        arena_release(&a);
    }
    cases_close(&c);
}

/* The text must be unreadable, and that must be found within the steps. */
static void check_refused(const char *text, size_t n)
{
    struct arena a = {0};
    int64_t steps;
    const struct math_node *m = read_text(&a, text, n, &steps);
    if (m)
        fprintf(stderr, "read: %.*s\n", n > 60 ? 60 : (int)n, text);
    CHECK(!m);
    CHECK(steps <= MATH_STEPS);
    arena_release(&a);
}

/* Repeats `unit` as often as it fits into `bytes`. */
static char *repeat_text(const char *unit, size_t bytes, size_t *n)
{
    size_t k = strlen(unit);
    struct str s = {0};
    for (*n = 0; *n + k <= bytes; *n += k)
        str_puts(&s, unit);
    return s.data;
}

static void read_hostile(void)
{
    static const char *const units[] = {"{",  "(",       "\\frac",   "\\sqrt{",        "9^{",     "|",
                                        "$",  "\\left(", "[",        "\\begin{cases}", "_",       "\\text{",
                                        "x^", "1/",      "((((((1,", "\\{x|",          "where x", "-",
                                        "=",  "\\\\",    "a|(b|("};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n;
        char *text = repeat_text(units[i], MATH_TREE_BYTES, &n);
        check_refused(text, n);
        free(text);
    }
    size_t n;
    char *digits = repeat_text("7", 100000, &n);
    check_refused(digits, n);
    free(digits);
    check_refused("1\0+2", 4);
    check_refused("\xff\xfe", 2);
    check_refused("x\xc3", 2);
    check_refused("", 0);
}

/* Long but reasonable texts are read, in a number of steps that grows with their length. */
static void long_ones(void)
{
    static const char *const units[] = {"1+", "x ", "12, ", "(1,2), ", "a/", "100, ", "xy^2+"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct arena a = {0};
        size_t n;
        int64_t steps;
        char *text = repeat_text(units[i], 150, &n);
        text[n - 1] = '1';
        CHECK(read_text(&a, text, n, &steps) != NULL);
        CHECK(steps < 100 * 150);
        free(text);
        arena_release(&a);
    }
}

static int check_readings(const char *text)
{
    struct arena a = {0};
    const struct math_node *m = read_text(&a, text, strlen(text), NULL);
    int n = !m ? 0 : m->kind == MATH_EITHER ? m->n : 1;
    arena_release(&a);
    return n;
}

int main(int argc, char **argv)
{
    (void)argc;
    data_file(argv[1]);
    read_hostile();
    long_ones();
    CHECK_INT(check_readings("x+1"), 1);
    CHECK_INT(check_readings("f(x) + \\log x + i + e + (1,2) + 3/4x + x^12 + 7:30"), MATH_TREE_READINGS);
    for (int f = 0; f < MATH_FUNCTIONS; f++)
        CHECK(math_function_name((enum math_function)f) != NULL);
    return check_done();
}
