/* Rotations of positions: reads them from config.json, and computes their frequencies. */
#include <math.h>
#include <string.h>

#include "engine/model/model_parts.h"

static const double pi = 3.14159265358979323846;

static int check_theta(const struct model_rope *r, const char *what, struct err *e)
{
    if (r->theta > 0 && r->theta < 1e30)
        return 0;
    return err_set(e, ERR_FORMAT, "%s: \"rope_theta\" is %g; a number above 0 is expected", what, r->theta);
}

/* ---- the kinds. o is the configuration, s the object with the scaling. */

/* The context before it was stretched. Where the scaling s does not say it, Transformers takes that of the
 * configuration o, then the family's default, and then max_position_embeddings. */
static int parse_original(const struct model_config *c, struct model_rope *r, const json_t *o,
                          const json_t *s, const char *what, struct err *e)
{
    static const char key[] = "original_max_position_embeddings";
    double outer = c->family->original, inner = 0;
    if ((model_is_given(o, key) && json_get_double(o, key, &outer, what, e)) ||
        (model_is_given(s, key) && json_get_double(s, key, &inner, what, e)))
        return e->code;
    if (outer && inner && outer != inner)
        return err_set(
            e, ERR_FORMAT,
            "%s: \"%s\" is %g there and %g in the scaling of the rotation; leave out the wrong one", what,
            key, outer, inner);
    r->original = inner ? inner : outer ? outer : c->max_position;
    return 0;
}

static int parse_llama3(const struct model_config *c, struct model_rope *r, const json_t *o, const json_t *s,
                        const char *what, struct err *e)
{
    r->kind = ROPE_LLAMA3;
    if (json_get_double(s, "factor", &r->factor, what, e) ||
        json_get_double(s, "low_freq_factor", &r->low, what, e) ||
        json_get_double(s, "high_freq_factor", &r->high, what, e) || parse_original(c, r, o, s, what, e))
        return e->code;
    if (r->factor >= 1 && r->low > 0 && r->high > r->low && r->original > 0)
        return 0;
    return err_set(
        e, ERR_FORMAT,
        "%s: \"rope_scaling\" needs factor >= 1 and high_freq_factor above low_freq_factor above 0", what);
}

static int parse_linear(struct model_rope *r, const json_t *s, const char *what, struct err *e)
{
    r->kind = ROPE_LINEAR;
    if (json_get_double(s, "factor", &r->factor, what, e))
        return e->code;
    if (r->factor >= 1 && r->factor < 1e6)
        return 0;
    return err_set(e, ERR_FORMAT, "%s: \"rope_scaling\" has the factor %g; at least 1 is expected", what,
                   r->factor);
}

static int parse_attention(struct model_rope *r, double absent, const json_t *s, const char *what,
                           struct err *e)
{
    r->attention = absent;
    if (model_is_given(s, "attention_factor") &&
        json_get_double(s, "attention_factor", &r->attention, what, e))
        return e->code;
    if (r->attention > 0 && r->attention < 100)
        return 0;
    return err_set(e, ERR_FORMAT,
                   "%s: \"rope_scaling\" has the attention_factor %g; a number above 0 is expected", what,
                   r->attention);
}

/* YaRN makes attention sharper by 1 + 0.1 m ln(factor), with m 1; with both of DeepSeek's fields by one such
 * number over another. */
static double yarn_attention(double factor, double m)
{
    return factor > 1 ? 0.1 * m * log(factor) + 1 : 1;
}

