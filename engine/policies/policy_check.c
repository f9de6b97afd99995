/* Is a policy complete? (contract: policy_hooks.h) What is missing here would not fail by itself: the policy
 * would run, and its cells would silently be absent from the figures of a report. */
#include <string.h>

#include "engine/policies/policy.h"

static int check_budget(const struct policy_ops *ops, struct err *e)
{
    for (const char *k = ops->budget_keys; *k;) {
        char key[64];
        size_t n = strcspn(k, ",");
        snprintf(key, sizeof key, "%.*s", (int)n, k);
        if (!param_find(ops->params, key))
            return err_set(e, ERR_USAGE, "policy %s: budget_keys names \"%s\", which is not among its params",
                           ops->name, key);
        k += n + (k[n] == ',');
    }
    if (*ops->budget_keys && !ops->budget)
        return err_set(e, ERR_USAGE,
                       "policy %s: budget_keys is \"%s\", but there is no budget hook; without it reports "
                       "draw the policy in no figure over the budget",
                       ops->name, ops->budget_keys);
    if (*ops->budget_keys && (!ops->generous || !ops->tight))
        return err_set(e, ERR_USAGE,
                       "policy %s: budget_keys is \"%s\", but there are no options `generous` and `tight`, "
                       "which the tests of the laws need",
                       ops->name, ops->budget_keys);
    if (*ops->budget_keys && !ops->rule)
        return err_set(e, ERR_USAGE, "policy %s: budget_keys is \"%s\", but there is no rule hook", ops->name,
                       ops->budget_keys);
    return 0;
}

int policy_ops_check(const struct policy_ops *ops, struct err *e)
{
    if (!ops->name || !*ops->name)
        return err_set(e, ERR_USAGE, "a policy has no name");
    if (!ops->help || !*ops->help)
        return err_set(e, ERR_USAGE, "policy %s: help is missing", ops->name);
    if (!ops->params)
        return err_set(e, ERR_USAGE,
                       "policy %s: params is missing; a policy without options has an empty table",
                       ops->name);
    if (!ops->budget_keys)
        return err_set(e, ERR_USAGE, "policy %s: budget_keys is missing; a policy without a budget has \"\"",
                       ops->name);
    return check_budget(ops, e);
}
