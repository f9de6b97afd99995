/* Making and reading messages (contract: worker_messages.h). Reading is strict: a field too many, too few or
 * of another type is an error. */
#include "evalcore/workers/worker_messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/store/completion_json.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/base/json.h"

const char *message_type(const json_t *m)
{
    const char *type = json_string_value(json_object_get(m, "type"));
    return type ? type : "";
}

static int malformed(const json_t *m, const char *why, struct err *e)
{
    return err_set(e, ERR_FORMAT, "a malformed message \"%.20s\": %s", message_type(m), why);
}

/* Reads m by a format of json_unpack(); a field that the format lacks is an error too. */
static int unpack(const json_t *m, struct err *e, const char *format, ...)
{
    json_error_t why;
    va_list fields;
    va_start(fields, format);
    int rc = json_vunpack_ex((json_t *)m, &why, JSON_STRICT, format, fields);
    va_end(fields);
    return rc ? malformed(m, why.text, e) : 0;
}

json_t *message_job(const char *key)
{
    return json_pack("{s:s, s:s}", "type", "job", "key", key);
}

int message_read_job(const json_t *m, const char **key, struct err *e)
{
    const char *type;
    return unpack(m, e, "{s:s, s:s}", "type", &type, "key", key);
}

json_t *message_stop(void)
{
    return json_pack("{s:s}", "type", "stop");
}

json_t *message_drain(void)
{
    return json_pack("{s:s}", "type", "drain");
}

json_t *message_alive(int64_t turn)
{
    return json_pack("{s:s, s:I}", "type", "alive", "turn", (json_int_t)turn);
}

int message_read_alive(const json_t *m, json_int_t *turn, struct err *e)
{
    const char *type;
    return unpack(m, e, "{s:s, s:I}", "type", &type, "turn", turn);
}

json_t *message_hello(const struct runplan *p)
{
    json_t *loaded = json_array();
    for (int i = 0; i < p->n_loaded; i++)
        json_array_append_new(loaded, json_pack("{s:s, s:s}", "weights", p->loaded[i].info.weights,
                                                "numerics", p->loaded[i].info.numerics));
    return json_pack("{s:s, s:o, s:o}", "type", "hello", "device", json_text_of(p->loaded[0].info.device),
                     "lanes", loaded);
}

int message_read_hello(const json_t *m, struct model_facts *facts, int n_loaded, struct err *e)
{
    json_error_t why;
    const char *type, *device;
    json_t *loaded;
    int rc = unpack(m, e, "{s:s, s:s, s:o}", "type", &type, "device", &device, "lanes", &loaded);
    if (rc)
        return rc;
    if (json_array_size(loaded) != (size_t)n_loaded)
        return malformed(m, "another number of lanes", e);
    for (int i = 0; i < n_loaded; i++) {
        facts[i].device = device;
        if (json_unpack_ex(json_array_get(loaded, (size_t)i), &why, JSON_STRICT, "{s:s, s:s}", "weights",
                           &facts[i].weights, "numerics", &facts[i].numerics))
            return malformed(m, why.text, e);
    }
    return 0;
}

json_t *message_want(int jobs)
{
    return json_pack("{s:s, s:i}", "type", "want", "jobs", jobs);
}

int message_read_want(const json_t *m, int *jobs, struct err *e)
{
    const char *type;
    json_int_t n;
    int rc = unpack(m, e, "{s:s, s:I}", "type", &type, "jobs", &n);
    if (rc)
        return rc;
    if (n < 1 || n > WORKER_WANT_MAX)
        return malformed(m, "jobs is out of range", e);
    *jobs = (int)n;
    return 0;
}

json_t *message_progress(const struct decoded *d)
{
    json_t *running = json_array();
    for (int i = 0; i < d->n; i++) {
        const struct job *j = d->running[i].user;
        json_array_append_new(running, json_string(j->key));
        json_array_append_new(running, json_integer(d->running[i].n_ids));
    }
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:b, s:o}", "type", "progress", "tokens", d->tokens, "steps",
                     d->steps, "decode_seconds", d->decode_seconds, "prompt_seconds", d->prompt_seconds,
                     "waiting", d->is_waiting, "running", running);
}

