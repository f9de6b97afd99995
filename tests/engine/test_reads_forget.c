/* Reads, auxiliary reads and the most tokens held, as in test_reads.c, for the policies that forget, and for
 * their forms that only hide tokens. */
#include "tests/check.h"
#include "tests/engine/gates.h"
#include "tests/engine/reads.h"

/* RaaS keeps a pages besides those of the prompt: the current one and full ones. Which ones these are does
 * not change the count. */
static double raas_kept(double s, double pinned_pages, double pages)
{
    double before = floor((s - 1) / 16) - pinned_pages, current = s - floor((s - 1) / 16) * 16;
    return before < 0 ? s : 16 * pinned_pages + 16 * min2(before, pages - 1) + current;
}

static struct range raas(struct step t)
{
    return layers(t.s, 2, exact(raas_kept(t.s, ceil(t.prompt / 16), t.a)));
}

static struct range raas_unpinned(struct step t)
{
    return layers(t.s, 2, exact(raas_kept(t.s, 0, t.a)));
}

/* RaaS with a mask: in every step max(3, min(S, a pages) / 16) pages, not always with the current one. */
static struct range raas_repo(struct step t)
{
    return free_pages(t.s, max2(3, min2(floor(t.s / 16), t.a)), 16);
}

/* The same where each of two query heads of a group chooses. */
static struct range raas_repo_q(struct step t)
{
    struct range one = raas_repo(t);
    return (struct range){one.low, min2(2 * one.high, t.s)};
}

/* Bounds of every page, in 6 sparse layers. */
static double pages6(struct step t)
{
    return 6 * ceil(t.s / 16) / 8;
}

/* The same with two dense layers of eight. */
static struct range raas_repo_dense(struct step t)
{
    struct range q = raas_repo_q(t);
    return (struct range){(2 * t.s + 6 * q.low) / 8, (2 * t.s + 6 * q.high) / 8};
}

static struct range window(struct step t)
{
    return exact(min2(t.s, 17));
}

/* What a head holds in each step when it is cut to b tokens whenever it has more, and a multiple of `every`.
 * As the policy reads: before the cut. */
static double rounds(struct step t, double b, double every)
{
    double live = t.prompt;
    for (double s = t.prompt + 1; s <= t.s; s++) {
        live++;
        if (s < t.s && live > b && fmod(live, every) == 0)
            live = b;
    }
    return live;
}

static struct range rounds_of(struct step t)
{
    return exact(rounds(t, t.a, t.b));
}

/* By compression: at least one token besides the b recent ones. */
static struct range rounds_cr(struct step t)
{
    return exact(rounds(t, max2(floor(t.total / t.a), t.b + 1), t.b));
}

static struct range after_prompt(struct step t)
{
    return exact(min2(t.prompt, t.a) + t.s - t.prompt);
}

/* R-KV looks at the context, not at what is held. */
static double rkv_live(struct step t)
{
    double live = t.prompt;
    for (double s = t.prompt + 1; s <= t.s; s++) {
        live++;
        if (s < t.s && live > t.a && fmod(s, t.b) == 0)
            live = t.a;
    }
    return live;
}

static struct range rkv(struct step t)
{
    return exact(rkv_live(t));
}

/* As released: the prompt at once, then in the step after such a context. */
static double both_live(struct step t)
{
    double live = min2(t.prompt, t.a);
    for (double s = t.prompt + 1; s <= t.s; s++) {
        live++;
        if (s < t.s && live > t.a && fmod(s - 1, t.b) == 0)
            live = t.a;
    }
    return live;
}

static struct range both(struct step t)
{
    return exact(both_live(t));
}

/* a tokens are left after each step. */
static struct range one_more(struct step t)
{
    return exact(min2(t.s, t.a + 1));
}

static struct range one_more_cr(struct step t)
{
    return exact(min2(t.s, floor(t.total / t.a) + 1));
}

/* Bounds of the pages kept. */
static double raas_aux(struct step t)
{
    return 6 * ceil(raas_kept(t.s, ceil(t.prompt / 16), t.a) / 16) / 8;
}

static double raas_unpinned_aux(struct step t)
{
    return 6 * ceil(raas_kept(t.s, 0, t.a) / 16) / 8;
}

static double raas_bounds(struct step t)
{
    return 2 * ceil(t.s / 16) / 8 + raas_aux(t);
}

static double raas_unpinned_bounds(struct step t)
{
    return 2 * ceil(t.s / 16) / 8 + raas_unpinned_aux(t);
}

/* The end of the prompt: one query over its keys, if more than a tokens are there. */
static double prompt_once(struct step t)
{
    return t.s == t.prompt + 1 && t.prompt > t.a ? t.prompt / 2 : 0;
}

/* In each step the logits of everything that is held. */
static double held_logits(struct step t)
{
    return logits(one_more(t).low);
}

static double held_cr_logits(struct step t)
{
    return logits(one_more_cr(t).low);
}

/* ... and the prompt's. */
static double tova_aux(struct step t)
{
    return prompt_once(t) + (prompt_once(t) > 0 ? logits(t.prompt) : 0) + logits(one_more(t).low);
}

static double tova_cr_aux(struct step t)
{
    return prompt_once(t) + (prompt_once(t) > 0 ? logits(t.prompt) : 0) + logits(one_more_cr(t).low);
}

/* The keys before the 16 recent ones, in rounds of b tokens. */
static double window_aux(struct step t)
{
    double live = rounds(t, t.a, t.b);
    return live > t.a && fmod(live, t.b) == 0 ? (live - 16) / 2 : 0;
}

