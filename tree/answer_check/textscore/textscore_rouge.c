/* LongBench's rouge_score and rouge_zh_score: the F value of "rouge-l" as the Python package `rouge` 1.0.1
 * (pltrdy, Apache-2.0) computes it at the level of summaries, with its accidents:
 *
 * - Sentences end at "." only; a piece of white space between two full stops is a sentence of one empty
 *   word.
 * - Everything is a set: lengths are numbers of distinct words, and the longest common subsequences of all
 *   pairs of a reference sentence and a predicted one are collected in one set of words.
 * - When there are several longest subsequences, the choice decides what gets into the set: going
 *   backwards from the ends, a match is taken first, then the step up if strictly longer, else the step
 *   left.
 * - Going backwards is a recursion in Python. A pair that exceeds Python's recursion limit raises an
 *   exception, which LongBench turns into a score of 0; so does a text without a sentence. */
#include "answer_check/textscore/zh_segmenter.h"
#include "answer_check/text/code_points.h"
#include "answer_check/textscore/word_list.h"
#include "answer_check/textscore/textscore_parts.h"

#include <stdlib.h>
#include <string.h>

/* How many calls of the recursion fit below Python 3.11's limit of 1000. Found by running the public
 * eval.py, whose chain of calls takes the rest: module, scorer, metric and six functions of the package,
 * and one more for rouge_zh_score. */
enum { CALLS_MAX = 990, CALLS_MAX_ZH = CALLS_MAX - 1 };

struct sentences {
    struct word_list words;
    size_t *end; /* where sentence i ends in words */
    size_t n, cap, longest;
};

/* The piece s[0..n) between two full stops, n > 0. */
static void add_sentence(struct sentences *t, const char *s, size_t n)
{
    size_t first = t->words.n, start = t->words.text.len;
    for (size_t i = 0; i <= n;) {
        size_t next = i;
        int32_t c = i < n ? utf8_next(s, n, &next) : ' ';
        if (!py_is_space(c)) {
            str_add(&t->words.text, s + i, next - i);
        } else if (t->words.text.len > start) {
            word_list_end(&t->words);
            start = t->words.text.len;
        }
        i = next > i ? next : i + 1;
    }
    if (t->words.n == first)
        word_list_end(&t->words);
    if (t->words.n - first > t->longest)
        t->longest = t->words.n - first;
    xgrow(&t->end, &t->cap, t->n + 1, sizeof *t->end);
    t->end[t->n++] = t->words.n;
}

/* Adds the sentences of a text. */
static void split_sentences(struct sentences *t, const char *text, size_t text_len)
{
    struct str valid = {0};
    str_add_utf8(&valid, text, text_len);
    const char *s = str_text(&valid), *end = s + valid.len;
    while (s < end) {
        const char *dot = memchr(s, '.', (size_t)(end - s));
        dot = dot ? dot : end;
        if (dot > s)
            add_sentence(t, s, (size_t)(dot - s));
        s = dot + 1;
    }
    str_release(&valid);
}

static void sentences_release(struct sentences *t)
{
    word_list_release(&t->words);
    free(t->end);
}

/* How many different numbers are there among the n? */
static size_t count_distinct(const uint32_t *number, size_t n, size_t n_distinct)
{
    char *seen = xcalloc(n_distinct + 1, 1);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += !seen[number[i]];
        seen[number[i]] = 1;
    }
    free(seen);
    return found;
}

struct lcs {
    uint32_t *above, *row; /* lengths for the prefixes 0..m of y */
    unsigned char *up; /* a bit for each pair of prefixes: is dropping the last word of x strictly better? */
    char *common;      /* the union: is this word in it? */
    size_t n_common, n_calls_max;
};

/* Sets t->up for all prefixes of x (n words) and y (m words), by the lengths of their longest common
 * subsequences. */
static void fill_lengths(struct lcs *t, const uint32_t *x, size_t n, const uint32_t *y, size_t m)
{
    memset(t->above, 0, (m + 1) * sizeof *t->above);
    memset(t->up, 0, (n * m + 7) / 8);
    t->row[0] = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < m; j++) {
            uint32_t above = t->above[j + 1], left = t->row[j];
            t->row[j + 1] = x[i] == y[j] ? t->above[j] + 1 : above > left ? above : left;
            if (above > left)
                t->up[(i * m + j) / 8] |= (unsigned char)(1 << (i * m + j) % 8);
        }
        uint32_t *swap = t->above;
        t->above = t->row;
        t->row = swap;
        t->row[0] = 0;
    }
}

