/* Figures of a sweep: rates, sums, and their form in JSON (contract: status.h). */
#include "evalcore/status/status.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"

#define RATE_SECONDS 10.0

static const char *const states[] = {"running", "grading", "finished", "stopped", "failed", NULL};
static const char *const lives[] = {"loading", "live", "lost", "ended", NULL};

const char *status_state_name(enum status_state s)
{
    return states[s];
}

const char *status_life_name(enum status_life l)
{
    return lives[l];
}

static int find_field(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

double status_rate(struct status_rate *r, double clock, double tokens)
{
    if (r->n && tokens < r->tokens[r->n - 1])
        r->n = 0;
    /* Two samples half a second apart are enough, and the newest one is always now. */
    int drop = 0;
    while (drop < r->n - 1 && clock - r->at[drop + 1] >= RATE_SECONDS)
        drop++;
    if (r->n == STATUS_RATE_SAMPLES && !drop)
        drop = 1;
    memmove(r->at, r->at + drop, (size_t)(r->n - drop) * sizeof *r->at);
    memmove(r->tokens, r->tokens + drop, (size_t)(r->n - drop) * sizeof *r->tokens);
    r->n -= drop;
    double seconds = r->n ? clock - r->at[0] : 0, rate = seconds > 0 ? (tokens - r->tokens[0]) / seconds : 0;
    if (!r->n || clock - r->at[r->n - 1] >= RATE_SECONDS / 20) {
        r->at[r->n] = clock;
        r->tokens[r->n++] = tokens;
    }
    return rate;
}

void status_device_now(struct status_device *d, const struct status_worker *w, double clock)
{
    int was_lost = d->life == STATUS_LOST, is_new = w->pid && d->pid && w->pid != d->pid;
    int has_moved = w->switches != d->switches;
    d->name = w->name;
    d->model = w->model;
    if (is_new && !has_moved)
        d->restarts++;
    if (!was_lost && ((is_new && !has_moved) || w->life == STATUS_LOST))
        d->lost++;
    if (is_new)
        d->switches = w->switches;
    if (w->pid)
        d->pid = w->pid;
    d->life = w->life;
    d->running = w->life == STATUS_LIVE ? w->running : 0;
    d->tokens = w->tokens > d->tokens ? w->tokens : d->tokens; /* it never goes back */
    d->rate = status_rate(&d->of, clock, d->tokens);
    if (w->life == STATUS_LOST)
        d->rate = 0;
}

void status_add_up(struct status *s)
{
    s->tokens = s->rate = 0;
    s->running = 0;
    for (int i = 0; i < s->n_devices; i++) {
        s->tokens += s->device[i].tokens;
        s->rate += s->device[i].rate;
        s->running += s->device[i].running;
    }
}

/* ---- JSON ---- */

/* Rounded: nobody needs more digits, and many lines are written. */
static json_t *number_field(double v, double digits)
{
    return json_real(round(v * digits) / digits);
}

static json_t *device_json(const struct status_device *d)
{
    json_t *o = json_pack("{s:o, s:s, s:i, s:I, s:o, s:I, s:I}", "name", json_text_of(d->name), "state",
                          status_life_name(d->life), "running", d->running, "tokens", (json_int_t)d->tokens,
                          "tokens_per_second", number_field(d->rate, 10), "lost", (json_int_t)d->lost,
                          "restarts", (json_int_t)d->restarts);
    if (o && d->model) {
        json_object_set_new(o, "model", json_text_of(d->model));
        json_object_set_new(o, "switches", json_integer(d->switches));
    }
    return o;
}

json_t *status_json(const struct status *s)
{
    json_t *devices = json_array();
    for (int i = 0; i < s->n_devices; i++)
        json_array_append_new(devices, device_json(&s->device[i]));
    json_t *o = json_pack("{s:i, s:s, s:o, s:o, s:o, s:I, s:i, s:i, s:o, s:o}", "v", 1, "state",
                          status_state_name(s->state), "why", json_text_of(s->why), "model",
                          json_text_of(s->model), "host", json_text_of(s->host), "pid", (json_int_t)s->pid,
                          "shard", s->shard, "shards", s->n_shards, "started", number_field(s->started, 1000),
                          "time", number_field(s->time, 1000));
    json_t *figures =
        json_pack("{s:I, s:I, s:I, s:I, s:o, s:i, s:o, s:o, s:o}", "done", (json_int_t)s->done, "total",
                  (json_int_t)s->total, "failed", (json_int_t)s->failed, "tokens", (json_int_t)s->tokens,
                  "tokens_per_second", number_field(s->rate, 10), "running", s->running, "eta_seconds",
                  s->left >= 0 ? number_field(s->left, 10) : json_null(), "kv_density",
                  s->kv_reads_full > 0 ? number_field(s->kv_reads / s->kv_reads_full, 1e6) : json_null(),
                  "devices", devices);
    json_object_update(o, figures);
    json_decref(figures);
    return o;
}

static int word_of(const json_t *o, const char *key, const char *const *names, int *out, const char *where,
                   struct err *e)
{
    const char *name;
    if (json_get_str(o, key, &name, where, e))
        return e->code;
    *out = find_field(names, name);
    return *out < 0 ? err_set(e, ERR_FORMAT, "%s: unknown %s \"%.40s\"", where, key, name) : 0;
}

static int whole_field(const json_t *o, const char *key, long *out, const char *where, struct err *e)
{
    int64_t v = 0;
    if (json_get_int(o, key, &v, where, e))
        return e->code;
    *out = (long)v;
    return v < 0 ? err_set(e, ERR_FORMAT, "%s: %s is below 0", where, key) : 0;
}

static int text_field(const json_t *o, const char *key, const char **out, struct arena *a, const char *where,
                      struct err *e)
{
    const char *s;
    if (json_get_str(o, key, &s, where, e))
        return e->code;
    *out = arena_strdup(a, s);
    return 0;
}

static int read_device(struct status_device *d, const json_t *o, struct arena *a, const char *where,
                       struct err *e)
{
    int life = 0;
    long running = 0;
    if (text_field(o, "name", &d->name, a, where, e) || word_of(o, "state", lives, &life, where, e) ||
        whole_field(o, "running", &running, where, e) || json_get_double(o, "tokens", &d->tokens, where, e) ||
        json_get_double(o, "tokens_per_second", &d->rate, where, e) ||
        whole_field(o, "lost", &d->lost, where, e) || whole_field(o, "restarts", &d->restarts, where, e))
        return e->code;
    d->life = (enum status_life)life;
    d->running = (int)running;
    if (json_object_get(o, "model") && (text_field(o, "model", &d->model, a, where, e) ||
                                        whole_field(o, "switches", &d->switches, where, e)))
        return e->code;
    return 0;
}

static int read_figures(struct status *s, const json_t *o, const char *where, struct err *e)
{
    long running = 0;
    double density = 0;
    s->left = -1;
    if (whole_field(o, "done", &s->done, where, e) || whole_field(o, "total", &s->total, where, e) ||
        whole_field(o, "failed", &s->failed, where, e) ||
        json_get_double(o, "tokens", &s->tokens, where, e) ||
        json_get_double(o, "tokens_per_second", &s->rate, where, e) ||
        whole_field(o, "running", &running, where, e) ||
        json_opt_double(o, "eta_seconds", &s->left, where, e) ||
        json_opt_double(o, "kv_density", &density, where, e))
        return e->code;
    s->running = (int)running;
    s->kv_reads = density;
    s->kv_reads_full = density > 0;
    return 0;
}

int status_read(struct status *s, const json_t *o, struct arena *a, const char *where, struct err *e)
{
    int state = 0;
    int64_t version = 0;
    long shard = 0, shards = 0;
    memset(s, 0, sizeof *s);
    if (json_get_int(o, "v", &version, where, e))
        return e->code;
    if (version != 1)
        return err_set(e, ERR_FORMAT, "%s: version %lld; this program reads version 1", where,
                       (long long)version);
    if (word_of(o, "state", states, &state, where, e) || text_field(o, "why", &s->why, a, where, e) ||
        text_field(o, "model", &s->model, a, where, e) || text_field(o, "host", &s->host, a, where, e) ||
        whole_field(o, "pid", &s->pid, where, e) || whole_field(o, "shard", &shard, where, e) ||
        whole_field(o, "shards", &shards, where, e) || json_get_double(o, "started", &s->started, where, e) ||
        json_get_double(o, "time", &s->time, where, e) || read_figures(s, o, where, e))
        return e->code;
    s->state = (enum status_state)state;
    s->shard = (int)shard;
    s->n_shards = (int)shards;
    const json_t *devices = json_object_get(o, "devices");
    if (!json_is_array(devices))
        return err_set(e, ERR_FORMAT, "%s: devices is no list", where);
    s->n_devices = (int)json_array_size(devices);
    s->device = arena_alloc(a, ((size_t)s->n_devices + 1) * sizeof *s->device);
    for (int i = 0; i < s->n_devices; i++)
        if (read_device(&s->device[i], json_array_get(devices, (size_t)i), a, where, e))
            return e->code;
    return 0;
}

/* ---- the file ---- */

void status_path(struct str *out, const char *run_dir, int shard, int n_shards)
{
    struct str name = {0};
    if (n_shards > 0)
        str_printf(&name, "status.%d-of-%d.json", shard, n_shards);
    else
        str_puts(&name, "status.json");
    file_join(out, run_dir, str_text(&name));
    str_release(&name);
}

/* A person's file may have such a name: one that we wrote can be read. */
static void drop_file(const char *path, int n_shards)
{
    struct status s;
    struct arena a = {0};
    struct err e = {0};
    json_t *o = NULL;
    if (!file_plain(path, &e) && !json_read_file(&o, path, &e) && !status_read(&s, o, &a, path, &e) &&
        s.n_shards != n_shards)
        unlink(path);
    json_decref(o);
    arena_release(&a);
}

void status_drop_others(const char *run_dir, int n_shards)
{
    struct file_list list = {0};
    struct err e = {0};
    if (file_list(&list, run_dir, ".json", &e))
        return;
    for (size_t i = 0; i < list.n; i++)
        if (!strncmp(list.name[i], "status.", 7)) {
            struct str path = {0};
            file_join(&path, run_dir, list.name[i]);
            drop_file(path.data, n_shards);
            str_release(&path);
        }
    file_list_release(&list);
}
