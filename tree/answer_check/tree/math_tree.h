#ifndef ANSWER_CHECK_TREE_MATH_TREE_H
#define ANSWER_CHECK_TREE_MATH_TREE_H

#include <stdint.h>

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/str.h"

/* Mathematical writing as a typed tree: answer_check/read makes it, the comparisons read it. The door of
 * answer_check/tree, for every room that deals with formulas. Nodes live in an arena and never change. The
 * tree keeps what was written: 3.50 keeps its zero, 52_8 its base, 25\% its sign. The comparison, which
 * knows the rules, decides what such writing means for equality.
 *
 * A writing with more than one meaning is a MATH_EITHER node with one child for each reading, the usual
 * one first. When two answers are compared, the reading of the reference decides (docs/grading.md). */

enum math_kind {
    /* Scalars. */
    MATH_NUMBER,   /* literal, see struct math_literal */
    MATH_CONSTANT, /* enum math_constant in `which` */
    MATH_SYMBOL,   /* name: "x", "x_1", "alpha", "AB" where letters form one name */
    MATH_ADD,      /* children, at least two; a difference has a MATH_NEGATE child */
    MATH_MULTIPLY, /* children, at least two */
    MATH_DIVIDE,   /* two children; \frac and / alike */
    MATH_POWER,    /* base, exponent */
    MATH_NEGATE,
    MATH_PLUS_MINUS, /* one child: the values +child and -child; inside MATH_ADD for a \pm b; which = 1 for
                        \mp */
    MATH_FACTORIAL,  /* one child; which = 2 for n!! */
    MATH_FUNCTION,   /* enum math_function in `which`, children are the arguments */
    MATH_APPLY,      /* unknown function: name, children are the arguments; f(x), f^{-1}(x) has name "f^-1" */
    MATH_SUM,        /* body, variable (MATH_SYMBOL), from, to; which: enum math_sum */
    MATH_OPAQUE,     /* integral, limit, derivative: name says which; the children are its parts */
    /* Marks on a value; the first child is the value. */
    MATH_PERCENT,
    MATH_DEGREES,  /* 45^\circ; child 2 and 3: minutes and seconds, where written */
    MATH_UNIT,     /* name: the unit's text, "cm", "cm^2", "meters per second" */
    MATH_CURRENCY, /* name: "$", "EUR", ... */
    MATH_BASE,     /* 1101_2: value is a MATH_NUMBER or MATH_SYMBOL of its digits; second child the base */
    /* Collections. */
    MATH_LIST,         /* a, b and c: no brackets around it; which: enum math_joint */
    MATH_TUPLE,        /* ( ) */
    MATH_SET,          /* { } of elements */
    MATH_INTERVAL,     /* two ends; which: MATH_OPEN_LEFT | MATH_OPEN_RIGHT */
    MATH_UNION,        /* children */
    MATH_INTERSECTION, /* children */
    MATH_DIFFERENCE,   /* two sets */
    MATH_SET_BUILDER,  /* element or x \in S, condition */
    MATH_NUMBER_SET,   /* which: 'N' 'Z' 'Q' 'R' 'C', '0' for the empty set; name: "+" "-" "*" where marked */
    MATH_MATRIX,       /* children row by row; rows, columns; which = 1 for a determinant |..| */
    MATH_CASES,        /* children in pairs: value, condition (MATH_TEXT "" when there is none); one pair for
                          "x = 2k, where k \in \mathbb{Z}", with a condition in words as MATH_TEXT */
    MATH_RATIO,        /* a : b : c; a time 12:30 is MATH_EITHER of MATH_RATIO and MATH_TIME */
    MATH_TIME,         /* hours, minutes[, seconds]; name: "am", "pm" or "" */
    /* Statements. */
    MATH_RELATION, /* a chain: children are the sides, ops[i] stands between children i and i + 1; a label
                      ("Minimum: 1") is an equation whose left side is a MATH_TEXT */
    MATH_AND,      /* statements joined by "and", or listed: which = 1 when only by commas or lines */
    MATH_OR,       /* which = 1: made of one statement with \pm */
    MATH_NOT,
    /* Others. */
    MATH_TEXT,   /* words: name holds them folded (lower case, single blanks, no punctuation at the ends) */
    MATH_EITHER, /* readings of one writing */
    MATH_KINDS
};

