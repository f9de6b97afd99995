/* Opens safetensors files, alone or as the shards that an index names, and finds tensors by name. What a file
 * may hold is checked in safetensors_header.c. */
#include "engine/model/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/foreign_file.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct st_tensor *)a)->name, ((const struct st_tensor *)b)->name);
}

static struct st_file *add_file(struct safetensors *s, const char *path)
{
    xgrow(&s->file, &s->files_cap, s->n_files + 1, sizeof *s->file);
    struct st_file *f = &s->file[s->n_files++];
    *f = (struct st_file){.path = xstrdup(path)};
    return f;
}

static int add_path(struct safetensors *s, const char *path, struct err *e)
{
    struct st_file *f = add_file(s, path);
    int rc = file_map_open(&f->map, path, e);
    if (rc)
        return rc;
    f->bytes = f->map.data;
    f->n = f->map.size;
    return st_read_header(s, e);
}

static int finish_open(struct safetensors **out, struct safetensors *s, int rc)
{
    *out = NULL;
    if (rc) {
        safetensors_close(s);
        return rc;
    }
    if (s->n)
        qsort(s->entry, s->n, sizeof *s->entry, by_name);
    *out = s;
    return 0;
}

int safetensors_open_file(struct safetensors **out, const char *path, struct err *e)
{
    struct safetensors *s = xcalloc(1, sizeof *s);
    return finish_open(out, s, add_path(s, path, e));
}

int safetensors_open_memory(struct safetensors **out, const void *data, size_t n, const char *what,
                            struct err *e)
{
    struct safetensors *s = xcalloc(1, sizeof *s);
    struct st_file *f = add_file(s, what);
    f->bytes = data;
    f->n = n;
    return finish_open(out, s, st_read_header(s, e));
}

static int file_number(const struct safetensors *s, const char *path)
{
    for (size_t i = 0; i < s->n_files; i++)
        if (!strcmp(s->file[i].path, path))
            return (int)i;
    return -1;
}

static struct st_entry *find_in_file(const struct safetensors *s, const char *name, int file)
{
    size_t low = 0, high = s->n;
    while (low < high) { /* the first entry of that name: several shards may have a tensor of the same name */
        size_t mid = low + (high - low) / 2;
        if (strcmp(s->entry[mid].tensor.name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < s->n && !strcmp(s->entry[low].tensor.name, name); low++)
        if (file < 0 || s->entry[low].file == file)
            return &s->entry[low];
    return NULL;
}

static int refuse_shard(const char *dir, const char *index, const char *name, struct err *e)
{
    struct str why = {0};
    foreign_missing(&why, dir, name);
    int rc =
        err_set(e, ERR_IO, "%s: the file %s/%s that it names is missing%s", index, dir, name,
                why.len ? why.data : "; is the download complete? " FOREIGN_FETCH " gets what is missing");
    str_release(&why);
    return rc;
}

/* Opens the shard that one line of the index names, unless it is open. */
static int open_shard(struct safetensors *s, const char *dir, const char *index, const json_t *shard,
                      struct str *path, struct err *e)
{
    const char *name = json_string_value(shard);
    if (!name || !*name || strchr(name, '/') || !strcmp(name, "..") || !strcmp(name, "."))
        return err_set(e, ERR_FORMAT,
                       "%s: weight_map must name files of its own folder, and \"%.60s\" is none", index,
                       name ? name : "");
    str_clear(path);
    file_join(path, dir, name);
    if (file_number(s, path->data) >= 0)
        return 0;
    if (!file_exists(path->data))
        return refuse_shard(dir, index, name, e);
    return add_path(s, path->data, e);
}

/* Keeps only the tensors that the index names, each from the shard where the index says it is. */
static int open_index(struct safetensors *s, const char *dir, const char *index, struct err *e)
{
    json_t *root = NULL, *shard;
    struct str path = {0};
    struct st_entry *kept = NULL;
    const char *name;
    int rc = json_read_file(&root, index, e);
    if (rc)
        return rc;
    json_t *map = json_object_get(root, "weight_map");
    if (json_object_get(root, "error")) {
        rc = err_set(e, ERR_FORMAT, "%s: %s", index, foreign_message());
        goto out;
    }
    if (!json_object_size(map)) {
        rc = err_set(e, ERR_FORMAT, "%s: field \"weight_map\" must be an object of tensors and files", index);
        goto out;
    }
    json_object_foreach(map, name, shard)
    {
        rc = open_shard(s, dir, index, shard, &path, e);
        if (rc)
            goto out;
    }
    if (s->n)
        qsort(s->entry, s->n, sizeof *s->entry, by_name);
    size_t n = 0;
    kept = xcalloc(json_object_size(map), sizeof *kept);
    json_object_foreach(map, name, shard)
    {
        str_clear(&path);
        file_join(&path, dir, json_string_value(shard));
        const struct st_entry *x = find_in_file(s, name, file_number(s, path.data));
        if (!x) {
            rc = err_set(e, ERR_FORMAT, "%s: the tensor \"%.100s\" is not in %s", index, name, path.data);
            goto out;
        }
        kept[n++] = *x;
    }
    free(s->entry);
    s->entry = kept;
    s->n = s->cap = n;
    kept = NULL;
out:
    free(kept);
    str_release(&path);
    json_decref(root);
    return rc;
}

int safetensors_open_folder(struct safetensors **out, const char *dir, struct err *e)
{
    struct safetensors *s = xcalloc(1, sizeof *s);
    struct str one = {0}, index = {0};
    int rc;
    file_join(&one, dir, "model.safetensors");
    file_join(&index, dir, "model.safetensors.index.json");
    if (file_exists(one.data))
        rc = add_path(s, one.data, e);
    else if (file_exists(index.data))
        rc = open_index(s, dir, index.data, e);
    else
        rc = st_refuse_folder(dir, e);
    str_release(&one);
    str_release(&index);
    return finish_open(out, s, rc);
}

void safetensors_close(struct safetensors *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_files; i++) {
        json_decref(s->file[i].header);
        file_map_close(&s->file[i].map);
        free(s->file[i].path);
    }
    free(s->file);
    free(s->entry);
    free(s);
}

const struct st_tensor *safetensors_find(const struct safetensors *s, const char *name)
{
    const struct st_entry *x = find_in_file(s, name, -1);
    return x ? &x->tensor : NULL;
}

const struct st_tensor *safetensors_at(const struct safetensors *s, size_t i)
{
    return i < s->n ? &s->entry[i].tensor : NULL;
}

int safetensors_is_read(const struct safetensors *s, size_t i)
{
    return i < s->n && s->entry[i].is_read;
}

static void shape_text(struct str *out, int n_dims, const int64_t *shape)
{
    str_putc(out, '[');
    for (int i = 0; i < n_dims; i++)
        str_printf(out, "%s%lld", i ? ", " : "", (long long)shape[i]);
    str_putc(out, ']');
}

int safetensors_need(const struct safetensors *s, const char *name, int n_dims, const int64_t *shape,
                     const struct st_tensor **out, struct err *e)
{
    struct st_entry *x = find_in_file(s, name, -1);
    *out = NULL;
    if (!x)
        return err_set(e, ERR_FORMAT, "%s: the tensor \"%.100s\" is missing",
                       s->n_files ? s->file[0].path : "weights", name);
    const struct st_tensor *t = &x->tensor;
    if (t->dtype == ST_OTHER)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: tensor \"%.100s\" has the dtype %.20s; F32, F16 and BF16 are supported",
                       s->file[x->file].path, name, x->dtype);
    if (t->n_dims == n_dims && (!n_dims || !memcmp(t->shape, shape, (size_t)n_dims * sizeof *shape))) {
        *out = t;
        x->is_read = 1;
        return 0;
    }
    struct str has = {0}, want = {0};
    shape_text(&has, t->n_dims, t->shape);
    shape_text(&want, n_dims, shape);
    int rc = err_set(e, ERR_FORMAT, "%s: tensor \"%.100s\" has the shape %s, but config.json asks for %s",
                     s->file[x->file].path, name, has.data, want.data);
    str_release(&has);
    str_release(&want);
    return rc;
}

