/* The BPE model of a tokenizer: lists of ids, the vocabulary and the merges.
 *
 * Nearly all pieces have a few bytes: for these the merge loop scans the ranks for the lowest and closes the
 * gap. For long pieces it keeps candidates in a binary heap and symbols in a linked list, since a megabyte
 * without a space must not take quadratic time. Both merge in the same order: the lowest rank first, and the
 * leftmost of equals. */
#include <stdlib.h>
#include <string.h>

#include "engine/text/tokenizer_parts.h"
#include "engine/text/unicode.h"
#include "evalcore/base/arena.h"

void token_list_add(struct token_list *l, int32_t id)
{
    if (l->n == l->cap)
        xgrow(&l->id, &l->cap, l->n + 1, sizeof *l->id);
    l->id[l->n++] = id;
}

void token_list_release(struct token_list *l)
{
    free(l->id);
    *l = (struct token_list){0};
}

/* ---- the vocabulary: reads GPT-2's printable names of bytes, and finds ids by bytes in a hash table
 *
 * Some byte-level files list special tokens whose names have characters that stand for no byte. The text of
 * such a token is its name, and no text can become it by merging. */

/* The byte that a character stands for, or -1. Printable Latin-1 characters stand for themselves; the 68
 * other bytes are written as U+0100 and the characters after it, in order. */
static int byte_of(int32_t c)
{
    if ((c >= 33 && c <= 126) || (c >= 161 && c <= 172) || (c >= 174 && c <= 255))
        return c;
    if (c < 256 || c >= 256 + 68)
        return -1;
    int k = c - 256;
    return k < 33 ? k : k < 67 ? k - 33 + 127 : 173;
}

