/* Tier 1 of the gate finds bugs that are put in on purpose: for each policy its table of hooks is copied and
 * its select hook wrapped, so that the defect is in what attention really reads. Steps that are watched run
 * at once (engine/watch.c), so on the CPU the wrapper sees and changes the lists and queries of the step.
 * Policies that forget tokens instead of listing them get the defect by the option that the code path takes
 * it from. Without a defect, another batch size and another number of threads change nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/gate/gate.h"
#include "tests/check.h"

enum { TOKENS = 66, LAYERS = 32, LIST_MAX = 1 << 16, SETTINGS = 6 };
enum defect { NONE, OFF_BY_ONE, STALE, NO_WINDOW, ROPE };

static enum defect planted;
static int32_t kept[LAYERS][LIST_MAX], kept_len[LAYERS][64];
static int is_kept[LAYERS];

/* Every list begins one entry lower. */
static void off_by_one(int32_t *v, int32_t *n)
{
    int out = 0;
    for (int i = 0; i < *n; i++) {
        int x = v[i] > 0 ? v[i] - 1 : 0;
        if (!out || x > v[out - 1])
            v[out++] = x;
    }
    *n = out;
}

/* The lists of the step before, which this step's replace only for the next one. */
static void stale(int layer, struct selection *s, int32_t *idx, int32_t *len)
{
    size_t n = (size_t)s->n_rows * (size_t)s->cap;
    static int32_t now[LIST_MAX], now_len[64];
    if (n > LIST_MAX || s->n_rows > 64 || layer >= LAYERS)
        return;
    memcpy(now, idx, n * sizeof *idx);
    memcpy(now_len, len, (size_t)s->n_rows * sizeof *len);
    if (is_kept[layer]) {
        memcpy(idx, kept[layer], n * sizeof *idx);
        memcpy(len, kept_len[layer], (size_t)s->n_rows * sizeof *len);
    }
    memcpy(kept[layer], now, n * sizeof *idx);
    memcpy(kept_len[layer], now_len, (size_t)s->n_rows * sizeof *len);
    is_kept[layer] = 1;
}

/* Turns the queries by one more position (pairs (i, i + d/2), theta 10,000 as the embedded model has). */
static void rotate(const struct policy_ctx *c)
{
    int d = c->dims.head_dim, half = d / 2;
    for (int r = 0; r < c->rows.cap; r++)
        for (int h = 0; h < c->dims.n_q && c->rows.seq[r] >= 0; h++) {
            float *q = c->q + (size_t)r * (size_t)c->qkv_stride + (size_t)h * (size_t)d;
            for (int i = 0; i < half; i++) {
                float angle = powf(10000, -2.0f * (float)i / (float)d), a = q[i], b = q[i + half];
                q[i] = a * cosf(angle) - b * sinf(angle);
                q[i + half] = b * cosf(angle) + a * sinf(angle);
            }
        }
}

static void defective_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                             struct selection *s)
{
    const struct policy_ops *real = policy_find(pol->ops->name);
    if (real->select)
        real->select(pol, c, layer, s);
    if (planted == ROPE)
        rotate(c);
    if (s->granularity == SEL_LIVE || planted == ROPE)
        return;
    int32_t *idx, *len; /* the CPU's device memory is the host's */
    memcpy(&idx, &s->idx, sizeof idx);
    memcpy(&len, &s->len, sizeof len);
    if (planted == STALE)
        stale(layer, s, idx, len);
    for (int i = 0; i < s->n_rows; i++) {
        if (planted == OFF_BY_ONE && len[i] > 0)
            off_by_one(idx + (size_t)i * (size_t)s->cap, &len[i]);
        if (planted == NO_WINDOW && len[i] > 2)
            len[i] -= 2;
    }
}

static const struct {
    const char *policy, *options; /* NULL: the run file's, with the wrapped hook */
    enum defect defect;
    const char *what;
} bugs[] = {
    {"full", NULL, ROPE, "a wrong RoPE position"},
    {"quest", NULL, OFF_BY_ONE, "an off-by-one in the page list"},
    {"quest", NULL, STALE, "a stale selection"},
    {"quest", NULL, NO_WINDOW, "a dropped recency window"},
    {"quest", NULL, ROPE, "a wrong RoPE position"},
    {"delta", NULL, OFF_BY_ONE, "an off-by-one in the page list"},
    {"delta", NULL, STALE, "a stale selection"},
    {"delta", NULL, NO_WINDOW, "a dropped recency window"},
    {"delta", NULL, ROPE, "a wrong RoPE position"},
    {"kascade", NULL, OFF_BY_ONE, "an off-by-one in the token list"},
    {"kascade", NULL, STALE, "a stale selection"},
    {"kascade", NULL, NO_WINDOW, "a dropped recency window"},
    {"kascade", NULL, ROPE, "a wrong RoPE position"},
    {"raas", "raas:budget_tokens=32", NONE, "one page too few"},
    {"raas", "raas:budget_tokens=48,r=0", NONE, "stale stamps"},
    {"raas", NULL, ROPE, "a wrong RoPE position"},
    {"dms", "dms:cr=4,window=2", NONE, "a dropped recency window"},
    {"dms", NULL, ROPE, "a wrong RoPE position"},
};

