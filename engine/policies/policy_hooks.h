#ifndef ENGINE_POLICIES_POLICY_HOOKS_H
#define ENGINE_POLICIES_POLICY_HOOKS_H

/* Part 2 of engine/policies/policy.h: what a policy implements. Include policy.h instead of this.
 *
 * A policy acts on the layers with full attention alone. A layer with a window (struct policy_dims) is as the
 * model has it under every policy: it calls no hook for a layer, nothing is chosen, dropped or moved in it,
 * and each of its tokens stays in the slot of its position. Layers have the model's own numbers everywhere,
 * and "the first N layers" are those, whichever of them are full.
 *
 * Order of calls for one sequence:
 *   prefill, per chunk and layer: on_qkv -> (rope_append) -> select_prefill -> (attention) -> on_attn_out
 *   end of the prompt:            prefill_end, once
 *   each decode step and layer:   on_qkv -> (rope_append) -> select -> (attention) -> observe -> on_attn_out
 * An instance may also take on_qk, which comes between the norms over heads and RoPE.
 *
 * A sequence whose prompt is shared with others has no prefill of its own: without POLICY_PREFILL, the
 * prefill hooks are sure to be called for the prompt's last prompt_tail() positions only, and prefill_end
 * always.
 *
 * Decode hooks do not run in every step: after a few steps of one shape of the batch they run once more while
 * a step is CAPTURED as a CUDA graph, and the captured operations are replayed from then on. So they enqueue
 * backend operations on the arrays of the context and may branch on layer and parameters, but never on
 * lengths; what varies from step to step lives on the device. Prefill hooks run each time, for one sequence
 * at a time. Where a hook is NULL the engine does what full attention does. The first launch that fails is
 * kept in ctx->e. */

enum policy_needs {
    POLICY_BOUNDS = 1,    /* page bounds */
    POLICY_STATS = 2,     /* buffers for attention statistics of tokens: logits and log-sum-exp */
    POLICY_DROP = 4,      /* it drops tokens, by layer and head: prompt pages are copied, never shared */
    POLICY_PREFILL = 8,   /* K and V of the prompt depend on it, so each sequence has a prefill of its own */
    POLICY_NO_LISTS = 16, /* select chooses nothing: no buffers for scores and lists, which are NULL */
    POLICY_DRAWS = 32,    /* it draws at random: samples at temperature 0 differ (policy_draws) */
    POLICY_OWN_KEYS = 64, /* it writes over keys of the prompt, whose pages are therefore copied */
    POLICY_PAGE_STATS = 128 /* buffers for attention statistics of pages, 1/16 of those of tokens */
};

struct policy_dims {
    int n_layers, n_q, n_kv, head_dim, hidden;
    int max_context, max_pages; /* of one sequence */
    int max_rows;               /* of a batch or prefill chunk */
    int max_batch;              /* sequences at a time; their indices come before those of shared prompts */
    int list_layers;            /* layers whose lists of tokens fit at a time */
    const int32_t *window;      /* host (n_layers): tokens that a layer's attention reads at most, 0 where it
                                 * is full; NULL: all are. Hooks are called for full layers alone */
};

struct policy_list { /* device lists of the policy group's rows; their contents last until the step ends */
    int32_t *idx, *len;
    int cap; /* entries per row, enough for list_layers * n_kv lists of tokens or n_q lists of pages */
};

/* One policy group of a step (the rows that share a policy instance), or one prefill call. */
struct policy_ctx {
    const struct backend *be;
    struct device *dev;
    struct policy_dims dims;
    struct kv_view kv;
    struct rows rows;
    const struct sample_settings *settings; /* device, by seq: seed, problem and sample */
    const int32_t *prompt_len;              /* device, by seq */
    const int32_t *total_len;               /* device, by seq: prompt + the most the completion may have */
    const float *x;    /* (rows, hidden): the residual stream; this layer's attention is added to it
                        * before on_attn_out */
    const void *y;     /* (rows, hidden): the layer's normed input */
    enum dtype y_type; /* of y */
    float *q, *k, *v;  /* row stride qkv_stride; in on_qkv as the linear layer gives them, in on_qk after the
                        * norms over heads, in select after RoPE */
    int qkv_stride;
    float scale;
    struct softmax_args softmax; /* of this layer */
    /* Workspace: stats, page_stats, score and list; in prefill for dims.max_batch rows, of which
     * policy_last_row takes one. page_stats are by_page. */
    struct stats stats, page_stats;
    float *score; /* per row: list_layers * n_kv lists of 16 * max_pages floats or n_q of max_pages */
    int32_t *score_n, *score_m;
    struct policy_list list[2];
    char *state; /* device: ops->state_bytes per sequence, by seq; zeroed when a sequence starts */
    size_t state_bytes;
    int prefill, seq, pos0, nq, n_prompt; /* prefill calls only */
    struct err *e;
};

