/* Figures of a paper beside what was measured: which cell each belongs to, and what the two say together.
 *
 * A paper prints a mean over some problems and samples, nothing of single problems. So its answers are set
 * against ours as two independent groups (Fisher's exact test), although both mostly had the same problems:
 * the test is cautious. With several samples a problem, nobody knows how much the answers of one problem
 * agree. Counting problems takes them as one observation, counting answers as many; the truth lies between,
 * and both are given. */
#include "evalcore/report/data/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/policies/policy.h"
#include "evalcore/report/data/report_group.h"

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static double number_of(const json_t *o, const char *key, double missing)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : missing;
}

/* Is `name` a whole part of the path? "Qwen3-8B" is one of "/models/Qwen3-8B" and of the Hub cache's
 * "models--Qwen--Qwen3-8B/snapshots/1f2e", but not of "Qwen3-8B-Base". */
static int is_model(const char *path, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = path; n && (at = strstr(at, name)) != NULL; at++) {
        int begins = at == path || at[-1] == '/' || (at - path > 1 && at[-1] == '-' && at[-2] == '-');
        if (begins && (!at[n] || at[n] == '/'))
            return 1;
    }
    return 0;
}

/* Has the label the word key=value? */
static int label_says(const char *label, const char *key, const json_t *v, struct arena *a)
{
    struct str value = {0};
    json_canonical(&value, v);
    const char *word = arena_printf(a, " %s=%s", key, str_text(&value)), *at = strstr(label, word);
    str_release(&value);
    return at && (!at[strlen(word)] || at[strlen(word)] == ' ');
}

static int same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return fabs(json_number_value(a) - json_number_value(b)) < 1e-9;
    return json_equal(a, b);
}

/* The figure's policy, with each of its settings that is an option of this policy. An option that the cell
 * has not, as `cr` where gates come from a file, may stand in its label ("as"). */
static int is_policy(const struct cell *c, const json_t *figure, struct arena *a)
{
    const struct policy_ops *ops = policy_find(c->policy);
    const char *key;
    json_t *v;
    if (!ops || strcmp(c->policy, text_of(figure, "policy")))
        return 0;
    json_t *options = json_loads(c->params, 0, NULL);
    int same = 1;
    json_object_foreach(json_object_get(figure, "settings"), key, v)
    {
        if (!param_find(policy_params(ops), key))
            continue;
        const json_t *ours = json_object_get(options, key);
        same &= ours ? same_value(ours, v) : label_says(c->policy_label, key, v, a);
    }
    json_decref(options);
    return same;
}

/* Numbers that are no whole counts of answers came from more runs than the paper says. */
static int is_whole(double value, double answers, double printed)
{
    double digits = 1;
    while (digits < 1e6 && fabs(printed * digits - round(printed * digits)) > 1e-6)
        digits *= 10;
    double half = 0.5 / digits * (value > 0 && printed > 0 ? value / printed : 1);
    if (half > 0.005)
        half = 0.005;
    return fabs(round(value * answers) / answers - value) <= half + 1e-9;
}

static void compare_counts(struct published *x, const struct cell_stats *s)
{
    long problems = (long)lround(x->problems), ours = 0,
         answers = 0; /* greedy ones of a problem count once */
    double each = x->samples, right = 0;
    for (int i = 0; i < s->cell->task->n_problems; i++) {
        ours += s->jobs[i] > 0;
        answers += s->jobs[i];
        right += s->sum[i];
    }
    x->theirs_ci = stat_wilson(round(x->value * x->problems * each) / each, x->problems);
    x->is_whole = is_whole(x->value, x->problems * each, x->printed);
    x->reach = stat_fisher_reach(lround(x->value * x->problems), problems, ours);
    x->n_ours = ours;
    /* Ours need not be a whole number of problems either: the neighbour that differs less decides. */
    double solved = s->accuracy * (double)ours;
    x->p = fmax(stat_fisher(lround(x->value * x->problems), problems, (long)floor(solved + 1e-9), ours),
                stat_fisher(lround(x->value * x->problems), problems, (long)ceil(solved - 1e-9), ours));
    x->p_answers = stat_fisher(lround(x->value * x->problems * each), (long)lround(x->problems * each),
                               lround(right), answers);
    x->is_single = each <= 1 && answers == ours;
}

