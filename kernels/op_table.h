#ifndef KERNELS_OP_TABLE_H
#define KERNELS_OP_TABLE_H

/* clang-format off */
/* Part 2 of kernels/backend.h, the one table of all operations. backend.h includes it; do not include it
 * directly.
 *
 * Code that needs something for every operation defines a macro X and expands the table with it. The enum,
 * the names, the sizes of the arguments and the dispatch of both backends are made this way. Columns are
 * pasted into names (check_##check), so an operation with a missing or unknown column does not compile.
 *
 *   name     OP_name, struct name_args, and the functions op_name of the CPU and cuda_op_name
 *   check    check_... in op_check.c, which refuses arguments that the kernels cannot handle; nothing: no
 *            check
 *   type     the member of the arguments with the type of the values that feed linear layers, which the
 *            operation reads or writes; no_type: there is no such member
 *   part     OP_PART_..., the part of a decode step to which its time is added
 *   workspace  workspace_... in cpu/cpu_estimate.c: the workspace that it needs on the CPU, or none
 *   cost     cost_... in the same file: roughly how many elementary steps it takes; large: always enough work
 *            for all threads
 *
 * To add an operation, write a line here, its argument struct and its formula in backend_ops.h or
 * backend_forget.h, a function in kernels/cpu and one in kernels/cuda, and a test in tests/kernels. */
#define BACKEND_OPS(X)                                                                   \
    /* name            check           type     part       workspace       cost */       \
    X(embed,          nothing,        no_type, OTHER,     none,           embed)         \
    X(rmsnorm,        nothing,        type,    OTHER,     none,           rmsnorm)       \
    X(add_part,       nothing,        no_type, OTHER,     none,           add_part)      \
    X(cap_logits,     nothing,        no_type, SAMPLING,  none,           cap_logits)    \
    X(linear,         linear,         type,    LINEAR,    linear,         linear)        \
    X(append,         append,         no_type, APPEND,    none,           append)        \
    X(rope_append,    rope_append,    no_type, APPEND,    none,           rope_append)   \
    X(head_norm,      head_norm,      no_type, APPEND,    none,           head_norm)     \
    X(swiglu,         nothing,        type,    OTHER,     none,           swiglu)        \
    X(linear_swiglu,  linear_swiglu,  type,    LINEAR,    linear_swiglu,  linear_swiglu) \
    X(attend,         attend,         type,    ATTENTION, attend,         large)         \
    X(prefill_attend, prefill_attend, type,    PREFILL,   none,           large)         \
    X(prefill_mass,   prefill_mass,   no_type, PREFILL,   prefill_mass,   large)         \
    X(prefill_count,  prefill_count,  no_type, PREFILL,   none,           prefill_count) \
    X(page_scores,    page_scores,    no_type, SELECTION, none,           large)         \
    X(qk_stats,       qk_stats,       no_type, SELECTION, qk_stats,       large)         \
    X(reduce_stats,   reduce_stats,   no_type, SELECTION, none,           large)         \
    X(first_lse,      nothing,        no_type, SELECTION, none,           first_lse)     \
    X(topk,           topk,           no_type, SELECTION, topk,           topk)          \
    X(window_list,    nothing,        no_type, SELECTION, none,           window_list)   \
    X(rank_union,     rank_union,     no_type, SELECTION, rank_union,     large)         \
    X(mask_scores,    nothing,        no_type, SELECTION, none,           mask_scores)   \
    X(stamp,          nothing,        no_type, SELECTION, none,           stamp)         \
    X(drop_lowest,    nothing,        no_type, SELECTION, none,           drop_lowest)   \
    X(drop_list,      nothing,        no_type, SELECTION, none,           drop_list)     \
    X(load_stamps,    nothing,        no_type, SELECTION, none,           load_stamps)   \
    X(gate,           nothing,        type,    SELECTION, none,           gate)          \
    X(borrow,         borrow,         no_type, SELECTION, none,           borrow)        \
    X(mute,           mute,           no_type, SELECTION, none,           mute)          \
    X(expire,         expire,         no_type, SELECTION, none,           expire)        \
    X(until,          nothing,        no_type, PREFILL,   none,           until)         \
    X(compact,        nothing,        no_type, PREFILL,   none,           large)         \
    X(keep,           keep,           no_type, SELECTION, none,           keep)          \
    X(sort_slots,     sort_slots,     no_type, SELECTION, none,           sort_slots)    \
    X(random_scores,  random_scores,  no_type, SELECTION, none,           random_scores) \
    X(hold_keys,      hold_keys,      no_type, SELECTION, none,           hold_keys)     \
    X(accumulate,     accumulate,     no_type, SELECTION, none,           accumulate)    \
    X(pool_queries,   nothing,        no_type, SELECTION, none,           pool_queries)  \
    X(put_queries,    nothing,        no_type, SELECTION, none,           put_queries)   \
    X(window_mass,    window_mass,    no_type, SELECTION, window_mass,    large)         \
    X(key_redundancy, key_redundancy, no_type, SELECTION, key_redundancy, large)         \
    X(copy_blocks,     nothing,        no_type, SELECTION, none,           large)         \
    X(account,        nothing,        no_type, OTHER,     none,           account)       \
    X(sample,         nothing,        no_type, SAMPLING,  sample,         sample)        \
    X(fill_i32,       nothing,        no_type, SELECTION, none,           fill_i32)      \
    X(put_i32,        nothing,        no_type, SELECTION, none,           put_i32)
/* clang-format on */

enum op {
#define X(name, check, type, part, workspace, cost) OP_##name,
    BACKEND_OPS(X)
#undef X
        OP_COUNT
};

/* The parts of a decode step, as far as they can be told from the operation alone. engine/step_times.c
 * divides LINEAR and ATTENTION further, by their arguments. */
enum op_part {
    OP_PART_LINEAR,
    OP_PART_ATTENTION,
    OP_PART_SELECTION, /* what a policy adds */
    OP_PART_APPEND,
    OP_PART_OTHER,
    OP_PART_SAMPLING,
    OP_PART_PREFILL /* runs only while a prompt is read, in no decode step */
};

#endif
