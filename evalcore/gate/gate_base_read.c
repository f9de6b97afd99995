/* Reading a base file (contract: gate.h; form: gate_base.c). It may come from anywhere, so the digest is
 * checked first and every field after it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/margin.h"
#include "evalcore/gate/gate.h"

enum { LIST_MAX = 1000000 };

struct reader {
    struct gate_side *side;
    struct arena *arena;
    const char *where;
    const json_t *tasks; /* by label */
    size_t cap_cells, cap_traces, cap_replays;
    struct gate_cell *cells;
    struct gate_trace *traces;
    struct gate_replay *replays;
};

static int text_field(const struct reader *r, const json_t *o, const char *key, const char **out,
                      struct err *e)
{
    const char *s = NULL;
    int rc = json_get_str(o, key, &s, r->where, e);
    if (!rc)
        *out = arena_strdup(r->arena, s);
    return rc;
}

static const char *canonical_text(const struct reader *r, const json_t *v)
{
    struct str s = {0};
    json_canonical(&s, v);
    const char *kept = arena_strdup(r->arena, str_text(&s));
    str_release(&s);
    return kept;
}

static int set_damaged(const struct reader *r, const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT,
                   "%s: %s is not as a base file has it; make it again with kveval gate --rebaseline",
                   r->where, what);
}

/* A list of `n` numbers, or of any number when n is negative. */
static int read_numbers(const struct reader *r, const json_t *o, const char *key, long n, double **out,
                        size_t *n_out, struct err *e)
{
    const json_t *list = json_object_get(o, key);
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > LIST_MAX || (n >= 0 && count != (size_t)n))
        return set_damaged(r, key, e);
    *out = arena_alloc(r->arena, (count + 1) * sizeof **out);
    for (size_t i = 0; i < count; i++) {
        const json_t *v = json_array_get(list, i);
        if (!json_is_number(v))
            return set_damaged(r, key, e);
        (*out)[i] = json_number_value(v);
    }
    if (n_out)
        *n_out = count;
    return 0;
}

static int read_head(struct reader *r, const json_t *o, struct err *e)
{
    struct gate_side *s = r->side;
    int64_t v = 0;
    int rc = json_get_int(o, "v", &v, r->where, e);
    if (!rc && v != GATE_BASE_VERSION)
        rc = err_set(e, ERR_FORMAT,
                     "%s is of version %lld, and this program reads version %d; write the baseline anew",
                     r->where, (long long)v, GATE_BASE_VERSION);
    if (!rc)
        rc = text_field(r, o, "model", &s->model, e);
    if (!rc)
        rc = text_field(r, o, "weights", &s->weights, e);
    if (!rc)
        rc = text_field(r, o, "configuration", &s->configuration, e);
    if (!rc)
        rc = text_field(r, o, "numerics", &s->numerics, e);
    if (!rc)
        rc = text_field(r, o, "grader", &s->grader, e);
    if (!rc)
        rc = text_field(r, o, "version", &s->version, e);
    if (!rc)
        rc = json_get_double(o, "margin", &s->margin, r->where, e);
    if (!rc && !margin_is_valid(s->margin))
        rc = set_damaged(r, "the margin", e);
    return rc;
}

static int read_problems(struct reader *r, struct gate_cell *c, const json_t *o, struct err *e)
{
    const json_t *task = json_object_get(r->tasks, c->task), *list = json_object_get(task, "problems");
    long n = (long)json_array_size(list);
    double *count, *right, *cut, *unparsed, *tokens, *log_tokens, *score = NULL;
    if (!task)
        return set_damaged(r, "the task of a cell", e);
    c->facts = canonical_text(r, json_object_get(task, "facts"));
    if (read_numbers(r, o, "samples", n, &count, NULL, e) ||
        read_numbers(r, o, "right", n, &right, NULL, e) || read_numbers(r, o, "cut_off", n, &cut, NULL, e) ||
        read_numbers(r, o, "unparsed", n, &unparsed, NULL, e) ||
        read_numbers(r, o, "tokens", n, &tokens, NULL, e) ||
        read_numbers(r, o, "log_tokens", n, &log_tokens, NULL, e) ||
        (!c->is_binary && read_numbers(r, o, "score", n, &score, NULL, e)))
        return e->code;
    c->n_problems = (int)n;
    c->problems = arena_alloc(r->arena, ((size_t)n + 1) * sizeof *c->problems);
    for (long i = 0; i < n; i++) {
        const json_t *names = json_array_get(list, (size_t)i);
        const char *id = json_string_value(json_array_get(names, 0));
        const char *sha = json_string_value(json_array_get(names, 1));
        const char *gold = json_string_value(json_array_get(names, 2));
        if (!id || !sha || !gold || !(count[i] >= 1 && count[i] < 1e9) ||
            !(right[i] >= 0 && right[i] <= count[i]) || !(cut[i] >= 0 && cut[i] <= count[i]) ||
            !(unparsed[i] >= 0 && unparsed[i] <= count[i]))
            return set_damaged(r, "a problem of a cell", e);
        c->problems[i] = (struct gate_problem){.id = arena_strdup(r->arena, id),
                                               .prompt_sha256 = arena_strdup(r->arena, sha),
                                               .gold = arena_strdup(r->arena, gold),
                                               .n = (int)count[i],
                                               .all = {.n = (long)count[i],
                                                       .right = (long)right[i],
                                                       .cut = (long)cut[i],
                                                       .unparsed = (long)unparsed[i],
                                                       .score = score ? score[i] * count[i] : right[i],
                                                       .tokens = tokens[i] * count[i],
                                                       .log_tokens = log_tokens[i] * count[i]}};
    }
    return 0;
}

