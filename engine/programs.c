/* Decode steps, one for each shape of a batch: its policies and the rows of each, rounded up. A recorded
 * one is replayed with one launch, but recording takes longer than launching its operations one by one, and
 * where many policies share a batch its shape changes with almost every step. So the first steps of a shape
 * are launched, and then it is recorded. The least recently used is discarded first. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"

enum { RECORD_AFTER = 8 };

/* Every number up to 8, then multiples of 2, then of 4. */
int programs_bucket(int n)
{
    return n <= 8 ? n : n <= 16 ? (n + 1) / 2 * 2 : (n + 3) / 4 * 4;
}

static void program_release(struct engine *en, struct cached_program *p)
{
    en->be->graph_release(en->dev, p->program);
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

/* The entry of this shape. A new one takes the place of the one that was not used for longest. */
static struct cached_program *find_program(struct engine *en, const struct batch *b)
{
    struct cached_program *oldest = NULL, *p;
    for (int i = 0; i < en->n_programs; i++) {
        p = &en->programs[i];
        if (same_shape(p, b->group, b->n_groups))
            return p;
        if (!oldest || p->used < oldest->used)
            oldest = p;
    }
    if (en->n_programs < MAX_PROGRAMS) {
        p = &en->programs[en->n_programs++];
    } else {
        p = oldest;
        program_release(en, p);
    }
    p->group = xmalloc((size_t)b->n_groups * sizeof *p->group);
    memcpy(p->group, b->group, (size_t)b->n_groups * sizeof *p->group);
    p->n_groups = b->n_groups;
    return p;
}

static int record_program(struct engine *en, struct cached_program *p, const struct batch *b, struct err *e)
{
    if (en->be->capture_begin(en->dev) < 0)
        return err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
    transformer_step(&en->tf, b->group, b->n_groups, b->n_rows, e);
    if (en->be->capture_end(en->dev, &p->program) < 0)
        return err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
    return e->code;
}

int programs_run(struct engine *en, struct err *e)
{
    const struct batch *b = &en->batch;
    struct cached_program *p = find_program(en, b);
    p->used = ++en->clock;
    if (!p->program && p->steps++ < RECORD_AFTER) {
        transformer_step(&en->tf, b->group, b->n_groups, b->n_rows, e);
        return err_add(e, "decode step");
    }
    if (!p->program && record_program(en, p, b, e))
        return e->code;
    return en->be->replay(en->dev, p->program) < 0
               ? err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev))
               : 0;
}
