/* The gate's verdicts on sides made here, written to base files and read back: what passes, what fails, and
 * that nothing which cannot be compared passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/gate/gate.h"
#include "tests/check.h"

enum { MOST = 80 };

struct made {                     /* a side with one setting on one task */
    int problems, samples, right; /* right: of each problem's samples */
    int cut, unparsed, errors;    /* of each problem's samples; errors in all */
    double tokens, reads;
    int is_plain; /* none is cut or unreadable, so samples can be told one by one */
    const char *setting, *prompt, *gold, *settings, *weights, *facts, *policy;
};

static void make(struct gate_side *s, const struct made *m, struct arena *a)
{
    struct gate_cell *c = arena_alloc(a, sizeof *c);
    struct gate_problem *p = arena_alloc(a, MOST * sizeof *p);
    *s = (struct gate_side){.path = "made",
                            .model = "pocket",
                            .weights = m->weights ? m->weights : "w",
                            .numerics = "cpu",
                            .grader = "g",
                            .version = "1",
                            .margin = 5,
                            .cells = c,
                            .n_cells = 1};
    *c = (struct gate_cell){.setting = m->setting ? m->setting : "quest",
                            .task = "relay",
                            .policy = m->policy ? m->policy : "{\"k_pages\":16}",
                            .settings = m->settings ? m->settings : "{\"temperature\":0.6}",
                            .facts = m->facts ? m->facts : "{\"version\":\"1\"}",
                            .is_binary = 1,
                            .n_problems = m->problems,
                            .problems = p};
    for (int i = 0; i < m->problems; i++) {
        double n = m->samples;
        struct gate_sums *sample = arena_alloc(a, ((size_t)m->samples + 1) * sizeof *sample);
        for (int k = 0; k < m->samples; k++) { /* right ones are spread evenly */
            int right = (k + 1) * m->right / m->samples - k * m->right / m->samples;
            sample[k] =
                (struct gate_sums){1, right, 0, 0, 0, right, m->tokens, log1p(m->tokens), m->reads, 0, 100};
        }
        p[i] = (struct gate_problem){.id = arena_printf(a, "p%d", i),
                                     .prompt_sha256 = m->prompt ? m->prompt : "0123456789abcdef",
                                     .gold = m->gold ? m->gold : "00000000000000aa",
                                     .n = m->samples,
                                     .sample = m->is_plain ? sample : NULL,
                                     .all = {.n = m->samples,
                                             .right = m->right,
                                             .cut = m->cut,
                                             .unparsed = m->unparsed,
                                             .errors = i ? 0 : m->errors,
                                             .score = m->right,
                                             .tokens = n * m->tokens,
                                             .log_tokens = n * log1p(m->tokens),
                                             .reads = n * m->reads,
                                             .full = n * 100}};
    }
}

