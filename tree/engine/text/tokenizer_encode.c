/* From text to ids, in the order of the tokenizers library: repair of invalid bytes, added tokens,
 * normalization, added tokens again, pieces, merges. Most pieces are common words, so their ids come from a
 * direct-mapped cache with one cache line per piece instead of the merge loop. The cache belongs to the
 * caller's scratch, so threads share nothing that is written to. */
#include <stdlib.h>
#include <string.h>

#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_parts.h"
#include "engine/text/unicode.h"
#include "evalcore/base/arena.h"

enum { CACHE_PIECES = 1 << 16, CACHE_BYTES = 22, CACHE_IDS = 8, FEW_SYMBOLS = 96, TEXT_MAX = 1 << 28 };

struct cached_piece {
    uint64_t hash;
    unsigned char n, n_ids; /* n 0: empty */
    char text[CACHE_BYTES];
    int32_t id[CACHE_IDS];
};

struct encode_scratch {
    uint64_t owner; /* identity of the tokenizer that the cached pieces are from */
    struct pretoken_scratch pretoken;
    struct bpe_scratch bpe;
    struct str repaired, normal[2];
    struct cached_piece *cache;
    uint32_t *symbol; /* of a long piece */
    size_t symbol_cap;
};

struct encoder {
    const struct tokenizer *t;
    struct encode_scratch *s;
    struct token_list *out;
    struct err *e;
    const char *start; /* of the whole text */
    int is_first;      /* the present gap begins there */
};

static uint64_t piece_hash(const char *p, size_t n)
{
    uint64_t a = 0, b = 0, h = n * UINT64_C(0x9E3779B97F4A7C15);
    if (n >= 8) {
        for (; n > 8; p += 8, n -= 8) {
            memcpy(&a, p, 8);
            h = (h ^ a) * UINT64_C(0x9E3779B97F4A7C15);
            h ^= h >> 29;
        }
        memcpy(&a, p + n - 8, 8);
    } else if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        a = low;
        b = high;
    } else {
        a = (unsigned char)p[0];
        b = (uint64_t)(unsigned char)p[n / 2] << 8 | (unsigned char)p[n - 1];
    }
    h = (h ^ a ^ b << 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* ---- the symbols of a piece, from which merging starts: its bytes where the vocabulary is byte-level, else
 * its characters. A character that is no token becomes its bytes "<0xE2>" (byte_fallback), else the unknown
 * token, else nothing. Order and exceptions are those of the tokenizers library's BPE::merge_word: an unknown
 * token waits until the next known character, and with fuse_unk stands for all that follow it. */

/* The bytes of a character as fallback tokens; 0 when one of them is missing. */
static size_t fall_back(const struct tokenizer *t, const char *c, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int32_t id = t->byte_symbol[(unsigned char)c[i]];
        if (id < 0)
            return 0;
        out[i] = (uint32_t)id;
    }
    return n;
}

/* out has room for n symbols; returns their number. */
static size_t piece_symbols(const struct tokenizer *t, const char *piece, size_t n, uint32_t *out)
{
    size_t len = 0, step = 1;
    int waiting = 0; /* an unknown token */
    for (size_t at = 0; at < n; at += step) {
        int32_t id;
        if (t->pretoken.is_byte_level) {
            id = t->byte_symbol[(unsigned char)piece[at]];
        } else {
            utf8_after(piece, n, at, &step);
            id = vocab_find(&t->vocab, piece + at, step);
        }
        if (id >= 0) {
            if (waiting)
                out[len++] = (uint32_t)t->unk;
            waiting = 0;
            out[len++] = (uint32_t)id;
            continue;
        }
        size_t bytes = t->byte_fallback ? fall_back(t, piece + at, step, out + len) : 0;
        len += bytes;
        if (bytes || t->unk < 0)
            continue;
        if (waiting && !t->fuse_unk)
            out[len++] = (uint32_t)t->unk;
        waiting = 1;
    }
    if (waiting)
        out[len++] = (uint32_t)t->unk;
    return len;
}

/* ---- pieces and gaps */

static void merge_piece(struct encoder *x, const char *piece, size_t n)
{
    uint32_t few[FEW_SYMBOLS], *symbol = few;
    if (n > FEW_SYMBOLS) {
        xgrow(&x->s->symbol, &x->s->symbol_cap, n, sizeof *symbol);
        symbol = x->s->symbol;
    }
    bpe_merge(&x->t->bpe, &x->s->bpe, symbol, piece_symbols(x->t, piece, n, symbol), x->out);
}

static void encode_piece(void *context, const char *piece, size_t n)
{
    struct encoder *x = context;
    struct token_list *out = x->out;
    struct cached_piece *cached = NULL;
    uint64_t h = 0;
    if (n <= CACHE_BYTES) {
        h = piece_hash(piece, n);
        cached = &x->s->cache[h & (CACHE_PIECES - 1)];
        if (cached->hash == h && cached->n == n && !memcmp(cached->text, piece, n)) {
            if (out->cap - out->n < CACHE_IDS)
                xgrow(&out->id, &out->cap, out->n + CACHE_IDS, sizeof *out->id);
            memcpy(out->id + out->n, cached->id, sizeof cached->id);
            out->n += cached->n_ids;
            return;
        }
    }
    size_t first = out->n;
    int32_t whole = x->t->ignore_merges ? vocab_find(&x->t->vocab, piece, n) : -1;
    if (whole >= 0)
        token_list_add(out, whole);
    else
        merge_piece(x, piece, n);
    size_t n_ids = out->n - first;
    if (cached && n_ids <= CACHE_IDS) {
        cached->hash = h;
        cached->n = (unsigned char)n;
        cached->n_ids = (unsigned char)n_ids;
        memcpy(cached->text, piece, n);
        if (n_ids) /* else every character was dropped, and the list may be empty */
            memcpy(cached->id, out->id + first, n_ids * sizeof *cached->id);
    }
}

