/* What can be wrong with prompts once they are ids (contract: runplan_parts.h). */
#include "evalcore/plan/runplan_parts.h"

#include <string.h>

#include "evalcore/store/job_key.h"

int runplan_check_vocabulary(const struct prompt_set *s, const struct loaded_model *loaded, struct err *e)
{
    for (size_t q = 0; q < s->task.n_problems; q++) {
        size_t end = q + 1 < s->task.n_problems ? s->rows[q + 1].first : s->ids.n;
        for (size_t k = s->rows[q].first; k < end; k++)
            if (s->ids.id[k] < 0 || s->ids.id[k] >= loaded->info.vocab)
                return err_set(e, ERR_USAGE,
                               "%s, problem %s: the prompt has the token %d, and config.json of %s has a "
                               "vocabulary of %d; tokenizer.json and config.json are not of the same model: "
                               "get both anew",
                               s->label, s->task.problems[q].id, (int)s->ids.id[k], loaded->options.model,
                               loaded->info.vocab);
    }
    return 0;
}

int runplan_check_overlap(const struct prompt_set *const *sets, int n, struct err *e)
{
    struct keymap seen = {0};
    int rc = 0;
    for (int i = 0; i < n && !rc; i++) {
        if (task_is_text(sets[i]->task.ops->metric))
            continue; /* no verdict is over texts */
        for (size_t q = 0; q < sets[i]->task.n_problems && !rc; q++) {
            char key[JOB_KEY_HEX + 1]; /* as much of the prompt's hash tells prompts apart as it does jobs */
            memcpy(key, sets[i]->rows[q].sha256, JOB_KEY_HEX);
            key[JOB_KEY_HEX] = 0;
            long first = keymap_add(&seen, key, i);
            if (first != i)
                rc = err_set(e, ERR_USAGE,
                             "tasks \"%s\" and \"%s\" both ask problem %s, which would count twice where the "
                             "problems of all tasks are taken together; keep one of them (--tasks), or give "
                             "each a run folder of its own",
                             sets[first]->label, sets[i]->label, sets[i]->task.problems[q].id);
        }
    }
    keymap_release(&seen);
    return rc;
}