const char *safetensors_meta(const struct safetensors *s, const char *key)
{
    for (size_t i = 0; i < s->n_files; i++) {
        const char *v =
            json_string_value(json_object_get(json_object_get(s->file[i].header, "__metadata__"), key));
        if (v)
            return v;
    }
    return NULL;
}

/* ---- the values of a tensor as fp32 */

static uint32_t bits_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
    if (exponent == 31)
        return sign | 0x7F800000 | mantissa << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | mantissa << 13;
    if (!mantissa)
        return sign;
    exponent = 113; /* subnormal: shift until the leading bit is the hidden one */
    while (!(mantissa & 1024)) {
        mantissa <<= 1;
        exponent--;
    }
    return sign | exponent << 23 | (mantissa & 1023) << 13;
}

int st_to_f32(const struct st_tensor *t, float *out, size_t n, struct err *e)
{
    if (t->dtype == ST_OTHER)
        return err_set(e, ERR_UNSUPPORTED, "tensor \"%.100s\" has a dtype other than F32, F16 and BF16",
                       t->name);
    size_t item = t->dtype == ST_F32 ? 4 : 2;
    if (n != t->bytes / item)
        return err_set(e, ERR_FORMAT, "tensor \"%.100s\" has %zu values, %zu are asked for", t->name,
                       t->bytes / item, n);
    if (t->dtype == ST_F32) {
        if (n)
            memcpy(out, t->data, n * item);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, t->data + i * item, item);
        uint32_t bits = t->dtype == ST_BF16 ? (uint32_t)half << 16 : bits_of_half(half);
        memcpy(out + i, &bits, sizeof bits);
    }
    return 0;
}

int st_is_equal(const struct st_tensor *a, const struct st_tensor *b)
{
    enum { BLOCK = 4096 };
    float x[BLOCK], y[BLOCK];
    if (a->n_dims != b->n_dims || a->dtype == ST_OTHER || b->dtype == ST_OTHER ||
        (a->n_dims && memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof *a->shape)))
        return 0;
    if (a->dtype == b->dtype)
        return !a->bytes || !memcmp(a->data, b->data, a->bytes);
    size_t item[2] = {a->dtype == ST_F32 ? 4 : 2, b->dtype == ST_F32 ? 4 : 2}, n = a->bytes / item[0];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        struct st_tensor p = *a, q = *b;
        p.data += i * item[0];
        p.bytes = m * item[0];
        q.data += i * item[1];
        q.bytes = m * item[1];
        if (st_to_f32(&p, x, m, NULL) || st_to_f32(&q, y, m, NULL) || memcmp(x, y, m * sizeof *x))
            return 0;
    }
    return 1;
}
