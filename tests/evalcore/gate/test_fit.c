/* What is asked before a verdict: terms, replays that were decoded and test something; and the result when
 * there is none. */
#include <string.h>

#include "evalcore/gate/gate.h"
#include "tests/check.h"

/* Margins and numerics classes that differ are told before anything is compared, unless they are meant. */
static void terms(void)
{
    struct gate_side base = {.path = "base", .numerics = "cpu", .margin = 5}, now = base;
    struct err e = {0}, f = {0}, g = {0};
    CHECK_INT(gate_terms(&base, &now, 0, 0, &e), 0);
    now.margin = 10;
    CHECK_INT(gate_terms(&base, &now, 0, 0, &e), ERR_USAGE);
    CHECK_INT(gate_terms(&base, &now, 1, 0, &f), 0);
    now.numerics = "gpu";
    CHECK_INT(gate_terms(&base, &now, 1, 0, &f), ERR_USAGE);
    CHECK_INT(gate_terms(&base, &now, 1, 1, &g), 0);
}

/* A replay that was not decoded is no replay that is the same, in one numerics class or two; a policy without
 * lists has no share of them; lists that only one side has are not shared. */
static void undecoded(void)
{
    int nats[] = {-100, -200};
    int32_t tops[] = {1, 2};
    struct gate_seen list = {.digest = "01234567", .sets = "3"};
    struct gate_replay base = {
        .n = 2, .bits = "0123456789abcdef", .millinats = nats, .tops = tops, .kv = {.reads = 5}};
    struct gate_replay none = {0}, selecting = base;
    struct arena a = {0};
    struct gate_drift d;
    for (int same_class = 0; same_class < 2; same_class++) {
        gate_drift(&d, &base, &none, same_class, &a);
        CHECK(d.failed && strstr(d.why, "0 tokens were scored"));
        gate_drift(&d, &base, &base, same_class, &a);
        CHECK(!d.failed && d.is_exact && isnan(d.overlap));
        selecting.seen = &list;
        selecting.n_seen = 1;
        gate_drift(&d, &base, &selecting, same_class, &a);
        CHECK(d.failed && d.overlap == 0);
        gate_drift(&d, &selecting, &selecting, same_class, &a);
        CHECK(!d.failed && d.overlap == 1);
    }
    arena_release(&a);
}

/* A policy that reads everything in the replays selects nothing that they could show. */
static void replays_of_everything(void)
{
    struct err e = {0}, f = {0}, g = {0};
    struct gate_replay r = {.setting = "quest", .n = 2, .kv = {.reads = 100, .reads_full = 100}};
    struct gate_cell c = {.setting = "quest", .policy = "{\"name\":\"quest\"}"};
    struct gate_side s = {.cells = &c, .n_cells = 1, .replays = &r, .n_replays = 1};
    CHECK_INT(gate_fit_reads(&s, &e), ERR_USAGE);
    r.kv.reads = 99;
    CHECK_INT(gate_fit_reads(&s, &f), 0);
    r.kv.reads = 100;
    c.policy = "{\"name\":\"full\"}";
    CHECK_INT(gate_fit_reads(&s, &g), 0);
}

/* A name stands for the weights of an endpoint. Nothing is compared by it across servers unless it is meant,
 * and the reads that a server does not count are no change. */
