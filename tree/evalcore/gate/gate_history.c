/* The history of nights and its control chart (contract: gate.h). A line a night, appended with one write, so
 * that the file can lie beside the journals of a shared folder. Lines that say nothing new stay in the file
 * and are passed over when it is read. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/cli/version.h"
#include "evalcore/gate/gate.h"
#include "evalcore/page/svg.h"

enum { CURVES_MAX = SVG_COLOURS, DIGEST = 16 };

static int read_night(struct gate_night *n, const json_t *o, const char *where, struct arena *a,
                      struct err *e)
{
    const json_t *settings = json_object_get(o, "settings");
    size_t count = json_array_size(settings);
    const char *version = NULL, *verdict = NULL, *base = "";
    if (json_get_double(o, "time", &n->time, where, e) || json_get_str(o, "version", &version, where, e) ||
        json_get_str(o, "verdict", &verdict, where, e) || json_opt_str(o, "base", &base, where, e))
        return e->code;
    n->base = arena_strdup(a, base);
    n->version = arena_strdup(a, version);
    n->verdict = arena_strdup(a, verdict);
    n->setting = arena_alloc(a, (count + 1) * sizeof *n->setting);
    n->answers = arena_alloc(a, (count + 1) * sizeof *n->answers);
    n->z = arena_alloc(a, (count + 1) * sizeof *n->z);
    n->delta = arena_alloc(a, (count + 1) * sizeof *n->delta);
    for (size_t i = 0; i < count; i++) {
        const json_t *s = json_array_get(settings, i);
        const char *name = NULL, *answers = "";
        if (json_get_str(s, "setting", &name, where, e) || json_opt_str(s, "answers", &answers, where, e))
            return e->code;
        n->answers[n->n] = arena_strdup(a, answers);
        n->setting[n->n] = arena_strdup(a, name);
        n->z[n->n] = n->delta[n->n] = NAN;
        if (json_opt_double(s, "z", &n->z[n->n], where, e) ||
            json_opt_double(s, "delta", &n->delta[n->n], where, e))
            return e->code;
        n->n++;
    }
    return 0;
}

static int is_known(const struct gate_history *h, const char *setting, const char *answers)
{
    for (int i = 0; i < h->n && *answers; i++)
        for (int k = 0; k < h->night[i].n; k++)
            if (!strcmp(h->night[i].answers[k], answers) && !strcmp(h->night[i].setting[k], setting))
                return 1;
    return 0;
}

/* Sums start again at a new base. The same answers are one observation however often they are looked at: an
 * unchanged program with the same seed gives them every night, and so does a command that is repeated. */
static void keep_new(struct gate_history *h, int n)
{
    const char *base = "";
    for (int i = 0; i < n; i++)
        base = h->night[i].n ? h->night[i].base : base;
    h->n = 0;
    for (int i = 0; i < n; i++) {
        struct gate_night night = h->night[i];
        int is_new = 0;
        for (int k = 0; k < night.n && !strcmp(night.base, base); k++) {
            if (is_known(h, night.setting[k], night.answers[k]))
                night.z[k] = night.delta[k] = NAN;
            else
                is_new = 1;
        }
        if (is_new)
            h->night[h->n++] = night;
    }
}

int gate_history_read(struct gate_history *h, const char *path, struct arena *a, struct err *e)
{
    struct file_lines lines;
    const char *line;
    struct gate_night *list = NULL;
    size_t n = 0, cap = 0;
    *h = (struct gate_history){.path = arena_strdup(a, path)};
    if (!file_exists(path))
        return 0;
    int rc = file_plain(path, e) ? ERR_IO : file_lines_open(&lines, path, e);
    if (rc)
        return rc;
    while ((rc = file_lines_next(&lines, &line, &n, e)) > 0) {
        const char *where = arena_printf(a, "%s:%ld", path, lines.number);
        json_t *o = NULL;
        rc = json_read_text(&o, line, n, where, e);
        xgrow(&list, &cap, (size_t)h->n + 1, sizeof *list);
        list[h->n] = (struct gate_night){0};
        if (!rc)
            rc = read_night(&list[h->n++], o, where, a, e);
        json_decref(o);
        if (rc)
            break;
    }
    file_lines_close(&lines);
    h->night = arena_alloc(a, ((size_t)h->n + 1) * sizeof *list);
    if (h->n)
        memcpy(h->night, list, (size_t)h->n * sizeof *list);
    free(list);
    keep_new(h, h->n);
    return rc;
}