/* Reads and errors are kept for the cell as a whole; they go to its first problem. */
static int read_cell(struct reader *r, const json_t *o, struct err *e)
{
    xgrow(&r->cells, &r->cap_cells, (size_t)r->side->n_cells + 1, sizeof *r->cells);
    struct gate_cell *c = &r->cells[r->side->n_cells++];
    struct gate_sums all = {.reads = NAN, .aux = NAN, .full = NAN};
    int64_t errors = 0;
    *c = (struct gate_cell){.policy = canonical_text(r, json_object_get(o, "policy")),
                            .settings = canonical_text(r, json_object_get(o, "settings"))};
    int rc = text_field(r, o, "setting", &c->setting, e);
    if (!rc)
        rc = text_field(r, o, "task", &c->task, e);
    if (!rc)
        rc = json_opt_bool(o, "is_binary", &c->is_binary, r->where, e);
    if (!rc)
        rc = json_opt_double(o, "kv_reads", &all.reads, r->where, e);
    if (!rc)
        rc = json_opt_double(o, "aux_reads", &all.aux, r->where, e);
    if (!rc)
        rc = json_opt_double(o, "kv_reads_full", &all.full, r->where, e);
    if (!rc && !isfinite(all.reads + all.aux + all.full) && !gate_is_served(r->side))
        rc = set_damaged(r, "the reads of a cell", e);
    if (!rc)
        rc = json_get_int(o, "errors", &errors, r->where, e);
    if (!rc)
        rc = read_problems(r, c, o, e);
    if (!rc && c->n_problems) {
        struct gate_sums *first = &c->problems[0].all;
        first->reads = all.reads;
        first->aux = all.aux;
        first->full = all.full;
        first->errors = (long)errors;
    }
    return rc;
}

static int read_trace(struct reader *r, const json_t *o, struct err *e)
{
    double *v;
    size_t n = 0;
    xgrow(&r->traces, &r->cap_traces, (size_t)r->side->n_traces + 1, sizeof *r->traces);
    struct gate_trace *t = &r->traces[r->side->n_traces++];
    *t = (struct gate_trace){0};
    if (text_field(r, o, "task", &t->task, e) || text_field(r, o, "problem", &t->problem, e) ||
        text_field(r, o, "prompt_sha256", &t->prompt_sha256, e) || read_numbers(r, o, "ids", -1, &v, &n, e))
        return e->code;
    int32_t *ids = arena_alloc(r->arena, (n + 1) * sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        if (!(v[i] >= 0 && v[i] < 2147483647))
            return set_damaged(r, "a token", e);
        ids[i] = (int32_t)v[i];
    }
    t->ids = ids;
    t->n = (int)n;
    return n ? 0 : set_damaged(r, "a completion without tokens", e);
}

static int read_lists(struct reader *r, struct gate_replay *p, const json_t *list, struct err *e)
{
    size_t n = json_array_size(list);
    p->seen = arena_alloc(r->arena, (n + 1) * sizeof *p->seen);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        const char *digest = json_string_value(json_array_get(v, 2)),
                   *sets = json_string_value(json_array_get(v, 3));
        struct gate_seen *s = &p->seen[p->n_seen++];
        if (!digest || strlen(digest) != 8)
            return set_damaged(r, "a list", e);
        s->step = (int)json_integer_value(json_array_get(v, 0));
        s->layer = (int)json_integer_value(json_array_get(v, 1));
        memcpy(s->digest, digest, 9);
        s->sets = sets ? arena_strdup(r->arena, sets) : NULL;
    }
    return 0;
}

