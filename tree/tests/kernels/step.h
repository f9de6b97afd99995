#ifndef TESTS_KERNELS_STEP_H
#define TESTS_KERNELS_STEP_H

#include "tests/kernels/rig.h"

/* A decode step that uses nearly every operation once, over rows that may be any of STEP_SEQS sequences. What
 * a sequence holds at the start depends only on its number, so rows of different steps can be compared. */
enum { STEP_SEQS = 33 };

struct step;

struct step *step_open(struct rig *r, const int32_t *seqs, int rows, enum dtype weights, enum dtype kv);
void step_close(struct step *s);
/* Launches (or records) one step of all rows. */
void step_run(struct step *s);
/* All bytes that row r has produced and holds; the caller frees them. */
unsigned char *step_row(struct step *s, int row, size_t *bytes);

#endif
