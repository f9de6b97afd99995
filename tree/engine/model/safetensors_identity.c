/* The identity of the weights.
 *
 * For one file it is the SHA-256 that any tool prints for it; for several it is the hash of their hashes, in
 * order, so that names of files count for nothing. Hashing large files takes seconds, and minutes where the
 * processor has no instructions for it, so the hash of a file is cached under a key made of path, device,
 * inode, size, both times of change and header. The time of the contents alone can be set by anybody and is
 * in archives and images; that of the inode cannot. A file that was replaced has another key. */
#include "engine/model/safetensors.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

/* Two writes within a tick of the clock of the file system leave the same times, so what was changed a moment
 * ago is not cached. */
enum { SETTLED_SECONDS = 2 };

static int is_settled(const struct stat *st)
{
    return time(NULL) - st->st_ctim.tv_sec > SETTLED_SECONDS;
}

/* Where the hash of a mapped file is kept; 0 when it cannot be cached. */
static int cache_path(const struct st_file *f, const char *cache_dir, struct str *out)
{
    struct stat st;
    char *real = f->map.data && cache_dir && *cache_dir ? realpath(f->path, NULL) : NULL;
    if (!real || stat(real, &st) || (size_t)st.st_size != f->n || !is_settled(&st)) {
        free(real);
        return 0;
    }
    uint64_t header = 0;
    for (int i = 7; i >= 0; i--)
        header = header << 8 | f->bytes[i];
    struct sha256 h;
    unsigned char digest[32];
    struct str key = {0}, name = {0};
    str_printf(&key, "%s\n%llu %llu\n%zu\n%lld.%09ld\n%lld.%09ld\n", real, (unsigned long long)st.st_dev,
               (unsigned long long)st.st_ino, f->n, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
               (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
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

/* The hash that is in the cache at this path. */
static int read_cached(const char *path, struct str *known)
{
    struct err ignored = {0};
    return file_exists(path) && !file_plain(path, NULL) && !file_read(path, known, &ignored) &&
           is_hash(known);
}

size_t safetensors_unhashed(const struct safetensors *s, const char *cache_dir)
{
    size_t bytes = 0;
    for (size_t i = 0; i < s->n_files; i++) {
        struct str path = {0}, known = {0};
        if (!cache_path(&s->file[i], cache_dir, &path) || !read_cached(path.data, &known))
            bytes += s->file[i].n;
        str_release(&path);
        str_release(&known);
    }
    return bytes;
}

/* The hash of one file's contents. A cache that cannot be read or written only costs the time. */
static void file_hash(const struct st_file *f, const char *cache_dir, char out[65])
{
    struct str path = {0}, known = {0};
    struct err ignored = {0};
    int cached = cache_path(f, cache_dir, &path);
    if (cached && read_cached(path.data, &known)) {
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
        line[i] = xmalloc(66);
        file_hash(&s->file[i], cache_dir, line[i]);
    }
    qsort(line, s->n_files, sizeof *line, by_text);
    struct str all = {0};
    for (size_t i = 0; i < s->n_files; i++) {
        str_printf(&all, "%s\n", line[i]);
        free(line[i]);
    }
    sha256_hex(all.data, all.len, out, 64);
    str_release(&all);
    free(line);
    return 0;
}
