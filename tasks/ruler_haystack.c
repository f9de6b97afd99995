/* RULER's problems with a haystack, and what the generators of all families share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/prompt_fill.h"
#include "tasks/ruler_gen.h"

/* ---- shared: draws, and needles in a haystack */

void ruler_draft_release(struct ruler_draft *d)
{
    str_release(&d->prompt);
    str_release(&d->answer_prefix);
}

void ruler_rng(struct rng *r, const struct ruler_call *c, enum ruler_stream stream)
{
    rng_init(r, c->key, (uint64_t)c->index * RULER_STREAMS + stream);
}

void ruler_sample(int *out, int k, int n, struct rng *r)
{
    for (int i = 0; i < k;) {
        int v = (int)rng_below(r, (uint32_t)n), at = i;
        while (at > 0 && out[at - 1] > v)
            at--;
        if (at > 0 && out[at - 1] == v)
            continue;
        memmove(out + at + 1, out + at, (size_t)(i - at) * sizeof *out);
        out[at] = v;
        i++;
    }
}

void ruler_mix(struct str *out, const struct ruler_mix *m)
{
    int k = 0;
    for (int i = 0; i <= m->size; i++) {
        for (; k < m->n_needles && m->at[k] == i; k++) {
            str_puts(out, i || k ? m->separator : "");
            str_puts(out, m->needle[k].s);
        }
        if (i == m->size)
            break;
        str_puts(out, i || k ? m->separator : "");
        m->unit(m->context, out);
    }
}

const char *ruler_protocol(const struct ruler_call *c, const char *part, const char *name)
{
    return json_string_value(json_object_get(json_object_get(c->protocol, part), name));
}

const char *ruler_noise(const struct ruler_call *c)
{
    return json_string_value(json_object_get(c->protocol, "noise"));
}

/* ---- needles (scripts/data/synthetic/niah.py): sentences that give a key's value stand in repeated noise,
 * in an essay, or among other such sentences, and the problem asks for the values of some keys */

enum { NEEDLES_MAX = 4, DEPTHS = 40 };
static const char *const kind_names[] = {"words", "numbers", "uuids"};

struct needles {
    const struct ruler_call *call;
    struct ruler_string key[NEEDLES_MAX], value[NEEDLES_MAX][NEEDLES_MAX];
    int n_keys, n_values;
};

/* A number of seven digits, an adjective and a noun, or a random UUID (RFC 4122, version 4). */
static void draw_string(struct ruler_string *out, enum ruler_kind kind, struct rng *r)
{
    if (kind == RULER_NUMBERS) {
        snprintf(out->s, sizeof out->s, "%u", 1000000 + rng_below(r, 9000000));
    } else if (kind == RULER_WORDS) {
        const char *adjective = ruler_adjectives[rng_below(r, (uint32_t)ruler_n_adjectives)];
        snprintf(out->s, sizeof out->s, "%s-%s", adjective,
                 ruler_nouns[rng_below(r, (uint32_t)ruler_n_nouns)]);
    } else {
        uint32_t w[4];
        for (int i = 0; i < 4; i++)
            w[i] = rng_u32(r);
        snprintf(out->s, sizeof out->s, "%08x-%04x-4%03x-%04x-%04x%08x", w[0], w[1] >> 16, w[1] & 0xfff,
                 0x8000 | (w[2] >> 16 & 0x3fff), w[2] & 0xffff, w[3]);
    }
}

static int is_used(const struct needles *n, const char *text)
{
    for (int i = 0; i < n->n_keys; i++) {
        if (!strcmp(n->key[i].s, text))
            return 1;
        for (int k = 0; k < n->n_values; k++)
            if (!strcmp(n->value[i][k].s, text))
                return 1;
    }
    return 0;
}

/* What none of the needles has; *out may be one of them that is still empty. */
static void draw_new(struct ruler_string *out, const struct needles *n, enum ruler_kind kind, struct rng *r)
{
    struct ruler_string text;
    do
        draw_string(&text, kind, r);
    while (is_used(n, text.s));
    *out = text;
}

