/* The choice of layers equals the best of all subsets, for up to 12 layers. */
#include <string.h>

#include "evalcore/base/rng.h"
#include "evalcore/calibration/calibration.h"
#include "tests/check.h"

enum { MOST = 12, ROUNDS = 40 };

static double value_of(const double *s, int n, int first, unsigned set)
{
    double sum = 0;
    int chooser = first;
    for (int l = first; l < n; l++) {
        chooser = set >> l & 1 ? l : chooser;
        sum += s[chooser * n + l];
    }
    return sum;
}

/* Every set of m layers with `first` the lowest. */
static double best_of_all(const double *s, int n, int first, int m)
{
    double best = -INFINITY;
    for (unsigned set = 0; set < 1u << n; set++)
        if ((set >> first & 1) && !(set & ((1u << first) - 1)) && __builtin_popcount(set) == m) {
            double v = value_of(s, n, first, set);
            best = v > best ? v : best;
        }
    return best;
}

static void random_matrix(double *s, int n, struct rng *r)
{
    for (int i = 0; i < n * n; i++)
        s[i] = rng_unit(r);
}

int main(void)
{
    struct rng r;
    double s[MOST * MOST];
    int out[MOST], sets = 0;
    rng_init(&r, 5, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (int n = 1; n <= MOST; n += 1 + round % 3)
            for (int first = 0; first <= 2 && first < n; first += 2)
                for (int m = 1; first + m <= n; m++) {
                    unsigned set = 0;
                    random_matrix(s, n, &r);
                    double have = choose_layers(s, n, first, m, out);
                    CHECK_NEAR(have, best_of_all(s, n, first, m), 1e-12);
                    CHECK_INT(out[0], first);
                    for (int i = 0; i < m; i++) {
                        CHECK(i == 0 || out[i] > out[i - 1]);
                        set |= 1u << out[i];
                    }
                    CHECK_NEAR(value_of(s, n, first, set), have, 1e-12);
                    sets++;
                }
    CHECK(sets > 1000);
    /* More layers than there are; and equal sums take the earlier layers. */
    CHECK(isnan(choose_layers(s, 3, 2, 2, out)));
    memset(s, 0, sizeof s);
    choose_layers(s, 6, 0, 3, out);
    CHECK(out[0] == 0 && out[1] == 1 && out[2] == 2);
    return check_done();
}
