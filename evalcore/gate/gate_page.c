/* The page of a night, as markdown and as HTML, and the files of the gate (contract: gate.h). */
#include <math.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/gate/gate.h"
#include "evalcore/page/doc.h"

static unsigned flag_of(enum gate_verdict v)
{
    return v == GATE_PASS ? CELL_GOOD : v == GATE_REGRESSION || v == GATE_ERROR ? CELL_BAD | CELL_STRONG : 0;
}

static void verdict_section(struct doc *d, const struct gate_result *r)
{
    doc_section(d, "verdict", "Verdict");
    if (r->changed)
        doc_warning(d, "Options are not those of the baseline: %s.", r->changed);
    doc_paragraph(d, "%s: %s.", gate_verdict_name(r->verdict), r->words);
    doc_paragraph(d, "Compared: %s with %s (kveval %s).", r->now->path, r->base->path, r->base->version);
    if (!r->same_class)
        doc_paragraph(d, "The numerics classes differ: %s, in the baseline %s.", r->now->numerics,
                      r->base->numerics);
    if (r->base->n_texts || r->now->n_texts)
        doc_paragraph(d, "Tasks of texts have likelihoods instead of verdicts and are no part of the gate.");
}

static int has_looks(const struct gate_result *r)
{
    for (int i = 0; i < r->n_settings; i++)
        if (r->settings[i].n_looks)
            return 1;
    return 0;
}

/* Nothing stands there before the first look. */
static void look_cells(struct doc *d, struct table *t, const struct gate_look *l, struct interval ci)
{
    table_add(d, t, 0, "%.1f", 100 * l->now);
    table_add(d, t, 0, "%.1f", 100 * l->base);
    table_add(d, t, 0, "%+.1f [%+.1f to %+.1f]", 100 * (l->now - l->base), 100 * ci.low, 100 * ci.high);
    table_add(d, t, 0, "%d", l->samples);
    table_add(d, t, 0, "%.2g", l->holm);
    table_add(d, t, 0, "%.2g", l->within);
}

static void settings_section(struct doc *d, const struct gate_result *r)
{
    static const struct table_column columns[] = {{"setting", 0},
                                                  {"verdict", 0},
                                                  {"accuracy", CELL_NUMBER},
                                                  {"baseline", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"samples", CELL_NUMBER},
                                                  {"p lower (Holm)", CELL_NUMBER},
                                                  {"p loss", CELL_NUMBER}};
    if (!r->n_settings)
        return;
    doc_section(d, "settings", "Accuracy over all tasks");
    doc_paragraph(
        d,
        "Differences are in points with their 95 %% interval, the problems given. p lower: probability of so "
        "few right answers without a change (exact stratified test, Holm over the settings). p loss: of "
        "such a result if %g points had been lost.",
        r->margin);
    struct table *t = doc_table(d, "Each setting over all problems");
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < r->n_settings; i++) {
        const struct gate_setting *s = &r->settings[i];
        const struct gate_look *l = s->n_looks ? &s->look[s->n_looks - 1] : NULL;
        table_row(d, t);
        table_add(d, t, 0, "%s", s->label);
        table_add(d, t, flag_of(s->verdict), "%s", gate_verdict_name(s->verdict));
        if (s->why)
            table_small(d, t, "%s", s->why);
        if (l)
            look_cells(d, t, l, s->ci);
    }
}

static void replays_section(struct doc *d, const struct gate_result *r)
{
    static const struct table_column columns[] = {{"setting", 0},
                                                  {"completion", CELL_NUMBER},
                                                  {"result", 0},
                                                  {"nats a token", CELL_NUMBER},
                                                  {"KL", CELL_NUMBER},
                                                  {"same top-1", CELL_NUMBER},
                                                  {"shared entries", CELL_NUMBER},
                                                  {"reads", CELL_NUMBER}};
    if (!r->n_drifts && !r->unscored)
        return;
    doc_section(d, "replays", "Replays");
    if (r->unscored) {
        doc_paragraph(d, "None, since %s.", r->unscored);
        return;
    }
    doc_paragraph(
        d, "Completions that the base file keeps, decoded again token by token under each setting.%s",
        !r->same_class           ? ""
        : gate_is_served(r->now) ? " The server's own noise, measured when the baseline was made, "
                                   "says how far they may be from it."
                                 : " In one numerics class everything must be the same to the last bit.");
    struct table *t = doc_table(d, "Replays");
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < r->n_drifts; i++) {
        const struct gate_drift *x = &r->drifts[i];
        table_row(d, t);
        table_add(d, t, 0, "%s", x->setting);
        table_add(d, t, 0, "%d", x->trace);
        table_add(d, t, x->failed ? CELL_BAD | CELL_STRONG : CELL_GOOD, "%s",
                  x->failed         ? "changed"
                  : x->is_exact     ? "the same bits"
                  : x->kl_limit > 0 ? "within the noise"
                                    : "close");
        if (x->why)
            table_small(d, t, "%s", x->why);
        table_add(d, t, 0, "%.2g", x->nats);
        if (x->kl_limit > 0)
            table_add(d, t, 0, "%.2g of %.2g", x->kl, x->kl_limit);
        else
            table_add(d, t, 0, "-");
        table_add(d, t, 0, "%.1f %%", 100 * x->top1);
        table_add(d, t, 0, isnan(x->overlap) ? "-" : "%.0f %%", 100 * x->overlap);
        table_add(d, t, 0, isnan(x->reads) ? "-" : "%.0f", x->reads);
    }
}

