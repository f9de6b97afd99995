#ifndef ANSWER_CHECK_STRICT_GRADING_H
#define ANSWER_CHECK_STRICT_GRADING_H

#include "answer_check/equal/equal_answer.h"
#include "answer_check/strict/extract.h"
#include "answer_check/text/response.h"

/* Grading one response, shared by the files of answer_check/strict that decide: grading.c (verdicts),
 * grade_boxes.c, grade_prose.c and grade_strict.c, which follows answer_check/PLACES.md. */

enum { ANSWER_MAX = 16384, PLACES_MAX = 12 };

/* What one response is graded against. */
struct grading {
    struct grade *out;
    const struct response *response;
    struct grade_step *place; /* PLACES_MAX of them once one is noted */
    int n_places;
    struct span gold;
    struct answer reference; /* the gold as read, once reference_read is set */
    int reference_read;
    const struct grade_rules *rules;
    struct math_work *w;
};

/* The reference, parsed when it is first needed: a response without an answer needs no tree of it. */
const struct answer *grading_reference(struct grading *g);
struct answer_match grading_compare(struct grading *g, const struct answer *pred);

/* Notes that the rule took the text, and what became of the place that was noted last. */
void grading_note(struct grading *g, const char *rule, struct span took);
void grading_note_then(struct grading *g, const char *what, struct span by);

/* Each sets a verdict and returns 0: of an answer that is shown as text, not as the tree that it was read as;
 * of one that is too long; of one that was compared already; of one that was read; and of a text, which is
 * read first. */
int grading_as_text(const struct grading *g, struct span pred, enum verdict v, const char *reason);
int grading_too_long(const struct grading *g, struct span pred);
int grading_decide(struct grading *g, const struct answer *pred, const struct answer_match *m,
                   const char *where);
int grading_answer(struct grading *g, const struct answer *pred, const char *where);
int grading_text(struct grading *g, struct span text, const char *where);

/* The content of a box without words that announce it: "\text{Answer: }204". */
struct span grading_without_announcement(struct span s);

/* The length of the label of a part at the start of s: "(a)", "b)", "ii.", "Part (b):", "2."; 0 when there is
 * none. */
size_t grading_part_label(struct span s);
/* How many of the last boxes are the labelled parts of one answer, from the first part on; 0: none. */
size_t grading_box_parts(struct span section, const struct box_list *boxes);
/* The parts of the text "(a)\\ 3\\quad(b)\\ 5" as "\\text{(a) }3,\\ \\text{(b) }5", in the arena; another
 * text as it is. */
struct span grading_parts_as_list(struct span s, struct arena *a);

/* The section without takeaways, explanations and checks that follow its answer. */
struct span grading_without_afterword(struct grading *g, struct span section);

/* Grades the boxes, alone and as the formulas around them make them. Where only the boxes alone are the
 * reference, the box and its surroundings state two things. Returns 0. */
int grade_boxes(struct grading *g, struct span section, const struct box_list *boxes);
/* Grades a declaration, which may be a sentence. Returns 0. */
int grade_declared(struct grading *g, struct span declared);
/* Is the last sentence of a section the reference in words of its own: "A and C are true", "there are no such
 * n"? Returns 1 and sets the verdict where it is, else 0. */
int grade_sayings(struct grading *g, struct span section);
/* Grades a section that states no answer: as a whole, by its last line, or by what its last sentence
 * presents. Returns 0. */
int grade_undeclared(struct grading *g, struct span section, const struct response *r);

/* What follows the last " is " of a sentence, and words that lead up to a value there. */
int grading_after_is(struct span *out, struct span s);
/* Grades the parts that the section ends with, one on each line or behind a semicolon, as one list: if that
 * is the reference, or if they are alternatives, of which the last one is no answer. Returns 1 where it does.
 */
int grade_listed(struct grading *g, struct span section);
/* Is the reference the list of what the clauses of the last line say, "The centre is (2, -1) and the radius
 * is 3"? Returns 1 where it is. */
int grade_clauses(struct grading *g, struct span section);

#endif
