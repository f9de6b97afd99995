/* Reading config.json. Each row of model_config.test changes some fields of a valid configuration. */
#include "engine/model/model_config.h"
#include <math.h>

#include "evalcore/base/json.h"
#include "tests/cases.h"

static const char base[] =
    "{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"num_attention_heads\":4,\"hidden_size\":64,"
    "\"intermediate_size\":64,\"vocab_size\":99,\"max_position_embeddings\":1024,\"rms_norm_eps\":1e-5}";

static void add_shape(struct str *out, const struct model_config *c)
{
    static const char *const kinds[] = {[ROPE_LINEAR] = "linear",
                                        [ROPE_LLAMA3] = "llama3",
                                        [ROPE_YARN] = "yarn",
                                        [ROPE_LONGROPE] = "longrope"};
    str_printf(out, "ok %d %d", c->n_kv, c->head_dim);
    for (int i = 0; i < c->n_ropes; i++)
        if (c->rope[i].kind != ROPE_DEFAULT)
            str_printf(out, ", %s %g x %g", kinds[c->rope[i].kind], c->rope[i].factor, c->rope[i].original);
}

/* What is not as in a Llama, in the order of struct model_config: "LAYERS" are windows, with the rotation
 * behind a colon where it is not the first. */
static void add_plan(struct str *out, const struct model_config *c)
{
    static const char *const norms[] = {[NORM_BEHIND] = "behind", [NORM_BOTH] = "before and behind"};
    static const char *const qk[] = {
        [QK_NORM_HEAD] = "heads", [QK_NORM_HEAD_AFTER] = "heads after", [QK_NORM_WIDE] = "wide"};
    static const char *const glu[] = {[GLU_GELU] = "gelu", [GLU_CLAMPED] = "clamped"};
    int apart = c->n_windows;
    if (c->norms != NORM_BEFORE)
        str_printf(out, ", norms %s%s", norms[c->norms], c->gain_plus_one ? " of 1 + gain" : "");
    if (c->qk_norm)
        str_printf(out, ", qk norm %s", qk[c->qk_norm]);
    if (c->qkv_bias || c->o_bias || c->ffn_bias)
        str_printf(out, ", bias%s%s%s", c->qkv_bias ? " qkv" : "", c->o_bias ? " o" : "",
                   c->ffn_bias ? " ffn" : "");
    if (c->glu)
        str_printf(out, ", %s", glu[c->glu]);
    if (c->attention_scale != 1.0f / sqrtf((float)c->head_dim))
        str_printf(out, ", attention %g", c->attention_scale);
    if (c->embed_scale != 1 || c->residual_scale != 1 || c->logit_scale != 1)
        str_printf(out, ", scales %g %g %g", c->embed_scale, c->residual_scale, c->logit_scale);
    if (c->attention_softcap || c->logit_softcap)
        str_printf(out, ", caps %g %g", c->attention_softcap, c->logit_softcap);
    if (c->query_beta)
        str_printf(out, ", queries %g %g", c->query_beta, c->query_original);
    for (int i = 0; i < c->n_ropes; i++)
        if (c->rope[i].theta != 10000 || c->rope[i].pairs != c->head_dim / 2)
            str_printf(out, ", theta %g of %d", c->rope[i].theta, c->rope[i].pairs);
    for (int i = 0; i < c->n_layers; i++)
        apart |= c->rope_of[i] != 0;
    for (int i = 0; apart && i < c->n_layers; i++)
        str_printf(out, "%s%d%s", i ? " " : ", layers ", c->window[i],
                   c->rope_of[i] < 0 ? ":-"
                   : c->rope_of[i]   ? ":1"
                                     : "");
}

static void row(const char *path, int line, char *patch)
{
    const char *right = case_cut(patch, " == "), *want = right ? right : "(no ==)";
    struct err e = {0};
    struct model_config c;
    struct str text = {0}, got = {0};
    json_t *o = json_loads(base, 0, NULL), *p = json_loads(patch, 0, NULL);
    CHECK(o && p && json_object_update(o, p) == 0);
    json_canonical(&text, o);
    if (model_config_parse(&c, str_text(&text), text.len, NULL, 0, "config.json", &e))
        str_puts(&got, strncmp(e.text, "config.json: ", 13) ? e.text : e.text + 13);
    else {
        add_shape(&got, &c);
        add_plan(&got, &c);
    }
    if (strcmp(str_text(&got), want))
        fprintf(stderr, "%s:%d: %s\n", path, line, patch);
    CHECK_STR(str_text(&got), want);
    json_decref(o);
    json_decref(p);
    str_release(&text);
    str_release(&got);
}

int main(int argc, char **argv)
{
    cases_each_line(argc > 1 ? argv[1] : NULL, row);
    return check_done();
}
