/* What the statistics of evalcore/stats do when the truth is known: simulated nights of the gate, coverage of
 * the intervals, errors of the tests. Not a speed: `floor` is the rate that is promised. */
#include <omp.h>

#include "evalcore/bench/sim.h"

enum { NIGHTS = 2000 };

int bench_stats(struct bench *b, struct err *e)
{
    (void)e;
    struct sim s = {b, b->nights ? b->nights : NIGHTS, 1};
    int threads = omp_get_max_threads();
    if (b->threads)
        omp_set_num_threads(b->threads);
    sim_gate(&s);
    sim_noise(&s);
    sim_peers(&s);
    sim_coverage(&s);
    sim_errors(&s);
    omp_set_num_threads(threads);
    return 0;
}
