#ifndef TASKS_KNOWN_SETS_H
#define TASKS_KNOWN_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "tasks/task.h"

/* Published sets, as facts by which a file of one is told from others, from damaged and from reordered
 * copies: fingerprints of rows, official answers, the SHA-256 of a whole file. No text of a problem is here.
 */

/* The fingerprint of a row: of a problem's text, of which letters and digits alone count, since copies write
 * LaTeX, white space and figures differently; or of all reference answers (LongBench, whose contexts were
 * never at hand, but whose published results hold them). Never 0, but for a text without letter and digit. */
uint32_t known_row_of_text(const char *text, size_t n);
uint32_t known_row_of_answers(const char *const *answers, int n);

/* Has the set of that task parts that "subset" may ask for? 1 or 0. */
int known_set_has_subsets(const char *task);

/* Finds out what t->problems are: sets t->set to the published set that the task claims to be, by its label
 * where that is the name of one, and known_row of each problem. A task file's own facts are such a set; a
 * task of somebody's own that claims none is of the one that has all of its problems. */
void known_set_match(struct task *t);
/* Are the problems all of the published set, each once? Of AIME, which repeats nothing, always 0: there
 * answers alone may have told the places. */
int known_set_is_whole(const struct task *t);

/* After known_set_match(): refuses another published set (ERR_USAGE), a damaged copy (ERR_FORMAT), an order
 * of options that only the published file has and a subset of it of another file (ERR_USAGE). Keeps the
 * problems of the subset that the options name. path: for messages. */
int known_set_check(struct task *t, const char *path, struct err *e);

/* known_rows.c, made by known_rows.py: (n) of the set, in the order of the published file, of AIME in that of
 * the contests. */
extern const uint32_t known_aime24[30], known_aime25[30], known_math500[500], known_gsm8k[1319];
extern const uint32_t known_longbench_narrativeqa[200], known_longbench_qasper[200],
    known_longbench_multifieldqa_en[150], known_longbench_multifieldqa_zh[200], known_longbench_hotpotqa[200],
    known_longbench_2wikimqa[200], known_longbench_musique[200], known_longbench_dureader[200],
    known_longbench_gov_report[200], known_longbench_qmsum[200], known_longbench_multi_news[200],
    known_longbench_vcsum[200], known_longbench_trec[200], known_longbench_triviaqa[200],
    known_longbench_samsum[200], known_longbench_lsht[200], known_longbench_passage_count[200],
    known_longbench_passage_retrieval_en[200], known_longbench_passage_retrieval_zh[200],
    known_longbench_lcc[500], known_longbench_repobench_p[500];

#endif
