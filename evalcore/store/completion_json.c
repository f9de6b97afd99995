/* A completion's measured fields (contract: completion_json.h). Adding one: a row here, or a line in both
 * functions where it is no plain number. */
#include "evalcore/store/completion_json.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset; /* where the double lies in struct completion */
} numbers[] = {
    {"kv_reads", offsetof(struct completion, kv.reads)},
    {"kv_reads_full", offsetof(struct completion, kv.reads_full)},
    {"aux_reads", offsetof(struct completion, kv.aux_reads)},
    {"peak_tokens", offsetof(struct completion, kv.peak_tokens)},
    {"prefill_peak_tokens", offsetof(struct completion, kv.prefill_peak_tokens)},
    {"seconds", offsetof(struct completion, seconds)},
    {"prefill_reads", offsetof(struct completion, kv.prefill_reads)},
    {"prefill_aux_reads", offsetof(struct completion, kv.prefill_aux_reads)},
    {"key_elements", offsetof(struct completion, kv.key_elements)},
    {"kv_selected", offsetof(struct completion, kv.selected)},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };
_Static_assert(N_NUMBERS + 3 == COMPLETION_JSON_FIELDS, "finish, tokens, preempted and the numbers");

/* A list of buckets, each [first, tokens, agree, bytes, bits, kl]. */
static json_t *likelihood_json(const struct likelihood *l)
{
    json_t *list = json_array();
    for (int i = 0; i < l->n; i++) {
        const struct likelihood_bucket *b = &l->bucket[i];
        json_array_append_new(list, json_pack("[i, i, I, I, f, f]", b->first, b->tokens, (json_int_t)b->agree,
                                              (json_int_t)b->bytes, b->bits, b->kl));
    }
    return list;
}

static int read_bucket(const json_t *v, struct likelihood_bucket *b)
{
    json_int_t first, tokens, agree, bytes;
    if (json_unpack((json_t *)v, "[I, I, I, I, F, F!]", &first, &tokens, &agree, &bytes, &b->bits, &b->kl))
        return 0;
    int is_power = first > 0 && first <= 1 << (LIKELIHOOD_BUCKETS - 1) && !(first & (first - 1));
    if (!is_power || tokens < 1 || tokens > first || agree < 0 || agree > tokens || bytes < 0 ||
        bytes > (json_int_t)1 << 40 || !(b->bits >= 0) || !(b->kl >= 0))
        return 0;
    b->first = (int)first;
    b->tokens = (int)tokens;
    b->agree = agree;
    b->bytes = bytes;
    return 1;
}

/* None at all is right too. */
static int read_likelihood(const json_t *list, struct likelihood *l)
{
    size_t n = json_array_size(list);
    l->n = 0;
    if (!list)
        return 1;
    if (!json_is_array(list) || !n || n > LIKELIHOOD_BUCKETS)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!read_bucket(json_array_get(list, i), &l->bucket[i]) ||
            (i && l->bucket[i].first <= l->bucket[i - 1].first))
            return 0;
    l->n = (int)n;
    return 1;
}

/* A list of options, each [prompt, tokens, logprob]. */
static json_t *options_json(const struct option_scores *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->n; i++)
        json_array_append_new(
            list, json_pack("[i, i, f]", s->option[i].prompt, s->option[i].tokens, s->option[i].logprob));
    return list;
}

static int read_option(const json_t *v, struct option_score *s)
{
    json_int_t prompt, tokens;
    if (json_unpack((json_t *)v, "[I, I, F!]", &prompt, &tokens, &s->logprob) || prompt < 1 ||
        prompt > INT_MAX || tokens < 1 || tokens > INT_MAX || !isfinite(s->logprob))
        return 0;
    s->prompt = (int)prompt;
    s->tokens = (int)tokens;
    return 1;
}

/* None at all is right too. */
static int read_options(const json_t *list, struct option_scores *s)
{
    size_t n = json_array_size(list);
    s->n = 0;
    if (!list)
        return 1;
    if (!json_is_array(list) || !n || n > ENGINE_OPTIONS_MAX)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!read_option(json_array_get(list, i), &s->option[i]))
            return 0;
    s->n = (int)n;
    return 1;
}

