#ifndef ANSWER_CHECK_H
#define ANSWER_CHECK_H

#include <stddef.h>

#include "answer_check/text/grade.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"

/* The door of the graders. All are pure functions of their arguments: they keep no state, use no clock and
 * no signals, and may be called from any thread. The work of a call is bounded: a few passes over the
 * texts, then fixed limits on the answer that was found (its length, depth, items and steps of
 * arithmetic). Boxes and declarations of a math answer are found in any length of text; anything else is
 * searched for in what a text ends with: 128 KiB of an answer section, 256 KiB in mode compat. Strings
 * returned live in the caller's arena. Texts are untrusted and may hold invalid UTF-8 or NULs, hence
 * (pointer, length).
 *
 * docs/grading.md explains the verdicts and the rules. Everything outside answer_check/ comes in here. */

/* The version of the graders. It is part of the name of a run folder's grades file, so that verdicts of a new
 * grader never mix with old ones. */
const char *answer_check_version(void);

/* ---- graders: each fills *out with a verdict and returns 0, also when the verdict is VERDICT_ERROR ---- */

/* Grades a mathematical answer under the default rules. gold is the reference: bare, in $..$, \(..\), \[..\]
 * or \boxed{..}, which mean their content. */
int grade_math(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
               struct arena *a);

/* Lets big numbers take their memory from xmalloc(), as everything else does; without this call they abort in
 * their own library when there is none. To be called once, before any grader. */
void answer_check_own_memory(void);

/* The mode, and the options of each. */
enum grade_mode {
    GRADE_STRICT, /* our rules */
    GRADE_COMPAT  /* Math-Verify 0.8.0's verdicts, accidents included */
};
struct grade_options {
    enum grade_mode mode;
    struct grade_rules rules; /* strict only */
    /* compat only */
    int latex, expr, string;     /* match_types: formulas, numbers and arithmetic, the letters A to D */
    int boxed_match_priority;    /* 0 before everything, 50 behind "final answer is", -1 never */
    int float_rounding;          /* decimals that count where a side is a decimal number */
    int strict;                  /* symbols must have the same names */
    int allow_set_relation_comp; /* 1 < x < 2 and (1, 2) whichever of them is the reference */
};
extern const struct grade_options grade_options_default; /* mode strict; rules 0; Math-Verify's */

/* Grades a mathematical answer in the mode and with the options of o. */
int grade_math_as(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                  const struct grade_options *o, struct arena *a);

/* Gives the verdict of Math-Verify 0.8.0, whatever o->mode says. Both texts are searched for an answer as
 * they stand. The original knows no thinking, so only THINKING_OPEN cuts, and there is no `ambiguous`. */
int grade_math_compat(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                      const struct grade_options *o, struct arena *a);

/* Grades exact text, trimmed, with case and white space folded and a final full stop removed. The answer is
 * the last box, else the last declared answer as grade_math finds it, else the last non-empty line after
 * thinking. */
int grade_exact(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                struct arena *a);

/* Multiple choice. `letter` is 0 when status is not CHOICE_OK. */
enum choice_status { CHOICE_OK, CHOICE_AMBIGUOUS, CHOICE_UNPARSED, CHOICE_UNFINISHED };
struct choice {
    enum choice_status status;
    char letter;      /* 'A'.. */
    const char *rule; /* which class of declaration decided */
};
const char *choice_status_name(enum choice_status s);
/* Finds the letter that a response chooses among n_options (1 to 26). Returns 0, or -1 for another number. */
int choice_extract(struct choice *out, const struct response *r, int n_options, struct arena *a);

/* What public extractors of option letters return, for setting numbers beside published ones. choice_preset()
 * answers as they do, on the whole text, thinking included: *letter may be lower case, no option, or any
 * first character, and is NULL for nothing. Returns -1 when there is no such preset or n_options is not 1
 * to 26. */
const char *choice_preset_name(int i); /* "simple_evals", ...; NULL behind the last */
int choice_preset(const char **letter, const char **rule, int preset, const char *text, size_t len,
                  int n_options, struct arena *a);

/* Grades that letter against the reference's, 'A' for the first option. */
int grade_choice(struct grade *out, char gold, const struct response *r, int n_options, struct arena *a);

/* Chinese words for the metrics that need them, as jieba's precise mode with its hidden Markov model cuts
 * them: read-only once opened, so any number of threads may share one. NULL stands for the segmenter that
 * needs no data: by character, with Latin words and decimals kept whole.
 *
 * The data are jieba's dict.txt and finalseg/prob_start.py, prob_trans.py and prob_emit.py, read from `dir`,
 * which must have them; when dir is NULL, from share/ beside the program or ../share/kveval, else from where
 * Debian's python3-jieba puts them, else *out is NULL. `program` is the path of the binary, NULL: none. */
struct zh_segmenter;
int zh_segmenter_open(struct zh_segmenter **out, const char *dir, const char *program, struct err *e);
void zh_segmenter_close(struct zh_segmenter *s);             /* NULL is fine */
const char *zh_segmenter_name(const struct zh_segmenter *s); /* "jieba"; "char" for NULL */

/* Text metrics of LongBench by their public names ("qa_f1_score"), and RULER's string_match, equal to the
 * public code in its accidents too. A score is between 0 and 1. Fails with a message where the public code
 * raises an exception (no such metric, no classes, no paragraph number in the reference) and when a
 * comparison would take too long. */
struct textscore_call {
    const char *metric;
    const char *variant; /* code_sim_score: "difflib" (NULL means it) or "indel"; others ignore it */
    const char *pred;
    size_t pred_len;
    const char *gold;
    size_t gold_len;
    const char *const *all_classes; /* classification_score: n_classes of them, else NULL */
    int n_classes;
    const struct zh_segmenter *zh; /* rouge_zh_score, qa_f1_zh_score */
};
int textscore(double *out, const struct textscore_call *c, struct err *e);
int textscore_known(const char *metric);           /* 0 when there is no such metric */
int textscore_needs_segmenter(const char *metric); /* its score depends on the Chinese segmenter */
const char *textscore_names(void);                 /* comma-separated, for messages */

#endif