int message_read_progress(const json_t *m, struct worker_progress *out, struct err *e)
{
    const char *type;
    json_t *running;
    int rc = unpack(m, e, "{s:s, s:F, s:F, s:F, s:F, s:b, s:o}", "type", &type, "tokens", &out->tokens,
                    "steps", &out->steps, "decode_seconds", &out->decode_seconds, "prompt_seconds",
                    &out->prompt_seconds, "waiting", &out->is_waiting, "running", &running);
    if (!rc && (!json_is_array(running) || json_array_size(running) % 2))
        rc = malformed(m, "running is no list of pairs", e);
    out->running = rc ? NULL : running;
    return rc;
}

int message_read_running(const struct worker_progress *p, size_t i, const char **key, int *tokens,
                         struct err *e)
{
    const json_t *k = json_array_get(p->running, 2 * i), *n = json_array_get(p->running, 2 * i + 1);
    *key = json_string_value(k);
    *tokens = (int)json_integer_value(n);
    if (!*key || !json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > INT32_MAX)
        return err_set(e, ERR_FORMAT,
                       "a malformed message \"progress\": running is no list of keys and tokens");
    return 0;
}

json_t *message_error(const struct err *error)
{
    return json_pack("{s:s, s:i, s:o}", "type", "error", "code", error->code, "text",
                     json_text_of(error->text));
}

int message_read_error(const json_t *m, struct err *error, struct err *e)
{
    const char *type, *text;
    json_int_t code;
    int rc = unpack(m, e, "{s:s, s:I, s:s}", "type", &type, "code", &code, "text", &text);
    if (rc)
        return rc;
    if (code > ERR_USAGE || code < ERR_DISK)
        return malformed(m, "no such code", e);
    err_set(error, (int)code, "%s", text);
    return 0;
}

json_t *message_done(const char *key, const struct completion *c)
{
    json_t *ids = json_array();
    for (int i = 0; i < c->n_ids; i++)
        json_array_append_new(ids, json_integer(c->ids[i]));
    json_t *m = json_pack("{s:s, s:s, s:o, s:o}", "type", "done", "key", key, "ids", ids, "text",
                          json_text(c->text, c->n_text));
    if (!m)
        return NULL;
    completion_json_add(m, c);
    if (c->curve.every)
        json_object_set_new(m, "curve", curve_json(&c->curve));
    return m;
}

static int read_ids(const json_t *ids, struct completion *c)
{
    size_t n = json_array_size(ids);
    int32_t *id = xmalloc((n + 1) * sizeof *id);
    c->ids = id;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(ids, i);
        json_int_t value = json_integer_value(v);
        if (!json_is_integer(v) || value < 0 || value > INT32_MAX)
            return -1;
        id[i] = (int32_t)value;
    }
    return json_is_array(ids) ? 0 : -1;
}

int message_read_done(const json_t *m, const char **key, struct completion *c, struct err *e)
{
    json_error_t why;
    const char *type, *bad;
    json_t *ids;
    memset(c, 0, sizeof *c);
    if (json_unpack_ex((json_t *)m, &why, 0, "{s:s, s:s, s:o, s:s%}", "type", &type, "key", key, "ids", &ids,
                       "text", &c->text, &c->n_text))
        return malformed(m, why.text, e);
    if ((bad = completion_json_read(m, c)))
        return malformed(m, bad, e);
    const json_t *curve = json_object_get(m, "curve");
    if (curve && !curve_json_read(curve, &c->curve))
        return malformed(m, "curve is no curve of reads", e);
    size_t more = (c->error ? 1 : 0) + (c->likelihood.n ? 1 : 0) + (curve ? 1 : 0);
    if (json_object_size(m) != 4 + COMPLETION_JSON_FIELDS + more)
        return malformed(m, "a field too many", e);
    if (read_ids(ids, c) || json_array_size(ids) != (size_t)c->n_ids)
        return malformed(m, "ids are no list of token ids", e);
    return 0;
}
