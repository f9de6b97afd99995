/* The problems and prompts of a plan, and what can be wrong with them (contract: runplan_parts.h). */
#include "evalcore/plan/runplan_parts.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/plan/option_prompts.h"
#include "evalcore/plan/windows.h"
#include "evalcore/store/job_key.h"

int runplan_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Do two settings give the same token ids for a task's problems? Limits matter only where prompts are cut. */
int runplan_same_prompts(const struct settings *a, const struct settings *b)
{
    return runplan_same_text(a->chat, b->chat) && runplan_same_text(a->prefix, b->prefix) &&
           runplan_same_text(a->suffix, b->suffix) && runplan_same_text(a->prompt, b->prompt) &&
           runplan_same_text(a->system, b->system) && a->thinking == b->thinking &&
           a->max_new_tokens == b->max_new_tokens && a->max_total_tokens == b->max_total_tokens;
}

/* model: NULL, or the label of one of several, whose tokens are its own. */
static void name_set(struct runplan *p, struct prompt_set *s, const struct settings *settings,
                     const char *model)
{
    struct str text = {0};
    char hex[9];
    json_t *options = param_json(task_params, &s->task.options);
    json_object_set_new(options, "settings", settings_json(settings));
    json_canonical(&text, options);
    str_printf(&text, "%s %s %s", s->task.ops->version, s->task.source, s->chat ? s->chat->name : "none");
    for (size_t i = 0; i < s->task.n_problems; i++)
        str_printf(&text, "\n%s", s->task.problems[i].id);
    if (model)
        str_printf(&text, "\nmodel %s", model);
    sha256_hex(str_text(&text), text.len, hex, 8);
    s->file = arena_printf(&p->arena, "problems/%s-%s.jsonl", task_short_name(s->task.ops), hex);
    json_decref(options);
    str_release(&text);
}

static void tell_set(struct runplan *p, struct prompt_set *s)
{
    struct str text = {0};
    task_set_facts(&s->facts, &text, &s->task);
    s->known = arena_strdup(&p->arena, str_text(&text));
    str_release(&text);
}

/* Opens the task and renders its prompts. */
int runplan_open_set(struct runplan *p, const struct runfile_task *t, const struct settings *settings,
                     const struct loaded_model *loaded, const struct runplan_options *o,
                     struct sample_ids *ids, struct err *e)
{
    p->sets = xrealloc(p->sets, (size_t)(p->n_sets + 1) * sizeof *p->sets);
    struct prompt_set *s = &p->sets[p->n_sets];
    struct task_options options = t->options;
    struct chat_words words;
    memset(s, 0, sizeof *s);
    s->label = t->label;
    s->end_token = -1;
    if (!options.prompt && t->ops->prompts) /* a run's variant is meant for the tasks that have variants */
        options.prompt = settings->prompt;
    struct prompt_renderer renderer = {
        .set = s, .tokenizer = loaded->tokenizer, .info = &loaded->info, .settings = settings};
    struct task_counter counter = prompts_counter(&renderer);
    int rc = prompts_chat(&s->chat, loaded->chat, settings->chat, e);
    if (rc)
        return rc;
    rc = t->ops->check_machine ? t->ops->check_machine(e) : 0;
    if (!rc)
        rc = task_open_as(&s->task, t->ops, t->label, &options, o->data_dir, &counter, e);
    if (rc) {
        prompts_renderer_release(&renderer);
        return err_add(e, "%s", t->where), rc;
    }
    p->n_sets++;
    if (task_is_text(t->ops->metric) && (rc = windows_cut(s, loaded->tokenizer, &loaded->info, e))) {
        prompts_renderer_release(&renderer);
        return err_add(e, "%s", t->where), rc;
    }
    s->n_original = s->task.n_problems;
    sample_ids_filter(ids, &s->task, t->label, o->limit);
    tell_set(p, s);
    if (!prompts_words(&words, s->chat, settings, e)) {
        s->opens_thinking = chat_opens_thinking(s->chat, &words);
        words.system = NULL;
        words.thinking = CHAT_THINKING_AUTO;
        s->opens_bare = chat_opens_thinking(NULL, &words);
    }
    if (s->chat && s->chat->end && loaded->tokenizer)
        s->end_token = tokenizer_find(loaded->tokenizer, s->chat->end);
    if (task_is_text(t->ops->metric))
        windows_rows(s);
    else if (t->ops->option_metrics)
        rc = option_prompts_render(s, &renderer, e);
    else
        rc = prompts_render(s, &renderer, e);
    prompts_renderer_release(&renderer);
    name_set(p, s, settings, p->file->n_models > 1 ? p->file->models[loaded->model].label : NULL);
    return rc;
}

/* ---- checks ---- */

int runplan_check_vocabulary(const struct prompt_set *s, const struct loaded_model *loaded, struct err *e)
{
    for (size_t q = 0; q < s->task.n_problems; q++) {
        size_t end = q + 1 < s->task.n_problems ? s->rows[q + 1].first : s->ids.n;
        for (size_t k = s->rows[q].first; k < end; k++)
            if (s->ids.id[k] < 0 || s->ids.id[k] >= loaded->info.vocab)
                return err_set(e, ERR_USAGE,
                               "%s, problem %s: the prompt has the token %d, and config.json of %s has a "
                               "vocabulary of %d; tokenizer.json and config.json are not of the same model: "
                               "get both anew",
                               s->label, s->task.problems[q].id, (int)s->ids.id[k], loaded->options.model,
                               loaded->info.vocab);
    }
    return 0;
}

/* a and b ask the same prompt: two problems of one task, or of two. A published set may repeat itself. */
static int refuse_overlap(const struct prompt_set *a, size_t i, const struct prompt_set *b, size_t k,
                          struct err *e)
{
    if (a == b && a->facts.is_it)
        return 0;
    if (a == b)
        return err_set(e, ERR_USAGE,
                       "task \"%s\" asks the same prompt in problems %s and %s, which would count twice; "
                       "remove one of them from the file",
                       a->label, a->task.problems[i].id, b->task.problems[k].id);
    return err_set(e, ERR_USAGE,
                   "tasks \"%s\" and \"%s\" both ask problem %s, which would count twice where the "
                   "problems of all tasks are taken together; keep one of them (--tasks), or give "
                   "each a run folder of its own",
                   a->label, b->label, b->task.problems[k].id);
}

int runplan_check_overlap(const struct prompt_set *const *sets, int n, struct err *e)
{
    struct keymap seen = {0};
    size_t *first_of = xcalloc((size_t)n + 1, sizeof *first_of); /* number of a set's first problem */
    int rc = 0;
    for (int i = 0; i < n; i++)
        first_of[i + 1] = first_of[i] + sets[i]->task.n_problems;
    for (int i = 0; i < n && !rc; i++) {
        if (task_is_text(sets[i]->task.ops->metric))
            continue; /* no verdict is over texts */
        for (size_t q = 0; q < sets[i]->task.n_problems && !rc; q++) {
            char key[JOB_KEY_HEX + 1]; /* as much of the prompt's hash tells prompts apart as it does jobs */
            memcpy(key, sets[i]->rows[q].sha256, JOB_KEY_HEX);
            key[JOB_KEY_HEX] = 0;
            size_t number = first_of[i] + q, first = (size_t)keymap_add(&seen, key, (long)number);
            int of = i;
            while (first < first_of[of])
                of--;
            if (first != number)
                rc = refuse_overlap(sets[of], first - first_of[of], sets[i], q, e);
        }
    }
    free(first_of);
    keymap_release(&seen);
    return rc;
}
