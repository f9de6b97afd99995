#ifndef ENGINE_POLICIES_H
#define ENGINE_POLICIES_H

/* The registered policies. Adding one: a file here, a line here, a line in the table of
 * engine/policies/policy.c, its name in engine/CMakeLists.txt, rows in tests/engine/policies/policies.test.
 * The law tests loop over the table. */
extern const struct policy_ops policy_full, policy_quest, policy_raas, policy_delta, policy_kascade,
    policy_dms;

#endif
