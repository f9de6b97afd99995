/* Tier 2: has the accuracy fallen? For each setting, over the problems of all tasks (contract: gate.h). The
 * problems are given and only sampling is random, so the test is the exact stratified one, at the looks of
 * stat_looks with their boundaries. A regression needs a lower tail that Holm over the settings leaves below
 * the look's limit; a pass must hold for every setting, which needs no correction. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/gate/gate.h"

const char *gate_verdict_name(enum gate_verdict v)
{
    static const char *const names[] = {"pass", "regression", "inconclusive", "open", "error"};
    return names[v];
}

/* The problems of a setting: the baseline's beside the new ones. */
struct paired {
    struct stratum *s;
    double *d; /* differences of mean scores */
    int n, is_binary;
    double base, now, chance; /* means over problems */
};

static const struct gate_cell *cell_beside(const struct gate_side *s, const struct gate_cell *c)
{
    int i = 0;
    while (strcmp(s->cells[i].setting, c->setting) || strcmp(s->cells[i].task, c->task))
        i++; /* gate_match() has found it */
    return &s->cells[i];
}

/* task NULL: of all tasks. */
static void pair_up(struct paired *out, const struct gate_side *base, const struct gate_side *now,
                    const char *setting, const char *task, int samples)
{
    size_t n = 0;
    *out = (struct paired){.is_binary = 1};
    for (int c = 0; c < base->n_cells; c++)
        n += (size_t)base->cells[c].n_problems;
    out->s = xcalloc(n + 1, sizeof *out->s);
    out->d = xcalloc(n + 1, sizeof *out->d);
    for (int c = 0; c < base->n_cells; c++) {
        const struct gate_cell *a = &base->cells[c];
        if (strcmp(a->setting, setting) || (task && strcmp(a->task, task)))
            continue;
        const struct gate_cell *b = cell_beside(now, a);
        out->is_binary &= a->is_binary && b->is_binary;
        for (int i = 0; i < a->n_problems; i++) {
            struct gate_sums x = gate_sums(&a->problems[i], 0), y = gate_sums(&b->problems[i], samples);
            if (!x.n || !y.n)
                continue;
            double p = x.score / (double)x.n, q = y.score / (double)y.n;
            out->s[out->n] = (struct stratum){x.right, x.n, y.right, y.n};
            out->d[out->n++] = q - p;
            out->base += p;
            out->now += q;
            out->chance += b->problems[i].chance;
        }
    }
    out->base /= out->n ? out->n : 1;
    out->now /= out->n ? out->n : 1;
    out->chance /= out->n ? out->n : 1;
}

static void release_pairs(struct paired *p)
{
    free(p->s);
    free(p->d);
}

static double lower_tail(const struct paired *p)
{
    enum signflip how;
    if (p->is_binary)
        return stat_stratified(p->s, (size_t)p->n).lower;
    double two = stat_signflip(p->d, (size_t)p->n, 0, &how) / 2;
    return p->now < p->base ? two : 1 - two;
}

static double within_margin(const struct paired *p, double margin)
{
    return p->is_binary ? stat_noninferior_strata(p->s, (size_t)p->n, margin)
                        : stat_noninferior_mean(p->d, (size_t)p->n, margin);
}

/* By the samples' spread; of single samples, which have none, by the problems' as in the report. */
static struct interval interval_of(const struct paired *p)
{
    double spread = 0, n = p->n ? p->n : 1;
    long both = 0, only_a = 0, only_b = 0;
    int n_single = 0, n_one_sided = 0;
    for (int i = 0; i < p->n; i++) {
        const struct stratum *s = &p->s[i];
        double na = (double)s->n_a, nb = (double)s->n_b;
        double pa = ((double)s->a + 0.5) / (na + 1), pb = ((double)s->b + 0.5) / (nb + 1);
        spread += pa * (1 - pa) / na + pb * (1 - pb) / nb;
        n_single += s->n_a == 1 && s->n_b == 1;
        n_one_sided += (s->n_a == 1) != (s->n_b == 1);
        both += s->a && s->b;
        only_a += s->a > s->b;
        only_b += s->b > s->a;
    }
    if (p->is_binary && p->n && n_single == p->n)
        return stat_paired_newcombe(both, only_a, only_b, p->n - both - only_a - only_b);
    if (!p->is_binary || n_single + n_one_sided)
        return stat_paired_t(p->d, (size_t)p->n);
    double delta = p->now - p->base, half = stat_normal_quantile(0.975) * sqrt(spread) / n;
    return (struct interval){fmax(-1, delta - half), fmin(1, delta + half)};
}

