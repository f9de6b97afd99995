/* The graders' version, which mode grades a mathematical answer, and the options that both start from. */
#include "answer_check/answer_check.h"

#include <gmp.h>
#include <stdlib.h>

#include "answer_check/strict/grade_strict.h"

const char *answer_check_version(void)
{
    return "9";
}

static void *grow_number(void *p, size_t before, size_t bytes)
{
    (void)before;
    return xrealloc(p, bytes);
}

static void release_number(void *p, size_t bytes)
{
    (void)bytes;
    free(p);
}

void answer_check_own_memory(void)
{
    mp_set_memory_functions(xmalloc, grow_number, release_number);
}

const struct grade_options grade_options_default = {.mode = GRADE_STRICT,
                                                    .latex = 1,
                                                    .expr = 1,
                                                    .boxed_match_priority = 50,
                                                    .float_rounding = 6,
                                                    .strict = 1};

int grade_math_as(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                  const struct grade_options *o, struct arena *a)
{
    if (o->mode == GRADE_COMPAT)
        return grade_math_compat(out, gold, gold_len, r, o, a);
    return grade_math_strict(out, gold, gold_len, r, &o->rules, a);
}

int grade_math(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
               struct arena *a)
{
    return grade_math_as(out, gold, gold_len, r, &grade_options_default, a);
}
