/* Policy specs from text, presets, defaults and error sentences: rows of policies.test, resolved for the
 * embedded model. Every published preset has a row with all its options and one with its budget rule in
 * words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/policies/policy.h"
#include "evalcore/base/file.h"
#include "tests/check.h"

/* Which presets have a row with their options (1) and one with their rule (2). */
static int shown[16][16];

static void note_preset(const struct policy_spec *s, int what)
{
    for (size_t i = 0; policy_at(i); i++)
        for (size_t k = 0; s->ops == policy_at(i) && s->preset && policy_presets(s->ops)[k].name; k++)
            if (!strcmp(policy_presets(s->ops)[k].name, s->preset))
                shown[i][k] |= what;
}

static void row(const char *path, long number, char *line)
{
    static const char *const marks[] = {" => ", " ~~ ", " !! "};
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec, full;
    struct str got = {0};
    char *split = NULL;
    int kind = 0;
    for (; kind < 3 && !(split = strstr(line, marks[kind])); kind++)
        ;
    if (!split) {
        fprintf(stderr, "%s:%ld: neither =>, ~~ nor !!\n", path, number);
        CHECK(0);
        return;
    }
    *split = 0;
    if (policy_spec_text(&spec, line, &a, &e) || policy_spec_resolve(&full, &spec, "pocket", 8, &a, &e)) {
        str_puts(&got, e.text);
    } else if (kind == 1) {
        struct str before = {0};
        policy_budget_rule(&full, &got);
        policy_budget_rule(&spec, &before); /* also without a model: `list`, --dry-run */
        CHECK(before.len > 8);
        str_release(&before);
        note_preset(&spec, 2);
    } else {
        json_t *o = policy_spec_to_json(&full);
        json_canonical(&got, o);
        json_decref(o);
        note_preset(&spec, 1);
    }
    if ((kind < 2) != (e.code == 0) || strcmp(str_text(&got), split + 4)) {
        fprintf(stderr, "%s:%ld: %s\n  got  %s\n  want %s\n", path, number, line, str_text(&got), split + 4);
        CHECK(0);
    }
    CHECK(1);
    str_release(&got);
    arena_release(&a);
}

static void presets_have_rows(void)
{
    for (size_t i = 0; policy_at(i); i++)
        for (size_t k = 0; policy_presets(policy_at(i)) && policy_presets(policy_at(i))[k].name; k++) {
            if (shown[i][k] != 3)
                fprintf(stderr, "preset %s of %s lacks a row with =>, or one with ~~\n",
                        policy_presets(policy_at(i))[k].name, policy_name(policy_at(i)));
            CHECK_INT(shown[i][k], 3);
        }
}

static void unknown_model(void)
{
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec, full;
    CHECK_INT(policy_spec_text(&spec, "delta:k_pages=64", &a, &e), 0);
    CHECK(policy_spec_resolve(&full, &spec, "models/Qwen3-8B", 36, &a, &e) < 0);
    CHECK(strstr(e.text, "\"layers\" is missing and model models/Qwen3-8B has no default") != NULL);
    CHECK(strstr(e.text, "DeepSeek-R1-Distill-Qwen-7B") != NULL);
    memset(&e, 0, sizeof e);
    CHECK_INT(policy_spec_resolve(&full, &spec, "models/DeepSeek-R1-Distill-Qwen-7B/", 28, &a, &e), 0);
    memset(&e, 0, sizeof e);
    CHECK_INT(policy_spec_text(&spec, "kascade:preset=paper", &a, &e), 0);
    CHECK_INT(policy_spec_resolve(&full, &spec, "models/qwen3-8b", 36, &a, &e), 0);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct file_lines l;
    const char *line;
    size_t n;
    if (argc < 2 || file_lines_open(&l, argv[1], &e))
        return 1;
    while (file_lines_next(&l, &line, &n, &e) == 1)
        if (n && *line != '#') {
            char *copy = strdup(line);
            row(argv[1], l.number, copy);
            free(copy);
        }
    file_lines_close(&l);
    presets_have_rows();
    unknown_model();
    return check_done();
}
