/* Where figures can be seen, and how often (contract: board.h). */
#include "evalcore/status/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/base/shown.h"

#define LIVE_SECONDS        0.2
#define JSON_SECONDS        1.0
#define FILE_SECONDS        3.0
#define FIRST_PLAIN_SECONDS 5.0
#define MAX_PLAIN_SECONDS   60.0
/* Returns to the begin of the line and clears from there to the end of the screen. */
#define CLEAR "\r\033[J"

int board_display(const char *name, struct err *e)
{
    static const char *const names[] = {"auto", "plain", "json", "none"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name ? name : "auto", names[i]))
            return i;
    return err_set(e, ERR_USAGE, "--display takes " BOARD_DISPLAYS ", not \"%.40s\"", name);
}

void board_init(struct board *b, enum board_display display, const struct process_env *p, const char *run_dir,
                const char *metrics)
{
    *b = (struct board){.display = display,
                        .live = display == BOARD_AUTO && p->live,
                        .columns = p->columns,
                        .is_told = p->is_columns_set,
                        .run_dir = run_dir,
                        .metrics = metrics,
                        .interval = FIRST_PLAIN_SECONDS};
    if (gethostname(b->host, sizeof b->host - 1))
        b->host[0] = 0;
    b->shown = clock_seconds() - (b->live ? LIVE_SECONDS : 0);
    b->now = (struct status){.why = "",
                             .model = "",
                             .host = b->host,
                             .pid = (long)getpid(),
                             .started = (double)time(NULL),
                             .left = -1};
}

/* ---- standard error ---- */

static void add_line(struct str *out, const struct str *line, int columns)
{
    struct str clean = {0};
    shown_add(&clean, str_text(line), line->len);
    int n = (int)clean.len < columns - 1 ? (int)clean.len : columns - 1;
    str_add(out, str_text(&clean), (size_t)n);
    str_putc(out, '\n');
    str_release(&clean);
}

static void more_text(struct str *out, const struct status *s, int first)
{
    struct status rest = {.device = s->device + first, .n_devices = s->n_devices - first};
    status_add_up(&rest);
    str_printf(out, "%d more   %3d running, %.0f tokens/s", rest.n_devices, rest.running, rest.rate);
}

void board_lines(struct str *out, const struct status *s, int columns, int rows)
{
    struct str line = {0};
    int n = s->n_devices, max_lines = rows - 2;         /* the total, and the cursor's own row */
    int is_plain = n < 2 && !(n && s->device[0].model); /* the total says it all */
    int shown = is_plain ? 0 : n <= max_lines ? n : max_lines > 1 ? max_lines - 1 : 0;
    for (int i = 0; i < shown; i++, str_clear(&line)) {
        status_device_text(&line, &s->device[i]);
        add_line(out, &line, columns);
    }
    if (shown && shown < n) {
        more_text(&line, s, shown);
        add_line(out, &line, columns);
        str_clear(&line);
    }
    status_total_text(&line, s, columns - 1);
    add_line(out, &line, columns);
    str_release(&line);
}

static void look_at_terminal(struct board *b, int *rows)
{
    struct winsize size;
    *rows = 24;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size))
        return;
    if (size.ws_row > 0)
        *rows = size.ws_row;
    if (!b->is_told && size.ws_col >= 2)
        b->columns = size.ws_col;
}

/* The cursor is left at the begin of the first line, so that it does not matter how many rows these lines
 * take after a resize, and that whatever is printed meanwhile (log_set_lead()) can clear them. */
static void draw_lines(struct board *b)
{
    struct str lines = {0}, out = {0};
    int rows, n = 0;
    look_at_terminal(b, &rows);
    board_lines(&lines, &b->now, b->columns, rows);
    str_putc(&out, '\r');
    for (const char *at = lines.data, *end; (end = strchr(at, '\n')); at = end + 1, n++) {
        str_puts(&out, n ? "\033[K\n" : "");
        str_add(&out, at, (size_t)(end - at));
    }
    str_puts(&out, "\033[J\r");
    if (n > 1)
        str_printf(&out, "\033[%dA", n - 1);
    fwrite(out.data, 1, out.len, stderr);
    fflush(stderr);
    if (!b->is_drawn)
        log_set_lead(CLEAR);
    b->is_drawn = 1;
    str_release(&out);
    str_release(&lines);
}

