/* Launch, capture and replay. One parallel region runs a whole graph. Between two operations there is a
 * barrier, unless both are small; thread 0 does small operations alone, one after the other. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/op_check.h"

static const double serial_below = 6000; /* elementary steps: a barrier costs about as much */

static int grow_workspace(struct device *d, enum op op, const void *args)
{
    size_t need = cpu_workspace_bytes(op, args, d->threads);
    if (need <= d->workspace_bytes)
        return 0;
    void *p = cpu_alloc(need);
    if (!p)
        return cpu_error(d, BACKEND_ERR_MEMORY, "no memory for %zu bytes of workspace for %s", need,
                         backend_op_name(op));
    cpu_release(d->workspace);
    d->workspace = p;
    d->workspace_bytes = need;
    return 0;
}

static void run_share(const struct cpu_item *item, int n, struct cpu_ctx *c)
{
    for (int i = 0; i < n; i++) {
        if (!item[i].serial) {
            item[i].fn(item[i].args, c);
        } else if (c->tid == 0) {
            struct cpu_ctx alone = {.workspace = c->workspace, .n = 1};
            item[i].fn(item[i].args, &alone);
        }
        if (i + 1 < n && !(item[i].serial && item[i + 1].serial))
            cpu_barrier(c);
    }
    /* Our barrier yields when a thread is late; the region's own one, which comes next, would spin. */
    cpu_barrier(c);
}

static void run_items(struct device *d, const struct cpu_item *item, int n)
{
    int shared = 0;
    for (int i = 0; i < n; i++)
        shared |= !item[i].serial;
    if (!shared || d->threads == 1) {
        struct cpu_ctx alone = {.workspace = d->workspace, .n = 1};
        for (int i = 0; i < n; i++, alone.ticket = 0)
            item[i].fn(item[i].args, &alone);
        return;
    }
    unsigned phase = atomic_load(&d->team.phase);
#pragma omp parallel num_threads(d->threads)
    {
        struct cpu_ctx c = {.team = &d->team,
                            .workspace = d->workspace,
                            .tid = omp_get_thread_num(),
                            .n = omp_get_num_threads(),
                            .phase = phase};
        run_share(item, n, &c);
    }
}

int cpu_launch(struct device *d, enum op op, const void *args)
{
    int rc = op_check(op, args, cpu_backend.activations, d->error, sizeof d->error);
    if (!rc)
        rc = grow_workspace(d, op, args);
    if (rc)
        return rc;
    struct cpu_item item = {d->isa->op[op], NULL, cpu_work(op, args) < serial_below};
    struct op_graph *p = d->capturing;
    if (!p && fault_due(&d->fault, FAULT_LAUNCH))
        return cpu_error(d, BACKEND_ERR_LAUNCH, "fails on request");
    if (!p) {
        memcpy(&item.args, &args, sizeof args);
        run_items(d, &item, 1);
        return 0;
    }
    if (p->n == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 64;
        struct cpu_item *grown = realloc(p->item, (size_t)capacity * sizeof *grown);
        if (!grown)
            return cpu_error(d, BACKEND_ERR_MEMORY, "no memory to capture an operation");
        p->item = grown;
        p->capacity = capacity;
    }
    item.args = malloc(backend_op_bytes(op));
    if (!item.args)
        return cpu_error(d, BACKEND_ERR_MEMORY, "no memory to capture an operation");
    memcpy(item.args, args, backend_op_bytes(op));
    p->item[p->n++] = item;
    return 0;
}

int cpu_capture_begin(struct device *d)
{
    if (d->capturing)
        return cpu_error(d, BACKEND_ERR_LAUNCH, "a graph is being captured already");
    d->capturing = calloc(1, sizeof *d->capturing);
    return d->capturing ? 0 : cpu_error(d, BACKEND_ERR_MEMORY, "no memory to capture a graph");
}

int cpu_capture_end(struct device *d, struct op_graph **out)
{
    *out = d->capturing;
    d->capturing = NULL;
    return *out ? 0 : cpu_error(d, BACKEND_ERR_LAUNCH, "no graph is being captured");
}

int cpu_replay(struct device *d, struct op_graph *p)
{
    if (fault_due(&d->fault, FAULT_REPLAY))
        return cpu_error(d, BACKEND_ERR_LAUNCH, "fails on request");
    fault_wait(&d->fault);
    run_items(d, p->item, p->n);
    return 0;
}

void cpu_graph_release(struct device *d, struct op_graph *p)
{
    (void)d;
    if (!p)
        return;
    for (int i = 0; i < p->n; i++)
        free(p->item[i].args);
    free(p->item);
    free(p);
}

/* Branches run one after the other: an operation shares its work among all threads. */
int cpu_branch(struct device *d)
{
    (void)d;
    return 0;
}

int cpu_join(struct device *d)
{
    (void)d;
    return 0;
}
