/* jieba's dictionary: one line for each word, "word count tag". The words and all their beginnings go into
 * a hash table with open addressing, whose keys point into the text of the file. */
#include "answer_check/textscore/zh_segmenter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"

uint64_t zh_hash(uint64_t hash, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)s[i]) * 0x100000001b3u + 1;
    return hash;
}

/* The entry of a key, or the free entry where it belongs. */
static struct zh_entry *find_entry(const struct zh_dict *d, const char *s, size_t n, uint64_t hash)
{
    size_t i = hash_mix64(hash) & (d->capacity - 1);
    while (d->entry[i].n && (d->entry[i].n != n || memcmp(d->text.data + d->entry[i].at, s, n)))
        i = (i + 1) & (d->capacity - 1);
    return &d->entry[i];
}

const struct zh_entry *zh_dict_find(const struct zh_dict *d, const char *s, size_t n, uint64_t hash)
{
    const struct zh_entry *found = find_entry(d, s, n, hash);
    return found->n ? found : NULL;
}

/* Doubles the table; the first time it makes one. */
static void grow_slots(struct zh_dict *d)
{
    struct zh_entry *old = d->entry;
    size_t n_old = d->capacity;
    d->capacity = n_old ? 2 * n_old : 1 << 20; /* the dictionary of 0.42.1 has half a million entries */
    d->entry = xcalloc(d->capacity, sizeof *d->entry);
    for (size_t i = 0; i < n_old; i++)
        if (old[i].n) {
            const char *s = d->text.data + old[i].at;
            *find_entry(d, s, old[i].n, zh_hash(0, s, old[i].n)) = old[i];
        }
    free(old);
}

/* Adds a word with its beginnings; for a word that occurs again the later count holds. */
static void add_word(struct zh_dict *d, const char *s, size_t n, uint32_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && ((unsigned char)s[next] & 0xc0) == 0x80;)
            next++;
        hash = zh_hash(hash, s + i, next - i);
        struct zh_entry *entry = find_entry(d, s, next, hash);
        if (!entry->n) {
            *entry = (struct zh_entry){(uint32_t)(s - d->text.data), (uint32_t)next, 0};
            d->n_entries++;
        }
        if (next == n)
            entry->count = count;
        if (2 * d->n_entries > d->capacity)
            grow_slots(d);
    }
}

/* Reads digits up to a blank or the end of the line; -1 when they are no count. */
static int64_t read_count(const char *s, const char *end)
{
    int64_t v = 0;
    if (s == end || *s == ' ')
        return -1;
    for (; s < end && *s != ' '; s++) {
        if (*s < '0' || *s > '9' || v > 100000000)
            return -1;
        v = 10 * v + *s - '0';
    }
    return v;
}

/* Reads the lines of the file in d->text. Returns 0, or an error that names the line. */
static int read_lines(struct zh_dict *d, const char *path, struct err *e)
{
    const char *s = d->text.data, *end = s + d->text.len;
    double total = 0; /* exact: a sum of whole numbers below 2^53 */
    for (long line = 1; s < end; line++) {
        const char *stop = memchr(s, '\n', (size_t)(end - s)), *next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        if (stop > s && stop[-1] == '\r')
            stop--;
        const char *blank = memchr(s, ' ', (size_t)(stop - s));
        int64_t count = blank && blank > s ? read_count(blank + 1, stop) : -1;
        if (count < 0)
            return err_set(e, ERR_FORMAT, "%s:%ld: not a word and its count", path, line);
        add_word(d, s, (size_t)(blank - s), (uint32_t)count);
        total += (double)count;
        s = next;
    }
    if (!(total > 0))
        return err_set(e, ERR_FORMAT, "%s: the dictionary is empty", path);
    d->log_total = log(total);
    return 0;
}

int zh_dict_open(struct zh_dict *d, const char *path, struct err *e)
{
    *d = (struct zh_dict){0};
    grow_slots(d);
    int rc = file_read(path, &d->text, e);
    if (!rc && d->text.len > UINT32_MAX)
        rc = err_set(e, ERR_FORMAT, "%s: the file is too large for a dictionary", path);
    if (!rc)
        rc = read_lines(d, path, e);
    if (rc)
        zh_dict_close(d);
    return rc;
}

void zh_dict_close(struct zh_dict *d)
{
    str_release(&d->text);
    free(d->entry);
    *d = (struct zh_dict){0};
}
