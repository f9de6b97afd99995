/* Python's generator and the orders that other harnesses draw with it: 198 rows of each, by the SHA-256 of
 * their digits, as Python made them. */
#include "evalcore/base/hash.h"
#include "evalcore/base/str.h"
#include "tasks/option_order.h"
#include "tests/check.h"

static void generator(void)
{
    static const uint32_t want[][8] = {
        {3626764237, 1654615998, 3255389356, 3823568514, 1806341205, 173879092, 1112038970, 4146640122},
        {4150886329, 3342196574, 1892932127, 501869158, 32175636, 389311301, 3912611952, 4048155970}};
    static struct python_random r;
    for (int s = 0; s < 2; s++) {
        python_random_seed(&r, s ? 1234 : 0);
        for (int i = 0; i < 8; i++)
            CHECK_INT(python_random_bits32(&r), want[s][i]);
    }
    CHECK_INT(python_random_below(&r, 1), 0);
}

static void orders(void)
{
    static const struct {
        enum option_rule rule;
        const char *first, *sha256;
    } want[] = {
        {OPTIONS_SIMPLE_EVALS, "3102", "5e4df5bc5316ff59df8c9efcac081304a5801a3f8f274a94d42bb922589453c4"},
        {OPTIONS_LIGHTEVAL, "1230", "9967176d70826a6828bfefe0e6070b18eebafaff5025117b67dc96b2ae2c6059"},
        {OPTIONS_LM_EVAL, "3120", "21b926fb3cce489e2535967a95014e6f4a0e48ba276d90a15a6b084002cc3c16"},
        {OPTIONS_NEMO_SKILLS, "3201", "b61b4eb8a3d2ecacbc9c313631114eaa4ea3b7b0cc5f4ef20eb6b0c5e157051c"},
    };
    static struct option_order o;
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        struct str digits = {0};
        char hex[65];
        option_order_init(&o, want[k].rule);
        for (int row = 0; row < 198; row++) {
            int order[4];
            option_order_next(&o, order, "any", 3);
            for (int i = 0; i < 4; i++)
                str_putc(&digits, (char)('0' + order[i]));
        }
        CHECK(!strncmp(digits.data, want[k].first, 4));
        sha256_hex(digits.data, digits.len, hex, 64);
        CHECK_STR(hex, want[k].sha256);
        str_release(&digits);
    }
}

/* random.Random(1234): sample(range(n), k), one after the other, in both of Python's ways to draw. */
static void samples(void)
{
    static const struct {
        int n, k, want[8];
    } draws[] = {{100, 5, {99, 56, 14, 0, 11}},
                 {100, 5, {74, 4, 85, 88, 10}},
                 {100, 8, {12, 98, 45, 30, 2, 3, 44, 82}},
                 {30, 8, {19, 15, 29, 14, 4, 2, 5, 22}},
                 {30, 3, {3, 27, 0}}};
    struct python_random r;
    python_random_seed(&r, 1234);
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        int got[8];
        python_random_pick(&r, got, draws[i].n, draws[i].k);
        for (int k = 0; k < draws[i].k; k++)
            CHECK_INT(got[k], draws[i].want[k]);
    }
}

int main(void)
{
    generator();
    orders();
    samples();
    return check_done();
}
