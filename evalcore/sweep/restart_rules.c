/* The rules of restarts and suspects (contract: restart_rules.h). */
#include "evalcore/sweep/restart_rules.h"

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
        f->company = held / COMPANY_SHARE > 1 ? held / COMPANY_SHARE : 1;
    return 0;
}

int fate_is_next(const struct job_fate *f, const struct job_fate *than, int i, int held, int finished,
                 int has_others)
{
    int ahead = than ? f->deaths - than->deaths : 1;
    return held < f->company && fate_allows(f, i, has_others) &&
           (!than || (finished ? ahead < 0 : ahead > 0));
}

int fate_company(const struct job_fate *f, int held, int company)
{
    return held && company && company < f->company ? company : f->company;
}

double restart_backoff(int in_a_row, int in_an_hour)
{
    if (in_a_row > RESTARTS_IN_A_ROW || in_an_hour > RESTARTS_PER_HOUR)
        return -1;
    return in_a_row < 2 ? 0 : (double)(1 << (in_a_row - 2));
}
