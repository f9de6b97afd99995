/* Reading safetensors files. The header is untrusted: sizes are multiplied with overflow checks, and the
 * tensors must tile the data exactly, as the format demands, so no two overlap and nothing hides between
 * them. */
#include "engine/model/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/arena.h"

enum { HEADER_MAX = 100 * 1000 * 1000, DIMS_MAX = 8 };

static const struct dtype {
    const char *name;
    size_t bytes;
    enum st_dtype kind;
} DTYPES[] = {
    {"F32", 4, ST_F32},       {"F16", 2, ST_F16},       {"BF16", 2, ST_BF16},  {"F64", 8, ST_OTHER},
    {"F8_E4M3", 1, ST_OTHER}, {"F8_E5M2", 1, ST_OTHER}, {"BOOL", 1, ST_OTHER}, {"U8", 1, ST_OTHER},
    {"I8", 1, ST_OTHER},      {"U16", 2, ST_OTHER},     {"I16", 2, ST_OTHER},  {"U32", 4, ST_OTHER},
    {"I32", 4, ST_OTHER},     {"U64", 8, ST_OTHER},     {"I64", 8, ST_OTHER},
};

static const struct dtype *find_dtype(const char *name)
{
    for (size_t i = 0; i < sizeof DTYPES / sizeof *DTYPES; i++)
        if (!strcmp(DTYPES[i].name, name))
            return &DTYPES[i];
    return NULL;
}

static int bad(struct err *e, const struct st_file *f, const char *name, const char *why)
{
    return err_set(e, ERR_FORMAT, "%s: tensor \"%.100s\": %s", f->path, name, why);
}

/* Shape and the number of bytes it asks for; SIZE_MAX: of unknown element size. */
static int read_shape(const struct st_file *f, const char *name, const json_t *spec, const struct dtype *type,
                      struct st_tensor *t, size_t *bytes, struct err *e)
{
    const json_t *shape = json_object_get(spec, "shape");
    size_t n_dims = json_array_size(shape), total = type ? type->bytes : 1;
    if (!json_is_array(shape))
        return bad(e, f, name, "the shape must be a list");
    if (n_dims > DIMS_MAX)
        return bad(e, f, name, "the shape has more than 8 dimensions");
    t->n_dims = (int)n_dims;
    int zero = 0, overflow = 0;
    for (size_t i = 0; i < n_dims; i++) {
        const json_t *d = json_array_get(shape, i);
        if (!json_is_integer(d) || json_integer_value(d) < 0)
            return bad(e, f, name, "the shape must hold integers that are not negative");
        t->shape[i] = json_integer_value(d);
        zero |= t->shape[i] == 0;
        overflow |= __builtin_mul_overflow(total, (uint64_t)t->shape[i], &total);
    }
    if (!zero && (overflow || total > INT64_MAX))
        return bad(e, f, name, "the shape is larger than any memory");
    *bytes = type ? (zero ? 0 : total) : SIZE_MAX;
    return 0;
}

static int read_tensor(struct safetensors *s, int file, const char *name, const json_t *spec, size_t start,
                       struct err *e)
{
    const struct st_file *f = &s->file[file];
    struct st_entry x = {.tensor.name = name, .file = file};
    if (!json_is_object(spec))
        return bad(e, f, name, "its header entry must be an object");
    x.dtype = json_string_value(json_object_get(spec, "dtype"));
    if (!x.dtype)
        return bad(e, f, name, "the dtype must be a text");
    const struct dtype *type = find_dtype(x.dtype);
    x.tensor.dtype = type ? type->kind : ST_OTHER;
    size_t want = 0, size = f->n - start;
    int rc = read_shape(f, name, spec, type, &x.tensor, &want, e);
    if (rc)
        return rc;
    const json_t *offsets = json_object_get(spec, "data_offsets");
    const json_t *from = json_array_get(offsets, 0), *to = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return bad(e, f, name, "the data_offsets must be two integers");
    json_int_t a = json_integer_value(from), b = json_integer_value(to);
    if (a < 0 || b < a || (uint64_t)b > size)
        return err_set(e, ERR_FORMAT,
                       "%s: tensor \"%.100s\" has the data_offsets %lld to %lld, but the file holds %zu "
                       "bytes of data; is the "
                       "download complete?",
                       f->path, name, (long long)a, (long long)b, size);
    x.tensor.data = f->bytes + start + a;
    x.tensor.bytes = (size_t)(b - a);
    if (want != SIZE_MAX && want != x.tensor.bytes)
        return err_set(e, ERR_FORMAT,
                       "%s: tensor \"%.100s\" has %zu bytes of data, but its shape and dtype %s ask for %zu",
                       f->path, name, x.tensor.bytes, x.dtype, want);
    xgrow(&s->entry, &s->cap, s->n + 1, sizeof *s->entry);
    s->entry[s->n++] = x;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct st_tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct st_tensor *)a)->name, ((const struct st_tensor *)b)->name);
}

