/* Figures of a sweep: rates over ten seconds, workers that come and go, their form in JSON and back, in words
 * on a narrow terminal, and for Prometheus. */
#include "evalcore/status/board.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "tests/check.h"

static void rates(void)
{
    struct status_rate r = {0};
    CHECK_NEAR(status_rate(&r, 100, 0), 0, 0);
    CHECK_NEAR(status_rate(&r, 101, 50), 50, 1e-9);
    for (int i = 2; i <= 60; i++) /* ten calls a second; the speed doubles after half a minute */
        for (int k = 0; k < 10; k++)
            status_rate(&r, 100 + i + k * 0.1, i < 30 ? 50 * (i + k * 0.1) : 1500 + 100 * (i - 30 + k * 0.1));
    CHECK_NEAR(status_rate(&r, 161, 1500 + 100 * 31), 100, 1e-6);
    CHECK(r.n <= STATUS_RATE_SAMPLES);
    CHECK_NEAR(status_rate(&r, 162, 10), 0, 0); /* counting from the start again */
    CHECK_NEAR(status_rate(&r, 164, 50), 20, 1e-9);
}

static void workers(void)
{
    struct status_device d = {.name = "cuda:1"};
    struct status_worker w = {"cuda:1", STATUS_LOADING, 7, 0, 0, NULL, 0};
    status_device_now(&d, &w, 10);
    CHECK_INT(d.life, STATUS_LOADING);
    w = (struct status_worker){"cuda:1", STATUS_LIVE, 7, 3, 100, NULL, 0};
    status_device_now(&d, &w, 11);
    CHECK_INT(d.running, 3);
    CHECK_NEAR(d.rate, 100, 1e-9);
    CHECK_INT(d.lost + d.restarts, 0);
    w = (struct status_worker){"cuda:1", STATUS_LOST, 0, 3, 100, NULL, 0};
    status_device_now(&d, &w, 12);
    status_device_now(&d, &w, 13);
    CHECK_INT(d.lost, 1); /* once, however often one looks */
    CHECK_INT(d.running, 0);
    CHECK_NEAR(d.rate, 0, 0);
    w = (struct status_worker){"cuda:1", STATUS_LOADING, 8, 0, 100, NULL, 0};
    status_device_now(&d, &w, 14);
    CHECK_INT(d.restarts, 1);
    CHECK_INT(d.lost, 1);
    CHECK_NEAR(d.tokens, 100, 0); /* what it did before counts, once */
    w = (struct status_worker){"cuda:1", STATUS_LIVE, 8, 2, 140, NULL, 0};
    status_device_now(&d, &w, 15);
    CHECK_NEAR(d.tokens, 140, 0);
    CHECK_NEAR(d.rate, 140 / 5.0, 1e-9);
    /* Ended and started again between two looks. */
    w = (struct status_worker){"cuda:1", STATUS_LOADING, 9, 0, 140, NULL, 0};
    status_device_now(&d, &w, 16);
    CHECK_INT(d.lost, 2);
    CHECK_INT(d.restarts, 2);
    CHECK_NEAR(d.tokens, 140, 0);
    /* It gets another model, and is lost while it loads that. */
    w = (struct status_worker){"cuda:1", STATUS_LOADING, 9, 0, 140, "b", 1};
    status_device_now(&d, &w, 17);
    w.pid = 10;
    status_device_now(&d, &w, 18);
    CHECK_INT(d.lost, 2);
    CHECK_INT(d.restarts, 2);
    CHECK_INT(d.switches, 1);
    CHECK_STR(d.model, "b");
    CHECK_NEAR(d.tokens, 140, 0);
    w.pid = 11;
    status_device_now(&d, &w, 19);
    CHECK_INT(d.lost, 3);
    CHECK_INT(d.restarts, 3);
}

static struct status_device devices[8];

static struct status made(int n_devices)
{
    static const char *const names[] = {"cuda:0", "cuda:1", "cuda:2", "cuda:3",
                                        "cuda:4", "cuda:5", "cuda:6", "cuda:7"};
    struct status s = {.why = "",
                       .model = "m\"x\\y\n",
                       .host = "node1",
                       .pid = 1234,
                       .started = 1000,
                       .time = 1060.5,
                       .done = 120,
                       .total = 256,
                       .left = 250.04,
                       .device = devices,
                       .n_devices = n_devices};
    for (int i = 0; i < n_devices; i++)
        devices[i] = (struct status_device){
            .name = names[i], .life = STATUS_LIVE, .running = 32, .tokens = 5000, .rate = 6150};
    status_add_up(&s);
    return s;
}