static void draw_needles(struct needles *n, const struct ruler_call *c, struct rng *r)
{
    const struct ruler_family *f = c->family;
    *n = (struct needles){.call = c, .n_keys = f->n_keys, .n_values = f->n_values};
    for (int i = 0; i < n->n_keys; i++) {
        draw_new(&n->key[i], n, f->key, r);
        for (int k = 0; k < n->n_values; k++)
            draw_new(&n->value[i][k], n, f->value, r);
    }
}

static void add_needle(struct str *out, const struct ruler_call *c, const char *key, const char *value)
{
    const char *kind = kind_names[c->family->value];
    struct prompt_field fields[] = {
        {"type_needle_v", kind, strlen(kind)}, {"key", key, strlen(key)}, {"value", value, strlen(value)}};
    prompt_fill(out, json_string_value(json_object_get(c->protocol, "needle")), fields, 3);
}

struct hay {
    const struct needles *needles;
    struct rng draws;
    struct ruler_essay essay;
};

static void next_noise(void *context, struct str *out)
{
    const struct hay *h = context;
    str_puts(out, ruler_noise(h->needles->call));
}

static void next_sentence(void *context, struct str *out)
{
    struct hay *h = context;
    ruler_essay_next(&h->essay, out);
}

static void next_needle(void *context, struct str *out)
{
    struct hay *h = context;
    const struct ruler_family *f = h->needles->call->family;
    struct ruler_string key, value;
    draw_new(&key, h->needles, f->key, &h->draws);
    draw_new(&value, h->needles, f->value, &h->draws);
    add_needle(out, h->needles->call, key.s, value.s);
}

/* In an essay needles stand at depths of 0 to 100 % in 40 steps, rounded to whole percents, elsewhere before
 * any unit. */
static void draw_places(int *at, const struct ruler_call *c, int n, int size)
{
    struct rng r;
    ruler_rng(&r, c, RULER_PLACES);
    if (c->family->haystack != RULER_ESSAY) {
        ruler_sample(at, n, size, &r);
        return;
    }
    ruler_sample(at, n, DEPTHS, &r);
    for (int i = 0; i < n; i++) {
        int percent = (200 * at[i] + DEPTHS - 1) / (2 * (DEPTHS - 1));
        at[i] = (int)((int64_t)size * percent / 100);
    }
}

static void add_context(struct str *out, const struct needles *n, int size, struct rng *r)
{
    static const ruler_unit_fn units[] = {next_noise, next_sentence, next_needle};
    const struct ruler_call *c = n->call;
    struct ruler_string line[NEEDLES_MAX * NEEDLES_MAX];
    int at[NEEDLES_MAX * NEEDLES_MAX], order[NEEDLES_MAX * NEEDLES_MAX], n_lines = n->n_keys * n->n_values;
    struct str text = {0};
    struct hay hay = {.needles = n};
    for (int i = 0; i < n_lines; i++)
        order[i] = i;
    rng_shuffle(r, order, n_lines);
    for (int i = 0; i < n_lines; i++) {
        int key = order[i] / n->n_values;
        str_clear(&text);
        add_needle(&text, c, n->key[key].s, n->value[key][order[i] % n->n_values].s);
        snprintf(line[i].s, sizeof line[i].s, "%s", str_text(&text));
    }
    str_release(&text);
    draw_places(at, c, n_lines, size);
    ruler_rng(&hay.draws, c, RULER_HAY);
    ruler_essay_init(&hay.essay, hay.draws.key, hay.draws.stream);
    struct ruler_mix mix = {.unit = units[c->family->haystack],
                            .context = &hay,
                            .size = size,
                            .separator = c->family->haystack == RULER_ESSAY ? " " : "\n",
                            .needle = line,
                            .at = at,
                            .n_needles = n_lines};
    ruler_mix(out, &mix);
}

