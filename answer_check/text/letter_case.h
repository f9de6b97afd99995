#ifndef ANSWER_CHECK_TEXT_LETTER_CASE_H
#define ANSWER_CHECK_TEXT_LETTER_CASE_H

#include "answer_check/text/span.h"

/* Do two texts with the same words differ in letters whose case means something: in symbols of one or two
 * letters ("Aa" and "AA", "CO" and "Co"), or in words that mix cases ("AaBb", "NaCl")? Case at the start of
 * a word and words in capitals mean nothing. Commands are passed over. */
int letter_case_differs(struct span a, struct span b);

#endif
