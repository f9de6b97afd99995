/* The rules of restarts and suspects (contract: worker_lives.h). */
#include "evalcore/workers/worker_lives.h"

int fate_of_death(struct job_fate *f, int held, int finished)
{
    f->deaths++;
    if (f->deaths < 2)
        return 0;
    if (held < 2 && !finished)
        return 1;
    f->company = held / LIVES_SHARE > 1 ? held / LIVES_SHARE : 1;
    return 0;
}

double lives_pause(int deaths)
{
    if (deaths > LIVES_MOST)
        return -1;
    return deaths < 2 ? 0 : (double)(1 << (deaths - 2));
}
