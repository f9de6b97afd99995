/* Reads the shape of a model from config.json. The file is untrusted: the range of every number is checked
 * before it decides the size of anything. */
#include "engine/model/model_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/pocket/pocket.h"
#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"
#include "evalcore/base/json.h"
#include "kernels/backend.h"

/* ---- the rotation of positions: not stretched; "linear", all frequencies divided by a factor; "llama3",
 * those of long wavelengths (Llama 3.1); "yarn" (Peng et al., arXiv 2309.00071), a ramp between the two ends,
 * and attention made sharper. Every other kind is refused. */

static const double pi = 3.14159265358979323846;

static int check_theta(const struct model_config *c, const char *what, struct err *e)
{
    if (c->rope_theta > 0 && c->rope_theta < 1e30)
        return 0;
    return err_set(e, ERR_FORMAT, "%s: \"rope_theta\" is %g; a number above 0 is expected", what,
                   c->rope_theta);
}

static int is_given(const json_t *s, const char *key)
{
    const json_t *v = json_object_get(s, key);
    return v && !json_is_null(v);
}

/* The context before it was stretched. Where the scaling s does not say it, Transformers takes that of the
 * configuration o, and then max_position_embeddings. */
static int parse_original(struct model_config *c, const json_t *o, const json_t *s, const char *what,
                          struct err *e)
{
    static const char key[] = "original_max_position_embeddings";
    double outer = 0, inner = 0;
    if ((is_given(o, key) && json_get_double(o, key, &outer, what, e)) ||
        (is_given(s, key) && json_get_double(s, key, &inner, what, e)))
        return e->code;
    if (outer && inner && outer != inner)
        return err_set(
            e, ERR_FORMAT,
            "%s: \"%s\" is %g there and %g in the scaling of the rotation; leave out the wrong one", what,
            key, outer, inner);
    c->rope_original = inner ? inner : outer ? outer : c->max_position;
    return 0;
}

static int parse_llama3(struct model_config *c, const json_t *o, const json_t *s, const char *what,
                        struct err *e)
{
    c->rope = ROPE_LLAMA3;
    if (json_get_double(s, "factor", &c->rope_factor, what, e) ||
        json_get_double(s, "low_freq_factor", &c->rope_low, what, e) ||
        json_get_double(s, "high_freq_factor", &c->rope_high, what, e) || parse_original(c, o, s, what, e))
        return e->code;
    if (c->rope_factor >= 1 && c->rope_low > 0 && c->rope_high > c->rope_low && c->rope_original > 0)
        return 0;
    return err_set(
        e, ERR_FORMAT,
        "%s: \"rope_scaling\" needs factor >= 1 and high_freq_factor above low_freq_factor above 0", what);
}

static int parse_linear(struct model_config *c, const json_t *s, const char *what, struct err *e)
{
    c->rope = ROPE_LINEAR;
    if (json_get_double(s, "factor", &c->rope_factor, what, e))
        return e->code;
    if (c->rope_factor >= 1 && c->rope_factor < 1e6)
        return 0;
    return err_set(e, ERR_FORMAT, "%s: \"rope_scaling\" has the factor %g; at least 1 is expected", what,
                   c->rope_factor);
}

