/* The rules that move scores: each line of the data file is one pair under named values. */
#include "tests/answer_check/answer_case.h"

static void run_row(const char *path, int line, char *text)
{
    struct arena a = {0};
    struct err e = {0};
    struct grade g = {0};
    struct grade_options o = grade_options_default;
    int equal = strstr(text, "  ==  ") != NULL;
    char *gold = case_cut(text, " "), *pred = gold ? case_cut(gold, equal ? "  ==  " : "  !=  ") : NULL,
         box[512];
    check_count++;
    if (strcmp(text, "default") && param_set_pairs(grade_rule_params, &o.rules, &a, text, "row", &e))
        pred = NULL;
    if (pred) {
        snprintf(box, sizeof box, "The result is \\boxed{%s}", pred);
        struct response r = {.text = box, .len = strlen(box)};
        grade_math_as(&g, gold, strlen(gold), &r, &o, &a);
    }
    if (!pred || (g.verdict == VERDICT_CORRECT) != equal) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s%s\n", path, line, pred ? g.reason : "malformed row ", pred ? "" : e.text);
    }
    arena_release(&a);
}

/* Names, values and defaults: all 0, each of two values, told apart in the text. */
static void check_table(void)
{
    struct arena a = {0};
    struct err e = {0};
    struct grade_rules p;
    param_defaults(grade_rule_params, &p);
    CHECK(!memcmp(&p, &grade_options_default.rules, sizeof p));
    CHECK_STR(grade_rules_text(&p, &a),
              "percent=hundredth units=drop degrees=drop decimals=round duplicates=count");
    CHECK_INT(param_set_pairs(grade_rule_params, &p, &a,
                              "percent=number,units=keep,degrees=keep,decimals=exact,duplicates=collapse",
                              "test", &e),
              0);
    CHECK_STR(grade_rules_text(&p, &a),
              "percent=number units=keep degrees=keep decimals=exact duplicates=collapse");
    CHECK(p.percent == PERCENT_NUMBER && p.units == MARK_KEEP && p.degrees == MARK_KEEP &&
          p.decimals == DECIMALS_EXACT && p.duplicates == DUPLICATES_COLLAPSE);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    check_table();
    cases_each_line(argv[1], run_row);
    return check_done();
}