enum math_sum { MATH_SIGMA, MATH_PRODUCT, MATH_INTEGRAL }; /* what binds a variable between two bounds */
enum math_constant { MATH_PI, MATH_E, MATH_I, MATH_INFINITY };
enum math_joint { MATH_BY_COMMA, MATH_BY_OR, MATH_BY_AND };
enum { MATH_OPEN_LEFT = 1, MATH_OPEN_RIGHT = 2 };

/* Functions with a known meaning. They have one argument unless noted. */
enum math_function {
    MATH_SQRT, /* the second argument, where written, says which root */
    MATH_EXP,
    MATH_LN,
    MATH_LOG, /* x, base; \log without a base is MATH_EITHER of base 10 and MATH_LN */
    MATH_ABS,
    MATH_FLOOR,
    MATH_CEILING,
    MATH_SIGN,
    MATH_SIN,
    MATH_COS,
    MATH_TAN,
    MATH_COT,
    MATH_SEC,
    MATH_CSC,
    MATH_ARCSIN,
    MATH_ARCCOS,
    MATH_ARCTAN,
    MATH_ARCCOT,
    MATH_ARCSEC,
    MATH_ARCCSC,
    MATH_SINH,
    MATH_COSH,
    MATH_TANH,
    MATH_COTH,
    MATH_ARSINH,
    MATH_ARCOSH,
    MATH_ARTANH,
    MATH_BINOMIAL, /* n, k */
    MATH_GCD,
    MATH_LCM,
    MATH_MIN,
    MATH_MAX, /* any number of arguments */
    MATH_MOD, /* a, n: the remainder */
    MATH_REAL,
    MATH_IMAGINARY,
    MATH_ARGUMENT,
    MATH_CONJUGATE,
    MATH_FUNCTIONS
};
const char *math_function_name(enum math_function f); /* "sqrt", "arcsin", ...; "?" for no function */
const char *math_sum_name(enum math_sum s);           /* "sum", "product", "integral" */

enum math_op {
    MATH_EQUAL,
    MATH_NOT_EQUAL,
    MATH_LESS,
    MATH_LESS_EQUAL,
    MATH_GREATER,
    MATH_GREATER_EQUAL,
    MATH_APPROXIMATELY,
    MATH_IN,
    MATH_NOT_IN,
    MATH_SUBSET,
    MATH_CONGRUENT /* a \equiv b, modulus as third child */,
    MATH_DIVIDES,
    MATH_OTHER_RELATION /* parallel, perpendicular, similar, ...: name */
};

/* A number as it was written: its digits without the point, separators and leading zeros ("0" for zero).
 * Its value is digits * 10^(exponent - decimals), and where `period` is not 0 the last `period` digits
 * repeat for ever. */
struct math_literal {
    const char *digits;
    int n;
    int decimals; /* digits behind the point */
    int period;   /* how many of these repeat */
    int exponent; /* the 3 of 1.5e3; 1.5 \times 10^3 is a product */
    int point;    /* a point was written: 3. and 3.0 are decimals, 3 is exact */
    int comma;    /* the point was a plain comma, 3,5, which may as well separate two numbers */
};

struct math_node {
    enum math_kind kind;
    int which;         /* meaning by kind, above */
    int n;             /* children */
    int rows, columns; /* MATH_MATRIX */
    const struct math_node **child;
    const char *name;            /* by kind, above; "" otherwise, never NULL */
    const unsigned char *ops;    /* MATH_RELATION: n - 1 of enum math_op */
    struct math_literal literal; /* MATH_NUMBER */
    struct span source;          /* the writing this node was read from */
};