static int parse_yarn(struct model_config *c, const json_t *o, const json_t *s, const char *what,
                      struct err *e)
{
    int truncate = 1;
    c->rope = ROPE_YARN;
    c->rope_low = 1; /* beta_slow and beta_fast, in rotations over the original context */
    c->rope_high = 32;
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "mscale_all_dim" : "mscale";
        if (is_given(s, key))
            return err_set(e, ERR_UNSUPPORTED, "%s: \"rope_scaling\" has \"%s\", which is not supported",
                           what, key);
    }
    if (json_get_double(s, "factor", &c->rope_factor, what, e) || parse_original(c, o, s, what, e) ||
        (is_given(s, "beta_slow") && json_get_double(s, "beta_slow", &c->rope_low, what, e)) ||
        (is_given(s, "beta_fast") && json_get_double(s, "beta_fast", &c->rope_high, what, e)) ||
        json_opt_bool(s, "truncate", &truncate, what, e))
        return e->code;
    if (!(c->rope_factor >= 1 && c->rope_factor < 1e6 && c->rope_low > 0 && c->rope_high > c->rope_low &&
          c->rope_original > 0 && c->rope_theta > 1))
        return err_set(
            e, ERR_FORMAT,
            "%s: \"rope_scaling\" needs factor >= 1, beta_fast above beta_slow above 0, and rope_theta "
            "above 1",
            what);
    c->rope_is_exact = !truncate;
    c->rope_attention = 0.1 * log(c->rope_factor) + 1;
    if (is_given(s, "attention_factor") &&
        json_get_double(s, "attention_factor", &c->rope_attention, what, e))
        return e->code;
    if (c->rope_attention > 0 && c->rope_attention < 100)
        return 0;
    return err_set(e, ERR_FORMAT,
                   "%s: \"rope_scaling\" has the attention_factor %g; a number above 0 is expected", what,
                   c->rope_attention);
}

/* Only part of each head rotated is something else. */
static int refuse_partial(const json_t *o, const char *what, struct err *e)
{
    double share = 1;
    if (is_given(o, "partial_rotary_factor") && json_get_double(o, "partial_rotary_factor", &share, what, e))
        return e->code;
    if (share == 1)
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "%s: \"partial_rotary_factor\" is %g; only 1 is supported", what,
                   share);
}

/* Sets *out to the object that holds the scaling, NULL for none. rope_scaling, the older name, hides
 * rope_parameters, but not when it is empty. */
static int find_scaling(const json_t **out, const json_t *o, const char *what, struct err *e)
{
    static const char *const keys[] = {"rope_scaling", "rope_parameters"};
    *out = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *s = json_object_get(o, keys[i]), *v;
        const char *key;
        if (!is_given(o, keys[i]))
            continue;
        if (!json_is_object(s))
            return err_set(e, ERR_FORMAT,
                           "%s: \"%s\" must be an object or null; leave it out where nothing is scaled", what,
                           keys[i]);
        json_object_foreach(s, key, v) if (json_is_object(v)) return err_set(
            e, ERR_UNSUPPORTED,
            "%s: \"%s\" has \"%.40s\", a rotation for some of the layers; only one for all is supported",
            what, keys[i], key);
        if (!*out && json_object_size(s))
            *out = s;
    }
    return 0;
}

/* Reads the rotation of a model whose shape is read already: rope_theta and rope_scaling, or rope_parameters,
 * in which newer files have both. */
static int model_rope_parse(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const json_t *s;
    const char *type = "default";
    c->rope_theta = 10000;
    c->rope_attention = 1;
    if (json_opt_double(o, "rope_theta", &c->rope_theta, what, e) || refuse_partial(o, what, e) ||
        find_scaling(&s, o, what, e))
        return e->code;
    if (!s)
        return check_theta(c, what, e);
    if (json_opt_str(s, "type", &type, what, e) || json_opt_str(s, "rope_type", &type, what, e) ||
        json_opt_double(s, "rope_theta", &c->rope_theta, what, e) || check_theta(c, what, e) ||
        refuse_partial(s, what, e))
        return e->code;
    if (!strcmp(type, "default"))
        return 0;
    if (!strcmp(type, "llama3"))
        return parse_llama3(c, o, s, what, e);
    if (!strcmp(type, "linear"))
        return parse_linear(c, s, what, e);
    if (!strcmp(type, "yarn"))
        return parse_yarn(c, o, s, what, e);
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: \"rope_scaling\" has type \"%.40s\"; default, linear, llama3 and yarn are supported",
                   what, type);
}

int model_scaled_context(const struct model_config *c)
{
    double scaled = c->rope_original * c->rope_factor;
    return scaled > c->max_position && scaled < 1e9 ? (int)scaled : 0;
}

/* Llama 3.1 stretches wavelengths above original / low by `factor`, keeps those below original / high, and
 * interpolates between the two. */
