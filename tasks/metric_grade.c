/* Scores of text metrics over several accepted answers (contract: metric_grade.h). */
#include "tasks/metric_grade.h"

#include <string.h>

#include "tasks/rows.h"

/* The best score over the reference answers. */
static int best_score(struct grade *out, int *best, const char *metric, const struct problem *p,
                      const char *text, size_t n, struct err *e)
{
    struct textscore_call c = {.metric = metric,
                               .pred = text,
                               .pred_len = n,
                               .all_classes = p->all_classes,
                               .n_classes = p->n_classes,
                               .zh = p->zh};
    *best = 0;
    for (int i = 0; i < p->n_golds; i++) {
        double s = 0;
        c.gold = p->golds[i];
        c.gold_len = strlen(c.gold);
        int rc = textscore(&s, &c, e);
        if (rc)
            return rc;
        if (s > out->score) {
            out->score = s;
            *best = i;
        }
    }
    return 0;
}

int metric_grade(struct grade *out, const char *metric, int first_line, const struct problem *p,
                 const struct response *r, struct arena *a)
{
    const char *text;
    size_t n;
    *out = (struct grade){.verdict = VERDICT_UNFINISHED,
                          .reason = "Thinking was opened and never closed.",
                          .gold_form = "",
                          .pred_form = ""};
    if (response_answer(r, &text, &n))
        return 0;
    if (first_line) {
        while (n && *text == '\n') {
            text++;
            n--;
        }
        const char *end = n ? memchr(text, '\n', n) : NULL;
        n = end ? (size_t)(end - text) : n;
    }
    if (grade_blank(out, r, text, n))
        return 0;
    int best;
    struct err e = {0};
    if (textscore_needs_segmenter(metric))
        out->segmenter = zh_segmenter_name(p->zh);
    if (best_score(out, &best, metric, p, text, n, &e)) {
        out->verdict = VERDICT_ERROR;
        out->score = 0;
        out->reason = arena_strdup(a, e.text);
        return 0;
    }
    /* ROUGE has 1e-8 in a denominator: equal texts stay that much below 1 */
    out->verdict = out->score >= 1 - 1e-6 ? VERDICT_CORRECT : VERDICT_WRONG;
    out->reason = arena_printf(a, "%s%s%s of the best of %d accepted answers is %.4f.", metric,
                               out->segmenter ? " with segmenter=" : "", out->segmenter ? out->segmenter : "",
                               p->n_golds, out->score);
    out->gold_form = grade_form(a, p->golds[best], strlen(p->golds[best]));
    out->pred_form = grade_form(a, text, n);
    return 0;
}