/* The keys that are asked for, "a, b, and c", and their values. */
static void ask_for_needles(struct ruler_draft *d, struct str *query, const struct needles *n, struct rng *r)
{
    int order[NEEDLES_MAX], n_queries = n->call->family->n_queries;
    for (int i = 0; i < n->n_keys; i++)
        order[i] = i;
    rng_shuffle(r, order, n->n_keys);
    d->n_golds = 0;
    for (int i = 0; i < n_queries; i++) {
        str_printf(query, "%s%s%s", i ? ", " : "", i && i == n_queries - 1 ? "and " : "", n->key[order[i]].s);
        for (int k = 0; k < n->n_values; k++)
            d->gold[d->n_golds++] = n->value[order[i]][k];
    }
}

void ruler_niah(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    const struct ruler_family *f = c->family;
    struct needles n;
    struct str context = {0}, query = {0};
    struct rng r;
    ruler_rng(&r, c, RULER_ASKED);
    draw_needles(&n, c, &r);
    ask_for_needles(d, &query, &n, &r);
    add_context(&context, &n, size, &r);
    const char *kind = kind_names[f->value];
    struct prompt_field fields[] = {{"type_needle_v", kind, strlen(kind) - (d->n_golds == 1)},
                                    {"context", context.data, context.len},
                                    {"query", query.data, query.len}};
    str_clear(&d->prompt);
    str_clear(&d->answer_prefix);
    prompt_fill(&d->prompt, ruler_protocol(c, "prompt", f->protocol), fields, 3);
    prompt_fill(&d->answer_prefix, ruler_protocol(c, "answer_prefix", f->protocol), fields, 3);
    str_release(&context);
    str_release(&query);
}

/* ---- variable tracking (scripts/data/synthetic/variable_tracking.py): chains of assignments stand in noise,
 * and the variables of the first are asked for. RULER has one chain of four hops. A solved example with
 * shorter names comes before it; RULER gives the example 500 tokens. */

enum { NAME_LETTERS = 5, EXAMPLE_LETTERS = 3 };

struct chain {
    struct ruler_string name[RULER_GOLDS_MAX];
    char value[8];
};

static void draw_name(struct ruler_string *out, int letters, struct rng *r)
{
    for (int i = 0; i < letters; i++)
        out->s[i] = (char)('A' + rng_below(r, 26));
    out->s[letters] = 0;
}

static int is_name_taken(const struct chain *chains, int n_chains, int n_names, int hops)
{
    const char *name = chains[n_chains].name[n_names].s;
    for (int c = 0; c <= n_chains; c++)
        for (int i = 0; i < (c < n_chains ? hops + 1 : n_names); i++)
            if (!strcmp(chains[c].name[i].s, name))
                return 1;
    return 0;
}

/* Names differ, and so do the values, that the question has one answer. In RULER chance may repeat a value,
 * and all chains of its example have one, with an answer that names one of them. */
static void draw_chain(struct chain *chains, int n, int hops, int letters, struct rng *r)
{
    struct chain *out = &chains[n];
    int seen;
    for (int i = 0; i <= hops; i++)
        do
            draw_name(&out->name[i], letters, r);
        while (is_name_taken(chains, n, i, hops));
    do {
        snprintf(out->value, sizeof out->value, "%u", 10000 + rng_below(r, 90000));
        seen = 0;
        for (int c = 0; c < n; c++)
            seen |= !strcmp(chains[c].value, out->value);
    } while (seen);
}

/* The blank behind "VAR B = VAR A" is RULER's. */
static void write_line(struct ruler_string *out, const struct chain *chain, int i)
{
    if (i)
        snprintf(out->s, sizeof out->s, "VAR %.8s = VAR %.8s ", chain->name[i].s, chain->name[i - 1].s);
    else
        snprintf(out->s, sizeof out->s, "VAR %.8s = %s", chain->name[0].s, chain->value);
}

