/* A captured graph that is replayed several times, operations launched without waiting in between, and
 * branches that may run at once give the same results as operations run one at a time, even after others have
 * made the scratch memory grow. */
#include "tests/kernels/step.h"

enum { ROWS = 5 };
static int steps_run;

enum how { APART, EAGER, CAPTURED };

static void run_steps(unsigned char **image, size_t *n, int threads, enum how how, enum dtype kv)
{
    static const int32_t seqs[ROWS] = {3, 19, -1, 0, 7};
    int steps = rig_small() ? 2 : 4, captured = how == CAPTURED;
    struct rig r;
    struct op_graph *p = NULL, *unused;
    rig_open(&r, NULL, threads);
    CHECK_INT(r.b->capture_end(r.d, &unused), BACKEND_ERR_LAUNCH);
    struct step *s = step_open(&r, seqs, ROWS, DTYPE_BF16, kv);
    if (captured) {
        CHECK_INT(r.b->capture_begin(r.d), 0);
        CHECK_INT(r.b->capture_begin(r.d), BACKEND_ERR_LAUNCH);
        step_run(s);
        CHECK_INT(r.b->capture_end(r.d, &p), 0);
    }
    r.apart = how == APART;
    for (int i = 0; i < steps; i++) {
        if (i == steps / 2 && captured &&
            !rig_rounds(&r)) { /* a GPU keeps outgrown scratch, and refuses such lists */
            struct topk_args big = {.in = {.stride = 1 << 20}, .cap = 1};
            rig_run(&r, OP_topk, &big);
        }
        if (captured)
            CHECK_INT(r.b->replay(r.d, p), 0);
        else
            step_run(s);
        steps_run++;
    }
    for (int i = 0; i < ROWS; i++)
        image[i] = step_row(s, i, &n[i]);
    if (p)
        r.b->graph_release(r.d, p);
    step_close(s);
    rig_close(&r);
}

/* Branches, each of which steps some of the rows, with a cache of its own. Ten are more than a GPU has
 * streams for. */
enum { BRANCHES = 10 };

static void step_branches(struct rig *r, struct step **s, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK_INT(r->b->branch(r->d), 0);
        step_run(s[i]);
    }
    CHECK_INT(r->b->join(r->d), 0);
}

static void run_branches(unsigned char *const *want, const size_t *n, int captured, enum dtype kv)
{
    static const int32_t seqs[3][2] = {{3, 19}, {-1, 0}, {7, -1}};
    int steps = rig_small() ? 2 : 4, branches = rig_small() ? 3 : BRANCHES;
    struct rig r;
    struct op_graph *p = NULL;
    struct step *s[BRANCHES];
    rig_open(&r, NULL, 2);
    for (int i = 0; i < branches; i++)
        s[i] = step_open(&r, seqs[i % 3], 2, DTYPE_BF16, kv);
    if (captured) {
        CHECK_INT(r.b->capture_begin(r.d), 0);
        step_branches(&r, s, branches);
        CHECK_INT(r.b->capture_end(r.d, &p), 0);
    }
    for (int i = 0; i < steps; i++) {
        if (captured)
            CHECK_INT(r.b->replay(r.d, p), 0);
        else
            step_branches(&r, s, branches);
        steps_run++;
    }
    for (int i = 0; i < branches; i++)
        for (int row = 0; row < 2 && i % 3 * 2 + row < ROWS; row++) {
            size_t m;
            unsigned char *have = step_row(s[i], row, &m);
            int at = i % 3 * 2 + row;
            CHECK(n[at] == m && memcmp(want[at], have, m) == 0);
            free(have);
        }
    for (int i = branches - 1; i >= 0; i--)
        step_close(s[i]);
    if (p)
        r.b->graph_release(r.d, p);
    rig_close(&r);
}

/* Branches that launch nothing, or what is refused, leave the others as they are. What follows the join comes
 * after all. */
