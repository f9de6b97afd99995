/* Which cores a CPU worker gets: disjoint shares of those that the process may use. */
#include <sched.h>

#include "evalcore/sweep/worker_cores.h"
#include "tests/check.h"

static cpu_set_t now(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CHECK_INT(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

/* The cores of worker i: number of them, or -1 when one is not in `all` or is in
 * `taken`, to which they are added. */
static int cores_of(int i, int n, const cpu_set_t *all, cpu_set_t *taken)
{
    const cpu_set_t before = now();
    worker_cores_take(i, n);
    const cpu_set_t own = now();
    CHECK_INT(sched_setaffinity(0, sizeof before, &before), 0);
    int count = 0;
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &own)) {
            if (!CPU_ISSET(c, all) || CPU_ISSET(c, taken))
                return -1;
            CPU_SET(c, taken);
            count++;
        }
    return count;
}

int main(void)
{
    const cpu_set_t all = now();
    const int n_cores = CPU_COUNT(&all);
    for (int n = 1; n <= n_cores && n <= 4; n++) {
        cpu_set_t taken;
        int sum = 0;
        CPU_ZERO(&taken);
        for (int i = 0; i < n; i++) {
            int count = cores_of(i, n, &all, &taken);
            CHECK(count >= n_cores / n);
            sum += count;
        }
        CHECK_INT(sum, n_cores);
        CHECK(worker_cores_threads(n) >= 1 && worker_cores_threads(n) <= n_cores / n);
    }
    /* More workers than cores share all of them. */
    worker_cores_take(0, n_cores + 1);
    const cpu_set_t shared = now();
    CHECK(CPU_EQUAL(&shared, &all));
    CHECK_INT(worker_cores_threads(n_cores + 1), 1);

    CHECK_INT(worker_cores_quota("max 100000\n"), 0);
    CHECK_INT(worker_cores_quota("200000 100000\n"), 2);
    CHECK_INT(worker_cores_quota("150000 100000\n"), 2);
    CHECK_INT(worker_cores_quota("20000 100000\n"), 1);
    CHECK_INT(worker_cores_quota("-1 100000"), 0);
    CHECK_INT(worker_cores_quota("100000"), 0);
    CHECK_INT(worker_cores_quota(""), 0);
    return check_done();
}