static double llama3_frequency(const struct model_config *c, double f)
{
    double wave = 2 * pi / f, low = c->rope_original / c->rope_low, high = c->rope_original / c->rope_high;
    if (wave < high)
        return f;
    if (wave > low)
        return f / c->rope_factor;
    double smooth = (c->rope_original / wave - c->rope_low) / (c->rope_high - c->rope_low);
    return (1 - smooth) * f / c->rope_factor + smooth * f;
}

/* The pair that rotates so often over the original context, as a real number. */
static double pair_of(const struct model_config *c, double rotations)
{
    return c->head_dim * log(c->rope_original / (rotations * 2 * pi)) / (2 * log(c->rope_theta));
}

/* Pairs up to the one that rotates beta_fast times keep their frequency, those from the one that rotates
 * beta_slow times on are stretched, and a linear ramp lies between. */
static double yarn_frequency(const struct model_config *c, int i, double f)
{
    double first = pair_of(c, c->rope_high), last = pair_of(c, c->rope_low);
    if (!c->rope_is_exact) {
        first = floor(first);
        last = ceil(last);
    }
    first = first > 0 ? first : 0;
    last = last < c->head_dim - 1 ? last : c->head_dim - 1;
    if (last == first)
        last += 0.001;
    double ramp = (i - first) / (last - first);
    ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return f / c->rope_factor * ramp + f * (1 - ramp);
}

double model_rope_frequency(const struct model_config *c, int i)
{
    double f = (double)powl((long double)c->rope_theta, -2.0L * i / c->head_dim);
    switch (c->rope) {
    case ROPE_LINEAR:
        return f / c->rope_factor;
    case ROPE_LLAMA3:
        return llama3_frequency(c, f);
    case ROPE_YARN:
        return yarn_frequency(c, i, f);
    case ROPE_DEFAULT:
        break;
    }
    return f;
}

/* ---- config.json and generation_config.json */

static int get_int(const json_t *o, const char *key, int64_t min, int64_t max, int *out, const char *what,
                   struct err *e)
{
    int64_t v;
    if (json_get_int(o, key, &v, what, e))
        return e->code;
    if (v < min || v > max)
        return err_set(e, ERR_UNSUPPORTED, "%s: \"%s\" is %lld; %lld to %lld is supported", what, key,
                       (long long)v, (long long)min, (long long)max);
    *out = (int)v;
    return 0;
}

/* Absent or null leaves *out as it is. */
static int opt_int(const json_t *o, const char *key, int64_t min, int64_t max, int *out, const char *what,
                   struct err *e)
{
    const json_t *v = json_object_get(o, key);
    return v && !json_is_null(v) ? get_int(o, key, min, max, out, what, e) : 0;
}

static const struct model_family families[] = {
    {.name = "qwen2", .qkv_bias = 1}, /* Qwen2 and Qwen2.5 */
    {.name = "qwen3", .qk_norm = 1},
    {.name = "llama"},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

static int parse_family(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    struct str known = {0};
    const char *type;
    if (json_get_str(o, "model_type", &type, what, e))
        return e->code;
    for (int i = 0; i < N_FAMILIES; i++) {
        if (!strcmp(type, families[i].name))
            c->family = &families[i];
        str_printf(&known, "%s%s", i == 0 ? "" : i + 1 < N_FAMILIES ? ", " : " and ", families[i].name);
    }
    int rc = c->family ? 0
                       : err_set(e, ERR_UNSUPPORTED, "%s: \"model_type\" is \"%.60s\"; %s are supported",
                                 what, type, str_text(&known));
    str_release(&known);
    return rc;
}

/* Fields that change the arithmetic in ways we do not implement must not be ignored. */
static int refuse_unsupported(const json_t *o, const char *what, struct err *e)
{
    const char *act = "silu";
    int flag = 0;
    if (json_opt_str(o, "hidden_act", &act, what, e))
        return e->code;
    if (strcmp(act, "silu"))
        return err_set(e, ERR_UNSUPPORTED, "%s: \"hidden_act\" is \"%.40s\"; only silu is supported", what,
                       act);
    static const char *const off[] = {"use_sliding_window", "mlp_bias", "attention_bias"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        flag = 0;
        if (json_opt_bool(o, off[i], &flag, what, e))
            return e->code;
        if (flag)
            return err_set(e, ERR_UNSUPPORTED, "%s: \"%s\" is true; this is not supported", what, off[i]);
    }
    const json_t *q = json_object_get(o, "quantization_config");
    if (q && !json_is_null(q))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s: \"quantization_config\" is present; quantized weights are not supported, use the bf16 ones",
            what);
    return 0;
}

