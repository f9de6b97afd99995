/* The merge loop. Nearly all pieces have a few bytes: for these it scans the ranks for the lowest and closes
 * the gap. For long pieces it keeps candidates in a binary heap and symbols in a linked list, since a
 * megabyte without a space must not take quadratic time. Both ways merge in the same order: the lowest rank
 * first, and the leftmost of equals. */
#include "engine/text/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

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
    size_t slots = 64;
    while (slots < 3 * n_merges)
        slots *= 2;
    b->pair = xmalloc(slots * sizeof *b->pair);
    b->mask = slots - 1;
    for (size_t i = 0; i < slots; i++)
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

/* The slot of a pair; when the pair does not merge, a slot with rank NO_RANK. */
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
