/* The gate's verdicts on sides made here: what passes, what fails, and that nothing which cannot be compared
 * passes. */
#include <stdio.h>

#include "tests/evalcore/gate/made_side.h"

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
    {"half of the answers, since these jobs failed, was a regression",
     {.problems = 60, .samples = 4, .right = 2, .tokens = 100, .reads = 30, .errors = 120},
     0,
     GATE_ERROR},
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
    {"another rope_theta over the same weights", {USUAL, .configuration = "d"}, ERR_USAGE, 0},
    {"another setting", {USUAL, .setting = "delta"}, ERR_USAGE, 0},
    {"fewer problems", {.problems = 59, .samples = 4, .right = 4, .tokens = 100, .reads = 30}, ERR_USAGE, 0},
    {"no answers", {.problems = 60, .samples = 0, .tokens = 100, .reads = 30}, ERR_IO, 0},
};

static void verdicts(void)
{
    const struct made usual = {.problems = 60, .samples = 64, .right = 64, .tokens = 100, .reads = 30};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct night n;
        night_make(&n, &usual, &rows[i].now);
        int rc = night_decide(&n, 5, 0, 1);
        if (rc != rows[i].code || (!rc && n.r.verdict != rows[i].verdict))
            fprintf(stderr, "%s: %d %s %s\n", rows[i].what, rc, n.e.text, rc ? "" : n.r.words);
        CHECK_INT(rc, rows[i].code);
        CHECK(rc ? n.e.text[0] != 0 : n.r.verdict == rows[i].verdict);
        if (!rc) {
            struct str json = {0}, junit = {0}, github = {0};
            gate_json(&json, &n.r);
            gate_junit(&junit, &n.r);
            gate_github(&github, &n.r);
            CHECK(strstr(json.data, gate_verdict_name(n.r.verdict)) != NULL);
            CHECK((strstr(junit.data, "<failure") || strstr(junit.data, "<error")) ==
                  (n.r.verdict != GATE_PASS));
            CHECK((github.len > 0) == (n.r.verdict != GATE_PASS));
            str_release(&json);
            str_release(&junit);
            str_release(&github);
        }
        arena_release(&n.a);
    }
}

/* Few answers: neither verdict can be earned. With more samples to come the setting stays open. */
static void inconclusive(void)
{
    const struct made base_made = {.problems = 6, .samples = 64, .right = 40, .tokens = 100, .reads = 30};
    const struct made now_made = {.problems = 6, .samples = 4, .right = 2, .tokens = 100, .reads = 30};
    struct night n;
    night_make(&n, &base_made, &now_made);
    CHECK_INT(night_decide(&n, 5, 4, 1), 0);
    CHECK_INT(n.r.verdict, GATE_INCONCLUSIVE);
    CHECK_INT(night_decide(&n, 5, 4, 0), 0);
    CHECK_INT(n.r.verdict, GATE_OPEN);
    arena_release(&n.a);
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
    for (size_t i = 0; i < sizeof look_rows / sizeof *look_rows; i++) {
        struct made b = {.problems = look_rows[i].problems,
                         .samples = 64,
                         .right = look_rows[i].base_right,
                         .tokens = 100,
                         .reads = 30};
        struct made m = b;
        struct night n;
        m.samples = look_rows[i].have;
        m.right = look_rows[i].right;
        m.is_plain = 1;
        night_make(&n, &b, &m);
        CHECK_INT(night_decide(&n, 5, look_rows[i].samples, look_rows[i].is_last), 0);
        const struct gate_setting *s = n.r.settings;
        if (s->verdict != look_rows[i].verdict)
            fprintf(stderr, "%s: %s\n", look_rows[i].what, n.r.words);
        CHECK_INT(s->verdict, look_rows[i].verdict);
        CHECK_INT(s->n_looks, look_rows[i].n_looks);
        CHECK_INT(s->look[s->n_looks - 1].samples, look_rows[i].last);
        CHECK_NEAR(s->look[s->n_looks - 1].fail_p, stat_looks[look_rows[i].is_last ? 2 : 0].fail_p, 0);
        arena_release(&n.a);
    }
}