static int parse_shape(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    double eps;
    if (get_int(o, "num_hidden_layers", 1, 1024, &c->n_layers, what, e) ||
        get_int(o, "num_attention_heads", 1, BACKEND_MAX_Q_HEADS, &c->n_q, what, e) ||
        get_int(o, "hidden_size", 16, 1 << 16, &c->hidden, what, e) ||
        get_int(o, "intermediate_size", 16, 1 << 18, &c->ffn, what, e) ||
        get_int(o, "vocab_size", 2, 1 << 21, &c->vocab, what, e) ||
        get_int(o, "max_position_embeddings", 16, 1 << 20, &c->max_position, what, e) ||
        json_get_double(o, "rms_norm_eps", &eps, what, e))
        return e->code;
    c->eps = (float)eps;
    if (!(c->eps > 0 && c->eps < 1))
        return err_set(e, ERR_FORMAT, "%s: \"rms_norm_eps\" is %g; a number between 0 and 1 is expected",
                       what, eps);
    c->n_kv = c->n_q;
    c->head_dim = c->hidden / c->n_q;
    if (opt_int(o, "num_key_value_heads", 1, BACKEND_MAX_Q_HEADS, &c->n_kv, what, e) ||
        opt_int(o, "head_dim", 1, 1 << 16, &c->head_dim, what, e))
        return e->code;
    if (c->n_q % c->n_kv || c->n_q / c->n_kv > BACKEND_MAX_GROUP)
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s: \"num_attention_heads\" %d over \"num_key_value_heads\" %d must be a whole number up to %d",
            what, c->n_q, c->n_kv, BACKEND_MAX_GROUP);
    if (c->head_dim % 16 || c->head_dim < 16 || c->head_dim > BACKEND_MAX_HEAD_DIM)
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s: \"head_dim\" (or hidden_size / num_attention_heads) is %d; multiples of 16 up to %d "
            "are supported",
            what, c->head_dim, BACKEND_MAX_HEAD_DIM);
    return json_opt_bool(o, "tie_word_embeddings", &c->tie_embeddings, what, e);
}

static int parse_eos(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const json_t *v = json_object_get(o, "eos_token_id");
    if (!v || json_is_null(v))
        return 0;
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    if (n > MODEL_MAX_EOS)
        return err_set(e, ERR_UNSUPPORTED, "%s: \"eos_token_id\" lists %zu tokens; up to %d are supported",
                       what, n, MODEL_MAX_EOS);
    c->n_eos = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;
        if (!json_is_integer(x) || json_integer_value(x) < 0 || json_integer_value(x) >= c->vocab)
            return err_set(e, ERR_FORMAT, "%s: \"eos_token_id\" must hold token ids below vocab_size %d",
                           what, c->vocab);
        c->eos[c->n_eos++] = (int32_t)json_integer_value(x);
    }
    return 0;
}

/* Other engines change the distribution by these entries of generation_config.json; here only a run file
 * does. */
static void note_unapplied(struct model_config *c, const json_t *o)
{
    static const struct {
        const char *key;
        double off;
    } keys[] = {{"repetition_penalty", 1},    {"no_repeat_ngram_size", 0}, {"suppress_tokens", 0},
                {"begin_suppress_tokens", 0}, {"bad_words_ids", 0},        {"min_length", 0},
                {"min_new_tokens", 0}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(o, keys[i].key);
        size_t n = strlen(c->unapplied);
        if (json_is_number(v) ? json_number_value(v) != keys[i].off : json_array_size(v) > 0)
            snprintf(c->unapplied + n, sizeof c->unapplied - n, "%s%s", n ? ", " : "", keys[i].key);
    }
}

