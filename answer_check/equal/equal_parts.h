#ifndef ANSWER_CHECK_EQUAL_EQUAL_PARTS_H
#define ANSWER_CHECK_EQUAL_EQUAL_PARTS_H

#include "answer_check/equal/equal.h"

/* The parts of the comparison, for answer_check/equal only. gold is the reference's tree, pred the
 * prediction's. A function that compares two trees returns MATH_FALSE where they are not of its kind, and
 * MATH_UNKNOWN when steps, precision or limits ran out. A function that returns int answers a question with 1
 * or 0. No tree is NULL. A function that returns a node says what a tree means, written another way; it
 * returns NULL where the tree means no such thing, when a limit is exceeded, or when no steps are left. */

/* ---- logic and kinds (equal_base.c) ---- */

/* "a or b": TRUE if either is, else UNKNOWN if either is, else FALSE. "a and b": FALSE if either is, else
 * UNKNOWN if either is, else TRUE. */
enum math_truth equal_better(enum math_truth a, enum math_truth b);
enum math_truth equal_worse(enum math_truth a, enum math_truth b);
void equal_set_how(struct comparison *e, const char *how); /* sets e->how; the string is not copied */
/* May m stand before "= value"? A symbol, words, f(x), \tan\alpha, dy/dx, A \cap B, and a tuple, list or
 * ratio of such; of a MATH_EITHER its usual reading decides. */
int equal_is_name(const struct math_node *m);
int equal_is_number(struct comparison *e, const struct math_node *m); /* a scalar without symbols */
int equal_is_value(const struct math_node *m);      /* a scalar, perhaps with marks around it */
int equal_is_mark(const struct math_node *m);       /* percent, degrees, a unit, a currency */
int equal_is_collection(const struct math_node *m); /* a list or a set */
int equal_is_statements(const struct math_node *m); /* joined by and, or by or */
int equal_is_vector(const struct math_node *m);     /* a matrix of one row or column */
int equal_is_region(const struct math_node *m);     /* written as a subset of the real line */
int equal_is_order(int op);                         /* <, <=, >, >= or != */
const struct math_node *equal_first_reading(
    const struct math_node *m); /* the usual one; m where it is the only */

/* ---- readings (equal_reading.c) ---- */

/* May the prediction's unit stand? One of several letters always may. A letter, as in "3m", is metres only
 * where the reference has no symbol m and the prediction sets the letter apart ("3 m", "3 m²"). */
int equal_unit_applies(const struct math_node *unit, const struct math_node *gold);
/* Is this a reading that no reference is tried with: a single letter as a unit, or a comma as a decimal
 * point? */
int equal_is_no_gold_reading(const struct math_node *m);
/* A MATH_EITHER without the readings that take a letter for a factor where it must be a function; m itself
 * where all of them may stand; the one reading that is left where it is the only. `other` is the other
 * answer. */
const struct math_node *equal_settle_letters(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other);

/* ---- the same comparison with one side or both written another way (equal_rewrite.c) ---- */

/* Rewrites either side or both and compares them again. The first rewriting that applies to a side decides,
 * whatever it finds. Without one it tries the comparisons of cases, families, antiderivatives, alternatives
 * and solved equations. MATH_FALSE where nothing applies. */
enum math_truth equal_rewritten(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);

/* ---- values: scalars with percent, degree, unit and currency marks (equal_value.c, equal_unit.c) ---- */

int equal_has_decimal(
    const struct math_node *m); /* is a decimal in it that may be rounded, without a period? */
/* Two values, under the rules for percents, units, degrees and decimals. */
enum math_truth equal_values(struct comparison *e, const struct math_node *gold,
                             const struct math_node *pred);
int equal_units(const char *a, const char *b); /* are "cm^2" and "square centimeters" one unit? */
/* Returns 1 where both units measure the same quantity and sets *num and *den, so that a = num/den b: 1 m is
 * 100/1 cm. Returns 0 and sets nothing for other or unknown units. */
int equal_unit_ratio(const char *a, const char *b, int64_t *num, int64_t *den);
/* A sum of at most four quantities as one in the unit of the first: 5 feet 4 inches. */
const struct math_node *equal_in_one_unit(struct comparison *e, const struct math_node *m);
/* The sum with its angles in radians, 60^\circ + 360^\circ k, where the other side has no degrees; else NULL.
 */
const struct math_node *equal_in_radians(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other);
/* The seconds that 1:20:00, hours, minutes and seconds, mean beside a quantity. */
const struct math_node *equal_seconds(struct comparison *e, const struct math_node *m,
                                      const struct math_node *other);
/* Is the ratio hours, minutes and seconds: 1:20:00? */
int equal_is_duration(const struct math_node *m);

/* ---- words (equal_text.c) ---- */

/* The same words, but for articles and the like, or words that mean the same. */
enum math_truth equal_texts(struct comparison *e, const struct math_node *gold, const struct math_node *pred);
/* What words mean: "no solution", "all real numbers", "twelve". */
const struct math_node *equal_chinese_number(struct comparison *e, const struct math_node *m); /* or NULL */
const struct math_node *equal_meaning(struct comparison *e, const struct math_node *m);
/* Does the condition of a value hold a further value with its own, as in "8 if x > 0, 9 otherwise"? */
int equal_holds_case(const struct math_node *condition);

/* ---- lists, sets, tuples and matrices (equal.c, equal_collection.c) ---- */

/* Are these lists of names of which one is joined by "and" and the other by "or"? "Alice or Bob" is not
 * "Alice and Bob", nor "B or C" "B and C". A comma may stand for either, and x = 1 or x = 2 has the solutions
 * 1 and 2, so these are never apart. */
