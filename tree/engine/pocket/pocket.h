#ifndef ENGINE_POCKET_H
#define ENGINE_POCKET_H

#include <stddef.h>

/* The room of files that are linked into the program: those of the embedded model, which the rooms
 * engine/model, engine/policies and engine read as they read files of a folder, and DMS gates. README.md says
 * what the model is and how it was trained. Each pocket_ function returns the bytes of one file, which live
 * as long as the program, and sets *n to their number. */
const void *pocket_weights(size_t *n);          /* model.safetensors */
const char *pocket_config(size_t *n);           /* config.json */
const char *pocket_tokenizer(size_t *n);        /* tokenizer.json */
const void *pocket_gates(double cr, size_t *n); /* dms_cr2, 4, 8.safetensors; for another ratio NULL,
                                                 * and *n stays */

/* DMS gates for models other than the embedded one: runs/gates/MODEL_dms_crN.safetensors, linked into the
 * program, so that `dms:cr=N` needs no files. runs/gates/README.md says how they were made. */
struct shipped_gates {
    const char *model; /* as in engine/policies/model_defaults.c */
    double cr;
    const char *data, *end; /* the safetensors file */
};
/* Returns row i of the table of these gates, NULL past the end. */
const struct shipped_gates *shipped_gates(size_t i);
/* Returns the row of this model, whatever the case of its letters, and exactly this ratio; NULL: none. */
const struct shipped_gates *shipped_gates_find(const char *model, double cr);

#endif
