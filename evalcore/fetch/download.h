#ifndef EVALCORE_FETCH_DOWNLOAD_H
#define EVALCORE_FETCH_DOWNLOAD_H

#include "evalcore/fetch/fetch.h"

/* Appends what is missing of `url` to the open file fd and tries again as the options say. The file may hold
 * the beginning already. token NULL: none is sent. Codes and *signal as fetch_source_get(). */
int download_to(int fd, const char *path, const char *url, const char *token, const struct fetch_options *o,
                int *signal, struct err *e);

#endif