/* The sum of right answers in standard errors from what the split would give without a change (the stratified
 * test's own mean and variance), and an interval for the difference. */
static void describe_result(struct gate_setting *out, const struct paired *p)
{
    double seen = 0, mean = 0, var = 0, n = p->n ? p->n : 1;
    for (int i = 0; i < p->n; i++) {
        double na = (double)p->s[i].n_a, nb = (double)p->s[i].n_b, m = (double)(p->s[i].a + p->s[i].b),
               t = na + nb;
        seen += (double)p->s[i].b;
        mean += m * nb / t;
        var += t > 1 ? m * (t - m) * na * nb / (t * t * (t - 1)) : 0;
    }
    out->ci = interval_of(p);
    if (!p->is_binary) {
        double sd = stat_sd(p->d, (size_t)p->n);
        out->z = sd > 0 ? (p->now - p->base) / (sd / sqrt(n)) : 0;
        return;
    }
    out->z = var > 0 ? (seen - mean) / sqrt(var) : 0;
}

void gate_list_settings(struct gate_result *r, struct arena *a)
{
    struct str changed = {0};
    r->n_settings = 0;
    r->settings = arena_alloc(a, ((size_t)r->base->n_cells + 1) * sizeof *r->settings);
    for (int c = 0; c < r->base->n_cells; c++) {
        const struct gate_cell *x = &r->base->cells[c], *y = cell_beside(r->now, x);
        int i = 0;
        while (i < r->n_settings && strcmp(r->settings[i].label, x->setting))
            i++;
        if (i == r->n_settings)
            r->settings[r->n_settings++] = (struct gate_setting){.label = x->setting, .verdict = GATE_OPEN};
        if (r->settings[i].differs)
            continue;
        r->settings[i].differs = gate_changed_options(x, y, r->same_class, a);
        if (r->settings[i].differs)
            str_printf(&changed, "%s%s: %s", changed.len ? "; " : "", x->setting, r->settings[i].differs);
    }
    r->changed = changed.len ? arena_strdup(a, str_text(&changed)) : NULL;
    str_release(&changed);
}

/* How many samples every problem of a setting has on the new side: decided settings may have fewer. */
static int samples_of(const struct gate_side *now, const char *setting)
{
    int least = -1;
    for (int c = 0; c < now->n_cells; c++)
        for (int i = 0; !strcmp(now->cells[c].setting, setting) && i < now->cells[c].n_problems; i++)
            if (least < 0 || now->cells[c].problems[i].n < least)
                least = now->cells[c].problems[i].n;
    return least > 0 ? least : 0;
}

static void take_look(struct gate_result *r, struct gate_setting *s, const struct stat_look *spec,
                      int samples)
{
    struct paired p;
    /* The last look at no more than an earlier one saw is the same look by the last rule. */
    if (s->n_looks && s->look[s->n_looks - 1].samples == samples)
        s->n_looks--;
    pair_up(&p, r->base, r->now, s->label, NULL, samples);
    s->look[s->n_looks++] = (struct gate_look){.samples = samples,
                                               .base = p.base,
                                               .now = p.now,
                                               .chance = p.chance,
                                               .lower = lower_tail(&p),
                                               .within = within_margin(&p, r->margin / 100),
                                               .fail_p = spec->fail_p,
                                               .pass_p = 1 - spec->pass_level};
    s->n_problems = p.n;
    s->is_binary = p.is_binary;
    describe_result(s, &p);
    release_pairs(&p);
}

static void judge_setting(struct gate_result *r, struct gate_setting *s, const struct stat_look *spec,
                          struct arena *a)
{
    const struct gate_look *l = &s->look[s->n_looks - 1];
    switch (stat_look_rule(spec, l->holm, l->within)) {
    case STAT_REGRESSION:
        s->verdict = GATE_REGRESSION;
        s->why = arena_printf(a, "%.1f points lower than the baseline's %.1f after %d samples (p = %.2g)",
                              100 * (l->base - l->now), 100 * l->base, l->samples, l->holm);
        break;
    case STAT_WITHIN:
        s->verdict = GATE_PASS;
        s->why = arena_printf(a, "a loss of %g points is ruled out after %d samples", r->margin, l->samples);
        break;
    default:
        break;
    }
}

/* One look at the open settings that have enough samples; limit: take no more of them than this. Holm counts
 * all settings: decided ones with their last look, those that were not looked at with p = 1. */