static uint64_t hash_bytes(const char *p, size_t n)
{
    uint64_t h = n * UINT64_C(0x9E3779B97F4A7C15);
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    uint64_t x = 0;
    memcpy(&x, p, n);
    h = (h ^ x) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

int32_t vocab_find(const struct vocab *v, const char *bytes, size_t n)
{
    if (!v->bucket)
        return -1;
    for (uint64_t i = hash_bytes(bytes, n) & v->mask; v->bucket[i] >= 0; i = (i + 1) & v->mask) {
        const struct vocab_entry *t = &v->entry[v->bucket[i]];
        if (t->n == n && !memcmp(v->text.data + t->at, bytes, n))
            return v->bucket[i];
    }
    return -1;
}

static void reserve_id(struct vocab *v, int32_t id)
{
    if (id < v->size)
        return;
    xgrow(&v->entry, &v->cap, (size_t)id + 1, sizeof *v->entry);
    for (int32_t i = v->size; i <= id; i++)
        v->entry[i] = (struct vocab_entry){0};
    v->size = id + 1;
}

static void put_entry(struct vocab *v, int32_t id, const char *text, size_t n, enum vocab_kind kind)
{
    reserve_id(v, id);
    v->entry[id] = (struct vocab_entry){.at = (uint32_t)v->text.len, .n = (uint32_t)n, .kind = kind};
    str_add(&v->text, text, n);
}

/* Turns the name of a token into bytes; 0 when a character of it stands for no byte. */
static int read_name(const char *name, size_t n, struct str *bytes)
{
    str_clear(bytes);
    for (size_t at = 0, step; at < n; at += step) {
        int byte = byte_of(utf8_after(name, n, at, &step));
        if (byte < 0)
            return 0;
        str_putc(bytes, (char)byte);
    }
    return 1;
}

static int read_entries(struct vocab *v, const json_t *spec, int is_byte_level, const char *what,
                        struct err *e)
{
    struct str bytes = {0};
    const char *name;
    json_t *id;
    int rc = 0;
    json_object_foreach((json_t *)spec, name, id)
    {
        json_int_t k = json_integer_value(id);
        if (!json_is_integer(id) || k < 0 || k >= VOCAB_IDS_MAX) {
            rc =
                err_set(e, ERR_FORMAT, "%s: model.vocab: the id of \"%.60s\" must be an integer from 0 to %d",
                        what, name, VOCAB_IDS_MAX - 1);
            break;
        }
        if (!*name)
            continue; /* an empty token can never occur */
        if (k < v->size && v->entry[k].kind != VOCAB_NONE) {
            rc = err_set(e, ERR_FORMAT, "%s: model.vocab: two tokens have the id %lld, one is \"%.60s\"",
                         what, (long long)k, name);
            break;
        }
        if (v->text.len > (1u << 30)) {
            rc = err_set(e, ERR_UNSUPPORTED, "%s: model.vocab holds more than 1 GiB of text", what);
            break;
        }
        int named = is_byte_level && read_name(name, strlen(name), &bytes);
        put_entry(v, (int32_t)k, named ? bytes.data : name, named ? bytes.len : strlen(name),
                  named || !is_byte_level ? VOCAB_BYTES : VOCAB_RAW);
    }
    str_release(&bytes);
    return rc;
}

static void index_bytes(struct vocab *v)
{
    uint64_t n_buckets = 64;
    while (n_buckets < 2 * (uint64_t)v->size)
        n_buckets *= 2;
    v->mask = n_buckets - 1;
    v->bucket = xmalloc(n_buckets * sizeof *v->bucket);
    for (uint64_t i = 0; i < n_buckets; i++)
        v->bucket[i] = -1;
    for (int32_t id = 0; id < v->size; id++) {
        if (v->entry[id].kind != VOCAB_BYTES)
            continue;
        uint64_t i = hash_bytes(v->text.data + v->entry[id].at, v->entry[id].n) & v->mask;
        while (v->bucket[i] >= 0)
            i = (i + 1) & v->mask;
        v->bucket[i] = id;
    }
}

int vocab_open(struct vocab *v, const json_t *spec, int is_byte_level, const char *what, struct err *e)
{
    *v = (struct vocab){0};
    if (!json_is_object(spec))
        return err_set(e, ERR_FORMAT, "%s: field \"model.vocab\" must be an object of tokens and ids", what);
    int rc = read_entries(v, spec, is_byte_level, what, e);
    if (!rc)
        index_bytes(v);
    return rc;
}

void vocab_put_added(struct vocab *v, int32_t id, const char *text, size_t n, int special)
{
    put_entry(v, id, text, n, special ? VOCAB_SPECIAL : VOCAB_ADDED);
}

void vocab_close(struct vocab *v)
{
    free(v->entry);
    free(v->bucket);
    str_release(&v->text);
    *v = (struct vocab){0};
}

/* ---- merges */

enum { SCAN_SYMBOLS = 96 };
#define NO_RANK UINT32_MAX

static uint64_t mix_bits(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

void bpe_init(struct bpe *b, size_t n_merges)
{
    size_t n_buckets = 64;
    while (n_buckets < 3 * n_merges)
        n_buckets *= 2;
    b->pair = xmalloc(n_buckets * sizeof *b->pair);
    b->mask = n_buckets - 1;
    for (size_t i = 0; i < n_buckets; i++)
        b->pair[i] = (struct bpe_pair){.key = UINT64_MAX, .rank = NO_RANK};
}

void bpe_release(struct bpe *b)
{
    free(b->pair);
    *b = (struct bpe){0};
}

void bpe_add(struct bpe *b, uint32_t left, uint32_t right, uint32_t rank, uint32_t merged)
{
    uint64_t key = (uint64_t)left << 32 | right, i = mix_bits(key) & b->mask;
    while (b->pair[i].key != UINT64_MAX && b->pair[i].key != key)
        i = (i + 1) & b->mask;
    b->pair[i] = (struct bpe_pair){key, rank, merged};
}

/* The entry of a pair; if the pair does not merge, one with rank NO_RANK. */
static const struct bpe_pair *find_pair(const struct bpe *b, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 32 | right, i = mix_bits(key) & b->mask;
    while (b->pair[i].key != key && b->pair[i].key != UINT64_MAX)
        i = (i + 1) & b->mask;
    return &b->pair[i];
}

static void merge_by_scan(const struct bpe *b, const uint32_t *symbol, int n, struct token_list *out)
{
    uint32_t id[SCAN_SYMBOLS], rank[SCAN_SYMBOLS], merged[SCAN_SYMBOLS]; /* of the pair that starts here */
    for (int i = 0; i < n; i++)
        id[i] = symbol[i];
    for (int i = 0; i + 1 < n; i++) {
        const struct bpe_pair *p = find_pair(b, id[i], id[i + 1]);
        rank[i] = p->rank;
        merged[i] = p->merged;
    }
    while (n > 1) {
        int best = 0;
        for (int i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best])
                best = i;
        if (rank[best] == NO_RANK)
            break;
        id[best] = merged[best];
        for (int i = best + 1; i + 1 < n; i++) {
            id[i] = id[i + 1];
            rank[i] = rank[i + 1];
            merged[i] = merged[i + 1];
        }
        n--;
        for (int i = best > 0 ? best - 1 : 0; i <= best && i + 1 < n; i++) {
            const struct bpe_pair *p = find_pair(b, id[i], id[i + 1]);
            rank[i] = p->rank;
            merged[i] = p->merged;
        }
    }
    for (int i = 0; i < n; i++)
        token_list_add(out, (int32_t)id[i]);
}

struct symbol {
    uint32_t id, rank, merged; /* rank and merged: of the pair (this, next) */
    uint32_t before, next;     /* positions; next == n: the last */
};

static void sift_down(uint64_t *heap, size_t n, size_t i)
{
    uint64_t x = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= x)
            break;
        heap[i] = heap[child];
    }
    heap[i] = x;
}

