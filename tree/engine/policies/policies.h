#ifndef ENGINE_POLICIES_POLICIES_H
#define ENGINE_POLICIES_POLICIES_H

/* The registered policies, in the order in which help lists them and figures colour them. To add one, write
 * engine/policies/NAME.c, which defines `const struct policy_ops policy_NAME`, and add X(NAME) here.
 * Everything else, the tests of the laws included, loops over this list. */
/* clang-format off */
#define POLICIES(X)                                                       \
    X(full) X(quest) X(raas) X(delta) X(kascade) X(dms)                   \
    X(oracle) X(streamingllm) X(omnikv) X(lessismore) X(deltallm)         \
    X(random) X(tova) X(h2o) X(snapkv) X(rkv)
/* clang-format on */

#define X(name) extern const struct policy_ops policy_##name;
POLICIES(X)
#undef X

#endif