void board_clear(struct board *b)
{
    if (!b->is_drawn)
        return;
    fputs(CLEAR, stderr);
    fflush(stderr);
    log_set_lead("");
    b->is_drawn = 0;
}

static void print_json(const struct status *s)
{
    json_t *o = status_json(s);
    char *text = json_dumps(o, JSON_COMPACT);
    struct str line = {0};
    str_printf(&line, "%s\n", text ? text : "{}");
    fwrite(line.data, 1, line.len, stderr);
    fflush(stderr);
    str_release(&line);
    free(text);
    json_decref(o);
}

static void print_plain(struct board *b)
{
    struct str text = {0};
    status_total_text(&text, &b->now, 10000);
    log_info("%s", text.data);
    b->interval = b->interval * 1.5 > MAX_PLAIN_SECONDS ? MAX_PLAIN_SECONDS : b->interval * 1.5;
    str_release(&text);
}

/* ---- files ---- */

static void warn_once(int *was_told, const struct err *e)
{
    if (!*was_told)
        log_warn("%s; the sweep goes on without it", e->text);
    *was_told = 1;
}

static void write_file(struct board *b)
{
    struct str path = {0}, text = {0};
    struct err e = {0};
    json_t *o = status_json(&b->now);
    status_path(&path, b->run_dir, b->now.shard, b->now.n_shards);
    json_canonical(&text, o);
    str_putc(&text, '\n');
    if (file_replace(path.data, text.data, text.len, &e))
        warn_once(&b->file_failed, &e);
    json_decref(o);
    str_release(&text);
    str_release(&path);
}

static void write_metrics(struct board *b)
{
    struct str text = {0};
    struct err e = {0};
    status_metrics(&text, &b->now, b->run_dir ? b->run_dir : "");
    if (file_write_output(b->metrics, text.data, text.len, &e))
        warn_once(&b->metrics_failed, &e);
    str_release(&text);
}

/* ---- pace ---- */

static double display_interval(const struct board *b)
{
    return b->live ? LIVE_SECONDS : b->display == BOARD_JSON ? JSON_SECONDS : b->interval;
}

static int is_shown_due(const struct board *b, double clock)
{
    return b->display != BOARD_NONE && clock - b->shown >= display_interval(b);
}

int board_is_due(const struct board *b)
{
    double clock = clock_seconds();
    return is_shown_due(b, clock) || ((b->run_dir || b->metrics) && clock - b->filed >= FILE_SECONDS);
}

static void take_time(struct board *b)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    b->now.time = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    status_add_up(&b->now);
}

static void write_files(struct board *b, double clock)
{
    b->filed = clock;
    if (b->run_dir)
        write_file(b);
    if (b->metrics)
        write_metrics(b);
}

void board_begin(struct board *b)
{
    take_time(b);
    write_files(b, clock_seconds());
}

void board_show(struct board *b)
{
    double clock = clock_seconds();
    take_time(b);
    if (is_shown_due(b, clock)) {
        b->shown = clock;
        if (b->live)
            draw_lines(b);
        else if (b->display == BOARD_JSON)
            print_json(&b->now);
        else
            print_plain(b);
    }
    if (clock - b->filed >= FILE_SECONDS)
        write_files(b, clock);
}

void board_state(struct board *b, enum status_state state, const char *why)
{
    struct status *s = &b->now;
    board_clear(b);
    s->state = state;
    s->why = why;
    s->left = -1;
    for (int i = 0; i < s->n_devices; i++) {
        s->device[i].running = 0;
        s->device[i].rate = 0;
        if (s->device[i].life != STATUS_LOST)
            s->device[i].life = STATUS_ENDED;
    }
    take_time(b);
    if (b->display == BOARD_JSON)
        print_json(s);
    write_files(b, clock_seconds());
}

void board_end(struct board *b)
{
    board_clear(b);
}
