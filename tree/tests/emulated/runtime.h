#ifndef TESTS_EMULATED_RUNTIME_H
#define TESTS_EMULATED_RUNTIME_H

#include <cuda_runtime.h>

/* What the emulated runtime's files share. */

/* Returns e and keeps it for cudaGetLastError. An error of a kernel is kept for ever. */
cudaError_t result(cudaError_t e);
/* Does everything that streams have put off (streams.cc). */
void finish_all(void);
/* Ends the test if something was written past the end of an allocation. */
void check_memory(void);

#endif
