/* The rules, case by case (topk.test), and the selection itself against a plain sort on long lists with many
 * ties. */
#include "tests/cases.h"
#include "tests/kernels/rig.h"

struct one {
    struct topk_params params;
    int pos, len, cap, m, n;
    float score[64];
};

static const char *const kinds[] = {"fixed", "ratio", "floor", "cr", "short_floor", "len_ratio", "mass"};

static int parse_word(struct one *o, const char *w)
{
    char key[32] = "";
    double x = 1;
    const char *eq = strchr(w, '=');
    snprintf(key, sizeof key, "%.*s", eq ? (int)(eq - w) : (int)strlen(w), w);
    if (eq)
        x = strtod(eq + 1, NULL);
    const struct {
        const char *name;
        int *value;
    } ints[] = {{"k", &o->params.k},
                {"min_tokens", &o->params.min_tokens},
                {"minus", &o->params.minus_tokens},
                {"round", &o->params.round_tokens},
                {"min_k", &o->params.min_k},
                {"per", &o->params.tokens_per},
                {"last", &o->params.force_last},
                {"dense", &o->params.dense_when_short},
                {"dense_tokens", &o->params.dense_tokens},
                {"dense_first", &o->params.dense_first},
                {"phantom", &o->params.phantom_page},
                {"after_len", &o->params.force_after_len},
                {"pos", &o->pos},
                {"len", &o->len},
                {"cap", &o->cap},
                {"m", &o->m}};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (strcmp(key, ints[i].name) == 0) {
            *ints[i].value = (int)x;
            return 1;
        }
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        if (!eq && strcmp(key, kinds[i]) == 0) {
            o->params.kind = (enum topk_kind)i;
            return 1;
        }
    if (strcmp(key, "beside") == 0)
        o->params.force = FORCE_BESIDE;
    else if (strcmp(key, "union") == 0)
        o->params.force = FORCE_UNION;
    else if (strcmp(key, "ratio") == 0)
        o->params.ratio = x;
    else if (strcmp(key, "cr") == 0)
        o->params.cr = x;
    else if (strcmp(key, "bias") == 0)
        o->params.tie_bias = (float)x;
    else
        return 0;
    return 1;
}

