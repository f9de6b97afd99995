#ifndef KERNELS_OP_CHECK_H
#define KERNELS_OP_CHECK_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0, or BACKEND_ERR_UNSUPPORTED and a sentence where these arguments are outside what the kernels can
 * do. Backends call it before they launch or capture. activations: the backend's own. */
int op_check(enum op op, const void *args, enum dtype activations, char *sentence, size_t size);
/* The same check for the arguments of download_begin. */
int download_check(int buffer, size_t bytes, char *sentence, size_t size);

#ifdef __cplusplus
}
#endif
#endif
