/* The speed of each policy before a run: what is measured on the embedded model, and what completions take by
 * given figures. No time that was measured is compared with another one. */
#include "evalcore/plan/calibrate.h"
#include "tests/check.h"

enum { FULL, QUEST, DELTA, H2O, RKV, DMS, N_POLICIES };
static const char *const texts[N_POLICIES] = {"full",
                                              "quest:k_pages=16",
                                              "delta:k_pages=16,l_pages=4",
                                              "h2o:budget_tokens=128",
                                              "rkv:budget_tokens=128,every=16",
                                              "dms:cr=4"};

static void bind(struct policy_spec *out, const char *text, struct arena *a)
{
    struct err e = {0};
    struct policy_spec s;
    const struct policy_model pocket = {.path = "pocket", .n_layers = 8};
    CHECK_INT(policy_spec_text(&s, text, a, &e), 0);
    CHECK_INT(policy_spec_resolve(out, &s, &pocket, a, &e), 0);
    CHECK_STR(e.text, "");
}

static void check_points(const struct policy_speed *s, const char *text)
{
    CHECK_STR(s->why.text, "");
    CHECK(s->n > 0 && s->n <= SPEED_POINTS && s->rows > 0);
    for (int i = 0; i < s->n; i++) {
        int rises = !i || (s->context[i] > s->context[i - 1] && s->held[i] > s->held[i - 1]);
        if (!rises || !(s->step[i] > 0) || !(s->admit[i] >= 0) || s->held[i] > s->context[i])
            fprintf(stderr, "%s, point %d\n", text, i);
        CHECK(rises && s->step[i] > 0 && s->admit[i] >= 0 && s->held[i] <= s->context[i]);
    }
}

/* All policies, each with a point behind its budget where that is shorter than the sequences. */
static void measured(const struct policy_spec *spec)
{
    const struct engine_options o = {.model = "pocket", .threads = 1, .max_batch = 4};
    struct policy_speed s[N_POLICIES] = {0};
    struct calibration c = {.options = &o, .policy = s, .n = N_POLICIES, .rows = 4, .seconds = 1e6};
    struct err e = {0};
    for (int i = 0; i < N_POLICIES; i++)
        s[i] = (struct policy_speed){.spec = &spec[i], .longest = 900, .most_held = 900};
    CHECK_INT(calibrate(&c, &e), 0);
    CHECK_STR(e.text, "");
    for (int i = 0; i < N_POLICIES; i++)
        check_points(&s[i], texts[i]);
    CHECK(c.n_prompts > 0 && c.prompt[0] == 64 && c.prompt_seconds[0] > 0);
    CHECK(s[FULL].n == 2 && s[FULL].context[0] < 100);
    CHECK(s[QUEST].context[s[QUEST].n - 1] <= s[FULL].context[1]);
    CHECK(s[H2O].held[s[H2O].n - 1] < 200);
    CHECK(!speed_own_prompts(&s[FULL]) && speed_own_prompts(&s[H2O]) && speed_own_prompts(&s[DMS]));
    CHECK(s[H2O].admit[0] > 0 && s[DMS].admit[0] > 0);
}

/* Where no time is given the first policy is measured all the same, the others lack a reason of their own;
 * and one that cannot be bound ends nothing. */
static void not_measured(const struct policy_spec *spec)
{
    const struct engine_options o = {.model = "pocket", .threads = 1, .max_batch = 2};
    struct arena a = {0};
    struct err e = {0};
    struct policy_spec unknown; /* layer 7 is the last one */
    struct policy_speed s[3] = {0};
    struct calibration c = {.options = &o, .policy = s, .n = 2, .rows = 2, .seconds = 1e-9};
    for (int i = 0; i < 2; i++)
        s[i] = (struct policy_speed){.spec = &spec[i], .longest = 500, .most_held = 500};
    CHECK_INT(calibrate(&c, &e), 0);
    CHECK(s[0].n == 1 && s[1].n == 0);
    CHECK_INT(s[1].why.code, 0);

    CHECK_INT(policy_spec_text(&unknown, "delta:k_pages=2,l_pages=1,layers=9", &a, &e), 0);
    s[0] = (struct policy_speed){.spec = &unknown, .longest = 100, .most_held = 100};
    s[1] = (struct policy_speed){.spec = &spec[FULL], .longest = 100, .most_held = 100};
    c.seconds = 1e6;
    CHECK_INT(calibrate(&c, &e), 0);
    CHECK(s[0].n == 0 && s[0].why.code == ERR_USAGE && strstr(s[0].why.text, "layers"));
    CHECK(s[1].n > 0);
    c.n = 1;
    CHECK_INT(calibrate(&c, &e), ERR_USAGE);
    CHECK(strstr(e.text, "layers") != NULL);
    arena_release(&a);
}

