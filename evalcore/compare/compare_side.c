/* What may not differ between the sides of a comparison. */
#include <string.h>

#include "evalcore/compare/compare_parts.h"
#include "evalcore/report/data/report_match.h"

struct counts { /* over all pairs of cells */
    int problems, prompts, golds, segmenters, missing;
    const char *example; /* id of a problem that differs */
};

static int find_problem(const struct run_task *t, const char *id, int hint)
{
    if (hint < t->n_problems && !strcmp(t->problems[hint].id, id))
        return hint;
    for (int i = 0; i < t->n_problems; i++)
        if (!strcmp(t->problems[i].id, id))
            return i;
    return -1;
}

/* NULL where no score depends on one. One program grades both sides, so this is all that can differ. */
static const char *segmenter_of(const struct cell *c)
{
    for (int i = 0; i < c->n_records; i++)
        if (c->records[i].segmenter)
            return c->records[i].segmenter;
    return NULL;
}

static void count_differences(struct counts *n, const struct cell_stats *a, const struct cell_stats *b)
{
    const struct run_task *ta = a->cell->task, *tb = b->cell->task;
    int shared = 0;
    for (int i = 0; i < tb->n_problems; i++) {
        const struct run_problem *p = &tb->problems[i];
        int k = ta == tb ? i : find_problem(ta, p->id, i);
        if (k < 0) {
            n->problems++;
            n->example = n->example ? n->example : p->id;
            continue;
        }
        shared++;
        int is_asked_alike = !strcmp(p->prompt_sha256, ta->problems[k].prompt_sha256);
        n->prompts += !is_asked_alike;
        n->golds += is_asked_alike && !match_same_golds(p, &ta->problems[k]);
        if (!n->example && (!is_asked_alike || !match_same_golds(p, &ta->problems[k])))
            n->example = p->id;
    }
    n->problems += ta->n_problems - shared;
    for (int i = 0; i < ta->n_problems && shared < ta->n_problems && !n->example; i++)
        if (find_problem(tb, ta->problems[i].id, i) < 0)
            n->example = ta->problems[i].id;
    const char *x = segmenter_of(a->cell), *y = segmenter_of(b->cell);
    n->segmenters += x && y && strcmp(x, y) != 0;
    n->missing += a->cell->n_expected - a->cell->n_records + b->cell->n_expected - b->cell->n_records;
}

static void add_note(struct comparison *c, const char *text)
{
    c->notes[c->n_notes++] = text;
}

/* Notes the difference when it is allowed, else refuses it. */
static int note_or_refuse(struct comparison *c, int is_allowed, const char *allow, const char *text, int code,
                          struct err *e)
{
    if (is_allowed) {
        add_note(c, text);
        return 0;
    }
    return err_set(e, code, "%s; --allow %s compares them all the same", text, allow);
}

/* Other models, weights and settings may be the question; they are told and not refused. */
static void note_settings(struct comparison *c)
{
    const char *seen = "";
    for (int i = 0; i < c->n_cells; i++) {
        const char *text =
            match_differences(c->a, c->b, &c->a->run->cells[c->cells[i].a], &c->b->run->cells[c->cells[i].b]);
        int is_policy = strcmp(c->a->run->cells[c->cells[i].a].policy_label,
                               c->b->run->cells[c->cells[i].b].policy_label) != 0;
        if (is_policy && !strcmp(text, "policy options")) /* the labels say so */
            continue;
        if (strlen(text) > strlen(seen))
            seen = text;
    }
    if (*seen)
        add_note(c, arena_printf(&c->arena, "A and B differ in %s", seen));
}

int compare_check(struct comparison *c, unsigned allowed, int unmatched, struct err *e)
{
    struct arena *a = &c->arena;
    struct counts n = {0};
    int rc = 0;
    c->notes = arena_alloc(a, 8 * sizeof *c->notes);
    if (!c->n_cells)
        return err_set(e, ERR_USAGE,
                       "%s and %s have no cell in common: none has the same task and settings on both sides",
                       c->name_a, c->name_b);
    for (int i = 0; i < c->n_cells; i++)
        count_differences(&n, &c->a->cells[c->cells[i].a], &c->b->cells[c->cells[i].b]);
    if (unmatched)
        rc = note_or_refuse(
            c, allowed & COMPARE_PROBLEMS, "problems",
            arena_printf(a, "%d cells are only in one of %s and %s", unmatched, c->name_a, c->name_b),
            ERR_USAGE, e);
    if (!rc && n.problems)
        rc = note_or_refuse(
            c, allowed & COMPARE_PROBLEMS, "problems",
            arena_printf(a, "%d problems are only on one side (such as %s)", n.problems, n.example),
            ERR_USAGE, e);
    if (!rc && n.golds)
        rc = note_or_refuse(
            c, allowed & COMPARE_PROBLEMS, "problems",
            arena_printf(a, "%d problems have other reference answers (such as %s)", n.golds, n.example),
            ERR_USAGE, e);
    if (!rc && n.prompts)
        rc = note_or_refuse(
            c, allowed & COMPARE_PROMPTS, "prompts",
            arena_printf(a, "%d problems were asked with another prompt (such as %s) and are left out",
                         n.prompts, n.example),
            ERR_USAGE, e);
    if (!rc && n.segmenters)
        rc = note_or_refuse(c, allowed & COMPARE_GRADER, "grader",
                            arena_printf(a,
                                         "%d cells were graded with another segmenter of Chinese: %s, and %s",
                                         n.segmenters, c->a->run->grader, c->b->run->grader),
                            ERR_USAGE, e);
    if (!rc && n.missing)
        rc = note_or_refuse(c, allowed & COMPARE_PARTIAL, "partial",
                            arena_printf(a, "%d answers are missing, and short ones finish first", n.missing),
                            ERR_BUSY, e);
    if (!rc)
        note_settings(c);
    return rc;
}
