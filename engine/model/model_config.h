#ifndef ENGINE_MODEL_MODEL_CONFIG_H
#define ENGINE_MODEL_MODEL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"
#include "kernels/backend.h"

/* A door of engine/model (model.h says what the room is for): the plan of a model, from config.json and
 * generation_config.json of a Hugging Face folder. The plan is plain data that the transformer follows; which
 * fields of config.json it comes from is the family's matter (model_family.c), and nothing else knows
 * families. What is not built in is refused with the name of the field. */
enum { MODEL_MAX_EOS = 7 }; /* with the chat form's end token as many as a sampler can ban */
enum { MODEL_UNAPPLIED = 160, MODEL_MAX_LAYERS = 1024, MODEL_ROPES = 2 };
enum { MODEL_MAX_PAIRS = BACKEND_MAX_HEAD_DIM / 2 };

struct model_family; /* a row of the table in model_family.c */

/* Where a layer's two parts, attention and feed-forward, have an RMSNorm: before them (Llama), behind them,
 * before they are added to the residual stream (OLMo 2), or in both places (Gemma). */
enum norm_place { NORM_BEFORE = 1, NORM_BEHIND = 2, NORM_BOTH = 3 };

/* RMSNorm of queries and keys: none, over each head before the rotation (Qwen3) or after it (Hunyuan), or
 * before the rotation over the whole width of q, and of k (OLMo 2). */
enum qk_norm { QK_NORM_NONE, QK_NORM_HEAD, QK_NORM_HEAD_AFTER, QK_NORM_WIDE };

/* How positions rotate q and k: the frequencies are those of theta, not stretched; all divided by a factor;
 * those of long wavelengths alone (Llama 3.1); a ramp between two ends (YaRN, Peng et al., arXiv 2309.00071);
 * or each divided by a factor of its own (LongRoPE, arXiv 2402.13753). */
enum rope_kind { ROPE_DEFAULT, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN, ROPE_LONGROPE };
struct model_rope {
    enum rope_kind kind;
    int pairs; /* pairs of a head's channels that rotate: head_dim / 2, or the first of them */
    double theta, factor, low, high, original;
    int is_exact;     /* yarn: the ends of the ramp are not rounded to whole pairs */
    double attention; /* cosines and sines are multiplied by this: 1, but for yarn and longrope */
    double divisor[MODEL_MAX_PAIRS]; /* longrope */
};

struct model_config {
    const struct model_family *family;
    int n_layers, n_q, n_kv, head_dim, hidden, ffn, vocab, max_position;
    int tie_embeddings, is_part; /* is_part: the files have more than this language model */
    float eps;

    /* the plan: what all layers share, then each layer */
    enum norm_place norms;
    int gain_plus_one; /* norms multiply by 1 + gain (Gemma) */
    enum qk_norm qk_norm;
    int qkv_bias, o_bias, ffn_bias, has_sinks;
    enum glu glu;
    float attention_scale, attention_softcap; /* softcap 0: none */
    float embed_scale, residual_scale;        /* residual_scale: of what a part adds to the stream */
    float logit_scale, logit_softcap;         /* logits are multiplied, then capped */
    double query_beta, query_original;        /* q is multiplied by 1 + beta ln(1 + floor(pos / original)) */
    struct model_rope rope[MODEL_ROPES];
    int n_ropes, n_windows;           /* n_windows: layers with a window */
    int32_t window[MODEL_MAX_LAYERS]; /* tokens that a query of the layer reads at most, its own among them;
                                       * 0: all */
    int rope_of[MODEL_MAX_LAYERS];    /* index of the layer's rotation, -1: none */

    int32_t eos[MODEL_MAX_EOS];
    int n_eos;
    /* Names of the entries of generation_config.json that are not applied; "" for none. */
    char unapplied[MODEL_UNAPPLIED];
};

