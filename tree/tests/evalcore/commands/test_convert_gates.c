/* kveval convert gates: files of random adapters in the shape of Qwen3-8B are converted, and the logits of
 * the gate file on the layer's normed input are compared in double precision with the adapter's plain form on
 * the residual stream. Then the sentences of refusals. */
#include <math.h>
#include <stdlib.h>

#include "engine/model/safetensors.h"
#include "evalcore/base/file.h"
#include "evalcore/base/param.h"
#include "evalcore/base/rng.h"
#include "evalcore/commands/convert_gates.h"
#include "tests/check.h"

enum { LAYERS = 2, HIDDEN = 4096, KV = 8, TOKENS = 50 };

static const char *const config =
    "{\"model_type\": \"qwen3\", \"hidden_size\": 4096, \"intermediate_size\": 12288, \"num_hidden_layers\": "
    "2, "
    "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"head_dim\": 128, \"vocab_size\": 1000, "
    "\"max_position_embeddings\": 40960, \"rms_norm_eps\": 1e-6, \"rope_theta\": 1000000, \"hidden_act\": "
    "\"silu\", "
    "\"tie_word_embeddings\": false, \"eos_token_id\": 1, \"dms_window_size\": 512, \"dms_alpha_scale\": "
    "50.0, "
    "\"dms_initial_alpha_offset\": 4.5, \"dms_separate_alpha\": true%s}";

static float norm_in[LAYERS][HIDDEN], norm_own[LAYERS][HIDDEN], w[LAYERS][KV * HIDDEN], b[LAYERS][KV];
static struct rng rng;

static float uniform(float low, float high)
{
    return low + (high - low) * (float)rng_unit(&rng);
}

static void write(const char *path, const struct st_new *t, size_t n)
{
    struct err e = {0};
    CHECK_INT(safetensors_write(path, t, n, NULL, &e), 0);
}

static void write_config(const char *path, const char *more)
{
    struct err e = {0};
    struct str text = {0};
    str_printf(&text, config, more);
    CHECK_INT(file_write_atomic(path, text.data, text.len, &e), 0);
    str_release(&text);
}

/* model/: the norms of the layers, and what the configuration says. adapter, kvzap, mlp, other: files of
 * gates. */
static void make_files(void)
{
    static char name[8 * LAYERS][96];
    struct st_new model[LAYERS], adapter[3 * LAYERS], kvzap[2 * LAYERS];
    struct err e = {0};
    for (int l = 0; l < LAYERS; l++) {
        for (int d = 0; d < HIDDEN; d++) {
            norm_in[l][d] = uniform(0.02f, 2) * (d % 7 ? 1 : -1);
            norm_own[l][d] = uniform(0.5f, 1.5f);
        }
        for (int i = 0; i < KV * HIDDEN; i++)
            w[l][i] = uniform(-0.02f, 0.02f);
        for (int h = 0; h < KV; h++)
            b[l][h] = uniform(-0.1f, 0.1f);
        char(*n)[96] = &name[8 * l];
        snprintf(n[0], sizeof *n, "model.layers.%d.input_layernorm.weight", l);
        snprintf(n[1], sizeof *n, "model.layers.%d.self_attn.dms_proj_alpha_norm.weight", l);
        snprintf(n[2], sizeof *n, "model.layers.%d.self_attn.dms_proj_alpha.weight", l);
        snprintf(n[3], sizeof *n, "model.layers.%d.self_attn.dms_proj_alpha.bias", l);
        snprintf(n[4], sizeof *n, "layers.%d.weight", l);
        snprintf(n[5], sizeof *n, "layers.%d.bias", l);
        model[l] = (struct st_new){n[0], 1, {HIDDEN, 0}, norm_in[l]};
        adapter[3 * l] = (struct st_new){n[1], 1, {HIDDEN, 0}, norm_own[l]};
        adapter[3 * l + 1] = (struct st_new){n[2], 2, {KV, HIDDEN}, w[l]};
        adapter[3 * l + 2] = (struct st_new){n[3], 1, {KV, 0}, b[l]};
        kvzap[2 * l] = (struct st_new){n[4], 2, {KV, HIDDEN}, w[l]};
        kvzap[2 * l + 1] = (struct st_new){n[5], 1, {KV, 0}, b[l]};
    }
    CHECK_INT(file_mkdirs("model", &e), 0);
    write_config("model/config.json", "");
    write("model/model.safetensors", model, LAYERS);
    write("adapter.safetensors", adapter, 3 * LAYERS);
    write("kvzap.safetensors", kvzap, 2 * LAYERS);
    kvzap[0].name = "layers.0.0.weight";
    write("mlp.safetensors", kvzap, 1);
    write("other.safetensors", model, 1);
    static float zero[HIDDEN];
    CHECK_INT(file_mkdirs("muted", &e), 0);
    write_config("muted/config.json", "");
    model[1].data = zero;
    write("muted/model.safetensors", model, LAYERS);
}

static double rms(const float *x)
{
    double s = 0;
    for (int d = 0; d < HIDDEN; d++)
        s += (double)x[d] * (double)x[d];
    return sqrt(s / HIDDEN + 1e-6);
}

static double meta(const struct safetensors *s, const char *key)
{
    const char *text = safetensors_meta(s, key);
    CHECK(text != NULL);
    return text ? strtod(text, NULL) : NAN;
}

/* Logits of the file, as policy dms computes them, against the plain form: scale_of * (own(x) . w + b) +
 * bias_of, where own is the adapter's norm of the stream, or for KVzap the layer's normed input. */
