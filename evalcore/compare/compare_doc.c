/* A comparison as a document, for markdown and HTML, and as JSON. Completions are cut to their ends: a file
 * may be passed on. */
#include <math.h>
#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/compare/compare_parts.h"

enum { SHOWN_BYTES = 4000 };

/* The end of a completion, from a whole character on. */
static const char *end_of(const struct answer *x, size_t *n)
{
    size_t from = x->text.len > SHOWN_BYTES ? x->text.len - SHOWN_BYTES : 0;
    while (from < x->text.len && ((unsigned char)x->text.data[from] & 0xC0) == 0x80)
        from++;
    *n = x->text.len - from;
    return str_text(&x->text) + from;
}

static void p_cell(struct doc *d, struct table *t, double p, unsigned flags)
{
    if (isnan(p))
        table_add(d, t, CELL_MUTED, "-");
    else
        table_add(d, t, flags, p < 0.001 ? "%.0e" : "%.3f", p);
}

static void pair_row(struct doc *d, struct table *t, struct comparison *c, const char *name,
                     const struct pair *p)
{
    table_row(d, t);
    table_add(d, t, 0, "%s", name);
    table_add(d, t, 0, "%d", p->problems);
    table_add(d, t, 0, "%d", p->both);
    table_add(d, t, 0, "%d", p->only_a);
    table_add(d, t, 0, "%d", p->only_b);
    table_add(d, t, 0, "%d", p->neither);
    report_number_cell(d, t, 100 * p->accuracy_a, 1);
    report_number_cell(d, t, 100 * p->accuracy_b, 1);
    table_add(d, t, 0, "%s", p->problems ? report_difference(d->arena, p) : "-");
    p_cell(d, t, p->p, 0);
    p_cell(d, t, p->holm, report_differs_flags(p));
    p_cell(d, t, p->noninferior_holm, report_within_flags(p));
    table_add(d, t, report_pair_flags(p), "%s", report_mark_words(d->arena, p, c->margin));
}

static const char *cell_name(struct comparison *c, int i)
{
    const struct cell *x = &c->b->run->cells[c->cells[i].b];
    return arena_printf(&c->arena, "%s, %s", x->task->label, report_cell_name(&c->arena, c->b->run, x));
}

static void add_pairs(struct doc *d, struct comparison *c)
{
    static const struct table_column columns[] = {{"cell", 0},
                                                  {"problems", CELL_NUMBER},
                                                  {"both", CELL_NUMBER},
                                                  {"only A", CELL_NUMBER},
                                                  {"only B", CELL_NUMBER},
                                                  {"neither", CELL_NUMBER},
                                                  {"A", CELL_NUMBER},
                                                  {"B", CELL_NUMBER},
                                                  {"B - A", CELL_NUMBER},
                                                  {"p, unadjusted", CELL_NUMBER},
                                                  {"p, Holm-adjusted", CELL_NUMBER},
                                                  {"p of a loss, Holm-adjusted", CELL_NUMBER},
                                                  {"verdict", 0}};
    struct table *t = doc_table(
        d, arena_printf(
               &c->arena,
               "Problems solved by both, by one alone, by neither (with several samples: by more than "
               "half of them), percent correct (of several tasks their mean, which weighs all tasks the "
               "same), difference in points with its 95 %% interval, exact "
               "two-sided p, the same adjusted for the number of cells (Holm; over all tasks for the "
               "number of policy settings), and the one-sided p of a loss of %s or more, adjusted "
               "likewise. %s",
               report_points(&c->arena, c->margin), report_interval_note));
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < c->n_cells; i++)
        pair_row(d, t, c, cell_name(c, i), &c->cells[i].pair);
    if (c->all && c->n_cells > 1)
        pair_row(d, t, c, "all tasks", c->all);
    for (int i = 0; i < c->n_settings && !c->all; i++)
        pair_row(d, t, c, arena_printf(&c->arena, "%s, all tasks", c->settings[i].name),
                 &c->settings[i].pair);
}