/* A device that fails while it decodes: the policies measured before stay. */
static void device_fails(const struct policy_spec *spec)
{
    const struct engine_options o = {.model = "pocket", .threads = 1, .max_batch = 2};
    struct policy_speed s[2] = {0};
    struct calibration c = {.options = &o, .policy = s, .n = 2, .rows = 2, .seconds = 1e6};
    struct err e = {0};
    for (int i = 0; i < 2; i++)
        s[i] = (struct policy_speed){.spec = &spec[i], .longest = 100, .most_held = 100};
    setenv("KVEVAL_CPU_FAULT", "replay:26", 1); /* a policy takes 17 or 18 at one context */
    CHECK_INT(calibrate(&c, &e), 0);
    CHECK(s[0].n == 1 && s[1].n == 0 && s[1].why.code == ERR_DEVICE);
    setenv("KVEVAL_CPU_FAULT", "replay:1", 1);
    CHECK_INT(calibrate(&c, &e), ERR_DEVICE);
    CHECK(s[0].n == 0 && s[1].n == 0 && s[1].why.code == ERR_DEVICE);
    unsetenv("KVEVAL_CPU_FAULT");
}

/* Seconds of a completion, whose steps are 10 ms at 64 tokens and 20 ms at 1064, for 10 rows. */
static void completions(const struct policy_spec *spec)
{
    struct policy_speed s = {.spec = &spec[FULL],
                             .n = 2,
                             .rows = 10,
                             .prompt = {64, 1064},
                             .admit = {0.1, 1.1},
                             .context = {64, 1064},
                             .held = {64, 1064},
                             .step = {0.010, 0.020}};
    struct budget_at at = {.prompt = 464, .longest = 4000, .n_layers = 8};
    double full = speed_completion(&s, at, 200);
    CHECK_NEAR(full, 200 * 0.015 / 10, 1e-12);
    at.prompt = 2064; /* behind the last point the line goes on */
    CHECK_NEAR(speed_completion(&s, at, 2000), 2000 * 0.040 / 10, 1e-12);
    CHECK_NEAR(speed_admission(&s, 564), 0.6, 1e-12);
    /* A policy that drops is flat behind its budget, whatever the context. */
    s.spec = &spec[H2O];
    at.prompt = 464;
    double least = speed_completion(&s, at, 200);
    CHECK(least < full);
    CHECK_NEAR(speed_completion(&s, at, 2000), 10 * least, 1e-12);
    /* A slow policy makes the time longer. */
    s.step[0] = s.step[1] = 0.5;
    CHECK_NEAR(speed_completion(&s, at, 200), 200 * 0.5 / 10, 1e-12);
    s.step[1] = 0.1; /* a short context that was disturbed: a longer one is no faster */
    s.spec = &spec[FULL];
    CHECK_NEAR(speed_completion(&s, at, 200), 200 * 0.5 / 10, 1e-12);
    /* A bend: full attention up to the middle point, flat behind. */
    s = (struct policy_speed){
        .spec = &spec[QUEST], .n = 3, .rows = 1, .held = {100, 300, 1300}, .step = {0.001, 0.003, 0.003}};
    at.prompt = 0;
    CHECK_NEAR(speed_completion(&s, at, 400), 400 * 0.002, 1e-12);
    CHECK_NEAR(speed_completion(&s, at, 8000), 8000 * 0.003, 1e-12);
    CHECK_NEAR(speed_completion(&s, at, 20), 20 * 0.0005, 1e-12); /* never below half of the first */
    /* One point: prompts of its own go by their tokens. */
    s = (struct policy_speed){
        .spec = &spec[DMS], .n = 1, .rows = 1, .prompt = {50}, .admit = {0.5}, .held = {60}, .step = {0.01}};
    CHECK_NEAR(speed_admission(&s, 200), 2, 1e-12);
    CHECK_NEAR(speed_completion(&s, at, 100), 1, 1e-12);
    struct calibration c = {.n_prompts = 1, .prompt = {64}, .prompt_seconds = {2}};
    CHECK_NEAR(speed_prompt(&c, 128), 4, 1e-12);
    c = (struct calibration){.n_prompts = 2, .prompt = {64, 164}, .prompt_seconds = {2, 3}};
    CHECK_NEAR(speed_prompt(&c, 264), 4, 1e-12);
}

int main(void)
{
    struct arena a = {0};
    struct policy_spec spec[N_POLICIES];
    unsetenv("KVEVAL_CPU_FAULT");
    for (int i = 0; i < N_POLICIES; i++)
        bind(&spec[i], texts[i], &a);
    completions(spec);
    not_measured(spec);
    device_fails(spec);
    measured(spec);
    arena_release(&a);
    return check_done();
}
