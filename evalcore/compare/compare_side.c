/* What may not differ between the sides of a comparison. */
#include <stdlib.h>
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

/* Other models, weights and settings may be the question, so they become notes and are not refused. */
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
        rc = note_or_refuse(
            c, allowed & COMPARE_GRADER, "grader",
            arena_printf(
                a, "%d cells were graded with another segmenter of Chinese or another Python: %s, and %s",
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

/* ---- The pairs of cells by policy setting: a test for each over all its tasks. Settings are not pooled:
 * policies fail on the same problems, so one problem would be counted once a policy and chance would look
 * small. */

enum { NAMES_SHOWN = 6 };

static int row_of(const struct comparison *c, int i)
{
    return c->b->cells[c->cells[i].b].row;
}

static void compare_one(struct comparison *c, struct compared_setting *s, int row)
{
    struct matched m = match_begin();
    s->name = report_full_name(c->b, row);
    for (int i = 0; i < c->n_cells; i++) {
        if (row_of(c, i) != row)
            continue;
        int before = m.n;
        match_add(&m, &c->a->cells[c->cells[i].a], &c->b->cells[c->cells[i].b], NULL);
        s->n_tasks += m.n > before;
    }
    match_weigh(&m, NULL);
    match_compare(&s->pair, &m, c->margin / 100);
    match_release(&m);
}

void compare_settings(struct comparison *c)
{
    size_t capacity = (size_t)c->n_cells + 1;
    struct pair *pairs = xcalloc(capacity, sizeof *pairs);
    int *group = xcalloc(capacity, sizeof *group);
    c->settings = arena_alloc(&c->arena, capacity * sizeof *c->settings);
    for (int row = 0; row < c->b->n_rows; row++) {
        int i = 0;
        while (i < c->n_cells && row_of(c, i) != row)
            i++;
        if (i == c->n_cells)
            continue;
        compare_one(c, &c->settings[c->n_settings], row);
        pairs[c->n_settings] = c->settings[c->n_settings].pair;
        c->n_settings++;
    }
    report_mark_pairs(pairs, c->n_settings, group, c->margin);
    for (int i = 0; i < c->n_settings; i++)
        c->settings[i].pair = pairs[i];
    c->all = c->n_settings == 1 ? &c->settings[0].pair : NULL;
    free(pairs);
    free(group);
}

enum { ANSWERS_MISSING = MARK_TOO_FEW + 1 }; /* beside the marks */

static int verdict_of(const struct pair *p)
{
    return p->is_incomplete && p->mark == MARK_OPEN ? ANSWERS_MISSING : (int)p->mark;
}

/* ": 2 are lower in B: quest k_pages=1, quest k_pages=2". */
static void add_part(struct str *out, const struct comparison *c, int verdict, const char *singular,
                     const char *plural)
{
    int n = 0, shown = 0;
    for (int i = 0; i < c->n_settings; i++)
        n += verdict_of(&c->settings[i].pair) == verdict;
    if (!n)
        return;
    str_printf(out, "%s %d %s", out->data[out->len - 1] == ')' ? ":" : ";", n, n == 1 ? singular : plural);
    for (int i = 0; i < c->n_settings && shown < NAMES_SHOWN; i++)
        if (verdict_of(&c->settings[i].pair) == verdict)
            str_printf(out, "%s %s", shown++ ? "," : ":", c->settings[i].name);
    if (n > shown)
        str_printf(out, " and %d more", n - shown);
}

const char *compare_settings_verdict(struct comparison *c)
{
    struct str s = {0};
    const char *margin = report_points(&c->arena, c->margin);
    str_printf(&s, "%d policy settings, each over its own problems, adjusted for their number (Holm)",
               c->n_settings);
    add_part(&s, c, MARK_LOWER, "is lower in B than in A", "are lower in B than in A");
    add_part(&s, c, MARK_HIGHER, "is higher in B than in A", "are higher in B than in A");
    add_part(&s, c, MARK_WITHIN, arena_printf(&c->arena, "is as good in B within %s", margin),
             arena_printf(&c->arena, "are as good in B within %s", margin));
    add_part(&s, c, MARK_OPEN, "is not decided", "are not decided");
    add_part(&s, c, MARK_TOO_FEW, "has too few problems for any verdict",
             "have too few problems for any verdict");
    add_part(&s, c, ANSWERS_MISSING, "lacks answers and gets no verdict", "lack answers and get no verdict");
    add_part(&s, c, MARK_NONE, "has no problem that was answered on both sides",
             "have no problem that was answered on both sides");
    const char *kept = arena_printf(&c->arena, "%s.", str_text(&s));
    str_release(&s);
    return kept;
}