/* The keys before the 8 recent ones, and all keys. */
static double rkv_aux(struct step t)
{
    double live = rkv_live(t);
    return live > t.a && fmod(t.s, t.b) == 0 ? (live - 8) / 2 + live / 2 : 0;
}

/* The same as released, also in the round of the prompt, which the first step counts; `keys` of two: the keys
 * before the window, and all keys. */
static double both_round(double live, double a, int keys)
{
    return live >= a ? (live - 8) / 2 + (keys > 1 ? live / 2 : 0) : 0;
}

static double both_aux(struct step t, int keys)
{
    double once = t.s == t.prompt + 1 ? both_round(t.prompt, t.a, keys) : 0;
    return once + (fmod(t.s - 1, t.b) == 0 ? both_round(both_live(t), t.a, keys) : 0);
}

static double snapkv_both_aux(struct step t)
{
    return both_aux(t, 1);
}

static double rkv_both_aux(struct step t)
{
    return both_aux(t, 2);
}

static const struct reads_row rows[] = {
    {"streamingllm:preset=evict,window_tokens=64", streaming, none, 64, 0, 1, LONG, NULL},
    {"raas:budget_tokens=16", raas, raas_aux, 1, 0, 1, LONG, raas_bounds},
    {"raas:budget_tokens=32", raas, raas_aux, 2, 0, 1, LONG, raas_bounds},
    {"raas:budget_tokens=16,pin_counts=true", raas, raas_aux, 1, 0, 1, STEPS, raas_bounds},
    {"raas:budget_tokens=48,pin_prefill=false", raas_unpinned, raas_unpinned_aux, 3, 0, 1, LONG,
     raas_unpinned_bounds},
    {"raas:preset=RaaS@22d925d,budget_tokens=64", raas_repo_q, pages8, 4, 0, 0, LONG, pages8},
    {"raas:preset=RaaS@22d925d,budget_tokens=64,scope=kv", raas_repo, pages8, 4, 0, 0, LONG, pages8},
    {"raas:preset=RaaS@22d925d,budget_tokens=4096,scope=kv", raas_repo, pages8, 256, 0, 0, STEPS, pages8},
    {"raas:preset=RaaS@3ff39e7,budget_tokens=64", raas_repo_dense, pages6, 4, 0, 0, STEPS, pages8},
    {"dms:gate=always.safetensors", window, none, 0, 0, 1, STEPS, NULL},
    {"random:budget_tokens=40,recent=16,every=16", rounds_of, none, 40, 16, 2, LONG, NULL},
    {"random:budget_tokens=200,recent=16,every=16,draw=shared", rounds_of, none, 200, 16, 2, LONG, NULL},
    {"random:budget_tokens=41,recent=40,every=10,pin_prompt=false", rounds_of, none, 41, 10, 2, STEPS, NULL},
    {"random:preset=recency_pp,budget_tokens=40,every=16", rounds_of, none, 40, 16, 2, STEPS, NULL},
    {"random:cr=4,recent=16,every=16", rounds_cr, none, 4, 16, 2, LONG, NULL},
    {"tova:budget_tokens=60", one_more, tova_aux, 60, 0, 2, LONG, NULL},
    {"tova:budget_tokens=300", one_more, tova_aux, 300, 0, 2, LONG, NULL},
    {"tova:cr=4", one_more_cr, tova_cr_aux, 4, 0, 2, STEPS, NULL},
    {"h2o:budget_tokens=60", one_more, held_logits, 60, 0, 2, LONG, NULL},
    {"h2o:cr=4,recent=1", one_more_cr, held_cr_logits, 4, 0, 2, STEPS, NULL},
    {"snapkv:budget_tokens=100,window=16", after_prompt, prompt_once, 100, 0, 2, STEPS, NULL},
    {"snapkv:preset=paper,budget_tokens=300", after_prompt, prompt_once, 300, 0, 2, STEPS, NULL},
    {"snapkv:budget_tokens=40,window=16,every=16,when=decode", rounds_of, window_aux, 40, 16, 2, LONG, NULL},
    {"rkv:budget_tokens=40,every=16", rkv, rkv_aux, 40, 16, 2, LONG, NULL},
    {"rkv:budget_tokens=200,every=48", rkv, rkv_aux, 200, 48, 2, LONG, NULL},
    {"rkv:preset=R-KV@d15c976,budget_tokens=40,every=16", both, rkv_both_aux, 40, 16, 2, LONG, NULL},
    {"rkv:preset=R-KV@d15c976,budget_tokens=300,every=16", both, rkv_both_aux, 300, 16, 2, LONG, NULL},
    {"rkv:when=both,budget_tokens=200,every=48", both, rkv_both_aux, 200, 48, 2, STEPS, NULL},
    {"snapkv:preset=R-KV@d15c976,budget_tokens=64,every=16", both, snapkv_both_aux, 64, 16, 2, LONG, NULL},
    {"dms:gate=always.safetensors,evict=false", all, none, 0, 0, 0, STEPS, NULL},
    {"dms:neuron=first,window=16,evict=false", all, none, 0, 0, 0, STEPS, NULL},
};

int main(void)
{
    gates_write("always.safetensors", 8, 2, 256, 1);
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 64});
    laws_open(en);
    CHECK_INT(reads_check(en, rows, sizeof rows / sizeof *rows), 0);
    engine_close(en);
    laws_close();
    remove("always.safetensors");
    return check_done();
}
