/* RULER by length (contract: report_ruler.h). A length is the option "tokens" of the task. */
#include "evalcore/report/data/report_ruler.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/json.h"

/* 0: no task of RULER's. */
static int tokens_of(const struct cell *c)
{
    struct err e = {0};
    json_t *options = NULL;
    if (strcmp(c->task->name, "ruler") ||
        json_read_text(&options, c->task->options, strlen(c->task->options), "options", &e))
        return 0;
    int tokens = (int)json_integer_value(json_object_get(options, "tokens"));
    json_decref(options);
    return tokens;
}

static int has_length(const struct cell *c, int tokens)
{
    return tokens_of(c) == tokens;
}

static int compare_lengths(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

const int *ruler_lengths(const struct report *r, int *n)
{
    int *all = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *all);
    *n = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        int tokens = tokens_of(&r->run->cells[i]), k = 0;
        while (k < *n && all[k] != tokens)
            k++;
        if (tokens && k == *n)
            all[(*n)++] = tokens;
    }
    qsort(all, (size_t)*n, sizeof *all, compare_lengths);
    return all;
}

int ruler_is_there(const struct report *r)
{
    int n;
    ruler_lengths(r, &n);
    return n > 0;
}

struct group_mean ruler_mean(const struct report *r, int row, int tokens)
{
    return group_mean(r, row, has_length, tokens);
}

const struct pair *ruler_pairs(const struct report *r)
{
    int n;
    const int *lengths = ruler_lengths(r, &n);
    return group_pairs(r, &(struct group){has_length, NULL}, lengths, n);
}