/* Where the baseline solves no more than the margin, nothing can lose the margin. */
static void low_baseline(void)
{
    struct made low = {.problems = 60, .samples = 64, .right = 3, .tokens = 100, .reads = 30};
    struct made none = {.problems = 60, .samples = 16, .right = 0, .tokens = 100, .reads = 30};
    struct night n;
    night_make(&n, &low, &low);
    CHECK_INT(night_decide(&n, 5, 0, 1), 0);
    CHECK_INT(n.r.verdict, GATE_INCONCLUSIVE);
    CHECK(strstr(n.r.settings[0].why, "no loss could be shown: the baseline solves 4.7 %") != NULL);
    CHECK_INT(night_decide(&n, 5, 4, 0), 0);
    CHECK_INT(n.r.verdict, GATE_OPEN);
    CHECK_INT(night_decide(&n, 4, 0, 1), 0);
    CHECK_INT(n.r.verdict, GATE_PASS);
    make_side(&n.now, &none, &n.a);
    CHECK_INT(night_decide(&n, 5, 0, 1), 0);
    CHECK_INT(n.r.verdict, GATE_REGRESSION);
    arena_release(&n.a);
}

/* The same of questions with options: a build that only guesses passed beside a baseline that hardly knew
 * more. */
static void guessing_baseline(void)
{
    struct made low = {.problems = 60, .samples = 64, .right = 18, .tokens = 100, .reads = 30};
    struct night n;
    night_make(&n, &low, &low);
    CHECK_INT(night_decide(&n, 5, 0, 1), 0);
    CHECK_INT(n.r.verdict, GATE_PASS);
    for (int i = 0; i < 60; i++)
        n.now.cells[0].problems[i].chance = 0.25;
    CHECK_INT(night_decide(&n, 5, 0, 1), 0);
    CHECK_INT(n.r.verdict, GATE_INCONCLUSIVE);
    CHECK(strstr(n.r.settings[0].why, "the baseline solves 28.1 %, guessing 25.0 %, and 5 points") != NULL);
    arena_release(&n.a);
}

/* Of one answer to each problem a loss was ruled out that shows nothing on them in 13 % of the nights, beside
 * an interval of 19 points either way. p is that of the report, 0.95^n without a difference. */
static const struct {
    const char *what;
    int problems, base_samples, base_right, samples, right;
    double loss, low;
    enum gate_verdict verdict;
} single_rows[] = {
    {"40 unchanged ruled out a loss of 5 points", 40, 1, 1, 1, 1, 0.1285122, -0.0876, GATE_INCONCLUSIVE},
    {"58 unchanged are one too few", 58, 1, 1, 1, 1, 0.0510469, -0.0621, GATE_INCONCLUSIVE},
    {"59 unchanged are enough", 59, 1, 1, 1, 1, 0.0484945, -0.0611, GATE_PASS},
    {"one answer beside many ruled it out", 40, 64, 64, 1, 1, 0.1285122, -0.0722, GATE_INCONCLUSIVE},
    {"many answers beside one ruled it out", 40, 1, 1, 16, 16, 0.1285122, -0.0722, GATE_INCONCLUSIVE},
    {"one answer beside many, enough problems", 59, 64, 64, 1, 1, 0.0484945, -0.0495, GATE_PASS},
    {"several answers are judged by their spread", 40, 16, 16, 16, 16, 2.3e-8, -0.0185, GATE_PASS},
};

