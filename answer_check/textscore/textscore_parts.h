#ifndef ANSWER_CHECK_TEXTSCORE_TEXTSCORE_PARTS_H
#define ANSWER_CHECK_TEXTSCORE_TEXTSCORE_PARTS_H

#include "answer_check/answer_check.h"

/* The metrics behind textscore(). Each takes a call whose metric it is, and fails on what the public code
 * raises an exception for, or on texts whose comparison would take too long. */
int score_qa_f1(double *out, const struct textscore_call *c, struct err *e);
int score_qa_f1_zh(double *out, const struct textscore_call *c, struct err *e);
int score_rouge(double *out, const struct textscore_call *c, struct err *e);
int score_rouge_zh(double *out, const struct textscore_call *c, struct err *e);
int score_code_sim(double *out, const struct textscore_call *c, struct err *e);

/* Steps of a comparison whose time is a product of two lengths: 8,192 words or characters against as many,
 * less than a second on one core. LongBench's longest are some thousand words. */
#define TEXTSCORE_STEPS_MAX ((size_t)1 << 26)

/* ERR_UNSUPPORTED: the texts are too long for the metric. */
int textscore_too_long(const struct textscore_call *c, struct err *e);

#endif
