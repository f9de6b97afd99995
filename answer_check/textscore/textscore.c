/* The table of text metrics, and the short ones: of LongBench's (THUDM/LongBench metrics.py, MIT)
 * classification, retrieval and count, and RULER's. The public code is the definition, even where it behaves
 * as it does by accident; the comments say where that is. */
#include "answer_check/text/code_points.h"
#include "answer_check/textscore/textscore_parts.h"

#include <stdlib.h>
#include <string.h>

static int contains_text(const char *text, size_t n, const char *part)
{
    size_t n_part = strlen(part);
    return !n_part || (n && memmem(text, n, part, n_part));
}

static int is_gold(const struct textscore_call *c, const char *name)
{
    return strlen(name) == c->gold_len && !memcmp(name, c->gold, c->gold_len);
}

/* Like Python's list.remove(): removes the first item that is equal. */
static int remove_first(const char **list, int n, const char *name)
{
    int i = 0;
    while (strcmp(list[i], name))
        i++;
    memmove(list + i, list + i + 1, (size_t)(n - i - 1) * sizeof *list);
    return n - 1;
}

/* Takes the classes that the prediction names, without those that are part of the reference; the score is
 * 1 / their number if the reference is among them. The public loop removes items from the list that it
 * iterates over, so it skips the item behind each one that it removes. */
static int score_classification(double *out, const struct textscore_call *c, struct err *e)
{
    if (!c->all_classes)
        return err_set(e, ERR_FORMAT, "classification_score needs all_classes, the list of classes");
    const char **named = xmalloc(((size_t)c->n_classes + 1) * sizeof *named);
    int n = 0, found = 0;
    for (int i = 0; i < c->n_classes; i++)
        if (contains_text(c->pred, c->pred_len, c->all_classes[i]))
            named[n++] = c->all_classes[i];
    for (int i = 0; i < n; i++)
        if (contains_text(c->gold, c->gold_len, named[i]) && !is_gold(c, named[i]))
            n = remove_first(named, n, named[i]);
    for (int i = 0; i < n; i++)
        found |= is_gold(c, named[i]);
    free(named);
    *out = found ? 1.0 / n : 0;
    return 0;
}

/* The number of digits, of any script, at i of t. */
static size_t count_digits(const struct code_points *t, size_t i)
{
    size_t n = 0;
    while (i + n < t->n && py_is_digit(t->c[i + n]))
        n++;
    return n;
}

/* The share of the prediction's numbers that are written like the one in gold[at..at + n). */
static double share_of_numbers(const char *pred, size_t pred_len, const struct code_points *gold, size_t at,
                               size_t n)
{
    struct code_points t;
    size_t n_numbers = 0, n_right = 0;
    code_points_of(&t, pred, pred_len);
    for (size_t i = 0; i < t.n;) {
        size_t len = count_digits(&t, i);
        if (len) {
            n_numbers++;
            n_right += len == n && !memcmp(t.c + i, gold->c + at, n * sizeof *t.c);
        }
        i += len ? len : 1;
    }
    code_points_release(&t);
    return n_numbers ? (double)n_right / (double)n_numbers : 0;
}

/* The share of the prediction's numbers that are the reference. */
static int score_count(double *out, const struct textscore_call *c, struct err *e)
{
    struct code_points gold;
    (void)e;
    code_points_of(&gold, c->gold, c->gold_len);
    *out = share_of_numbers(c->pred, c->pred_len, &gold, 0, gold.n);
    code_points_release(&gold);
    return 0;
}

/* Scores by the reference's number, which is the first that stands directly behind `word`. */
static int score_numbered(double *out, const struct textscore_call *c, const char *word, struct err *e)
{
    struct code_points gold, w;
    size_t n = 0, at = 0;
    code_points_of(&gold, c->gold, c->gold_len);
    code_points_of(&w, word, strlen(word));
    for (; at + w.n <= gold.n && !n; at++)
        if (!memcmp(gold.c + at, w.c, w.n * sizeof *w.c))
            n = count_digits(&gold, at + w.n);
    int rc =
        n ? 0
          : err_set(e, ERR_FORMAT, "%s: the reference has no number behind \"%s\", so no paragraph is right",
                    c->metric, word);
    if (n)
        *out = share_of_numbers(c->pred, c->pred_len, &gold, at - 1 + w.n, n);
    code_points_release(&gold);
    code_points_release(&w);
    return rc;
}

static int score_retrieval(double *out, const struct textscore_call *c, struct err *e)
{
    return score_numbered(out, c, "Paragraph ", e);
}

static int score_retrieval_zh(double *out, const struct textscore_call *c, struct err *e)
{
    return score_numbered(out, c, "\xe6\xae\xb5\xe8\x90\xbd", e); /* duan luo, paragraph */
}

/* str.lower() of a text, as UTF-8. */
static void add_lower(struct str *out, const char *s, size_t n)
{
    struct code_points text, lower;
    code_points_of(&text, s, n);
    code_points_lower(&lower, &text);
    for (size_t i = 0; i < lower.n; i++)
        utf8_put(out, lower.c[i]);
    code_points_release(&text);
    code_points_release(&lower);
}

/* RULER's (NVIDIA/RULER, scripts/eval/synthetic/constants.py): 1 where the reference occurs in the
 * prediction, both in lower case. Its string_match_part is the best over the references, string_match_all the
 * mean. */
static int score_string_match(double *out, const struct textscore_call *c, struct err *e)
{
    struct str pred = {0}, gold = {0};
    (void)e;
    add_lower(&pred, c->pred, c->pred_len);
    add_lower(&gold, c->gold, c->gold_len);
    *out = !gold.len || (pred.len && memmem(pred.data, pred.len, gold.data, gold.len));
    str_release(&pred);
    str_release(&gold);
    return 0;
}

/* To add a metric, write its function and a line here, and add its name to textscore_names(). */
static const struct metric {
    const char *name;
    int (*score)(double *out, const struct textscore_call *c, struct err *e);
    int needs_segmenter;
} metrics[] = {
    {"qa_f1_score", score_qa_f1, 0},
    {"qa_f1_zh_score", score_qa_f1_zh, 1},
    {"rouge_score", score_rouge, 0},
    {"rouge_zh_score", score_rouge_zh, 1},
    {"classification_score", score_classification, 0},
    {"retrieval_score", score_retrieval, 0},
    {"retrieval_zh_score", score_retrieval_zh, 0},
    {"count_score", score_count, 0},
    {"code_sim_score", score_code_sim, 0},
    {"string_match_all", score_string_match, 0},
};

const char *textscore_names(void)
{
    return "qa_f1_score, qa_f1_zh_score, rouge_score, rouge_zh_score, classification_score, retrieval_score, "
           "retrieval_zh_score, count_score, code_sim_score, string_match_all";
}

static const struct metric *find_metric(const char *name)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!strcmp(metrics[i].name, name))
            return &metrics[i];
    return NULL;
}

int textscore_known(const char *metric)
{
    return find_metric(metric) != NULL;
}

int textscore_needs_segmenter(const char *metric)
{
    const struct metric *m = find_metric(metric);
    return m && m->needs_segmenter;
}

int textscore(double *out, const struct textscore_call *c, struct err *e)
{
    const struct metric *m = find_metric(c->metric);
    if (!m)
        return err_set(e, ERR_UNSUPPORTED, "there is no metric \"%.60s\"; there are %s", c->metric,
                       textscore_names());
    return m->score(out, c, e);
}