static void compare(const char *path, double window, double shift, double scale_of, double bias_of, int kvzap)
{
    struct err e = {0};
    struct safetensors *s = NULL;
    static float got_w[KV * HIDDEN], got_b[KV], x[HIDDEN];
    int flagged = 0;
    CHECK_INT(safetensors_open_file(&s, path, &e), 0);
    CHECK(meta(s, "window") == window && meta(s, "shift") == shift);
    double scale = meta(s, "scale"), bias = meta(s, "bias");
    for (int l = 0; l < LAYERS; l++) {
        char name[96];
        snprintf(name, sizeof name, "model.layers.%d.self_attn.dms_proj.weight", l);
        CHECK_INT(st_to_f32(safetensors_find(s, name), got_w, KV * HIDDEN, &e), 0);
        snprintf(name, sizeof name, "model.layers.%d.self_attn.dms_proj.bias", l);
        CHECK_INT(st_to_f32(safetensors_find(s, name), got_b, KV, &e), 0);
        for (int t = 0; t < TOKENS; t++) {
            for (int d = 0; d < HIDDEN; d++)
                x[d] = uniform(-3, 3);
            double root = rms(x);
            for (int h = 0; h < KV; h++) {
                double want = (double)b[l][h], have = (double)got_b[h];
                for (int d = 0; d < HIDDEN; d++) {
                    double y = (double)x[d] / root;
                    want +=
                        (double)w[l][h * HIDDEN + d] * y * (double)(kvzap ? norm_in[l][d] : norm_own[l][d]);
                    have += (double)got_w[h * HIDDEN + d] * y * (double)norm_in[l][d];
                }
                want = want * scale_of + bias_of;
                have = have * scale + bias;
                CHECK_NEAR(have, want, 1e-5 * fabs(scale_of));
                CHECK((have > 0) == (want > 0) || fabs(want) < 1e-5 * fabs(scale_of));
                flagged += want > 0;
            }
        }
    }
    CHECK(flagged > LAYERS * TOKENS * KV / 20 && flagged < LAYERS * TOKENS * KV * 19 / 20);
    safetensors_close(s);
}

static void refused(struct convert_gates c, const char *want)
{
    struct err e = {0};
    struct str told = {0};
    CHECK(convert_gates(&c, &told, &e) < 0);
    CHECK_STR(e.text, want);
    CHECK(told.len == 0);
    str_release(&told);
}

static void made(struct convert_gates c, const char *want)
{
    struct err e = {0};
    struct str told = {0};
    CHECK_INT(convert_gates(&c, &told, &e), 0);
    CHECK_STR(e.code ? e.text : str_text(&told), want);
    str_release(&told);
}

int main(void)
{
    enum { UNSET = PARAM_UNSET_INT };
    rng_init(&rng, 7, 0);
    make_files();
    made((struct convert_gates){"adapter.safetensors", "model", "a.safetensors", UNSET, NAN},
         "adapters of dms_separate_alpha of 2 layers, window 512, shift 1: run them with "
         "dms:gate=a.safetensors");
    compare("a.safetensors", 512, 1, 50, -4.5, 0);
    made((struct convert_gates){"kvzap.safetensors", "model", "k.safetensors", UNSET, -0.2},
         "linear gates of KVzap of 2 layers, window 128, shift 0: run them with "
         "dms:gate=k.safetensors,prefill=dense");
    compare("k.safetensors", 128, 0, -1, -0.2, 1);
    made((struct convert_gates){"kvzap.safetensors", "model", "k.safetensors", 64, -0.2},
         "linear gates of KVzap of 2 layers, window 64, shift 0: run them with "
         "dms:gate=k.safetensors,prefill=dense");
    write_config("model/config.json", ", \"dms_alpha_per\": \"layer\"");
    made((struct convert_gates){"adapter.safetensors", "model", "a.safetensors", 9, NAN},
         "adapters of dms_separate_alpha of 2 layers, window 9, shift 1: run them with "
         "dms:gate=a.safetensors,alpha_per=layer");
    refused(
        (struct convert_gates){"adapter.safetensors", NULL, "x", UNSET, NAN},
        "adapter.safetensors is a file of gates alone; name with --model the folder of the model that they "
        "are for");
    refused((struct convert_gates){"adapter.safetensors", "model", "x", UNSET, -4},
            "--threshold is for KVzap's gates; these are adapters with their own");
    refused((struct convert_gates){"kvzap.safetensors", "model", "x", UNSET, NAN},
            "KVzap's gates are scores, and a token is dropped where its score is below a threshold; give "
            "--threshold, for example -4");
    refused(
        (struct convert_gates){"mlp.safetensors", "model", "x", UNSET, -4},
        "mlp.safetensors holds KVzap's two-layer gates (MLP); policy dms has linear gates only, so take the "
        "linear ones of the same model");
    refused((struct convert_gates){"other.safetensors", "model", "x", UNSET, -4},
            "other.safetensors has neither layers.0.self_attn.dms_proj_alpha.weight (an adapter of "
            "dms_separate_alpha) nor layers.0.weight (KVzap); other gates are not known. A checkpoint with a "
            "borrowed neuron needs no file: policy dms:neuron=last");
    refused(
        (struct convert_gates){"adapter.safetensors", "muted", "x", UNSET, NAN},
        "model.layers.1.input_layernorm.weight: channel 0 is 0, so the layer's normed input does not have "
        "what the adapter reads there; these gates cannot be converted");
    CHECK(!file_exists("x"));
    return check_done();
}
