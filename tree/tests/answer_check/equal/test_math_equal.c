/* Equality of mathematical answers: each line of the data file is one pair. It is also asked the other way
 * round, and every answer must equal itself. */
#include "tests/answer_check/answer_case.h"

static enum verdict grade_box(const char *gold, const char *pred, struct arena *a, const char **reason)
{
    char text[512];
    snprintf(text, sizeof text, "Some steps.\n\nThe result is \\boxed{%s}", pred);
    struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
    struct grade g;
    grade_math(&g, gold, strlen(gold), &r, a);
    *reason = g.reason;
    return g.verdict;
}

/* How a formula is laid out changes no verdict: \displaystyle, $..$, blanks around it, \dfrac for \frac. */
static void check_layout(const char *path, int line, const char *gold, const char *pred, int equal,
                         struct arena *a)
{
    struct str s[4] = {0};
    const char *reason;
    str_printf(&s[0], "\\displaystyle %s", pred);
    str_printf(&s[1], strpbrk(pred, "$") ? "%s" : "$%s$", pred);
    str_printf(&s[2], "  %s  ", pred);
    for (const char *p = pred; *p; p++)
        if (!strncmp(p, "\\frac", 5))
            str_puts(&s[3], "\\d");
        else
            str_add(&s[3], p, 1);
    for (int i = 0; i < 4; i++) {
        if (grade_box(gold, str_text(&s[i]), a, &reason) != (equal ? VERDICT_CORRECT : VERDICT_WRONG)) {
            check_failures++;
            fprintf(stderr, "%s:%d: %s and %s, laid out in another way: %s\n", path, line, gold,
                    str_text(&s[i]), reason);
        }
        str_release(&s[i]);
    }
}

/* Is the row right? Both ways round: of "=>" the other one is wrong, of "==" and "!=" it is the same. */
static void run_row(const char *path, int line, char *text)
{
    struct arena a = {0};
    static const char *const signs[] = {"  ==  ", "  !=  ", "  =>  "};
    const char *sign = NULL, *reason = "";
    for (int i = 0; i < 3 && !sign; i++)
        sign = strstr(text, signs[i]) ? signs[i] : NULL;
    char *pred = sign ? case_cut(text, sign) : NULL;
    int one_way = sign == signs[2], equal = sign != signs[1];
    check_count++;
    if (!pred || grade_box(text, pred, &a, &reason) != (equal ? VERDICT_CORRECT : VERDICT_WRONG)) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s and %s: %s\n", path, line, text, pred ? pred : "(nothing)", reason);
        arena_release(&a);
        return;
    }
    /* Rows of "==" may be one-way too where one side only is a decimal or has an equals sign. */
    int same_form = !strchr(text, '=') == !strchr(pred, '=') && !strchr(text, '.') == !strchr(pred, '.');
    enum verdict back = equal && !one_way ? VERDICT_CORRECT : VERDICT_WRONG;
    if ((one_way || same_form) && grade_box(pred, text, &a, &reason) != back) {
        check_failures++;
        fprintf(stderr, "%s:%d: the other way round: %s\n", path, line, reason);
    }
    CHECK_INT(grade_box(pred, pred, &a, &reason), VERDICT_CORRECT);
    check_layout(path, line, text, pred, equal, &a);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    cases_each_line(argv[1], run_row);
    return check_done();
}