#define USUAL .problems = 60, .samples = 4, .right = 4, .tokens = 100, .reads = 30
static const struct {
    const char *what;
    struct made now;
    int code; /* of the error; 0: none, then the verdict */
    enum gate_verdict verdict;
} rows[] = {
    {"the same", {USUAL}, 0, GATE_PASS},
    {"half of the answers",
     {.problems = 60, .samples = 4, .right = 2, .tokens = 100, .reads = 30},
     0,
     GATE_REGRESSION},
    {"longer answers",
     {.problems = 60, .samples = 4, .right = 4, .tokens = 140, .reads = 30},
     0,
     GATE_REGRESSION},
    {"more cut off", {USUAL, .cut = 2}, 0, GATE_REGRESSION},
    {"more unreadable", {USUAL, .unparsed = 2}, 0, GATE_REGRESSION},
    {"reads doubled",
     {.problems = 60, .samples = 4, .right = 4, .tokens = 100, .reads = 60},
     0,
     GATE_REGRESSION},
    {"reads nothing",
     {.problems = 60, .samples = 4, .right = 4, .tokens = 100, .reads = 0},
     0,
     GATE_REGRESSION},
    {"a failed job", {USUAL, .errors = 1}, 0, GATE_ERROR},
    {"other options passed", {USUAL, .policy = "{\"k_pages\":8}"}, ERR_USAGE, 0},
    {"a removed option passed", {USUAL, .policy = "{}"}, ERR_USAGE, 0},
    {"an added option passed", {USUAL, .policy = "{\"k_pages\":16,\"l_pages\":2}"}, ERR_USAGE, 0},
    {"other options let through as inconclusive",
     {.problems = 60, .samples = 1, .right = 1, .tokens = 100, .reads = 30, .policy = "{\"k_pages\":8}"},
     ERR_USAGE,
     0},
    {"other options and half of the answers",
     {.problems = 60, .samples = 4, .right = 2, .tokens = 100, .reads = 30, .policy = "{\"k_pages\":8}"},
     0,
     GATE_REGRESSION},
    {"other prompts", {USUAL, .prompt = "fedcba9876543210"}, ERR_USAGE, 0},
    {"other reference answers under the same prompts", {USUAL, .gold = "00000000000000bb"}, ERR_USAGE, 0},
    {"another temperature", {USUAL, .settings = "{\"temperature\":0.7}"}, ERR_USAGE, 0},
    {"another task version", {USUAL, .facts = "{\"version\":\"2\"}"}, ERR_USAGE, 0},
    {"other weights", {USUAL, .weights = "v"}, ERR_USAGE, 0},
    {"another setting", {USUAL, .setting = "delta"}, ERR_USAGE, 0},
    {"fewer problems", {.problems = 59, .samples = 4, .right = 4, .tokens = 100, .reads = 30}, ERR_USAGE, 0},
    {"no answers", {.problems = 60, .samples = 0, .tokens = 100, .reads = 30}, ERR_IO, 0},
};

static void verdicts(void)
{
    const struct made usual = {.problems = 60, .samples = 64, .right = 64, .tokens = 100, .reads = 30};
    struct gate_limits limits;
    param_defaults(gate_limit_params, &limits);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct gate_side base, now;
        struct gate_result r;
        struct err e = {0};
        make(&base, &usual, &a);
        make(&now, &rows[i].now, &a);
        int rc = gate_decide(&r, &base, &now, &limits, 5, 0, 1, &a, &e);
        if (rc != rows[i].code || (!rc && r.verdict != rows[i].verdict))
            fprintf(stderr, "%s: %d %s %s\n", rows[i].what, rc, e.text, rc ? "" : r.words);
        CHECK_INT(rc, rows[i].code);
        CHECK(rc ? e.text[0] != 0 : r.verdict == rows[i].verdict);
        if (!rc) {
            struct str json = {0}, junit = {0}, github = {0};
            gate_json(&json, &r);
            gate_junit(&junit, &r);
            gate_github(&github, &r);
            CHECK(strstr(json.data, gate_verdict_name(r.verdict)) != NULL);
            CHECK((strstr(junit.data, "<failure") || strstr(junit.data, "<error")) ==
                  (r.verdict != GATE_PASS));
            CHECK((github.len > 0) == (r.verdict != GATE_PASS));
            str_release(&json);
            str_release(&junit);
            str_release(&github);
        }
        arena_release(&a);
    }
}

/* Few answers: neither verdict can be earned. With more samples to come the setting stays open. */
static void inconclusive(void)
{
    const struct made base_made = {.problems = 6, .samples = 64, .right = 40, .tokens = 100, .reads = 30};
    const struct made now_made = {.problems = 6, .samples = 4, .right = 2, .tokens = 100, .reads = 30};
    struct gate_limits limits;
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_result r;
    struct err e = {0};
    param_defaults(gate_limit_params, &limits);
    make(&base, &base_made, &a);
    make(&now, &now_made, &a);
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 4, 1, &a, &e), 0);
    CHECK_INT(r.verdict, GATE_INCONCLUSIVE);
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 4, 0, &a, &e), 0);
    CHECK_INT(r.verdict, GATE_OPEN);
    arena_release(&a);
}