/* Mean length over problems, with Student's interval over problems. Failed jobs have none. */
static void measure_tokens(struct published *x, const struct cell_stats *s)
{
    int n = s->cell->task->n_problems, k = 0;
    double *v = xcalloc((size_t)n + 1, sizeof *v);
    long *lengths = xcalloc((size_t)n + 1, sizeof *lengths);
    for (int i = 0; i < s->cell->n_records; i++) {
        const struct record *r = &s->cell->records[i];
        if (r->finish == FINISHED_ERROR)
            continue;
        v[r->problem] += r->tokens;
        lengths[r->problem]++;
    }
    for (int i = 0; i < n; i++)
        if (lengths[i])
            v[k++] = v[i] / (double)lengths[i];
    free(lengths);
    x->measured = s->mean_tokens;
    double half = k > 1 ? stat_t_quantile(0.975, k - 1) * stat_sd(v, (size_t)k) / sqrt(k) : INFINITY;
    x->ci = (struct interval){x->measured - half < 0 ? 0 : x->measured - half, x->measured + half};
    free(v);
}

static void measure_cell(struct published *x, const struct cell_stats *s)
{
    if (!s->cell->n_records)
        return;
    x->missing = s->cell->n_expected - s->cell->n_records;
    if (!strcmp(x->metric, "mean_tokens")) {
        measure_tokens(x, s);
        return;
    }
    x->measured = s->accuracy;
    x->ci = s->ci;
    if (!x->missing && x->problems >= 1 && x->problems <= 1e6 && x->samples >= 1 && x->samples <= 1e4 &&
        x->value >= 0 && x->value <= 1 && !x->is_bound)
        compare_counts(x, s);
}

static struct published *add_published(struct report *r, const json_t *figure, int cell)
{
    const json_t *settings = json_object_get(figure, "settings");
    struct published *x = &r->published[r->n_published++];
    const char *word = text_of(settings, "word");
    double scale = !strcmp(text_of(figure, "unit"), "percent") ? 0.01 : 1;
    *x = (struct published){.figure = figure,
                            .paper = text_of(figure, "paper"),
                            .where = text_of(figure, "where"),
                            .task = text_of(figure, "task"),
                            .metric = text_of(figure, "metric"),
                            .word = word,
                            .printed = number_of(figure, "value", NAN),
                            .value = scale * number_of(figure, "value", NAN),
                            .problems = number_of(settings, "problems", 0),
                            .samples = number_of(settings, "samples", 1),
                            .is_bound = !strcmp(word, "below"),
                            .cell = cell,
                            .n_cells = 1,
                            .measured = NAN,
                            .p = NAN,
                            .p_answers = NAN,
                            .ci = {NAN, NAN},
                            .theirs_ci = {NAN, NAN}};
    return x;
}

/* The mean of text scores over the data sets of LongBench's class k, or of all six classes. */
static void add_classes(struct report *r, const json_t *figure, int cell, int k)
{
    struct published *x = add_published(r, figure, cell);
    struct longbench_mean m = longbench_mean(r, k, r->cells[cell].row);
    x->n_cells = m.n;
    x->measured = m.mean;
    x->ci = m.ci;
    x->missing = m.missing;
    x->is_partial = isnan(m.mean);
}

/* Is it the first cell of its row in class k, or in any class? There the mean over data sets is put. */
static int leads_class(const struct report *r, int k, int cell)
{
    for (int i = 0; i <= cell; i++) {
        int is_in = 0;
        for (int c = 0; c < LONGBENCH_CLASSES; c++)
            if (k == LONGBENCH_CLASSES || c == k)
                is_in |= longbench_is_in(c, r->cells[i].cell);
        if (is_in && r->cells[i].row == r->cells[cell].row)
            return i == cell;
    }
    return 0;
}

