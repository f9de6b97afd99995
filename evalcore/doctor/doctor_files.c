/* What a model's folder holds: files, shapes and weights. Weights are looked at by their headers;
 * doctor_answer.c loads them. */
#include <string.h>

#include "engine/model/safetensors.h"
#include "evalcore/base/file.h"
#include "evalcore/doctor/doctor_parts.h"

static int has_file(const struct patient *p, const char *name)
{
    struct str path = {0};
    file_join(&path, p->folder, name);
    int there = file_exists(str_text(&path));
    str_release(&path);
    return there;
}

/* Files that are read, and why a folder may do without. What must be there has a check of its own below. */
static const struct known {
    const char *name, *without; /* NULL: another check says it */
} known_files[] = {
    {"config.json", NULL},
    {"generation_config.json", "the end tokens of config.json count"},
    {"tokenizer.json", NULL},
    {"tokenizer_config.json", "no chat template, and tokenizer.json alone says what stands around a text"},
    {"chat_template.jinja", NULL},
    {"model.safetensors", NULL},
    {"model.safetensors.index.json", NULL},
};

static void check_files(struct patient *p)
{
    struct str found = {0};
    int other = 0;
    struct file_list list = {0};
    for (size_t i = 0; i < sizeof known_files / sizeof known_files[0]; i++)
        if (has_file(p, known_files[i].name))
            str_printf(&found, "%s%s", found.len ? ", " : "", known_files[i].name);
    if (!file_list(&list, p->folder, ".bin", NULL))
        other = (int)list.n;
    file_list_release(&list);
    doctor_say(p, found.len ? FINDING_OK : FINDING_FAULT, "files", "%s",
               found.len ? found.data : "none that a model has");
    for (size_t i = 0; i < sizeof known_files / sizeof known_files[0]; i++)
        if (known_files[i].without && !has_file(p, known_files[i].name))
            doctor_note("without %s: %s", known_files[i].name, known_files[i].without);
    if (has_file(p, "adapter_config.json")) {
        doctor_say(p, FINDING_WARNING, "files", "adapter_config.json: the adapter is not applied");
        doctor_way_out("merge it into the weights (PEFT's merge_and_unload) if it is meant");
    }
    if (other && !has_file(p, "model.safetensors") && !has_file(p, "model.safetensors.index.json"))
        doctor_note("%d .bin file%s (PyTorch) cannot be read", other, other > 1 ? "s" : "");
    str_release(&found);
}

static int largest_window(const struct model_config *c)
{
    int largest = 0;
    for (int i = 0; i < c->n_layers; i++)
        largest = c->window[i] > largest ? c->window[i] : largest;
    return largest;
}

static void check_shape(struct patient *p)
{
    struct err e = {0};
    struct model_config *c = &p->config;
    struct str vocab = {0};
    if (model_config_open(c, p->model, &e)) {
        c->family = NULL;
        doctor_say(p, FINDING_FAULT, "model", "%s", e.text);
        doctor_way_out("config.json belongs to the weights: get it from where they are from");
        return;
    }
    doctor_number(&vocab, c->vocab);
    doctor_say(
        p, FINDING_OK, "model",
        "%s, %d layers, %d query and %d KV heads of %d, hidden %d, MLP %d, vocabulary %s, context %d%s",
        model_family_name(c->family), c->n_layers, c->n_q, c->n_kv, c->head_dim, c->hidden, c->ffn,
        vocab.data, c->max_position, c->tie_embeddings ? ", output head tied to the embedding" : "");
    str_release(&vocab);
    if (c->n_windows)
        doctor_note("%d of %d layers read a window of %d tokens; policies act on the others", c->n_windows,
                    c->n_layers, largest_window(c));
    if (*c->unapplied)
        doctor_note(
            "generation_config.json has %s, which is not applied: a run file says how tokens are drawn",
            c->unapplied);
    if (engine_describe(&p->order->engine, &p->info, &e)) {
        doctor_say(p, FINDING_FAULT, "budget", "%s", e.text);
        doctor_way_out("give a --context and a --batch that this model and this program have");
        memset(&p->info, 0, sizeof p->info);
    }
}

