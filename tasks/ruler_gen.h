#ifndef TASKS_RULER_GEN_H
#define TASKS_RULER_GEN_H

#include "evalcore/base/json.h"
#include "evalcore/base/rng.h"
#include "evalcore/base/str.h"

/* The generators of RULER's families (NVIDIA/RULER, scripts/data/synthetic; arXiv 2404.06654, table 2 and
 * appendix B), which ruler.c calls. Nothing here knows of tasks.
 *
 * A generator makes problem i with a haystack of `size` units: sentences, lines of noise,
 * needles, or words. What is asked for depends on (key, index) alone, so a larger size only adds units, and
 * the caller looks for the largest that fits. */
enum ruler_haystack { RULER_NOISE, RULER_ESSAY, RULER_NEEDLES };
enum ruler_kind { RULER_WORDS, RULER_NUMBERS, RULER_UUIDS };

enum { RULER_GOLDS_MAX = 10, RULER_TEXT_MAX = 192 };
enum { RULER_CHAINS = 1, RULER_HOPS = 4 }; /* of vt, as RULER has them */
struct ruler_string {                      /* a key, a value, a name, or a sentence with them */
    char s[RULER_TEXT_MAX];
};

struct ruler_draft {
    struct str prompt, answer_prefix;
    struct ruler_string gold[RULER_GOLDS_MAX]; /* all of them are asked for */
    int n_golds;
};
/* Frees the texts of a draft. */
void ruler_draft_release(struct ruler_draft *d);

struct ruler_family;
struct ruler_call {
    const struct ruler_family *family;
    const json_t *protocol; /* tasks/prompts/ruler.json, checked by ruler.c */
    uint64_t key;           /* key of the random numbers */
    int index;              /* number of the problem */
    int tokens;             /* length of prompt and completion that is asked for */
    int example_size;       /* vt: units in the example's haystack */
    int chains, hops;       /* vt: chains of assignments, and of each those after the first */
};
/* Makes a problem; d may hold an earlier one, which is replaced. size is at least the family's min_size. */
typedef void (*ruler_make_fn)(struct ruler_draft *d, const struct ruler_call *c, int size);

struct ruler_family {
    const char *name;     /* "niah_single_1" */
    const char *protocol; /* its texts in ruler.json: "niah" */
    ruler_make_fn make;
    int min_size;
    /* niah: */
    enum ruler_haystack haystack;
    enum ruler_kind key, value;
    int n_keys, n_values, n_queries; /* keys, values of each, and keys that are asked for */
};
/* The families' make functions; they cannot fail. */
void ruler_niah(struct ruler_draft *d, const struct ruler_call *c, int size);
void ruler_vt(struct ruler_draft *d, const struct ruler_call *c, int size);
void ruler_cwe(struct ruler_draft *d, const struct ruler_call *c, int size);
void ruler_fwe(struct ruler_draft *d, const struct ruler_call *c, int size);
/* Makes the example that precedes a problem of vt, with a haystack of `size` units, to find example_size. */
void ruler_vt_example(struct ruler_draft *d, const struct ruler_call *c, int size);

/* ---- shared by the generators (ruler_haystack.c) ---- */

/* Independent draws for one problem. */
enum ruler_stream {
    RULER_ASKED,
    RULER_HAY,
    RULER_PLACES,
    RULER_EXAMPLE,
    RULER_EXAMPLE_PLACES,
    RULER_STREAMS
};
/* Seeds r for one stream of the problem. */
void ruler_rng(struct rng *r, const struct ruler_call *c, enum ruler_stream stream);

/* Draws k different numbers from 0 to n-1, in ascending order; k <= n, and k is small. */
void ruler_sample(int *out, int k, int n, struct rng *r);

/* ruler_mix() appends a haystack: `size` units with `separator` between them. needle[i] stands before unit
 * at[i]; at is ascending, and `size` there means behind the last one. */
typedef void (*ruler_unit_fn)(void *context, struct str *out); /* appends the next unit */
struct ruler_mix {
    ruler_unit_fn unit;
    void *context;
    int size;
    const char *separator;
    const struct ruler_string *needle;
    const int *at;
    int n_needles;
};
void ruler_mix(struct str *out, const struct ruler_mix *m);

/* Returns text `name` of part `part` ("prompt", "answer_prefix") of the protocol, which owns it; NULL if it
 * has none. */
const char *ruler_protocol(const struct ruler_call *c, const char *part, const char *name);
/* Returns the sentence of the noise haystack, without a line end; the protocol owns it. */
const char *ruler_noise(const struct ruler_call *c);

/* ---- words and filler text (ruler_text.c) ---- */

extern const char *const ruler_adjectives[], *const ruler_nouns[], *const ruler_verbs[];
extern const int ruler_n_adjectives, ruler_n_nouns, ruler_n_verbs;

/* Sentences in a fixed order: the first n are the same however many follow. */
enum { RULER_FRAMES = 100 };
struct ruler_essay {
    struct rng draws;
    int deck[RULER_FRAMES], left; /* the frames that this round has not used yet */
};
/* Starts the sentences that key and stream determine; ruler_essay_next() appends the next one to out. */
void ruler_essay_init(struct ruler_essay *x, uint64_t key, uint64_t stream);
void ruler_essay_next(struct ruler_essay *x, struct str *out);

#endif
