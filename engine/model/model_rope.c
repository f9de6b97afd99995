/* How positions are stretched (contract: model_rope.h): not at all; "linear", all frequencies divided by a
 * factor; "llama3", those of long wavelengths (Llama 3.1); "yarn" (Peng et al., arXiv 2309.00071), a ramp
 * between the two ends, and attention made sharper. Every other kind is refused. */
#include "engine/model/model_rope.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static int check_theta(const struct model_config *c, const char *what, struct err *e)
{
    if (c->rope_theta > 0 && c->rope_theta < 1e30)
        return 0;
    return err_set(e, ERR_FORMAT, "%s: \"rope_theta\" is %g; a number above 0 is expected", what,
                   c->rope_theta);
}

static int parse_llama3(struct model_config *c, const json_t *s, const char *what, struct err *e)
{
    c->rope = ROPE_LLAMA3;
    if (json_get_double(s, "factor", &c->rope_factor, what, e) ||
        json_get_double(s, "low_freq_factor", &c->rope_low, what, e) ||
        json_get_double(s, "high_freq_factor", &c->rope_high, what, e) ||
        json_get_double(s, "original_max_position_embeddings", &c->rope_original, what, e))
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

static int is_given(const json_t *s, const char *key)
{
    const json_t *v = json_object_get(s, key);
    return v && !json_is_null(v);
}

static int parse_yarn(struct model_config *c, const json_t *s, const char *what, struct err *e)
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
    if (json_get_double(s, "factor", &c->rope_factor, what, e) ||
        json_get_double(s, "original_max_position_embeddings", &c->rope_original, what, e) ||
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

int model_rope_parse(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    c->rope_theta = 10000;
    c->rope_attention = 1;
    if (json_opt_double(o, "rope_theta", &c->rope_theta, what, e) || refuse_partial(o, what, e))
        return e->code;
    const json_t *s = json_object_get(o, "rope_scaling");
    if (!json_is_object(s))
        s = json_object_get(o, "rope_parameters");
    if (!json_is_object(s))
        return check_theta(c, what, e);
    const char *type = "default";
    if (json_opt_str(s, "type", &type, what, e) || json_opt_str(s, "rope_type", &type, what, e) ||
        json_opt_double(s, "rope_theta", &c->rope_theta, what, e) || check_theta(c, what, e) ||
        refuse_partial(s, what, e))
        return e->code;
    if (!strcmp(type, "default"))
        return 0;
    if (!strcmp(type, "llama3"))
        return parse_llama3(c, s, what, e);
    if (!strcmp(type, "linear"))
        return parse_linear(c, s, what, e);
    if (!strcmp(type, "yarn"))
        return parse_yarn(c, s, what, e);
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: \"rope_scaling\" has type \"%.40s\"; default, linear, llama3 and yarn are supported",
                   what, type);
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
