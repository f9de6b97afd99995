#ifndef ANSWER_CHECK_CHOICE_CHOICE_PRESET_H
#define ANSWER_CHECK_CHOICE_CHOICE_PRESET_H

#include "answer_check/answer_check.h"
#include "answer_check/text/response.h"

/* The public extractors behind choice_preset() of answer_check.h, one function each; for
 * answer_check/choice only. Each returns what the public program returns for the whole text, thinking
 * included: a piece of `text` or of a constant, with n == 0 when it finds nothing. Texts may hold any
 * bytes. The work is a small multiple of the text's length, whatever the text holds. */
/* The letter A to D, as it is written, behind the first "Answer" in any case with a colon; n_options is
 * ignored. */
struct span preset_simple_evals(struct span text, int n_options);
/* The first match of the strongest of openai/gpt-oss's patterns, else the text's first character. */
struct span preset_gpt_oss(struct span text, int n_options);
/* The last match of the strongest pattern that occurs, a capital letter of an option. */
struct span preset_lighteval(struct span text, int n_options);
/* The option of the last "ANSWER: X" that fills a line, else of the last one anywhere, as a capital letter.
 */
struct span preset_inspect_ai(struct span text, int n_options);
/* The last capital letter of the 26 in parentheses; n_options is ignored. */
struct span preset_lm_eval_flexible(struct span text, int n_options);

/* Helpers of the extractors. None fails. */
struct span preset_letter(char letter);    /* 'A' to 'Z' as a text; empty for other characters */
char preset_char(struct span t, size_t i); /* the byte at i; 0 behind the end */
/* Does `lower`, which is not empty, stand at i? 1 or 0; ASCII case is ignored. */
int preset_has(struct span t, size_t i, const char *lower);
/* 'A' to 'D' where such a letter of either case stands at i; 0 where it does not, also behind the end. */
char preset_abcd(struct span t, size_t i);

#endif
