/* From ids to bytes, and which ids there are. The tokens of a byte-level vocabulary are bytes already; those
 * of others go through the steps of "decoder", as the tokenizers library does them: U+2581 becomes a space,
 * "<0x0A>" its byte, and marks at the start of a whole text are taken away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/tokenizer_parts.h"
#include "engine/text/unicode.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/thinking_marks.h"

static int read_replace(struct decoder_step *s, const json_t *spec, const char *what, struct err *e)
{
    const char *content;
    const json_t *from = json_object_get(json_object_get(spec, "pattern"), "String");
    if (!json_string_length(from))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: decoder Replace needs a pattern of the form {\"String\": \"...\"}", what);
    s->kind = DECODE_REPLACE;
    str_add(&s->from, json_string_value(from), json_string_length(from));
    int rc = json_get_str(spec, "content", &content, what, e);
    if (!rc)
        str_puts(&s->to, content);
    return rc;
}

static int read_strip(struct decoder_step *s, const json_t *spec, const char *what, struct err *e)
{
    const char *content = " ";
    int64_t start = 0, stop = 0;
    int rc = json_opt_str(spec, "content", &content, what, e);
    if (!rc)
        rc = json_opt_int(spec, "start", &start, what, e);
    if (!rc)
        rc = json_opt_int(spec, "stop", &stop, what, e);
    if (!rc && (!*content || start < 0 || start > 1000 || stop < 0 || stop > 1000))
        rc = err_set(e, ERR_UNSUPPORTED, "%s: decoder Strip has no content, or counts beyond 1000", what);
    s->kind = DECODE_STRIP;
    s->start = (int)start;
    s->stop = (int)stop;
    str_puts(&s->from, content);
    return rc;
}

static int read_metaspace(struct decoder_step *s, const json_t *spec, const char *what, struct err *e)
{
    const char *mark, *scheme = "always";
    int rc = json_get_str(spec, "replacement", &mark, what, e);
    if (!rc)
        rc = json_opt_str(spec, "prepend_scheme", &scheme, what, e);
    if (!rc && !*mark)
        rc = err_set(e, ERR_UNSUPPORTED, "%s: decoder Metaspace has an empty replacement", what);
    if (rc)
        return rc;
    s->kind = DECODE_METASPACE;
    s->drops_first = strcmp(scheme, "never") != 0;
    str_puts(&s->from, mark);
    str_puts(&s->to, " ");
    return 0;
}

/* Fuse joins the tokens, which happens here anyway. ByteLevel alone is checked by the caller. */
static int read_step(struct tokenizer *t, const json_t *spec, int *is_byte_level, const char *what,
                     struct err *e)
{
    const char *type = "null";
    if (spec && !json_is_null(spec) && json_get_str(spec, "type", &type, what, e))
        return err_add(e, "decoder");
    struct decoder *d = &t->decoder;
    if (!strcmp(type, "ByteLevel")) {
        *is_byte_level = 1;
        return 0;
    }
    if (!strcmp(type, "Fuse"))
        return 0;
    if (d->n == DECODER_STEPS)
        return err_set(e, ERR_UNSUPPORTED, "%s: decoder has more than %d steps", what, DECODER_STEPS);
    struct decoder_step *s = &d->step[d->n++];
    if (!strcmp(type, "Replace"))
        return read_replace(s, spec, what, e);
    if (!strcmp(type, "Strip"))
        return read_strip(s, spec, what, e);
    if (!strcmp(type, "Metaspace"))
        return read_metaspace(s, spec, what, e);
    if (!strcmp(type, "ByteFallback")) {
        s->kind = DECODE_BYTES;
        return 0;
    }
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: decoder %.60s is not supported; ByteLevel, Metaspace, and a Sequence of Replace, "
                   "ByteFallback, Fuse and Strip are",
                   what, type);
}

