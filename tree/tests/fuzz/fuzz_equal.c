/* Fuzzes the comparison of two answers, which are the parts of the input before and after the first
 * newline. Every answer equals itself; the verdict does not depend on the order, except by the rules that
 * equal.h states; mode compat reads and compares them too; no comparison takes more than its steps. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_check/compat/compat_equal.h"
#include "answer_check/answer_check.h"
#include "answer_check/equal/equal_answer.h"
#include "answer_check/read/math_read.h"

static void reflexive(struct span text, struct arena *a)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    struct answer x = answer_read(&w, text), y = answer_read(&w, text);
    assert(answer_compare(&w, &x, &y, &grade_options_default.rules).equal || !x.tree);
}

/* Does the order count for this tree, because it has several readings or holds a decimal number? */
static int has_order(const struct math_node *m)
{
    int found = m->kind == MATH_EITHER || (m->kind == MATH_NUMBER && m->literal.point);
    for (int i = 0; i < m->n && !found; i++)
        found = has_order(m->child[i]);
    return found;
}

static int has(const struct math_node *m, enum math_kind kind)
{
    int found = m->kind == kind;
    for (int i = 0; i < m->n && !found; i++)
        found = has(m->child[i], kind);
    return found;
}

/* Does it matter which of them is the reference? */
static int order_counts(const struct math_node *p, const struct math_node *q)
{
    return has_order(p) || has_order(q) || has(p, MATH_RELATION) != has(q, MATH_RELATION) ||
           has(p, MATH_TUPLE) != has(q, MATH_TUPLE);
}

static enum math_truth trees(const struct math_node *p, const struct math_node *q, struct arena *a)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    struct comparison e = {.w = &w, .rules = &grade_options_default.rules, .how = "exactly"};
    enum math_truth r = equal_trees(&e, p, q);
    assert(w.steps >= 0);
    return r;
}

static void symmetric(struct span x, struct span y, struct arena *a)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    const struct math_node *p = math_read(&w, x), *q = math_read(&w, y);
    if (!p || !q)
        return;
    if (math_is_scalar(p) && math_is_scalar(q)) {
        struct math_work one = {.arena = a, .steps = MATH_STEPS}, two = one;
        enum math_truth there = math_scalar_equal(&one, p, q), back = math_scalar_equal(&two, q, p);
        assert(there == back || there == MATH_UNKNOWN || back == MATH_UNKNOWN);
    }
    if (!order_counts(p, q)) {
        enum math_truth there = trees(p, q, a), back = trees(q, p, a);
        assert(there == back || there == MATH_UNKNOWN || back == MATH_UNKNOWN);
    }
}

static void compat(struct span x, struct span y, struct arena *a)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    struct compat_comparison c = {.w = &w, .rounding = 6};
    const struct math_node *p = compat_read(&w, x), *q = compat_read(&w, y);
    if (p && q)
        compat_equal(&c, p, q);
    assert(w.steps >= 0);
}

/* A copy of exactly n bytes, so that reading past its end is noticed. */
static struct span copy_of(const uint8_t *data, size_t n)
{
    char *out = xmalloc(n ? n : 1);
    if (n)
        memcpy(out, data, n);
    return (struct span){out, n};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size ? memchr(data, '\n', size) : NULL;
    struct arena a = {0};
    struct grade grade;
    if (!cut || size > 4096)
        return 0;
    struct span gold = copy_of(data, (size_t)(cut - data)), pred = copy_of(cut + 1, size - gold.n - 1);
    struct math_work w = {.arena = &a, .steps = MATH_STEPS};
    struct answer g = answer_read(&w, gold), p = answer_read(&w, pred);
    struct answer_match match = answer_compare(&w, &g, &p, &grade_options_default.rules);
    answer_forms(&grade, &g, &p, &match, &a);
    assert(w.steps >= 0 && strlen(grade.gold_form) <= 400 && strlen(grade.pred_form) <= 400);
    reflexive(gold, &a);
    symmetric(gold, pred, &a);
    compat(gold, pred, &a);
    arena_release(&a);
    free((char *)gold.s);
    free((char *)pred.s);
    return 0;
}