/* Adds the common words of x and y to the union. 0 when Python's recursion would be too deep. */
static int add_common(struct lcs *t, const uint32_t *x, size_t n, const uint32_t *y, size_t m)
{
    size_t i = n, j = m, n_calls = 1;
    fill_lengths(t, x, n, y, m);
    for (; i && j; n_calls++) {
        size_t cell = (i - 1) * m + j - 1;
        if (x[i - 1] == y[j - 1]) {
            t->n_common += !t->common[x[i - 1]];
            t->common[x[i - 1]] = 1;
            i--;
            j--;
        } else if (t->up[cell / 8] >> cell % 8 & 1) {
            i--;
        } else {
            j--;
        }
    }
    return n_calls <= t->n_calls_max;
}

/* All pairs of sentences; gold is x, as in the package. Returns the size of the union, or -1 for an
 * exception. */
static long union_of_all(const struct sentences *gold, const struct sentences *pred, const uint32_t *number,
                         size_t n_distinct, size_t n_calls_max)
{
    struct lcs t = {.n_calls_max = n_calls_max};
    const uint32_t *x = number, *y = number + gold->words.n;
    t.above = xmalloc((pred->longest + 1) * sizeof *t.above);
    t.row = xmalloc((pred->longest + 1) * sizeof *t.row);
    t.up = xmalloc(gold->longest * pred->longest / 8 + 1);
    t.common = xcalloc(n_distinct + 1, 1);
    int fits = 1;
    for (size_t a = 0, i = 0; a < gold->n && fits; i = gold->end[a++])
        for (size_t b = 0, j = 0; b < pred->n && fits; j = pred->end[b++])
            fits = add_common(&t, x + i, gold->end[a] - i, y + j, pred->end[b] - j);
    free(t.above);
    free(t.row);
    free(t.up);
    free(t.common);
    return fits ? (long)t.n_common : -1;
}

/* The score of a call, with that limit of the recursion. */
static int rouge_l(double *out, const struct textscore_call *c, size_t n_calls_max, struct err *e)
{
    struct sentences gold = {0}, pred = {0};
    int rc = 0;
    *out = 0;
    split_sentences(&gold, c->gold, c->gold_len);
    split_sentences(&pred, c->pred, c->pred_len);
    /* each step back drops a word, so two long sentences are too deep whatever their words are */
    size_t shortest = gold.longest < pred.longest ? gold.longest : pred.longest;
    if (shortest && shortest < n_calls_max) {
        size_t n_distinct;
        if (gold.words.n > TEXTSCORE_STEPS_MAX / pred.words.n) {
            rc = textscore_too_long(c, e);
        } else {
            uint32_t *number = word_numbers(&gold.words, &pred.words, &n_distinct);
            long common = union_of_all(&gold, &pred, number, n_distinct, n_calls_max);
            double m = (double)count_distinct(number, gold.words.n, n_distinct);
            double n = (double)count_distinct(number + gold.words.n, pred.words.n, n_distinct);
            double p = (double)common / n, r = (double)common / m;
            *out = common < 0 ? 0 : 2.0 * ((p * r) / (p + r + 1e-8));
            free(number);
        }
    }
    sentences_release(&gold);
    sentences_release(&pred);
    return rc;
}

int score_rouge(double *out, const struct textscore_call *c, struct err *e)
{
    return rouge_l(out, c, CALLS_MAX, e);
}

/* The segmenter's words with a space between them. A full stop inside a number still ends a sentence. */
static void spaced_words(struct str *out, const struct zh_segmenter *zh, const char *s, size_t n)
{
    struct word_list cut = {0};
    zh_cut(&cut, zh, s, n);
    for (size_t i = 0; i < cut.n; i++) {
        size_t len;
        const char *word = word_at(&cut, i, &len);
        if (i)
            str_putc(out, ' ');
        str_add(out, word, len);
    }
    word_list_release(&cut);
}

int score_rouge_zh(double *out, const struct textscore_call *c, struct err *e)
{
    struct str pred = {0}, gold = {0};
    struct textscore_call spaced = *c;
    spaced_words(&pred, c->zh, c->pred, c->pred_len);
    spaced_words(&gold, c->zh, c->gold, c->gold_len);
    spaced.pred = str_text(&pred);
    spaced.pred_len = pred.len;
    spaced.gold = str_text(&gold);
    spaced.gold_len = gold.len;
    int rc = rouge_l(out, &spaced, CALLS_MAX_ZH, e);
    str_release(&pred);
    str_release(&gold);
    return rc;
}
