/* The pairs of cells by policy setting: a test for each over all its tasks. Settings are not pooled: policies
 * fail on the same problems, so one problem would be counted once a policy and chance would look small. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/compare/compare_parts.h"
#include "evalcore/report/data/report_match.h"

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
    match_compare(&s->pair, &m, c->margin / 100);
    match_release(&m);
}

void compare_settings(struct comparison *c)
{
    size_t room = (size_t)c->n_cells + 1;
    struct pair *pairs = xcalloc(room, sizeof *pairs);
    int *group = xcalloc(room, sizeof *group);
    c->settings = arena_alloc(&c->arena, room * sizeof *c->settings);
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
