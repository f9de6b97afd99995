#ifndef ENGINE_POCKET_H
#define ENGINE_POCKET_H

#include <stddef.h>

/* The room of the embedded model: its files, linked into the program. The rooms engine/model, engine/policies
 * and engine come in and read them as they read files of a folder. README.md says what the model is and how
 * it was trained. Each function returns the bytes of one file and their number. */
const void *pocket_weights(size_t *n);          /* model.safetensors */
const char *pocket_config(size_t *n);           /* config.json */
const char *pocket_tokenizer(size_t *n);        /* tokenizer.json */
const void *pocket_gates(double cr, size_t *n); /* dms_cr2, 4, 8.safetensors; NULL for another ratio */

#endif