enum prefill_kind { PREFILL_DENSE, PREFILL_UNTIL, PREFILL_TILES };
struct prefill_selection {
    enum prefill_kind kind;
    const int32_t *until; /* UNTIL: device (n_kv, until_stride): last query position that sees each key */
    int until_stride;
    /* TILES: n_rows lists for every `tile` queries (tiles begin at multiples of it), device (tiles of the
     * chunk, n_rows, cap), and their lengths: see prefill_attend_args. */
    int tile, cap, n_rows; /* n_rows: n_kv, or 1 */
    const int *kv_map;     /* as in struct selection */
    const int32_t *idx, *len;
    int scanned; /* 1: to choose, the policy looked at the keys up to each query, besides those attention
                    reads */
};

struct policy { /* an instance; a policy may write `own` and, in init, `takes_qk` only */
    const struct policy_ops *ops;
    const void *params;
    struct policy_dims dims;
    const struct backend *be;
    struct device *dev;
    int id; /* index in the engine */
    struct policy_spec spec;
    const char *key;    /* the resolved options as canonical JSON, in arena: equal for the same instance */
    unsigned needs;     /* policy_needs() of spec */
    struct arena arena; /* owns params */
    char *state;        /* device, max_batch * state_bytes */
    size_t state_bytes;
    void *own;    /* what init allocated */
    int takes_qk; /* 1: on_qk is called. It costs all rows of a step one more operation a layer where the
                   * model has norms over heads */
};

/* The types of what struct policy_ops holds. Functions with a struct err return 0 or a negative ERR_ code,
 * most often ERR_USAGE; the hooks keep the first failure in c->e. */
typedef int policy_check_fn(const void *params, struct err *e);
typedef unsigned policy_needs_fn(const void *params);
typedef const void *policy_data_fn(const void *params, size_t *n);
/* Sets the options in s->params that depend on the model, and s->taken. */
typedef int policy_resolve_fn(struct policy_spec *s, const struct policy_model *m, struct arena *a,
                              struct err *e);
typedef struct policy_budget policy_budget_fn(const void *params, const struct budget_at *at);
/* Returns the options in which a policy's reference differs from it, as text (policy_spec_reference()); NULL:
 * full attention is the reference. */
typedef const char *policy_reference_fn(const void *params);
typedef double policy_held_fn(const void *params, const struct budget_at *at);
typedef struct policy_period policy_period_fn(const void *params, const struct budget_at *at);
typedef void policy_describe_budget_fn(const void *params, struct str *out);
typedef int policy_init_fn(struct policy *p, struct err *e);
typedef void policy_release_fn(struct policy *p);
typedef int policy_tail_fn(const void *params);
typedef size_t policy_state_fn(const struct policy *p);
typedef void policy_hook_fn(const struct policy *p, const struct policy_ctx *c, int layer);
typedef void policy_select_fn(const struct policy *p, const struct policy_ctx *c, int layer,
                              struct selection *s);
typedef void policy_select_prefill_fn(const struct policy *p, const struct policy_ctx *c, int layer,
                                      struct prefill_selection *s);
typedef void policy_prefill_end_fn(const struct policy *p, const struct policy_ctx *c);

