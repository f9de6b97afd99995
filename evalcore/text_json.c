/* Bytes as JSON text (contract: text_json.h). jansson refuses invalid UTF-8 with NULL, which then spreads. */
#include "evalcore/text_json.h"

#include <string.h>

json_t *text_json(const char *s, size_t n)
{
    struct str clean = {0};
    str_add_utf8(&clean, s ? s : "", s ? n : 0);
    json_t *v = json_stringn(str_text(&clean), clean.len);
    str_release(&clean);
    return v;
}

json_t *text_json_of(const char *s)
{
    return text_json(s, s ? strlen(s) : 0);
}
