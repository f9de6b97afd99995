#ifndef ANSWER_CHECK_EQUAL_EQUAL_H
#define ANSWER_CHECK_EQUAL_EQUAL_H

#include "answer_check/text/grade.h"
#include "answer_check/scalar/scalar.h"

/* The door of the comparison, for strict/ and compat/: do two answers mean the same? Their trees are compared
 * by kind. The reference ("gold") comes first everywhere, and the order matters where
 * - a writing has several readings ("3 m"): the reference's decide;
 * - a side is a decimal: only a decimal reference is met by what rounds to it;
 * - the prediction is an equation: it may stand for the number on its right whatever is on its left
 *   ("m + n = 25" for 25);
 * - the reference lists values: it is met by them in any brackets and order, while the list of a prediction
 *   has to have the order of a tuple. */

struct comparison {
    struct math_work *w;
    const struct grade_rules *rules;
    const char
        *how; /* the weakest way that was needed: "exactly", "rounded to the reference's digits", ... */
    int depth;
    const struct math_node
        *reading[2]; /* of both sides' readings those that are equal; NULL: the only ones */
    int inside;      /* how many lists and sets are around the trees: there {3} is no other writing of 3 */
};

/* TRUE, FALSE, or UNKNOWN: steps, precision or the limits ran out. */
enum math_truth equal_trees(struct comparison *e, const struct math_node *gold, const struct math_node *pred);

/* ---- the parts, one file each ---- */

enum math_truth equal_better(enum math_truth a, enum math_truth b); /* of two tries: TRUE, then UNKNOWN */
enum math_truth equal_worse(enum math_truth a, enum math_truth b);  /* of two needs: FALSE, then UNKNOWN */
void equal_set_how(struct comparison *e, const char *how);
int equal_is_name(const struct math_node *m); /* x, x_1, f(x), (x, y): what may stand before "= value" */
int equal_is_number(struct comparison *e, const struct math_node *m); /* a scalar without symbols */
int equal_is_collection(const struct math_node *m);                   /* a list or a set */
int equal_is_statements(const struct math_node *m);                   /* joined by and, or by or */
int equal_is_vector(const struct math_node *m);                       /* a matrix of one row or column */

/* A MATH_EITHER without the readings that take a letter for a factor where it must be a function. */
const struct math_node *equal_settle_letters(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other);

/* The same comparison where one side is written in another way than the other (equal_rewrite.c). */
enum math_truth equal_rewritten(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);

/* Scalars, with percent, degree, unit and currency marks. */
int equal_is_value(const struct math_node *m);
enum math_truth equal_values(struct comparison *e, const struct math_node *gold,
                             const struct math_node *pred);
int equal_units(const char *a, const char *b); /* "cm^2" and "square centimeters" */
/* 1 where both units measure the same, and a is num/den of b: 1 m is 100/1 cm. */
int equal_unit_ratio(const char *a, const char *b, int64_t *num, int64_t *den);

/* Words: the same but for articles and the like; and what words mean ("no solution", "all real numbers",
 * "twelve"), or NULL. */
enum math_truth equal_texts(struct comparison *e, const struct math_node *gold, const struct math_node *pred);
const struct math_node *equal_meaning(struct comparison *e, const struct math_node *m);

/* Does the condition of a value hold a further value with its own, as in "8 if x > 0, 9 otherwise"? */
int equal_holds_case(const struct math_node *condition);

/* Are these names of which one list is joined by "and" and the other by "or"? "Alice or Bob" is not "Alice
 * and Bob", nor "B or C" "B and C"; a comma may stand for either, and x = 1 or x = 2 has the solutions 1
 * and 2. */
int equal_joined_apart(const struct math_node *gold, const struct math_node *pred);

/* Lists, sets and tuples. */
enum math_truth equal_items(struct comparison *e, const struct math_node *gold, const struct math_node *pred,
                            int ordered);
enum math_truth equal_matrices(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred);

/* The matrix that 2M, M + N, MN, M^T, M^3 and [[1, 2], [3, 4]] mean, and the tuple of the n coordinates of
 * 3i - j + 2k. NULL for what means no matrix or vector. */
const struct math_node *equal_matrix(struct comparison *e, const struct math_node *m);
const struct math_node *equal_vector(struct comparison *e, const struct math_node *m, int n);
/* The value of a determinant, |..| or \det of a matrix; NULL: it is none. */
const struct math_node *equal_determinant(struct comparison *e, const struct math_node *m);

/* A definition by cases against another one, or against one formula (equal_piecewise.c). */
enum math_truth equal_piecewise(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);

/* a \pm b as its two values (in a tuple: every combination), a MATH_LIST; NULL when there is none in it. */
const struct math_node *equal_expand(struct comparison *e, const struct math_node *m);

/* Subsets of the real line: intervals, unions, inequalities in one variable, set builders, points. */
int equal_is_region(const struct math_node *m); /* is written as one */
enum math_truth equal_regions(struct comparison *e, const struct math_node *gold,
                              const struct math_node *pred);

/* The integers between two bounds, \{x \in \mathbb{Z} : 1 \le x \le 3\}, as the set of their values, where
 * the other side lists values; NULL: it is no such set, or a long one. */
const struct math_node *equal_whole_numbers(struct comparison *e, const struct math_node *m,
                                            const struct math_node *other);

/* \mathbb{N} and the like by their names, also by the plain letter. */
enum math_truth equal_number_sets(const struct math_node *gold, const struct math_node *pred);

/* Equations, inequalities, congruences, functional equations. */
enum math_truth equal_relations(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);
/* The value that an assignment states ("x = 5", "5 = x", "m + n = 12 + 13 = 25", "x = 1/3 \approx 0.33"), or
 * NULL. loose: any left side will do, if the right one is a number. */
const struct math_node *equal_assigned(struct comparison *e, const struct math_node *m, int loose);
/* Several assignments as the list of their values (alternatives as a set), or NULL; as the tuple that they
 * state; and what may stand for one variable: x = 1 or x = 5, x_1 = 1 and x_2 = 5, x \in \{1, 5\}. */
const struct math_node *equal_assigned_items(struct comparison *e, const struct math_node *m);
const struct math_node *equal_assigned_tuple(struct comparison *e, const struct math_node *m);
/* The tuple of x = 1, y = 2, whose names are different things, so that values alone have to keep their order;
 * NULL for x = 1, x = 2 and for x_1 = 1, x_2 = 2. */
const struct math_node *equal_assigned_point(struct comparison *e, const struct math_node *m);
/* A sum of quantities as one in the unit of the first: 5 feet 4 inches. NULL for what is no such sum. */
const struct math_node *equal_in_one_unit(struct comparison *e, const struct math_node *m);
/* "2 hours and 15 minutes", a list of quantities in different units, as a sum, if the other side is a sum;
 * else NULL. */
const struct math_node *equal_quantities(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other);
/* The name BD as the list of the letters B and D, if the other side lists as many letters; else NULL. */
const struct math_node *equal_letters(struct comparison *e, const struct math_node *m,
                                      const struct math_node *other);
const struct math_node *equal_alternatives(struct comparison *e, const struct math_node *m);
/* Answers with a parameter ("k\pi, k \in \mathbb{Z}"), whatever its name is and wherever it starts to count;
 * and antiderivatives, F(x) + C. */
int equal_declares(struct comparison *e, const struct math_node *m);
enum math_truth equal_families(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred);
enum math_truth equal_antiderivatives(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred);
/* Is the equation, solved for a symbol that the value does not hold, just that value? */
enum math_truth equal_solved(struct comparison *e, const struct math_node *equation,
                             const struct math_node *value);

#endif
