/* Reading config.json. Each row of model_config.test changes some fields of a valid configuration. */
#include "engine/model/model_config.h"
#include "evalcore/base/json.h"
#include "tests/cases.h"

static const char base[] =
    "{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"num_attention_heads\":4,\"hidden_size\":64,"
    "\"intermediate_size\":64,\"vocab_size\":99,\"max_position_embeddings\":1024,\"rms_norm_eps\":1e-5}";

static void add_shape(struct str *out, const struct model_config *c)
{
    static const char *const kinds[] = {
        [ROPE_LINEAR] = "linear", [ROPE_LLAMA3] = "llama3", [ROPE_YARN] = "yarn"};
    str_printf(out, "ok %d %d", c->n_kv, c->head_dim);
    if (c->rope != ROPE_DEFAULT)
        str_printf(out, ", %s %g x %g", kinds[c->rope], c->rope_factor, c->rope_original);
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
    else
        add_shape(&got, &c);
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
