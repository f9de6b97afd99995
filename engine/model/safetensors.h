#ifndef ENGINE_MODEL_SAFETENSORS_H
#define ENGINE_MODEL_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"

/* A door of engine/model (model.h says what the room is for): reads files of the safetensors format, which
 * have an 8-byte little-endian header length, a JSON header, and raw little-endian data. The file is
 * untrusted: every offset, shape and dtype is checked against the size of the data before anything is
 * returned. A model is one file, or a folder with model.safetensors, or a folder with
 * model.safetensors.index.json and shards. */
enum st_dtype { ST_F32, ST_F16, ST_BF16, ST_OTHER };

struct st_tensor {
    const char *name;
    enum st_dtype dtype;
    int n_dims;
    int64_t shape[8];
    const unsigned char *data; /* in the mapped file, at any address */
    size_t bytes;
};

struct safetensors;

int safetensors_open_file(struct safetensors **out, const char *path, struct err *e);
int safetensors_open_folder(struct safetensors **out, const char *dir, struct err *e);
/* Memory must outlive the handle (the embedded model). */
int safetensors_open_memory(struct safetensors **out, const void *data, size_t n, const char *what,
                            struct err *e);
void safetensors_close(struct safetensors *s);

/* NULL when no tensor has that name. */
const struct st_tensor *safetensors_find(const struct safetensors *s, const char *name);
/* All of them, sorted by name; NULL past the end. */
const struct st_tensor *safetensors_at(const struct safetensors *s, size_t i);
/* The tensor with exactly this shape (n_dims entries), or an error that names the tensor, its shape and the
 * one expected. */
int safetensors_need(const struct safetensors *s, const char *name, int n_dims, const int64_t *shape,
                     const struct st_tensor **out, struct err *e);
/* Has safetensors_need() given out the tensor of safetensors_at(s, i)? */
int safetensors_is_read(const struct safetensors *s, size_t i);
const char *safetensors_meta(const struct safetensors *s,
                             const char *key); /* "__metadata__" entry, or NULL */
/* The values of a tensor as fp32; n must be their number. Exact for the three types that are read. */
int st_to_f32(const struct st_tensor *t, float *out, size_t n, struct err *e);

/* Writes a file of fp32 tensors, in their order; meta ends with key NULL, or is NULL. */
struct st_new {
    const char *name;
    int n_dims;
    int64_t shape[2];
    const float *data;
};
struct st_meta {
    const char *key, *text;
};
int safetensors_write(const char *path, const struct st_new *t, size_t n, const struct st_meta *meta,
                      struct err *e);

/* The identity of the weights: a SHA-256 over the contents of all files, as hex. When cache_dir is not NULL
 * the hash of a file is cached there, by path, size, time of change and header. Memory is hashed each time.
 */
int safetensors_identity(const struct safetensors *s, const char *cache_dir, char out[65], struct err *e);

#endif