/* A base file says the same when it is read back; cut, changed, empty and foreign ones are refused. */
static void files(void)
{
    static const char path[] = "gate_base_test.jsonl";
    struct made m = {USUAL};
    struct arena a = {0};
    struct gate_side s, t;
    struct err e = {0};
    struct str text = {0};
    make(&s, &m, &a);
    CHECK_INT(gate_base_write(&s, path, &e), 0);
    CHECK_INT(gate_base_read(&t, path, &a, &e), 0);
    CHECK_INT(gate_match(&s, &t, &e), 0);
    CHECK_INT(t.cells[0].problems[59].all.right, 4);
    CHECK_NEAR(t.cells[0].problems[7].all.log_tokens, s.cells[0].problems[7].all.log_tokens, 1e-3);
    CHECK_INT(file_read(path, &text, &e), 0);
    for (int k = 0; k < 4; k++) {
        struct err why = {0};
        size_t n = k == 0 ? text.len / 2 : k == 3 ? 0 : text.len;
        if (k == 1)
            text.data[text.len / 3] ^= 1;
        CHECK_INT(k == 2 ? file_write_atomic(path, "hello\n", 6, &why)
                         : file_write_atomic(path, text.data, n, &why),
                  0);
        CHECK_INT(gate_base_read(&t, path, &a, &why), k == 2 ? ERR_USAGE : k == 3 ? ERR_IO : ERR_FORMAT);
        CHECK(why.text[0] != 0);
    }
    unlink(path);
    str_release(&text);
    arena_release(&a);
}

/* A baseline whose jobs failed is 0 % right, which passes every night. */
static void broken_baseline(void)
{
    struct made bad = {USUAL, .errors = 240}, good = {USUAL};
    struct arena a = {0};
    struct gate_side base, now;
    struct err e = {0}, f = {0}, g = {0};
    make(&base, &bad, &a);
    make(&now, &good, &a);
    CHECK_INT(gate_match(&base, &now, &e), ERR_USAGE);
    CHECK(strstr(e.text, "240 answers") != NULL);
    CHECK_INT(gate_base_write(&base, "gate_broken_base.jsonl", &f), ERR_USAGE);
    CHECK(!file_exists("gate_broken_base.jsonl"));
    CHECK_INT(gate_fit(&now, 0, &g), 0);
    CHECK_INT(gate_fit(&now, 1, &g), ERR_USAGE);
    CHECK(strstr(g.text, "no replay under \"quest\"") != NULL);
    arena_release(&a);
}

/* Where the baseline solves no more than the margin, nothing can lose the margin. */
static void low_baseline(void)
{
    struct made low = {.problems = 60, .samples = 64, .right = 3, .tokens = 100, .reads = 30};
    struct made none = {.problems = 60, .samples = 16, .right = 0, .tokens = 100, .reads = 30};
    struct gate_limits limits;
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_result r;
    struct err e = {0};
    param_defaults(gate_limit_params, &limits);
    make(&base, &low, &a);
    make(&now, &low, &a);
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 0, 1, &a, &e), 0);
    CHECK_INT(r.verdict, GATE_INCONCLUSIVE);
    CHECK(strstr(r.settings[0].why, "no loss could be shown: the baseline solves 4.7 %") != NULL);
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 4, 0, &a, &e), 0);
    CHECK_INT(r.verdict, GATE_OPEN);
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 4, 0, 1, &a, &e), 0);
    CHECK_INT(r.verdict, GATE_PASS);
    make(&now, &none, &a);
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 0, 1, &a, &e), 0);
    CHECK_INT(r.verdict, GATE_REGRESSION);
    arena_release(&a);
}

