#ifndef BASE_PARAM_TEXT_H
#define BASE_PARAM_TEXT_H

#include "evalcore/base/param.h"

/* The text form of an option's value as the JSON value that means the same, a new reference. Text that has no
 * such meaning comes back as a JSON string, which the checks of param_set_json() then refuse by name. */
json_t *param_text_to_json(const struct param *p, const char *text);

/* One option's effective value as JSON, a new reference; NULL when unset. */
json_t *param_value_json(const struct param *p, const void *base);

#endif
