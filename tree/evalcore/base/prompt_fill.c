/* Templates of prompts (contract: prompt_fill.h). */
#include "evalcore/base/prompt_fill.h"

#include <string.h>

void prompt_fill(struct str *out, const char *text, const struct prompt_field *fields, int n_fields)
{
    while (*text) {
        size_t n = strcspn(text, "{");
        str_add(out, text, n);
        text += n;
        if (!*text)
            break;
        int k = 0;
        for (; k < n_fields; k++) {
            size_t len = strlen(fields[k].name);
            if (!strncmp(text + 1, fields[k].name, len) && text[1 + len] == '}')
                break;
        }
        if (k < n_fields) {
            str_add(out, fields[k].text, fields[k].len);
            text += strlen(fields[k].name) + 2;
        } else {
            str_putc(out, *text++);
        }
    }
}
