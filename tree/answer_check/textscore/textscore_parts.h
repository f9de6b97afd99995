#ifndef ANSWER_CHECK_TEXTSCORE_TEXTSCORE_PARTS_H
#define ANSWER_CHECK_TEXTSCORE_TEXTSCORE_PARTS_H

#include "answer_check/answer_check.h"

/* The metrics behind textscore() of answer_check.h; for answer_check/textscore only. Each takes a call
 * that names its metric, writes a score from 0 to 1 to *out and returns 0. score_code_sim() fails with
 * ERR_FORMAT for an unknown variant; it and the two of ROUGE fail with ERR_UNSUPPORTED when comparing the
 * texts would take too long. The others do not fail. Texts may hold NULs and invalid UTF-8. */
/* F1 of the words of both texts, English (LongBench's qa_f1_score) and Chinese, cut by c->zh. */
int score_qa_f1(double *out, const struct textscore_call *c, struct err *e);
int score_qa_f1_zh(double *out, const struct textscore_call *c, struct err *e);
/* The F value of ROUGE-L, of English words and of Chinese ones cut by c->zh. */
int score_rouge(double *out, const struct textscore_call *c, struct err *e);
int score_rouge_zh(double *out, const struct textscore_call *c, struct err *e);
/* The similarity of the reference and the first line of code of the prediction, by c->variant; NULL is
 * difflib. */
int score_code_sim(double *out, const struct textscore_call *c, struct err *e);

/* The limit of steps for a comparison that takes as many as the product of the two lengths: enough for 8,192
 * words or characters against 8,192, which takes less than a second on one core. The longest texts of
 * LongBench have some thousand words. */
#define TEXTSCORE_STEPS_MAX ((size_t)1 << 26)

/* Sets and returns ERR_UNSUPPORTED: the texts are too long for the metric. */
static inline int textscore_too_long(const struct textscore_call *c, struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED, "%s: %zu bytes against %zu are too many to compare", c->metric,
                   c->pred_len, c->gold_len);
}

#endif
