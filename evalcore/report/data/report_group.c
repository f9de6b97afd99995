/* Means over groups of data sets (contract: report_group.h). */
#include "evalcore/report/data/report_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/report/data/report_match.h"

/* Sums over parts: the means, and the squared distances from each mean to the ends of its interval. */
struct part_sums {
    double mean, below, above;
    int n;
};

static void add_part(struct part_sums *s, double mean, struct interval ci)
{
    s->mean += mean;
    s->below += (mean - ci.low) * (mean - ci.low);
    s->above += (ci.high - mean) * (ci.high - mean);
    s->n++;
}

/* The interval of the mean: the parts' distances to their own ends are combined for each end apart (MOVER;
 * Zou and Donner 2008, Stat. Med. 27:1693). Where the parts solve nothing their intervals lie above the mean
 * alone. With one part it is that part's own interval. */
static struct group_mean finish_mean(const struct part_sums *s, int n, long missing)
{
    struct group_mean m = {NAN, {NAN, NAN}, n, missing};
    if (!s->n)
        return m;
    m.mean = s->mean / s->n;
    m.ci = (struct interval){m.mean - sqrt(s->below) / s->n, m.mean + sqrt(s->above) / s->n};
    return m;
}

struct group_mean group_mean(const struct report *r, int row, group_fn *is_in, int k)
{
    struct part_sums sums = {0};
    long missing = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (s->row != row || !is_in(s->cell, k))
            continue;
        missing += s->cell->n_expected - s->cell->n_records;
        if (s->cell->n_records)
            add_part(&sums, s->accuracy, s->ci);
    }
    return finish_mean(&sums, sums.n, missing);
}

struct group_mean group_mean_of(const struct group_mean *m, int n)
{
    struct part_sums sums = {0};
    long missing = 0;
    int n_sets = 0;
    for (int i = 0; i < n; i++) {
        missing += m[i].missing;
        n_sets += m[i].n;
        add_part(&sums, m[i].mean, m[i].ci);
    }
    return finish_mean(&sums, n_sets, missing);
}

static void compare_group(struct pair *out, const struct report *r, int row, const struct group *g, int key)
{
    struct matched m = match_begin();
    int *part = xcalloc((size_t)r->run->n_cells + 1, sizeof *part);
    for (int i = 0; i < r->run->n_cells; i++) {
        int base = r->run->cells[i].baseline;
        if (r->cells[i].row != row || base < 0 || base == i || !g->is_in(r->cells[i].cell, key))
            continue;
        part[m.n_added] = g->part ? g->part(r->cells[i].cell) : m.n_added;
        match_add(&m, &r->cells[base], &r->cells[i], NULL);
    }
    match_weigh(&m, part);
    match_compare(out, &m, r->run->margin / 100);
    out->a = out->b = -1;
    match_release(&m);
    free(part);
}

struct pair *group_pairs(const struct report *r, const struct group *g, const int *key, int n)
{
    size_t capacity = (size_t)(r->n_rows * n) + 1;
    struct pair *pairs = arena_alloc(r->arena, capacity * sizeof *pairs);
    int *family = xcalloc(capacity, sizeof *family);
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k < n; k++) {
            compare_group(&pairs[row * n + k], r, row, g, key[k]);
            family[row * n + k] = report_family(r, row) * n + k;
        }
    report_mark_pairs(pairs, r->n_rows * n, family, r->run->margin);
    free(family);
    return pairs;
}

/* ---- RULER by length. A length is the option "tokens" of the task. */

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

/* ---- LongBench by class. */

enum { SETS_MAX = 5 };

static const struct longbench_class {
    const char *name, *title, *sets[SETS_MAX]; /* ends with NULL */
} classes[LONGBENCH_CLASSES] = {
    {"longbench.sqa", "single-document QA", {"narrativeqa", "qasper", "multifieldqa_en", "multifieldqa_zh"}},
    {"longbench.mqa", "multi-document QA", {"hotpotqa", "2wikimqa", "musique", "dureader"}},
    {"longbench.summ", "summarization", {"gov_report", "qmsum", "multi_news", "vcsum"}},
    {"longbench.fewshot", "few-shot learning", {"trec", "triviaqa", "samsum", "lsht"}},
    {"longbench.synthetic", "synthetic", {"passage_count", "passage_retrieval_en", "passage_retrieval_zh"}},
    {"longbench.code", "code", {"lcc", "repobench-p"}},
};