static void served(void)
{
    static const struct {
        const char *base, *base_weights, *now, *now_weights;
        int is_same, without, with;
    } rows[] = {
        {"endpoint:m", "w", "endpoint:m", "w", 1, 0, 0},
        {"endpoint:m", "w", "endpoint:m", "v", 0, ERR_USAGE, 0},
        {"endpoint:m", "w", "endpoint:n", "v", 0, ERR_USAGE, 0},
        {"cpu", "w", "endpoint:m", "v", 0, ERR_USAGE, 0},
        {"endpoint:m", "w", "cpu", "v", 0, ERR_USAGE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gate_side base = {.path = "base", .numerics = rows[i].base, .weights = rows[i].base_weights};
        struct gate_side now = {
            .path = "now", .numerics = rows[i].now, .weights = rows[i].now_weights, .model = "m"};
        struct err e = {0}, f = {0};
        CHECK_INT(gate_same_class(&base, &now), rows[i].is_same);
        CHECK_INT(gate_terms(&base, &now, 0, 0, &e), rows[i].without);
        CHECK_INT(gate_terms(&base, &now, 0, 1, &f), rows[i].with);
    }
}

enum { REPEATED = GATE_REFERENCE + GATE_BAND, TOKENS = 50 };

/* A server's replays: noise of the same size passes, in four of four repetitions; what is further away in all
 * of them fails, and in one of them it does not. A text is another token, whatever its number. */
static void noise(void)
{
    static int nats[REPEATED][TOKENS];
    static int32_t tops[TOKENS], texts[TOKENS], ids[TOKENS];
    struct gate_replay rep[REPEATED], base, night[GATE_NIGHT];
    struct gate_drift d;
    struct arena a = {0};
    for (int k = 0; k < REPEATED; k++) {
        for (int i = 0; i < TOKENS; i++)
            nats[k][i] = -500 + (k * 31 + i * 17) % 21 - 10; /* 6 thousandths of a nat */
        rep[k] =
            (struct gate_replay){.n = TOKENS, .by_server = 1, .millinats = nats[k], .tops = tops, .ids = ids};
    }
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = 7;
        tops[i] = i % 5 ? 7 : 9;
        texts[i] = i % 5 ? 7 : -1000 - i;
    }
    gate_noise_band(&base, rep, &a);
    CHECK_INT(base.band->n, GATE_BAND);
    CHECK(base.band->kl[0] > 0 && base.band->kl[0] < GATE_NOISE_KL);
    for (int k = 0; k < GATE_NIGHT; k++)
        night[k] = rep[k];
    gate_noise_judge(&d, &base, night, &a);
    CHECK(!d.failed && d.kl > 0 && d.kl_limit == GATE_NOISE_KL && isnan(d.reads) && d.top1 == 1);
    static int off[GATE_NIGHT][TOKENS];
    for (int k = 0; k < GATE_NIGHT; k++) {
        for (int i = 0; i < TOKENS; i++)
            off[k][i] = nats[k][i] - 60;
        night[k].millinats = off[k];
        gate_noise_judge(&d, &base, night, &a);
        CHECK_INT(d.failed, k == GATE_NIGHT - 1);
    }
    CHECK(strstr(d.why, "KL") != NULL);
    for (int k = 0; k < GATE_NIGHT; k++) {
        night[k].millinats = nats[k];
        nats[k][3] -= 900;
    }
    gate_noise_judge(&d, &base, night, &a);
    CHECK(d.failed && d.worst > 0.8);
    for (int k = 0; k < GATE_NIGHT; k++) {
        nats[k][3] += 900;
        night[k].tops = texts;
    }
    gate_noise_judge(&d, &base, night, &a);
    CHECK(!d.failed && d.top1 == 1);
    for (int i = 0; i < 3; i++)
        texts[i] = -5;
    gate_noise_judge(&d, &base, night, &a);
    CHECK(d.failed && strstr(d.why, "2 of 50 places"));
    arena_release(&a);
}

/* An error without a verdict is told in every form that a pass is told in. */
static void fault(void)
{
    struct arena a = {0};
    struct gate_result r;
    struct err e = {0};
    struct str json = {0}, junit = {0}, github = {0}, md = {0}, html = {0}, svg = {0};
    err_set(&e, ERR_USAGE, "the models differ");
    gate_fault(&r, "base.jsonl", NULL, &e, &a);
    gate_json(&json, &r);
    gate_junit(&junit, &r);
    gate_github(&github, &r);
    gate_page(&md, &html, &svg, &r, NULL, &a);
    CHECK(strstr(json.data, "\"verdict\": \"error\"") && strstr(json.data, "the models differ"));
    CHECK(strstr(junit.data, "tests=\"1\" failures=\"0\" errors=\"1\""));
    CHECK(strstr(junit.data, "<error message=\"the models differ\"/>"));
    CHECK(strstr(github.data, "::error title=kveval gate, error::the models differ\n"));
    CHECK(strstr(md.data, "error: the models differ."));
    str_release(&json);
    str_release(&junit);
    str_release(&github);
    str_release(&md);
    str_release(&html);
    str_release(&svg);
    arena_release(&a);
}

int main(void)
{
    terms();
    undecoded();
    replays_of_everything();
    served();
    noise();
    fault();
    return check_done();
}
