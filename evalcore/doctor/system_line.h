#ifndef EVALCORE_DOCTOR_SYSTEM_LINE_H
#define EVALCORE_DOCTOR_SYSTEM_LINE_H

#include <stddef.h>

/* The value of the first line "name : value" or name="value" of a file of the system, cut at the line's or
 * the quotation's end; "" when there is none. */
void system_line(const char *path, const char *name, char separator, char *out, size_t size);

#endif