static const char *cell_reads(struct arena *a, const struct cell_stats *s)
{
    return report_reads(a, s->total_density, s->is_bound);
}

static void add_lengths(struct doc *d, struct comparison *c)
{
    static const struct table_column columns[] = {{"cell", 0},
                                                  {"tokens A", CELL_NUMBER},
                                                  {"tokens B", CELL_NUMBER},
                                                  {"change", CELL_NUMBER},
                                                  {"p, unadjusted", CELL_NUMBER},
                                                  {"reads A", CELL_NUMBER},
                                                  {"reads B", CELL_NUMBER}};
    struct table *t =
        doc_table(d, "Mean length of a completion, its change (geometric mean over problems) with a "
                     "sign-flip test, and KV tokens read, those of scans included, as a share of "
                     "what full attention would have read.");
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < c->n_cells; i++) {
        const struct against *x = &c->cells[i].lengths;
        table_row(d, t);
        table_add(d, t, 0, "%s", cell_name(c, i));
        report_number_cell(d, t, x->tokens_a, 0);
        report_number_cell(d, t, x->tokens_b, 0);
        table_add(d, t, 0, isfinite(x->length_ratio) ? "%+.1f %%" : "-", 100 * (x->length_ratio - 1));
        p_cell(d, t, x->length_p, 0);
        table_add(d, t, 0, "%s", cell_reads(d->arena, &c->a->cells[c->cells[i].a]));
        table_add(d, t, 0, "%s", cell_reads(d->arena, &c->b->cells[c->cells[i].b]));
    }
}

static int add_flip(struct doc *d, struct comparison *c, const struct flip *f, struct err *e)
{
    const struct run_problem *p = flip_problem(c, f);
    struct answer x[2] = {{0}};
    int rc = 0;
    doc_paragraph(d, "%s, %s: only %s solves it; the reference is %s.", flip_task(c, f), p->id,
                  f->is_lost ? "A" : "B", p->gold);
    for (int i = 0; i < 2 && !rc; i++) {
        struct str shown = {0};
        size_t n;
        rc = flip_answer(c, f, i, &x[i], e);
        if (!rc) {
            const char *text = end_of(&x[i], &n);
            str_add_utf8(&shown, text, n);
            doc_literal(d,
                        arena_printf(d->arena, "%s: %s, %d tokens, answer read: %s", i ? "B" : "A",
                                     x[i].verdict, x[i].rec->tokens, x[i].form),
                        &shown);
        }
        str_release(&shown);
        str_release(&x[i].text);
    }
    return rc;
}

int compare_doc(struct doc *d, struct comparison *c, int n_flips, struct err *e)
{
    int rc = 0, shown = flips_shown(c, n_flips);
    doc_section(d, "verdict", NULL);
    doc_paragraph(d, "A: %s, reads %s. B: %s, reads %s.", c->name_a, report_share(d->arena, c->reads_a),
                  c->name_b, report_share(d->arena, c->reads_b));
    for (int i = 0; i < c->n_notes; i++)
        doc_warning(d, "%s.", c->notes[i]);
    doc_paragraph(d, "%s", compare_verdict(c));
    doc_section(d, "pairs", "Problem by problem");
    add_pairs(d, c);
    doc_section(d, "lengths", "Lengths and reads");
    add_lengths(d, c);
    if (!c->n_flips)
        return 0;
    doc_section(d, "flips", "Flipped problems");
    if (shown < c->n_flips)
        doc_paragraph(d, "%d of %d.", shown, c->n_flips);
    for (int i = 0; i < shown && !rc; i++)
        rc = add_flip(d, c, &c->flips[i], e);
    return rc;
}

static json_t *number_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static const char *mark_name(const struct pair *p)
{
    static const char *const names[] = {"none", "lower", "higher", "within", "open", "too_few"};
    return p->is_incomplete && p->mark == MARK_OPEN ? "incomplete" : names[p->mark];
}