struct sum {
    double values[ST_OTHER + 1]; /* by st_dtype */
    double file_bytes;
};

static void add_up(const struct safetensors *st, struct sum *s)
{
    const struct st_tensor *t;
    for (size_t i = 0; (t = safetensors_at(st, i)); i++) {
        double n = 1;
        for (int d = 0; d < t->n_dims; d++)
            n *= (double)t->shape[d];
        s->values[t->dtype] += n;
        s->file_bytes += (double)t->bytes;
    }
}

/* "134,515,008 parameters, bf16, 256.6 MiB" */
static void say_weights(struct patient *p, const struct sum *s)
{
    static const char *const names[] = {"fp32", "fp16", "bf16", "other"};
    struct str types = {0}, count = {0}, size = {0};
    double all = 0;
    int n_types = 0;
    for (int i = 0; i <= ST_OTHER; i++) {
        all += s->values[i];
        n_types += s->values[i] > 0;
    }
    for (int i = 0; i <= ST_OTHER; i++)
        if (s->values[i] > 0) {
            str_printf(&types, "%s%s", types.len ? " and " : "", names[i]);
            if (n_types > 1)
                str_printf(&types, " (%.2g %%)", 100 * s->values[i] / all);
        }
    doctor_number(&count, all);
    str_bytes(&size, s->file_bytes);
    p->has_weights = s->values[ST_OTHER] == 0 && all > 0;
    doctor_say(p, p->has_weights ? FINDING_OK : FINDING_FAULT, "weights", "%s parameters, %s, %s", count.data,
               str_text(&types), size.data);
    if (s->values[ST_OTHER] > 0)
        doctor_way_out("quantized and integer weights are not supported: get the bf16 ones");
    if (s->values[ST_F16] > 0)
        doctor_note("fp16 becomes fp32 in memory, which is exact");
    str_release(&types);
    str_release(&count);
    str_release(&size);
}

/* How many parameters the shape asks for. */
static double shape_values(const struct model_config *c)
{
    double tables = (c->tie_embeddings ? 1.0 : 2.0) * c->vocab * c->hidden;
    return (double)model_layer_values(c) + tables + model_vector_values(c);
}

/* What is said of a model without a folder. */
static void say_own_weights(struct patient *p)
{
    struct str count = {0};
    p->has_weights = p->config.family != NULL;
    if (p->has_weights) {
        doctor_number(&count, shape_values(&p->config));
        doctor_say(p, FINDING_OK, "weights", "%s parameters, bf16", count.data);
    }
    str_release(&count);
}

static void check_weights(struct patient *p)
{
    struct safetensors *st = NULL;
    struct sum s = {{0}, 0};
    struct err e = {0};
    if (!p->folder) {
        say_own_weights(p);
        return;
    }
    int has_any = has_file(p, "model.safetensors") || has_file(p, "model.safetensors.index.json");
    int rc = safetensors_open_folder(&st, p->folder, &e);
    if (rc && !has_any) {
        doctor_say(p, FINDING_FAULT, "weights",
                   "none: tokenizer and shapes are looked at, nothing is decoded");
        doctor_way_out("%s", e.text);
    } else if (rc) {
        doctor_say(p, FINDING_FAULT, "weights", "%s", e.text);
        doctor_way_out("get the file anew, it is not what its publisher uploaded");
    } else {
        add_up(st, &s);
        say_weights(p, &s);
    }
    safetensors_close(st);
}

void doctor_files(struct patient *p)
{
    int is_embedded = !strcmp(p->model, "pocket"), is_random = engine_random_config(p->model) != NULL;
    p->folder = is_embedded || is_random ? NULL : p->model;
    if (p->folder)
        check_files(p);
    else
        doctor_say(p, FINDING_OK, "files",
                   is_embedded ? "none, the model is part of the program"
                               : "one, the shape; weights are random");
    check_shape(p);
    check_weights(p);
}
