/* The symbols of a piece, from which merging starts: its bytes where the vocabulary is byte-level, else its
 * characters. A character that is no token becomes its bytes "<0xE2>" (byte_fallback), else the unknown
 * token, else nothing. Order and exceptions are those of the tokenizers library's BPE::merge_word: an unknown
 * token waits until the next known character, and with fuse_unk stands for all that follow it. */
#include "engine/text/tokenizer_parts.h"
#include "engine/text/unicode.h"

/* The bytes of a character as fallback tokens; 0 when one of them is missing. */
static size_t fall_back(const struct tokenizer *t, const char *c, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int32_t id = t->byte_symbol[(unsigned char)c[i]];
        if (id < 0)
            return 0;
        out[i] = (uint32_t)id;
    }
    return n;
}

size_t tokenizer_symbols(const struct tokenizer *t, const char *piece, size_t n, uint32_t *out)
{
    size_t len = 0, step = 1;
    int waiting = 0; /* an unknown token */
    for (size_t at = 0; at < n; at += step) {
        int32_t id;
        if (t->pretoken.is_byte_level) {
            id = t->byte_symbol[(unsigned char)piece[at]];
        } else {
            utf8_after(piece, n, at, &step);
            id = vocab_find(&t->vocab, piece + at, step);
        }
        if (id >= 0) {
            if (waiting)
                out[len++] = (uint32_t)t->unk;
            waiting = 0;
            out[len++] = (uint32_t)id;
            continue;
        }
        size_t bytes = t->byte_fallback ? fall_back(t, piece + at, step, out + len) : 0;
        len += bytes;
        if (bytes || t->unk < 0)
            continue;
        if (waiting && !t->fuse_unk)
            out[len++] = (uint32_t)t->unk;
        waiting = 1;
    }
    if (waiting)
        out[len++] = (uint32_t)t->unk;
    return len;
}
