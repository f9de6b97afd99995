/* The curve of a completion's reads (struct kv_curve): its points are the totals of the same completion cut
 * off there, whatever the company, and the last one agrees with the totals. */
#include "tests/check.h"
#include "tests/engine/laws.h"

enum { EVERY = 16, POINTS = 3, PROBLEMS = 2 };

/* No budget here depends on the longest completion, so a shorter limit changes nothing before it. */
static const struct {
    const char *spec;
    int drops;
} rows[] = {{"full", 0},
            {"quest:k_pages=2", 0},
            {"delta:k_pages=4,l_pages=2", 0},
            {"kascade:ratio=0.2", 0},
            {"raas:budget_tokens=64", 0},
            {"dms:cr=4", 1}};
enum { ROWS = sizeof rows / sizeof *rows, N = ROWS * PROBLEMS };

/* Requests that are decoded: every row, on fewer problems in small tests. */
static int n_requests(void)
{
    return check_small() ? ROWS : N;
}

static void request(struct engine *en, struct item *it, int i, int limit)
{
    *it = law_item(decode_policy(en, rows[i % ROWS].spec), i / ROWS, limit);
    it->req.n_prompt = 70 + i;
    it->req.ignore_eos = 1;
    it->req.curve_every = EVERY;
}

static int same_curve(const struct kv_curve *a, const struct kv_curve *b)
{
    int differ = a->n != b->n || a->heads != b->heads || a->every != b->every || !a->by_head != !b->by_head;
    for (int i = 0; i < a->n && !differ; i++) {
        const struct kv_point *p = &a->point[i], *q = &b->point[i];
        differ = p->reads != q->reads || p->aux < q->aux || p->aux > q->aux || p->live != q->live ||
                 p->peak != q->peak;
    }
    for (int h = 0; a->by_head && h < a->heads && !differ; h++)
        differ = a->by_head[h] != b->by_head[h];
    return !differ;
}

static void check_totals(const char *spec, const struct kv_point *p, int heads, const struct kv_counts *kv)
{
    int bad = (double)p->reads / heads != kv->reads || p->aux / heads != kv->aux_reads ||
              (double)p->peak / heads != kv->peak_tokens;
    if (bad)
        printf("%s: %.17g reads, %.17g aux, %.17g at most; the totals are %.17g, %.17g, %.17g\n", spec,
               (double)p->reads / heads, p->aux / heads, (double)p->peak / heads, kv->reads, kv->aux_reads,
               kv->peak_tokens);
    CHECK(!bad);
}

/* Heads that keep different numbers of tokens are listed, and their sum is what the last point holds. */
static void check_heads(int row, const struct item *it)
{
    const struct kv_curve *c = &it->curve;
    int64_t sum = 0;
    CHECK(!rows[row].drops || c->by_head);
    for (int h = 0; c->by_head && h < c->heads; h++)
        sum += c->by_head[h];
    CHECK(!c->by_head || sum == c->point[c->n - 1].live);
}

/* One more token than the last point needs: the end of a completion adds no point. */
static void points(struct engine *en, struct item *whole)
{
    for (int i = 0; i < n_requests(); i++)
        request(en, &whole[i], i, EVERY * POINTS + 1);
    decode_all(en, whole, n_requests(), NULL);
    for (int i = 0; i < n_requests(); i++) {
        CHECK_INT(whole[i].curve.n, POINTS);
        CHECK_INT(whole[i].curve.every, EVERY);
    }
}

static void cut_off(struct engine *en, const struct item *whole)
{
    struct item it[N];
    for (int k = 1; k <= POINTS; k++) {
        for (int i = 0; i < n_requests(); i++)
            request(en, &it[i], i, EVERY * k);
        decode_all(en, it, n_requests(), NULL);
        for (int i = 0; i < n_requests(); i++) {
            CHECK_INT(it[i].curve.n, k);
            check_totals(rows[i % ROWS].spec, &whole[i].curve.point[k - 1], whole[i].curve.heads, &it[i].kv);
            check_heads(i % ROWS, &it[i]);
        }
        items_release(it, n_requests());
    }
}

static void company(struct engine *en, const struct item *whole)
{
    struct item it;
    for (int i = 0; i < n_requests(); i++) {
        request(en, &it, i, EVERY * POINTS + 1);
        decode_all(en, &it, 1, NULL);
        CHECK(same_curve(&it.curve, &whole[i].curve));
        items_release(&it, 1);
    }
}

/* An end token right after a point does not add the point again. */
static void end_behind_point(struct engine *en)
{
    struct item it, whole;
    request(en, &whole, 0, 2 * EVERY);
    decode_all(en, &whole, 1, NULL);
    request(en, &it, 0, 2 * EVERY);
    it.req.ignore_eos = 0;
    it.req.min_new_tokens = EVERY;
    it.req.end_token = whole.ids[EVERY];
    decode_all(en, &it, 1, NULL);
    CHECK_INT(it.finish, FINISHED_STOP);
    CHECK_INT(it.n_ids, EVERY);
    CHECK_INT(it.curve.n, 1);
    items_release(&it, 1);
    items_release(&whole, 1);
}

static void not_wanted(struct engine *en)
{
    struct item it;
    request(en, &it, ROWS - 1, EVERY);
    it.req.curve_every = 0;
    decode_all(en, &it, 1, NULL);
    CHECK(!it.curve.n && !it.curve.every && !it.curve.by_head);
    items_release(&it, 1);
}

int main(void)
{
    struct engine *en = decode_open(&(struct engine_options){.threads = 1, .max_batch = N});
    struct item whole[N];
    laws_open(en);
    points(en, whole);
    cut_off(en, whole);
    company(en, whole);
    end_behind_point(en);
    not_wanted(en);
    items_release(whole, n_requests());
    laws_close();
    engine_close(en);
    return check_done();
}
