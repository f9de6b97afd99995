/* What the gate reads and writes: base files, the history of nights and its chart, and what others read. */
#include <stdio.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "tests/evalcore/gate/made_side.h"

/* A base file says the same when it is read back; cut, changed, empty and foreign ones are refused. */
static void files(void)
{
    static const char path[] = "gate_base_test.jsonl";
    struct made m = {USUAL};
    struct arena a = {0};
    struct gate_side s, t;
    struct err e = {0};
    struct str text = {0};
    make_side(&s, &m, &a);
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
    make_side(&base, &bad, &a);
    make_side(&now, &good, &a);
    CHECK_INT(gate_match(&base, &now, &e), ERR_USAGE);
    CHECK(strstr(e.text, "240 answers") != NULL);
    CHECK_INT(gate_base_write(&base, "gate_broken_base.jsonl", &f), ERR_USAGE);
    CHECK(!file_exists("gate_broken_base.jsonl"));
    CHECK_INT(gate_fit(&now, 0, &g), 0);
    CHECK_INT(gate_fit(&now, 1, &g), ERR_USAGE);
    CHECK(strstr(g.text, "no replay under \"quest\"") != NULL);
    arena_release(&a);
}

/* A loss of one standard error a night, which no night shows, passes the limit after ten. */
static void nights(void)
{
    struct arena a = {0};
    struct gate_night night[14];
    const char *setting[] = {"quest"};
    double z[14], zero = 0;
    struct gate_history h = {"nights.jsonl", night, 14};
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

/* A night with 12 settings on a base, as gate_history_add() gets it. */
static void add_night(const char *path, double tokens, double base_tokens, double z)
{
    const struct made b = {.problems = 3, .samples = 64, .right = (int)base_tokens, .tokens = 100};
    const struct made m = {.problems = 3, .samples = 4, .right = 2, .tokens = tokens, .is_plain = 1};
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_setting s[12];
    struct err e = {0};
    make_side(&base, &b, &a);
    make_side(&now, &m, &a);
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

/* A label could begin a line of the console, which GitHub's runner trims and obeys, and JUnit held characters
 * that XML forbids. */
static void hostile_label(void)
{
    static const char label[] = "::stop-commands::x ##[error]y \xc2\x9b"
                                "31m\xef\xbf\xbf<\x9d\xe2\x80\xae";
    static const char *const bad[] = {"::stop-commands", "commands::x", "##[",         "\xc2\x9b",
                                      "\xef\xbf\xbf",    "\x9d",        "\xe2\x80\xae"};
    struct gate_side side = {
        .path = "p", .model = "m", .weights = "w", .configuration = "c", .numerics = "n", .version = "v"};
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

int main(void)
{
    files();
    broken_baseline();
    nights();
    same_answers();
    hostile_label();
    return check_done();
}
