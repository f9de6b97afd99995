/* Job keys (contract: job_key.h): SHA-256 over canonical JSON, so that equal inputs give equal keys on every
 * machine and whatever the order of options in a run file. */
#include "evalcore/store/job_key.h"

#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

void job_hash_json(const json_t *o, char *out, int digits)
{
    struct str text = {0};
    json_canonical(&text, o);
    sha256_hex(str_text(&text), text.len, out, digits);
    str_release(&text);
}

static void add_text(struct str *out, const char *name, const char *s)
{
    str_printf(out, "\"%s\":", name);
    json_quote(out, s ? s : "", s ? strlen(s) : 0);
}

/* The canonical JSON of an object of these seven, written at once: a report computes a million keys. */
void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1])
{
    struct str text = {0};
    str_putc(&text, '{');
    add_text(&text, "cell", in->identity);
    str_printf(&text, ",\"context\":%d,\"own_max_new\":%d,", in->context, in->own_max_new);
    add_text(&text, "own_stop", in->own_stop);
    str_putc(&text, ',');
    add_text(&text, "problem", in->problem);
    str_putc(&text, ',');
    add_text(&text, "prompt", in->prompt_sha256);
    str_printf(&text, ",\"sample\":%d}", in->sample);
    sha256_hex(str_text(&text), text.len, out, JOB_KEY_HEX);
    str_release(&text);
}

void job_hash_ids(const int32_t *ids, size_t n, char out[65])
{
    unsigned char *bytes = xmalloc(4 * n + 1);
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 4; b++)
            bytes[4 * i + (size_t)b] = (unsigned char)((uint32_t)ids[i] >> (8 * b));
    sha256_hex(bytes, 4 * n, out, 64);
    free(bytes);
}

/* ---- The map from keys to numbers: open addressing with linear probing. */

enum { KEY_BYTES = 32 };

struct keymap_entry {
    char key[KEY_BYTES + 1]; /* "" is a free entry */
    long value;
};

/* Journals are input: a key of another length must not read past its end. */
static void clean_key(char out[KEY_BYTES + 1], const char *key)
{
    size_t n = strlen(key);
    memset(out, 0, KEY_BYTES + 1);
    memcpy(out, key, n < KEY_BYTES ? n : KEY_BYTES);
    if (!n)
        out[0] = '-'; /* "" marks free entries */
}

static size_t find_entry(const struct keymap *m, const char *key)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < KEY_BYTES && key[i]; i++)
        h = (h ^ (unsigned char)key[i]) * 1099511628211u;
    size_t i = (size_t)(h ^ (h >> 29)) & (m->cap - 1);
    while (m->entry[i].key[0] && strcmp(m->entry[i].key, key))
        i = (i + 1) & (m->cap - 1);
    return i;
}

static void grow_table(struct keymap *m)
{
    struct keymap old = *m;
    m->cap = old.cap ? old.cap * 2 : 256;
    m->entry = xcalloc(m->cap, sizeof *m->entry);
    for (size_t i = 0; i < old.cap; i++)
        if (old.entry[i].key[0])
            m->entry[find_entry(m, old.entry[i].key)] = old.entry[i];
    free(old.entry);
}

long keymap_add(struct keymap *m, const char *key, long value)
{
    char k[KEY_BYTES + 1];
    clean_key(k, key);
    if (2 * (m->n + 1) > m->cap)
        grow_table(m);
    struct keymap_entry *s = &m->entry[find_entry(m, k)];
    if (s->key[0])
        return s->value;
    memcpy(s->key, k, sizeof k);
    s->value = value;
    m->n++;
    return value;
}

long keymap_find(const struct keymap *m, const char *key)
{
    char k[KEY_BYTES + 1];
    clean_key(k, key);
    if (!m->cap || !k[0])
        return -1;
    const struct keymap_entry *s = &m->entry[find_entry(m, k)];
    return s->key[0] ? s->value : -1;
}

void keymap_release(struct keymap *m)
{
    free(m->entry);
    memset(m, 0, sizeof *m);
}
