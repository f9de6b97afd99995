/* Paper against measured in words (contract: report_data.h). A verdict that no data could have earned is not
 * offered: where the numbers of problems are too small, the text says so. */
#include "evalcore/report/data/report_longbench.h"

#include <math.h>

/* "58 %": a share of repetitions. */
static const char *percent_words(struct arena *a, double p)
{
    if (p < 0.001)
        return "under 0.1 %";
    return p < 0.0995 ? arena_printf(a, "%.1f %%", 100 * p) : arena_printf(a, "%.0f %%", 100 * p);
}

/* Which results of ours could have been told from the paper's figure at all. */
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
