/* When a job is blamed for the death of workers, and when a worker is not started again. */
#include "evalcore/workers/worker_lives.h"
#include "tests/check.h"

/* A job that dies with so many jobs on its worker each time, until it is blamed: returns after how many. */
static int deaths_until_blamed(int held)
{
    struct job_fate f = {0};
    int n = 0;
    while (n++ < 20)
        if (fate_of_death(&f, f.company && f.company < held ? f.company : held, 0))
            return n;
    return -1;
}

int main(void)
{
    CHECK_INT(deaths_until_blamed(1), 2); /* never at the first */
    CHECK_INT(deaths_until_blamed(2), 3);
    CHECK_INT(deaths_until_blamed(64), 4); /* 64, 64, 8, 1 */
    CHECK_INT(deaths_until_blamed(512), 5);

    struct job_fate f = {0};
    CHECK_INT(fate_of_death(&f, 1, 0), 0);
    CHECK_INT(f.company, 0); /* once is chance */
    CHECK_INT(fate_of_death(&f, 100, 0), 0);
    CHECK_INT(f.company, 12);
    CHECK_INT(fate_of_death(&f, 1, 3), 0); /* alone, but after others: the device may fail now and then */
    CHECK_INT(f.company, 1);
    CHECK_INT(fate_of_death(&f, 1, 0), 1);

    CHECK_NEAR(lives_pause(1), 0, 0);
    CHECK_NEAR(lives_pause(2), 1, 0);
    CHECK_NEAR(lives_pause(LIVES_MOST), 8, 0);
    CHECK(lives_pause(LIVES_MOST + 1) < 0);
    return check_done();
}
