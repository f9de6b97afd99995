/* Growable byte strings, UTF-8 repair and edit distance (contract: str.h). */
#include "evalcore/base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

static void str_reserve(struct str *s, size_t more)
{
    enum { FIRST = 64 }; /* most texts are shorter, and then grow once */
    if (more > SIZE_MAX / 2 - s->len)
        more = SIZE_MAX / 2; /* so that xgrow reports that memory ran out */
    if (s->len + more < s->cap)
        return;
    if (!s->cap && more < FIRST)
        more = FIRST - 1;
    xgrow(&s->data, &s->cap, s->len + more + 1, 1);
}

void str_add(struct str *s, const char *bytes, size_t n)
{
    str_reserve(s, n);
    if (n)
        memcpy(s->data + s->len, bytes, n);
    s->len += n;
    s->data[s->len] = 0;
}

void str_puts(struct str *s, const char *text)
{
    str_add(s, text, strlen(text));
}

void str_putc(struct str *s, char c)
{
    str_add(s, &c, 1);
}

void str_printf(struct str *s, const char *fmt, ...)
{
    char few[128];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(few, sizeof few, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    if (n < (int)sizeof few) {
        str_add(s, few, (size_t)n);
        return;
    }
    str_reserve(s, (size_t)n);
    s->data[s->len] = 0;
    va_start(ap, fmt);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    s->len += (size_t)n;
}

void str_clear(struct str *s)
{
    s->len = 0;
    if (s->data)
        s->data[0] = 0;
}

void str_release(struct str *s)
{
    free(s->data);
    *s = (struct str){0};
}

const char *str_text(const struct str *s)
{
    return s->data ? s->data : "";
}

/* Table 3-7 of the Unicode standard (the range of the second byte depends on the first, which rules out
 * overlong forms, surrogates and code points beyond U+10FFFF). */
int str_utf8_step(const unsigned char *p, size_t n)
{
    unsigned char first = p[0], low = 0x80, high = 0xBF;
    int more;
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return -1;
    if (first < 0xE0) {
        more = 1;
    } else if (first < 0xF0) {
        more = 2;
        if (first == 0xE0)
            low = 0xA0;
        if (first == 0xED)
            high = 0x9F;
    } else {
        more = 3;
        if (first == 0xF0)
            low = 0x90;
        if (first == 0xF4)
            high = 0x8F;
    }
    for (int i = 1; i <= more; i++) {
        if ((size_t)i >= n || p[i] < low || p[i] > high)
            return -i;
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

void str_add_utf8(struct str *dst, const char *src, size_t n)
{
    const unsigned char *p = (const unsigned char *)src;
    size_t from = 0, at = 0; /* from: where the valid run that is not yet copied begins */
    while (at < n) {
        int step = str_utf8_step(p + at, n - at);
        if (step > 0) {
            at += (size_t)step;
            continue;
        }
        str_add(dst, src + from, at - from);
        str_add(dst, "\xEF\xBF\xBD", 3);
        at += (size_t)-step;
        from = at;
    }
    str_add(dst, n ? src + from : "", at - from);
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

int str_distance(const char *a, const char *b)
{
    int na = (int)strlen(a), nb = (int)strlen(b);
    size_t row = (size_t)nb + 1;
    int *rows = xcalloc(3 * row, sizeof *rows); /* this row, the last, the one before */
    int *cur = rows, *last = rows + row, *before = rows + 2 * row;
    for (int j = 0; j <= nb; j++)
        cur[j] = j;
    for (int i = 1; i <= na; i++) {
        int *spare = before;
        before = last;
        last = cur;
        cur = spare;
        cur[0] = i;
        for (int j = 1; j <= nb; j++) {
            cur[j] = min3(last[j] + 1, cur[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < cur[j])
                cur[j] = before[j - 2] + 1;
        }
    }
    int d = cur[nb];
    free(rows);
    return d;
}

/* How far a mistyped name is from a known one. Leaving out a whole word ("budget" for "budget_tokens") is a
 * likely mistake although many letters differ. */
static int edit_distance(const char *name, const char *known)
{
    int d = str_distance(name, known);
    size_t n = strlen(name), k = strlen(known);
    if (n >= 3 && k >= 3 && (strstr(known, name) || strstr(name, known)) && d > 2)
        d = 2;
    return d;
}

/* What other programs (vLLM, OpenAI's API, Transformers, lm-evaluation-harness, llama.cpp) call the same. */
static const char *const other_names[][2] = {
    {"max_tokens", "max_new_tokens"},
    {"max_gen_toks", "max_new_tokens"},
    {"max_completion_tokens", "max_new_tokens"},
    {"max_output_tokens", "max_new_tokens"},
    {"max_gen_tokens", "max_new_tokens"},
    {"n_predict", "max_new_tokens"},
    {"num_predict", "max_new_tokens"},
    {"min_tokens", "min_new_tokens"},
    {"max_length", "max_total_tokens"},
    {"max_model_len", "max_total_tokens"},
    {"max_seq_len", "max_total_tokens"},
    {"n_ctx", "max_total_tokens"},
    {"n", "samples"},
    {"num_return_sequences", "samples"},
    {"num_samples", "samples"},
    {"repeats", "samples"},
    {"temp", "temperature"},
    {"until", "stop"},
    {"stop_sequences", "stop"},
    {"stop_strings", "stop"},
    {"system_prompt", "system"},
    {"chat_template", "chat"},
    {"enable_thinking", "thinking"},
    {"kv_cache_dtype", "kv_dtype"},
    {"random_seed", "seed"},
    {"batch_size", "max_batch"},
    {"max_num_seqs", "max_batch"},
    {"output_dir", "output_path"},
    {"datasets", "tasks"},
    {"benchmarks", "tasks"},
    {"methods", "policies"},
    {"model_path", "model"},
    {"pretrained", "model"},
};

static int is_same_name(const char *a, const char *b)
{
    for (; *a && (*a == *b || (strchr("-_", *a) && *b && strchr("-_", *b))); a++, b++)
        ;
    return !*a && !*b;
}

/* The known name for one of another program; NULL: it is none. */
static const char *known_name(const char *name, const char *const *known)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        for (size_t k = 0; is_same_name(name, other_names[i][0]) && known[k]; k++)
            if (is_same_name(known[k], other_names[i][1]))
                return known[k];
    return NULL;
}

const char *str_nearest(const char *name, const char *const *known)
{
    const char *other = known_name(name, known);
    if (other)
        return other;
    const char *best = NULL;
    int limit = (int)strlen(name) / 3, best_d = 0;
    if (limit < 2)
        limit = (int)strlen(name) > 2 ? 2 : 1;
    for (; *known; known++) {
        int d = edit_distance(name, *known);
        if (d <= limit && d < (int)strlen(*known) && (!best || d < best_d)) {
            best = *known;
            best_d = d;
        }
    }
    return best;
}

void str_bytes(struct str *s, double n)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    for (; n >= 1024 && u < 4; u++)
        n /= 1024;
    str_printf(s, u ? "%.1f %s" : "%.0f %s", n, units[u]);
}

/* White space as Python's str knows it: that of Unicode, and the four separators from U+001C on. None of it
 * needs more than three bytes. */
static const uint32_t spaces[] = {0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};

static int is_space(uint32_t c)
{
    if ((c >= 9 && c <= 13) || (c >= 28 && c <= 32) || (c >= 0x2000 && c <= 0x200A))
        return 1;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (c == spaces[i])
            return 1;
    return 0;
}

size_t str_space_at(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;
    if (!n)
        return 0;
    if (u[0] < 0x80)
        return is_space(u[0]) ? 1 : 0;
    size_t size = (u[0] & 0xE0) == 0xC0 ? 2 : (u[0] & 0xF0) == 0xE0 ? 3 : 0;
    if (!size || size > n)
        return 0;
    uint32_t c = u[0] & (size == 2 ? 0x1F : 0x0F);
    for (size_t i = 1; i < size; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3F);
    }
    /* In too many bytes it is no character. */
    return c >= (size == 2 ? 0x80 : 0x800) && is_space(c) ? size : 0;
}

size_t str_space_before(const char *p, size_t n)
{
    size_t size = 1;
    while (size < n && size < 3 && ((unsigned char)p[n - size] & 0xC0) == 0x80)
        size++;
    return n && str_space_at(p + n - size, size) == size ? size : 0;
}
