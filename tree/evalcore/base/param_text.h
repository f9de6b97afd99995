#ifndef EVALCORE_BASE_PARAM_TEXT_H
#define EVALCORE_BASE_PARAM_TEXT_H

#include "evalcore/base/param.h"

/* For param.c only. Turns the text form of an option's value into the JSON value of the same meaning, a
 * new reference. Text without such a meaning comes back as a JSON string, which the checks of
 * param_set_json() then refuse with the option's name. */
json_t *param_text_to_json(const struct param *p, const char *text);

/* One option's effective value as JSON, a new reference; NULL when the option is unset. */
json_t *param_value_json(const struct param *p, const void *base);

#endif
