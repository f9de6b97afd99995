/* LongBench's token F1, qa_f1_score and qa_f1_zh_score of THUDM/LongBench metrics.py (MIT): F1 of two
 * multisets of words. It is 0 when they have nothing in common, which includes two empty texts.
 *
 * English: lower case, ASCII punctuation deleted, the words a, an and the made a space (a word ends where
 * Python's \b says), split at white space. Chinese: the segmenter's words, each in lower case, without
 * punctuation and white space; words that are empty after that are dropped. */
#include "answer_check/textscore/zh_segmenter.h"
#include "answer_check/text/code_points.h"
#include "answer_check/textscore/word_list.h"
#include "answer_check/textscore/textscore_parts.h"

#include <stdlib.h>
#include <string.h>

/* F1 of two multisets of words. */
static double f1_score(const struct word_list *p, const struct word_list *g)
{
    size_t n_distinct, common = 0;
    uint32_t *number = word_numbers(p, g, &n_distinct);
    size_t *count = xcalloc(n_distinct + 1, sizeof *count);
    for (size_t i = 0; i < p->n; i++)
        count[number[i]]++;
    for (size_t i = p->n; i < p->n + g->n; i++)
        if (count[number[i]]) {
            count[number[i]]--;
            common++;
        }
    free(count);
    free(number);
    if (!common)
        return 0;
    double precision = (double)common / (double)p->n, recall = (double)common / (double)g->n;
    return 2 * precision * recall / (precision + recall);
}

/* The text in lower case, without the characters for which `drop` is true. */
static void lower_without(struct code_points *out, const char *s, size_t n, int (*drop)(int32_t))
{
    struct code_points raw;
    code_points_of(&raw, s, n);
    code_points_lower(out, &raw);
    code_points_release(&raw);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (!drop(out->c[i]))
            out->c[kept++] = out->c[i];
    out->n = kept;
}

/* The length of an article at i (a, an, the between word boundaries), or 0. */
static size_t article_length(const struct code_points *t, size_t i)
{
    static const char *const articles[] = {"a", "an", "the"};
    if (i && py_is_word(t->c[i - 1]))
        return 0;
    for (int k = 0; k < 3; k++) {
        size_t n = strlen(articles[k]), j = 0;
        while (j < n && i + j < t->n && t->c[i + j] == articles[k][j])
            j++;
        if (j == n && (i + n == t->n || !py_is_word(t->c[i + n])))
            return n;
    }
    return 0;
}

/* Adds the words of an English text, as its rules above say. */
static void english_words(struct word_list *l, const char *s, size_t n)
{
    struct code_points t;
    size_t start = 0;
    lower_without(&t, s, n, py_is_punctuation);
    for (size_t i = 0; i <= t.n;) {
        size_t skip = i == t.n || py_is_space(t.c[i]) ? 1 : article_length(&t, i);
        if (!skip) {
            utf8_put(&l->text, t.c[i++]);
            continue;
        }
        if (l->text.len > start) {
            word_list_end(l);
            start = l->text.len;
        }
        i += skip;
    }
    code_points_release(&t);
}

static int drops_in_zh(int32_t c)
{
    return py_is_zh_punctuation(c) || py_is_space(c);
}

/* Adds the words of a Chinese text, as its rules above say. */
static void chinese_words(struct word_list *l, const struct zh_segmenter *zh, const char *s, size_t n)
{
    struct word_list cut = {0};
    zh_cut(&cut, zh, s, n);
    for (size_t i = 0; i < cut.n; i++) {
        struct code_points t;
        size_t len;
        const char *word = word_at(&cut, i, &len);
        lower_without(&t, word, len, drops_in_zh);
        for (size_t k = 0; k < t.n; k++)
            utf8_put(&l->text, t.c[k]);
        if (t.n)
            word_list_end(l);
        code_points_release(&t);
    }
    word_list_release(&cut);
}

int score_qa_f1(double *out, const struct textscore_call *c, struct err *e)
{
    struct word_list p = {0}, g = {0};
    (void)e;
    english_words(&p, c->pred, c->pred_len);
    english_words(&g, c->gold, c->gold_len);
    *out = f1_score(&p, &g);
    word_list_release(&p);
    word_list_release(&g);
    return 0;
}

int score_qa_f1_zh(double *out, const struct textscore_call *c, struct err *e)
{
    struct word_list p = {0}, g = {0};
    (void)e;
    chinese_words(&p, c->zh, c->pred, c->pred_len);
    chinese_words(&g, c->zh, c->gold, c->gold_len);
    *out = f1_score(&p, &g);
    word_list_release(&p);
    word_list_release(&g);
    return 0;
}
