/* Finds the gates that ship in the table that CMakeLists.txt of this folder makes. */
#include "engine/gates/shipped_gates.h"

#include <strings.h>

extern const struct shipped_gates shipped_gates_table[]; /* ends with model NULL */

const struct shipped_gates *shipped_gates(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!shipped_gates_table[k].model)
            return NULL;
    return shipped_gates_table[i].model ? &shipped_gates_table[i] : NULL;
}

const struct shipped_gates *shipped_gates_find(const char *model, double cr)
{
    for (const struct shipped_gates *g = shipped_gates_table; g->model; g++)
        if (!strcasecmp(g->model, model) && g->cr == cr)
            return g;
    return NULL;
}