static void single_answers(void)
{
    for (size_t i = 0; i < sizeof single_rows / sizeof *single_rows; i++) {
        struct made b = {.problems = single_rows[i].problems,
                         .samples = single_rows[i].base_samples,
                         .right = single_rows[i].base_right,
                         .tokens = 100,
                         .reads = 30};
        struct made m = b;
        struct night n;
        m.samples = single_rows[i].samples;
        m.right = single_rows[i].right;
        m.is_plain = 1;
        night_make(&n, &b, &m);
        CHECK_INT(night_decide(&n, 5, 0, 1), 0);
        const struct gate_setting *s = n.r.settings;
        if (s->verdict != single_rows[i].verdict)
            fprintf(stderr, "%s: %s\n", single_rows[i].what, n.r.words);
        CHECK_INT(s->verdict, single_rows[i].verdict);
        CHECK_NEAR(s->look[s->n_looks - 1].within, single_rows[i].loss, 1e-7);
        CHECK_NEAR(s->ci.low, single_rows[i].low, 1e-4);
        arena_release(&n.a);
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
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct made b = {.problems = 6,
                         .samples = 1,
                         .right = row[i].base_right,
                         .tokens = 100,
                         .reads = 30,
                         .settings = "{\"temperature\":0}"};
        struct made m = b;
        struct night n;
        m.right = row[i].right;
        m.tokens = row[i].tokens;
        night_make(&n, &b, &m);
        n.now.numerics = row[i].numerics;
        CHECK_INT(night_decide(&n, 5, 1, 1), 0);
        CHECK_INT(n.r.verdict, row[i].verdict);
        arena_release(&n.a);
    }
}

/* The text begins what is said with the option, before anything that follows from it. */
static void check_first(const char *text, const char *what, const char *later)
{
    const char *p = text ? strstr(text, what) : NULL, *q = text ? strstr(text, later) : NULL;
    CHECK(p && (!q || p < q));
}

/* An option under the same label was said as its consequences, last of all or not at all. */
static void option_is_named_first(void)
{
    const struct made base = {USUAL, .policy = "{\"k_pages\":16,\"more\":{\"x\":1,\"y\":2}}"};
    struct made made = base;
    struct night n;
    struct str console = {0}, junit = {0}, md = {0}, html = {0}, svg = {0};
    made.policy = "{\"k_pages\":4,\"more\":{\"x\":1,\"y\":3}}";
    made.right = 2;
    night_make(&n, &base, &made);
    CHECK_INT(night_decide(&n, 5, 0, 1), 0);
    gate_console(&console, &n.r);
    gate_junit(&junit, &n.r);
    gate_page(&md, &html, &svg, &n.r, NULL, &n.a);
    check_first(str_text(&console), "k_pages is 4, the base has 16, more.y is 3, the base has 2", "lower");
    check_first(str_text(&junit), "message=\"k_pages is 4, the base has 16", "lower");
    check_first(str_text(&md), "k_pages is 4, the base has 16", "lower");
    check_first(n.r.words, "k_pages is 4, the base has 16", "lower");
    str_release(&console);
    str_release(&junit);
    str_release(&md);
    str_release(&html);
    arena_release(&n.a);
    made = (struct made){USUAL, .settings = "{\"seed\":2,\"temperature\":0.7}"};
    night_make(&n, &base, &made);
    CHECK_INT(night_decide(&n, 5, 0, 1), ERR_USAGE);
    CHECK(strstr(n.e.text, "seed is 2") && strstr(n.e.text, "temperature is 0.7, the base has 0.6"));
    arena_release(&n.a);

    /* Another policy under the same label was said as fifteen options that one of the two does not have. */
    const struct made quest = {USUAL, .policy = "{\"k_pages\":16,\"name\":\"quest\"}"};
    made = quest;
    made.policy = "{\"cr\":4,\"name\":\"dms\"}";
    made.right = 2;
    night_make(&n, &quest, &made);
    CHECK_INT(night_decide(&n, 5, 0, 1), 0);
    CHECK(strstr(n.r.changed, "the policy is \"dms\", the base has \"quest\"") != NULL);
    CHECK(!strstr(n.r.changed, "k_pages") && !strstr(n.r.words, "k_pages"));
    arena_release(&n.a);
}

/* Greedy answers that another context cut off, or another file of gates changed, were called no chance "in
 * one numerics class". */
