/* CUDA graphs (or the CPU's equivalent) of decode steps, one for each shape of a batch: its policies and the
 * rows of each, rounded up. A captured step is replayed with one launch, but capturing takes longer than
 * launching the operations one by one, and where many policies share a batch its shape changes with almost
 * every step. So the first steps of a shape are launched, and then it is captured. The least recently used
 * graph is discarded first. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"

enum { CAPTURE_AFTER = 8 };

/* Every number up to 8, then multiples of 2, then of 4. */
int graphs_bucket(int n)
{
    return n <= 8 ? n : n <= 16 ? (n + 1) / 2 * 2 : (n + 3) / 4 * 4;
}

static void release_graph(struct engine *en, struct cached_graph *p)
{
    en->be->graph_release(en->dev, p->graph);
    free(p->group);
    memset(p, 0, sizeof *p);
}

void graphs_clear(struct engine *en)
{
    for (int i = 0; i < en->n_graphs; i++)
        release_graph(en, &en->graphs[i]);
    en->n_graphs = 0;
}

static int same_shape(const struct cached_graph *p, const struct policy_group *g, int n)
{
    if (p->n_groups != n)
        return 0;
    for (int i = 0; i < n; i++)
        if (p->group[i].policy != g[i].policy || p->group[i].cap != g[i].cap)
            return 0;
    return 1;
}

/* The entry of this shape. A new one replaces the least recently used. */
static struct cached_graph *find_graph(struct engine *en, const struct batch *b)
{
    struct cached_graph *oldest = NULL, *p;
    for (int i = 0; i < en->n_graphs; i++) {
        p = &en->graphs[i];
        if (same_shape(p, b->group, b->n_groups))
            return p;
        if (!oldest || p->used < oldest->used)
            oldest = p;
    }
    if (en->n_graphs < MAX_GRAPHS) {
        p = &en->graphs[en->n_graphs++];
    } else {
        p = oldest;
        release_graph(en, p);
    }
    p->group = xmalloc((size_t)b->n_groups * sizeof *p->group);
    memcpy(p->group, b->group, (size_t)b->n_groups * sizeof *p->group);
    p->n_groups = b->n_groups;
    return p;
}

static int capture_graph(struct engine *en, struct cached_graph *p, const struct batch *b, struct err *e)
{
    if (en->be->capture_begin(en->dev) < 0)
        return err_set(e, ERR_DEVICE, "capturing a step: %s", en->be->last_error(en->dev));
    transformer_step(&en->tf, b->group, b->n_groups, b->n_rows, e);
    if (en->be->capture_end(en->dev, &p->graph) < 0)
        return err_set(e, ERR_DEVICE, "capturing a step: %s", en->be->last_error(en->dev));
    return e->code;
}

int graphs_run(struct engine *en, struct err *e)
{
    const struct batch *b = &en->batch;
    struct cached_graph *p = find_graph(en, b);
    p->used = ++en->clock;
    if (!p->graph && p->steps++ < CAPTURE_AFTER) {
        transformer_step(&en->tf, b->group, b->n_groups, b->n_rows, e);
        return err_add(e, "decode step");
    }
    if (!p->graph && capture_graph(en, p, b, e))
        return e->code;
    return en->be->replay(en->dev, p->graph) < 0
               ? err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev))
               : 0;
}