/* A loss of one standard error a night, which no night shows, passes the limit after ten. */
static void nights(void)
{
    struct arena a = {0};
    struct gate_night night[14];
    const char *setting[] = {"quest"};
    double z[14], zero = 0;
    struct gate_history h = {night, 14};
    struct str svg = {0};
    int alarm;
    for (int i = 0; i < 14; i++) {
        z[i] = i < 2 ? 0 : -1;
        night[i] = (struct gate_night){.setting = setting, .z = &z[i], .delta = &zero, .n = 1};
    }
    gate_chart(&svg, &h, &alarm, &a);
    CHECK_INT(alarm, 12);
    CHECK(svg.len && strstr(svg.data, "<svg") && strstr(svg.data, "quest"));
    h.n = 5;
    str_clear(&svg);
    gate_chart(&svg, &h, &alarm, &a);
    CHECK_INT(alarm, -1);
    str_release(&svg);
    arena_release(&a);
}

/* How often and at what it looks: the last look takes all there is, by the last rule. */
static const struct {
    const char *what;
    int problems, base_right, have, right; /* of each problem: base_right of 64, right of have */
    int samples, is_last;                  /* as gate_decide() is asked */
    enum gate_verdict verdict;
    int n_looks, last; /* the last look's samples */
} look_rows[] = {
    {"a task halved by chance failed the night", 3, 40, 4, 1, 4, 0, GATE_OPEN, 1, 4},
    {"a task that collapses fails it", 3, 60, 4, 0, 4, 0, GATE_REGRESSION, 1, 4},
    {"exactly four samples never got the last limit", 6, 48, 4, 2, 4, 1, GATE_REGRESSION, 1, 4},
    {"four samples with more to come keep the first", 6, 48, 4, 2, 4, 0, GATE_OPEN, 1, 4},
    {"three samples get the last limit", 6, 48, 3, 1, 3, 1, GATE_REGRESSION, 1, 3},
    {"the fifth and sixth were not looked at", 6, 40, 6, 3, 6, 1, GATE_INCONCLUSIVE, 2, 6},
    {"what came after eight was not looked at", 6, 40, 13, 7, 13, 1, GATE_INCONCLUSIVE, 3, 13},
    {"a setting with fewer samples than the plan", 6, 40, 4, 2, 16, 1, GATE_INCONCLUSIVE, 1, 4},
    {"what is there is looked at once", 6, 40, 64, 40, 0, 1, GATE_INCONCLUSIVE, 1, 64},
};

static void look_by_look(void)
{
    struct gate_limits limits;
    param_defaults(gate_limit_params, &limits);
    for (size_t i = 0; i < sizeof look_rows / sizeof *look_rows; i++) {
        struct made b = {.problems = look_rows[i].problems,
                         .samples = 64,
                         .right = look_rows[i].base_right,
                         .tokens = 100,
                         .reads = 30};
        struct made m = b;
        struct arena a = {0};
        struct gate_side base, now;
        struct gate_result r;
        struct err e = {0};
        m.samples = look_rows[i].have;
        m.right = look_rows[i].right;
        m.is_plain = 1;
        make(&base, &b, &a);
        make(&now, &m, &a);
        CHECK_INT(
            gate_decide(&r, &base, &now, &limits, 5, look_rows[i].samples, look_rows[i].is_last, &a, &e), 0);
        const struct gate_setting *s = r.settings;
        if (s->verdict != look_rows[i].verdict)
            fprintf(stderr, "%s: %s\n", look_rows[i].what, r.words);
        CHECK_INT(s->verdict, look_rows[i].verdict);
        CHECK_INT(s->n_looks, look_rows[i].n_looks);
        CHECK_INT(s->look[s->n_looks - 1].samples, look_rows[i].last);
        CHECK_NEAR(s->look[s->n_looks - 1].fail_p, stat_looks[look_rows[i].is_last ? 2 : 0].fail_p, 0);
        arena_release(&a);
    }
}