int model_config_parse(struct model_config *c, const char *text, size_t n, const char *generation,
                       size_t n_generation, const char *what, struct err *e)
{
    memset(c, 0, sizeof *c);
    json_t *o = NULL, *g = NULL;
    int rc = json_read_text(&o, text, n, what, e);
    if (!rc && json_object_get(o, "error") && !json_object_get(o, "model_type"))
        rc = err_set(e, ERR_FORMAT, "%s: %s", what, foreign_message());
    if (!rc && !json_is_object(o))
        rc = err_set(e, ERR_FORMAT, "%s: a JSON object is expected", what);
    if (!rc && !(rc = parse_family(c, o, what, e)) && !(rc = refuse_unsupported(o, what, e)) &&
        !(rc = parse_shape(c, o, what, e)) && !(rc = model_rope_parse(c, o, what, e)))
        rc = parse_eos(c, o, what, e);
    if (!rc && generation)
        rc = json_read_text(&g, generation, n_generation, "generation_config.json", e);
    if (!rc && json_object_get(g, "error"))
        rc = err_set(e, ERR_FORMAT, "generation_config.json: %s", foreign_message());
    if (!rc && g)
        rc = parse_eos(c, g, "generation_config.json", e);
    note_unapplied(c, g);
    json_decref(o);
    json_decref(g);
    return rc;
}

void model_config_shape(const struct model_config *c, struct str *out)
{
    str_printf(out, "layers %d heads %d/%d of %d hidden %d ffn %d vocab %d qkv_bias %d qk_norm %d\n",
               c->n_layers, c->n_q, c->n_kv, c->head_dim, c->hidden, c->ffn, c->vocab, c->family->qkv_bias,
               c->family->qk_norm);
}

const char *model_random_config(const char *model)
{
    return strncmp(model, "random:", 7) ? NULL : model + 7;
}

int model_check_folder(const char *model, struct err *e)
{
    if (file_is_dir(model))
        return 0;
    if (file_exists(model))
        return err_set(e, ERR_USAGE,
                       "model %s: is a file; give the folder with config.json and *.safetensors in which the "
                       "model is",
                       model);
    return err_set(e, ERR_USAGE,
                   "model %s: there is no such folder; give \"pocket\", a folder with config.json and "
                   "*.safetensors, or an id OWNER/NAME of the Hub that is in its cache",
                   model);
}

int model_config_open(struct model_config *c, const char *model, struct err *e)
{
    if (!strcmp(model, "pocket")) {
        size_t n;
        const char *text = pocket_config(&n);
        return model_config_parse(c, text, n, NULL, 0, "embedded config.json", e);
    }
    const char *random = model_random_config(model);
    if (!random && model_check_folder(model, e))
        return ERR_USAGE;
    struct str path = {0}, gpath = {0}, text = {0}, gtext = {0};
    if (random) {
        str_puts(&path, random);
    } else {
        file_join(&path, model, "config.json");
        file_join(&gpath, model, "generation_config.json");
    }
    int rc = random ? 0 : foreign_check_missing(model, "config.json", e);
    if (!rc && !random)
        rc = foreign_check_missing(model, "generation_config.json", e);
    if (!rc && !random && !file_exists(str_text(&path)))
        rc = err_set(e, ERR_IO,
                     "cannot read %s: there is no such file; get it where the weights are from, or the model "
                     "with " FOREIGN_FETCH,
                     path.data);
    if (!rc)
        rc = file_read(str_text(&path), &text, e);
    if (!rc && !text.len)
        rc = err_set(e, ERR_FORMAT, "%s: %s", str_text(&path), foreign_bytes("", 0));
    int has_generation = !random && file_exists(str_text(&gpath));
    if (!rc && has_generation)
        rc = file_read(str_text(&gpath), &gtext, e);
    if (!rc)
        rc = model_config_parse(c, str_text(&text), text.len, has_generation ? str_text(&gtext) : NULL,
                                gtext.len, str_text(&path), e);
    str_release(&path);
    str_release(&gpath);
    str_release(&text);
    str_release(&gtext);
    return rc;
}
