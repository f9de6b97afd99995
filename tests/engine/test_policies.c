/* Policy specs from text, presets, defaults and error sentences: rows of policies.test, resolved for the
 * embedded model. Also: every published preset of every policy parses once its budget is given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/policy.h"
#include "evalcore/base/file.h"
#include "tests/check.h"

static void row(const char *path, long number, char *line)
{
    char *ok = strstr(line, " => "), *bad = strstr(line, " !! ");
    char *split = ok ? ok : bad;
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec, full;
    struct str got = {0};
    if (!split) {
        fprintf(stderr, "%s:%ld: neither => nor !!\n", path, number);
        CHECK(0);
        return;
    }
    *split = 0;
    if (policy_spec_text(&spec, line, &a, &e) || policy_spec_resolve(&full, &spec, "pocket", 8, &a, &e)) {
        str_puts(&got, e.text);
    } else {
        json_t *o = policy_spec_to_json(&full);
        json_canonical(&got, o);
        json_decref(o);
    }
    if ((ok != NULL) != (e.code == 0) || strcmp(str_text(&got), split + 4)) {
        fprintf(stderr, "%s:%ld: %s\n  got  %s\n  want %s\n", path, number, line, str_text(&got), split + 4);
        CHECK(0);
    }
    CHECK(1);
    str_release(&got);
    arena_release(&a);
}

static void presets_parse(void)
{
    for (size_t i = 0; policy_at(i); i++)
        for (const struct preset *p = policy_presets(policy_at(i)); p && p->name; p++) {
            static const char *const budget[][2] = {{"quest", "k_pages=8"},
                                                    {"raas", "budget_tokens=64"},
                                                    {"delta", "k_pages=16"},
                                                    {"kascade", "min_tokens=128"}};
            char text[256];
            const char *extra = "";
            for (size_t b = 0; b < sizeof budget / sizeof *budget; b++)
                if (!strcmp(budget[b][0], policy_name(policy_at(i))) && !strstr(p->pairs, "ratio="))
                    extra = budget[b][1];
            snprintf(text, sizeof text, "%s:preset=%s%s%s", policy_name(policy_at(i)), p->name,
                     *extra ? "," : "", extra);
            struct err e = {0};
            struct arena a = {0};
            struct policy_spec spec;
            if (policy_spec_text(&spec, text, &a, &e))
                fprintf(stderr, "%s: %s\n", text, e.text);
            CHECK_INT(e.code, 0);
            struct str rule = {0};
            if (!e.code)
                policy_budget_rule(&spec, &rule);
            CHECK(rule.len > 10);
            str_release(&rule);
            arena_release(&a);
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
    presets_parse();
    unknown_model();
    return check_done();
}
