/* Option letters against choice_cases.jsonl (the letter that is meant, and what five public extractors
 * return) and the rows for choice of grader_cases.jsonl. */
#include "answer_check/answer_check.h"
#include "tests/oracle.h"

enum { PRESETS = 5 };

struct counts {
    struct oracle_count strict, preset[PRESETS], responses;
};

static int is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void choice_row(void *context, const json_t *row, long number)
{
    struct counts *c = context;
    struct arena a = {0};
    struct choice got;
    const char *text = json_string_value(json_object_get(row, "text"));
    struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
    choice_extract(&got, &r, 4, &a);
    const char letter[2] = {got.letter, 0};
    oracle_add(&c->strict,
               is_same(json_string_value(json_object_get(row, "intended")), got.letter ? letter : NULL) &&
                   is_same(json_string_value(json_object_get(row, "status")), choice_status_name(got.status)),
               number);
    for (int i = 0; i < PRESETS; i++) {
        const char *found = NULL, *rule;
        const json_t *want = json_object_get(row, choice_preset_name(i));
        CHECK_INT(choice_preset(&found, &rule, i, text, r.len, 4, &a), 0);
        oracle_add(&c->preset[i], want && is_same(json_string_value(want), found), number);
    }
    arena_release(&a);
}

/* "gold" is the letter, or "<none>" for none. If "expected" is 0, any other letter or none must be the
 * result. */
static void response_row(void *context, const json_t *row, long number)
{
    struct counts *c = context;
    const char *kind = json_string_value(json_object_get(row, "kind"));
    if (!kind || strncmp(kind, "mcq", 3) != 0 || json_is_true(json_object_get(row, "policy")))
        return;
    struct arena a = {0};
    struct choice got;
    const char *gold = json_string_value(json_object_get(row, "gold"));
    const char *text = json_string_value(json_object_get(row, "pred"));
    const json_t *n = json_object_get(row, "n_choices");
    struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
    choice_extract(&got, &r, json_is_integer(n) ? (int)json_integer_value(n) : 4, &a);
    const char letter[2] = {got.letter, 0};
    int equal = is_same(gold, got.letter ? letter : "<none>");
    oracle_add(&c->responses, equal == (json_integer_value(json_object_get(row, "expected")) == 1), number);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : NULL;
    struct counts c = {0};
    oracle_rows(dir, "choice_cases.jsonl", choice_row, &c);
    oracle_rows(dir, "grader_cases.jsonl", response_row, &c);
    oracle_check(&c.strict, "strict", 0.99);
    for (int i = 0; i < PRESETS; i++)
        oracle_check(&c.preset[i], choice_preset_name(i), 1);
    oracle_check(&c.responses, "mcq and mcq_extract", 0.95);
    return check_done();
}