const char *longbench_name(int k)
{
    return k < LONGBENCH_CLASSES ? classes[k].name : "longbench.avg";
}

const char *longbench_title(int k)
{
    return k < LONGBENCH_CLASSES ? classes[k].title : "average";
}

int longbench_find(const char *task)
{
    for (int k = 0; k < LONGBENCH_CLASSES; k++)
        if (!strcmp(classes[k].name, task))
            return k;
    return strcmp(task, longbench_name(LONGBENCH_CLASSES)) ? -1 : LONGBENCH_CLASSES;
}

int longbench_is_in(int k, const struct cell *c)
{
    const char *subset = c->task->n_problems ? c->task->problems[0].subset : NULL;
    if (strcmp(c->task->name, "longbench") || !subset)
        return 0;
    for (int i = 0; i < SETS_MAX && classes[k].sets[i]; i++)
        if (!strcmp(classes[k].sets[i], subset))
            return 1;
    return 0;
}

int longbench_is_there(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        for (int k = 0; k < LONGBENCH_CLASSES; k++)
            if (longbench_is_in(k, r->cells[i].cell))
                return 1;
    return 0;
}

/* Is the cell in one of the classes 0 to 5? */
static int is_in_class(const struct cell *c, int k)
{
    return longbench_is_in(k, c);
}

static int n_sets(int k)
{
    int n = 0;
    while (n < SETS_MAX && classes[k].sets[n])
        n++;
    return n;
}

struct longbench_mean longbench_mean(const struct report *r, int k, int row)
{
    struct group_mean m, each[LONGBENCH_CLASSES];
    int n = 0;
    if (k < LONGBENCH_CLASSES) {
        m = group_mean(r, row, is_in_class, k);
        return (struct longbench_mean){m.mean, m.ci, m.n, n_sets(k), m.missing};
    }
    for (int i = 0; i < LONGBENCH_CLASSES; i++) { /* a class without results makes mean and interval NaN */
        each[i] = group_mean(r, row, is_in_class, i);
        n += n_sets(i);
    }
    m = group_mean_of(each, LONGBENCH_CLASSES);
    if (m.missing)
        return (struct longbench_mean){NAN, {NAN, NAN}, m.n, n, m.missing};
    return (struct longbench_mean){m.mean, m.ci, m.n, n, 0};
}

static int is_in_class_or_all(const struct cell *c, int k)
{
    for (int i = 0; k == LONGBENCH_CLASSES && i < k; i++)
        if (longbench_is_in(i, c))
            return 1;
    return k < LONGBENCH_CLASSES && longbench_is_in(k, c);
}

static int class_of(const struct cell *c)
{
    int k = 0;
    while (k < LONGBENCH_CLASSES && !longbench_is_in(k, c))
        k++;
    return k;
}

static int has_every_class(const struct report *r, int row)
{
    unsigned seen = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row)
            seen |= 1U << class_of(r->cells[i].cell);
    return (seen & ((1U << LONGBENCH_CLASSES) - 1)) == (1U << LONGBENCH_CLASSES) - 1;
}

const struct pair *longbench_pairs(const struct report *r)
{
    int key[LONGBENCH_CLASSES + 1];
    for (int k = 0; k <= LONGBENCH_CLASSES; k++)
        key[k] = k;
    struct pair *pairs =
        group_pairs(r, &(struct group){is_in_class_or_all, class_of}, key, LONGBENCH_CLASSES + 1);
    struct matched nothing = match_begin();
    for (int row = 0; row < r->n_rows; row++)
        if (!has_every_class(r, row))
            match_compare(&pairs[row * (LONGBENCH_CLASSES + 1) + LONGBENCH_CLASSES], &nothing, NAN);
    match_release(&nothing);
    return pairs;
}