static int parse_yarn(const struct model_config *c, struct model_rope *r, const json_t *o, const json_t *s,
                      const char *what, struct err *e)
{
    int truncate = 1;
    double m = 0, all = 0;
    r->kind = ROPE_YARN;
    r->low = 1; /* beta_slow and beta_fast, in rotations over the original context */
    r->high = 32;
    if (json_get_double(s, "factor", &r->factor, what, e) || parse_original(c, r, o, s, what, e) ||
        (model_is_given(s, "beta_slow") && json_get_double(s, "beta_slow", &r->low, what, e)) ||
        (model_is_given(s, "beta_fast") && json_get_double(s, "beta_fast", &r->high, what, e)) ||
        json_opt_double(s, "mscale", &m, what, e) || json_opt_double(s, "mscale_all_dim", &all, what, e) ||
        json_opt_bool(s, "truncate", &truncate, what, e))
        return e->code;
    if (!(r->factor >= 1 && r->factor < 1e6 && r->low > 0 && r->high > r->low && r->original > 0 &&
          r->theta > 1))
        return err_set(
            e, ERR_FORMAT,
            "%s: \"rope_scaling\" needs factor >= 1, beta_fast above beta_slow above 0, and rope_theta "
            "above 1",
            what);
    r->is_exact = !truncate;
    return parse_attention(r,
                           m && all ? yarn_attention(r->factor, m) / yarn_attention(r->factor, all)
                                    : yarn_attention(r->factor, 1),
                           s, what, e);
}

/* A divisor for each pair. Transformers takes long_factor for a sequence that is longer than the original
 * context and short_factor for others, which would give one token two keys; here the model's own context
 * decides for all of its sequences, as in vLLM. */
static int parse_longrope(const struct model_config *c, struct model_rope *r, const json_t *o,
                          const json_t *s, const char *what, struct err *e)
{
    r->kind = ROPE_LONGROPE;
    if (parse_original(c, r, o, s, what, e))
        return e->code;
    if (!(r->original > 1 && r->original < 1e9))
        return err_set(e, ERR_FORMAT,
                       "%s: \"original_max_position_embeddings\" is %g; more than 1 is expected", what,
                       r->original);
    r->factor = c->max_position / r->original;
    if (json_opt_double(s, "factor", &r->factor, what, e))
        return e->code;
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "long_factor" : "short_factor";
        const json_t *list = json_object_get(s, key);
        if (!json_is_array(list) || json_array_size(list) != (size_t)r->pairs)
            return err_set(e, ERR_FORMAT,
                           "%s: \"%s\" must be a list with a number for each of the %d pairs that rotate",
                           what, key, r->pairs);
        for (int j = 0; j < r->pairs; j++) {
            double v = json_number_value(json_array_get(list, (size_t)j));
            if (!(v > 0 && v < 1e9))
                return err_set(e, ERR_FORMAT, "%s: \"%s\" must hold numbers above 0", what, key);
            if (i == (c->max_position > r->original))
                r->divisor[j] = v;
        }
    }
    return parse_attention(r, r->factor > 1 ? sqrt(1 + log(r->factor) / log(r->original)) : 1, s, what, e);
}

/* Hunyuan's "dynamic" is a theta that alpha stretches once. */
static int parse_alpha(const struct model_config *c, struct model_rope *r, const json_t *s, const char *what,
                       struct err *e)
{
    double alpha = 0;
    if (json_get_double(s, "alpha", &alpha, what, e))
        return e->code;
    if (!(alpha >= 1 && alpha < 1e9))
        return err_set(e, ERR_FORMAT, "%s: \"rope_scaling\" has the alpha %g; at least 1 is expected", what,
                       alpha);
    r->theta *= pow(alpha, c->head_dim / (c->head_dim - 2.0));
    return check_theta(r, what, e);
}

/* The share of each head that rotates. */
static int parse_share(const struct model_config *c, struct model_rope *r, const json_t *o, const char *what,
                       struct err *e)
{
    double share = 1;
    if (!model_is_given(o, "partial_rotary_factor"))
        return 0;
    if (json_get_double(o, "partial_rotary_factor", &share, what, e))
        return e->code;
    if (share != 1 && !(c->family->switches & FAMILY_PARTIAL))
        return err_set(e, ERR_UNSUPPORTED, "%s: \"partial_rotary_factor\" is %g; only 1 is supported for %s",
                       what, share, c->family->name);
    int channels = share > 0 && share <= 1 ? (int)(c->head_dim * share) : 0;
    if (channels < 2 || channels % 2)
        return err_set(
            e, ERR_FORMAT,
            "%s: \"partial_rotary_factor\" is %g; it must leave an even number of a head's %d channels", what,
            share, c->head_dim);
    r->pairs = channels / 2;
    return 0;
}

/* ---- from config.json */

