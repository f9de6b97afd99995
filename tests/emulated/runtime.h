#ifndef TESTS_EMULATED_RUNTIME_H
#define TESTS_EMULATED_RUNTIME_H

#include <cuda_runtime.h>

/* What the emulated runtime's files share. */

/* e, kept for cudaGetLastError; what a kernel failed with stays for ever. */
cudaError_t result(cudaError_t e);
/* Everything that was put off happens now (streams.cc). */
void finish_all(void);
/* Ends the test when something was written behind an allocation. */
void check_memory(void);

#endif
