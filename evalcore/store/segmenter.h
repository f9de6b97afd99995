#ifndef EVALCORE_STORE_SEGMENTER_H
#define EVALCORE_STORE_SEGMENTER_H

#include "answer_check/answer_check.h"

/* The option of every command that may grade Chinese texts. */
#define ZH_DICT_HELP "jieba's dictionary for Chinese metrics: a folder with dict.txt and finalseg/"

/* zh_segmenter_open() for this program, which also looks beside the program's file. zh_dict: the option's
 * value, NULL when it was not given. */
int segmenter_open(struct zh_segmenter **out, const char *zh_dict, struct err *e);

#endif
