/* Finding added tokens. They are few and most begin with '<', so a table of first bytes keeps the scan over
 * the text fast. Where a token may begin, a search narrows the sorted list byte by byte; at a '<' usually
 * nothing is left after two bytes. */
#include "engine/text/tokenizer_parts.h"

#include <stdlib.h>
#include <string.h>

#include "engine/text/unicode.h"
#include "evalcore/base/arena.h"

int added_read(struct added_token *t, const json_t *spec, const char *where, struct err *e)
{
    *t = (struct added_token){.normalized = 1};
    int64_t id = -1;
    int rc = json_get_int(spec, "id", &id, where, e);
    const json_t *content = json_object_get(spec, "content");
    if (!rc && !json_string_length(content))
        rc = err_set(e, ERR_FORMAT, "%s: field \"content\" must be a text that is not empty", where);
    const struct {
        const char *key;
        int *value;
    } flag[] = {{"special", &t->special},
                {"single_word", &t->single_word},
                {"lstrip", &t->lstrip},
                {"rstrip", &t->rstrip},
                {"normalized", &t->normalized}};
    for (size_t i = 0; !rc && i < sizeof flag / sizeof *flag; i++)
        rc = json_opt_bool(spec, flag[i].key, flag[i].value, where, e);
    if (rc)
        return rc;
    t->id = id < 0 || id > INT32_MAX ? -1 : (int32_t)id;
    t->n = json_string_length(content);
    t->text = xmalloc(t->n + 1);
    memcpy(t->text, json_string_value(content), t->n + 1);
    return 0;
}

void added_put(struct added_set *s, const struct added_token *t)
{
    xgrow(&s->token, &s->cap, s->n + 1, sizeof *s->token);
    s->token[s->n++] = *t;
    s->starts[(unsigned char)t->text[0]] = 1;
}

static int by_bytes(const void *a, const void *b)
{
    const struct added_token *x = a, *y = b;
    int d = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return d ? d : (x->n > y->n) - (x->n < y->n);
}

long added_sort(struct added_set *s)
{
    if (s->n)
        qsort(s->token, s->n, sizeof *s->token, by_bytes);
    for (size_t i = 1; i < s->n; i++)
        if (!by_bytes(&s->token[i - 1], &s->token[i]))
            return (long)i;
    return -1;
}

void added_release(struct added_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->token[i].text);
    free(s->token);
    *s = (struct added_set){0};
}

/* The first index in [low, high) whose token has a byte of at least c at `depth`. All tokens in that range
 * begin with the same `depth` bytes. */
static size_t first_at_least(const struct added_set *s, size_t low, size_t high, size_t depth, int c)
{
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct added_token *t = &s->token[mid];
        if ((t->n > depth ? (unsigned char)t->text[depth] : -1) < c)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct added_token *added_at(const struct added_set *s, const char *text, size_t n)
{
    const struct added_token *longest = NULL;
    size_t low = 0, high = s->n;
    for (size_t depth = 0; depth < n; depth++) {
        int c = (unsigned char)text[depth];
        low = first_at_least(s, low, high, depth, c);
        high = first_at_least(s, low, high, depth, c + 1);
        if (low == high)
            break;
        if (s->token[low].n == depth + 1) /* the shortest of them sorts first */
            longest = &s->token[low];
    }
    return longest;
}

int added_fits(const struct added_token *t, const char *text, size_t n, size_t floor, size_t *from,
               size_t *to)
{
    size_t step;
    if (t->single_word && ((*from > 0 && unicode_is_word(utf8_before(text, *from, &step))) ||
                           (*to < n && unicode_is_word(utf8_after(text, n, *to, &step)))))
        return 0;
    if (t->lstrip) {
        while (*from > 0 && unicode_is_space(utf8_before(text, *from, &step)))
            *from -= step;
        if (*from < floor)
            *from = floor;
    }
    if (t->rstrip)
        while (*to < n && unicode_is_space(utf8_after(text, n, *to, &step)))
            *to += step;
    return 1;
}