struct setup {
    struct runfile file;
    struct runplan plan;
    struct arena arena;
    struct gate_trace trace;
    struct gate_replay base[SETTINGS];
    struct deadline deadline;
    struct sweep sweep;
};

static void die(const struct err *e)
{
    fprintf(stderr, "%s\n", e->text);
    exit(1);
}

static void open_plan(struct setup *s, int threads, int max_batch)
{
    struct err e = {0};
    struct runfile_options fo = {0};
    struct runplan_options po = {.threads = threads, .max_batch = max_batch};
    if (runfile_load(&s->file, SOURCE_DIR "/tests/evalcore/gate/tiny.json", &fo, &e) ||
        runplan_build(&s->plan, &s->file, &po, &e))
        die(&e);
    deadline_init(&s->deadline, NULL);
    sweep_open_local(&s->sweep, &s->plan, &s->deadline);
    const struct prompt_set *set = &s->plan.sets[0];
    s->trace = (struct gate_trace){set->label, set->task.problems[0].id, set->rows[0].sha256,
                                   set->ids.id + set->rows[0].first, TOKENS};
    CHECK(set->rows[0].n >= TOKENS);
}

static void close_plan(struct setup *s)
{
    sweep_close(&s->sweep);
    runplan_release(&s->plan);
    runfile_release(&s->file);
    arena_release(&s->arena);
}

static void replay(struct setup *s, struct gate_replay *r, int n, int every)
{
    struct err e = {0};
    int signal = 0;
    if (gate_replay(r, n, &s->trace, &s->sweep, every, NULL, &signal, &s->arena, &e))
        die(&e);
}

static void plant(struct setup *s, size_t bug, struct policy_ops *ops)
{
    struct err e = {0};
    struct plan_cell *cell = NULL;
    struct policy *whole;
    struct gate_drift d;
    for (int c = 0; c < s->plan.n_cells; c++)
        if (!strcmp(s->plan.cells[c].policy->label, bugs[bug].policy))
            cell = &s->plan.cells[c];
    int at = (int)(cell - s->plan.cells);
    whole = cell->instance;
    struct policy_spec spec = cell->spec;
    if (bugs[bug].options && policy_spec_text(&spec, bugs[bug].options, &s->arena, &e))
        die(&e);
    *ops = *spec.ops;
    ops->select = defective_select;
    spec.ops = ops;
    if (engine_policy(s->plan.loaded[0].engine, &spec, &cell->instance, &e))
        die(&e);
    planted = bugs[bug].defect;
    memset(is_kept, 0, sizeof is_kept);
    struct gate_replay now = {.setting = s->base[at].setting};
    replay(s, &now, 1, 1);
    gate_drift(&d, &s->base[at], &now, 1, &s->arena);
    if (!d.failed)
        fprintf(stderr, "%s: %s was not found\n", bugs[bug].policy, bugs[bug].what);
    CHECK(d.failed && d.why);
    cell->instance = whole;
}

int main(void)
{
    static struct setup s, other;
    static struct policy_ops ops[sizeof bugs / sizeof *bugs];
    struct gate_drift d;
    open_plan(&s, 0, 0);
    CHECK_INT(s.plan.n_cells, SETTINGS);
    for (int i = 0; i < SETTINGS; i++)
        s.base[i].setting = s.plan.cells[i].policy->label;
    replay(&s, s.base, SETTINGS, GATE_SEE_EVERY);
    open_plan(&other, 1, 2);
    for (int i = 0; i < SETTINGS; i++)
        other.base[i].setting = s.base[i].setting;
    replay(&other, other.base, SETTINGS, 1);
    for (int i = 0; i < SETTINGS; i++) {
        gate_drift(&d, &s.base[i], &other.base[i], 1, &s.arena);
        if (d.failed)
            fprintf(stderr, "%s: %s\n", d.setting, d.why);
        CHECK(!d.failed && d.is_exact && d.nats == 0 && d.top1 == 1);
    }
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        plant(&s, i, &ops[i]);
    close_plan(&other);
    close_plan(&s);
    return check_done();
}
