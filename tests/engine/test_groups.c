/* One batch with a sequence under every policy: the policy groups of a step, which a GPU runs at once, give
 * each sequence what it gets alone, launched (the first steps) and captured. With the check of
 * races the emulated GPU also looks whether any of them touches what is another's (tests/emulated/races.h).
 */
#include "tests/check.h"
#include "tests/engine/decode.h"
#include "tests/engine/laws.h"

enum { STEPS = 11, SMALL_PROMPT = 72 };

int main(void)
{
    char spec[LAW_POLICIES][LAW_SPEC];
    struct item together[LAW_POLICIES], alone;
    struct engine *en = decode_open(&(struct engine_options){.max_batch = LAW_POLICIES});
    int n = law_tight_specs(spec);
    laws_open(en);
    CHECK(n > 10);
    for (int i = 0; i < n; i++) {
        together[i] = law_item(decode_policy(en, spec[i]), i, STEPS);
        if (check_small())
            together[i].req.n_prompt = SMALL_PROMPT;
    }
    decode_all(en, together, n, NULL);
    for (int i = 0; i < n; i += check_small() ? 5 : 1) {
        alone = (struct item){.req = together[i].req};
        decode_all(en, &alone, 1, NULL);
        CHECK_INT(together[i].n_ids, STEPS);
        CHECK(items_equal(&together[i], &alone));
        items_release(&alone, 1);
    }
    items_release(together, n);
    laws_close();
    engine_close(en);
    return check_done();
}
