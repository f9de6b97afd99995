/* What people are told about a plan (contract: runplan.h and runplan_parts.h). */
#include "evalcore/plan/runplan_parts.h"

#include <string.h>

#include "evalcore/base/log.h"

/* Says once what a reader of the run file would not expect of "auto". */
void runplan_log_chat(const struct runplan *p)
{
    const struct runfile *f = p->file;
    int s = 0;
    while (s < f->n_settings && strcmp(f->settings[s].s.chat, "auto"))
        s++;
    for (int i = 0; i < p->n_loaded && s < f->n_settings; i++) {
        struct str text = {0};
        if ((!i || p->loaded[i].model != p->loaded[i - 1].model) &&
            chat_own_notice(p->loaded[i].chat, &text)) {
            if (f->n_models > 1)
                log_warn("model %s: %s", f->models[p->loaded[i].model].label, str_text(&text));
            else
                log_warn("%s", str_text(&text));
        }
        str_release(&text);
    }
}

void runplan_log_unapplied(const struct runplan *p)
{
    for (int i = 0; i < p->n_loaded; i++) {
        const struct loaded_model *l = &p->loaded[i];
        if (*l->info.unapplied && (!i || l->model != p->loaded[i - 1].model))
            log_info(
                "%s%sgeneration_config.json has %s, which is not applied: the model's own distribution is "
                "sampled",
                p->file->n_models > 1 ? p->file->models[l->model].label : "",
                p->file->n_models > 1 ? ": " : "", l->info.unapplied);
    }
}

void runplan_log_files(const struct runplan *p)
{
    for (int i = 0; i < p->n_loaded; i++) {
        const struct loaded_model *l = &p->loaded[i];
        if (!i || l->model != p->loaded[i - 1].model)
            engine_log_notices(&l->info, p->file->n_models > 1 ? p->file->models[l->model].label : NULL);
    }
}

void runplan_log_layers(const struct runplan *p)
{
    for (int i = 0; i < p->n_cells; i++) {
        const struct policy_spec *s = &p->cells[i].spec;
        int told = !s->taken;
        for (int k = 0; k < i && !told; k++)
            told = p->cells[k].spec.ops == s->ops && runplan_same_text(p->cells[k].spec.taken, s->taken);
        if (!told)
            log_info("policy %s: %s", policy_name(s->ops), s->taken);
    }
}

void runplan_log_sets(const struct runplan *p)
{
    for (int i = 0; i < p->n_sets; i++) {
        const struct prompt_set *s = &p->sets[i];
        int told = 0;
        for (int k = 0; k < i && !told; k++)
            told = !strcmp(p->sets[k].label, s->label) && !strcmp(p->sets[k].known, s->known);
        if (told)
            continue;
        if (s->task.n_folded)
            log_info("task %s: %zu rows repeat another and are folded: %zu problems", s->label,
                     s->task.n_folded, s->n_original);
        if (s->facts.size && !s->facts.is_it && !s->facts.is_renamed)
            log_warn("task %s: %s", s->label, s->known);
        else if (*s->known)
            log_info("task %s: %s", s->label, s->known);
    }
}

/* Is a cell before this one of the same model and task, or of any where task is NULL, under the same
 * settings? */
static int is_told(const struct runplan *p, int cell, const struct runfile_task *task)
{
    const struct plan_cell *c = &p->cells[cell];
    for (int k = 0; k < cell; k++)
        if (p->cells[k].settings == c->settings &&
            (!task || (p->cells[k].task == task && p->cells[k].model == c->model)))
            return 1;
    return 0;
}

static int beyond_context(const struct runplan *p, const struct plan_cell *c)
{
    const struct prompt_set *s = &p->sets[c->set];
    int n = 0;
    for (size_t q = 0; q < s->task.n_problems; q++)
        n += s->rows[q].n + settings_max_new(&c->settings->s, s->task.problems[q].max_new_tokens) >
             p->loaded[c->loaded_model].info.max_context;
    return n;
}

/* Does the text begin with the tokens that the tokenizer puts in front of every plain text? */
static int repeats_begin(const struct tokenizer *t, const char *text)
{
    struct tokenizer_scratch scratch = {0};
    struct token_list ids = {0};
    const int32_t *before;
    size_t n = t ? tokenizer_before(t, &before) : 0;
    int is_so = n && !tokenizer_encode(t, &scratch, text, strlen(text), 1, &ids, NULL) && ids.n >= n &&
                !memcmp(ids.id, before, n * sizeof *before);
    token_list_release(&ids);
    tokenizer_scratch_release(&scratch);
    return is_so;
}

/* Without a chat form the tokenizer puts its begin token in front, before the prefix. */
static void warn_begin(const struct runplan *p, const struct plan_cell *c)
{
    const struct prompt_set *s = &p->sets[c->set];
    const char *prefix = c->settings->s.prefix;
    int is_plain = !s->chat || (s->task.n_problems && s->task.problems[0].no_chat);
    if (prefix && is_plain && repeats_begin(p->loaded[c->loaded_model].tokenizer, prefix))
        log_warn("task %s: \"prefix\" begins with the token that the tokenizer%s%s puts in front of a text "
                 "anyway, so "
                 "prompts begin with it twice; take it out of \"prefix\"",
                 c->task->label, p->file->n_models > 1 ? " of " : "",
                 p->file->n_models > 1 ? c->model->label : "");
}

static void warn_rendered(const struct plan_cell *c, const struct prompt_set *s)
{
    const char *prefix = c->settings->s.prefix, *suffix = c->settings->s.suffix;
    int n = 0, has_prefix = prefix && *prefix, has_suffix = suffix && *suffix;
    for (size_t q = 0; q < s->task.n_problems; q++)
        n += s->task.problems[q].is_rendered;
    if (n && (has_prefix || has_suffix))
        log_warn("task %s: %d of %zu prompts come rendered and are taken as they stand, without %s%s%s",
                 c->task->label, n, s->task.n_problems, has_prefix ? "\"prefix\"" : "",
                 has_prefix && has_suffix ? " and " : "", has_suffix ? "\"suffix\"" : "");
}

void runplan_warn_risks(const struct runplan *p)
{
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct settings *t = &c->settings->s;
        if (t->temperature <= 0 && t->samples > 1 && !policy_draws(c->spec.ops) && !is_told(p, i, NULL))
            log_warn(
                "temperature 0 decodes greedily: the %d samples of a problem will be the same completion and "
                "count as one; set samples to 1, or a temperature above 0",
                t->samples);
        if (!is_told(p, i, c->task)) {
            warn_begin(p, c);
            warn_rendered(c, &p->sets[c->set]);
        }
        int n = settings_only_limit(t) || is_told(p, i, c->task) ? 0 : beyond_context(p, c);
        if (n)
            log_warn(
                "task %s: the length limit lies beyond the %s%scontext of %d tokens for %d of %zu problems; "
                "their completions are cut off there",
                c->task->label, p->file->n_models > 1 ? c->model->label : "model's",
                p->file->n_models > 1 ? "'s " : " ", p->loaded[c->loaded_model].info.max_context, n,
                p->sets[c->set].task.n_problems);
    }
}