static void sift_up(uint64_t *heap, size_t i)
{
    uint64_t x = heap[i];
    for (; i > 0 && heap[(i - 1) / 2] > x; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

static int look_up(const struct bpe *b, struct symbol *s, uint32_t at, uint32_t n)
{
    s[at].rank = NO_RANK;
    if (s[at].next == n)
        return 0;
    const struct bpe_pair *p = find_pair(b, s[at].id, s[s[at].next].id);
    s[at].rank = p->rank;
    s[at].merged = p->merged;
    return p->rank != NO_RANK;
}

static void merge_by_heap(const struct bpe *b, struct bpe_scratch *scratch, const uint32_t *symbol,
                          uint32_t n, struct token_list *out)
{
    /* Each merge takes one entry off the heap and adds at most two, so there are never more than 2n. */
    size_t bytes = n * (sizeof(struct symbol) + 2 * sizeof(uint64_t));
    if (bytes > scratch->bytes) {
        free(scratch->memory);
        scratch->memory = xmalloc(bytes);
        scratch->bytes = bytes;
    }
    uint64_t *heap = scratch->memory; /* rank << 32 | position: the order in which merges happen */
    struct symbol *s = (struct symbol *)(heap + 2 * (size_t)n);
    size_t m = 0;
    for (uint32_t i = 0; i < n; i++)
        s[i] = (struct symbol){.id = symbol[i], .before = i - 1, .next = i + 1};
    for (uint32_t i = 0; i < n; i++)
        if (look_up(b, s, i, n))
            heap[m++] = (uint64_t)s[i].rank << 32 | i;
    for (size_t i = m / 2; i-- > 0;)
        sift_down(heap, m, i);
    while (m > 0) {
        uint32_t at = (uint32_t)heap[0], rank = (uint32_t)(heap[0] >> 32);
        heap[0] = heap[--m];
        if (m > 0)
            sift_down(heap, m, 0);
        if (s[at].rank != rank) /* a neighbour was merged meanwhile */
            continue;
        uint32_t gone = s[at].next;
        s[at].id = s[at].merged;
        s[at].next = s[gone].next;
        s[gone].rank = NO_RANK;
        if (s[at].next < n)
            s[s[at].next].before = at;
        for (uint32_t k = 0, i = at; k < 2 && i < n; k++, i = s[at].before)
            if (look_up(b, s, i, n)) {
                heap[m] = (uint64_t)s[i].rank << 32 | i;
                sift_up(heap, m++);
            }
    }
    for (uint32_t i = 0; i < n; i = s[i].next)
        token_list_add(out, (int32_t)s[i].id);
}

void bpe_merge(const struct bpe *b, struct bpe_scratch *s, const uint32_t *symbol, size_t n,
               struct token_list *out)
{
    if (n <= SCAN_SYMBOLS)
        merge_by_scan(b, symbol, (int)n, out);
    else
        merge_by_heap(b, s, symbol, (uint32_t)n, out);
}

void bpe_scratch_release(struct bpe_scratch *s)
{
    free(s->memory);
    *s = (struct bpe_scratch){0};
}
