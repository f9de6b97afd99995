/* Loading a model's weights from the page cache onto the device: reading the mapped files, pinned memory, the
 * copy. The floor of a GPU is what copies from pinned memory reach. Random weights are written first, as a
 * folder of safetensors files beside the current ones; hashing, which is done once a file in its life, is not
 * in the figure. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model.h"
#include "engine/model/safetensors.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/bench/bench_device.h"

enum { RUNS = 3, CONTEXT = 128, BLOCK = 1 << 20 };

struct folder {
    char path[32];
    struct str map;        /* the index: tensors and their files */
    struct str header;     /* the header of the file being made */
    char file[32];         /* its name */
    size_t bytes;          /* its tensors' */
    unsigned char *random; /* (BLOCK): what they are filled with */
};

static void add_tensor(struct folder *f, int rows, int columns, const char *name)
{
    size_t n = (size_t)rows * (size_t)(columns ? columns : 1) * 2;
    str_printf(&f->header, "%s\"%s\": {\"dtype\": \"BF16\", \"shape\": [%d", f->header.len ? ", " : "{", name,
               rows);
    if (columns)
        str_printf(&f->header, ", %d", columns);
    str_printf(&f->header, "], \"data_offsets\": [%zu, %zu]}", f->bytes, f->bytes + n);
    str_printf(&f->map, "%s\"%s\": \"%s\"", f->map.len ? ", " : "", name, f->file);
    f->bytes += n;
}

static int write_file(struct folder *f, struct err *e)
{
    struct str path = {0};
    unsigned char length[8];
    str_putc(&f->header, '}');
    while (f->header.len % 8)
        str_putc(&f->header, ' ');
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)f->header.len >> 8 * i);
    file_join(&path, f->path, f->file);
    int fd = file_open_new(path.data, 0);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "wb");
    int bad =
        !to || fwrite(length, 1, 8, to) != 8 || fwrite(f->header.data, 1, f->header.len, to) != f->header.len;
    for (size_t left = f->bytes; left && !bad;) {
        size_t n = left < BLOCK ? left : BLOCK;
        bad = fwrite(f->random, 1, n, to) != n;
        left -= n;
    }
    bad |= to && fclose(to);
    if (bad)
        err_set(e, file_error_code(errno), "cannot write %s: %s", path.data, err_reason(errno));
    str_clear(&f->header);
    str_release(&path);
    f->bytes = 0;
    return e->code;
}

static int write_layer(struct folder *f, const struct model_config *c, int layer, struct err *e)
{
    int q = c->n_q * c->head_dim, kv = c->n_kv * c->head_dim;
    const struct {
        const char *name;
        int rows, columns;
    } t[] = {{"self_attn.q_proj", q, c->hidden},         {"self_attn.k_proj", kv, c->hidden},
             {"self_attn.v_proj", kv, c->hidden},        {"self_attn.o_proj", c->hidden, q},
             {"mlp.gate_proj", c->ffn, c->hidden},       {"mlp.up_proj", c->ffn, c->hidden},
             {"mlp.down_proj", c->hidden, c->ffn},       {"input_layernorm", c->hidden, 0},
             {"post_attention_layernorm", c->hidden, 0}, {"self_attn.q_norm", c->head_dim, 0},
             {"self_attn.k_norm", c->head_dim, 0}};
    size_t n = sizeof t / sizeof *t - (c->qk_norm ? 0 : 2);
    snprintf(f->file, sizeof f->file, "layer-%d.safetensors", layer);
    for (size_t i = 0; i < n; i++) {
        char name[96];
        snprintf(name, sizeof name, "model.layers.%d.%s.weight", layer, t[i].name);
        add_tensor(f, t[i].rows, t[i].columns, name);
        snprintf(name, sizeof name, "model.layers.%d.%s.bias", layer, t[i].name);
        if (i < 3 && c->qkv_bias)
            add_tensor(f, t[i].rows, 0, name);
    }
    return write_file(f, e);
}

