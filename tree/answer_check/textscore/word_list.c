/* Lists of words and their numbers (contract: word_list.h). */
#include "answer_check/textscore/word_list.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

void word_list_end(struct word_list *l)
{
    xgrow(&l->end, &l->cap, l->n + 1, sizeof *l->end);
    l->end[l->n++] = l->text.len;
}

void word_list_add(struct word_list *l, const char *s, size_t n)
{
    str_add(&l->text, s, n);
    word_list_end(l);
}

void word_list_release(struct word_list *l)
{
    str_release(&l->text);
    free(l->end);
    *l = (struct word_list){0};
}

const char *word_at(const struct word_list *l, size_t i, size_t *n)
{
    size_t start = i ? l->end[i - 1] : 0;
    *n = l->end[i] - start;
    return str_text(&l->text) + start;
}

struct ranked {
    const char *s;
    size_t n, at;
};

static int compare_ranked(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    size_t n = a->n < b->n ? a->n : b->n;
    int d = n ? memcmp(a->s, b->s, n) : 0;
    return d ? d : (a->n > b->n) - (a->n < b->n);
}

uint32_t *word_numbers(const struct word_list *a, const struct word_list *b, size_t *n_distinct)
{
    size_t n = a->n + b->n, distinct = 0;
    struct ranked *r = xmalloc((n + 1) * sizeof *r);
    uint32_t *number = xmalloc((n + 1) * sizeof *number);
    for (size_t i = 0; i < n; i++) {
        r[i].s = i < a->n ? word_at(a, i, &r[i].n) : word_at(b, i - a->n, &r[i].n);
        r[i].at = i;
    }
    qsort(r, n, sizeof *r, compare_ranked);
    for (size_t i = 0; i < n; i++) {
        distinct += !i || compare_ranked(&r[i - 1], &r[i]);
        number[r[i].at] = (uint32_t)(distinct - 1);
    }
    free(r);
    *n_distinct = distinct;
    return number;
}