static json_t *pair_json(const struct pair *p)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:I}",
                     "problems", p->problems, "both", p->both, "only_a", p->only_a, "only_b", p->only_b,
                     "neither", p->neither, "accuracy_a", number_json(p->accuracy_a), "accuracy_b",
                     number_json(p->accuracy_b), "delta", number_json(p->delta), "ci_low",
                     number_json(p->ci.low), "ci_high", number_json(p->ci.high), "p", number_json(p->p),
                     "p_holm", number_json(p->holm), "p_noninferior", number_json(p->noninferior),
                     "p_noninferior_holm", number_json(p->noninferior_holm), "test", p->test, "mark",
                     mark_name(p), "enough_problems", (json_int_t)p->enough);
}

static json_t *cells_json(struct comparison *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->n_cells; i++) {
        const struct compared *x = &c->cells[i];
        json_t *o = pair_json(&x->pair);
        json_object_set_new(o, "cell_a", json_text_of(c->a->run->cells[x->a].id));
        json_object_set_new(o, "cell_b", json_text_of(c->b->run->cells[x->b].id));
        json_object_set_new(o, "task", json_text_of(c->b->run->cells[x->b].task->label));
        json_object_set_new(o, "tokens_a", number_json(x->lengths.tokens_a));
        json_object_set_new(o, "tokens_b", number_json(x->lengths.tokens_b));
        json_object_set_new(o, "length_ratio", number_json(x->lengths.length_ratio));
        json_object_set_new(o, "length_p", number_json(x->lengths.length_p));
        json_object_set_new(o, "reads_a", number_json(c->a->cells[x->a].total_density));
        json_object_set_new(o, "reads_b", number_json(c->b->cells[x->b].total_density));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *settings_json(struct comparison *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->n_settings; i++) {
        const struct compared_setting *s = &c->settings[i];
        json_t *o = pair_json(&s->pair);
        json_object_set_new(o, "setting", json_text_of(s->name));
        json_object_set_new(o, "tasks", json_integer(s->n_tasks));
        json_array_append_new(list, o);
    }
    return list;
}

static int flip_json(json_t *list, struct comparison *c, const struct flip *f, struct err *e)
{
    const struct run_problem *p = flip_problem(c, f);
    json_t *o = json_pack("{s:o, s:o, s:o, s:s}", "task", json_text_of(flip_task(c, f)), "problem",
                          json_text_of(p->id), "reference", json_text_of(p->gold), "solved_by",
                          f->is_lost ? "a" : "b");
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        struct answer x;
        size_t n;
        rc = flip_answer(c, f, i, &x, e);
        if (!rc) {
            const char *text = end_of(&x, &n);
            json_object_set_new(o, i ? "b" : "a",
                                json_pack("{s:s, s:i, s:i, s:o, s:o, s:o}", "verdict", x.verdict, "sample",
                                          x.rec->sample, "tokens", x.rec->tokens, "answer",
                                          json_text_of(x.rec->pred_form), "reason",
                                          json_text_of(x.rec->reason), "completion_end", json_text(text, n)));
        }
        str_release(&x.text);
    }
    json_array_append_new(list, o);
    return rc;
}

int compare_json(struct str *out, struct comparison *c, int n_flips, struct err *e)
{
    json_t *notes = json_array(), *flips = json_array();
    int rc = 0, shown = flips_shown(c, n_flips);
    for (int i = 0; i < c->n_notes; i++)
        json_array_append_new(notes, json_text_of(c->notes[i]));
    for (int i = 0; i < shown && !rc; i++)
        rc = flip_json(flips, c, &c->flips[i], e);
    json_t *all = c->all ? pair_json(c->all) : json_null();
    json_t *o = json_pack(
        "{s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "a", json_text_of(c->name_a), "b",
        json_text_of(c->name_b), "verdict", json_text_of(compare_verdict(c)), "notes", notes, "margin_points",
        c->margin, "all", all, "settings", settings_json(c), "reads_a", number_json(c->reads_a), "reads_b",
        number_json(c->reads_b), "cells", cells_json(c), "n_flips", c->n_flips, "flips", flips);
    json_canonical(out, o);
    str_putc(out, '\n');
    json_decref(o);
    return rc;
}