/* A folder that loads like a real one, of random weights in the configuration's shape. */
static int write_folder(struct folder *f, const char *config, struct err *e)
{
    struct model_config c;
    struct str text = {0}, path = {0}, model = {0};
    str_printf(&model, "random:%s", config);
    int rc = model_config_open(&c, model.data, e);
    if (!rc && !model_is_plain(&c))
        rc = err_set(
            e, ERR_UNSUPPORTED,
            "%s: bench load writes the files of a llama, qwen2 or qwen3 model; give such a config.json",
            config);
    if (!rc)
        rc = file_read(config, &text, e);
    f->random = xmalloc(BLOCK);
    for (size_t i = 0; i < BLOCK; i += 2) {
        f->random[i] = (unsigned char)hash_mix64(i);
        f->random[i + 1] = (unsigned char)(0x3c | (hash_mix64(i) >> 8 & 0x80)); /* bf16 of about 0.01 */
    }
    file_join(&path, f->path, "config.json");
    if (!rc)
        rc = file_write_atomic(path.data, text.data, text.len, e);
    for (int i = 0; !rc && i < c.n_layers; i++)
        rc = write_layer(f, &c, i, e);
    if (!rc) {
        snprintf(f->file, sizeof f->file, "tables.safetensors");
        add_tensor(f, c.vocab, c.hidden, "model.embed_tokens.weight");
        if (!c.tie_embeddings)
            add_tensor(f, c.vocab, c.hidden, "lm_head.weight");
        add_tensor(f, c.hidden, 0, "model.norm.weight");
        rc = write_file(f, e);
    }
    str_clear(&text);
    str_clear(&path);
    str_printf(&text, "{\"weight_map\": {%s}}\n", str_text(&f->map));
    file_join(&path, f->path, "model.safetensors.index.json");
    if (!rc)
        rc = file_write_atomic(path.data, text.data, text.len, e);
    str_release(&text);
    str_release(&path);
    str_release(&model);
    return rc;
}

static void remove_folder(struct folder *f)
{
    if (*f->path)
        file_remove_tree(f->path, NULL);
    str_release(&f->map);
    str_release(&f->header);
    free(f->random);
}

/* Computes the hashes, kept in `cache`, and so brings the files into the page cache. */
static int warm_hashes(const char *model, const char *cache, struct err *e)
{
    struct safetensors *st = NULL;
    char identity[65];
    int rc = strcmp(model, "pocket") ? safetensors_open_folder(&st, model, e) : 0;
    if (!rc && st)
        rc = safetensors_identity(st, cache, identity, e);
    safetensors_close(st);
    return rc;
}

static int measure_load(struct bench *b, const struct bench_device *d, const char *model, const char *cache,
                        struct err *e)
{
    double best = 0, bytes = 0, floor = d->limits->upload_bandwidth ? d->limits->upload_bandwidth(d->dev) : 0;
    for (int run = 0; run < RUNS; run++) {
        struct model m;
        double start = clock_seconds();
        if (model_open(&m, model, d->be, d->dev, CONTEXT, cache, e))
            return e->code;
        /* A download waits for what is still on its way. */
        float last;
        int rc = d->be->download(d->dev, &last, m.norm, sizeof last);
        double seconds = clock_seconds() - start;
        bytes = (double)m.bytes;
        model_close(&m);
        if (rc < 0)
            return err_set(e, ERR_DEVICE, "benchmark: %s", d->be->last_error(d->dev));
        best = !run || seconds < best ? seconds : best;
    }
    char name[256];
    snprintf(name, sizeof name, "load %.160s, %.2f GB in %.2f s", b->model, bytes / 1e9, best);
    bench_print(b, name, bytes / best / 1e9, "GB/s", floor);
    return 0;
}

int bench_load(struct bench *b, struct err *e)
{
    const char *config = model_random_config(b->model);
    struct folder f = {.path = "kveval-bench-XXXXXX"};
    struct bench_device d = {0};
    if (!mkdtemp(f.path)) {
        f.path[0] = 0;
        return err_set(e, file_error_code(errno), "cannot make a folder here for the benchmark: %s",
                       err_reason(errno));
    }
    int rc = bench_device_open(&d, b, e);
    if (!rc && config)
        rc = write_folder(&f, config, e);
    if (!rc)
        rc = warm_hashes(config ? f.path : b->model, f.path, e);
    if (!rc)
        rc = measure_load(b, &d, config ? f.path : b->model, f.path, e);
    bench_device_close(&d);
    remove_folder(&f);
    return rc;
}
