/* Verdicts by the likelihoods of options (contract: option_grade.h), as lm-evaluation-harness 0.4 gives them
 * for its multiple choice: acc takes the largest sum of log-probabilities, acc_norm the largest such sum over
 * the length of the option's text. */
#include "evalcore/store/option_grade.h"

#include <math.h>
#include <string.h>

static const char *const names[OPTION_METRICS] = {"acc", "acc_norm"};

const char *option_metric_name(enum option_metric m)
{
    return names[m];
}

static enum option_metric find_metric(const char *name, size_t n)
{
    int m = 0;
    while (m < OPTION_METRICS && (strlen(names[m]) != n || memcmp(names[m], name, n)))
        m++;
    return (enum option_metric)m;
}

int option_metrics_read(const char *list, enum option_metric *first, enum option_metric *second)
{
    size_t n = strcspn(list, ",");
    *first = find_metric(list, n);
    *second = list[n] ? find_metric(list + n + 1, strlen(list + n + 1)) : OPTION_METRICS;
    return *first != OPTION_METRICS && (!list[n] || *second != OPTION_METRICS) && *first != *second;
}

int option_choose(const struct option_scores *s, const int *lengths, enum option_metric m)
{
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < s->n; i++) {
        double value = s->option[i].logprob;
        if (m == OPTION_ACC_NORM)
            value /= lengths[i];
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return best;
}

static int is_gold(const struct run_problem *p, int option)
{
    for (int i = 0; i < p->n_golds; i++)
        if (p->golds[i][0] == 'A' + option && !p->golds[i][1])
            return 1;
    return 0;
}

void option_grade(struct record *rec, const struct run_task *t, const struct run_problem *p, struct arena *a)
{
    enum option_metric first, second;
    struct str golds = {0};
    if (!rec->options || rec->options->n != p->n_options || !p->option_lengths ||
        !option_metrics_read(t->option_metrics, &first, &second)) {
        rec->options = NULL;
        rec->verdict = VERDICT_ERROR;
        rec->reason = "the record has no log-likelihood for each option";
        return;
    }
    int chosen = option_choose(rec->options, p->option_lengths, first);
    for (int i = 0; i < p->n_golds; i++)
        str_printf(&golds, "%s%s", i ? ", " : "", p->golds[i]);
    rec->verdict = is_gold(p, chosen) ? VERDICT_CORRECT : VERDICT_WRONG;
    rec->score = rec->verdict == VERDICT_CORRECT;
    rec->gold_form = arena_strdup(a, str_text(&golds));
    rec->pred_form = arena_printf(a, "%c", 'A' + chosen);
    if (second != OPTION_METRICS)
        rec->second = is_gold(p, option_choose(rec->options, p->option_lengths, second));
    str_release(&golds);
}
