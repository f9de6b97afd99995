#ifndef CODE_CHECK_PICKLE_TEXT_H
#define CODE_CHECK_PICKLE_TEXT_H

#include <stddef.h>

#include "evalcore/base/err.h"

/* Finds the text in a pickle that holds one text and nothing else, as Python's pickle writes a str under
 * protocols 2 to 5. It is found, not executed: of the format's instructions only those are known that such a
 * pickle has (its version, a frame, one text, a note in the memo, the end), each at most as often and in the
 * order in which they stand there. Returns 0 and sets *text, UTF-8 and a part of the data, and *len; or
 * ERR_FORMAT with the instruction that is refused. */
int pickle_text(const char **text, size_t *len, const void *data, size_t n, const char *where, struct err *e);

#endif