/* guard: two offsets, between which no special token is recognised; equal: no such range. */
typedef int gap_fn(struct encoder *x, const char *text, size_t n, const size_t guard[2]);

static int call_gap(struct encoder *x, gap_fn *gap, const char *text, size_t from, size_t to,
                    const size_t guard[2])
{
    size_t part[2];
    for (int i = 0; i < 2; i++)
        part[i] = guard[i] < from ? 0 : guard[i] > to ? to - from : guard[i] - from;
    return from < to ? gap(x, text + from, to - from, part) : 0;
}

/* Finds the tokens of a set in the text and calls gap() for what lies between them. */
static int at_added(struct encoder *x, const struct added_set *set, const char *text, size_t n,
                    const size_t guard[2], gap_fn *gap)
{
    size_t done = 0, at = 0;
    while (set->n) {
        while (at < n && !set->starts[(unsigned char)text[at]])
            at++;
        if (at == n)
            break;
        const struct added_token *token = added_at(set, text + at, n - at);
        if (!token) {
            at++;
            continue;
        }
        size_t from = at, to = at + token->n;
        at = to;
        if (token->special && guard[0] < guard[1] && from < guard[1] && to > guard[0]) {
            if (at > guard[1])
                at = guard[1]; /* text after the range is trusted: search on from there */
            continue;
        }
        if (!added_fits(token, text, n, done, &from, &to))
            continue;
        int rc = call_gap(x, gap, text, done, from, guard);
        if (rc)
            return rc;
        token_list_add(x->out, token->id);
        x->is_first = 0;
        done = to;
    }
    return call_gap(x, gap, text, done, n, guard);
}

static int split_gap(struct encoder *x, const char *text, size_t n, const size_t guard[2])
{
    (void)guard;
    int is_first = x->is_first;
    x->is_first = 0;
    return pretoken_split(&x->t->pretoken, &x->s->pretoken, text, n, is_first, encode_piece, x, x->e);
}

static int normalize_gap(struct encoder *x, const char *text, size_t n, const size_t guard[2])
{
    size_t moved[2] = {guard[0], guard[1]};
    x->is_first = text == x->start;
    if (normalizer_apply(&x->t->normalizer, text, n, x->s->normal, moved)) {
        text = str_text(&x->s->normal[0]);
        n = x->s->normal[0].len;
    }
    return at_added(x, &x->t->normalized, text, n, moved, split_gap);
}

static struct encode_scratch *open_scratch(struct tokenizer_scratch *scratch, const struct tokenizer *t)
{
    struct encode_scratch *s = scratch->state;
    if (!s) {
        s = scratch->state = xcalloc(1, sizeof *s);
        s->cache = xcalloc(CACHE_PIECES, sizeof *s->cache);
    } else if (s->owner != t->identity) {
        memset(s->cache, 0, CACHE_PIECES * sizeof *s->cache);
    }
    s->owner = t->identity;
    return s;
}

void tokenizer_scratch_release(struct tokenizer_scratch *scratch)
{
    struct encode_scratch *s = scratch->state;
    if (s) {
        pretoken_scratch_release(&s->pretoken);
        bpe_scratch_release(&s->bpe);
        str_release(&s->repaired);
        str_release(&s->normal[0]);
        str_release(&s->normal[1]);
        free(s->symbol);
        free(s->cache);
        free(s);
    }
    scratch->state = NULL;
}

int tokenizer_encode_guarded(const struct tokenizer *t, struct tokenizer_scratch *scratch, const char *text,
                             size_t n, size_t from, size_t to, struct token_list *out, struct err *e)
{
    if (n > TEXT_MAX)
        return err_set(e, ERR_USAGE, "a text of %zu bytes is too long for the tokenizer, which takes %d", n,
                       TEXT_MAX);
    if (t->splits_special) {
        from = 0;
        to = n;
    }
    struct encoder x = {.t = t, .s = open_scratch(scratch, t), .out = out, .e = e};
    size_t guard[2] = {from, to};
    if (!utf8_is_valid(text, n)) {
        /* Repairs part by part, so that the range is known in the repaired text too. */
        struct str *fixed = &x.s->repaired;
        str_clear(fixed);
        str_add_utf8(fixed, text, from);
        guard[0] = fixed->len;
        str_add_utf8(fixed, text + from, to - from);
        guard[1] = fixed->len;
        str_add_utf8(fixed, text + to, n - to);
        text = fixed->data;
        n = fixed->len;
    }
    x.start = text;
    return at_added(&x, &t->raw, text, n, guard, normalize_gap);
}

int tokenizer_encode(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                     int with_special, struct token_list *out, struct err *e)
{
    return tokenizer_encode_guarded(t, s, text, n, 0, with_special ? 0 : n, out, e);
}

int tokenizer_encode_plain(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                           size_t from, size_t to, struct token_list *out, struct err *e)
{
    for (size_t i = 0; i < t->before.n; i++)
        token_list_add(out, t->before.id[i]);
    int rc = tokenizer_encode_guarded(t, s, text, n, from, to, out, e);
    for (size_t i = 0; i < t->after.n && !rc; i++)
        token_list_add(out, t->after.id[i]);
    return rc;
}

size_t tokenizer_before(const struct tokenizer *t, const int32_t **ids)
{
    *ids = t->before.id;
    return t->before.n;
}