/* Has the cell the problems that the figure was measured on? Of generated ones and of sets that are not known
 * nothing tells. */
static int is_measured_set(const struct run_task *t, const json_t *figure)
{
    double problems = number_of(json_object_get(figure, "settings"), "problems", 0);
    int measured = problems >= 1 && problems < t->set_size ? (int)lround(problems) : t->set_size;
    return !t->set_size || t->set_first == measured;
}

static int class_is_measured(const struct report *r, const json_t *figure, int k, int row)
{
    for (int i = 0; i < r->run->n_cells; i++)
        for (int c = 0; c < LONGBENCH_CLASSES; c++)
            if (r->cells[i].row == row && (k == LONGBENCH_CLASSES || c == k) &&
                longbench_is_in(c, r->cells[i].cell) && !is_measured_set(r->cells[i].cell->task, figure))
                return 0;
    return 1;
}

static void match_figure(struct report *r, const json_t *figure)
{
    const char *task = text_of(figure, "task"), *metric = text_of(figure, "metric");
    int is_score = !strcmp(metric, "score"), k = longbench_find(task);
    if ((!is_score && strcmp(metric, "accuracy") && strcmp(metric, "mean_tokens")) ||
        !json_is_number(json_object_get(figure, "value")))
        return;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        const char *path = c->model_path ? c->model_path : c->model;
        if (!is_model(path, text_of(figure, "model")) || !is_policy(c, figure, r->arena))
            continue;
        int is_class = is_score && k >= 0 && leads_class(r, k, i);
        int is_task = !is_score && !strcmp(c->task->name, task) &&
                      (strcmp(metric, "accuracy") || !strcmp(c->task->metric, "accuracy"));
        if (is_class ? !class_is_measured(r, figure, k, r->cells[i].row)
                     : is_task && !is_measured_set(c->task, figure))
            r->n_other_set++;
        else if (is_class)
            add_classes(r, figure, i, k);
        else if (is_task)
            measure_cell(add_published(r, figure, i), &r->cells[i]);
    }
}

void report_published(struct report *r)
{
    const json_t *list = json_object_get(r->run->config, "published");
    size_t i, n = json_array_size(list);
    json_t *figure;
    if (!n)
        return;
    r->published = arena_alloc(r->arena, (n * (size_t)r->run->n_cells + 1) * sizeof *r->published);
    json_array_foreach((json_t *)list, i, figure) match_figure(r, figure);
    r->n_figures = (int)n;
}

/* ---- Paper against measured in words (contract: report_data.h). A verdict that no data could have earned is
 * not offered: where the numbers of problems are too small, the text says so. */

/* "58 %": a share of repetitions. */
static const char *percent_words(struct arena *a, double p)
{
    if (p < 0.001)
        return "under 0.1 %";
    return p < 0.0995 ? arena_printf(a, "%.1f %%", 100 * p) : arena_printf(a, "%.0f %%", 100 * p);
}

/* Which results of ours could differ from the paper's figure significantly at all. */
static const char *reach_words(struct arena *a, const struct published *x)
{
    double n = (double)x->n_ours;
    int has_low = x->reach.low >= 0, has_high = x->reach.high <= x->n_ours;
    const char *of = arena_printf(a, "with %.0f problems there and %ld here", x->problems, x->n_ours);
    if (!has_low && !has_high)
        return arena_printf(a, "%s no result of ours could be told from it", of);
    const char *low = has_low ? arena_printf(a, "up to %.1f %%", 100 * (double)x->reach.low / n) : "";
    const char *high = has_high ? arena_printf(a, "from %.1f %% on", 100 * (double)x->reach.high / n) : "";
    return arena_printf(a, "%s only an accuracy of ours %s%s%s could be told from it", of, low,
                        has_low && has_high ? " or " : "", high);
}