int decoder_open(struct tokenizer *t, const json_t *spec, const char *what, struct err *e)
{
    int rc = 0, is_byte_level = 0;
    const char *type = json_string_value(json_object_get(spec, "type"));
    if (type && !strcmp(type, "Sequence")) {
        const json_t *list = json_object_get(spec, "decoders");
        for (size_t i = 0; !rc && i < json_array_size(list); i++)
            rc = read_step(t, json_array_get(list, i), &is_byte_level, what, e);
    } else {
        rc = read_step(t, spec, &is_byte_level, what, e);
    }
    if (!rc && (is_byte_level != t->pretoken.is_byte_level || (is_byte_level && t->decoder.n)))
        rc = err_set(e, ERR_UNSUPPORTED,
                     "%s: decoder and pre_tokenizer do not belong together: either both are ByteLevel or "
                     "neither is",
                     what);
    return rc;
}

void decoder_close(struct decoder *d)
{
    for (int i = 0; i < d->n; i++) {
        str_release(&d->step[i].from);
        str_release(&d->step[i].to);
    }
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The byte that "<0x0A>" stands for, or -1. */
static int named_byte(const char *p, size_t n)
{
    if (n != 6 || memcmp(p, "<0x", 3) || p[5] != '>' || hex_value(p[3]) < 0 || hex_value(p[4]) < 0)
        return -1;
    return hex_value(p[3]) << 4 | hex_value(p[4]);
}

static void replace_all(struct str *text, const struct str *from, const struct str *to)
{
    struct str out = {0};
    for (size_t i = 0; i < text->len;) {
        if (text->len - i >= from->len && !memcmp(text->data + i, from->data, from->len)) {
            str_add(&out, str_text(to), to->len);
            i += from->len;
        } else {
            str_putc(&out, text->data[i++]);
        }
    }
    str_release(text);
    *text = out;
}

/* Takes a token through the steps from `step` on that look at it alone. Returns the step behind the one at
 * which it turned out to be a byte, which then is the text; else 0. is_first: it is the first of a whole
 * text. */
static int run_steps(const struct decoder *d, int step, int is_first, struct str *text)
{
    static const struct str nothing;
    for (int i = step; i < d->n; i++) {
        const struct decoder_step *s = &d->step[i];
        int byte = s->kind == DECODE_BYTES ? named_byte(text->data, text->len) : -1;
        if (byte >= 0) {
            str_clear(text);
            str_putc(text, (char)byte);
            return i + 1;
        }
        if (s->kind == DECODE_REPLACE || s->kind == DECODE_METASPACE)
            replace_all(text, &s->from, s->drops_first && is_first ? &nothing : &s->to);
    }
    return 0;
}

/* Bytes that stand next to each other. As in the tokenizers library each of them is U+FFFD unless all
 * together are UTF-8. */
struct byte_run {
    struct str bytes;
    int step, is_first;
};

static void end_run(const struct decoder *d, struct byte_run *run, struct str *out)
{
    struct str text = {0};
    if (!run->bytes.len)
        return;
    if (utf8_is_valid(run->bytes.data, run->bytes.len))
        str_add(&text, run->bytes.data, run->bytes.len);
    else
        for (size_t i = 0; i < run->bytes.len; i++)
            str_puts(&text, "\xef\xbf\xbd");
    run_steps(d, run->step, run->is_first, &text);
    str_add(out, str_text(&text), text.len);
    str_release(&text);
    str_clear(&run->bytes);
}

enum {
    STREAM,
    JOINED,
    WHOLE
}; /* bytes as they come; runs of bytes judged; and the first token is the text's */

static void decode_tokens(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special, int how,
                          struct str *out)
{
    const struct decoder *d = &t->decoder;
    struct byte_run run = {0};
    struct str text = {0};
    int is_first = how == WHOLE;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= t->vocab.size)
            continue;
        const struct vocab_entry *v = &t->vocab.entry[ids[i]];
        const char *bytes = t->vocab.text.data + v->at;
        if (v->kind == VOCAB_NONE ||
            (skip_special && v->kind == VOCAB_SPECIAL && !thinking_mark_is_token(bytes, v->n)))
            continue;
        str_clear(&text);
        str_add(&text, bytes, v->n);
        int step = run_steps(d, 0, is_first, &text);
        if (step && how != STREAM) {
            if (!run.bytes.len)
                run.is_first = is_first;
            run.step = step;
            str_add(&run.bytes, text.data, text.len);
        } else {
            end_run(d, &run, out);
            if (step)
                run_steps(d, step, is_first, &text);
            str_add(out, str_text(&text), text.len);
        }
        is_first = 0;
    }
    end_run(d, &run, out);
    str_release(&run.bytes);
    str_release(&text);
}

