/* A completion's measured fields (contract: completion_json.h). Adding one: a row here, or a line in both
 * functions where it is no plain number. */
#include "evalcore/store/completion_json.h"

#include <limits.h>
#include <stddef.h>

static const struct {
    const char *name;
    size_t offset; /* of a double in struct completion */
} numbers[] = {
    {"kv_reads", offsetof(struct completion, kv.reads)},
    {"kv_reads_full", offsetof(struct completion, kv.reads_full)},
    {"aux_reads", offsetof(struct completion, kv.aux_reads)},
    {"peak_tokens", offsetof(struct completion, kv.peak_tokens)},
    {"prefill_peak_tokens", offsetof(struct completion, kv.prefill_peak_tokens)},
    {"seconds", offsetof(struct completion, seconds)},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };
_Static_assert(N_NUMBERS + 3 == COMPLETION_JSON_FIELDS, "finish, tokens, preempted and the numbers");

void completion_json_add(json_t *o, const struct completion *c)
{
    json_object_set_new(o, "finish", json_string(finish_name(c->finish)));
    json_object_set_new(o, "tokens", json_integer(c->n_ids));
    for (int i = 0; i < N_NUMBERS; i++) {
        const double *value = (const double *)(const void *)((const char *)c + numbers[i].offset);
        json_object_set_new(o, numbers[i].name, json_real(*value));
    }
    json_object_set_new(o, "preempted", json_integer(c->preempted));
    if (c->finish == FINISHED_ERROR)
        json_object_set_new(o, "error", json_text_of(c->error ? c->error : "unknown error"));
}

/* A count that an int holds. */
static int read_count(const json_t *o, const char *name, int *out)
{
    const json_t *v = json_object_get(o, name);
    json_int_t n = json_integer_value(v);
    *out = n < 0 || n > INT_MAX ? 0 : (int)n;
    return json_is_integer(v) && *out == n;
}

const char *completion_json_read(const json_t *o, struct completion *c)
{
    const char *bad = NULL;
    for (int i = N_NUMBERS; i-- > 0;) {
        const json_t *v = json_object_get(o, numbers[i].name);
        double *value = (double *)(void *)((char *)c + numbers[i].offset);
        *value = json_number_value(v);
        if (!json_is_number(v))
            bad = numbers[i].name;
    }
    if (!read_count(o, "preempted", &c->preempted))
        bad = "preempted";
    if (!read_count(o, "tokens", &c->n_ids))
        bad = "tokens";
    const char *finish = json_string_value(json_object_get(o, "finish"));
    if (!finish || !finish_find(finish, &c->finish)) {
        c->finish = FINISHED_ERROR;
        bad = "finish";
    }
    c->error = json_string_value(json_object_get(o, "error"));
    if (c->finish == FINISHED_ERROR && !c->error && !bad)
        bad = "error";
    return bad;
}
