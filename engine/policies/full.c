/* Full attention: every layer reads every token (policies.md section 1). The reference for every ratio: all
 * hooks are NULL, and a NULL hook means what full attention does. */
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

static const struct param full_params[] = {{0}};

const struct policy_ops policy_full = {
    .name = "full",
    .help = "full attention: every layer reads every token",
    .params = full_params,
    .budget_keys = "",
};