static void look_at(struct gate_result *r, const struct stat_look *spec, int least, int limit,
                    struct arena *a)
{
    size_t n = (size_t)r->n_settings;
    double *p = xcalloc(n + 1, sizeof *p), *holm = xcalloc(n + 1, sizeof *p);
    char *looked = xcalloc(n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        struct gate_setting *s = &r->settings[i];
        int have = samples_of(r->now, s->label);
        looked[i] = s->verdict == GATE_OPEN && have >= least;
        if (looked[i])
            take_look(r, s, spec, have < limit ? have : limit);
        p[i] = s->n_looks ? s->look[s->n_looks - 1].lower : 1;
    }
    stat_holm(p, n, holm);
    for (size_t i = 0; i < n; i++)
        if (looked[i]) {
            r->settings[i].look[r->settings[i].n_looks - 1].holm = holm[i];
            judge_setting(r, &r->settings[i], spec, a);
        }
    free(p);
    free(holm);
    free(looked);
}

/* The looks that the samples allow. The last one takes all there is, however many that is, by the last rule:
 * it is the only one when everything was decoded beforehand. */
static void take_looks(struct gate_result *r, int samples, int is_last, struct arena *a)
{
    for (int k = 0; k < STAT_LOOKS; k++) {
        const struct stat_look *spec = &stat_looks[k];
        int is_earlier = is_last ? k < STAT_LOOKS - 1 && spec->samples < samples : spec->samples <= samples;
        if (is_earlier)
            look_at(r, spec, spec->samples, spec->samples, a);
    }
    if (is_last)
        look_at(r, &stat_looks[STAT_LOOKS - 1], 1, samples ? samples : INT_MAX, a);
}

static const struct gate_setting *setting_of(const struct gate_result *r, const char *label)
{
    const struct gate_setting *s = r->settings;
    while (strcmp(s->label, label))
        s++; /* list_settings() has put it there */
    return s;
}

/* Tasks by themselves, with the samples of the setting's last look. What fails a setting shares its level
 * among all of them and all looks, so that a night without a change stays within its budget. */
static void add_notes(struct gate_result *r, struct arena *a)
{
    int n = r->base->n_cells;
    double level = GATE_NOTES_ALPHA / (STAT_LOOKS * (double)n);
    double *p = xcalloc((size_t)n + 1, sizeof *p), *bh = xcalloc((size_t)n + 1, sizeof *bh);
    r->notes = arena_alloc(a, ((size_t)n + 1) * sizeof *r->notes);
    for (int c = 0; c < n; c++) {
        const struct gate_cell *x = &r->base->cells[c];
        const struct gate_setting *s = setting_of(r, x->setting);
        struct paired q;
        pair_up(&q, r->base, r->now, x->setting, x->task, s->n_looks ? s->look[s->n_looks - 1].samples : 0);
        p[c] = q.n && s->n_looks ? lower_tail(&q) : NAN;
        r->notes[r->n_notes++] = (struct gate_note){
            .setting = x->setting, .task = x->task, .base = q.base, .now = q.now, .p = p[c]};
        release_pairs(&q);
    }
    stat_benjamini_hochberg(p, (size_t)n, bh);
    for (int c = 0; c < n; c++) {
        r->notes[c].bh = bh[c];
        r->notes[c].is_catastrophic = r->notes[c].now < r->notes[c].base / 2 && p[c] <= level;
    }
    free(p);
    free(bh);
}

/* A catastrophe in one task and a failed guard make a setting a regression, whatever its accuracy says; and
 * failed jobs make it an error, since they count as wrong there. */
static void apply_notes(struct gate_result *r, struct arena *a)
{
    for (int i = 0; i < r->n_settings; i++) {
        struct gate_setting *s = &r->settings[i];
        for (int k = 0; k < r->n_notes && s->verdict != GATE_REGRESSION; k++)
            if (r->notes[k].is_catastrophic && !strcmp(r->notes[k].setting, s->label)) {
                s->verdict = GATE_REGRESSION;
                s->why = arena_printf(a, "on %s it solves %.0f %%, less than half of the baseline's %.0f %%",
                                      r->notes[k].task, 100 * r->notes[k].now, 100 * r->notes[k].base);
            }
        for (int g = 0; g < GATE_GUARDS; g++) {
            int is_error = !strcmp(s->guard[g].name, "errors");
            if (!s->guard[g].failed || s->verdict == GATE_ERROR ||
                (s->verdict == GATE_REGRESSION && !is_error))
                continue;
            s->verdict = is_error ? GATE_ERROR : GATE_REGRESSION;
            s->why = s->guard[g].words;
        }
    }
}

