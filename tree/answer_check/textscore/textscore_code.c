/* LongBench's code_sim_score: the first line of the prediction that looks like code against the reference,
 * by fuzzywuzzy's fuzz.ratio, a whole percentage. Its definition depends on which other packages are
 * installed, so both variants are here:
 *
 * - difflib (default): 2 M / T of Python's SequenceMatcher, which takes the longest common block (of equal
 * ones the first in the prediction, then in the reference) and goes on to its left and to its right (Ratcliff
 * and Obershelp). Its heuristic is included: in a reference of 200 characters or more, a character that makes
 * up more than 1 % of it, plus one, may prolong a block but not begin one.
 * - indel: 2 LCS / T, as with python-Levenshtein. */
#include "answer_check/text/code_points.h"
#include "answer_check/textscore/textscore_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first line, after leading line ends, without a backtick, a # and a // ; empty when there is none. */
static void code_line(const char **line, size_t *n_line, const char *s, size_t n)
{
    const char *end = s + n;
    while (s < end && *s == '\n')
        s++;
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        size_t len = (size_t)((stop ? stop : end) - s);
        if (!memchr(s, '`', len) && !memchr(s, '#', len) && !memmem(s, len, "//", 2)) {
            *line = s;
            *n_line = len;
            return;
        }
        s += len + 1;
    }
    *line = "";
    *n_line = 0;
}

struct char_place { /* a character of the reference */
    int32_t c;
    uint32_t at;
};

struct matcher {
    const struct code_points *a, *b;
    struct char_place *sorted; /* b's characters, by character, then place */
    uint32_t *first, *past;    /* for each character of a its places in sorted; none when it is popular */
    uint32_t *length,
        *above;   /* lengths of the blocks that end before place j, 0..b->n, in this row and the last */
    size_t steps; /* left */
};

struct piece { /* a[alo..ahi) against b[blo..bhi) */
    size_t alo, ahi, blo, bhi;
};
struct block {
    size_t i, j, size;
};

static int compare_places(const void *pa, const void *pb)
{
    const struct char_place *a = pa, *b = pb;
    return a->c != b->c ? (a->c > b->c) - (a->c < b->c) : (a->at > b->at) - (a->at < b->at);
}

