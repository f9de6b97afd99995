/* Cuts text into pieces with PCRE2's JIT compiler.
 *
 * A pre-tokenizer is a row of stages, each of which works inside the pieces of the one before. The patterns
 * come from a downloaded file, so a match has limits on steps and memory, and reaching one is an error. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/text/pretoken.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

enum { MATCH_STEPS = 20 * 1000 * 1000, MATCH_KIB = 256 * 1024, STACK_FIRST = 64 << 10, STACK_MOST = 8 << 20 };

static void scratch_init(struct pretoken_scratch *s)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(context, MATCH_STEPS);
    pcre2_set_heap_limit(context, MATCH_KIB);
    s->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MOST, NULL);
    pcre2_jit_stack_assign(context, NULL, s->stack);
    s->context = context;
    s->match = pcre2_match_data_create(1, NULL);
}

void pretoken_scratch_release(struct pretoken_scratch *s)
{
    pcre2_match_data_free(s->match);
    pcre2_match_context_free(s->context);
    pcre2_jit_stack_free(s->stack);
    for (int i = 0; i < PRETOKEN_STAGES; i++) {
        str_release(&s->spaced[i]);
        free(s->part[i]);
    }
    *s = (struct pretoken_scratch){0};
}

struct walk {
    const struct pretoken *p;
    struct pretoken_scratch *s;
    pretoken_piece_fn *piece;
    void *context;
    struct err *e;
};

/* Finds the next match from `at` on: 1 and where it is, or 0 for none. */
static int find_match(const struct walk *w, int stage, const char *text, size_t n, size_t at, size_t *from,
                      size_t *to)
{
    const pcre2_code *regex = w->p->stage[stage].regex;
    pcre2_match_data *data = w->s->match;
    int rc = PCRE2_ERROR_JIT_STACKLIMIT;
    if (w->p->stage[stage].compiled)
        rc = pcre2_jit_match(regex, (PCRE2_SPTR)text, n, at, PCRE2_NO_UTF_CHECK, data, w->s->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(regex, (PCRE2_SPTR)text, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                         w->s->context);
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    if (rc < 0) {
        PCRE2_UCHAR why[200] = "";
        pcre2_get_error_message(rc, why, sizeof why);
        return err_set(w->e, ERR_UNSUPPORTED,
                       "the tokenizer's split pattern gave up at byte %zu of a text of %zu bytes: %s", at, n,
                       (const char *)why);
    }
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(data);
    *from = place[0];
    *to = place[1];
    return 1;
}

/* Where the next match is looked for, and where the last one ended. */
struct seeker {
    size_t at, last;
    int has_last;
};

/* Sets the next match, as find_iter() of Rust's onig does: one of no characters counts, but not where the
 * match before it ends. Returns 1, or 0 for none. */
static int next_match(const struct walk *w, int stage, const char *text, size_t n, struct seeker *k,
                      size_t *from, size_t *to)
{
    while (k->at <= n) {
        int rc = find_match(w, stage, text, n, k->at, from, to);
        if (rc <= 0)
            return rc;
        if (*from < *to || !k->has_last || k->last != *to) {
            *k = (struct seeker){*to, *to, 1};
            return 1;
        }
        do
            k->at++;
        while (k->at < n && ((unsigned char)text[k->at] & 0xc0) == 0x80);
    }
    return 0;
}

static int run_stage(const struct walk *w, int stage, const char *text, size_t n, int is_first);

static int run_prefix_space(const struct walk *w, int stage, const char *text, size_t n, int is_first)
{
    struct str *spaced = &w->s->spaced[stage];
    if (text[0] == ' ')
        return run_stage(w, stage + 1, text, n, is_first);
    str_clear(spaced);
    str_putc(spaced, ' ');
    str_add(spaced, text, n);
    return run_stage(w, stage + 1, spaced->data, spaced->len, is_first);
}

static int run_metaspace(const struct walk *w, int stage, const char *text, size_t n, int is_first)
{
    const struct pretoken_stage *s = &w->p->stage[stage];
    struct str *marked = &w->s->spaced[stage];
    size_t len = strlen(s->mark), from = 0;
    int has_mark = text[0] == ' ' || (n >= len && !memcmp(text, s->mark, len));
    str_clear(marked);
    if (!has_mark && (s->prepend == PRETOKEN_ALWAYS || (s->prepend == PRETOKEN_FIRST && is_first)))
        str_puts(marked, s->mark);
    for (size_t i = 0; i < n; i++)
        if (text[i] == ' ')
            str_puts(marked, s->mark);
        else
            str_putc(marked, text[i]);
    if (s->is_whole)
        return run_stage(w, stage + 1, marked->data, marked->len, is_first);
    int rc = 0;
    for (size_t at = 1; !rc && at <= marked->len; at++) {
        if (at < marked->len && (marked->len - at < len || memcmp(marked->data + at, s->mark, len)))
            continue;
        rc = run_stage(w, stage + 1, marked->data + from, at - from, is_first && from == 0);
        from = at;
    }
    return rc;
}

/* Cuts as most tokenizers do: each match is a piece, and so is what lies between two. */
static int run_isolated(const struct walk *w, int stage, const char *text, size_t n, int is_first)
{
    struct seeker k = {0};
    size_t at = 0, from, to;
    int found;
    while ((found = next_match(w, stage, text, n, &k, &from, &to)) > 0) {
        int rc = run_stage(w, stage + 1, text + at, from - at, is_first && at == 0);
        if (!rc)
            rc = run_stage(w, stage + 1, text + from, to - from, is_first && from == 0);
        if (rc)
            return rc;
        at = to;
    }
    return found < 0 ? found : run_stage(w, stage + 1, text + at, n - at, is_first && at == 0);
}

/* A stretch of the text, and whether it counts as a match. */
struct pretoken_part {
    size_t from, to;
    int is_match;
};

static void add_part(struct pretoken_scratch *s, int stage, size_t *n_parts, struct pretoken_part part)
{
    xgrow(&s->part[stage], &s->part_cap[stage], *n_parts + 1, sizeof **s->part);
    s->part[stage][(*n_parts)++] = part;
}

/* Joins neighbours as the behavior says; returns how many parts are left. A match joins its neighbour only
 * when that is no match itself, as in the tokenizers library. */
static size_t join_parts(enum pretoken_behavior behavior, struct pretoken_part *part, size_t n)
{
    size_t kept = 0;
    int last = 0; /* was the part before (WITH_NEXT: after) this one a match? */
    switch (behavior) {
    case PRETOKEN_REMOVED:
        for (size_t i = 0; i < n; i++)
            if (!part[i].is_match)
                part[kept++] = part[i];
        return kept;
    case PRETOKEN_CONTIGUOUS:
        for (size_t i = 0; i < n; i++)
            if (kept && part[kept - 1].is_match == part[i].is_match)
                part[kept - 1].to = part[i].to;
            else
                part[kept++] = part[i];
        return kept;
    case PRETOKEN_WITH_PREVIOUS:
        for (size_t i = 0; i < n; i++) {
            int is_match = part[i].is_match;
            if (is_match && !last && kept)
                part[kept - 1].to = part[i].to;
            else
                part[kept++] = part[i];
            last = is_match;
        }
        return kept;
    case PRETOKEN_WITH_NEXT:
        kept = n;
        for (size_t i = n; i-- > 0;) {
            int is_match = part[i].is_match;
            if (is_match && !last && kept < n)
                part[kept].from = part[i].from;
            else
                part[--kept] = part[i];
            last = is_match;
        }
        memmove(part, part + kept, (n - kept) * sizeof *part);
        return n - kept;
    case PRETOKEN_ISOLATED:
        break;
    }
    return n;
}

static int run_joined(const struct walk *w, int stage, const char *text, size_t n, int is_first)
{
    const struct pretoken_stage *s = &w->p->stage[stage];
    struct seeker k = {0};
    size_t n_parts = 0, at = 0, from, to;
    int found;
    while ((found = next_match(w, stage, text, n, &k, &from, &to)) > 0) {
        if (at < from)
            add_part(w->s, stage, &n_parts, (struct pretoken_part){at, from, s->invert});
        add_part(w->s, stage, &n_parts, (struct pretoken_part){from, to, !s->invert});
        at = to;
    }
    if (found < 0)
        return found;
    if (at < n)
        add_part(w->s, stage, &n_parts, (struct pretoken_part){at, n, s->invert});
    n_parts = join_parts(s->behavior, w->s->part[stage], n_parts);
    for (size_t i = 0; i < n_parts; i++) {
        struct pretoken_part p = w->s->part[stage][i];
        int rc = run_stage(w, stage + 1, text + p.from, p.to - p.from, is_first && p.from == 0);
        if (rc)
            return rc;
    }
    return 0;
}

static int run_stage(const struct walk *w, int stage, const char *text, size_t n, int is_first)
{
    if (!n)
        return 0;
    if (stage == w->p->n) {
        w->piece(w->context, text, n);
        return 0;
    }
    const struct pretoken_stage *s = &w->p->stage[stage];
    return s->kind == PRETOKEN_PREFIX_SPACE   ? run_prefix_space(w, stage, text, n, is_first)
           : s->kind == PRETOKEN_METASPACE    ? run_metaspace(w, stage, text, n, is_first)
           : s->behavior == PRETOKEN_ISOLATED ? run_isolated(w, stage, text, n, is_first)
                                              : run_joined(w, stage, text, n, is_first);
}

int pretoken_split(const struct pretoken *p, struct pretoken_scratch *s, const char *text, size_t n,
                   int is_first, pretoken_piece_fn *piece, void *context, struct err *e)
{
    if (!s->match)
        scratch_init(s);
    struct walk w = {p, s, piece, context, e};
    return run_stage(&w, 0, text, n, is_first);
}
