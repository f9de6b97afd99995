/* See laws.h. */
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

int law_covers(const char *law, const void *table, size_t n, size_t item)
{
    int missing = 0;
    for (size_t p = 0; policy_at(p); p++) {
        const char *name = policy_name(policy_at(p));
        int found = 0;
        for (size_t i = 0; i < n; i++) {
            const char *spec;
            memcpy(&spec, (const char *)table + i * item, sizeof spec);
            found |= strcspn(spec, ":") == strlen(name) && !strncmp(spec, name, strlen(name));
        }
        if (!found)
            printf("%s: policy %s is not in the table\n", law, name);
        missing += !found;
    }
    return missing == 0;
}
