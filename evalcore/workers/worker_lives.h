#ifndef EVALCORE_WORKERS_WORKER_LIVES_H
#define EVALCORE_WORKERS_WORKER_LIVES_H

/* What follows from the death of a worker, as rules.
 *
 * A worker that dies is started again: at once after the first death, and after pauses that double while none
 * of its lives finishes a job; after LIVES_MOST such deaths in a row it stays out.
 *
 * A job may be what kills workers. The jobs of a worker that died decode again like any other. Those that
 * were there at a second death are suspects: they decode when nothing else is left, in ever smaller company,
 * until one dies alone on a worker that has decoded nothing else since it was started, but for its canary. It
 * is the job's fault then, and the job ends in an error. So a job ends at least two workers before it is
 * blamed, and one that was only beside it never is. */
enum { LIVES_MOST = 5, LIVES_SHARE = 8 };

struct job_fate {
    int deaths;  /* of workers that held the job */
    int company; /* how many jobs its worker may hold with it; 0: any number */
};

/* A worker died that held so many jobs, this one among them, and had finished so many since it was started.
 * 1: the job is to blame. */
int fate_of_death(struct job_fate *f, int held, int finished);
/* Seconds until a worker is started again that died so many times in a row without finishing a job; below 0:
 * it is not. */
double lives_pause(int deaths);

#endif