static void changed_folder_is_named(void)
{
    const char *dms = "{\"gate\":\"m/gates.safetensors\",\"name\":\"dms\"}";
    const struct made base = {.problems = 6,
                              .samples = 1,
                              .right = 1,
                              .tokens = 100,
                              .reads = 30,
                              .settings = "{\"temperature\":0}",
                              .policy = dms};
    struct made made = base;
    struct night n;
    made.right = 0;
    for (int i = 0; i < 3; i++) {
        night_make(&n, &base, &made);
        n.base.cells[0].context = 4096;
        n.now.cells[0].context = i == 0 ? 1024 : 4096;
        n.base.cells[0].identity = "aa";
        n.now.cells[0].identity = i == 1 ? "bb" : "aa";
        CHECK_INT(night_decide(&n, 5, 1, 1), 0);
        const char *words = n.r.words;
        CHECK(strstr(words, i == 0   ? "context is 1024 tokens, the base has 4096"
                            : i == 1 ? "the file of gate holds something else"
                                     : "is no chance") != NULL);
        CHECK((strstr(words, "numerics class") != NULL) == (i == 2));
        arena_release(&n.a);
    }
}

/* An error's page had a table without a row. */
static void no_empty_table(void)
{
    struct gate_result r;
    struct arena a = {0};
    struct err e = {0};
    struct str md = {0}, html = {0}, svg = {0};
    err_set(&e, ERR_USAGE, "the margin is 3");
    gate_fault(&r, "base", "now", &e, &a);
    gate_page(&md, &html, &svg, &r, NULL, &a);
    CHECK(strstr(str_text(&md), "the margin is 3") && !strstr(str_text(&md), "|---"));
    CHECK(!strstr(str_text(&html), "<table"));
    str_release(&md);
    str_release(&html);
    arena_release(&a);
}

/* An endpoint tells no reads; the page and gate.json said "nan %". */
static void reads_of_an_endpoint(void)
{
    static const struct {
        double base, now;
        const char *words;
        int failed;
    } row[] = {{NAN, NAN, "reads are not counted", 0},
               {30, NAN, "reads are not counted, in the baseline they are", 1},
               {NAN, 30, "reads are counted, in the baseline they are not", 1}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct made b = {USUAL}, m = b;
        struct night n;
        struct str md = {0}, html = {0}, svg = {0}, json = {0};
        b.reads = row[i].base;
        m.reads = row[i].now;
        night_make(&n, &b, &m);
        CHECK_INT(night_decide(&n, 5, 0, 1), 0);
        CHECK_STR(n.r.settings[0].guard[3].words, row[i].words);
        CHECK_INT(n.r.settings[0].guard[3].failed, row[i].failed);
        gate_page(&md, &html, &svg, &n.r, NULL, &n.a);
        gate_json(&json, &n.r);
        CHECK(strstr(str_text(&md), "reads") && !strcasestr(str_text(&md), "nan"));
        CHECK(strstr(str_text(&json), row[i].words) && !strcasestr(str_text(&json), "nan"));
        str_release(&md);
        str_release(&html);
        str_release(&svg);
        str_release(&json);
        arena_release(&n.a);
    }
}

/* Its 64 samples of each problem were judged three times as "the first 4". */
static void base_file_as_new(void)
{
    struct made m = {USUAL};
    struct night n;
    night_make(&n, &m, &m);
    n.now.is_file = 1;
    CHECK_INT(night_decide(&n, 5, 0, 1), ERR_USAGE);
    CHECK(strstr(n.e.text, "base file") != NULL);
    arena_release(&n.a);
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
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct made b = {.problems = row[i].problems, .samples = 64, .right = 40, .tokens = 100, .reads = 30};
        struct made m = {.problems = row[i].problems,
                         .samples = row[i].samples,
                         .right = 2,
                         .cut = row[i].cut,
                         .tokens = row[i].tokens,
                         .reads = 30};
        struct night n;
        struct str text = {0};
        night_make(&n, &b, &m);
        CHECK_INT(night_decide(&n, 5, 4, 1), 0);
        if (row[i].problems == 6)
            CHECK_INT(n.r.verdict, row[i].verdict);
        gate_console(&text, &n.r);
        CHECK_INT(strstr(text.data, "longer cannot be told with 6 problems") != NULL, row[i].is_told);
        str_release(&text);
        arena_release(&n.a);
    }
}

int main(void)
{
    verdicts();
    inconclusive();
    look_by_look();
    low_baseline();
    guessing_baseline();
    single_answers();
    reads_of_an_endpoint();
    greedy();
    base_file_as_new();
    blind_guards();
    option_is_named_first();
    changed_folder_is_named();
    no_empty_table();
    return check_done();
}
