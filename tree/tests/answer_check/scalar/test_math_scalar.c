/* Arithmetic on trees: each line of the data file is a question and its answer, see there. Both orders are
 * asked where the question is symmetric. */
#include "answer_check/read/math_read.h"
#include "answer_check/scalar/scalar.h"
#include "tests/cases.h"

static const struct math_node *read_text(struct math_work *w, const char *text)
{
    const struct math_node *m = math_read(w, (struct span){text, strlen(text)});
    return m && m->kind == MATH_EITHER ? m->child[0] : m;
}

static const char *const words[] = {"unknown", "false", "true"};

/* Asks one question with all steps left. Returns the answer and sets the number of steps that it took. */
static enum math_truth ask_question(const char *a, const char *op, const char *b, int number_in_op,
                                    int64_t *steps)
{
    struct arena arena = {0};
    struct math_work w = {.arena = &arena, .steps = MATH_STEPS};
    const struct math_node *x = read_text(&w, a), *y = read_text(&w, b);
    enum math_truth truth = MATH_UNKNOWN;
    CHECK(x && y);
    if (!strcmp(op, "<"))
        truth = math_scalar_less(&w, x, y);
    else if (!strcmp(op, "~"))
        truth = math_scalar_proportional(&w, x, y);
    else if (!strcmp(op, "rounds"))
        truth = math_rounds_to(&w, x, y, number_in_op);
    else
        truth = math_scalar_equal(&w, x, y);
    *steps = MATH_STEPS - w.steps;
    arena_release(&arena);
    return truth;
}

/* "roots of P  are  R1, R2": the real roots of P in x, in this order; "are not known" when there is no
 * answer. */
static void check_roots(const char *path, int line, char *text)
{
    int before = check_failures;
    struct arena arena = {0};
    struct math_work w = {.arena = &arena, .steps = MATH_STEPS};
    const struct math_node *root[8];
    char *right = case_cut(text, "  are");
    const struct math_node *m = read_text(&w, text + strlen("roots of "));
    int n = math_real_roots(&w, m, "x", root, 8), k = 0;
    if (!strcmp(right, "not known")) {
        CHECK_INT(n, -1);
    } else {
        for (char *one = right, *next; one && *one; one = next, k++) {
            next = case_cut(one, ",");
            if (k >= n || math_scalar_equal(&w, root[k], read_text(&w, one)) != MATH_TRUE) {
                check_failures++;
                fprintf(stderr, "%s:%d: root %d is not %s\n", path, line, k, one);
                break;
            }
        }
        CHECK_INT(n, k);
    }
    if (check_failures > before)
        fprintf(stderr, "    at %s:%d\n", path, line);
    arena_release(&arena);
}

static void check_row(const char *path, int line, char *text)
{
    static const struct {
        const char *separator, *op;
        enum math_truth want;
    } forms[] = {{"  ==  ", "=", MATH_TRUE},
                 {"  !=  ", "=", MATH_FALSE},
                 {"  ??  ", "=", MATH_UNKNOWN},
                 {"  <  ", "<", MATH_TRUE},
                 {"  >=  ", "<", MATH_FALSE},
                 {"  <?  ", "<", MATH_UNKNOWN},
                 {"  ~~  ", "~", MATH_TRUE},
                 {"  !~  ", "~", MATH_FALSE},
                 {"  rounds to  ", "rounds", MATH_TRUE},
                 {"  not to  ", "rounds", MATH_FALSE}};
    if (!strncmp(text, "roots of ", strlen("roots of "))) {
        check_roots(path, line, text);
        return;
    }
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (!strstr(text, forms[k].separator))
            continue;
        char *right = case_cut(text, forms[k].separator), *places = case_cut(right, "  at  ");
        int64_t steps, back = 0;
        enum math_truth got =
            ask_question(text, forms[k].op, right, places ? (int)strtol(places, NULL, 10) : 0, &steps);
        enum math_truth other = got;
        if (!strcmp(forms[k].op, "=") || !strcmp(forms[k].op, "~"))
            other = ask_question(right, forms[k].op, text, 0, &back);
        check_count++;
        if (got != forms[k].want || other != got) {
            check_failures++;
            fprintf(stderr, "%s:%d: %s %s %s is %s (other way %s), want %s; %lld steps\n", path, line, text,
                    forms[k].op, right, words[got], words[other], words[forms[k].want], (long long)steps);
        }
        return;
    }
    check_failures++;
    fprintf(stderr, "%s:%d: no question\n", path, line);
}

