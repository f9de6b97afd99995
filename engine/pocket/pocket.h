#ifndef ENGINE_POCKET_H
#define ENGINE_POCKET_H

#include <stddef.h>

/* The embedded model's files, linked into the program. See engine/pocket/README.md for what it is and how it
 * was trained. */
const void *pocket_weights(size_t *n);          /* model.safetensors */
const char *pocket_config(size_t *n);           /* config.json */
const char *pocket_tokenizer(size_t *n);        /* tokenizer.json */
const void *pocket_gates(double cr, size_t *n); /* dms_cr2, 4, 8.safetensors; NULL for another ratio */

#endif
