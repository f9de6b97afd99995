#ifndef TESTS_MADE_H
#define TESTS_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/model/safetensors.h"

/* Test helper: small random models without a file of weights. Every value follows from the name of its tensor
 * and its place in it, as do the ids of a prompt from its seed, so that a fixture made by another program
 * (families/make.py, windows/make.py) can be compared with the same model. All values are exact in bf16. */
enum { MADE_TENSORS = 512 };
struct made_tensors {
    struct st_new t[MADE_TENSORS];
    int n;
};

/* Adds the tensors of a line "BASE SPREAD SHAPE... NAME": their values are BASE + SPREAD * u with u from -1
 * to 1; a "*" in the name stands for the number of each layer. What is wrong ends the test. */
void made_add(struct made_tensors *m, const char *line, int n_layers);
void made_write(const struct made_tensors *m, const char *path, const struct st_meta *meta);
/* The same values in another dtype, which backends may multiply in another way. */
void made_write_bf16(const struct made_tensors *m, const char *path);
void made_release(struct made_tensors *m);

void made_ids(int32_t *ids, int n, uint64_t seed, int vocab);
/* Reads up to `max` numbers and returns how many there are; *text is what follows them. */
int made_numbers(const char **text, double *out, int max);

#endif
