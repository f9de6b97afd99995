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
 * grader never mix with old ones. Returns a constant string, such as "7". */
const char *answer_check_version(void);

/* ---- graders ----
 *
 * Every grade_... function fills *out and returns 0: nothing fails with an ERR_ code. A reference that
 * cannot be used, as each function says, gives VERDICT_ERROR with the cause in out->reason. Pointers are
 * never NULL; strings in *out are constants or live in `a`. */

/* Grades a mathematical answer under the default rules. gold is the reference: bare, in $..$, \(..\), \[..\]
 * or \boxed{..}, which mean their content. The verdict is `error` when it is empty or longer than 16384
 * bytes; one that cannot be read as mathematics is compared as text. */
int grade_math(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
               struct arena *a);

/* Lets big numbers take their memory from xmalloc(), as everything else does; without this call they abort in
 * their own library when there is none. To be called once, before any grader. */
void answer_check_own_memory(void);
/* Frees the constants (pi and others) that big numbers keep for each thread; the next grader computes those
 * that it needs again. A thread that ends without it leaks them. */
void answer_check_release_thread(void);

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
/* The options by name, but the rules (grade_rule_params) and match_types. */
extern const struct param grade_option_params[];
/* Adds one of the match_types: "latex", "expr" or "string". Returns 0, or -1 for another name. */
int grade_match_type(struct grade_options *o, const char *name);

/* Grades a mathematical answer in the mode and with the options of o: as grade_math() does but under
 * o->rules, or as grade_math_compat() does. */
int grade_math_as(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                  const struct grade_options *o, struct arena *a);

/* Gives the verdict of Math-Verify 0.8.0, whatever o->mode says. Both texts are searched for an answer as
 * they stand. The original knows no thinking, so only THINKING_OPEN cuts, and there is no `ambiguous`. The
 * verdict is `error` when no answer can be read from the reference, but `unfinished` comes first. */
int grade_math_compat(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                      const struct grade_options *o, struct arena *a);

/* Grades exact text, trimmed, with case and white space folded and a final full stop removed. The answer is
 * the last box, else the last declared answer as grade_math finds it, else, unless the length limit cut the
 * response, the last non-empty line after thinking. An empty reference is VERDICT_ERROR. */
int grade_exact(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                struct arena *a);

/* Multiple choice. `letter` is 0 when status is not CHOICE_OK. */
enum choice_status { CHOICE_OK, CHOICE_AMBIGUOUS, CHOICE_UNPARSED, CHOICE_UNFINISHED };
struct choice {
    enum choice_status status;
    char letter;      /* 'A'.. */
    const char *rule; /* which class of declaration decided */
};
/* "ok", "ambiguous", "unparsed" or "unfinished"; "unparsed" for any other value. */
const char *choice_status_name(enum choice_status s);
/* Finds the letter that a response chooses among n_options (1 to 26). Returns 0 and fills *out, whether or
 * not a letter was found; returns -1 for another number of options, with CHOICE_UNPARSED in *out. */
int choice_extract(struct choice *out, const struct response *r, int n_options, struct arena *a);

/* What public extractors of option letters return, for setting numbers beside published ones. choice_preset()
 * answers as they do, on the whole text, thinking included: *letter may be lower case, no option, or any
 * first character, and is NULL for nothing. `preset` is an index of choice_preset_name(). Returns 0 and sets
 * *letter (a copy in `a`) and *rule (a constant that says what was looked for), or returns -1 and sets
 * nothing when there is no such preset or n_options is not 1 to 26. */
const char *choice_preset_name(int i); /* "simple_evals", ...; NULL for an index out of range */
int choice_preset(const char **letter, const char **rule, int preset, const char *text, size_t len,
                  int n_options, struct arena *a);

/* Grades the letter that choice_extract() finds against the reference's, 'A' for the first option. The
 * verdict is `error` when gold is no option's letter or n_options is not 1 to 26. In a response that the
 * length limit cut only a declared or chosen letter counts, not a mention. */
int grade_choice(struct grade *out, char gold, const struct response *r, int n_options, struct arena *a);

/* Chinese words for the metrics that need them, as jieba's precise mode with its hidden Markov model cuts
 * them: read-only once opened, so any number of threads may share one. NULL stands for the segmenter that
 * needs no data: by character, with Latin words and decimals kept whole.
 *
 * The data are jieba's dict.txt and finalseg/prob_start.py, prob_trans.py and prob_emit.py, read from `dir`,
 * which must have them; when dir is NULL, from share/ beside the program or ../share/kveval, else from where
 * Debian's python3-jieba puts them, else *out is NULL, which is no error. `program` is the path of the
 * binary, NULL: none. Returns 0 and a segmenter that the caller closes, or NULL in *out and an error: what
 * file_read() returns, such as ERR_IO, when a file of the directory cannot be read, ERR_FORMAT when one does
 * not hold what jieba's does. */
struct zh_segmenter;
int zh_segmenter_open(struct zh_segmenter **out, const char *dir, const char *program, struct err *e);
void zh_segmenter_close(struct zh_segmenter *s);             /* NULL is fine */
const char *zh_segmenter_name(const struct zh_segmenter *s); /* "jieba"; "char" for NULL */

/* Text metrics of LongBench by their public names ("qa_f1_score"), and RULER's string_match_all, equal to the
 * public code in its accidents too. textscore() writes a score from 0 to 1 to *out and returns 0. It fails
 * with ERR_FORMAT where the public code raises an exception (no classes, no paragraph number in the
 * reference) and for an unknown variant, and with ERR_UNSUPPORTED when there is no such metric or a
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
int textscore_known(const char *metric); /* 1 when there is such a metric, else 0 */
/* Returns 1 when the metric's score depends on the Chinese segmenter, else 0, also for an unknown metric. */
int textscore_needs_segmenter(const char *metric);
const char *textscore_names(void); /* all names, comma-separated, as a constant string for messages */

#endif
