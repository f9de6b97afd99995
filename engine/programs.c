/* Recorded decode steps, one for each shape of a batch: its policies and the rows of each, rounded up. The
 * least recently used is discarded first. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"

/* Every number up to 8, then multiples of 2, then of 4. */
int programs_bucket(int n)
{
    return n <= 8 ? n : n <= 16 ? (n + 1) / 2 * 2 : (n + 3) / 4 * 4;
}

static void program_release(struct engine *en, struct cached_program *p)
{
    en->be->program_release(en->dev, p->program);
    free(p->group);
    memset(p, 0, sizeof *p);
}

void programs_clear(struct engine *en)
{
    for (int i = 0; i < en->n_programs; i++)
        program_release(en, &en->programs[i]);
    en->n_programs = 0;
}

static int same_shape(const struct cached_program *p, const struct step_group *g, int n)
{
    if (p->n_groups != n)
        return 0;
    for (int i = 0; i < n; i++)
        if (p->group[i].policy != g[i].policy || p->group[i].cap != g[i].cap)
            return 0;
    return 1;
}

struct program *programs_get(struct engine *en, const struct step_group *g, int n_groups, int n_rows,
                             struct err *e)
{
    struct cached_program *p = NULL, *oldest = NULL;
    for (int i = 0; i < en->n_programs; i++) {
        if (same_shape(&en->programs[i], g, n_groups))
            p = &en->programs[i];
        if (!oldest || en->programs[i].used < oldest->used)
            oldest = &en->programs[i];
    }
    if (!p) {
        if (en->n_programs < MAX_PROGRAMS) {
            p = &en->programs[en->n_programs++];
        } else {
            p = oldest;
            program_release(en, p);
        }
        p->group = xmalloc((size_t)n_groups * sizeof *g);
        memcpy(p->group, g, (size_t)n_groups * sizeof *g);
        p->n_groups = n_groups;
        p->n_rows = n_rows;
        if (en->be->record_begin(en->dev) < 0)
            err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
        transformer_step(&en->tf, g, n_groups, n_rows, e);
        if (en->be->record_end(en->dev, &p->program) < 0)
            err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
    }
    p->used = ++en->clock;
    return e->code ? NULL : p->program;
}