static void check_odd_branches(void)
{
    enum { N = 2 * BRANCHES };
    struct rig r;
    int32_t v[N][4];
    rig_open(&r, NULL, 2);
    int32_t(*dev)[4] = rig_alloc(&r, sizeof v);
    struct topk_args refused = {.in = {.stride = 1}, .cap = -1};
    for (int round = 0; round < 2; round++) {
        CHECK_INT(r.b->join(r.d), 0); /* of none */
        for (int i = 0; i < N; i++) {
            struct fill_i32_args a = {dev[i], 100 * round + i, 4};
            CHECK_INT(r.b->branch(r.d), 0);
            if (i % 5 == 3)
                CHECK_INT(r.b->launch(r.d, OP_topk, &refused), BACKEND_ERR_UNSUPPORTED);
            else if (i % 5)
                rig_run(&r, OP_fill_i32, &a);
        }
        CHECK_INT(r.b->join(r.d), 0);
        for (int i = 0; i < N; i += 2) {
            struct fill_i32_args a = {dev[i], -i, 4};
            rig_run(&r, OP_fill_i32, &a);
        }
        rig_get(&r, v, dev, sizeof v);
        for (int i = 0; i < N; i++)
            CHECK_INT(v[i][3], i % 2 == 0 ? -i : i % 5 == 0 || i % 5 == 3 ? 0 : 100 * round + i);
    }
    rig_close(&r);
}

/* What a begun download gives is what was there then, whatever runs before it is waited for; the slots do not
 * know each other. */
static void check_downloads(void)
{
    struct rig r;
    int32_t v[4] = {0};
    rig_open(&r, NULL, 2);
    int32_t *dev = rig_alloc(&r, sizeof v);
    for (int32_t i = 0; i < 3; i++) { /* the first one is never waited for */
        struct fill_i32_args a = {dev, 10 + i, 4};
        rig_run(&r, OP_fill_i32, &a);
        CHECK_INT(r.b->download_begin(r.d, i % BACKEND_STAGING_BUFFERS, dev, sizeof v), 0);
    }
    struct fill_i32_args last = {dev, 99, 4};
    rig_run(&r, OP_fill_i32, &last);
    CHECK_INT(r.b->download_wait(r.d, 1, v, sizeof v), 0);
    CHECK(v[0] == 11 && v[3] == 11);
    CHECK_INT(r.b->download_wait(r.d, 0, v, sizeof v), 0);
    CHECK(v[0] == 12 && v[3] == 12);
    CHECK_INT(r.b->download_begin(r.d, BACKEND_STAGING_BUFFERS, dev, 4), BACKEND_ERR_UNSUPPORTED);
    CHECK_INT(r.b->download_begin(r.d, 0, dev, BACKEND_STAGING_BYTES + 1), BACKEND_ERR_UNSUPPORTED);
    CHECK(strstr(r.b->last_error(r.d), "download of 65537 bytes through staging buffer 0") != NULL);
    rig_close(&r);
}

static void compare_runs(enum dtype kv)
{
    unsigned char *want[ROWS], *have[ROWS];
    size_t n[ROWS], m[ROWS];
    run_steps(want, n, 1, APART, kv);
    rig_ran("steps one operation at a time", steps_run);
    steps_run = 0;
    for (int threads = 1; threads <= (rig_small() ? 2 : 3); threads++) {
        run_steps(have, m, threads, threads == 2 ? EAGER : CAPTURED, kv);
        for (int i = 0; i < ROWS; i++) {
            CHECK(n[i] == m[i] && memcmp(want[i], have[i], n[i]) == 0);
            free(have[i]);
        }
    }
    rig_ran("captured and eager steps", steps_run);
    steps_run = 0;
    run_branches(want, n, 0, kv);
    run_branches(want, n, 1, kv);
    rig_ran("steps in branches", steps_run);
    steps_run = 0;
    for (int i = 0; i < ROWS; i++)
        free(want[i]);
}

int main(void)
{
    check_downloads();
    check_odd_branches();
    compare_runs(DTYPE_F32);
    compare_runs(DTYPE_BF16);
    CHECK(backend_find("cpu") == backend_at(0) && !backend_find("no such") && !backend_find(NULL) &&
          !backend_at(-1));
    CHECK_STR(backend_op_name(OP_attend), "attend");
    CHECK_INT(backend_op_bytes(OP_fill_i32), sizeof(struct fill_i32_args));
    return check_done();
}
