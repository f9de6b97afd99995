/* What of a text may be sent already (contract: piece_text.h). */
#include "evalcore/serve/piece_text.h"

#include <string.h>

/* Bytes at the end that a stop string may begin with. */
static size_t held_for_stop(const struct str *text, size_t from, const char *const *stop, int n_stop)
{
    size_t most = 0;
    for (int i = 0; i < n_stop; i++) {
        size_t n = strlen(stop[i]), left = text->len - from;
        for (size_t k = n - 1 < left ? n - 1 : left; k > most; k--)
            if (!memcmp(text->data + text->len - k, stop[i], k)) {
                most = k;
                break;
            }
    }
    return most;
}

/* Bytes at the end that more bytes could make a character. */
static size_t held_for_character(const char *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        int step = str_utf8_step((const unsigned char *)p + at, n - at);
        if (step < 0 && (size_t)-step == n - at)
            return n - at;
        at += (size_t)(step < 0 ? -step : step);
    }
    return 0;
}

void piece_text_add(struct piece_text *p, const struct tokenizer *t, int32_t id, const char *const *stop,
                    int n_stop)
{
    struct str settled = {0}, shown = {0};
    tokenizer_decode(t, &id, 1, 1, &shown);
    int waits = tokenizer_is_byte(t, id) || (p->byte.n && !shown.len);
    str_release(&shown);
    token_list_add(&p->byte, id);
    if (waits)
        return;
    tokenizer_decode(t, p->byte.id, p->byte.n, 1, &settled);
    tokenizer_settle(t, p->byte.id, p->byte.n, &settled);
    p->byte.n = 0;
    str_add(&p->text, str_text(&settled), settled.len);
    str_release(&settled);
    if (!p->text.len)
        return;
    size_t end = p->text.len - held_for_stop(&p->text, p->taken, stop, n_stop);
    end -= held_for_character(p->text.data + p->taken, end - p->taken);
    str_add_utf8(&p->out, p->text.data + p->taken, end - p->taken);
    p->taken = end;
}

void piece_text_release(struct piece_text *p)
{
    str_release(&p->text);
    str_release(&p->out);
    token_list_release(&p->byte);
}
