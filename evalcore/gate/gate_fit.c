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
        if (needs_replays && !s->unscored && !is_replayed(s, x->setting))
            return err_set(e, ERR_USAGE,
                           "%s is no baseline: it keeps no replay under \"%s\"; make it again with kveval "
                           "gate --rebaseline",
                           s->path, x->setting);
    }
    return 0;
}

static int is_full(const struct gate_cell *c)
{
    json_t *policy = json_loads(c->policy, 0, NULL);
    const char *name = json_string_value(json_object_get(policy, "name"));
    int yes = name && !strcmp(name, "full");
    json_decref(policy);
    return yes;
}

int gate_fit_reads(const struct gate_side *s, struct err *e)
{
    for (int c = 0; c < s->n_cells && !gate_is_served(s); c++) {
        double reads = 0, full = 0;
        for (int i = 0; i < s->n_replays; i++)
            if (!strcmp(s->replays[i].setting, s->cells[c].setting)) {
                reads += s->replays[i].kv.reads;
                full += s->replays[i].kv.reads_full;
            }
        if (!(reads < full) && !is_full(&s->cells[c]))
            return err_set(e, ERR_USAGE,
                           "the replays under \"%s\" read every token, so they would not show a change of "
                           "its selection; give it a smaller budget, or the tasks longer prompts",
                           s->cells[c].setting);
    }
    return 0;
}

void gate_fit_margin(struct gate_result *r, int is_last, struct arena *a)
{
    for (int i = 0; i < r->n_settings; i++) {
        struct gate_setting *s = &r->settings[i];
        if (!s->n_looks || s->verdict == GATE_REGRESSION || s->verdict == GATE_ERROR)
            continue;
        double base = 100 * s->look[s->n_looks - 1].base, chance = 100 * s->look[s->n_looks - 1].chance;
        if (base - chance > r->margin)
            continue;
        s->verdict = is_last ? GATE_INCONCLUSIVE : GATE_OPEN; /* more samples may show that it is lower */
        s->why = arena_printf(
            a, "no loss could be shown: the baseline solves %.1f %%, %s%g points may be lost", base,
            chance > 0 ? arena_printf(a, "guessing %.1f %%, and ", chance) : "and ", r->margin);
    }
}
