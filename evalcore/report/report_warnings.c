/* What a reader has to know before the numbers: what went wrong, and settings under which a number does not
 * mean what it seems to mean. */
#include "evalcore/report/report_parts.h"

#include <string.h>

static const char *plural_s(long n)
{
    return n == 1 ? "" : "s";
}

/* ---- cautions: the run file asked for something that says less than it seems to */

static void add_caution(struct cautions *c, const char *text)
{
    c->text[c->n++] = text;
}

enum { NAMES_SHOWN = 6 };

/* Name n of a list; those behind the sixth are counted by end_names(), which gets how many there were. */
static void add_name(struct str *list, int n, const char *name)
{
    if (n < NAMES_SHOWN)
        str_printf(list, "%s%s", n ? ", " : "", name);
}

static void end_names(struct str *list, int n)
{
    if (n > NAMES_SHOWN)
        str_printf(list, " and %d more", n - NAMES_SHOWN);
}

static void greedy_samples(struct cautions *c, const struct report *r)
{
    int n = 0, samples = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *x = &r->run->cells[i];
        const struct policy_ops *ops = policy_find(x->policy);
        if (r->cells[i].column >= 0 && x->temperature <= 0 && x->samples > 1 && !(ops && policy_draws(ops))) {
            n++;
            samples = x->samples;
        }
    }
    if (n)
        add_caution(
            c, arena_printf(
                   r->arena,
                   "Temperature 0 decodes greedily, so the %d samples of a problem are the same completion "
                   "again. They count as one, in %d cell%s; set samples to 1, or a temperature above 0.",
                   samples, n, plural_s(n)));
}

/* Prompts that leave less context than the length limit. Problems may have limits of their own: the largest
 * is named. */
static void limit_beyond_context(struct cautions *c, const struct report *r, int column)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *cell = &r->run->cells[i];
        int n = 0, largest = 0;
        if (r->cells[i].column != column || !cell->max_context || cell->task->option_metrics)
            continue;
        for (int k = 0; k < cell->task->n_problems; k++) {
            int asked = run_limit_asked(cell, k);
            if ((double)cell->task->problems[k].prompt_tokens + asked > cell->max_context) {
                n++;
                largest = asked > largest ? asked : largest;
            }
        }
        if (n) {
            add_caution(
                c, arena_printf(
                       r->arena,
                       "The limit of %d tokens lies beyond the model's context of %d for %d of %d problems "
                       "of %s: their completions are cut off when the context is full.",
                       largest, cell->max_context, n, cell->task->n_problems, r->columns[column]));
            return;
        }
    }
}

/* A baseline at an end of the scale: nothing can be lower than 0, or higher than 100. */
static void baseline_at_an_end(struct cautions *c, const struct report *r)
{
    struct str none = {0}, all = {0};
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (!s->cell->is_baseline || s->column < 0 || !s->cell->n_records)
            continue;
        struct str *list = s->accuracy <= 0 ? &none : s->accuracy >= 1 ? &all : NULL;
        if (list)
            str_printf(list, "%s%s", list->len ? ", " : "", s->cell->task->label);
    }
    if (none.len)
        add_caution(
            c,
            arena_printf(
                r->arena,
                "The baseline solves nothing of %s: no policy can be lower there, so none is called as good "
                "as it. Look at what became of its completions under Health.",
                str_text(&none)));
    if (all.len)
        add_caution(
            c, arena_printf(r->arena,
                            "The baseline solves all of %s: no policy can be marked higher there, and harder "
                            "problems would tell more.",
                            str_text(&all)));
    str_release(&none);
    str_release(&all);
}

/* A baseline that knows hardly more than one who guesses: what it solves, a policy that has lost everything
 * may solve, too (pair.is_below_margin). */
static void baseline_guesses(struct cautions *c, const struct report *r)
{
    struct str list = {0};
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        double chance = 0;
        if (!s->cell->is_baseline || s->column < 0 || !s->cell->n_records || s->accuracy <= 0)
            continue;
        for (int k = 0; k < s->cell->task->n_problems; k++)
            chance += run_chance(&s->cell->task->problems[k]) / s->cell->task->n_problems;
        if (chance > 0 && s->accuracy - chance < r->run->margin / 100)
            str_printf(&list, "%s%s (%s %%, guessing %.0f %%)", list.len ? ", " : "", s->cell->task->label,
                       report_percent(r->arena, s->accuracy, s->ci), 100 * chance);
    }
    if (list.len)
        add_caution(
            c, arena_printf(r->arena,
                            "The baseline solves less than %s more than one who guesses of %s: no policy "
                            "is called as good as it there.",
                            report_points(r->arena, r->run->margin), str_text(&list)));
    str_release(&list);
}

/* Over all tasks of a setting, which the marks of settings are about. */
static void little_to_lose(struct cautions *c, const struct report *r)
{
    struct str list = {0};
    int n = 0, n_compared = 0;
    for (int i = 0; i < r->n_settings; i++) {
        n_compared += r->settings[i].pooled.mark != MARK_NONE;
        if (r->settings[i].pooled.is_below_margin)
            add_name(&list, n++, report_full_name(r, r->settings[i].row));
    }
    end_names(&list, n);
    if (n)
        add_caution(
            c, arena_printf(
                   r->arena,
                   "What the baseline solves of all tasks%s%s, above what guessing does, is less than "
                   "the margin of %s: %s is called as good as it.",
                   n < n_compared ? " of " : "", n < n_compared ? str_text(&list) : "",
                   report_points(r->arena, r->run->margin), n < n_compared ? "none of these" : "no setting"));
    str_release(&list);
}

