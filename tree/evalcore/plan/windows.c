/* Cutting a text into windows of tokens (contract: windows.h). */
#include "evalcore/plan/windows.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/store/job_key.h"

static int check_sizes(const struct prompt_set *s, size_t n_before, const struct engine_info *info,
                       struct err *e)
{
    const struct task_options *o = &s->task.options;
    if (o->window > info->max_context) {
        struct str advice = {0};
        engine_context_advice(info, &advice);
        int rc = err_set(e, ERR_USAGE,
                         "%s: a window of %d tokens is beyond the model's context of %d; lower window%s",
                         s->label, o->window, info->max_context, str_text(&advice));
        str_release(&advice);
        return rc;
    }
    if ((size_t)o->prompt_tokens < n_before)
        return err_set(e, ERR_USAGE,
                       "%s: the tokenizer puts %zu tokens in front of a text, so prompt_tokens must be at "
                       "least that",
                       s->label, n_before);
    return 0;
}

/* How many windows there are: those asked for, or all that the text fills. */
static int count_windows(size_t *n, const struct prompt_set *s, size_t n_tokens, size_t step, struct err *e)
{
    const struct task_options *o = &s->task.options;
    size_t filled = n_tokens / step, wanted = o->problems == PARAM_UNSET_INT ? filled : (size_t)o->problems;
    if (filled < wanted || !filled)
        return err_set(e, ERR_USAGE,
                       "%s: the text is too short: it has %zu tokens, which fill %zu windows of %d; take a "
                       "longer text, or lower window%s",
                       s->label, n_tokens, filled, o->window, filled ? " or problems" : "");
    *n = wanted;
    return 0;
}

static void add_window(struct prompt_set *s, const struct tokenizer *t, size_t i)
{
    struct arena *a = &s->task.arena;
    const struct task_options *o = &s->task.options;
    struct str text = {0};
    tokenizer_decode_text(t, s->ids.id + i * (size_t)o->window, (size_t)o->prompt_tokens, 1, &text);
    s->task.problems[i] = (struct problem){.id = arena_printf(a, "%zu", i),
                                           .prompt = arena_strndup(a, str_text(&text), text.len),
                                           .prompt_len = text.len,
                                           .no_chat = 1,
                                           .window = (int)i,
                                           .max_new_tokens = o->window - o->prompt_tokens};
    str_release(&text);
}

/* Bits are over the bytes of the tokens' text. */
static void tell_lost(const struct prompt_set *s, const struct tokenizer *t, const struct token_list *ids)
{
    struct str back = {0};
    tokenizer_decode_text(t, ids->id, ids->n, 1, &back);
    size_t n = s->task.problems->prompt_len;
    if (back.len != n)
        log_warn("%s: the tokenizer cannot spell all of the text: %zu of its bytes come back as %zu, so bits "
                 "per byte "
                 "cannot be compared with those of a model with another tokenizer",
                 s->label, n, back.len);
    str_release(&back);
}

int windows_cut(struct prompt_set *s, const struct tokenizer *t, const struct engine_info *info,
                struct err *e)
{
    struct tokenizer_scratch scratch = {0};
    struct token_list text = {0};
    const struct problem *whole = s->task.problems;
    const int32_t *before;
    if (!t)
        return err_set(e, ERR_USAGE, "%s: the model has no tokenizer.json, so it cannot read texts",
                       s->label);
    size_t n = 0, n_before = tokenizer_before(t, &before), window = (size_t)s->task.options.window;
    int rc = check_sizes(s, n_before, info, e);
    if (!rc)
        rc = tokenizer_encode(t, &scratch, whole->prompt, whole->prompt_len, 0, &text, e);
    if (!rc)
        tell_lost(s, t, &text);
    if (!rc)
        rc = count_windows(&n, s, text.n, window - n_before, e);
    for (size_t i = 0; i < n * window; i++) {
        size_t k = i % window;
        token_list_add(&s->ids,
                       k < n_before ? before[k] : text.id[i / window * (window - n_before) + k - n_before]);
    }
    if (!rc) {
        s->task.problems = arena_alloc(&s->task.arena, n * sizeof *s->task.problems);
        s->task.n_problems = n;
    }
    for (size_t i = 0; i < n; i++)
        add_window(s, t, i);
    token_list_release(&text);
    tokenizer_scratch_release(&scratch);
    return rc;
}

void windows_rows(struct prompt_set *s)
{
    size_t window = (size_t)s->task.options.window;
    s->rows = xcalloc(s->task.n_problems + 1, sizeof *s->rows);
    for (size_t i = 0; i < s->task.n_problems; i++) {
        struct prompt_row *row = &s->rows[i];
        row->first = (size_t)s->task.problems[i].window * window;
        row->n = s->task.options.prompt_tokens;
        row->end_token = -1;
        job_hash_ids(s->ids.id + row->first, window, row->sha256);
    }
}

int windows_settings(struct settings *out, const struct settings *given)
{
    struct settings plain;
    settings_defaults(&plain);
    plain.kv_dtype = given->kv_dtype;
    json_t *all = settings_json(given), *rest = settings_json(&plain);
    int differs = !json_equal(all, rest);
    json_decref(all);
    json_decref(rest);
    plain.chat = "none";
    plain.ignore_eos = 1; /* nothing but the end of the window ends it */
    *out = plain;
    return differs;
}