/* "-": not counted, as an endpoint's reads are. */
static void guard_value(struct str *out, double v, int is_count)
{
    str_clear(out);
    if (isnan(v))
        str_putc(out, '-');
    else
        str_printf(out, is_count ? "%.0f" : "%.1f %%", is_count ? v : 100 * v);
}

static void guards_section(struct doc *d, const struct gate_result *r)
{
    static const struct table_column guard[] = {{"setting", 0},           {"length", CELL_NUMBER},
                                                {"cut off", CELL_NUMBER}, {"unparsed", CELL_NUMBER},
                                                {"reads", CELL_NUMBER},   {"errors", CELL_NUMBER}};
    struct str now = {0}, before = {0};
    doc_section(d, "guards", "What moves before accuracy does");
    struct table *t =
        doc_table(d, "Lengths beside the baseline's, shares of answers, total reads as a share of full "
                     "attention's, failed jobs");
    table_columns(d, t, guard, sizeof guard / sizeof *guard);
    for (int i = 0; i < r->n_settings; i++) {
        const struct gate_setting *s = &r->settings[i];
        if (!s->n_looks)
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", s->label);
        for (int k = 0; k < GATE_GUARDS; k++) {
            const struct gate_guard *g = &s->guard[k];
            unsigned bad = g->failed ? CELL_BAD | CELL_STRONG : 0;
            guard_value(&now, g->now, k == 4);
            guard_value(&before, g->base, k == 4);
            table_add(d, t, bad, "%s", str_text(&now));
            if (g->is_blind && !g->failed)
                table_small(d, t, "cannot be told with %d problems", s->n_problems);
            if (k)
                table_small(d, t, "%s before", str_text(&before));
        }
    }
    str_release(&now);
    str_release(&before);
}

static void losses_section(struct doc *d, const struct gate_result *r)
{
    static const struct table_column flip[] = {
        {"problem", 0}, {"task", 0}, {"setting", 0}, {"baseline", CELL_NUMBER}, {"now", CELL_NUMBER}};
    if (!r->n_flips)
        return;
    doc_section(d, "losses", "Problems that lost most");
    struct table *t = doc_table(d, "Share of right answers, percent");
    table_columns(d, t, flip, sizeof flip / sizeof *flip);
    for (int i = 0; i < r->n_flips; i++) {
        const struct gate_flip *f = &r->flips[i];
        table_row(d, t);
        table_add(d, t, 0, "%s", f->problem);
        table_add(d, t, 0, "%s", f->task);
        table_add(d, t, 0, "%s", f->setting);
        table_add(d, t, 0, "%.0f", 100 * f->base);
        table_add(d, t, 0, "%.0f", 100 * f->now);
    }
}

void gate_nights(struct doc *d, const struct gate_history *h, const char *file, struct str *svg)
{
    struct str figure = {0};
    int alarm = -1;
    doc_section(d, "nights", "Nights");
    if (!h->n) {
        doc_paragraph(d, "The history holds no night yet.");
        return;
    }
    gate_chart(&figure, h, &alarm, d->arena);
    if (svg)
        str_add(svg, figure.data, figure.len);
    if (alarm >= 0)
        doc_warning(
            d, "The sum of drops passed its limit in night %d of %d: a slow loss that no single night shows.",
            alarm + 1, h->n);
    else
        doc_paragraph(d, "%d nights with new answers; no sum of drops has passed its limit.", h->n);
    doc_figure(
        d, file, "Control chart", &figure, 1,
        "The nights in %s. Each adds a setting's drop below the baseline, in standard errors, less %g; "
        "the sum never falls below 0. Beyond %g the accuracy has drifted (CUSUM, Page 1954).",
        h->path, GATE_CUSUM_K, GATE_CUSUM_H);
}

void gate_page(struct str *md, struct str *html, struct str *svg, const struct gate_result *r,
               const struct gate_history *h, struct arena *a)
{
    struct doc d;
    doc_init(&d, a, "kveval gate");
    verdict_section(&d, r);
    settings_section(&d, r);
    replays_section(&d, r);
    if (has_looks(r)) {
        guards_section(&d, r);
        losses_section(&d, r);
    }
    if (h && h->n)
        gate_nights(&d, h, "gate.svg", svg);
    doc_markdown(md, &d);
    doc_html(html, &d);
    doc_release(&d);
}

static int put_cell(const char *dir, const char *name, const struct str *text, struct err *e)
{
    struct str path = {0};
    file_join(&path, dir, name);
    int rc = file_write_atomic(path.data, str_text(text), text->len, e);
    str_release(&path);
    return rc;
}

int gate_write(const char *dir, const struct gate_result *r, const struct gate_history *h, struct str *md,
               struct arena *a, struct err *e)
{
    struct str json = {0}, junit = {0}, html = {0}, svg = {0};
    gate_json(&json, r);
    gate_junit(&junit, r);
    gate_page(md, &html, &svg, r, h, a);
    int rc = file_mkdirs(dir, e);
    if (!rc)
        rc = put_cell(dir, "gate.json", &json, e);
    if (!rc)
        rc = put_cell(dir, "gate.xml", &junit, e);
    if (!rc)
        rc = put_cell(dir, "gate.md", md, e);
    if (!rc)
        rc = put_cell(dir, "gate.html", &html, e);
    if (!rc && svg.len)
        rc = put_cell(dir, "gate.svg", &svg, e);
    str_release(&json);
    str_release(&junit);
    str_release(&html);
    str_release(&svg);
    return rc;
}
