/* The vocabulary: reads GPT-2's printable names of bytes, and has an open-addressing table from bytes to ids.
 *
 * Some byte-level files list special tokens whose names have characters that stand for no byte. The text of
 * such a token is its name, and no text can become it by merging. */
#include "engine/text/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "engine/text/unicode.h"
#include "evalcore/base/arena.h"

/* The byte that a character stands for, or -1. Printable Latin-1 characters stand for themselves; the 68
 * other bytes are written as U+0100 and the characters after it, in order. */
static int byte_of(int32_t c)
{
    if ((c >= 33 && c <= 126) || (c >= 161 && c <= 172) || (c >= 174 && c <= 255))
        return c;
    if (c < 256 || c >= 256 + 68)
        return -1;
    int k = c - 256;
    return k < 33 ? k : k < 67 ? k - 33 + 127 : 173;
}

static uint64_t hash_bytes(const char *p, size_t n)
{
    uint64_t h = n * UINT64_C(0x9E3779B97F4A7C15);
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    uint64_t x = 0;
    memcpy(&x, p, n);
    h = (h ^ x) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

int32_t vocab_find(const struct vocab *v, const char *bytes, size_t n)
{
    if (!v->slot)
        return -1;
    for (uint64_t i = hash_bytes(bytes, n) & v->mask; v->slot[i] >= 0; i = (i + 1) & v->mask) {
        const struct vocab_entry *t = &v->entry[v->slot[i]];
        if (t->n == n && !memcmp(v->text.data + t->at, bytes, n))
            return v->slot[i];
    }
    return -1;
}

static void reserve_id(struct vocab *v, int32_t id)
{
    if (id < v->size)
        return;
    xgrow(&v->entry, &v->cap, (size_t)id + 1, sizeof *v->entry);
    for (int32_t i = v->size; i <= id; i++)
        v->entry[i] = (struct vocab_entry){0};
    v->size = id + 1;
}

static void put_entry(struct vocab *v, int32_t id, const char *text, size_t n, enum vocab_kind kind)
{
    reserve_id(v, id);
    v->entry[id] = (struct vocab_entry){.at = (uint32_t)v->text.len, .n = (uint32_t)n, .kind = kind};
    str_add(&v->text, text, n);
}

/* Turns the name of a token into bytes; 0 when a character of it stands for no byte. */
static int read_name(const char *name, size_t n, struct str *bytes)
{
    str_clear(bytes);
    for (size_t at = 0, step; at < n; at += step) {
        int byte = byte_of(utf8_after(name, n, at, &step));
        if (byte < 0)
            return 0;
        str_putc(bytes, (char)byte);
    }
    return 1;
}

static int read_entries(struct vocab *v, const json_t *spec, int is_byte_level, const char *what,
                        struct err *e)
{
    struct str bytes = {0};
    const char *name;
    json_t *id;
    int rc = 0;
    json_object_foreach((json_t *)spec, name, id)
    {
        json_int_t k = json_integer_value(id);
        if (!json_is_integer(id) || k < 0 || k >= VOCAB_IDS_MAX) {
            rc =
                err_set(e, ERR_FORMAT, "%s: model.vocab: the id of \"%.60s\" must be an integer from 0 to %d",
                        what, name, VOCAB_IDS_MAX - 1);
            break;
        }
        if (!*name)
            continue; /* an empty token can never occur */
        if (k < v->size && v->entry[k].kind != VOCAB_NONE) {
            rc = err_set(e, ERR_FORMAT, "%s: model.vocab: two tokens have the id %lld, one is \"%.60s\"",
                         what, (long long)k, name);
            break;
        }
        if (v->text.len > (1u << 30)) {
            rc = err_set(e, ERR_UNSUPPORTED, "%s: model.vocab holds more than 1 GiB of text", what);
            break;
        }
        int named = is_byte_level && read_name(name, strlen(name), &bytes);
        put_entry(v, (int32_t)k, named ? bytes.data : name, named ? bytes.len : strlen(name),
                  named || !is_byte_level ? VOCAB_BYTES : VOCAB_RAW);
    }
    str_release(&bytes);
    return rc;
}

static void index_bytes(struct vocab *v)
{
    uint64_t slots = 64;
    while (slots < 2 * (uint64_t)v->size)
        slots *= 2;
    v->mask = slots - 1;
    v->slot = xmalloc(slots * sizeof *v->slot);
    for (uint64_t i = 0; i < slots; i++)
        v->slot[i] = -1;
    for (int32_t id = 0; id < v->size; id++) {
        if (v->entry[id].kind != VOCAB_BYTES)
            continue;
        uint64_t i = hash_bytes(v->text.data + v->entry[id].at, v->entry[id].n) & v->mask;
        while (v->slot[i] >= 0)
            i = (i + 1) & v->mask;
        v->slot[i] = id;
    }
}

int vocab_open(struct vocab *v, const json_t *spec, int is_byte_level, const char *what, struct err *e)
{
    *v = (struct vocab){0};
    if (!json_is_object(spec))
        return err_set(e, ERR_FORMAT, "%s: field \"model.vocab\" must be an object of tokens and ids", what);
    int rc = read_entries(v, spec, is_byte_level, what, e);
    if (!rc)
        index_bytes(v);
    return rc;
}

void vocab_put_added(struct vocab *v, int32_t id, const char *text, size_t n, int special)
{
    put_entry(v, id, text, n, special ? VOCAB_SPECIAL : VOCAB_ADDED);
}

void vocab_close(struct vocab *v)
{
    free(v->entry);
    free(v->slot);
    str_release(&v->text);
    *v = (struct vocab){0};
}
