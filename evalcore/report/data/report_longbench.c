/* LongBench by class (contract: report_longbench.h). */
#include "evalcore/report/data/report_longbench.h"

#include <math.h>
#include <string.h>

#include "evalcore/report/data/report_group.h"
#include "evalcore/report/data/report_match.h"

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

/* Of the classes 0 to 5. */
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
