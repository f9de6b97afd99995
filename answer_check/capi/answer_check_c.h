#ifndef ANSWER_CHECK_C_H
#define ANSWER_CHECK_C_H

/* libanswer_check: the graders of kveval for other programs and languages. This header needs nothing of the
 * rest and may be copied. A call gives what `kveval grade`, `choice` and `textscore` give for the same input.
 *
 * - Version: structs that the library returns grow at their end, and functions are added, under the same
 *   number; anything else that changes makes it another, with another name of the library
 *   (libanswer_check.so.1). ac_version() is that of the graders, with which verdicts change.
 * - Texts are pointer and length, UTF-8 where they are valid; any bytes may stand in them. Strings that are
 *   returned end with a NUL.
 * - A function that can fail returns AC_OK or a negative number, and then writes a sentence that ends with a
 *   NUL to `error`, of error_size bytes: cut to that, nothing where `error` is NULL. Whatever the input, none
 *   of them ends the process; without memory they all do, as malloc's callers mostly must.
 * - Every function may be called from any thread. What is shared, options and segmenters, must not be changed
 *   or freed meanwhile. There is no other state. A call takes at most about 1 MiB of its caller's stack. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ANSWER_CHECK_C_VERSION 1

int ac_interface(void);       /* ANSWER_CHECK_C_VERSION of the library that is loaded */
const char *ac_version(void); /* of the graders, such as "9" */

enum ac_result {
    AC_OK = 0,
    AC_USAGE = -1,      /* a wrong argument: a name or value that is none, a pointer that is NULL */
    AC_IO = -2,         /* a file cannot be read */
    AC_FORMAT = -3,     /* a text or file has not got the form that it needs */
    AC_UNSUPPORTED = -4 /* too large, or not in this version */
};

/* ---- how to grade ---- */

enum ac_call { AC_GRADE, AC_CHOICE };

/* Options of one of the calls, at their defaults, to be changed by name before they are used:
 *   both       thinking auto|open|none, finish stop|length
 *   AC_GRADE   mode strict|compat; the rules of mode strict (percent, units, degrees, decimals, duplicates);
 *              for compat match_types (latex+expr+string), boxed_match_priority, float_rounding, strict,
 *              allow_set_relation_comp
 *   AC_CHOICE  n_options (2 to 26), preset (strict, simple_evals, ...)
 * NULL for a call that is none. */
struct ac_options;
struct ac_options *ac_options_new(enum ac_call call);
/* A name that the call has not got is AC_USAGE, also where the other call has it, and so is a value that is
 * none; the sentence names what there is. Nothing changes then. */
int ac_options_set(struct ac_options *o, const char *name, const char *value, char *error, size_t error_size);
void ac_options_free(struct ac_options *o); /* NULL is fine, here and in the other functions that free */

/* ---- answers of mathematics ---- */

enum ac_verdict {
    AC_CORRECT,
    AC_WRONG,
    AC_AMBIGUOUS,  /* two answers that contradict each other */
    AC_UNPARSED,   /* no readable answer */
    AC_UNFINISHED, /* thinking was opened and never closed */
    AC_TRUNCATED,  /* the length limit came before an answer */
    AC_ERROR       /* the reference cannot be read */
};

struct ac_grade {
    int verdict;              /* enum ac_verdict */
    const char *verdict_name; /* "correct" */
    const char *reason;       /* a sentence */
    const char *how;          /* an equality is "exact", "certified", "probed" or of "text"; NULL otherwise */
    const char *gold_form;    /* what was compared, in readable form; "" where there was nothing */
    const char *pred_form;
    const char *place; /* the rule of PLACES.md that found the answer; NULL: none did, or mode compat */
    const char *took;  /* what it took, NULL with place */
    int64_t at; /* byte of the response where that begins; -1 where it is no piece of it as it stands */
};

/* Grades n pairs of a reference and a response in up to `threads` threads (1: this one alone; 0: as many as
 * there are cores). Lengths may be NULL where all texts end with a NUL; o is of AC_GRADE, NULL for the
 * defaults. Returns AC_OK and *out, in the order of the pairs and to be freed by the caller; or AC_USAGE, and
 * *out is NULL. */
struct ac_grades;
int ac_grade(struct ac_grades **out, const struct ac_options *o, size_t n, const char *const *gold,
             const size_t *gold_len, const char *const *pred, const size_t *pred_len, int threads,
             char *error, size_t error_size);
size_t ac_grades_count(const struct ac_grades *g);
/* The grade of pair i, which lives as long as g; NULL for an i without one. */
const struct ac_grade *ac_grades_at(const struct ac_grades *g, size_t i);
void ac_grades_free(struct ac_grades *g);

/* ---- letters of multiple choice ---- */

struct ac_choice {
    const char *status; /* "ok", "ambiguous", "unparsed" or "unfinished" */
    const char *rule;   /* what decided; both are constants */
    char letter[8];     /* "C"; "" where none was found; a preset may give other characters */
};
/* Finds the letter that a text chooses; o is of AC_CHOICE, NULL for the defaults. Returns AC_OK whether or
 * not there is one, or AC_USAGE. out_size is sizeof *out. */
int ac_choice(struct ac_choice *out, size_t out_size, const struct ac_options *o, const char *text,
              size_t len, char *error, size_t error_size);

/* ---- metrics of texts ---- */

/* The words of jieba, from its dict.txt and finalseg/prob_*.py below dir; without dir from where Debian has
 * them, and *out is NULL, which cuts by character, where it has not. */
struct ac_segmenter;
int ac_segmenter_open(struct ac_segmenter **out, const char *dir, char *error, size_t error_size);
const char *ac_segmenter_name(const struct ac_segmenter *s); /* "jieba"; "char" for NULL */
void ac_segmenter_close(struct ac_segmenter *s);

const char *ac_textscore_names(void);                 /* all metrics, comma-separated */
int ac_textscore_needs_segmenter(const char *metric); /* 1 when the score depends on it, else 0 */

/* Scores a text by a metric from 0 to 1. variant: of code_sim_score, "difflib" (NULL) or "indel"; classes: of
 * classification_score, n_classes of them, else NULL; s: may be NULL. AC_FORMAT where the public code of the
 * metric fails. */
int ac_textscore(double *score, const char *metric, const char *variant, const char *gold, size_t gold_len,
                 const char *pred, size_t pred_len, const char *const *classes, size_t n_classes,
                 const struct ac_segmenter *s, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