/* What a replay and a server's scores have in common; the latter lack the trace's last token. */
static int read_tokens(struct reader *r, struct gate_replay *p, const json_t *o, int is_short, struct err *e)
{
    int64_t trace = -1;
    double *nats;
    size_t n = 0;
    const json_t *tops = json_object_get(o, "other_tops");
    *p = (struct gate_replay){.by_server = is_short};
    if (text_field(r, o, "setting", &p->setting, e) || json_get_int(o, "trace", &trace, r->where, e) ||
        read_numbers(r, o, "logprobs_1e-3", -1, &nats, &n, e))
        return e->code;
    if (trace < 0 || trace >= r->side->n_traces || !n || n + (size_t)is_short != (size_t)r->traces[trace].n)
        return set_damaged(r, "a replay", e);
    p->trace = (int)trace;
    p->n = (int)n;
    p->ids = r->traces[trace].ids;
    p->millinats = arena_alloc(r->arena, n * sizeof *p->millinats);
    p->tops = arena_alloc(r->arena, n * sizeof *p->tops);
    for (size_t i = 0; i < n; i++) {
        p->millinats[i] = nats[i] > -1e9 && nats[i] < 1e9 ? (int)nats[i] : -1000000000;
        p->tops[i] = r->traces[trace].ids[i];
    }
    for (size_t i = 0; i < json_array_size(tops); i++) {
        json_int_t at = json_integer_value(json_array_get(json_array_get(tops, i), 0));
        if (at < 0 || (size_t)at >= n)
            return set_damaged(r, "a likeliest token", e);
        p->tops[at] = (int32_t)json_integer_value(json_array_get(json_array_get(tops, i), 1));
    }
    return 0;
}

static struct gate_replay *next_replay(struct reader *r)
{
    xgrow(&r->replays, &r->cap_replays, (size_t)r->side->n_replays + 1, sizeof *r->replays);
    return &r->replays[r->side->n_replays++];
}

static int read_scores(struct reader *r, const json_t *o, struct err *e)
{
    struct gate_replay *p = next_replay(r);
    struct gate_band *b = arena_alloc(r->arena, sizeof *b);
    const json_t *band = json_object_get(o, "band");
    double *kl, *worst, *others;
    size_t n = 0;
    if (read_tokens(r, p, o, 1, e) || read_numbers(r, band, "kl_1e-6", -1, &kl, &n, e) ||
        read_numbers(r, band, "worst_1e-3", (long)n, &worst, NULL, e) ||
        read_numbers(r, band, "other_tops", (long)n, &others, NULL, e))
        return e->code;
    if (!n || n > GATE_BAND || !gate_is_served(r->side))
        return set_damaged(r, "a band", e);
    *b = (struct gate_band){.n = (int)n};
    for (size_t i = 0; i < n; i++) {
        if (!(kl[i] >= 0 && worst[i] >= 0 && others[i] >= 0))
            return set_damaged(r, "a band", e);
        b->kl[i] = kl[i] / 1e6;
        b->worst[i] = worst[i] / 1e3;
        b->others[i] = others[i];
    }
    p->band = b;
    return 0;
}

static int read_replay(struct reader *r, const json_t *o, struct err *e)
{
    const char *bits = NULL;
    const json_t *kv = json_object_get(o, "kv");
    struct gate_replay *p = next_replay(r);
    if (read_tokens(r, p, o, 0, e) || json_get_str(o, "bits", &bits, r->where, e) ||
        json_get_double(kv, "reads", &p->kv.reads, r->where, e) ||
        json_get_double(kv, "aux_reads", &p->kv.aux_reads, r->where, e) ||
        json_get_double(kv, "reads_full", &p->kv.reads_full, r->where, e) ||
        json_get_double(kv, "peak_tokens", &p->kv.peak_tokens, r->where, e) ||
        json_get_double(kv, "prefill_peak_tokens", &p->kv.prefill_peak_tokens, r->where, e))
        return e->code;
    if (strlen(bits) != 16)
        return set_damaged(r, "a replay", e);
    memcpy(p->bits, bits, 17);
    return read_lists(r, p, json_object_get(o, "lists"), e);
}

