#ifndef ANSWER_CHECK_CAPI_PARTS_H
#define ANSWER_CHECK_CAPI_PARTS_H

#include "answer_check/answer_check.h"
#include "answer_check/capi/answer_check_c.h"

/* What the files of the C interface share. */

struct ac_options {
    enum ac_call call;
    enum thinking thinking;
    enum finish finish;
    struct grade_options grade;
    int n_options, preset; /* preset: -1 for strict, else an index of choice_preset_name() */
};

/* Sets the options of a call to its defaults. */
void capi_defaults(struct ac_options *o, enum ac_call call);
/* Writes e's sentence to error and returns e->code. */
int capi_fail(const struct err *e, char *error, size_t error_size);

#endif
