#ifndef ANSWER_CHECK_TEXT_GRADE_H
#define ANSWER_CHECK_TEXT_GRADE_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/param.h"

/* The types of the door (answer_check/answer_check.h, which includes this): verdicts, responses, grades, and
 * the rules on which graders differ. */
enum verdict {
    VERDICT_CORRECT,
    VERDICT_WRONG,
    VERDICT_AMBIGUOUS,  /* two conflicting answers */
    VERDICT_UNPARSED,   /* an answer section without a readable answer */
    VERDICT_UNFINISHED, /* thinking was opened and never closed */
    VERDICT_TRUNCATED,  /* length limit after thinking closed (or with none opened), and no answer */
    VERDICT_ERROR,      /* the call itself cannot be answered: unreadable gold, bad option, a failed job */
    VERDICT_COUNT
};
const char *verdict_name(enum verdict v); /* "correct", ...; "error" for a value that is none */
/* Returns 1 and sets *out to the verdict of that name, or returns 0 and leaves *out. */
int verdict_find(const char *name, enum verdict *out);

enum thinking {
    THINKING_AUTO,
    THINKING_OPEN,
    THINKING_NONE
}; /* auto: unfinished if <think> or the like occurs and no </think>
    * follows; open: the prompt opened it; none: no cut */
enum finish { FINISH_STOP, FINISH_LENGTH };
/* Their names in fields of a line and in options, in the order of the enums; each list ends with NULL. */
extern const char *const thinking_names[], *const finish_names[];

struct response {
    const char *text;
    size_t len;
    enum thinking thinking;
    enum finish finish;
};

/* A place where mode strict found an answer, in the order in which they were looked at: the rule's name in
 * answer_check/PLACES.md, what was taken, and where it stands. */
struct grade_step {
    const char *rule;
    const char *took;
    long at;          /* byte of the response; -1 where what was taken is no piece of it as it stands */
    const char *then; /* NULL, or what became of it: "taken back by: Wait, ..." */
};

struct grade {
    enum verdict verdict;
    const char *reason;    /* one short sentence: where the answer stood and what decided */
    const char *gold_form; /* what was compared, in readable form; "" when there was nothing */
    const char *pred_form;
    const char *gold_latex; /* the readings that were compared, in LaTeX (mode strict only); NULL otherwise */
    const char *pred_latex;
    const char
        *how;     /* an equality is "exact", "certified", "probed" at points, or of "text"; NULL otherwise */
    double score; /* 1 or 0; the metric's value for text metrics */
    const char *segmenter; /* "jieba" or "char" where the score depends on the segmenter, else NULL */
    const char *runtime;   /* what ran a program ("Python 3.11.2 with NumPy"), else NULL */
    int is_open;           /* verdict error, and not for what the response says: a later try may grade it */
    int64_t steps;         /* how many steps reading and comparing took (math only) */
    const struct grade_step *places; /* mode strict only: the last of n_places is what was compared */
    int n_places;
};

/* Returns a terminated copy in the arena for gold_form and pred_form: at most 200 bytes, cut between
 * characters, with "..." where it is cut. */
const char *grade_form(struct arena *a, const char *text, size_t n);

/* Rules of mode strict on which graders differ and which change scores. Each is an enum with its values; 0 is
 * the default. Their names and values, for fields, flags and reports, are the table's. To add one, write an
 * enum and a member here and a row of the table in text/grade.c, and test all its values in
 * tests/answer_check/strict/grade_rules.test. */
enum { PERCENT_HUNDREDTH, PERCENT_NUMBER };     /* 25% is 1/4 | or 25 */
enum { MARK_DROP, MARK_KEEP };                  /* a mark on one side only is dropped | makes a difference */
enum { DECIMALS_ROUND, DECIMALS_EXACT };        /* 1/3 is 0.3333 | is no decimal */
enum { DUPLICATES_COUNT, DUPLICATES_COLLAPSE }; /* {1, 2, 2} is not {1, 2} | is {1, 2} */
struct grade_rules {
    int percent;
    int units;   /* units and currency signs */
    int degrees; /* MARK_KEEP: 30^\circ is \pi/6 and no longer 30 */
    int decimals;
    int duplicates;
};
extern const struct param grade_rule_params[];
/* Returns "percent=hundredth units=drop ..." in the arena: all of them, in the table's order. */
const char *grade_rules_text(const struct grade_rules *p, struct arena *a);

/* The response's answer section, the same for all graders: the text after the last mark that ends thinking
 * (</think>, [/THINK], the channel "final" and the like, thinking.c), or the whole text where there is no
 * mark or r->thinking is THINKING_NONE. Returns 0 and the section, a part of the text, or 1 when thinking was
 * never closed; *text and *len are then the whole text. */
int response_answer(const struct response *r, const char **text, size_t *len);

#endif
