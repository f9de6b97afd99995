#ifndef TASKS_OPTION_ORDER_H
#define TASKS_OPTION_ORDER_H

#include <stddef.h>

#include "tasks/python_random.h"

/* The order in which a multiple-choice record's four options stand at A to D: our own, or that of another
 * harness, bit for bit, so that its prompts can be repeated. Options are numbered 0 (correct), 1, 2, 3
 * (incorrect, as the file has them). */
enum option_rule {
    OPTIONS_BY_RECORD,    /* the record id's hash decides: no seed, whatever the other rows are */
    OPTIONS_SIMPLE_EVALS, /* simple-evals and gpt-oss: Random(0), sample(range(4), 4) of [0, 1, 2, 3] a row */
    OPTIONS_LIGHTEVAL,    /* Random(1234), 0 inserted into [1, 2, 3] at randint(0, 3) */
    OPTIONS_LM_EVAL,      /* lm-evaluation-harness: Random(0), shuffle of [1, 2, 3, 0] */
    OPTIONS_NEMO_SKILLS   /* Random(42), the same */
};
extern const char *const option_rule_names[]; /* ends with NULL */

struct option_order {
    enum option_rule rule;
    struct python_random random;
};
/* The draws go row by row: call option_order_next() for each row of the file, in its order. */
void option_order_init(struct option_order *o, enum option_rule rule);
void option_order_next(struct option_order *o, int order[4], const char *id, size_t n);

#endif
