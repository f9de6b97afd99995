#ifndef EVALCORE_TEXT_JSON_H
#define EVALCORE_TEXT_JSON_H

#include "evalcore/base/json.h"

/* A JSON string of any bytes: invalid UTF-8 (file names, host names, model output, cut messages) becomes
 * U+FFFD. Never NULL; s NULL is "". New reference. */
json_t *text_json(const char *s, size_t n);
json_t *text_json_of(const char *s); /* up to the NUL */

#endif
