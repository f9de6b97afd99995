/* Reads the shape of a model from config.json. The file is untrusted: the range of every number is checked
 * before it decides the size of anything. */
#include "engine/model/model_config.h"

#include <stdio.h>
#include <string.h>

#include "engine/model/model_rope.h"
#include "engine/pocket/pocket.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "kernels/backend.h"

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
    if (!rc && !json_is_object(o))
        rc = err_set(e, ERR_FORMAT, "%s: a JSON object is expected", what);
    if (!rc && !(rc = parse_family(c, o, what, e)) && !(rc = refuse_unsupported(o, what, e)) &&
        !(rc = parse_shape(c, o, what, e)) && !(rc = model_rope_parse(c, o, what, e)))
        rc = parse_eos(c, o, what, e);
    if (!rc && generation &&
        !(rc = json_read_text(&g, generation, n_generation, "generation_config.json", e)))
        rc = parse_eos(c, g, "generation_config.json", e);
    note_unapplied(c, g);
    json_decref(o);
    json_decref(g);
    return rc;
}

const char *model_random_config(const char *model)
{
    return strncmp(model, "random:", 7) ? NULL : model + 7;
}

int model_check_folder(const char *model, struct err *e)
{
    if (file_is_dir(model))
        return 0;
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
    int rc = file_read(str_text(&path), &text, e);
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
