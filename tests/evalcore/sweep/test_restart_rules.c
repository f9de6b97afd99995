/* When a job is blamed for the death of workers, and when a worker is not started again. */
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/restart_rules.h"
#include "tests/check.h"

/* A job that dies on n workers in turn, with so many jobs beside it as it may have, until it is blamed: how
 * many died. */
static int deaths_until_blamed(int held, int n)
{
    struct job_fate f = {0};
    for (int death = 1; death <= 20; death++) {
        int i = death % n;
        if (!fate_allows(&f, i, n > 1))
            i = (i + 1) % n;
        if (fate_of_death(&f, i, f.company && f.company < held ? f.company : held, 0, n > 1))
            return death;
    }
    return -1;
}

/* Which suspect is next: never in more company than it may have, nor on a worker where it died alone; of two
 * the one with more deaths on a worker that is fresh, else the other. */
static void suspects(void)
{
    const struct job_fate often = {.deaths = 3, .company = 1, .alone = 1, .where = 1},
                          rarely = {.deaths = 2, .company = 4};
    CHECK(fate_is_next(&rarely, NULL, 0, 3, 0, 1) && !fate_is_next(&rarely, NULL, 0, 4, 0, 1));
    CHECK(!fate_is_next(&often, NULL, 0, 0, 0, 1) && fate_is_next(&often, NULL, 0, 0, 0, 0));
    CHECK(fate_is_next(&often, &rarely, 1, 0, 0, 1) && !fate_is_next(&rarely, &often, 1, 0, 0, 1));
    CHECK(!fate_is_next(&often, &rarely, 1, 0, 5, 1) && fate_is_next(&rarely, &often, 1, 0, 5, 1));
    CHECK_INT(fate_company(&rarely, 0, 1), 4); /* what an empty worker was allowed is over */
    CHECK_INT(fate_company(&rarely, 2, 3), 3);
    CHECK_INT(fate_company(&rarely, 2, 0), 4);
}

int main(void)
{
    suspects();
    CHECK_INT(decoder_places(0, 3, 8), 8);
    CHECK_INT(decoder_places(1, 3, 8), 3);
    CHECK_INT(decoder_places(1, 0, 8), 1);   /* it was once 0, and an idle worker got nothing near the end */
    CHECK_INT(deaths_until_blamed(1, 1), 2); /* never at the first */
    CHECK_INT(deaths_until_blamed(1, 2), 2);
    CHECK_INT(deaths_until_blamed(2, 2), 4);
    CHECK_INT(deaths_until_blamed(64, 2), 5); /* 64, 64, 8, 1, 1 */
    CHECK_INT(deaths_until_blamed(64, 8), 5);
    CHECK_INT(deaths_until_blamed(512, 1), 6);

    struct job_fate f = {0};
    CHECK_INT(fate_of_death(&f, 0, 40, 0, 1), 0);
    CHECK_INT(f.company, 0); /* once is chance */
    CHECK_INT(fate_of_death(&f, 1, 100, 0, 1), 0);
    CHECK_INT(f.company, 12);
    CHECK_INT(fate_of_death(&f, 1, 1, 3, 1),
              0); /* alone, but after others: the device may fail now and then */
    CHECK_INT(f.company, 1);
    CHECK(fate_allows(&f, 1, 1));
    /* A sick device kills whatever it gets: not enough as long as there is another. */
    CHECK_INT(fate_of_death(&f, 1, 1, 0, 1), 0);
    CHECK(!fate_allows(&f, 1, 1) && fate_allows(&f, 0, 1) && fate_allows(&f, 1, 0));
    CHECK_INT(fate_of_death(&f, 1, 1, 0, 1), 0);
    CHECK(!fate_is_proven(&f));
    CHECK_INT(fate_of_death(&f, 0, 1, 0, 1), 1);
    CHECK(fate_is_proven(&f));

    CHECK_NEAR(restart_backoff(1, 1), 0, 0);
    CHECK_NEAR(restart_backoff(2, 2), 1, 0);
    CHECK_NEAR(restart_backoff(RESTARTS_IN_A_ROW, 9), 8, 0);
    CHECK(restart_backoff(RESTARTS_IN_A_ROW + 1, 9) < 0);
    CHECK(restart_backoff(1, RESTARTS_PER_HOUR + 1) <
          0); /* finished jobs between deaths do not help for ever */
    return check_done();
}
