/* RULER's aggregation: common words (scripts/data/synthetic/common_words_extraction.py), a numbered list in
 * which ten words occur more often than the others, with a solved example before it, and frequent words
 * (freq_words_extraction.py), made-up words whose k-th occurs as often as a zeta distribution says. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/prompt_fill.h"
#include "tasks/ruler_gen.h"

enum { COMMON = 10 };

/* RULER's numbers; shorter lengths have a shorter example and fewer repetitions. */
struct cwe_shape {
    int words, common_times, others_times;
};

/* ---- the words of cwe: the plain ones in random order, then pairs such as "mild-harbour" ---- */

static const char *plain_word(int i)
{
    if (i < ruler_n_adjectives)
        return ruler_adjectives[i];
    i -= ruler_n_adjectives;
    return i < ruler_n_nouns ? ruler_nouns[i] : ruler_verbs[i - ruler_n_nouns];
}

static int is_common(const char *word, const struct ruler_string *common)
{
    for (int i = 0; i < COMMON; i++)
        if (!strcmp(common[i].s, word))
            return 1;
    return 0;
}

/* Pairs come in the order of a walk through all of them whose step is prime, and so has no factor in common
 * with their number unless it divides it. No pair holds a common word, or its mention would be one of that
 * word. */
static void add_pairs(struct ruler_string *out, int n, const struct ruler_string *common, struct rng *r)
{
    enum { STEP = 99991 };
    uint32_t all = (uint32_t)(ruler_n_adjectives * ruler_n_nouns), at = rng_below(r, all);
    assert((uint32_t)n < all - COMMON * (uint32_t)ruler_n_nouns); /* many more than RULER_TOKENS_MAX holds */
    for (int i = 0; i < n; at = (at + STEP) % all) {
        const char *adjective = ruler_adjectives[at / (uint32_t)ruler_n_nouns];
        const char *noun = ruler_nouns[at % (uint32_t)ruler_n_nouns];
        if (!is_common(adjective, common) && !is_common(noun, common))
            snprintf(out[i++].s, sizeof out->s, "%s-%s", adjective, noun);
    }
}

static struct ruler_string *draw_words(int n, struct rng *r)
{
    int n_plain = ruler_n_adjectives + ruler_n_nouns + ruler_n_verbs;
    int *order = xcalloc((size_t)n_plain, sizeof *order);
    struct ruler_string *words = xcalloc((size_t)n, sizeof *words);
    for (int i = 0; i < n_plain; i++)
        order[i] = i;
    rng_shuffle(r, order, n_plain);
    for (int i = 0; i < n && i < n_plain; i++)
        snprintf(words[i].s, sizeof words->s, "%s", plain_word(order[i]));
    if (n > n_plain)
        add_pairs(words + n_plain, n - n_plain, words, r);
    free(order);
    return words;
}

/* Appends template and answer prefix for a list; d->gold gets its common words. */
static void add_list(struct ruler_draft *d, const struct ruler_call *c, struct cwe_shape s, struct rng *asked,
                     struct rng *places)
{
    struct ruler_string *words = draw_words(s.words, asked);
    int n = COMMON * s.common_times + (s.words - COMMON) * s.others_times, k = 0;
    int *item = xcalloc((size_t)n, sizeof *item);
    for (int i = 0; i < s.words; i++)
        for (int times = i < COMMON ? s.common_times : s.others_times; times > 0; times--)
            item[k++] = i;
    rng_shuffle(places, item, n);
    struct str context = {0};
    for (int i = 0; i < n; i++)
        str_printf(&context, "%s%d. %s", i ? " " : "", i + 1, words[item[i]].s);
    struct prompt_field field = {"context", context.data, context.len};
    prompt_fill(&d->prompt, ruler_protocol(c, "prompt", "cwe"), &field, 1);
    str_clear(&d->answer_prefix);
    str_puts(&d->answer_prefix, ruler_protocol(c, "answer_prefix", "cwe"));
    memcpy(d->gold, words, COMMON * sizeof *words);
    d->n_golds = COMMON;
    str_release(&context);
    free(item);
    free(words);
}

void ruler_cwe(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    int is_short = c->tokens < 4096;
    struct cwe_shape example = is_short ? (struct cwe_shape){20, 3, 1} : (struct cwe_shape){40, 10, 3};
    struct cwe_shape list = {size, is_short ? 6 : 30, is_short ? 1 : 3};
    struct rng asked, places;
    ruler_rng(&asked, c, RULER_EXAMPLE);
    ruler_rng(&places, c, RULER_EXAMPLE_PLACES);
    str_clear(&d->prompt);
    add_list(d, c, example, &asked, &places);
    str_add(&d->prompt, d->answer_prefix.data, d->answer_prefix.len);
    for (int i = 0; i < COMMON; i++)
        str_printf(&d->prompt, " %d. %s", i + 1, d->gold[i].s);
    str_putc(&d->prompt, '\n');
    ruler_rng(&asked, c, RULER_ASKED);
    ruler_rng(&places, c, RULER_PLACES);
    add_list(d, c, list, &asked, &places);
}

/* ---- fwe ---- */

enum { CODED_LETTERS = 6, TOKENS_PER_WORD = 50, FREQUENT = 3 };

struct coded {
    char s[CODED_LETTERS + 1];
};

static void draw_coded(struct coded *words, int n, struct rng *r)
{
    for (int i = 0; i < n;) {
        int seen = 0;
        for (int k = 0; k < CODED_LETTERS; k++)
            words[i].s[k] = (char)('a' + rng_below(r, 26));
        words[i].s[CODED_LETTERS] = 0;
        for (int k = 0; k < i; k++)
            seen |= !strcmp(words[k].s, words[i].s);
        i += !seen;
    }
}

/* How often the word of rank k occurs among `size`: zeta with alpha 2, whose sum is pi^2 / 6. */
static int occurrences_of(int size, int k)
{
    const double zeta_2 = 1.6449340668482264;
    return (int)(size / ((double)k * k * zeta_2));
}

/* The most frequent word is written as dots, and the three after it are asked for. */
void ruler_fwe(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    int n_words = 0, n = 0, k = 0;
    struct rng r;
    while (n_words < c->tokens / TOKENS_PER_WORD && occurrences_of(size, n_words + 1))
        n += occurrences_of(size, ++n_words);
    struct coded *words = xcalloc((size_t)n_words, sizeof *words);
    int *item = xcalloc((size_t)n, sizeof *item);
    ruler_rng(&r, c, RULER_ASKED);
    draw_coded(words, n_words, &r);
    snprintf(words[0].s, sizeof words->s, "...");
    for (int i = 0; i < n_words; i++)
        for (int t = occurrences_of(size, i + 1); t > 0; t--)
            item[k++] = i;
    ruler_rng(&r, c, RULER_PLACES);
    rng_shuffle(&r, item, n);
    struct str context = {0};
    for (int i = 0; i < n; i++)
        str_printf(&context, "%s%s", i ? " " : "", words[item[i]].s);
    struct prompt_field field = {"context", context.data, context.len};
    str_clear(&d->prompt);
    str_clear(&d->answer_prefix);
    prompt_fill(&d->prompt, ruler_protocol(c, "prompt", "fwe"), &field, 1);
    str_puts(&d->answer_prefix, ruler_protocol(c, "answer_prefix", "fwe"));
    for (int i = 0; i < FREQUENT; i++)
        snprintf(d->gold[i].s, sizeof d->gold[i].s, "%s", words[i + 1].s);
    d->n_golds = FREQUENT;
    str_release(&context);
    free(item);
    free(words);
}