struct policy_ops {
    const char *name, *help;
    const struct param *params; /* the table that run files, --help, reports and job keys use */
    size_t params_size;
    const struct preset *presets; /* ends with name NULL; NULL: none */
    const char *preset_by_cr;     /* the preset whose budget is "cr" and no other; NULL: none */
    const char *budget_keys;      /* "k_pages,ratio,cr": exactly one must be given; "": none needed */
    /* Two sets of options as text, for the laws that tests check for every policy. With `generous` a context
     * of up to 1,500 tokens is read whole, so the tokens are those of full attention. With `tight` some of
     * 200 tokens are not read. NULL without a budget. */
    const char *generous, *tight;
    int is_bound;               /* policy_is_bound() */
    unsigned needs;             /* enum policy_needs, whatever its options are */
    policy_needs_fn *needs_of;  /* further needs with these options; NULL: none */
    policy_check_fn *check;     /* refuses options that contradict each other */
    policy_resolve_fn *resolve; /* fills in the model's defaults */
    policy_data_fn *data;       /* policy_data() */
    policy_budget_fn *budget;   /* the budget in tokens; a policy with budget_keys must have it */
    policy_held_fn *held;       /* policy_held_at(); for policies that drop */
    policy_period_fn *period;   /* policy_period(); NULL: 1 and 1 */
    policy_describe_budget_fn *describe_budget; /* the budget in words */
    policy_reference_fn *reference; /* NULL, or if it returns NULL: full attention is the reference */
    policy_init_fn *init;           /* binds to the model: checks layers and heads, allocates own */
    /* Frees own: once after every init, also after one that failed half way, and never without one. The
     * backend's release accepts NULL. */
    policy_release_fn *release;
    policy_state_fn *state_size; /* bytes of per-sequence state */
    /* Number of the prompt's last queries it looks at, if it has no POLICY_PREFILL. The prefill before them
     * is shared with other sequences. NULL: none. */
    policy_tail_fn *prompt_tail;
    policy_hook_fn *on_qkv;
    policy_hook_fn *on_qk; /* may change q and k in place */
    policy_select_fn *select;
    policy_hook_fn *observe; /* only for layers where select asked for statistics */
    policy_hook_fn *on_attn_out;
    policy_select_prefill_fn *select_prefill;
    policy_prefill_end_fn *prefill_end;
};

/* Returns the budget of a choice by attention mass (TOPK_MASS, which takes at least `least` tokens). The
 * number of tokens that hold a share of the mass below 1 is not known in advance. */
struct policy_budget policy_mass_budget(double mass, double least, const struct budget_at *at);

/* policy_layer_is_full() returns 1 if the layer has full attention, else 0; policy_next_full() the first such
 * layer above `layer`, which may be -1, or n_layers if there is none. */
int policy_layer_is_full(const struct policy_dims *d, int layer);
int policy_next_full(const struct policy_dims *d, int layer);

/* Enqueues an operation; the first failure is kept in c->e. */
void policy_launch(const struct policy_ctx *c, enum op op, const void *args);
/* Returns 1 if this is a prefill call with the prompt's last chunk, else 0. */
int policy_at_end(const struct policy_ctx *c);
/* Returns the context of the last row of a prefill chunk alone, for which there is workspace. x and y stay
 * those of the chunk's first row. */
struct policy_ctx policy_last_row(const struct policy_ctx *c);
/* Returns the policy group's workspace for scores: n_rows lists per row, of `stride` candidates each. */
struct scores policy_scores(const struct policy_ctx *c, int n_rows, int stride);
/* Enqueues the scores of pages by Quest's bound, each page of `block_pages` pages of the cache. The result
 * has a list per query head for SCORE_Q, else one per KV head. */
struct scores policy_page_scores(const struct policy_ctx *c, int layer, enum score_scope scope,
                                 int block_pages);
/* Enqueues the statistics of all live keys into `out`, c->stats or c->page_stats, without reading V. */
void policy_qk_stats(const struct policy_ctx *c, int layer, struct stats out);
/* For ops->check: returns 0 if the option has its default, else ERR_USAGE. For options without effect (why:
 * "with k_pages"), since cells that differ in them alone would be the same completions under two names. */
int policy_no_effect(const struct policy_ops *ops, const void *params, const char *key, const char *why,
                     struct err *e);
/* policy_reduce_stats() enqueues reduce_stats over a.in, or c->stats if a.in is empty, and returns a.out.
 * policy_prefill_mass() enqueues prefill_mass over the rows of a prefill call. Both fill in the arguments
 * that follow from c and layer; the caller sets the others. */
struct scores policy_reduce_stats(const struct policy_ctx *c, int layer, struct reduce_stats_args a);
void policy_prefill_mass(const struct policy_ctx *c, int layer, struct prefill_mass_args a);
/* For prefill_end: enqueues compact for the full layers. Fills in kv, seq, n and the layers; `until` and the
 * rings are those of layer 0. */
void policy_compact(const struct policy_ctx *c, struct compact_args a);
/* Sets *s so that the layer reads the n_rows lists of tokens in c->list[0]. */
void policy_read_tokens(const struct policy_ctx *c, int n_rows, struct selection *s);
/* Enqueues the choice of the best candidates of `in` into c->list[list], whose lists then hold
 * in.stride entries each. list is 0 or 1. len_of_seq: device, by seq, for choices that ask for a length; else
 * NULL. */
void policy_topk(const struct policy_ctx *c, struct scores in, const struct topk_params *topk,
                 const int32_t *len_of_seq, int list);

#endif