static void find_flips(struct gate_result *r)
{
    enum { MOST = sizeof r->flips / sizeof *r->flips };
    for (int c = 0; c < r->base->n_cells; c++) {
        const struct gate_cell *x = &r->base->cells[c], *y = cell_beside(r->now, x);
        for (int i = 0; i < x->n_problems; i++) {
            struct gate_sums a = gate_sums(&x->problems[i], 0), b = gate_sums(&y->problems[i], 0);
            if (!a.n || !b.n || b.score / (double)b.n >= a.score / (double)a.n)
                continue;
            struct gate_flip f = {x->setting, x->task, x->problems[i].id, a.score / (double)a.n,
                                  b.score / (double)b.n};
            int at = r->n_flips;
            while (at > 0 && r->flips[at - 1].base - r->flips[at - 1].now < f.base - f.now)
                at--;
            if (at >= MOST)
                continue;
            int last = r->n_flips < MOST ? r->n_flips++ : MOST - 1;
            memmove(&r->flips[at + 1], &r->flips[at], (size_t)(last - at) * sizeof f);
            r->flips[at] = f;
        }
    }
}

static void sum_up(struct gate_result *r, struct arena *a)
{
    int n[5] = {0}, others = 0;
    const struct gate_setting *worst = NULL;
    for (int i = 0; i < r->n_settings; i++) {
        n[r->settings[i].verdict]++;
        others += r->settings[i].verdict == GATE_ERROR && r->settings[i].differs;
        if (!worst && (r->settings[i].verdict == GATE_REGRESSION || r->settings[i].verdict == GATE_ERROR))
            worst = &r->settings[i];
    }
    r->verdict = n[GATE_ERROR] > others                  ? GATE_ERROR
                 : n[GATE_REGRESSION] || r->tier1_failed ? GATE_REGRESSION
                 : n[GATE_ERROR]                         ? GATE_ERROR
                 : n[GATE_OPEN]                          ? GATE_OPEN
                 : n[GATE_INCONCLUSIVE]                  ? GATE_INCONCLUSIVE
                                                         : GATE_PASS;
    if (worst)
        r->words = arena_printf(a, "%d of %d settings fail, first %s: %s", n[GATE_ERROR] + n[GATE_REGRESSION],
                                r->n_settings, worst->label, worst->why);
    else if (n[GATE_OPEN] + n[GATE_INCONCLUSIVE])
        r->words = arena_printf(a, "%d of %d settings are neither lower beyond chance nor within %g points",
                                n[GATE_OPEN] + n[GATE_INCONCLUSIVE], r->n_settings, r->margin);
    else
        r->words =
            arena_printf(a, "all %d settings are within %g points of the baseline", r->n_settings, r->margin);
}

int gate_decide(struct gate_result *out, const struct gate_side *base, const struct gate_side *now,
                const struct gate_limits *limits, double margin, int samples, int is_last, struct arena *a,
                struct err *e)
{
    *out = (struct gate_result){
        .base = base, .now = now, .margin = margin, .same_class = gate_same_class(base, now)};
    if (now->is_file)
        return err_set(
            e, ERR_USAGE,
            "%s is a base file, which keeps sums of all answers and no single samples; name the run "
            "folder that it was made from as NEW",
            now->path);
    if (gate_match(base, now, e))
        return e->code;
    gate_list_settings(out, a);
    take_looks(out, samples, is_last, a);
    gate_judge_greedy(out, a);
    for (int i = 0; i < out->n_settings; i++)
        if (!out->settings[i].n_looks && is_last)
            return err_set(e, ERR_IO, "%s has no answers under \"%s\" to compare; decode it first", now->path,
                           out->settings[i].label);
    add_notes(out, a);
    for (int i = 0; i < out->n_settings; i++) {
        struct gate_setting *s = &out->settings[i];
        if (s->n_looks)
            gate_guards(s, base, now, limits, s->look[s->n_looks - 1].samples, out->n_settings, a);
        if (s->verdict == GATE_OPEN && is_last) {
            s->verdict = GATE_INCONCLUSIVE;
            s->why = arena_printf(a, "neither lower beyond chance nor within %g points after %d samples",
                                  margin, s->n_looks ? s->look[s->n_looks - 1].samples : 0);
        }
    }
    apply_notes(out, a);
    gate_fit_margin(out, is_last, a);
    if (gate_refuse_others(out, a, e))
        return e->code;
    for (int i = 0; i < out->n_settings; i++) {
        struct gate_setting *s = &out->settings[i];
        if (s->differs && s->verdict == GATE_REGRESSION)
            s->why = arena_printf(a, "%s; %s", s->differs, s->why);
    }
    find_flips(out);
    sum_up(out, a);
    return 0;
}
