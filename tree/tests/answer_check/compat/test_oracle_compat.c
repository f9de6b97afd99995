/* Mode compat against Math-Verify 0.8.0's recorded verdicts, in a folder that is not part of the repository
 * (tests/oracle.h): its own cases, each with the options that it needs, and its verdicts
 * on other graders' cases, on built pairs and on model outputs. */
#include "answer_check/answer_check.h"
#include "tests/oracle.h"

struct file {
    const char *name, *gold, *pred, *verdict;
    int box_gold, box_pred;
    double least; /* the share of equal verdicts that is required */
    struct oracle_count count;
};

static struct file files[] = {
    {"math_verify_cases.jsonl", "gold", "pred", "expected", 0, 0, 0.99, {0}},
    {"grader_cases.jsonl", "gold", "pred", "mv080_raw", 0, 0, 0.99, {0}},
    {"math_pairs.jsonl", "gold", "pred", "mv", 1, 1, 0.999, {0}},
    {"model_outputs.jsonl", "gold_answer_field", "response", "mv080", 1, 0, 0.99, {0}},
};

static void options_of(struct grade_options *o, const json_t *config)
{
    const json_t *types = json_object_get(config, "match_types"), *type, *value;
    size_t i;
    *o = grade_options_default;
    o->mode = GRADE_COMPAT;
    if (types)
        o->latex = o->expr = o->string = 0;
    json_array_foreach((json_t *)types, i, type)
    {
        o->latex |= !strcmp(json_string_value(type), "latex");
        o->expr |= !strcmp(json_string_value(type), "expr");
        o->string |= !strcmp(json_string_value(type), "string");
    }
    if ((value = json_object_get(config, "boxed_match_priority")))
        o->boxed_match_priority = (int)json_integer_value(value);
    if ((value = json_object_get(config, "float_rounding")))
        o->float_rounding = (int)json_integer_value(value);
    if ((value = json_object_get(config, "strict")))
        o->strict = json_is_true(value);
    if ((value = json_object_get(config, "allow_set_relation_comp")))
        o->allow_set_relation_comp = json_is_true(value);
}

/* The text; in a box if the recorded verdict was obtained that way. */
static const char *text_of(struct arena *a, const json_t *row, const char *key, int box, size_t *n)
{
    const json_t *s = json_object_get(row, key);
    *n = json_string_length(s);
    if (!box)
        return json_string_value(s);
    const char *text = arena_printf(a, "\\boxed{%.*s}", (int)*n, json_string_value(s));
    *n = strlen(text);
    return text;
}

static void grade_row(void *context, const json_t *row, long number)
{
    struct file *f = context;
    const json_t *verdict = json_object_get(row, f->verdict);
    struct grade_options o;
    struct arena a = {0};
    struct grade g;
    size_t n, len;
    if (!json_is_integer(verdict) && !json_is_boolean(verdict))
        return;
    const char *gold = text_of(&a, row, f->gold, f->box_gold, &n),
               *pred = text_of(&a, row, f->pred, f->box_pred, &len);
    struct response r = {pred, len, THINKING_AUTO, FINISH_STOP};
    options_of(&o, json_object_get(row, "config"));
    grade_math_compat(&g, gold, n, &r, &o, &a);
    int expected = json_is_true(verdict) || json_integer_value(verdict) != 0;
    oracle_add(&f->count, (g.verdict == VERDICT_CORRECT) == expected, number);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        oracle_rows(argc > 1 ? argv[1] : NULL, files[i].name, grade_row, &files[i]);
        oracle_check(&files[i].count, files[i].name, files[i].least);
    }
    return check_done();
}
