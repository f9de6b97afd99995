/* The names of the verdicts, used alike by journals, tables and commands, and the graders' version. */
#include "answer_check/verdict/grade.h"

#include <string.h>

static const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_CORRECT] = "correct",   [VERDICT_WRONG] = "wrong",           [VERDICT_AMBIGUOUS] = "ambiguous",
    [VERDICT_UNPARSED] = "unparsed", [VERDICT_UNFINISHED] = "unfinished", [VERDICT_TRUNCATED] = "truncated",
    [VERDICT_ERROR] = "error",
};

const char *verdict_name(enum verdict v)
{
    return (unsigned)v < VERDICT_COUNT ? verdict_names[v] : "error";
}

int verdict_find(const char *name, enum verdict *out)
{
    for (int i = 0; i < VERDICT_COUNT; i++) {
        if (!strcmp(verdict_names[i], name)) {
            *out = (enum verdict)i;
            return 1;
        }
    }
    return 0;
}

const char *answer_check_version(void)
{
    return "6";
}
