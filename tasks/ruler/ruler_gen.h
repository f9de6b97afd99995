#ifndef TASKS_RULER_RULER_GEN_H
#define TASKS_RULER_RULER_GEN_H

#include "evalcore/base/json.h"
#include "evalcore/base/rng.h"
#include "evalcore/base/str.h"

/* The room of the generators of RULER's families, and its door. Only tasks/ruler.c comes in; nothing here
 * knows of tasks.
 *
 * How a problem of the task ruler is made (NVIDIA/RULER, scripts/data/synthetic; arXiv 2404.06654, table 2
 * and appendix B). A generator makes problem i with a haystack of `size` units: sentences, lines of noise,
 * needles, or words. What is asked for depends on (key, index) alone, so a larger size only adds units, and
 * the caller looks for the largest that fits. */
enum ruler_haystack { RULER_NOISE, RULER_ESSAY, RULER_NEEDLES };
enum ruler_kind { RULER_WORDS, RULER_NUMBERS, RULER_UUIDS };

enum { RULER_GOLDS_MAX = 10, RULER_TEXT_MAX = 192 };
struct ruler_string { /* a key, a value, a name, or a sentence with them */
    char s[RULER_TEXT_MAX];
};

struct ruler_draft {
    struct str prompt, answer_prefix;
    struct ruler_string gold[RULER_GOLDS_MAX]; /* every one of them is asked for */
    int n_golds;
};
void ruler_draft_release(struct ruler_draft *d);

struct ruler_family;
struct ruler_call {
    const struct ruler_family *family;
    const json_t *protocol; /* tasks/prompts/ruler.json, checked by ruler.c */
    uint64_t key;           /* of the random numbers */
    int index;              /* of the problem */
    int tokens;             /* the length that is asked for */
    int example_size;       /* vt: units in the example's haystack */
};
/* Fills d, which holds anything. size is at least the family's min_size. */
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
void ruler_niah(struct ruler_draft *d, const struct ruler_call *c, int size);
void ruler_vt(struct ruler_draft *d, const struct ruler_call *c, int size);
void ruler_cwe(struct ruler_draft *d, const struct ruler_call *c, int size);
void ruler_fwe(struct ruler_draft *d, const struct ruler_call *c, int size);
/* The example that stands before a problem of vt, as a problem of its own: for finding example_size. */
void ruler_vt_example(struct ruler_draft *d, const struct ruler_call *c, int size);

/* ---- for the generators (ruler_gen.c) ---- */

/* Independent draws for one problem. */
enum ruler_stream {
    RULER_ASKED,
    RULER_HAY,
    RULER_PLACES,
    RULER_EXAMPLE,
    RULER_EXAMPLE_PLACES,
    RULER_STREAMS
};
void ruler_rng(struct rng *r, const struct ruler_call *c, enum ruler_stream stream);

/* k different numbers from 0 to n-1 in ascending order; k <= n, and k is small. */
void ruler_sample(int *out, int k, int n, struct rng *r);

/* A haystack: `size` units with `separator` between them. needle[i] stands before unit at[i]; at is
 * ascending, and `size` there means behind the last one. */
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

/* Text `name` of part `part` ("prompt", "answer_prefix") of the protocol. */
const char *ruler_protocol(const struct ruler_call *c, const char *part, const char *name);
/* The sentence of the noise haystack, without a line end. */
const char *ruler_noise(const struct ruler_call *c);

#endif
