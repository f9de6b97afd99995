/* The graders' version, which mode grades a mathematical answer, and the options that both start from. */
#include "answer_check/answer_check.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

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

void answer_check_release_thread(void)
{
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

const struct grade_options grade_options_default = {.mode = GRADE_STRICT,
                                                    .latex = 1,
                                                    .expr = 1,
                                                    .boxed_match_priority = 50,
                                                    .float_rounding = 6,
                                                    .strict = 1};

#define AT(member) offsetof(struct grade_options, member)

static const char *const modes[] = {"strict", "compat", NULL};

const struct param grade_option_params[] = {
    {"mode", PARAM_ENUM, AT(mode), "strict", 0, 0, modes, "our rules; compat: Math-Verify 0.8.0's verdicts"},
    {"boxed_match_priority", PARAM_INT, AT(boxed_match_priority), "50", -1, 1000, NULL,
     "compat: where boxes stand among the places of an answer"},
    {"float_rounding", PARAM_INT, AT(float_rounding), "6", 0, 100, NULL, "compat: decimals that count"},
    {"strict", PARAM_BOOL, AT(strict), "true", 0, 0, NULL, "compat: symbols must have the same names"},
    {"allow_set_relation_comp", PARAM_BOOL, AT(allow_set_relation_comp), "false", 0, 0, NULL,
     "compat: 1 < x < 2 and (1, 2) whichever of them is the reference"},
    {NULL, PARAM_INT, 0, NULL, 0, 0, NULL, NULL},
};

int grade_match_type(struct grade_options *o, const char *name)
{
    int *flag = !strcmp(name, "latex")    ? &o->latex
                : !strcmp(name, "expr")   ? &o->expr
                : !strcmp(name, "string") ? &o->string
                                          : NULL;
    if (flag)
        *flag = 1;
    return flag ? 0 : -1;
}

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