/* Limits of one tree. math_read() returns NULL for a text that would exceed one of them. */
enum { MATH_TREE_BYTES = 16384, MATH_TREE_NODES = 20000, MATH_TREE_DEPTH = 100, MATH_TREE_READINGS = 16 };

/* What one comparison shares: where nodes and results live, and how many steps are left. Every loop that
 * can be long for a long input takes steps; when none are left every function gives up (no tree, or
 * "unknown"). There is no clock, so results never depend on the machine. */
enum { MATH_STEPS = 1000000 };
/* How an equality of scalars was found: by exact numbers and polynomials; by intervals that agree to the
 * highest precision; by values at sample points. */
enum math_evidence { MATH_EXACT, MATH_CERTIFIED, MATH_PROBED };
struct math_work {
    struct arena *arena;
    int64_t steps;
    int ran_out;          /* more steps were wanted than were left */
    int principal_values; /* roots and logarithms of negative numbers are complex, as SymPy's (mode compat) */
    enum math_evidence evidence; /* the weakest that an equality of scalars needed so far */
};
/* Takes n steps from w. Returns 0, or -1 when fewer than n are left; w then has none left and ran_out is set.
 */
int math_step(struct math_work *w, int64_t n);

/* Builders. They return a new node in the arena, and NULL when a child is NULL or no steps are left; a node
 * with n children takes 1 + n steps. The array of children is copied; texts are not, they must live as long
 * as the arena. Members that are not given are 0 and the name is "". The caller may set further members of a
 * node that it has just made. `source` may be empty. */
struct math_node *math_node_new(struct math_work *w, enum math_kind kind, struct span source, int n,
                                const struct math_node *const *child);
struct math_node *math_node_1(struct math_work *w, enum math_kind kind, struct span source,
                              const struct math_node *a);
struct math_node *math_node_2(struct math_work *w, enum math_kind kind, struct span source,
                              const struct math_node *a, const struct math_node *b);
/* Leaves: a symbol, text or other kind that is its name; a constant; a set of numbers (`which` and `name` as
 * MATH_NUMBER_SET has them); a whole number by its n digits, without leading zeros; and a whole number by its
 * value, where a negative one is a MATH_NEGATE of its size. */
const struct math_node *math_node_named(struct math_work *w, enum math_kind kind, struct span source,
                                        const char *name);
const struct math_node *math_node_constant(struct math_work *w, struct span source, enum math_constant which);
const struct math_node *math_node_number_set(struct math_work *w, struct span source, char which,
                                             const char *name);
const struct math_node *math_node_digits(struct math_work *w, struct span source, const char *digits, int n);
const struct math_node *math_node_integer(struct math_work *w, struct span source, int64_t value);
/* Returns a copy of m with other children, of which there are m->n, or m itself where they are the same
 * pointers. NULL when a child is NULL or no steps are left. */
const struct math_node *math_node_like(struct math_work *w, const struct math_node *m,
                                       const struct math_node *const *child);

/* Returns 1 when two trees are the same, node by node, with numbers as they are written, else 0: 3.0 is not
 * 3, and x + 1 is not 1 + x. Sources do not count, nor whether the point of a decimal was a comma. Neither is
 * NULL; no steps are taken. */
int math_node_same(const struct math_node *a, const struct math_node *b);

/* The three printers append to `out`, which keeps what it holds, and cannot fail; m is not NULL.
 *
 * Appends the tree as one canonical line without a line break, for people and tests: in prefix form,
 * "(add x (negate 1))", with numbers as written. */
void math_print(struct str *out, const struct math_node *m);
/* The same as readable infix text for gold_form and pred_form: "x - 1", "(1, 2]", "{1, 2}". */
void math_print_infix(struct str *out, const struct math_node *m);
/* The same as LaTeX, with every bracket that the tree implies. */
void math_print_latex(struct str *out, const struct math_node *m);

#endif
