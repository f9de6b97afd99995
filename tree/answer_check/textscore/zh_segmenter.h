#ifndef ANSWER_CHECK_TEXTSCORE_ZH_SEGMENTER_H
#define ANSWER_CHECK_TEXTSCORE_ZH_SEGMENTER_H

#include <stdint.h>

#include "answer_check/answer_check.h"
#include "answer_check/textscore/word_list.h"

/* The Chinese segmenter, for the metrics and their tests: its dictionary (zh_dict.c), the model for words
 * that are not in it (zh_hmm.c) and the cut itself (zh_segmenter.c). Opening and closing are declared in
 * answer_check.h. */

/* Adds the words of a text to out. Nothing is lost but invalid UTF-8, which becomes U+FFFD. If s is NULL
 * the text is cut by character. */
void zh_cut(struct word_list *out, const struct zh_segmenter *s, const char *text, size_t n);

/* jieba's dictionary: its words and all their beginnings, which tell the search for words at a place when
 * to stop. */
struct zh_dict {
    struct str text; /* dict.txt; entries point into it */
    struct zh_entry {
        uint32_t at, n; /* n is 0 in a free entry */
        uint32_t count; /* 0 if this is only the beginning of a word */
    } * entry;
    size_t capacity, n_entries; /* capacity is a power of two, at least twice n_entries */
    double log_total;
};
/* Reads the dictionary at path into *d. Returns 0; what file_read() returns when it cannot be read; or
 * ERR_FORMAT for a line that is not a word and its count, an empty dictionary, or one of 4 GiB and more.
 * After an error there is nothing to close. zh_dict_close() frees its contents. */
int zh_dict_open(struct zh_dict *d, const char *path, struct err *e);
void zh_dict_close(struct zh_dict *d);

/* Running hash of a text: start with 0 and call it once for each character, whose bytes are s[0..n). */
uint64_t zh_hash(uint64_t hash, const char *s, size_t n);
/* The entry for s[0..n), whose running hash is given, borrowed from d; its count is 0 where s is only the
 * beginning of a word. NULL when no word begins with it. */
const struct zh_entry *zh_dict_find(const struct zh_dict *d, const char *s, size_t n, uint64_t hash);

/* The hidden Markov model: log-probabilities that a character is the beginning, the end or the middle of a
 * word, or a word by itself. The states are in the order of their letters. */
enum { ZH_B, ZH_E, ZH_M, ZH_S, ZH_STATES };
enum { ZH_FIRST = 0x4e00, ZH_LAST = 0x9fd5 }; /* jieba's Chinese characters */
#define ZH_IMPOSSIBLE (-3.14e100)             /* for what is not in a table */
struct zh_hmm {
    double start[ZH_STATES], step[ZH_STATES][ZH_STATES]; /* step[from][to] */
    double emit[ZH_STATES][ZH_LAST - ZH_FIRST + 1];
};
/* Reads the tables prob_start.py, prob_trans.py and prob_emit.py of dir. Returns 0; what file_read() returns
 * for a file that cannot be read; or ERR_FORMAT for one that holds something else. Nothing has to be closed.
 */
int zh_hmm_open(struct zh_hmm *h, const char *dir, struct err *e);

/* Cuts n Chinese characters, ZH_FIRST to ZH_LAST, along the most likely path (Viterbi) and adds the words to
 * out. start[i] is the byte of the text where character i begins, start[n] where the last one ends. */
void zh_hmm_cut(struct word_list *out, const struct zh_hmm *h, const char *text, const size_t *start,
                size_t n);

struct zh_segmenter {
    struct zh_dict dict;
    struct zh_hmm hmm;
};

#endif
