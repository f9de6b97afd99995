/* The prompts and specs of the law tests (contract: laws.h). */
#include "tests/engine/laws.h"

#include <stdio.h>
#include <string.h>

const char *const law_families[LAW_FAMILIES] = {"relay20", "algebra16", "choice18", "lookup60"};
static struct prompts prompts[LAW_FAMILIES];

void laws_open(struct engine *en)
{
    for (int f = 0; f < LAW_FAMILIES; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/data/pocket/problems/%s.jsonl", SOURCE_DIR, law_families[f]);
        prompts_load(&prompts[f], en, path, 4);
    }
}

void laws_close(void)
{
    for (int f = 0; f < LAW_FAMILIES; f++)
        prompts_release(&prompts[f]);
}

struct item law_item(struct policy *p, int k, int steps)
{
    const struct token_list *t = &prompts[k % LAW_FAMILIES].ids[k / LAW_FAMILIES % 4];
    struct item it;
    memset(&it, 0, sizeof it);
    it.req = (struct request){.prompt = t->id,
                              .n_prompt = (int)t->n,
                              .policy = p,
                              .max_new_tokens = steps,
                              .end_token = -1,
                              .want_logprobs = 1};
    return it;
}

/* The specs of all policies, or of those with a budget. */
static int specs(char spec[LAW_POLICIES][LAW_SPEC], int tight)
{
    int n = 0;
    for (size_t i = 0; policy_at(i) && n < LAW_POLICIES; i++) {
        const struct policy_ops *ops = policy_at(i);
        const char *options = tight ? ops->tight : ops->generous;
        if (options)
            snprintf(spec[n++], LAW_SPEC, "%s:%s", ops->name, options);
        else if (tight)
            snprintf(spec[n++], LAW_SPEC, "%s", ops->name);
    }
    return n;
}

int law_generous_specs(char spec[LAW_POLICIES][LAW_SPEC])
{
    return specs(spec, 0);
}

int law_tight_specs(char spec[LAW_POLICIES][LAW_SPEC])
{
    return specs(spec, 1);
}
