/* Full attention: every layer reads every token (docs/policies.md, full). All other policies are compared
 * with it. It has no hooks, since the engine does what full attention does wherever a hook is NULL. */
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

static const struct param full_params[] = {{0}};

const struct policy_ops policy_full = {
    .name = "full",
    .help = "full attention: every layer reads every token",
    .params = full_params,
    .budget_keys = "",
};
