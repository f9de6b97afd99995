/* Which verdicts an older grader gave otherwise (contract: grades.h). */
#include <stdlib.h>

#include "evalcore/store/grades.h"

static void add_line(struct str *out, const struct cell *c, const struct record *rec, enum verdict before)
{
    const struct run_problem *p = &c->task->problems[rec->problem];
    str_printf(out, "  %s, sample %d of %s: %s, now %s: reference %s, answer %s\n", p->id, rec->sample, c->id,
               verdict_name(before), verdict_name(rec->verdict), rec->gold_form, rec->pred_form);
}

/* Graders are counted up, and a folder may lack some of them. */
static int load_older(struct gradebook *b, const struct run *r, struct arena *a, long *version, struct err *e)
{
    for (*version = strtol(answer_check_version(), NULL, 10) - 1; *version > 0; --*version) {
        int rc = gradebook_load(b, r->dir, arena_printf(a, "%ld", *version), a, e);
        if (rc || b->n)
            return rc;
        gradebook_release(b);
    }
    return 0;
}

int grades_changes(const struct run *r, int most, struct str *out, struct err *e)
{
    struct gradebook older = {0};
    struct arena a = {0};
    struct str lines = {0};
    long version, changed = 0, known = 0;
    int rc = load_older(&older, r, &a, &version, e);
    for (int i = 0; i < r->n_cells && older.n; i++)
        for (int k = 0; k < r->cells[i].n_records; k++) {
            const struct cell *c = &r->cells[i];
            const struct record *rec = &c->records[k];
            const char *gold = grade_gold_digest(&c->task->problems[rec->problem], &a);
            const struct grade_row *row = gradebook_find(&older, rec->key, gold);
            known += row != NULL;
            if (row && row->verdict != rec->verdict && changed++ < most)
                add_line(&lines, c, rec, row->verdict);
        }
    if (!rc && known) {
        str_printf(out, "grader %ld gave %ld of %ld another verdict\n", version, changed, known);
        str_puts(out, str_text(&lines));
        if (changed > most)
            str_printf(out, "  and %ld more\n", changed - most);
    }
    str_release(&lines);
    gradebook_release(&older);
    arena_release(&a);
    return rc;
}