/* Returns the family's "model_type"; model_families() appends the names of all of published models: "a, b and
 * c". */
const char *model_family_name(const struct model_family *f);
void model_families(struct str *out);
/* Returns that of family i of published models, and sets *models to what people know it by; NULL past the
 * end.
 */
const char *model_family_at(size_t i, const char **models);

/* Returns the values per token of the fused linear layer of queries, keys and values. */
static inline int model_qkv_values(const struct model_config *c)
{
    return (c->n_q + 2 * c->n_kv) * c->head_dim;
}

/* Returns the windows by layer, which c holds; NULL: no layer has one. */
static inline const int32_t *model_windows(const struct model_config *c)
{
    return c->n_windows ? c->window : NULL;
}

/* Returns 1 if a part's output is not added to the residual stream as it is: a norm or a multiplier stands
 * between. */
static inline int model_has_part_output(const struct model_config *c)
{
    return (c->norms & NORM_BEHIND) || c->residual_scale != 1;
}

/* Return the tokens that a step of this context, and the queries of a prompt of n tokens one after the other,
 * read when nothing chooses for them: sums over layers, of which those with windows read less. */
int64_t model_step_reads(const struct model_config *c, int context);
int64_t model_prompt_reads(const struct model_config *c, int n);

/* Returns 1 if plan and names of tensors are Llama's or Qwen's, with what these may have: biases of q, k and
 * v, and norms over heads before the rotation. */
int model_is_plain(const struct model_config *c);

/* Returns 1 if channels of heads have the checkpoint's order, and norms of q and k, if there are any, stand
 * before the rotation. */
int model_keeps_channels(const struct model_config *c);

/* Appends a line to out that names the shape: two configurations with the same line have the same tensors
 * and the same arithmetic on them, but for the rotation and eps. */
void model_config_shape(const struct model_config *c, struct str *out);

/* Returns the number of parameters that are in no matrix, norms, biases and sinks, of all layers and the last
 * norm. */
double model_vector_values(const struct model_config *c);

/* Returns the number of parameters in the matrices of all layers. */
static inline size_t model_layer_values(const struct model_config *c)
{
    size_t attention = (size_t)(model_qkv_values(c) + c->n_q * c->head_dim);
    return (size_t)c->n_layers * (attention + 3 * (size_t)c->ffn) * (size_t)c->hidden;
}

/* Parses the texts of both files. generation may be NULL; its end tokens replace those of the configuration.
 * `what` names the file in messages. Returns 0, ERR_FORMAT (no JSON, or a field that is missing or has no
 * possible value) or ERR_UNSUPPORTED (a model that is not built); then *c has no meaning. */
int model_config_parse(struct model_config *c, const char *text, size_t n, const char *generation,
                       size_t n_generation, const char *what, struct err *e);
/* Reads a model's configuration. model: "pocket", a folder, or "random:CONFIG.json", which means that shape
 * with random weights, for benchmarks. Returns 0, ERR_USAGE when there is no such folder, ERR_IO when a file
 * cannot be read, or a code of model_config_parse(). */
int model_config_open(struct model_config *c, const char *model, struct err *e);

/* Returns 0, or ERR_USAGE with advice when there is no folder of that name. */
int model_check_folder(const char *model, struct err *e);

/* Returns the configuration file of a "random:" model, which points into `model`; NULL for any other. */
const char *model_random_config(const char *model);

/* Returns the context for which the rotation is stretched, original x factor, when max_position_embeddings is
 * below that: people add YaRN and leave the other field alone. 0: it is not, or no original is known. */
int model_scaled_context(const struct model_config *c);

/* Returns the frequency, in radians per position, by which a rotation turns pair i of head_dim / 2: 0 for a
 * pair that does not rotate. */
double model_rope_frequency(const struct model_rope *r, int i);

/* Returns what q is multiplied by at a position (query_beta). */
double model_query_scale(const struct model_config *c, int pos);

#endif