/* Greedy runs against themselves were inconclusive, for no test can tell so few. */
static void greedy(void)
{
    static const struct {
        int base_right, right;
        double tokens;
        const char *numerics;
        enum gate_verdict verdict;
    } row[] = {
        {1, 1, 100, "cpu", GATE_PASS},         {0, 0, 100, "cpu", GATE_INCONCLUSIVE},
        {1, 0, 100, "cpu", GATE_REGRESSION},   {1, 1, 101, "cpu", GATE_INCONCLUSIVE},
        {1, 1, 100, "gpu", GATE_INCONCLUSIVE},
    };
    struct gate_limits limits;
    param_defaults(gate_limit_params, &limits);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct made m = {.problems = 6, .samples = 1, .reads = 30, .settings = "{\"temperature\":0}"};
        struct arena a = {0};
        struct gate_side base, now;
        struct gate_result r;
        struct err e = {0};
        m.right = row[i].base_right;
        m.tokens = 100;
        make(&base, &m, &a);
        m.right = row[i].right;
        m.tokens = row[i].tokens;
        make(&now, &m, &a);
        now.numerics = row[i].numerics;
        CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 1, 1, &a, &e), 0);
        CHECK_INT(r.verdict, row[i].verdict);
        arena_release(&a);
    }
}

/* A label could begin a line of the console, which GitHub's runner trims and obeys, and JUnit held characters
 * that XML forbids. */
static void hostile_label(void)
{
    static const char label[] = "::stop-commands::x ##[error]y \xc2\x9b"
                                "31m\xef\xbf\xbf<\x9d";
    static const char *const bad[] = {"::stop-commands", "commands::x",  "##[",
                                      "\xc2\x9b",        "\xef\xbf\xbf", "\x9d"};
    struct gate_side side = {.path = "p", .model = "m", .weights = "w", .numerics = "n", .version = "v"};
    struct gate_drift d = {.setting = label, .failed = 1, .why = label};
    struct gate_setting s = {.label = label, .why = label, .differs = label, .verdict = GATE_ERROR};
    struct gate_result r = {.base = &side,
                            .now = &side,
                            .drifts = &d,
                            .n_drifts = 1,
                            .settings = &s,
                            .n_settings = 1,
                            .verdict = GATE_REGRESSION,
                            .words = label};
    struct str text[3] = {{0}};
    gate_console(&text[0], &r);
    gate_github(&text[1], &r);
    gate_junit(&text[2], &r);
    for (int i = 0; i < 3; i++) {
        for (int k = i < 2 ? 0 : 3; k < (int)(sizeof bad / sizeof *bad); k++)
            CHECK(strstr(text[i].data, bad[k]) == NULL);
        str_release(&text[i]);
    }
}

/* On small sets the test of the guards cannot fail, and nobody was told. */
static void blind_guards(void)
{
    static const struct {
        int problems, cut, samples;
        double tokens;
        enum gate_verdict verdict;
        int is_told;
    } row[] = {
        {6, 0, 4, 100, GATE_INCONCLUSIVE, 1},  {6, 0, 4, 140, GATE_INCONCLUSIVE, 1},
        {6, 0, 4, 160, GATE_REGRESSION, 0},    {6, 1, 4, 100, GATE_REGRESSION, 1},
        {60, 0, 4, 100, GATE_INCONCLUSIVE, 0},
    };
    struct gate_limits limits;
    param_defaults(gate_limit_params, &limits);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct made b = {.problems = row[i].problems, .samples = 64, .right = 40, .tokens = 100, .reads = 30};
        struct made m = {.problems = row[i].problems,
                         .samples = row[i].samples,
                         .right = 2,
                         .cut = row[i].cut,
                         .tokens = row[i].tokens,
                         .reads = 30};
        struct arena a = {0};
        struct gate_side base, now;
        struct gate_result r;
        struct err e = {0};
        struct str text = {0};
        make(&base, &b, &a);
        make(&now, &m, &a);
        CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 4, 1, &a, &e), 0);
        if (row[i].problems == 6)
            CHECK_INT(r.verdict, row[i].verdict);
        gate_console(&text, &r);
        CHECK_INT(strstr(text.data, "longer cannot be told with 6 problems") != NULL, row[i].is_told);
        str_release(&text);
        arena_release(&a);
    }
}

