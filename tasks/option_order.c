/* Orders of options (contract: option_order.h). The rules of the other harnesses were read in their sources
 * and compared with 198 orders of each made by Python. */
#include "tasks/option_order.h"

#include <string.h>

#include "evalcore/base/hash.h"

const char *const option_rule_names[] = {"record",  "simple-evals", "lighteval",
                                         "lm-eval", "nemo-skills",  NULL};

void option_order_init(struct option_order *o, enum option_rule rule)
{
    static const uint32_t seeds[] = {0, 0, 1234, 0, 42};
    o->rule = rule;
    python_random_seed(&o->random, seeds[rule]);
}

/* The h-th of the 24 permutations, by choosing in turn from what is left. */
static void by_record(int order[4], const char *id, size_t n_id)
{
    uint64_t h = hash_bytes64(id, n_id) % 24;
    int left[4] = {0, 1, 2, 3};
    for (int n = 4; n > 0; n--) {
        int k = (int)(h % (uint64_t)n);
        h /= (uint64_t)n;
        order[4 - n] = left[k];
        memmove(left + k, left + k + 1, (size_t)(n - 1 - k) * sizeof *left);
    }
}

void option_order_next(struct option_order *o, int order[4], const char *id, size_t n)
{
    static const int correct_last[4] = {1, 2, 3, 0};
    int at;
    switch (o->rule) {
    case OPTIONS_BY_RECORD:
        by_record(order, id, n);
        break;
    case OPTIONS_SIMPLE_EVALS:
        python_random_sample(&o->random, order, 4);
        break;
    case OPTIONS_LIGHTEVAL:
        at = python_random_below(&o->random, 4);
        for (int i = 0, wrong = 1; i < 4; i++)
            order[i] = i == at ? 0 : wrong++;
        break;
    case OPTIONS_LM_EVAL:
    case OPTIONS_NEMO_SKILLS:
        memcpy(order, correct_last, sizeof correct_last);
        python_random_shuffle(&o->random, order, 4);
        break;
    }
}
