/* Cores of CPU workers (contract: worker_cores.h). */
#include "evalcore/sweep/worker_cores.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"

/* Fills in the cores' numbers and returns how many there are; 0: unknown. */
static int allowed_cores(int core[CPU_SETSIZE])
{
    cpu_set_t set;
    int n = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return 0;
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &set))
            core[n++] = c;
    return n;
}

int worker_cores_quota(const char *text)
{
    char *end;
    double quota = strtod(text, &end), period = strtod(end, NULL);
    double cores = quota > 0 && period > 0 ? ceil(quota / period) : 0;
    return cores >= 1 && cores < CPU_SETSIZE ? (int)cores : 0;
}

/* The limit of one cgroup, or 0. */
static int quota_of(const char *folder, size_t n)
{
    struct str name = {0}, text = {0};
    str_printf(&name, "/sys/fs/cgroup%.*s/cpu.max", (int)n, folder);
    int cores = 0;
    if (file_exists(str_text(&name)) && !file_read(str_text(&name), &text, NULL))
        cores = worker_cores_quota(str_text(&text));
    str_release(&name);
    str_release(&text);
    return cores;
}

/* The least limit of this process's cgroup and of those above it (version 2). */
static int cgroup_quota(void)
{
    struct str own = {0};
    int least = 0;
    const char *at = file_read("/proc/self/cgroup", &own, NULL) ? NULL : strstr(str_text(&own), "0::/");
    size_t n = at ? strcspn(at + 3, "\n") : 0;
    while (n) {
        int cores = quota_of(at + 3, n);
        if (cores && (!least || cores < least))
            least = cores;
        while (n && at[3 + --n] != '/') /* to the cgroup above it */
            ;
    }
    int root = at ? quota_of("", 0) : 0;
    str_release(&own);
    return root && (!least || root < least) ? root : least;
}

int worker_cores_threads(int n_workers)
{
    int core[CPU_SETSIZE], n = allowed_cores(core), most = cgroup_quota();
    if (most && most < n)
        n = most;
    n /= n_workers > 0 ? n_workers : 1;
    return n > 0 ? n : 1;
}

void worker_cores_take(int i, int n_workers)
{
    int core[CPU_SETSIZE], n = allowed_cores(core);
    cpu_set_t set;
    if (n < n_workers || i < 0 || i >= n_workers)
        return;
    CPU_ZERO(&set);
    for (int c = i * n / n_workers; c < (i + 1) * n / n_workers; c++)
        CPU_SET(core[c], &set);
    sched_setaffinity(0, sizeof set, &set);
}
