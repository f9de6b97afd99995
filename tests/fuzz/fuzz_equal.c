/* Comparison of two answers, the halves of the input at the first newline: every answer equals itself, the
 * verdict of two scalars does not depend on their order, and no comparison takes more than its steps. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "answer_check/math_answer.h"

static void reflexive(struct span text, struct arena *a)
{
    struct math_match m;
    struct math_work w = {a, MATH_STEPS}, again = {a, MATH_STEPS};
    math_compare(&m, &w, text, text, &grade_options_default.policies);
    assert(m.equal || !math_read(&again, text));
}

static void symmetric(struct span x, struct span y, struct arena *a)
{
    struct math_work w = {a, MATH_STEPS};
    const struct math_node *p = math_read(&w, x), *q = math_read(&w, y);
    if (!p || !q || !math_is_scalar(p) || !math_is_scalar(q))
        return;
    struct math_work one = {a, MATH_STEPS}, two = {a, MATH_STEPS};
    enum math_truth there = math_scalar_equal(&one, p, q), back = math_scalar_equal(&two, q, p);
    assert(there == back || there == MATH_UNKNOWN || back == MATH_UNKNOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *cut = size ? memchr(text, '\n', size) : NULL;
    struct arena a = {0};
    struct math_match m;
    if (!cut || size > 4096)
        return 0;
    struct span gold = {text, (size_t)(cut - text)}, pred = {cut + 1, size - gold.n - 1};
    struct math_work w = {&a, MATH_STEPS};
    math_compare(&m, &w, gold, pred, &grade_options_default.policies);
    assert(w.steps >= 0);
    assert(strlen(m.gold_form) <= 400 && strlen(m.pred_form) <= 400);
    reflexive(gold, &a);
    symmetric(gold, pred, &a);
    arena_release(&a);
    return 0;
}
