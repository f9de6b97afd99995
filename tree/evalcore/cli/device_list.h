#ifndef EVALCORE_CLI_DEVICE_LIST_H
#define EVALCORE_CLI_DEVICE_LIST_H

#include "evalcore/base/err.h"

/* Devices as the command line names them: cpu, cuda, cuda:1, cuda:0-3, cuda:0,2; cpu:0-1 is two workers
 * that divide the CPU's cores. */
enum { DEVICES_MAX = 64, DEVICE_NAME_MAX = 32 };
struct device_list {
    char backend[16];
    int ordinal[DEVICES_MAX];
    int n;
    int is_gpu;
};

#define DEVICE_HELP "cpu (default) or a GPU: cuda:0"
#define DEVICES_HELP                                                                                         \
    "cpu (default); cpu:0-1, two workers with their own cores; GPUs, a worker each: cuda:0, cuda:0-3, "      \
    "cuda:0,2"

/* text NULL: the CPU. Returns 0, or ERR_USAGE when text has another form, names a device twice or more than
 * `most`, or numbers the CPU's workers otherwise than 0, 1, ... Whether a GPU exists is not looked at. */
int device_list_parse(struct device_list *out, const char *text, int most, struct err *e);
/* Writes the name of the list's entry i: "cuda:2", "cpu:0". */
void device_list_name(const struct device_list *d, int i, char out[DEVICE_NAME_MAX]);

#endif