/* Its 64 samples of each problem were judged three times as "the first 4". */
static void base_file_as_new(void)
{
    struct made m = {USUAL};
    struct gate_limits limits;
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_result r;
    struct err e = {0};
    param_defaults(gate_limit_params, &limits);
    make(&base, &m, &a);
    make(&now, &m, &a);
    now.is_file = 1;
    CHECK_INT(gate_decide(&r, &base, &now, &limits, 5, 0, 1, &a, &e), ERR_USAGE);
    CHECK(strstr(e.text, "base file") != NULL);
    arena_release(&a);
}

/* A night with 12 settings on a base, as gate_history_add() gets it. */
static void add_night(const char *path, double tokens, double base_tokens, double z)
{
    const struct made b = {.problems = 3, .samples = 64, .right = (int)base_tokens, .tokens = 100};
    const struct made m = {.problems = 3, .samples = 4, .right = 2, .tokens = tokens, .is_plain = 1};
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_setting s[12];
    struct err e = {0};
    make(&base, &b, &a);
    make(&now, &m, &a);
    struct gate_cell *cells = arena_alloc(&a, 12 * sizeof *cells);
    for (int i = 0; i < 12; i++) {
        cells[i] = now.cells[0];
        cells[i].setting = arena_printf(&a, "s%d", i);
        s[i] = (struct gate_setting){.label = cells[i].setting, .n_looks = 1, .z = i == 11 ? z : 0};
        s[i].look[0].samples = 4;
    }
    now.cells = cells;
    now.n_cells = 12;
    struct gate_result r = {.base = &base, .now = &now, .settings = s, .n_settings = z < 0 ? 12 : 0};
    CHECK_INT(gate_history_add(path, &r, 1, &e), 0);
    arena_release(&a);
}

/* An unchanged build with a fixed seed added its z up every night, a repeated command counted twice, the sum
 * ran on across bases, and neither the twelfth setting nor nights before a failed one could raise the alarm.
 */
static void same_answers(void)
{
    static const char path[] = "gate_history_test.jsonl";
    static const struct {
        int nights, is_same, base, then_failed, n, alarm;
    } row[] = {
        {20, 1, 60, 0, 1, -1},
        {20, 0, 60, 0, 20, 10},
        {20, 0, 60, 1, 20, 10},
        {20, 0, 61, 0, 1, -1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct arena a = {0};
        struct gate_history h;
        struct err e = {0};
        struct str svg = {0};
        int alarm;
        unlink(path);
        for (int k = 0; k < row[i].nights; k++)
            add_night(path, row[i].is_same ? 100 : 100 + k, 60, -1);
        if (row[i].base != 60)
            add_night(path, 100, row[i].base, -1);
        if (row[i].then_failed)
            add_night(path, 100, 60, 0);
        CHECK_INT(gate_history_read(&h, path, &a, &e), 0);
        CHECK_INT(h.n, row[i].n);
        gate_chart(&svg, &h, &alarm, &a);
        CHECK_INT(alarm, row[i].alarm);
        CHECK(svg.len && (alarm < 0 || strstr(svg.data, "s11")));
        str_release(&svg);
        arena_release(&a);
    }
    unlink(path);
}

int main(void)
{
    verdicts();
    inconclusive();
    look_by_look();
    greedy();
    base_file_as_new();
    hostile_label();
    blind_guards();
    files();
    broken_baseline();
    low_baseline();
    nights();
    same_answers();
    return check_done();
}
