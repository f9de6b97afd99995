/* Fuzzes the graders. The first byte chooses thinking and finish, the text up to the first NUL is the
 * reference, and the rest is the response. Whatever the bytes, there is no crash, a verdict has a reason,
 * the same input gives the same answer twice within the steps, and a box that repeats the reference is
 * correct if the reference can be graded at all. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_check/answer_check.h"
#include "answer_check/tree/math_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_twice(const struct grade *a, const struct grade *b)
{
    assert((unsigned)a->verdict < VERDICT_COUNT && a->verdict == b->verdict && a->score == b->score);
    assert(a->reason && strlen(a->reason) > 5 && a->gold_form && a->pred_form);
    assert(!strcmp(a->reason, b->reason) && !strcmp(a->pred_form, b->pred_form));
    assert(a->score == (a->verdict == VERDICT_CORRECT));
    assert(a->steps == b->steps && a->steps >= 0 && a->steps <= 3 * MATH_STEPS);
}

/* A copy of exactly n bytes, so that reading past its end is noticed. */
static char *copy_of(const uint8_t *data, size_t n)
{
    char *out = xmalloc(n ? n : 1);
    if (n)
        memcpy(out, data, n);
    return out;
}

static void choices(struct grade g[2], const struct response *r, int n_options, struct arena *a)
{
    struct choice c;
    for (int i = 0; i < 2; i++)
        grade_choice(&g[i], 'A', r, n_options, a);
    same_twice(&g[0], &g[1]);
    choice_extract(&c, r, n_options, a);
    assert((c.letter != 0) == (c.status == CHOICE_OK) && c.letter < 'A' + n_options);
    for (int i = 0; choice_preset_name(i); i++) {
        const char *letter, *rule;
        assert(!choice_preset(&letter, &rule, i, r->text, r->len, n_options, a));
        assert(!letter || (strlen(letter) >= 1 && strlen(letter) <= 4));
    }
}

/* A reference with balanced braces, put into a box, must be equal to itself; not one with ~~, since a
 * response strikes out what stands between two of these. */
static void reflexive(const char *gold, size_t n, struct arena *a)
{
    int depth = 0, lowest = 0, plain = n > 0;
    for (size_t i = 0; i < n; i++) {
        plain &= gold[i] != '\\' && gold[i] != 0 && !(i && gold[i] == '~' && gold[i - 1] == '~');
        depth += (gold[i] == '{') - (gold[i] == '}');
        lowest = depth < lowest ? depth : lowest;
    }
    if (!plain || depth || lowest || n > 4000)
        return;
    char *text = xmalloc(n + 16);
    memcpy(text, "\\boxed{", 7);
    memcpy(text + 7, gold, n);
    text[n + 7] = '}';
    struct response r = {text, n + 8, THINKING_NONE, FINISH_STOP};
    struct grade g;
    grade_math(&g, gold, n, &r, a);
    assert(g.verdict == VERDICT_CORRECT || g.verdict == VERDICT_ERROR || g.verdict == VERDICT_UNPARSED);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t *begin = data + 1, *end = memchr(begin, 0, size - 1), *rest = end ? end + 1 : begin;
    size_t n_gold = end ? (size_t)(end - begin) : size - 1;
    char *gold = copy_of(begin, n_gold), *text = copy_of(rest, (size_t)(data + size - rest));
    struct response r = {text, (size_t)(data + size - rest), (enum thinking)(data[0] % 3),
                         data[0] & 4 ? FINISH_LENGTH : FINISH_STOP};
    struct arena a = {0};
    struct grade g[2];
    for (int i = 0; i < 2; i++)
        grade_math(&g[i], gold, n_gold, &r, &a);
    same_twice(&g[0], &g[1]);
    for (int i = 0; i < 2; i++)
        grade_exact(&g[i], gold, n_gold, &r, &a);
    same_twice(&g[0], &g[1]);
    for (int i = 0; i < 2; i++)
        grade_math_compat(&g[i], gold, n_gold, &r, &grade_options_default, &a);
    same_twice(&g[0], &g[1]);
    choices(g, &r, 1 + data[0] / 8 % 26, &a);
    reflexive(gold, n_gold, &a);
    arena_release(&a);
    free(gold);
    free(text);
    return 0;
}
