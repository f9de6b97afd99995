/* Reads the header of one safetensors file. The header is untrusted: sizes are multiplied with overflow
 * checks, and the tensors must tile the data exactly, as the format demands, so no two overlap and nothing
 * hides between them. */
#include <stdlib.h>
#include <string.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/foreign_file.h"

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

static int refuse_tensor(struct err *e, const struct st_file *f, const char *name, const char *why)
{
    return err_set(e, ERR_FORMAT, "%s: tensor \"%.100s\": %s", f->path, name, why);
}

/* Reads a shape into t. *bytes: how many bytes of data it needs, or SIZE_MAX when the size of an element is
 * not known. */
static int read_shape(const struct st_file *f, const char *name, const json_t *spec, const struct dtype *type,
                      struct st_tensor *t, size_t *bytes, struct err *e)
{
    const json_t *shape = json_object_get(spec, "shape");
    size_t n_dims = json_array_size(shape), total = type ? type->bytes : 1;
    if (!json_is_array(shape))
        return refuse_tensor(e, f, name, "the shape must be a list");
    if (n_dims > DIMS_MAX)
        return refuse_tensor(e, f, name, "the shape has more than 8 dimensions");
    t->n_dims = (int)n_dims;
    int zero = 0, overflow = 0;
    for (size_t i = 0; i < n_dims; i++) {
        const json_t *d = json_array_get(shape, i);
        if (!json_is_integer(d) || json_integer_value(d) < 0)
            return refuse_tensor(e, f, name, "the shape must hold integers that are not negative");
        t->shape[i] = json_integer_value(d);
        zero |= t->shape[i] == 0;
        overflow |= __builtin_mul_overflow(total, (uint64_t)t->shape[i], &total);
    }
    if (!zero && (overflow || total > INT64_MAX))
        return refuse_tensor(e, f, name, "the shape is larger than any memory");
    *bytes = type ? (zero ? 0 : total) : SIZE_MAX;
    return 0;
}

static int read_tensor(struct safetensors *s, int file, const char *name, const json_t *spec, size_t start,
                       struct err *e)
{
    const struct st_file *f = &s->file[file];
    struct st_entry x = {.tensor.name = name, .file = file};
    if (!json_is_object(spec))
        return refuse_tensor(e, f, name, "its header entry must be an object");
    x.dtype = json_string_value(json_object_get(spec, "dtype"));
    if (!x.dtype)
        return refuse_tensor(e, f, name, "the dtype must be a text");
    const struct dtype *type = find_dtype(x.dtype);
    x.tensor.dtype = type ? type->kind : ST_OTHER;
    size_t want = 0, size = f->n - start;
    int rc = read_shape(f, name, spec, type, &x.tensor, &want, e);
    if (rc)
        return rc;
    const json_t *offsets = json_object_get(spec, "data_offsets");
    const json_t *from = json_array_get(offsets, 0), *to = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return refuse_tensor(e, f, name, "the data_offsets must be two integers");
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
            return refuse_tensor(e, f, t->name, "its data overlap those of another tensor");
        if (t->data > at)
            return refuse_tensor(e, f, t->name, "there are bytes before its data that belong to no tensor");
        at += t->bytes;
    }
    size_t rest = (size_t)(f->bytes + f->n - at);
    if (rest)
        return err_set(e, ERR_FORMAT, "%s: the last %zu bytes belong to no tensor", f->path, rest);
    return 0;
}

int st_read_header(struct safetensors *s, struct err *e)
{
    struct st_file *f = &s->file[s->n_files - 1];
    uint64_t length = 0;
    const char *foreign;
    if (f->n < 8 && (foreign = foreign_bytes(f->bytes, f->n)))
        return err_set(e, ERR_FORMAT, "%s: %s", f->path, foreign);
    if (f->n < 8)
        return err_set(e, ERR_FORMAT, "%s: %zu bytes are too few for a safetensors file", f->path, f->n);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | f->bytes[i];
    /* What a download leaves instead would have a header of no size or of an impossible one. */
    if ((!length || length > HEADER_MAX || length > f->n - 8) && (foreign = foreign_bytes(f->bytes, f->n)))
        return err_set(e, ERR_FORMAT, "%s: %s", f->path, foreign);
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