/* Symbols, substitution and integers, for which the rows have no form. */
static void check_trees(void)
{
    struct arena arena = {0};
    struct math_work w = {.arena = &arena, .steps = MATH_STEPS};
    const char *names[8];
    int64_t v = 0;
    const struct math_node *m = read_text(&w, "ba + \\sum_{k=1}^n (k n) + b");
    CHECK_INT(math_symbols(&w, m, names, 8), 3);
    CHECK_STR(names[0], "a");
    CHECK_STR(names[1], "b");
    CHECK_STR(names[2], "n");
    CHECK_INT(math_symbols(&w, m, names, 2), -1);
    CHECK(math_has_symbol(m, "n") && !math_has_symbol(m, "k"));
    const struct math_node *at = math_substitute(&w, m, "n", read_text(&w, "3"));
    CHECK(math_scalar_equal(&w, at, read_text(&w, "ab+b+18")) == MATH_TRUE);
    CHECK(math_substitute(&w, m, "k", read_text(&w, "3")) == m); /* bound */
    CHECK(!math_substitute(&w, m, "n", read_text(&w, "k")));     /* would be caught */
    CHECK(math_is_scalar(m) && !math_is_scalar(NULL));
    CHECK(math_is_scalar(read_text(&w, "\\sin 30^\\circ")) && !math_is_scalar(read_text(&w, "30^\\circ")));
    CHECK(math_scalar_integer(&w, read_text(&w, "\\sqrt2\\sqrt8-1/2-7/2"), &v) && v == 0);
    CHECK(math_scalar_integer(&w, read_text(&w, "\\sqrt{7+4\\sqrt3}+\\sqrt{7-4\\sqrt3}"), &v) && v == 4);
    CHECK(!math_scalar_integer(&w, read_text(&w, "5/2"), &v));
    CHECK(!math_scalar_integer(&w, read_text(&w, "2^{100}"), &v));
    CHECK(!math_scalar_integer(&w, read_text(&w, "\\pi"), &v));
    w.steps = 0; /* without steps nothing is decided */
    CHECK(math_scalar_equal(&w, m, m) == MATH_UNKNOWN);
    arena_release(&arena);
}

/* A literal of 100,000 digits, more than an answer may have, equal to itself and to no other. */
static void check_long_number(void)
{
    enum { DIGITS = 100000 };
    struct arena arena = {0};
    struct math_work w = {.arena = &arena, .steps = 2 * MATH_STEPS};
    char *digits[2];
    struct math_node *m[2];
    for (int k = 0; k < 2; k++) {
        digits[k] = arena_alloc(&arena, DIGITS);
        memset(digits[k], '7', DIGITS);
        m[k] = math_node_new(&w, MATH_NUMBER, (struct span){0}, 0, NULL);
        m[k]->literal.digits = digits[k];
        m[k]->literal.n = DIGITS;
    }
    CHECK(math_scalar_equal(&w, m[0], m[1]) == MATH_TRUE);
    digits[1][DIGITS - 1] = '8';
    CHECK(math_scalar_equal(&w, m[0], m[1]) == MATH_FALSE);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct cases c;
    int line;
    char *text;
    (void)argc;
    cases_open(&c, argv[1]);
    while ((text = cases_line(&c, &line)))
        check_row(argv[1], line, text);
    cases_close(&c);
    check_trees();
    check_long_number();
    return check_done();
}
