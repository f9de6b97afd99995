#ifndef EVALCORE_BASE_PROMPT_FILL_H
#define EVALCORE_BASE_PROMPT_FILL_H

#include <stddef.h>

#include "evalcore/base/str.h"

struct prompt_field {
    const char *name; /* "problem" fills {problem} */
    const char *text;
    size_t len;
};

/* Appends `text` to out and replaces each {name} that is in `fields` (of two with a name the first counts),
 * in one pass: what a field holds is never searched again, and braces around anything else stay. */
void prompt_fill(struct str *out, const char *text, const struct prompt_field *fields, int n_fields);

#endif
