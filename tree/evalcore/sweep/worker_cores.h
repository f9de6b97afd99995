#ifndef EVALCORE_SWEEP_WORKER_CORES_H
#define EVALCORE_SWEEP_WORKER_CORES_H

/* How n workers divide the cores that this process may use (its affinity mask, which Slurm and taskset set):
 * in equal runs of neighbours. Where a cgroup allows fewer cores, workers have fewer threads. With fewer
 * cores than workers, all share all cores, with one thread each. */
int worker_cores_threads(int n_workers); /* returns the threads of each worker, at least 1 */
/* Keeps this thread, and those that it starts, on worker i's cores. Before OpenMP starts its own. A system
 * that refuses is left as it is: only speed depends on it. */
void worker_cores_take(int i, int n_workers);

/* Returns "200000 100000" (cpu.max of a cgroup) as whole cores, rounded up; 0: no limit ("max"), or no such
 * text. */
int worker_cores_quota(const char *text);

#endif
