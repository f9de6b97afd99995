/* Fuzzes the C interface. The first byte chooses the call and how many threads, then the input is cut at
 * NULs: an option's name, its value, a reference, a response, another pair, and the rest. Whatever the bytes,
 * results are complete, an error has its sentence, and two pairs graded together are graded as each alone. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "answer_check/capi/answer_check_c.h"
#include "evalcore/base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 7 };
struct field {
    char *s; /* of exactly n bytes and a NUL, so that reading past its end is noticed */
    size_t n;
};

static void cut_fields(struct field f[FIELDS], const uint8_t *data, size_t size)
{
    for (int i = 0; i < FIELDS; i++) {
        const uint8_t *end = i + 1 < FIELDS && size ? memchr(data, 0, size) : NULL;
        f[i].n = end ? (size_t)(end - data) : size;
        f[i].s = xmalloc(f[i].n + 1);
        if (f[i].n)
            memcpy(f[i].s, data, f[i].n);
        f[i].s[f[i].n] = 0;
        data += f[i].n + (end != NULL);
        size -= f[i].n + (end != NULL);
    }
}

static void check_failed(int rc, const char *error)
{
    assert(rc <= AC_OK && rc >= AC_UNSUPPORTED);
    assert((rc == AC_OK) == (*error == 0));
}

static struct ac_options *options(enum ac_call call, const struct field *f)
{
    static const char *const names[] = {"thinking", "finish", "mode", "percent", "preset", "n_options"};
    static const char *const values[] = {"open", "length", "compat", "number", "gpt_oss", "26"};
    char error[64] = "";
    struct ac_options *o = ac_options_new(call);
    check_failed(ac_options_set(o, f[0].s, f[1].s, error, sizeof error), error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (f[0].n > i && f[0].s[i] & 1) {
            error[0] = 0;
            check_failed(ac_options_set(o, names[i], values[i], error, sizeof error), error);
        }
    return o;
}

static void check_grade(const struct ac_grade *g, size_t n)
{
    assert(g && (unsigned)g->verdict <= AC_ERROR && strlen(g->verdict_name) > 4 && strlen(g->reason) > 5);
    assert(g->gold_form && g->pred_form && (g->place != NULL) == (g->took != NULL));
    assert(g->at >= -1 && g->at <= (int64_t)n);
}

static void same(const struct ac_grade *a, const struct ac_grade *b)
{
    assert(a->verdict == b->verdict && a->at == b->at && !strcmp(a->reason, b->reason));
    assert(!strcmp(a->gold_form, b->gold_form) && !strcmp(a->pred_form, b->pred_form));
}

static void grade(const struct field *f, int threads)
{
    enum { MANY = 130 }; /* pairs for three threads */
    const char *gold[MANY], *pred[MANY];
    size_t gold_len[MANY], pred_len[MANY], n = threads > 1 ? MANY : 2;
    struct ac_options *o = options(AC_GRADE, f);
    struct ac_grades *all, *one;
    for (size_t i = 0; i < n; i++) {
        const struct field *pair = f + 2 + i % 2 * 2;
        gold[i] = pair[0].s, gold_len[i] = pair[0].n, pred[i] = pair[1].s, pred_len[i] = pair[1].n;
    }
    assert(!ac_grade(&all, o, n, gold, gold_len, pred, pred_len, threads, NULL, 0) &&
           ac_grades_count(all) == n);
    for (size_t i = 0; i < 2; i++) {
        assert(!ac_grade(&one, o, 1, gold + i, NULL, pred + i, NULL, 1, NULL, 0)); /* the texts have no NUL */
        check_grade(ac_grades_at(one, 0), pred_len[i]);
        for (size_t k = i; k < n; k += 2)
            same(ac_grades_at(all, k), ac_grades_at(one, 0));
        ac_grades_free(one);
    }
    ac_grades_free(all);
    ac_options_free(o);
}

static void choose(const struct field *f)
{
    struct ac_options *o = options(AC_CHOICE, f);
    struct ac_choice c;
    assert(!ac_choice(&c, sizeof c, o, f[6].s, f[6].n, NULL, 0));
    assert(c.rule && memchr(c.letter, 0, sizeof c.letter) && (*c.letter != 0) == !strcmp(c.status, "ok"));
    ac_options_free(o);
}

static void score(const struct field *f, int is_known)
{
    const char *const classes[] = {f[3].s, f[4].s};
    const char *names = ac_textscore_names();
    char error[200] = "", metric[64];
    size_t n = strcspn(names, ","); /* the first, or whatever the input says */
    double x = -1;
    memcpy(metric, names, n < sizeof metric ? n : 0);
    metric[n < sizeof metric ? n : 0] = 0;
    int rc = ac_textscore(&x, is_known ? metric : f[0].s, *f[1].s ? f[1].s : NULL, f[2].s, f[2].n, f[6].s,
                          f[6].n, classes, 2, NULL, error, sizeof error);
    check_failed(rc, error);
    assert(rc || (x >= 0 && x <= 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct field f[FIELDS];
    if (!size)
        return 0;
    cut_fields(f, data + 1, size - 1);
    if (data[0] % 4 < 2)
        grade(f, data[0] & 64 ? 3 : 1);
    else if (data[0] % 4 == 2)
        choose(f);
    else
        score(f, data[0] & 64);
    for (int i = 0; i < FIELDS; i++)
        free(f[i].s);
    return 0;
}