/* The first index of sorted[lo..hi) whose (c, at) is not below the one given. */
static uint32_t lower_bound(const struct matcher *m, uint32_t lo, uint32_t hi, struct char_place key)
{
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (compare_places(&m->sorted[mid], &key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Sorts b's characters and looks up those of a; release it with matcher_release(). */
static void matcher_init(struct matcher *m, const struct code_points *a, const struct code_points *b)
{
    uint32_t n = (uint32_t)b->n;
    *m = (struct matcher){.a = a, .b = b, .steps = TEXTSCORE_STEPS_MAX};
    m->sorted = xmalloc((b->n + 1) * sizeof *m->sorted);
    m->first = xmalloc((a->n + 1) * sizeof *m->first);
    m->past = xmalloc((a->n + 1) * sizeof *m->past);
    m->length = xcalloc(b->n + 1, sizeof *m->length);
    m->above = xcalloc(b->n + 1, sizeof *m->above);
    for (uint32_t j = 0; j < n; j++)
        m->sorted[j] = (struct char_place){b->c[j], j};
    qsort(m->sorted, n, sizeof *m->sorted, compare_places);
    for (size_t i = 0; i < a->n; i++) {
        m->first[i] = lower_bound(m, 0, n, (struct char_place){a->c[i], 0});
        m->past[i] = lower_bound(m, m->first[i], n, (struct char_place){a->c[i] + 1, 0});
        if (n >= 200 && m->past[i] - m->first[i] > n / 100 + 1)
            m->past[i] = m->first[i];
    }
}

static void matcher_release(struct matcher *m)
{
    free(m->sorted);
    free(m->first);
    free(m->past);
    free(m->length);
    free(m->above);
}

/* The longest block of a piece; 0 when the steps are used up. */
static int longest_block(struct matcher *m, struct piece p, struct block *best)
{
    const int32_t *a = m->a->c, *b = m->b->c;
    *best = (struct block){p.alo, p.blo, 0};
    for (size_t i = p.alo; i <= p.ahi; i++) {
        uint32_t *swap = m->above;
        if (i > p.alo + 1) /* clears what the row before last left; after the last row both are cleared */
            for (uint32_t k = m->first[i - 2]; k < m->past[i - 2]; k++)
                m->above[m->sorted[k].at + 1] = 0;
        m->above = m->length;
        m->length = swap;
        if (i == p.ahi)
            break;
        uint32_t k = lower_bound(m, m->first[i], m->past[i], (struct char_place){a[i], (uint32_t)p.blo});
        size_t spent = 1 + (size_t)(m->past[i] - m->first[i]);
        if (spent > m->steps)
            return 0;
        m->steps -= spent;
        for (; k < m->past[i] && m->sorted[k].at < p.bhi; k++) {
            size_t j = m->sorted[k].at;
            uint32_t size = m->length[j + 1] = m->above[j] + 1;
            if (size > best->size)
                *best = (struct block){i + 1 - size, j + 1 - size, size};
        }
    }
    if (p.ahi > p.alo)
        for (uint32_t k = m->first[p.ahi - 1]; k < m->past[p.ahi - 1]; k++)
            m->above[m->sorted[k].at + 1] = 0;
    for (; best->i > p.alo && best->j > p.blo && a[best->i - 1] == b[best->j - 1]; best->size++) {
        best->i--;
        best->j--;
    }
    while (best->i + best->size < p.ahi && best->j + best->size < p.bhi &&
           a[best->i + best->size] == b[best->j + best->size])
        best->size++;
    return 1;
}

/* The number of characters in common blocks; -1 when it takes too long. */
static long count_matching(const struct code_points *a, const struct code_points *b)
{
    struct matcher m;
    struct piece *todo = NULL;
    size_t n = 0, cap = 0;
    long sum = 0;
    matcher_init(&m, a, b);
    xgrow(&todo, &cap, 1, sizeof *todo);
    todo[n++] = (struct piece){0, a->n, 0, b->n};
    while (n) {
        struct piece p = todo[--n];
        struct block x;
        if (!longest_block(&m, p, &x)) {
            sum = -1;
            break;
        }
        size_t i = x.i + x.size, j = x.j + x.size;
        sum += (long)x.size;
        xgrow(&todo, &cap, n + 2, sizeof *todo);
        if (x.size && p.alo < x.i && p.blo < x.j)
            todo[n++] = (struct piece){p.alo, x.i, p.blo, x.j};
        if (x.size && i < p.ahi && j < p.bhi)
            todo[n++] = (struct piece){i, p.ahi, j, p.bhi};
    }
    free(todo);
    matcher_release(&m);
    return sum;
}

/* Length of the longest common subsequence; -1 when it takes too long. */
static long common_subsequence(const struct code_points *a, const struct code_points *b)
{
    size_t start = 0, na = a->n, nb = b->n;
    while (start < na && start < nb && a->c[start] == b->c[start])
        start++;
    while (na > start && nb > start && a->c[na - 1] == b->c[nb - 1]) {
        na--;
        nb--;
    }
    size_t same = start + a->n - na;
    if (nb > start && na - start > TEXTSCORE_STEPS_MAX / (nb - start))
        return -1;
    uint32_t *row = xcalloc(nb - start + 1, sizeof *row);
    for (size_t i = start; i < na; i++) {
        uint32_t diagonal = 0;
        for (size_t j = 0; j < nb - start; j++) {
            uint32_t above = row[j + 1];
            row[j + 1] = a->c[i] == b->c[start + j] ? diagonal + 1 : above > row[j] ? above : row[j];
            diagonal = above;
        }
    }
    same += row[nb - start];
    free(row);
    return (long)same;
}

/* fuzz.ratio / 100: equal texts, empty ones too, are 1, else an empty one is 0; the percentage is rounded as
 * Python rounds, half to even. */
int score_code_sim(double *out, const struct textscore_call *c, struct err *e)
{
    int indel = c->variant && !strcmp(c->variant, "indel");
    const char *line;
    size_t n;
    if (c->variant && !indel && strcmp(c->variant, "difflib"))
        return err_set(e, ERR_FORMAT, "code_sim_score has the variants difflib and indel, not \"%.40s\"",
                       c->variant);
    struct code_points a, b;
    code_line(&line, &n, c->pred, c->pred_len);
    code_points_of(&a, line, n);
    code_points_of(&b, c->gold, c->gold_len);
    int rc = 0;
    if (a.n == b.n && !memcmp(a.c, b.c, a.n * sizeof *a.c)) {
        *out = 1;
    } else if (!a.n || !b.n) {
        *out = 0;
    } else {
        long same = indel ? common_subsequence(&a, &b) : count_matching(&a, &b);
        *out = nearbyint(100 * (2.0 * (double)same / (double)(a.n + b.n))) / 100;
        rc = same < 0 ? textscore_too_long(c, e) : 0;
    }
    code_points_release(&a);
    code_points_release(&b);
    return rc;
}