static void parse_case(struct one *o, char *rule, char *scores, int line)
{
    memset(o, 0, sizeof *o);
    o->cap = 64;
    o->m = -1;
    char *save = NULL;
    for (char *w = strtok_r(rule, " ", &save); w; w = strtok_r(NULL, " ", &save))
        if (!parse_word(o, w)) {
            fprintf(stderr, "topk.test:%d: unknown word \"%s\"\n", line, w);
            exit(1);
        }
    int above = 0;
    for (char *w = strtok_r(scores, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        o->score[o->n] = strtof(w, NULL);
        above += o->score[o->n++] > -INFINITY;
    }
    o->m = o->m < 0 ? above : o->m;
}

static void run_case(struct rig *r, const struct one *o, char *out, size_t room)
{
    int32_t ids[2] = {0, o->pos}, n[2] = {o->n, o->m}, idx[64], len;
    int owned = r->n_owned;
    int32_t *dev = rig_up(r, ids, sizeof ids), *dn = rig_up(r, n, sizeof n);
    struct topk_args a = {.rows = {1, dev, dev + 1},
                          .len_of_seq = rig_up(r, &o->len, sizeof o->len),
                          .in = {rig_up(r, o->score, sizeof o->score), dn, dn + 1, 1, 64},
                          .params = o->params,
                          .idx = rig_alloc(r, sizeof idx),
                          .len = rig_alloc(r, sizeof len),
                          .cap = o->cap};
    rig_run(r, OP_topk, &a);
    rig_get(r, idx, a.idx, sizeof idx);
    rig_get(r, &len, a.len, sizeof len);
    *out = 0;
    if (len < 0)
        snprintf(out, room, "dense");
    for (int i = 0; i < len && i < 64; i++)
        snprintf(out + strlen(out), room - strlen(out), "%s%d", i ? " " : "", idx[i]);
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
}

static void check_table(struct rig *r, const char *path)
{
    struct cases c;
    char *line;
    int number;
    cases_open(&c, path);
    while ((line = cases_line(&c, &number))) {
        struct one o;
        char got[512], *want = case_cut(line, "=="), *scores = case_cut(line, "|");
        parse_case(&o, line, scores, number);
        run_case(r, &o, got, sizeof got);
        if (strcmp(got, want) != 0)
            fprintf(stderr, "%s:%d: takes \"%s\", want \"%s\"\n", path, number, got, want);
        CHECK(strcmp(got, want) == 0);
    }
    cases_close(&c);
}

enum { MANY_ROWS = 3, MANY_LISTS = 7, MANY = MANY_ROWS * MANY_LISTS, ROOM = 3008 };

/* Every entry taken beats, or ties with a lower index, every entry left. */
static void check_taken(const float *x, int n, const int32_t *idx, int k)
{
    float lowest = INFINITY;
    int last_tie = -1, at = 0;
    for (int j = 0; j < k; j++) {
        CHECK(!j || idx[j] > idx[j - 1]);
        lowest = fminf(lowest, x[idx[j]]);
    }
    for (int j = 0; j < k; j++)
        if (x[idx[j]] == lowest)
            last_tie = idx[j];
    for (int j = 0; j < n; j++) {
        if (at < k && idx[at] == j)
            at++;
        else
            CHECK(x[j] < lowest || (x[j] == lowest && j > last_tie));
    }
}

/* Lists of n scores, room for `stride` each. A padding row's list and length stay as they are. With one
 * distinct score the lists are chosen by a bias, for the last ones. */
static void random_lists(struct rig *r, int n, int stride, int distinct)
{
    static float v[MANY * ROOM];
    static int32_t idx[MANY * ROOM];
    int k = rig_below(r, n) + 1, len[MANY], owned = r->n_owned;
    int32_t counts[2 * MANY], ids[2 * MANY_ROWS] = {0, -1, 1};
    for (int j = 0; j < MANY * stride; j++)
        v[j] = (float)(rig_below(r, distinct) - distinct / 2) * 0.37f;
    for (int j = 0; j < 2 * MANY; j++)
        counts[j] = n;
    memset(idx, 0xff, sizeof idx);
    memset(len, 0xff, sizeof len);
    int32_t *dev = rig_up(r, ids, sizeof ids), *dn = rig_up(r, counts, sizeof counts);
    struct topk_args a = {.rows = {MANY_ROWS, dev, dev + MANY_ROWS},
                          .in = {rig_up(r, v, sizeof v), dn, dn + MANY, MANY_LISTS, stride},
                          .params = {.kind = TOPK_FIXED, .k = k, .tie_bias = distinct > 1 ? 0 : -1e-6f},
                          .idx = rig_up(r, idx, sizeof idx),
                          .len = rig_up(r, len, sizeof len),
                          .cap = stride};
    rig_run(r, OP_topk, &a);
    rig_get(r, idx, a.idx, sizeof idx);
    rig_get(r, len, a.len, sizeof len);
    for (int l = 0; l < MANY; l++) {
        if (ids[l / MANY_LISTS] < 0) {
            CHECK_INT(len[l], -1);
            CHECK_INT(idx[l * stride], -1);
            continue;
        }
        CHECK_INT(len[l], k);
        if (distinct > 1)
            check_taken(v + l * stride, n, idx + l * stride, k);
        for (int j = 0; distinct == 1 && j < k; j++)
            CHECK_INT(idx[l * stride + j], n - k + j);
    }
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
}

/* Many rows and lists, sizes around where the method changes: on a GPU more lists than it holds blocks, short
 * ones or not (few:1, few:3), are given to blocks of fewer threads. Few distinct values, or many. */
static void long_lists(struct rig *r)
{
    static const int sizes[] = {1, 16, 300, 511, 512, 513, 3000};
    for (int i = 0; i < 42; i++) {
        int n = sizes[i % 7], distinct = i < 7 ? 1 : i < 24 ? 5 : 1 << 20;
        random_lists(r, n, ROOM, distinct);
        if (n <= 512)
            random_lists(r, n, 512, distinct);
    }
}

/* A list by mass: no entry taken is less than one left, the last `last` are in, and what is taken holds
 * `ratio` of the mass while one entry less does not. */
static void check_mass(const float *x, int n, const int32_t *idx, int len, double ratio, int last)
{
    double total = 0, taken = 0, least = INFINITY, most = 0;
    int forced = 0, at = 0, tie = n;
    for (int i = 0; i < n; i++) {
        int in = at < len && idx[at] == i;
        double mass = exp((double)x[i]);
        at += in;
        total += mass;
        taken += in ? mass : 0;
        if (i >= n - last)
            forced += in;
        else if (in)
            least = fmin(least, mass);
        else
            most = fmax(most, mass);
    }
    for (int i = 0, k = 0; i < n - last; i++) { /* of equal ones the lower */
        int in = k < len && idx[k] == i;
        k += in;
        if (!in && exp((double)x[i]) == least && tie == n)
            tie = i;
        CHECK(!in || exp((double)x[i]) > least || i < tie);
    }
    CHECK_INT(at, len);
    CHECK_INT(forced, last < n ? last : n);
    CHECK(most <= least);
    CHECK(taken >= ratio * total * (1 - 1e-5));
    CHECK(len == forced || taken - least < ratio * total * (1 + 1e-5));
}

static void long_masses(struct rig *r)
{
    enum { ROWS = 2, LISTS = 2, STRIDE = 40016 };
    static const int sizes[] = {1, 17, 600, 20000, 40000};
    static const double ratios[] = {0.1, 0.5, 0.95, 0.999};
    static float v[ROWS * LISTS * STRIDE];
    static int32_t idx[ROWS * LISTS * STRIDE];
    for (int i = 0; i < 20; i++) {
        int n = sizes[i % 5], last = i % 3 * 4, distinct = i % 2 ? 7 : 1 << 20, len[ROWS * LISTS];
        int32_t counts[2 * ROWS * LISTS], ids[2 * ROWS] = {0, 1};
        for (int j = 0; j < ROWS * LISTS * STRIDE; j++)
            v[j] = -9.0f * (float)rig_below(r, distinct) / (float)distinct;
        for (int j = 0; j < 2 * ROWS * LISTS; j++)
            counts[j] = n;
        int owned = r->n_owned;
        int32_t *dev = rig_up(r, ids, sizeof ids), *dn = rig_up(r, counts, sizeof counts);
        struct topk_args a = {
            .rows = {ROWS, dev, dev + ROWS},
            .in = {rig_up(r, v, sizeof v), dn, dn + ROWS * LISTS, LISTS, STRIDE},
            .params = {.kind = TOPK_MASS, .ratio = ratios[i / 5], .min_k = 1, .force_last = last},
            .idx = rig_alloc(r, sizeof idx),
            .len = rig_alloc(r, sizeof len),
            .cap = STRIDE};
        rig_run(r, OP_topk, &a);
        rig_get(r, idx, a.idx, sizeof idx);
        rig_get(r, len, a.len, sizeof len);
        for (int l = 0; l < ROWS * LISTS; l++)
            check_mass(v + l * STRIDE, n, idx + l * STRIDE, len[l], a.params.ratio, last);
        while (r->n_owned > owned)
            r->b->release(r->d, r->owned[--r->n_owned]);
    }
}

static void check_mask(struct rig *r)
{
    float v[2 * 16] = {5, 4, -INFINITY, 2, 1, 0, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 4};
    int32_t n[4] = {6, 4, 5, 4}, ids[4] = {1, 0}, idx[2 * 4] = {1, 2, 4, 0}, len[2] = {3, -1};
    int32_t *dev = rig_up(r, ids, sizeof ids), *dn = rig_up(r, n, sizeof n);
    struct mask_scores_args a = {{2, dev, dev + 2},
                                 {rig_up(r, v, sizeof v), dn, dn + 2, 1, 16},
                                 rig_up(r, idx, sizeof idx),
                                 rig_up(r, len, sizeof len),
                                 4};
    rig_run(r, OP_mask_scores, &a);
    rig_get(r, v, a.s.v, sizeof v);
    rig_get(r, n, dn, sizeof n);
    CHECK_INT(n[2], 2);
    CHECK_INT(n[3], 4);
    for (int i = 0; i < 16; i++)
        CHECK(i < 6 ? (i == 1 || i == 4 ? v[i] > 0 : v[i] == -INFINITY) : v[i] > 0);
    CHECK(v[16] == 1 && v[19] == 4);
}

int main(int argc, char **argv)
{
    struct rig r;
    rig_open(&r, NULL, 2);
    check_table(&r, argc > 1 ? argv[1] : NULL);
    long_lists(&r);
    long_masses(&r);
    check_mask(&r);
    rig_close(&r);
    return check_done();
}
