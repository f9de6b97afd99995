#ifndef ENGINE_SHIPPED_GATES_H
#define ENGINE_SHIPPED_GATES_H

#include <stddef.h>

/* The room of the DMS gates that ship for models other than the embedded one:
 * runs/gates/MODEL_dms_crN.safetensors, linked into the program, so that `dms:cr=N` needs no files.
 * runs/gates/README.md says how they were made. */
struct shipped_gates {
    const char *model; /* as in engine/policies/model_defaults.c */
    double cr;
    const char *data, *end; /* the safetensors file */
};
const struct shipped_gates *shipped_gates(size_t i);                          /* NULL past the end */
const struct shipped_gates *shipped_gates_find(const char *model, double cr); /* NULL: none ship */

#endif