static int read_line(struct reader *r, const json_t *o, json_t *tasks, long number, struct err *e)
{
    const char *kind = NULL, *task = NULL;
    int rc = json_get_str(o, "kind", &kind, r->where, e);
    if (rc)
        return rc;
    if ((number == 1) != !strcmp(kind, "kveval gate base"))
        return err_set(e, ERR_USAGE,
                       "%s is neither a run folder nor a base file; kveval gate --rebaseline makes one",
                       r->side->path);
    if (number == 1)
        return read_head(r, o, e);
    if (!strcmp(kind, "cell"))
        return read_cell(r, o, e);
    if (!strcmp(kind, "trace"))
        return read_trace(r, o, e);
    if (!strcmp(kind, "replay"))
        return read_replay(r, o, e);
    if (!strcmp(kind, "scores"))
        return read_scores(r, o, e);
    if (!strcmp(kind, "unscored") && gate_is_served(r->side))
        return text_field(r, o, "why", &r->side->unscored, e);
    if (!strcmp(kind, "task")) {
        rc = json_get_str(o, "task", &task, r->where, e);
        if (!rc)
            json_object_set(tasks, task, (json_t *)o);
        return rc;
    }
    return set_damaged(r, "a line", e);
}

/* The last line's digest is of all bytes before it. */
static int check_digest(const struct gate_side *s, const struct str *all, size_t *end, struct err *e)
{
    static const char head[] = "{\"kind\":\"end\",\"sha256\":\"";
    enum { HEAD = sizeof head - 1, LAST = HEAD + 64 + 3 };
    char digest[65];
    if (!all->len)
        return err_set(e, ERR_IO, "%s is empty; make it again with kveval gate --rebaseline", s->path);
    if (all->data[0] != '{')
        return err_set(e, ERR_USAGE,
                       "%s is neither a run folder nor a base file; kveval gate --rebaseline makes one",
                       s->path);
    *end = all->len > LAST ? all->len - LAST : 0;
    sha256_hex(all->data, *end, digest, 64);
    if (!*end || memcmp(all->data + *end, head, HEAD) || memcmp(all->data + *end + HEAD, digest, 64))
        return err_set(
            e, ERR_FORMAT,
            "%s is cut off or was changed by hand: its last line does not fit the others; take it from "
            "version control again or make it with kveval gate --rebaseline",
            s->path);
    return 0;
}

static void keep_lists(struct reader *r)
{
    struct gate_side *s = r->side;
    s->cells = arena_alloc(r->arena, ((size_t)s->n_cells + 1) * sizeof *s->cells);
    s->traces = arena_alloc(r->arena, ((size_t)s->n_traces + 1) * sizeof *s->traces);
    s->replays = arena_alloc(r->arena, ((size_t)s->n_replays + 1) * sizeof *s->replays);
    if (s->n_cells)
        memcpy(s->cells, r->cells, (size_t)s->n_cells * sizeof *s->cells);
    if (s->n_traces)
        memcpy(s->traces, r->traces, (size_t)s->n_traces * sizeof *s->traces);
    if (s->n_replays)
        memcpy(s->replays, r->replays, (size_t)s->n_replays * sizeof *s->replays);
    free(r->cells);
    free(r->traces);
    free(r->replays);
}

int gate_base_read(struct gate_side *out, const char *path, struct arena *a, struct err *e)
{
    struct str all = {0};
    struct reader r = {.side = out, .arena = a};
    json_t *tasks = json_object();
    size_t end = 0;
    long number = 0;
    *out = (struct gate_side){.path = arena_strdup(a, path), .is_file = 1};
    r.tasks = tasks;
    r.where = path;
    int rc = file_read(path, &all, e);
    if (!rc)
        rc = check_digest(out, &all, &end, e);
    for (size_t at = 0; !rc && at < end;) {
        const char *stop = memchr(all.data + at, '\n', end - at);
        size_t n = stop ? (size_t)(stop - (all.data + at)) : end - at;
        json_t *o = NULL;
        r.where = arena_printf(a, "%s:%ld", path, ++number);
        rc = json_read_text(&o, all.data + at, n, r.where, e);
        if (!rc)
            rc = read_line(&r, o, tasks, number, e);
        json_decref(o);
        at += n + 1;
    }
    keep_lists(&r);
    if (!rc && !out->n_cells)
        rc = err_set(e, ERR_IO, "%s keeps no results; make it again with kveval gate --rebaseline", path);
    json_decref(tasks);
    str_release(&all);
    return rc;
}
