/* Open addressing with linear probing (contract: keymap.h). */
#include "evalcore/store/keymap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

enum { KEY_BYTES = 32 };

struct keymap_slot {
    char key[KEY_BYTES + 1]; /* "" is a free slot */
    long value;
};

/* Journals are input: a key of another length must not read past its end. */
static void clean_key(char out[KEY_BYTES + 1], const char *key)
{
    size_t n = strlen(key);
    memset(out, 0, KEY_BYTES + 1);
    memcpy(out, key, n < KEY_BYTES ? n : KEY_BYTES);
    if (!n)
        out[0] = '-'; /* "" marks free slots */
}

static size_t find_entry(const struct keymap *m, const char *key)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < KEY_BYTES && key[i]; i++)
        h = (h ^ (unsigned char)key[i]) * 1099511628211u;
    size_t i = (size_t)(h ^ (h >> 29)) & (m->cap - 1);
    while (m->slot[i].key[0] && strcmp(m->slot[i].key, key))
        i = (i + 1) & (m->cap - 1);
    return i;
}

static void grow_table(struct keymap *m)
{
    struct keymap old = *m;
    m->cap = old.cap ? old.cap * 2 : 256;
    m->slot = xcalloc(m->cap, sizeof *m->slot);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slot[i].key[0])
            m->slot[find_entry(m, old.slot[i].key)] = old.slot[i];
    free(old.slot);
}

long keymap_add(struct keymap *m, const char *key, long value)
{
    char k[KEY_BYTES + 1];
    clean_key(k, key);
    if (2 * (m->n + 1) > m->cap)
        grow_table(m);
    struct keymap_slot *s = &m->slot[find_entry(m, k)];
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
    const struct keymap_slot *s = &m->slot[find_entry(m, k)];
    return s->key[0] ? s->value : -1;
}

void keymap_release(struct keymap *m)
{
    free(m->slot);
    memset(m, 0, sizeof *m);
}