static const char *digest_of(struct str *text, char *digest)
{
    sha256_hex(str_text(text), text->len, digest, DIGEST);
    str_release(text);
    return digest;
}

static const char *base_digest(const struct gate_side *s, char *digest)
{
    struct str text = {0};
    str_printf(&text, "%s\n%s\n%s\n", s->weights ? s->weights : "", s->configuration ? s->configuration : "",
               s->numerics ? s->numerics : "");
    for (int c = 0; c < s->n_cells; c++) {
        const struct gate_cell *x = &s->cells[c];
        str_printf(&text, "%s\n%s\n%s\n%s\n%s\n", x->setting, x->task, x->policy, x->settings, x->facts);
        for (int i = 0; i < x->n_problems; i++)
            str_printf(&text, "%s %ld %.6g\n", x->problems[i].id, x->problems[i].all.n,
                       x->problems[i].all.score);
    }
    return digest_of(&text, digest);
}

/* By those of the first look, which every night has: how many follow depends on what they say. */
static const char *answers_digest(const struct gate_side *s, const char *setting, char *digest)
{
    struct str text = {0};
    for (int c = 0; c < s->n_cells; c++) {
        const struct gate_cell *x = &s->cells[c];
        for (int i = 0; i < x->n_problems && !strcmp(x->setting, setting); i++) {
            const struct gate_problem *p = &x->problems[i];
            str_printf(&text, "%s %s\n", x->task, p->id);
            for (int k = 0; k < stat_looks[0].samples && k < p->n; k++) {
                const struct gate_sums *v = p->sample ? &p->sample[k] : &p->all;
                str_printf(&text, "%.6g %.17g %ld %ld\n", v->score, v->tokens, v->cut, v->unparsed);
            }
        }
    }
    return digest_of(&text, digest);
}

int gate_history_add(const char *path, const struct gate_result *r, double time, struct err *e)
{
    struct str line = {0};
    char digest[DIGEST + 1];
    json_t *settings = json_array();
    for (int i = 0; i < r->n_settings; i++) {
        const struct gate_setting *s = &r->settings[i];
        const struct gate_look *l = s->n_looks ? &s->look[s->n_looks - 1] : NULL;
        json_t *o = json_pack("{s:o}", "setting", json_text_of(s->label));
        if (l) {
            json_object_set_new(o, "z", json_real(s->z));
            json_object_set_new(o, "delta", json_real(l->now - l->base));
            json_object_set_new(o, "samples", json_integer(l->samples));
            json_object_set_new(o, "answers", json_string(answers_digest(r->now, s->label, digest)));
        }
        json_array_append_new(settings, o);
    }
    json_t *o =
        json_pack("{s:f, s:s, s:s, s:s, s:o}", "time", time, "version", KVEVAL_VERSION, "verdict",
                  gate_verdict_name(r->verdict), "base", base_digest(r->base, digest), "settings", settings);
    json_canonical(&line, o);
    str_putc(&line, '\n');
    json_decref(o);
    int fd = file_open_own(path, O_APPEND, e), rc = fd < 0 ? fd : 0;
    if (!rc && (write(fd, line.data, line.len) != (ssize_t)line.len || file_sync(fd)))
        rc = err_set(e, file_error_code(errno), "%s: %s", path, err_reason(errno));
    if (rc)
        err_add(e, "the night cannot be added to the history");
    if (fd >= 0)
        close(fd);
    str_release(&line);
    return rc;
}