/* One rotation: theta, and the scaling s, NULL for none. */
static int parse_rotation(struct model_config *c, struct model_rope *r, const json_t *o, const json_t *s,
                          const char *what, struct err *e)
{
    const char *type = "default";
    r->attention = 1;
    r->pairs = c->head_dim / 2;
    if (parse_share(c, r, o, what, e))
        return e->code;
    if (!s)
        return check_theta(r, what, e);
    if (json_opt_str(s, "type", &type, what, e) || json_opt_str(s, "rope_type", &type, what, e) ||
        json_opt_double(s, "rope_theta", &r->theta, what, e) || check_theta(r, what, e) ||
        parse_share(c, r, s, what, e))
        return e->code;
    if ((c->family->switches & FAMILY_LONG_NAMES) && (!strcmp(type, "su") || !strcmp(type, "yarn")))
        type = "longrope";
    if (!strcmp(type, "default"))
        return 0;
    if (!strcmp(type, "llama3"))
        return parse_llama3(c, r, o, s, what, e);
    if (!strcmp(type, "linear"))
        return parse_linear(r, s, what, e);
    if (!strcmp(type, "yarn"))
        return parse_yarn(c, r, o, s, what, e);
    if (!strcmp(type, "longrope"))
        return parse_longrope(c, r, o, s, what, e);
    if (!strcmp(type, "dynamic") && (c->family->switches & FAMILY_ALPHA) && model_is_given(s, "alpha"))
        return parse_alpha(c, r, s, what, e);
    return err_set(
        e, ERR_UNSUPPORTED,
        "%s: \"rope_scaling\" has type \"%.40s\"; default, linear, llama3, yarn, longrope, and Hunyuan's "
        "dynamic with an alpha are supported",
        what, type);
}

/* Sets *out to the object that holds the scaling, NULL for none. rope_scaling, the older name, hides
 * rope_parameters, but not when it is empty. *of_types: it has objects for types of layers instead. */
static int find_scaling(const json_t **out, int *of_types, const json_t *o, const char *what, struct err *e)
{
    static const char *const keys[] = {"rope_scaling", "rope_parameters"};
    *out = NULL;
    *of_types = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *s = json_object_get(o, keys[i]), *v;
        const char *key;
        if (!model_is_given(o, keys[i]))
            continue;
        if (!json_is_object(s))
            return err_set(e, ERR_FORMAT,
                           "%s: \"%s\" must be an object or null; leave it out where nothing is scaled", what,
                           keys[i]);
        if (*out || !json_object_size(s))
            continue;
        *out = s;
        json_object_foreach(s, key, v) *of_types |= json_is_object(v);
    }
    return 0;
}

/* Rotations by type of layer: first that of full layers, then that of layers with windows. Older files have
 * rope_scaling, which is for full layers alone, and Gemma's rope_local_base_freq. */
static int parse_types(struct model_config *c, const json_t *o, const json_t *s, int of_types,
                       const char *what, struct err *e)
{
    static const char *const types[] = {"full_attention", "sliding_attention"};
    c->n_ropes = 2;
    if (model_is_given(o, "rope_scaling") && model_is_given(o, "rope_parameters"))
        return err_set(
            e, ERR_FORMAT,
            "%s: \"rope_scaling\" and \"rope_parameters\" are both there; leave out the older rope_scaling",
            what);
    if (s && !of_types && !model_is_given(o, "rope_scaling"))
        return err_set(e, ERR_FORMAT,
                       "%s: \"rope_parameters\" of %s must have \"full_attention\" and \"sliding_attention\"",
                       what, c->family->name);
    for (int i = 0; i < 2; i++) {
        const json_t *one = of_types ? json_object_get(s, types[i]) : i == 0 ? s : NULL;
        struct model_rope *r = &c->rope[i];
        const char *key =
            i && c->family->theta != c->family->local_theta ? "rope_local_base_freq" : "rope_theta";
        r->theta = i ? c->family->local_theta : c->family->theta;
        if (json_opt_double(o, key, &r->theta, what, e))
            return e->code;
        if (one && !json_is_null(one) && !json_is_object(one))
            return err_set(e, ERR_FORMAT, "%s: \"rope_parameters\" must hold an object for \"%s\"", what,
                           types[i]);
        if (parse_rotation(c, r, o, json_is_object(one) ? one : NULL, what, e))
            return e->code;
    }
    return 0;
}