void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                      struct str *out)
{
    decode_tokens(t, ids, n, skip_special, STREAM, out);
}

void tokenizer_settle(const struct tokenizer *t, const int32_t *ids, size_t n, struct str *text)
{
    int has_bytes = 0;
    for (int i = 0; i < t->decoder.n; i++)
        has_bytes |= t->decoder.step[i].kind == DECODE_BYTES;
    if (!has_bytes || utf8_is_valid(str_text(text), text->len))
        return;
    str_clear(text);
    decode_tokens(t, ids, n, 1, JOINED, text);
}

int tokenizer_is_byte(const struct tokenizer *t, int32_t id)
{
    struct str text = {0};
    if (!tokenizer_has(t, id))
        return 0;
    const struct vocab_entry *v = &t->vocab.entry[id];
    str_add(&text, t->vocab.text.data + v->at, v->n);
    int is_byte = run_steps(&t->decoder, 0, 0, &text) != 0;
    str_release(&text);
    return is_byte;
}

void tokenizer_decode_text(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                           struct str *out)
{
    struct str text = {0};
    decode_tokens(t, ids, n, skip_special, WHOLE, &text);
    size_t from = 0, to = text.len;
    for (int i = 0; i < t->decoder.n; i++) {
        const struct decoder_step *s = &t->decoder.step[i];
        if (s->kind != DECODE_STRIP)
            continue;
        size_t k = s->from.len;
        for (int m = 0; m < s->start && to - from >= k && !memcmp(text.data + from, s->from.data, k); m++)
            from += k;
        for (int m = 0; m < s->stop && to - from >= k && !memcmp(text.data + to - k, s->from.data, k); m++)
            to -= k;
    }
    str_add(out, str_text(&text) + from, to - from);
    str_release(&text);
}

/* Lengths before texts, so that no two lists give the same bytes. */
static void hash_text(struct sha256 *h, int kind, const char *bytes, size_t n)
{
    char head[32];
    int k = snprintf(head, sizeof head, "%d %zu ", kind, n);
    sha256_add(h, head, (size_t)k);
    sha256_add(h, bytes, n);
}

void tokenizer_hash_decoding(const struct tokenizer *t, char out[65])
{
    struct sha256 h;
    unsigned char digest[32];
    sha256_init(&h);
    for (int32_t i = 0; i < t->vocab.size; i++) {
        const struct vocab_entry *v = &t->vocab.entry[i];
        int has_text = v->kind != VOCAB_NONE && v->kind != VOCAB_SPECIAL;
        hash_text(&h,
                  has_text                   ? 1
                  : v->kind == VOCAB_SPECIAL ? 2
                                             : 0,
                  str_text(&t->vocab.text) + v->at, has_text ? v->n : 0);
    }
    for (int i = 0; i < t->decoder.n; i++) {
        const struct decoder_step *s = &t->decoder.step[i];
        const int how[] = {(int)s->kind, s->start, s->stop, s->drops_first};
        for (size_t k = 0; k < sizeof how / sizeof *how; k++)
            hash_text(&h, how[k], "", 0);
        hash_text(&h, 0, str_text(&s->from), s->from.len);
        hash_text(&h, 0, str_text(&s->to), s->to.len);
    }
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

int tokenizer_has(const struct tokenizer *t, int32_t id)
{
    return id >= 0 && id < t->vocab.size && t->vocab.entry[id].kind != VOCAB_NONE;
}

int32_t tokenizer_find_added(const struct tokenizer *t, const char *token)
{
    size_t n = strlen(token);
    const struct added_set *set[2] = {&t->raw, &t->normalized};
    for (int k = 0; k < 2; k++) {
        const struct added_token *a = added_at(set[k], token, n);
        if (a && a->n == n)
            return a->id;
    }
    return -1;
}

int32_t tokenizer_find(const struct tokenizer *t, const char *token)
{
    int32_t id = tokenizer_find_added(t, token);
    return id >= 0 ? id : vocab_find(&t->vocab, token, strlen(token));
}
