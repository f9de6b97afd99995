/* The model with windows and sinks of windows/windows.txt (contract: window_model.h). */
#include "tests/engine/window_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tests/engine/gates.h"

static void die(const struct err *e)
{
    fprintf(stderr, "%s\n", e->text);
    exit(1);
}

static void need(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "windows.txt: %s\n", what);
        exit(1);
    }
}

static int number(const json_t *o, const char *key)
{
    return (int)json_integer_value(json_object_get(o, key));
}

static void read_config(struct windows *w, const char *text)
{
    struct err e = {0};
    json_t *o;
    str_puts(&w->config, text);
    if (json_read_text(&o, text, strlen(text), "config", &e))
        die(&e);
    w->vocab = number(o, "vocab_size");
    w->n_layers = number(o, "num_hidden_layers");
    w->n_kv = number(o, "num_key_value_heads");
    w->hidden = number(o, "hidden_size");
    for (int l = 0; l < w->n_layers && l < STREAM_LAYERS; l++) {
        const json_t *type = json_array_get(json_object_get(o, "layer_types"), (size_t)l);
        w->window[l] =
            !strcmp(json_string_value(type), "sliding_attention") ? number(o, "sliding_window") : 0;
    }
    json_decref(o);
}

/* LENGTH SEED PROBLEM KV_READS KV_READS_FULL KEY_ELEMENTS, and the tokens */
static void read_stream(struct windows *w, struct stream *s, const char *text)
{
    double v[3], ids[STREAM_NEW];
    char *end;
    need(made_numbers(&text, v, 2) == 2, text);
    s->n = (int)v[0];
    made_ids(s->prompt, s->n, (uint64_t)v[1], w->vocab);
    s->problem = strtoull(text, &end, 10);
    text = end;
    need(made_numbers(&text, v, 3) == 3, text);
    s->reads = v[0];
    s->reads_full = v[1];
    s->key_elements = v[2];
    need(made_numbers(&text, ids, STREAM_NEW) == STREAM_NEW, text);
    for (int i = 0; i < STREAM_NEW; i++)
        s->ids[i] = (int32_t)ids[i];
}

static void read_line(struct windows *w, const char *line)
{
    static char policy[128];
    if (!strncmp(line, "config ", 7)) {
        read_config(w, line + 7);
    } else if (!strncmp(line, "tensor ", 7)) {
        made_add(&w->model, line + 7, w->n_layers);
    } else if (!strncmp(line, "gate ", 5)) {
        made_add(&w->gates, line + 5, w->n_layers);
    } else if (!strncmp(line, "policy ", 7)) {
        snprintf(policy, sizeof policy, "%s", line + 7);
    } else if (!strncmp(line, "stream ", 7) && w->n < MAX_STREAMS) {
        struct stream *s = &w->s[w->n++];
        memcpy(s->policy, policy, sizeof policy);
        read_stream(w, s, line + 7);
    } else {
        need(*line == '#', line);
    }
}

/* The fixture, and the model's files in the folder "model". */
void windows_open(struct windows *w)
{
    static const struct st_meta meta[] = {{"window", "16"}, {"shift", "0"}, {0}};
    struct err e = {0};
    struct file_lines l;
    const char *line;
    size_t len;
    memset(w, 0, sizeof *w);
    if (file_lines_open(&l, SOURCE_DIR "/tests/engine/windows/windows.txt", &e))
        die(&e);
    while (file_lines_next(&l, &line, &len, &e) == 1)
        read_line(w, line);
    file_lines_close(&l);
    need(w->n > 0, "no streams");
    if (file_mkdirs("model", &e) || file_write_atomic("model/config.json", w->config.data, w->config.len, &e))
        die(&e);
    made_write(&w->model, "model/model.safetensors", NULL);
    made_write(&w->gates, "gates.safetensors", meta);
    gates_write("never.safetensors", w->n_layers, w->n_kv, w->hidden, -1);
}

void windows_release(struct windows *w)
{
    made_release(&w->model);
    made_release(&w->gates);
    str_release(&w->config);
}