static const char *test_words(struct arena *a, const struct published *x)
{
    double low = x->p < x->p_answers ? x->p : x->p_answers, high = x->p < x->p_answers ? x->p_answers : x->p;
    int can_differ = x->reach.low >= 0 || x->reach.high <= x->n_ours;
    const char *chance =
        x->is_single
            ? arena_printf(a, "chance alone differs as much in %s of repetitions", percent_words(a, x->p))
            : arena_printf(
                  a,
                  "chance alone differs as much in %s of repetitions if the answers to a problem were "
                  "independent, and in %s if they always agreed",
                  percent_words(a, x->p_answers), percent_words(a, x->p));
    const char *outcome = !can_differ && x->is_single ? "nothing could be decided"
                          : high < 0.05               ? "told apart"
                          : low >= 0.05               ? "not told apart"
                                                      : "undecided";
    return arena_printf(a, "%s: %s; %s", outcome, chance, reach_words(a, x));
}

static const char *bound_words(struct arena *a, const struct published *x)
{
    const char *rest = x->ci.high < x->value  ? "and so is all of our interval"
                       : x->ci.low < x->value ? "which our interval allows"
                                              : "and all of our interval is above it";
    return arena_printf(a, "the paper only says below %.1f %%, %s", 100 * x->value, rest);
}

const char *report_published_verdict(const struct report *r, const struct published *x)
{
    struct arena *a = r->arena;
    if (!isfinite(x->measured))
        return x->is_partial && x->missing ? "no mean: answers are missing"
               : x->is_partial             ? "no mean: some class of data sets has no results yet"
                                           : "not run yet";
    if (x->missing)
        return arena_printf(
            a, "not compared yet: %ld of our answers are missing, and short ones finish first", x->missing);
    if (x->is_bound)
        return bound_words(a, x);
    const char *inside = x->value >= x->ci.low && x->value <= x->ci.high
                             ? "the paper's figure is inside our interval"
                             : "the paper's figure is outside our interval";
    if (!isfinite(x->p))
        return arena_printf(a, "%s; the paper gives nothing that would allow a test", inside);
    const char *odd = "";
    if (*x->word)
        odd = arena_printf(a, "; the paper says \"%s\"", x->word);
    else if (!x->is_whole)
        odd = arena_printf(a,
                           "; %.6g is no whole number of %.0f answers, so the paper's number of runs is not "
                           "what it seems",
                           x->printed, x->problems * x->samples);
    return arena_printf(a, "%s; %s%s", inside, test_words(a, x), odd);
}

const char *report_published_differs(const struct report *r, const struct published *x)
{
    const struct cell *c = r->cells[x->cell].cell;
    const json_t *s = json_object_get(x->figure, "settings");
    const json_t *limit = json_object_get(s, "max_tokens");
    const char *out = "";
    int k = longbench_find(x->task), sets = k < 0 ? 0 : longbench_mean(r, k, r->cells[x->cell].row).n_sets;
    if (x->n_cells < sets) /* papers print the mean over all of them */
        out = arena_printf(r->arena, "%d data sets there and %d here", sets, x->n_cells);
    if (x->problems > 0 && lround(x->problems) != c->task->n_problems)
        out = arena_printf(r->arena, "%s%s%.0f problems there and %d here", out, *out ? ", " : "",
                           x->problems, c->task->n_problems);
    if (x->problems > 0 && lround(x->samples) != c->samples)
        out = arena_printf(r->arena, "%s%s%.0f samples there and %d here", out, *out ? ", " : "", x->samples,
                           c->samples);
    if (json_is_integer(limit) && json_integer_value(limit) != c->max_new_tokens)
        out = arena_printf(r->arena, "%s%sat most %.0f tokens there and %d here", out, *out ? ", " : "",
                           json_number_value(limit), c->max_new_tokens);
    return out;
}