/* Ministral 3: queries grow with their position, step by step of the original context. */
static int parse_query_scale(struct model_config *c, const json_t *s, const char *what, struct err *e)
{
    if (!(c->family->switches & FAMILY_QUERY_SCALE))
        return 0;
    if (!s)
        return err_set(e, ERR_FORMAT, "%s: \"rope_parameters\" is missing, which a %s model has", what,
                       c->family->name);
    c->query_original = c->rope[0].original;
    if (json_opt_double(s, "llama_4_scaling_beta", &c->query_beta, what, e))
        return e->code;
    if (!c->query_beta || (c->query_beta > 0 && c->query_beta < 100 && c->query_original >= 1))
        return 0;
    return err_set(
        e, ERR_FORMAT,
        "%s: \"llama_4_scaling_beta\" is %g; a number above 0 and the original context are expected", what,
        c->query_beta);
}

int model_rope_parse(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const json_t *s;
    int of_types;
    if (find_scaling(&s, &of_types, o, what, e))
        return e->code;
    if (c->family->switches & FAMILY_ROPE_BY_TYPE)
        return parse_types(c, o, s, of_types, what, e);
    if (of_types)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: the rotation has values for some of the layers; %s has only one for all", what,
                       c->family->name);
    c->n_ropes = 1;
    c->rope[0].theta = c->family->theta ? c->family->theta : 10000;
    if (json_opt_double(o, "rope_theta", &c->rope[0].theta, what, e) ||
        parse_rotation(c, &c->rope[0], o, s, what, e))
        return e->code;
    return parse_query_scale(c, s, what, e);
}

int model_scaled_context(const struct model_config *c)
{
    double scaled = c->rope[0].original * c->rope[0].factor;
    return scaled > c->max_position && scaled < 1e9 ? (int)scaled : 0;
}

/* ---- what they compute */

/* Llama 3.1 stretches wavelengths above original / low by `factor`, keeps those below original / high, and
 * interpolates between the two. */
static double llama3_frequency(const struct model_rope *r, double f)
{
    double wave = 2 * pi / f, low = r->original / r->low, high = r->original / r->high;
    if (wave < high)
        return f;
    if (wave > low)
        return f / r->factor;
    double smooth = (r->original / wave - r->low) / (r->high - r->low);
    return (1 - smooth) * f / r->factor + smooth * f;
}

/* The pair that rotates so often over the original context, as a real number. */
static double pair_of(const struct model_rope *r, double rotations)
{
    return 2 * r->pairs * log(r->original / (rotations * 2 * pi)) / (2 * log(r->theta));
}

/* Pairs up to the one that rotates beta_fast times keep their frequency, those from the one that rotates
 * beta_slow times on are stretched, and a linear ramp lies between. */
static double yarn_frequency(const struct model_rope *r, int i, double f)
{
    double first = pair_of(r, r->high), last = pair_of(r, r->low);
    if (!r->is_exact) {
        first = floor(first);
        last = ceil(last);
    }
    first = first > 0 ? first : 0;
    last = last < 2 * r->pairs - 1 ? last : 2 * r->pairs - 1;
    if (last == first)
        last += 0.001;
    double ramp = (i - first) / (last - first);
    ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return f / r->factor * ramp + f * (1 - ramp);
}

double model_rope_frequency(const struct model_rope *r, int i)
{
    if (i >= r->pairs)
        return 0;
    double f = (double)powl((long double)r->theta, -2.0L * i / (2 * r->pairs));
    switch (r->kind) {
    case ROPE_LINEAR:
        return f / r->factor;
    case ROPE_LLAMA3:
        return llama3_frequency(r, f);
    case ROPE_YARN:
        return yarn_frequency(r, i, f);
    case ROPE_LONGROPE:
        return f / r->divisor[i];
    case ROPE_DEFAULT:
        break;
    }
    return f;
}

double model_query_scale(const struct model_config *c, int pos)
{
    return c->query_beta ? 1 + c->query_beta * log(1 + floor(pos / c->query_original)) : 1;
}
