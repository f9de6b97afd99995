/* LongBench's token F1, `qa_f1_score` of THUDM/LongBench metrics.py (MIT), rule for rule: lower case, the 32
 * ASCII punctuation characters deleted, the words a, an and the deleted (a word ends where Python's \b says),
 * split at Unicode white space, F1 of the two multisets of words. Two empty texts have nothing in common and
 * score 0. */
#include "answer_check/answer_check.h"
#include "answer_check/response.h"
#include "evalcore/base/str.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

int textscore_known(const char *metric)
{
    return !strcmp(metric, "qa_f1_score");
}

const char *textscore_names(void)
{
    return "qa_f1_score";
}

/* White space of Python's str.split(). */
static int is_space(utf8proc_int32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

/* Python's \w: letters and numbers (the underscore is deleted as punctuation). */
static int is_word(utf8proc_int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return 1;
    default:
        return 0;
    }
}

struct word_list {
    struct str text; /* normalised words, each followed by a NUL */
    struct span *word;
    size_t n, cap;
};

struct code_points {
    utf8proc_int32_t *c;
    size_t n;
};

/* Lower-case code points without ASCII punctuation. Python lowers U+0130 to two characters; all others to
 * one. */
static struct code_points decode(const char *s, size_t n)
{
    struct str valid = {0};
    struct code_points out = {0};
    str_add_utf8(&valid, s, n);
    out.c = xmalloc((2 * valid.len + 1) * sizeof *out.c);
    for (size_t i = 0; i < valid.len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t used =
            utf8proc_iterate((const utf8proc_uint8_t *)valid.data + i, (utf8proc_ssize_t)(valid.len - i), &c);
        i += used > 0 ? (size_t)used : 1;
        if (used <= 0 || (c > 0x20 && c < 0x7f && !(c >= '0' && c <= '9') && !ascii_is_letter((char)c)))
            continue;
        out.c[out.n++] = c == 0x130 ? 'i' : utf8proc_tolower(c);
        if (c == 0x130)
            out.c[out.n++] = 0x307;
    }
    str_release(&valid);
    return out;
}

/* Length of an article at i (a, an, the between word boundaries), else 0. */
static size_t article(const struct code_points *t, size_t i)
{
    static const char *const articles[] = {"a", "an", "the"};
    if (i && is_word(t->c[i - 1]))
        return 0;
    for (int k = 0; k < 3; k++) {
        size_t n = strlen(articles[k]), j = 0;
        while (j < n && i + j < t->n && t->c[i + j] == articles[k][j])
            j++;
        if (j == n && (i + n == t->n || !is_word(t->c[i + n])))
            return n;
    }
    return 0;
}

static void split_words(struct word_list *l, const char *s, size_t n)
{
    struct code_points t = decode(s, n);
    size_t start = 0;
    for (size_t i = 0; i <= t.n;) {
        size_t skip = i == t.n || is_space(t.c[i]) ? 1 : article(&t, i);
        if (!skip) {
            utf8proc_uint8_t bytes[4];
            str_add(&l->text, (const char *)bytes, (size_t)utf8proc_encode_char(t.c[i++], bytes));
            continue;
        }
        if (l->text.len > start) {
            xgrow(&l->word, &l->cap, l->n + 1, sizeof *l->word);
            l->word[l->n++] = (struct span){NULL, l->text.len - start};
            start = l->text.len;
        }
        i += skip;
    }
    free(t.c);
    size_t at = 0;
    for (size_t i = 0; i < l->n; i++) {
        l->word[i].s = l->text.data + at;
        at += l->word[i].n;
    }
}

static int compare_words(const void *pa, const void *pb)
{
    const struct span *a = pa, *b = pb;
    int d = memcmp(a->s, b->s, a->n < b->n ? a->n : b->n);
    return d ? d : (a->n > b->n) - (a->n < b->n);
}

static void word_list_release(struct word_list *l)
{
    str_release(&l->text);
    free(l->word);
}

int textscore(double *out, const char *metric, const char *pred, size_t pred_len, const char *gold,
              size_t gold_len)
{
    if (!textscore_known(metric))
        return -1;
    struct word_list p = {0}, g = {0};
    split_words(&p, pred, pred_len);
    split_words(&g, gold, gold_len);
    if (p.n)
        qsort(p.word, p.n, sizeof *p.word, compare_words);
    if (g.n)
        qsort(g.word, g.n, sizeof *g.word, compare_words);
    size_t common = 0;
    for (size_t i = 0, j = 0; i < p.n && j < g.n;) {
        int d = compare_words(&p.word[i], &g.word[j]);
        common += d == 0;
        i += d <= 0;
        j += d >= 0;
    }
    *out = 0;
    if (common) {
        double precision = (double)common / (double)p.n, recall = (double)common / (double)g.n;
        *out = 2 * precision * recall / (precision + recall);
    }
    word_list_release(&p);
    word_list_release(&g);
    return 0;
}
