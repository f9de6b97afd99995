/* Whether a side is fit to be a baseline (contract: gate.h): what is broken in it would pass every night. */
#include <string.h>

#include "evalcore/gate/gate.h"

static int is_replayed(const struct gate_side *s, const char *setting)
{
    for (int i = 0; i < s->n_replays; i++)
        if (s->replays[i].n > 0 && !strcmp(s->replays[i].setting, setting))
            return 1;
    return 0;
}

int gate_fit(const struct gate_side *s, int needs_replays, struct err *e)
{
    for (int c = 0; c < s->n_cells; c++) {
        const struct gate_cell *x = &s->cells[c];
        long errors = 0;
        for (int i = 0; i < x->n_problems; i++)
            errors += x->problems[i].all.errors;
        if (errors)
            return err_set(e, ERR_USAGE,
                           "%s is no baseline: %ld answers of \"%s\" on task %s failed or could not be "
                           "graded; mend that and decode it again in a new folder",
                           s->path, errors, x->setting, x->task);
        if (needs_replays && !is_replayed(s, x->setting))
            return err_set(e, ERR_USAGE,
                           "%s is no baseline: it keeps no replay under \"%s\"; make it again with kveval "
                           "gate --rebaseline",
                           s->path, x->setting);
    }
    return 0;
}