/* Tensors of one file must follow each other from the start of the data to the end of the file. */
static int check_tiling(const struct safetensors *s, const struct st_file *f, size_t first, size_t start,
                        struct err *e)
{
    if (s->n > first)
        qsort(s->entry + first, s->n - first, sizeof *s->entry, by_place);
    const unsigned char *at = f->bytes + start;
    for (size_t i = first; i < s->n; i++) {
        const struct st_tensor *t = &s->entry[i].tensor;
        if (t->data < at)
            return bad(e, f, t->name, "its data overlap those of another tensor");
        if (t->data > at)
            return bad(e, f, t->name, "there are bytes before its data that belong to no tensor");
        at += t->bytes;
    }
    size_t rest = (size_t)(f->bytes + f->n - at);
    if (rest)
        return err_set(e, ERR_FORMAT, "%s: the last %zu bytes belong to no tensor", f->path, rest);
    return 0;
}

/* Reads the header of the last file of s and appends its tensors. */
static int read_file(struct safetensors *s, struct err *e)
{
    struct st_file *f = &s->file[s->n_files - 1];
    uint64_t length = 0;
    if (f->n < 8)
        return err_set(e, ERR_FORMAT, "%s: %zu bytes are too few for a safetensors file", f->path, f->n);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | f->bytes[i];
    if (length > HEADER_MAX)
        return err_set(
            e, ERR_FORMAT,
            "%s: is no safetensors file: it would have a header of %llu bytes, at most %d are allowed",
            f->path, (unsigned long long)length, HEADER_MAX);
    if (length > f->n - 8)
        return err_set(
            e, ERR_FORMAT,
            "%s: the header of %llu bytes does not fit into the file of %zu bytes; is the download "
            "complete?",
            f->path, (unsigned long long)length, f->n);
    int rc = json_read_text(&f->header, (const char *)f->bytes + 8, (size_t)length, f->path, e);
    if (rc)
        return rc;
    if (!json_is_object(f->header))
        return err_set(e, ERR_FORMAT, "%s: the header must be a JSON object", f->path);
    size_t first = s->n, start = 8 + (size_t)length;
    const char *name;
    json_t *spec;
    json_object_foreach(f->header, name, spec)
    {
        if (strcmp(name, "__metadata__"))
            rc = read_tensor(s, (int)s->n_files - 1, name, spec, start, e);
        if (rc)
            return rc;
    }
    return check_tiling(s, f, first, start, e);
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
    return read_file(s, e);
}

static int finish(struct safetensors **out, struct safetensors *s, int rc)
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
    return finish(out, s, add_path(s, path, e));
}

int safetensors_open_memory(struct safetensors **out, const void *data, size_t n, const char *what,
                            struct err *e)
{
    struct safetensors *s = xcalloc(1, sizeof *s);
    struct st_file *f = add_file(s, what);
    f->bytes = data;
    f->n = n;
    return finish(out, s, read_file(s, e));
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
    while (low < high) { /* the first entry of that name; after sorting, shards may share one */
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
        return err_set(e, ERR_IO, "%s: the file %s that it names is missing; is the download complete?",
                       index, path->data);
    return add_path(s, path->data, e);
}

/* Keeps the tensors that the index names, from the shards where it says they are. */
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
        rc = err_set(e, ERR_IO,
                     "%s: holds neither model.safetensors nor model.safetensors.index.json; give the folder "
                     "of a Hugging Face "
                     "model in safetensors form",
                     dir);
    str_release(&one);
    str_release(&index);
    return finish(out, s, rc);
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
    const struct st_entry *x = find_in_file(s, name, -1);
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