static int is_count(int i)
{
    return numbers[i].offset != offsetof(struct completion, seconds);
}

void completion_json_add_counts(json_t *o, const struct kv_counts *k)
{
    struct completion c = {.kv = *k};
    for (int i = 0; i < N_NUMBERS; i++)
        if (is_count(i))
            json_object_set_new(
                o, numbers[i].name,
                json_real(*(const double *)(const void *)((const char *)&c + numbers[i].offset)));
}

int completion_json_read_counts(const json_t *o, struct kv_counts *k)
{
    struct completion c = {0};
    for (int i = 0; i < N_NUMBERS; i++) {
        const json_t *v = json_object_get(o, numbers[i].name);
        if (is_count(i) && !json_is_number(v))
            return 0;
        *(double *)(void *)((char *)&c + numbers[i].offset) = json_number_value(v);
    }
    *k = c.kv;
    return 1;
}

void completion_add_counts(struct kv_counts *to, const struct kv_counts *k)
{
    to->reads += k->reads;
    to->reads_full += k->reads_full;
    to->aux_reads += k->aux_reads;
    to->prefill_reads += k->prefill_reads;
    to->prefill_aux_reads += k->prefill_aux_reads;
    to->key_elements += k->key_elements;
    to->selected += k->selected;
    to->peak_tokens = fmax(to->peak_tokens, k->peak_tokens);
    to->prefill_peak_tokens = fmax(to->prefill_peak_tokens, k->prefill_peak_tokens);
}

void completion_json_add(json_t *o, const struct completion *c)
{
    json_object_set_new(o, "finish", json_string(finish_name(c->finish)));
    json_object_set_new(o, "tokens", json_integer(c->n_ids));
    int is_counted = !isnan(c->kv.reads);
    for (int i = 0; i < N_NUMBERS; i++) {
        const double *value = (const double *)(const void *)((const char *)c + numbers[i].offset);
        if (is_counted || value == &c->seconds)
            json_object_set_new(o, numbers[i].name, json_real(*value));
    }
    if (!is_counted)
        json_object_set_new(o, "kv_counts", json_false());
    json_object_set_new(o, "preempted", json_integer(c->preempted));
    if (c->likelihood.n)
        json_object_set_new(o, "likelihood", likelihood_json(&c->likelihood));
    if (c->options.n)
        json_object_set_new(o, "options", options_json(&c->options));
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
    int is_counted = !json_is_false(json_object_get(o, "kv_counts"));
    for (int i = N_NUMBERS; i-- > 0;) {
        const json_t *v = json_object_get(o, numbers[i].name);
        double *value = (double *)(void *)((char *)c + numbers[i].offset);
        int is_absent = !is_counted && value != &c->seconds;
        *value = is_absent ? NAN : json_number_value(v);
        if (is_absent ? v != NULL : !json_is_number(v))
            bad = numbers[i].name;
    }
    if (!read_likelihood(json_object_get(o, "likelihood"), &c->likelihood))
        bad = "likelihood";
    if (!read_options(json_object_get(o, "options"), &c->options))
        bad = "options";
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

static int flat_count(const struct flat_object *o, const char *name)
{
    int is_integer;
    int64_t n = flat_integer(o, name, &is_integer);
    return n < 0 || n > INT_MAX ? 0 : (int)n;
}

int completion_flat_read(const struct flat_object *o, struct completion *c)
{
    struct flat_text finish = flat_string(o, "finish");
    char name[16] = "";
    if (!finish.data || finish.n >= sizeof name || flat_has(o, "likelihood") || flat_has(o, "error") ||
        flat_has(o, "options") || flat_has(o, "kv_counts"))
        return 0;
    memcpy(name, finish.data, finish.n);
    if (!finish_find(name, &c->finish) || c->finish == FINISHED_ERROR)
        return 0;
    for (int i = 0; i < N_NUMBERS; i++) {
        double *value = (double *)(void *)((char *)c + numbers[i].offset);
        *value = flat_number(o, numbers[i].name);
    }
    c->preempted = flat_count(o, "preempted");
    c->n_ids = flat_count(o, "tokens");
    c->likelihood.n = c->options.n = 0;
    c->error = NULL;
    return 1;
}
