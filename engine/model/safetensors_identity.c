/* Values of a tensor as fp32, and the identity of the weights.
 *
 * The identity of one file is the SHA-256 that any tool prints for it; of several it is the hash of their
 * names and hashes, in order of names. Hashing large files takes seconds, and minutes where the processor has
 * no instructions for it, so a file's hash is kept in a cache, under a key made of path, size, time of change
 * and header: a file that was replaced has another key. */
#include "engine/model/safetensors.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

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

/* Where the hash of a mapped file is kept; 0 when it cannot be cached. */
static int cache_path(const struct st_file *f, const char *cache_dir, struct str *out)
{
    struct stat st;
    char *real = f->map.data && cache_dir && *cache_dir ? realpath(f->path, NULL) : NULL;
    if (!real || stat(real, &st) || (size_t)st.st_size != f->n) {
        free(real);
        return 0;
    }
    uint64_t header = 0;
    for (int i = 7; i >= 0; i--)
        header = header << 8 | f->bytes[i];
    struct sha256 h;
    unsigned char digest[32];
    struct str key = {0}, name = {0};
    str_printf(&key, "%s\n%zu\n%lld.%09ld\n", real, f->n, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    sha256_init(&h);
    sha256_add(&h, key.data, key.len);
    sha256_add(&h, f->bytes, 8 + (size_t)header);
    sha256_end(&h, digest);
    str_puts(&name, "weights-");
    for (int i = 0; i < 16; i++)
        str_printf(&name, "%02x", digest[i]);
    str_puts(&name, ".sha256");
    file_join(out, cache_dir, name.data);
    str_release(&key);
    str_release(&name);
    free(real);
    return 1;
}

static int is_hash(const struct str *s)
{
    return s->len >= 64 && strspn(s->data, "0123456789abcdef") == 64;
}

/* The hash of one file's contents. A cache that cannot be read or written only costs the time. */
static void file_hash(const struct st_file *f, const char *cache_dir, char out[65])
{
    struct str path = {0}, known = {0};
    struct err ignored = {0};
    int cached = cache_path(f, cache_dir, &path);
    if (cached && file_exists(path.data) && !file_read(path.data, &known, &ignored) && is_hash(&known)) {
        memcpy(out, known.data, 64);
        out[64] = 0;
    } else {
        sha256_hex(f->bytes, f->n, out, 64);
        str_clear(&known);
        str_printf(&known, "%s\n", out);
        if (cached && !file_mkdirs(cache_dir, &ignored))
            file_write_atomic(path.data, known.data, known.len, &ignored);
    }
    str_release(&path);
    str_release(&known);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int safetensors_identity(const struct safetensors *s, const char *cache_dir, char out[65], struct err *e)
{
    if (!s->n_files)
        return err_set(e, ERR_FORMAT, "no weights are open");
    if (s->n_files == 1) {
        file_hash(&s->file[0], cache_dir, out);
        return 0;
    }
    char **line = xcalloc(s->n_files, sizeof *line);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < s->n_files; i++) {
        const char *slash = strrchr(s->file[i].path, '/'), *name = slash ? slash + 1 : s->file[i].path;
        struct str one = {0};
        char hex[65];
        file_hash(&s->file[i], cache_dir, hex);
        str_printf(&one, "%s\n%s\n", name, hex);
        line[i] = one.data;
    }
    qsort(line, s->n_files, sizeof *line, by_text);
    struct str all = {0};
    for (size_t i = 0; i < s->n_files; i++) {
        str_puts(&all, line[i]);
        free(line[i]);
    }
    sha256_hex(all.data, all.len, out, 64);
    str_release(&all);
    free(line);
    return 0;
}
