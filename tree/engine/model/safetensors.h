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

/* Open one file, a folder, or a file in memory, which must outlive the handle (the embedded model; `what`
 * names it in messages). They map files and read headers only. They return 0 and *out, which the caller
 * closes; or ERR_IO (a file is missing or cannot be read) or ERR_FORMAT (a header or an index is damaged),
 * with *out NULL. */
int safetensors_open_file(struct safetensors **out, const char *path, struct err *e);
int safetensors_open_folder(struct safetensors **out, const char *dir, struct err *e);
int safetensors_open_memory(struct safetensors **out, const void *data, size_t n, const char *what,
                            struct err *e);
/* Frees the handle with all its tensors. NULL is allowed. */
void safetensors_close(struct safetensors *s);

/* The tensors below are borrowed from the handle. Returns the tensor of that name, NULL when there is none.
 */
const struct st_tensor *safetensors_find(const struct safetensors *s, const char *name);
/* Returns tensor i in the order of names, NULL past the end. */
const struct st_tensor *safetensors_at(const struct safetensors *s, size_t i);
/* Sets *out to the tensor with exactly this shape (n_dims entries), and returns 0. Else *out is NULL and the
 * return is ERR_FORMAT (it is missing or has another shape, which the message names) or ERR_UNSUPPORTED (a
 * dtype other than F32, F16 and BF16). */
int safetensors_need(const struct safetensors *s, const char *name, int n_dims, const int64_t *shape,
                     const struct st_tensor **out, struct err *e);
/* Returns 1 if safetensors_need() has given out the tensor of safetensors_at(s, i), else 0. */
int safetensors_is_read(const struct safetensors *s, size_t i);
/* Returns the text of an entry of "__metadata__", of the first file that has it; NULL: none has. */
const char *safetensors_meta(const struct safetensors *s, const char *key);
/* Returns 1 if both have the same shape and the same values, whatever their dtypes; else 0, also for a dtype
 * other than F32, F16 and BF16. Reads the data up to the first difference. */
int st_is_equal(const struct st_tensor *a, const struct st_tensor *b);
/* Writes the values of a tensor as fp32 to out, exactly; n must be their number. Returns 0, ERR_UNSUPPORTED
 * for a dtype other than F32, F16 and BF16, or ERR_FORMAT for another number. */
int st_to_f32(const struct st_tensor *t, float *out, size_t n, struct err *e);

struct st_new { /* a tensor of fp32 values to be written */
    const char *name;
    int n_dims;
    int64_t shape[2];
    const float *data;
};
struct st_meta {
    const char *key, *text;
};
/* Writes a file of n tensors, in their order; meta ends with key NULL, or is NULL. An existing file is
 * replaced at once. Returns 0, or ERR_IO or ERR_DISK when it cannot be written; then an existing file stays.
 */
int safetensors_write(const char *path, const struct st_new *t, size_t n, const struct st_meta *meta,
                      struct err *e);

/* The identity of the weights: a SHA-256 over the contents of all files, as hex, whatever their names. When
 * cache_dir is not NULL the hash of a file is cached there, by path, device, inode, size, times of change and
 * header; a cache that cannot be used, and a file of the last two seconds, are no error. Memory is hashed
 * each time. Returns 0, or ERR_FORMAT if s has no file. */
int safetensors_identity(const struct safetensors *s, const char *cache_dir, char out[65], struct err *e);
/* Returns how many bytes that would hash: those of the files whose hash is not in the cache. */
size_t safetensors_unhashed(const struct safetensors *s, const char *cache_dir);

#endif
