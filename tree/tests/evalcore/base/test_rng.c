/* Philox4x32-10 known answers as Random123 publishes them (kat_vectors), and the stream on top of it. */
#include "evalcore/base/rng.h"

#include "tests/check.h"

static void known_answers(void)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        uint32_t out[4];
        philox4x32(kat[i].key, kat[i].counter, out);
        for (int j = 0; j < 4; j++)
            CHECK_INT(out[j], kat[i].want[j]);
    }
}

/* The stream is counter (n, 0, stream, 0) under the key: anyone can compute the n-th draw without the others.
 */
static void stream_is_counter_based(void)
{
    struct rng r;
    uint32_t key[2] = {0x89abcdef, 0x01234567}, out[4];
    rng_init(&r, 0x0123456789abcdef, 42);
    for (uint32_t n = 0; n < 5; n++) {
        uint32_t counter[4] = {n, 0, 42, 0};
        philox4x32(key, counter, out);
        for (int j = 0; j < 4; j++)
            CHECK_INT(rng_u32(&r), out[j]);
    }
}

static void below_is_uniform_and_in_range(void)
{
    struct rng r;
    int count[7] = {0};
    rng_init(&r, 1, 2);
    for (int i = 0; i < 70000; i++) {
        uint32_t x = rng_below(&r, 7);
        CHECK(x < 7);
        count[x % 7]++;
    }
    for (int i = 0; i < 7; i++)
        CHECK_NEAR(count[i], 10000, 400); /* a bit over four standard deviations */
    CHECK_INT(rng_below(&r, 1), 0);
    for (int i = 0; i < 100; i++)
        CHECK(rng_below(&r, 0x80000001u) <= 0x80000000u); /* where rejection is most frequent */
}

static void unit_is_in_range(void)
{
    struct rng r;
    double sum = 0;
    rng_init(&r, 3, 4);
    for (int i = 0; i < 100000; i++) {
        double u = rng_unit(&r);
        CHECK(u >= 0 && u < 1);
        sum += u;
    }
    CHECK_NEAR(sum / 100000, 0.5, 0.004); /* the mean's standard deviation is 0.0009 */
}

/* Each of the six orders of three values comes as often as the others. */
static void shuffle_is_uniform(void)
{
    struct rng r;
    int n[27] = {0};
    rng_init(&r, 5, 6);
    for (int i = 0; i < 6000; i++) {
        int v[3] = {0, 1, 2};
        rng_shuffle(&r, v, 3);
        n[9 * v[0] + 3 * v[1] + v[2]]++;
    }
    static const int orders[] = {5, 7, 11, 15, 19, 21};
    for (int i = 0; i < 6; i++)
        CHECK(n[orders[i]] > 880 && n[orders[i]] < 1120); /* 1000 expected, four standard deviations */
    int none[1] = {7};
    rng_shuffle(&r, none, 0);
    CHECK_INT(none[0], 7);
}

int main(void)
{
    known_answers();
    stream_is_counter_based();
    below_is_uniform_and_in_range();
    unit_is_in_range();
    shuffle_is_uniform();
    return check_done();
}
