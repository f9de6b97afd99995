/* What of a text is released before it is whole: of random tokens, of byte-level and of byte-named
 * vocabularies, each piece is valid UTF-8 and a part of the whole text, and nothing of a stop string that was
 * found gets out. */
#include "evalcore/base/rng.h"
#include "evalcore/serve/piece_text.h"
#include "tests/check.h"

static int is_utf8(const struct str *s)
{
    for (size_t at = 0; at < s->len;) {
        int step = str_utf8_step((const unsigned char *)s->data + at, s->len - at);
        if (step < 0)
            return 0;
        at += (size_t)step;
    }
    return 1;
}

/* As the engine does: the text up to the first stop string that the last token completed. */
static int cut_at_stop(struct str *text, size_t old, const char *const *stop, int n_stop)
{
    size_t best = (size_t)-1;
    for (int i = 0; i < n_stop; i++) {
        size_t n = strlen(stop[i]);
        for (size_t at = old >= n ? old - n + 1 : 0; at + n <= text->len && at < best; at++)
            if (!memcmp(text->data + at, stop[i], n))
                best = at;
    }
    if (best == (size_t)-1)
        return 0;
    text->len = best;
    return 1;
}

/* One completion of random tokens. Returns the bytes that were released before its end. */
static size_t one_text(const struct tokenizer *t, int vocab, struct rng *r, const char *const *stop,
                       int n_stop)
{
    struct piece_text p = {0};
    struct token_list ids = {0};
    struct str raw = {0}, whole = {0}, before = {0};
    int is_over = 0;
    for (int i = 0; i < 40 && !is_over; i++) {
        int32_t id = (int32_t)rng_below(r, (uint32_t)vocab);
        size_t old = raw.len;
        token_list_add(&ids, id);
        tokenizer_decode(t, &id, 1, 1, &raw);
        is_over = cut_at_stop(&raw, old, stop, n_stop);
        if (is_over)
            break;
        piece_text_add(&p, t, id, stop, n_stop);
        CHECK(is_utf8(&p.out));
        CHECK(p.out.len >= before.len && (!before.len || !memcmp(p.out.data, before.data, before.len)));
        str_clear(&before);
        str_add(&before, str_text(&p.out), p.out.len);
    }
    if (!is_over)
        tokenizer_settle(t, ids.id, ids.n, &raw);
    str_add_utf8(&whole, str_text(&raw), raw.len);
    /* a text that was cut inside a run of bytes is settled by the engine as a whole, which this does not
     * repeat */
    if (!is_over || is_utf8(&raw))
        CHECK(p.out.len <= whole.len && (!p.out.len || !memcmp(whole.data, p.out.data, p.out.len)));
    size_t n = p.out.len;
    piece_text_release(&p);
    token_list_release(&ids);
    str_release(&raw);
    str_release(&whole);
    str_release(&before);
    return n;
}

/* A vocabulary of named bytes, some words, and one token that is special. */
static struct tokenizer *byte_names(int *vocab)
{
    struct str text = {0};
    struct tokenizer *t = NULL;
    struct err e = {0};
    str_puts(&text, "{\"added_tokens\":[{\"id\":300,\"content\":\"<s>\",\"special\":true,\"single_word\":"
                    "false,\"lstrip\":false,"
                    "\"rstrip\":false,\"normalized\":false}],\"normalizer\":null,\"pre_tokenizer\":null,"
                    "\"decoder\":{\"type\":"
                    "\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":"
                    "\"\xe2\x96\x81\"},\"content\":\" \"},"
                    "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]},\"model\":{\"type\":\"BPE\",\"byte_"
                    "fallback\":true,"
                    "\"unk_token\":null,\"merges\":[],\"vocab\":{\"<s>\":300");
    for (int i = 0; i < 256; i++)
        str_printf(&text, ",\"<0x%02X>\":%d", i, i);
    for (int i = 0; i < 26; i++)
        str_printf(&text, ",\"%c\":%d", 'a' + i, 256 + i);
    str_puts(&text, ",\"\xe2\x96\x81\":282,\"\xc3\xa9\":283,\"\xe4\xbd\xa0\":284}}}");
    if (tokenizer_open_text(&t, text.data, text.len, "names", &e))
        fprintf(stderr, "%s\n", e.text);
    str_release(&text);
    *vocab = 301;
    return t;
}

int main(void)
{
    static const char *const stops[] = {"e", "an", "the ", "\n\n", "ab", "\xc3\xa9", " \xe4\xbd\xa0"};
    struct tokenizer *pocket = NULL;
    struct err e = {0};
    struct rng r;
    int vocab;
    size_t released = 0;
    rng_init(&r, 54, 0);
    CHECK_INT(engine_open_tokenizer("pocket", &pocket, &e), 0);
    struct tokenizer *names = byte_names(&vocab);
    CHECK(names && pocket);
    CHECK(tokenizer_is_byte(names, 'a') && !tokenizer_is_byte(names, 256) && !tokenizer_is_byte(names, 300));
    CHECK(!tokenizer_is_byte(pocket, 5) && !tokenizer_is_byte(pocket, 1 << 20));
    for (int i = 0; i < 3000 && names && pocket; i++) {
        int n = i % 8;
        released += one_text(pocket, 460, &r, stops, n);
        released += one_text(names, vocab, &r, stops, n);
    }
    CHECK(released > 10000); /* it does not just hold everything back */
    tokenizer_close(pocket);
    tokenizer_close(names);
    return check_done();
}
