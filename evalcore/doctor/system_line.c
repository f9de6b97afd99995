/* Facts that the system tells in text files, such as /proc/meminfo (contract: system_line.h). */
#include "evalcore/doctor/system_line.h"

#include <string.h>

#include "evalcore/base/file.h"

void system_line(const char *path, const char *name, char separator, char *out, size_t size)
{
    struct str text = {0};
    out[0] = 0;
    if (!file_read(path, &text, NULL)) {
        const char *at = strstr(str_text(&text), name);
        at = at ? strchr(at, separator) : NULL;
        if (at) {
            at += 1 + strspn(at + 1, " \t\"");
            size_t n = strcspn(at, "\"\n");
            n = n < size ? n : size - 1;
            memcpy(out, at, n);
            out[n] = 0;
        }
    }
    str_release(&text);
}