/* Whose problems are not those that the task's name says. */
static void misnamed_tasks(struct cautions *c, const struct report *r)
{
    struct str list = {0};
    for (int i = 0; i < r->run->n_tasks; i++) {
        const struct run_task *t = &r->run->tasks[i];
        if (t->is_misnamed && !report_task_is_repeated(r->run, i))
            str_printf(&list, "%s%s is %s", list.len ? ". Task " : "", t->label, t->set);
    }
    if (list.len)
        add_caution(c, arena_printf(r->arena, "Task %s.", str_text(&list)));
    str_release(&list);
}

static void read_everything(struct cautions *c, const struct report *r)
{
    struct str list = {0};
    int n = 0;
    for (int i = 0; i < r->n_settings; i++)
        if (r->settings[i].activity == ACTIVITY_UNNEEDED)
            add_name(&list, n++, report_full_name(r, r->settings[i].row));
    end_names(&list, n);
    if (n)
        add_caution(
            c,
            arena_printf(r->arena,
                         "%d setting%s read everything, because no context exceeded the budget: %s. Of these "
                         "policies the run says nothing.",
                         n, plural_s(n), str_text(&list)));
    str_release(&list);
}

struct cautions report_cautions(const struct report *r)
{
    struct cautions c = {.text = arena_alloc(r->arena, ((size_t)r->n_columns + 9) * sizeof *c.text)};
    misnamed_tasks(&c, r);
    greedy_samples(&c, r);
    for (int column = 0; column < r->n_columns; column++)
        limit_beyond_context(&c, r, column);
    baseline_at_an_end(&c, r);
    baseline_guesses(&c, r);
    little_to_lose(&c, r);
    read_everything(&c, r);
    return c;
}

/* ---- what went wrong */

/* One sentence per policy. */
static void add_unknown_budgets(struct doc *d, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        int is_first = s->unknown_budget != NULL;
        for (int k = 0; k < i && is_first; k++)
            is_first = !r->cells[k].unknown_budget || strcmp(r->cells[k].cell->policy, s->cell->policy) != 0;
        if (is_first)
            doc_warning(
                d,
                "The budget of policy %s in tokens is unknown to this version of kveval: %s. The figures of "
                "accuracy against budget are drawn without it, and whether it was active is not checked.",
                s->cell->policy, s->unknown_budget);
    }
}

static void add_faults(struct doc *d, const struct report *r)
{
    long errors = 0, windows = 0;
    int error_cells = 0, window_cells = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        int failed = s->count[VERDICT_ERROR], is_text = s->cell->task->is_text;
        errors += is_text ? 0 : failed;
        error_cells += !is_text && failed;
        windows += is_text ? failed : 0;
        window_cells += is_text && failed;
        if (s->activity == ACTIVITY_INACTIVE)
            doc_warning(d,
                        "policy inactive: %s on %s. Contexts exceeded its budget (%s), yet every step read "
                        "everything, as full attention does. Its %s says nothing about the policy.",
                        report_full_name(r, s->row), s->cell->task->label, s->cell->budget_rule,
                        s->cell->task->is_text ? "likelihood" : "accuracy");
    }
    if (errors)
        doc_warning(d,
                    "%ld job%s failed, in %d cell%s. They count as not correct; kveval show prints why each "
                    "one failed.",
                    errors, errors == 1 ? "" : "s", error_cells, error_cells == 1 ? "" : "s");
    if (windows)
        doc_warning(d,
                    "%ld window%s of a text failed, in %d cell%s. The sums are over the others; kveval show "
                    "prints why each one failed.",
                    windows, windows == 1 ? "" : "s", window_cells, window_cells == 1 ? "" : "s");
    if (r->run->n_conflicts)
        doc_warning(
            d,
            "%ld completion%s found twice with different tokens (of a text, with different likelihoods): "
            "results depended on something that they must not depend on. Of each, the one whose "
            "tokens have the smaller digest, or with fewer bits, is used.",
            r->run->n_conflicts, r->run->n_conflicts == 1 ? " was" : "s were");
    long repeated = r->run->n_duplicates - r->run->n_conflicts;
    if (repeated > 0)
        doc_paragraph(d, "%ld completion%s found more than once with the same tokens; each counts once.",
                      repeated, repeated == 1 ? " was" : "s were");
    if (r->run->n_retried)
        doc_paragraph(
            d,
            "%ld record%s of a job that was decoded again after an error; a success counts before an error.",
            r->run->n_retried, r->run->n_retried == 1 ? " is" : "s are");
    if (r->run->n_withdrawn)
        doc_paragraph(d,
                      "%ld record%s out because of a completion that was withdrawn: the device that wrote it "
                      "decoded other tokens later.",
                      r->run->n_withdrawn, r->run->n_withdrawn == 1 ? " is left" : "s are left");
    if (r->run->n_bad_lines)
        doc_warning(d, "%ld journal line%s a wrong checksum and %s ignored; those jobs count as missing.",
                    r->run->n_bad_lines, r->run->n_bad_lines == 1 ? " has" : "s have",
                    r->run->n_bad_lines == 1 ? "was" : "were");
    if (r->run->n_foreign)
        doc_paragraph(
            d,
            "%ld finished completions belong to cells that are no longer in the run file; they are left out.",
            r->run->n_foreign);
}

void report_add_warnings(struct doc *d, const struct report *r)
{
    struct cautions c = report_cautions(r);
    for (int i = 0; i < r->run->n_changed_models; i++)
        doc_warning(d, "%s.", r->run->changed_models[i]);
    add_faults(d, r);
    for (int i = 0; i < c.n; i++)
        doc_warning(d, "%s", c.text[i]);
    add_unknown_budgets(d, r);
}