/* Where the chains' lines stand: place[k] is 0 for a line of noise, else the number of a chain's line,
 * from 1. Each chain in turn takes places among what is there, its lines in order, before other lines each.
 */
static int *place_lines(int n_noise, int n_chains, int hops, struct rng *places)
{
    int n = n_noise, lines = hops + 1, at[RULER_GOLDS_MAX];
    int *place = xcalloc((size_t)(n_noise + n_chains * lines), sizeof *place);
    for (int c = 0; c < n_chains; c++) {
        ruler_sample(at, lines, n, places);
        for (int i = lines; i-- > 0; n++) {
            memmove(place + at[i] + 1, place + at[i], (size_t)(n - at[i]) * sizeof *place);
            place[at[i]] = c * lines + i + 1;
        }
    }
    return place;
}

static void next_line_of_noise(void *context, struct str *out)
{
    str_puts(out, ruler_noise(context));
}

static void add_tracked(struct str *out, const struct ruler_call *c, const struct chain *chains, int size,
                        struct rng *places)
{
    int lines = c->hops + 1, n = c->chains * lines, before = 0, k = 0;
    int *place = place_lines(size, c->chains, c->hops, places), *at = xcalloc((size_t)n, sizeof *at);
    struct ruler_string *line = xcalloc((size_t)n, sizeof *line);
    for (int i = 0; i < size + n; i++) {
        if (!place[i]) {
            before++;
            continue;
        }
        at[k] = before;
        write_line(&line[k++], &chains[(place[i] - 1) / lines], (place[i] - 1) % lines);
    }
    ruler_mix(out, &(struct ruler_mix){.unit = next_line_of_noise,
                                       .context = (void *)(uintptr_t)c,
                                       .size = size,
                                       .separator = "\n",
                                       .needle = line,
                                       .at = at,
                                       .n_needles = n});
    free(line);
    free(at);
    free(place);
}

/* Appends a problem with names of so many letters to the prompt; its answer prefix is the draft's. */
static void add_problem(struct ruler_draft *d, const struct ruler_call *c, int size, int letters,
                        enum ruler_stream asked, enum ruler_stream where)
{
    struct chain *chains = xcalloc((size_t)c->chains, sizeof *chains);
    struct rng names, places;
    struct str context = {0};
    char count[12];
    ruler_rng(&names, c, asked);
    ruler_rng(&places, c, where);
    for (int i = 0; i < c->chains; i++)
        draw_chain(chains, i, c->hops, letters, &names);
    add_tracked(&context, c, chains, size, &places);
    snprintf(count, sizeof count, "%d", c->hops + 1);
    struct prompt_field fields[] = {{"context", context.data, context.len},
                                    {"query", chains->value, strlen(chains->value)},
                                    {"num_v", count, strlen(count)}};
    str_clear(&d->answer_prefix);
    prompt_fill(&d->prompt, ruler_protocol(c, "prompt", "vt"), fields, 3);
    prompt_fill(&d->answer_prefix, ruler_protocol(c, "answer_prefix", "vt"), fields, 3);
    d->n_golds = c->hops + 1;
    memcpy(d->gold, chains->name, (size_t)d->n_golds * sizeof *d->gold);
    str_release(&context);
    free(chains);
}

void ruler_vt_example(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    str_clear(&d->prompt);
    add_problem(d, c, size, EXAMPLE_LETTERS, RULER_EXAMPLE, RULER_EXAMPLE_PLACES);
}

void ruler_vt(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    ruler_vt_example(d, c, c->example_size);
    str_add(&d->prompt, d->answer_prefix.data, d->answer_prefix.len);
    for (int i = 0; i < d->n_golds; i++)
        str_printf(&d->prompt, " %s", d->gold[i].s);
    str_puts(&d->prompt, "\n\n");
    add_problem(d, c, size, NAME_LETTERS, RULER_ASKED, RULER_PLACES);
}