int equal_joined_apart(const struct math_node *gold, const struct math_node *pred);
/* The children of two lists, sets or tuples: as many of them, pair by pair with `ordered`, else in any order.
 */
enum math_truth equal_items(struct comparison *e, const struct math_node *gold, const struct math_node *pred,
                            int ordered);
/* Two matrices of the same shape, entry by entry. */
enum math_truth equal_matrices(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred);
/* The matrix that 2M, M + N, MN, M^T, M^3 and [[1, 2], [3, 4]] mean; the tuple of the n (2 or 3) coordinates
 * of 3i - j + 2k; and the value of a determinant, |..| or \det of a matrix. */
const struct math_node *equal_matrix(struct comparison *e, const struct math_node *m);
const struct math_node *equal_vector(struct comparison *e, const struct math_node *m, int n);
const struct math_node *equal_determinant(struct comparison *e, const struct math_node *m);
/* a \pm b as the list of its two values, \pm a \pm b as that of its four; in a tuple every combination of
 * signs. */
const struct math_node *equal_expand(struct comparison *e, const struct math_node *m);

/* ---- definitions by cases (equal_piecewise.c) ---- */

/* A definition by cases against another one, or against one formula. */
enum math_truth equal_piecewise(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);

/* ---- sets of numbers (equal_set.c; equal_regions() is in equal.h) ---- */

/* The integers between two bounds, \{x \in \mathbb{Z} : 1 \le x \le 3\}, as the set of their values, where
 * the other side is a list, a set or described like that. At most 64 of them. */
const struct math_node *equal_whole_numbers(struct comparison *e, const struct math_node *m,
                                            const struct math_node *other);
/* \mathbb{N} and the like by their names, also by the plain letter. */
enum math_truth equal_number_sets(const struct math_node *gold, const struct math_node *pred);

/* ---- relations: equations, inequalities, congruences, functional equations (equal_relation.c) ---- */

/* Two relations, chains or congruences, whichever side stands first. */
enum math_truth equal_relations(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);
/* MATH_TRUE where the equation, solved for a symbol that the value does not hold and that is linear in it,
 * states just that value; MATH_FALSE also for other relations. */
enum math_truth equal_solved(struct comparison *e, const struct math_node *equation,
                             const struct math_node *value);

/* ---- assignments (equal_assign.c) ---- */

/* The value that an assignment, a MATH_RELATION, states ("x = 5", "5 = x", "m + n = 12 + 13 = 25", "x = 1/3
 * \approx 0.33"). loose: any left side will do, if the right one is a number. */
const struct math_node *equal_assigned(struct comparison *e, const struct math_node *m, int loose);
/* Several assignments as the list of their values, alternatives as a set; as the tuple that they state; and
 * as that tuple only where their names are different things, so that the values have to keep their order:
 * NULL for x = 1, x = 2 and for x_1 = 1, x_2 = 2. */
const struct math_node *equal_assigned_items(struct comparison *e, const struct math_node *m);
const struct math_node *equal_assigned_tuple(struct comparison *e, const struct math_node *m);
const struct math_node *equal_assigned_point(struct comparison *e, const struct math_node *m);
/* The set of what may stand for one variable: x = 1 or x = 5, x_1 = 1 and x_2 = 5, x \in \{1, 5\}. */
const struct math_node *equal_alternatives(struct comparison *e, const struct math_node *m);
/* "2 hours and 15 minutes", a list of quantities in different units, as a sum, if the other side is a sum. */
const struct math_node *equal_quantities(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other);
/* The name BD as the list of the letters B and D, if the other side lists as many letters. */
const struct math_node *equal_letters(struct comparison *e, const struct math_node *m,
                                      const struct math_node *other);

/* ---- remainders and dots (equal_residue.c) ---- */

/* Two classes of integers by their remainder, of which one is written another way: x \equiv 3 \pmod 7 and x =
 * 7k + 3, "all odd n" and n = 2k + 1. */
enum math_truth equal_residues(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred);
/* The remainder 42 that N \equiv 42 \pmod{1000} states, where it is one; else NULL. */
const struct math_node *equal_remainder(struct comparison *e, const struct math_node *m);
/* The value of 1 + 2 + \cdots + 100, a sum of integers in equal steps; NULL for any other writing. */
const struct math_node *equal_without_dots(struct comparison *e, const struct math_node *m);

/* ---- products of matrices (equal_ordered.c) ---- */

/* Are both products of what does not commute, as transposed, inverted or bold letters say, and different as
 * such: PDP^{-1} and D? The texts are what the trees were read from. 0 where one of them holds anything else
 * than sums, products and powers. */
int equal_order_differs(struct math_work *w, const struct math_node *gold, struct span gold_text,
                        const struct math_node *pred, struct span pred_text);

/* Are both products and sums of matrices, with transposed ones, and equal as such: (A + B)^T and A^T + B^T?
 */
int equal_order_agrees(struct math_work *w, const struct math_node *gold, struct span gold_text,
                       const struct math_node *pred, struct span pred_text);

/* ---- answers with a parameter (equal_family.c) ---- */

/* Does the answer declare a parameter, as "k\pi, k \in \mathbb{Z}" does? */
int equal_declares(struct comparison *e, const struct math_node *m);
/* Compares such answers, whatever the parameter's name is and wherever it starts to count. */
enum math_truth equal_families(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred);
/* Two general solutions whose arbitrary constants have other names or another order, where those of the
 * reference are plainly arbitrary (equal_constants.c). */
enum math_truth equal_constants(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred);
/* F(x) + C and G(x) + c, which are equal if they differ by a constant. */
enum math_truth equal_antiderivatives(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred);

#endif
