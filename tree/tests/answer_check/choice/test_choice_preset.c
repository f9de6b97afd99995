/* The presets of choice: the data file tests what the public extractors return, the functions here what is
 * refused. */
#include "answer_check/answer_check.h"
#include "tests/cases.h"

static int find_preset(const char *name)
{
    for (int i = 0; choice_preset_name(i); i++)
        if (!strcmp(choice_preset_name(i), name))
            return i;
    return -1;
}

static void check_refusals(void)
{
    struct arena a = {0};
    const char *letter = NULL, *rule = NULL;
    CHECK(!choice_preset_name(-1));
    CHECK(choice_preset(&letter, &rule, -1, "(A)", 3, 4, &a) != 0);
    CHECK(choice_preset(&letter, &rule, 99, "(A)", 3, 4, &a) != 0);
    CHECK(choice_preset(&letter, &rule, 0, "(A)", 3, 0, &a) != 0);
    CHECK(choice_preset(&letter, &rule, 0, "(A)", 3, 27, &a) != 0);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct cases cs;
    int line;
    char *name;
    cases_open(&cs, argv[1]);
    while ((name = cases_line(&cs, &line))) {
        char *want = case_cut(name, "|"), *options = want ? case_cut(want, "|") : NULL;
        char *text = options ? case_cut(options, "|") : NULL;
        struct arena a = {0};
        const char *got = NULL, *rule = "";
        check_count++;
        if (!text) {
            fprintf(stderr, "%s:%d: not a case\n", argv[1], line);
            return 1;
        }
        case_newlines(text);
        if (choice_preset(&got, &rule, find_preset(name), text, strlen(text), (int)strtol(options, NULL, 10),
                          &a))
            got = "(refused)";
        if (strcmp(want, got ? got : "-") != 0) {
            check_failures++;
            fprintf(stderr, "%s:%d: %s: want %s, got %s\n", argv[1], line, name, want, got ? got : "-");
        }
        CHECK(strlen(rule) > 5);
        arena_release(&a);
    }
    cases_close(&cs);
    check_refusals();
    return check_done();
}
