/* The rules of restarts and suspects (contract: worker_lives.h). */
#include "evalcore/workers/worker_lives.h"

int fate_is_proven(const struct job_fate *f)
{
    return (f->where & (f->where - 1)) != 0;
}

int fate_allows(const struct job_fate *f, int i, int has_others)
{
    return !has_others || !(f->where >> i & 1);
}

int fate_of_death(struct job_fate *f, int i, int held, int finished, int has_others)
{
    f->deaths++;
    if (held < 2 && !finished) {
        f->alone++;
        f->where |= UINT64_C(1) << i;
        if (fate_is_proven(f) || (f->alone > 1 && !has_others))
            return 1;
    }
    if (f->deaths > 1)
        f->company = held / LIVES_SHARE > 1 ? held / LIVES_SHARE : 1;
    return 0;
}

double lives_pause(int in_a_row, int in_an_hour)
{
    if (in_a_row > LIVES_MOST || in_an_hour > LIVES_HOUR)
        return -1;
    return in_a_row < 2 ? 0 : (double)(1 << (in_a_row - 2));
}

int lives_places(int is_waiting, int n_running, int max_batch)
{
    int n = is_waiting ? n_running : max_batch;
    return n > 0 ? n : 1;
}
