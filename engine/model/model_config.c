/* Reads the shape of a model from config.json. The file is untrusted: the range of every number is checked
 * before it decides the size of anything. */
#include "engine/model/model_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/pocket/pocket.h"
#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"

/* ---- config.json and generation_config.json */

/* A field that must be given, unless the family's class has a default, which is in *out already. */
static int get_or_default(const json_t *o, const char *key, int64_t min, int64_t max, int *out,
                          const char *what, struct err *e)
{
    return *out && !json_object_get(o, key) ? 0 : model_get_int(o, key, min, max, out, what, e);
}

static int parse_shape(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const struct model_family *f = c->family;
    double eps = f->eps;
    c->n_q = f->n_q;
    c->vocab = f->vocab;
    c->max_position = f->max_position;
    if (model_get_int(o, "num_hidden_layers", 1, MODEL_MAX_LAYERS, &c->n_layers, what, e) ||
        get_or_default(o, "num_attention_heads", 1, BACKEND_MAX_Q_HEADS, &c->n_q, what, e) ||
        model_get_int(o, "hidden_size", 16, 1 << 16, &c->hidden, what, e) ||
        model_get_int(o, "intermediate_size", 16, 1 << 18, &c->ffn, what, e) ||
        get_or_default(o, "vocab_size", 2, 1 << 21, &c->vocab, what, e) ||
        get_or_default(o, "max_position_embeddings", 16, 1 << 20, &c->max_position, what, e) ||
        (!(eps > 0 && !json_object_get(o, "rms_norm_eps")) &&
         json_get_double(o, "rms_norm_eps", &eps, what, e)))
        return e->code;
    c->eps = (float)eps;
    if (!(c->eps > 0 && c->eps < 1))
        return err_set(e, ERR_FORMAT, "%s: \"rms_norm_eps\" is %g; a number between 0 and 1 is expected",
                       what, eps);
    c->n_kv = c->family->n_kv && !json_object_get(o, "num_key_value_heads") ? c->family->n_kv : c->n_q;
    c->head_dim =
        c->family->head_dim && !json_object_get(o, "head_dim") ? c->family->head_dim : c->hidden / c->n_q;
    c->tie_embeddings = c->family->tied;
    if (model_opt_int(o, "num_key_value_heads", 1, BACKEND_MAX_Q_HEADS, &c->n_kv, what, e) ||
        model_opt_int(o, "head_dim", 1, 1 << 16, &c->head_dim, what, e))
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

/* o: config.json. Models that also take images have the language model's fields in an object of their own. */
static int parse_model(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const json_t *text = model_text_part(o);
    c->is_part = text != o;
    if (model_is_given(o, "quantization_config"))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s: \"quantization_config\" is present; quantized weights are not supported, use the bf16 ones",
            what);
    if (model_family_parse(c, text, what, e) || parse_shape(c, text, what, e) ||
        json_opt_bool(o, "tie_word_embeddings", &c->tie_embeddings, what, e) ||
        model_plan_parse(c, text, what, e) || parse_eos(c, text, what, e))
        return e->code;
    return c->is_part ? parse_eos(c, o, what, e) : 0;
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
    if (!rc)
        rc = parse_model(c, o, what, e);
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

int model_is_plain(const struct model_config *c)
{
    int plain = c->norms == NORM_BEFORE && c->qk_norm <= QK_NORM_HEAD && !c->o_bias && !c->ffn_bias &&
                !c->has_sinks && c->glu == GLU_SILU && c->embed_scale == 1 && c->residual_scale == 1 &&
                c->logit_scale == 1 && !c->logit_softcap && !c->attention_softcap && !c->n_windows &&
                !c->query_beta && c->n_ropes == 1 && !c->gain_plus_one &&
                !(c->family->switches & (FAMILY_FUSED | FAMILY_INTERLEAVED)) &&
                c->attention_scale == 1.0f / sqrtf((float)c->head_dim);
    for (int i = 0; plain && i < c->n_layers; i++)
        plain = c->rope_of[i] == 0;
    return plain;
}

int model_keeps_channels(const struct model_config *c)
{
    return c->qk_norm != QK_NORM_HEAD_AFTER && !(c->family->switches & FAMILY_INTERLEAVED) &&
           c->rope[0].pairs == c->head_dim / 2;
}

/* What a plain model's line does not say. */
static void add_plan(const struct model_config *c, struct str *out)
{
    if (model_is_plain(c))
        return;
    str_printf(out, "family %s ", c->family->name);
    str_printf(out, "plan %d %d %d %d %d %d %d", c->norms, c->qk_norm, c->o_bias, c->ffn_bias, c->has_sinks,
               c->glu, c->gain_plus_one);
    str_printf(out, " scales %.9g %.9g %.9g %.9g caps %.9g %.9g query %.9g %.9g layers", c->attention_scale,
               c->embed_scale, c->residual_scale, c->logit_scale, c->attention_softcap, c->logit_softcap,
               c->query_beta, c->query_original);
    for (int i = 0; i < c->n_layers; i++)
        str_printf(out, " %d:%d", c->window[i], c->rope_of[i]);
    str_puts(out, "\n");
}

void model_config_shape(const struct model_config *c, struct str *out)
{
    str_printf(out, "layers %d heads %d/%d of %d hidden %d ffn %d vocab %d qkv_bias %d qk_norm %d\n",
               c->n_layers, c->n_q, c->n_kv, c->head_dim, c->hidden, c->ffn, c->vocab, c->qkv_bias,
               c->qk_norm != QK_NORM_NONE);
    add_plan(c, out);
}

double model_vector_values(const struct model_config *c)
{
    double q = c->n_q * c->head_dim, kv = c->n_kv * c->head_dim;
    double layer = (c->norms == NORM_BOTH ? 4.0 : 2.0) * c->hidden;
    layer += c->qk_norm == QK_NORM_WIDE ? q + kv : c->qk_norm ? 2.0 * c->head_dim : 0;
    layer += (c->qkv_bias ? q + 2 * kv : 0) + (c->o_bias ? c->hidden : 0);
    layer += (c->ffn_bias ? 2.0 * c->ffn + c->hidden : 0) + (c->has_sinks ? c->n_q : 0);
    return layer * c->n_layers + c->hidden;
}

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

int64_t model_step_reads(const struct model_config *c, int context)
{
    int64_t sum = 0;
    for (int i = 0; i < c->n_layers; i++)
        sum += c->window[i] && c->window[i] < context ? c->window[i] : context;
    return sum;
}

int64_t model_prompt_reads(const struct model_config *c, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < c->n_layers; i++) {
        int64_t w = c->window[i] && c->window[i] < n ? c->window[i] : n;
        sum += triangle(w) + (n - w) * w;
    }
    return sum;
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