static void json(void)
{
    struct status s = made(2), got;
    struct arena a = {0};
    struct err e = {0};
    s.state = STATUS_FAILED;
    s.why = "no worker is left";
    s.shard = 1;
    s.n_shards = 3;
    s.failed = 4;
    s.kv_reads = 1;
    s.kv_reads_full = 4;
    s.device[1].life = STATUS_LOST;
    s.device[1].lost = 2;
    s.device[1].restarts = 1;
    json_t *o = status_json(&s);
    CHECK_INT(status_read(&got, o, &a, "x", &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(got.state, STATUS_FAILED);
    CHECK_STR(got.why, s.why);
    CHECK_STR(got.model, s.model);
    CHECK_STR(got.host, "node1");
    CHECK_INT(got.pid, 1234);
    CHECK_INT(got.shard, 1);
    CHECK_INT(got.n_shards, 3);
    CHECK_INT(got.done, 120);
    CHECK_INT(got.total, 256);
    CHECK_INT(got.failed, 4);
    CHECK_NEAR(got.time, 1060.5, 0);
    CHECK_NEAR(got.left, 250, 1e-9);
    CHECK_NEAR(got.tokens, 10000, 0);
    CHECK_NEAR(got.rate, 12300, 0);
    CHECK_NEAR(got.kv_reads / got.kv_reads_full, 0.25, 0);
    CHECK_INT(got.n_devices, 2);
    CHECK_STR(got.device[1].name, "cuda:1");
    CHECK_INT(got.device[1].life, STATUS_LOST);
    CHECK_INT(got.device[1].lost, 2);
    CHECK_INT(got.device[1].restarts, 1);
    json_object_set_new(o, "eta_seconds", json_null());
    CHECK_INT(status_read(&got, o, &a, "x", &e), 0);
    CHECK(got.left < 0);
    json_object_set_new(o, "state", json_string("asleep"));
    CHECK_INT(status_read(&got, o, &a, "x", &e), ERR_FORMAT);
    CHECK_STR(e.text, "x: unknown state \"asleep\"");
    e = (struct err){0};
    json_object_set_new(o, "v", json_integer(2));
    CHECK_INT(status_read(&got, o, &a, "x", &e), ERR_FORMAT);
    CHECK_STR(e.text, "x: version 2; this program reads version 1");
    e = (struct err){0};
    json_object_set_new(o, "v", json_integer(1));
    json_object_set_new(o, "state", json_string("running"));
    json_array_clear(json_object_get(o, "devices"));
    json_array_append_new(json_object_get(o, "devices"), json_integer(1));
    CHECK_INT(status_read(&got, o, &a, "x", &e), ERR_FORMAT);
    json_decref(o);
    arena_release(&a);
}

static const char *total(const struct status *s, int columns)
{
    static struct str text;
    str_clear(&text);
    status_total_text(&text, s, columns);
    return str_text(&text);
}

static const char *lines(const struct status *s, int columns, int rows)
{
    static struct str text;
    str_clear(&text);
    board_lines(&text, s, columns, rows);
    return str_text(&text);
}

static void words(void)
{
    struct status s = made(2);
    CHECK_STR(total(&s, 79), "120 of 256 jobs, 12.3k tokens/s, about 4 min 10 s left");
    CHECK_STR(total(&s, 40), "120/256, 4 min 10 s left, 12.3k tok/s");
    CHECK_STR(lines(&s, 80, 24), "cuda:0    32 running, 6150 tokens/s\n"
                                 "cuda:1    32 running, 6150 tokens/s\n"
                                 "120 of 256 jobs, 12.3k tokens/s, about 4 min 10 s left\n");
    CHECK_STR(lines(&s, 20, 24), "cuda:0    32 runnin\ncuda:1    32 runnin\n120/256, 4 min 10 s\n");
    s.device[0].life = STATUS_LOADING;
    s.device[1].life = STATUS_LOST;
    s.device[1].restarts = 2;
    s.failed = 3;
    s.rate = 4.25;
    s.left = -1;
    CHECK_STR(lines(&s, 80, 24), "cuda:0   loading\ncuda:1   lost, started again 2 times\n"
                                 "120 of 256 jobs, 3 failed, 4.2 tokens/s\n");
    s.state = STATUS_FINISHED; /* neither speed nor time */
    s.left = 0;
    CHECK_STR(total(&s, 79), "120 of 256 jobs, 3 failed");
    s = made(1); /* its line would say the same as the total */
    CHECK_STR(lines(&s, 80, 24), "120 of 256 jobs, 6150 tokens/s, about 4 min 10 s left\n");
    s.device[0].model = "b"; /* unless it says which of several models it is */
    CHECK_STR(lines(&s, 80, 24), "cuda:0    32 running, 6150 tokens/s, b\n"
                                 "120 of 256 jobs, 6150 tokens/s, about 4 min 10 s left\n");
    s.device[0].model = NULL;
    s = made(8); /* no more lines than the terminal has */
    CHECK_STR(lines(&s, 80, 6), "cuda:0    32 running, 6150 tokens/s\n"
                                "cuda:1    32 running, 6150 tokens/s\n"
                                "cuda:2    32 running, 6150 tokens/s\n"
                                "5 more   160 running, 30750 tokens/s\n"
                                "120 of 256 jobs, 49.2k tokens/s, about 4 min 10 s left\n");
    CHECK_STR(lines(&s, 80, 2), "120 of 256 jobs, 49.2k tokens/s, about 4 min 10 s left\n");
}

/* Every line of the format, and that every sample has its HELP and TYPE right before it. */
static void metrics(void)
{
    struct status s = made(2);
    struct str out = {0};
    s.left = -1;
    s.n_shards = 3;
    status_metrics(&out, &s, "out/a\"b\\c\nd\xff");
    const char *want[] = {
        "# HELP kveval_jobs Jobs of the sweep or shard.\n# TYPE kveval_jobs gauge\n"
        "kveval_jobs{run=\"out/a\\\"b\\\\c\\nd\xef\xbf\xbd\",shard=\"0/3\"} 256\n",
        "# TYPE kveval_jobs_done_total counter\nkveval_jobs_done_total{",
        "# TYPE kveval_eta_seconds "
        "gauge\nkveval_eta_seconds{run=\"out/a\\\"b\\\\c\\nd\xef\xbf\xbd\",shard=\"0/3\"} NaN\n",
        ",state=\"running\"} 1\n",
        ",state=\"failed\"} 0\n",
        ",device=\"cuda:1\"} 6150\n",
        "# TYPE kveval_workers_lost_total counter\n",
        NULL};
    for (int i = 0; want[i]; i++)
        CHECK(strstr(str_text(&out), want[i]) != NULL);
    CHECK(out.data[out.len - 1] == '\n');
    char name[64] = "", type[16] = "";
    int n = 0, bad = 0;
    for (char *line = out.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (!strncmp(line, "# HELP ", 7))
            bad += sscanf(line, "# HELP %63s ", name) != 1;
        else if (!strncmp(line, "# TYPE ", 7))
            bad += strncmp(line + 7, name, strlen(name)) != 0 ||
                   sscanf(line + 7 + strlen(name), "%15s", type) != 1;
        else
            n += 1, bad += strncmp(line, name, strlen(name)) != 0 || line[strlen(name)] != '{';
        size_t k = strlen(name);
        bad +=
            (k > 6 && !strcmp(name + k - 6, "_total")) != !strcmp(type, "counter") && !strncmp(line, name, k);
    }
    CHECK_INT(bad, 0);
    CHECK_INT(n, 10 + 5 + 6 * 2);
    str_release(&out);
}

static void files(void)
{
    struct str path = {0}, text = {0};
    struct err e = {0};
    struct status s = made(1);
    const struct process_env p = {.columns = 80};
    struct board b;
    CHECK_INT(board_display(NULL, &e), BOARD_AUTO);
    CHECK_INT(board_display("json", &e), BOARD_JSON);
    CHECK(board_display("tui", &e) < 0);
    CHECK_STR(e.text, "--display takes auto, plain, json or none, not \"tui\"");
    e = (struct err){0};
    CHECK_INT(file_mkdirs("status_dir", &e), 0);
    status_path(&path, "status_dir", 2, 3);
    CHECK_STR(path.data, "status_dir/status.2-of-3.json");
    /* Files of another division go; those of this one, and a person's, stay. */
    static const char *const mine = "status_dir/status.mine.json";
    CHECK_INT(file_write_atomic(mine, "{}", 2, &e), 0);
    for (int i = 0; i < 2; i++) {
        board_init(&b, BOARD_NONE, &p, "status_dir", i ? "status_dir/x.prom" : NULL);
        b.now.device = s.device;
        b.now.n_devices = 1;
        b.now.n_shards = i ? 3 : 0;
        board_begin(&b);
        board_end(&b);
    }
    CHECK(file_exists("status_dir/status.json"));
    CHECK(file_exists("status_dir/status.0-of-3.json"));
    CHECK_INT(file_read("status_dir/x.prom", &text, &e), 0);
    CHECK(strstr(text.data, "kveval_running_sequences{run=\"status_dir\",shard=\"0/3\"} 32\n") != NULL);
    status_drop_others("status_dir", 3);
    CHECK(!file_exists("status_dir/status.json"));
    CHECK(file_exists("status_dir/status.0-of-3.json"));
    CHECK(file_exists(mine));
    struct file_list left = {0};
    CHECK_INT(file_list(&left, "status_dir", ".tmp", &e), 0);
    CHECK_INT(left.n, 0);
    file_list_release(&left);
    file_remove_tree("status_dir", &e);
    str_release(&path);
    str_release(&text);
}

int main(void)
{
    rates();
    workers();
    json();
    words();
    metrics();
    files();
    return check_done();
}
