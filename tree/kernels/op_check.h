#ifndef KERNELS_OP_CHECK_H
#define KERNELS_OP_CHECK_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0 if the kernels can do the operation with these arguments, and leaves `sentence` alone. Returns
 * BACKEND_ERR_UNSUPPORTED where they are outside that, or op is no operation, and writes the reason into
 * `sentence` (`size` bytes). Pointers into device memory are not followed. Backends call it before they
 * launch or capture. activations: the backend's own. */
int op_check(enum op op, const void *args, enum dtype activations, char *sentence, size_t size);
/* The same check for the arguments of download_begin: the buffer exists and holds that many bytes. */
int download_check(int buffer, size_t bytes, char *sentence, size_t size);

#ifdef __cplusplus
}
#endif
#endif