static double z_of(const struct gate_night *n, const char *setting)
{
    for (int i = 0; i < n->n; i++)
        if (!strcmp(n->setting[i], setting))
            return n->z[i];
    return NAN;
}

/* *alarm: the first night beyond the limit, or -1. */
static struct svg_series draw_curve(const struct gate_history *h, const char *setting, int *alarm,
                                    struct arena *a)
{
    struct svg_point *p = arena_alloc(a, (size_t)h->n * sizeof *p);
    struct stat_cusum c = {.k = GATE_CUSUM_K, .h = GATE_CUSUM_H};
    *alarm = -1;
    for (int i = 0; i < h->n; i++) {
        int beyond = stat_cusum_add(&c, z_of(&h->night[i], setting)) < 0;
        p[i] = (struct svg_point){
            i + 1, c.low, NAN, NAN,
            .tip = arena_printf(a, "%s\nnight %d: sum of drops %.2f", setting, i + 1, c.low)};
        if (beyond && *alarm < 0)
            *alarm = i;
    }
    return (struct svg_series){
        .name = setting, .kind = SVG_LINE, .points = p, .n = (size_t)h->n, .cut_x = NAN};
}

/* The settings of all nights, each once. */
static int settings_of(const struct gate_history *h, const char ***out, struct arena *a)
{
    size_t most = 0;
    int n = 0;
    for (int i = 0; i < h->n; i++)
        most += (size_t)h->night[i].n;
    *out = arena_alloc(a, (most + 1) * sizeof **out);
    for (int i = 0; i < h->n; i++)
        for (int k = 0; k < h->night[i].n; k++) {
            int at = 0;
            while (at < n && strcmp((*out)[at], h->night[i].setting[k]))
                at++;
            if (at == n)
                (*out)[n++] = h->night[i].setting[k];
        }
    return n;
}

/* Every setting may raise the alarm; those that did are drawn first, for a chart has room for few. */
void gate_chart(struct str *out, const struct gate_history *h, int *alarm, struct arena *a)
{
    struct svg_series s[CURVES_MAX + 1];
    const char **setting;
    int n = 0, n_settings = settings_of(h, &setting, a);
    *alarm = -1;
    if (!n_settings)
        return;
    for (int is_quiet = 0; is_quiet < 2; is_quiet++)
        for (int i = 0; i < n_settings; i++) {
            int at;
            struct svg_series c = draw_curve(h, setting[i], &at, a);
            if (at >= 0 && (*alarm < 0 || at < *alarm))
                *alarm = at;
            if ((at < 0) != is_quiet || n == CURVES_MAX)
                continue;
            c.colour = (enum svg_colour)(n % SVG_COLOURS);
            c.marker = (enum svg_marker)(n % SVG_MARKERS);
            s[n++] = c;
        }
    struct svg_point limit = {.x = 1, .y = GATE_CUSUM_H, .low = NAN, .high = NAN};
    s[n++] = (struct svg_series){.name = "limit",
                                 .kind = SVG_FLAT,
                                 .colour = SVG_RED,
                                 .marker = SVG_NONE,
                                 .dash = SVG_DASHED,
                                 .points = &limit,
                                 .n = 1,
                                 .cut_x = NAN};
    struct svg_chart c = {.id = "nights",
                          .title = "Sum of drops over the nights (CUSUM)",
                          .desc =
                              "For each setting the cumulative sum of nightly drops of accuracy below the "
                              "baseline, in standard errors, less half a standard error a night",
                          .x = {"night", 0.5, h->n + 0.5, 0, 0},
                          .y = {"sum of drops, standard errors", 0, NAN, 0, 0},
                          .series = s,
                          .n_series = (size_t)n};
    svg_chart(out, &c);
}
