/* From problems to token ids (contract: prompts.h). Cutting out the middle follows LongBench's pred.py
 * (THUDM): the first and the last half of the allowed tokens are decoded to text again, and the chat form is
 * added afterwards. */
#include "evalcore/plan/prompts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/plan/cell_identity.h"

int prompts_chat(const struct chat **out, const struct chat_own *own, const char *chat, struct err *e)
{
    *out = NULL;
    if (!strcmp(chat, "none"))
        return 0;
    if (!strcmp(chat, "auto"))
        return chat_own_form(own, out, e);
    *out = chat_find(chat);
    if (*out)
        return 0;
    struct str names = {0};
    for (size_t i = 0; chat_at(i); i++)
        str_printf(&names, "%s%s", i ? ", " : "", chat_at(i)->name);
    int rc =
        err_set(e, ERR_USAGE, "unknown chat template \"%s\"; known are auto, %s", chat, str_text(&names));
    str_release(&names);
    return rc;
}

int prompts_words(struct chat_words *out, const struct chat *chat, const struct settings *s, struct err *e)
{
    *out = (struct chat_words){.prefix = s->prefix,
                               .suffix = s->suffix,
                               .system = s->system,
                               .thinking = (enum chat_thinking)s->thinking};
    if (chat || (!s->system && s->thinking == CHAT_THINKING_AUTO))
        return 0;
    return err_set(e, ERR_USAGE,
                   "\"%s\" is set, but prompts of this model get no chat form that could hold it; leave it "
                   "out, or name a form with \"chat\"",
                   s->system ? "system" : "thinking");
}

int prompts_words_said(struct chat_words *out, const struct chat *chat, const char *system,
                       const char *thinking, struct err *e)
{
    struct settings s;
    json_t *mode = json_text_of(thinking);
    settings_defaults(&s);
    int rc = settings_set(&s, NULL, "thinking", mode, "--thinking", e);
    json_decref(mode);
    s.system = system;
    return rc ? rc : prompts_words(out, chat, &s, e);
}

/* The most tokens that prompt and completion may have together. */
static int limit_of(const struct prompt_renderer *r)
{
    int most = r->settings->max_total_tokens;
    return most > 0 && most < r->info->max_context ? most : r->info->max_context;
}

/* The ids of a user text in its chat form, or without one. Nothing opens a block of thoughts then, so that
 * thinking "off" needs no form (render_one() has refused "on"). */
static int wrap_text(struct prompt_renderer *r, const struct problem *p, const char *user, size_t n,
                     struct token_list *out, struct err *e)
{
    const struct settings *s = r->settings;
    struct chat_words words;
    int rc = prompts_words(&words, r->set->chat, s, e);
    if (rc)
        return rc;
    words.answer_prefix = p->answer_prefix;
    if (p->no_chat)
        words.thinking = CHAT_THINKING_AUTO;
    return chat_encode(p->no_chat ? NULL : r->set->chat, r->tokenizer, &r->scratch, &words, user, n, out, e);
}

/* Appends the text of n ids. A character of which they hold a part only is U+FFFD, so that parts of two
 * characters never make a third. */
static void add_decoded(const struct tokenizer *t, const int32_t *ids, size_t n, struct str *out)
{
    struct str bytes = {0};
    tokenizer_decode_text(t, ids, n, 0, &bytes);
    str_add_utf8(out, str_text(&bytes), bytes.len);
    str_release(&bytes);
}

/* Keeps `keep` tokens of the user text, half at each end, and wraps what they decode to. */
static int cut_and_wrap(struct prompt_renderer *r, const struct problem *p, const struct token_list *user,
                        size_t keep, struct token_list *out, struct err *e)
{
    struct str text = {0};
    size_t head = keep / 2, tail = keep - head;
    add_decoded(r->tokenizer, user->id, head, &text);
    add_decoded(r->tokenizer, user->id + user->n - tail, tail, &text);
    out->n = 0;
    int rc = wrap_text(r, p, str_text(&text), text.len, out, e);
    str_release(&text);
    return rc;
}

static int truncate_middle(struct prompt_renderer *r, const struct problem *p, int max_tokens,
                           struct token_list *out, struct err *e)
{
    struct token_list user = {0};
    int rc = tokenizer_encode(r->tokenizer, &r->scratch, p->prompt, p->prompt_len, 0, &user, e);
    size_t frame = out->n > user.n ? out->n - user.n : 0;
    size_t keep = (size_t)max_tokens > frame ? (size_t)max_tokens - frame : 0;
    /* Joining the halves may give a few more tokens than were kept. */
    while (!rc && keep > 1 && keep < user.n) {
        rc = cut_and_wrap(r, p, &user, keep, out, e);
        if (out->n <= (size_t)max_tokens)
            break;
        keep -= out->n - (size_t)max_tokens < keep ? out->n - (size_t)max_tokens : keep;
    }
    token_list_release(&user);
    return rc;
}

int prompts_has_tokenizer(const struct prompt_renderer *r, struct err *e)
{
    if (r->tokenizer)
        return 0;
    return err_set(e, ERR_USAGE,
                   "%s has no tokenizer.json, so prompts cannot be encoded; get it with `kveval fetch "
                   "OWNER/NAME`, or save "
                   "the tokenizer anew with Transformers' AutoTokenizer and save_pretrained()",
                   r->info->model);
}

static int refuse_long(const struct prompt_renderer *r, const struct problem *p, size_t n, int limit,
                       struct err *e)
{
    struct str advice = {0};
    if (limit == r->info->max_context)
        engine_context_advice(r->info, &advice);
    int rc = err_set(
        e, ERR_USAGE,
        "%s, problem %s: the prompt has %zu tokens, but prompt and completion together may have %d%s; "
        "leave the problem out (--sample-ids) or use a model with a longer context%s",
        r->set->label, p->id, n, limit,
        r->settings->max_total_tokens > 0 ? " (max_total_tokens or the context)" : " (the context)",
        str_text(&advice));
    str_release(&advice);
    return rc;
}

static int render_one(struct prompt_renderer *r, const struct problem *p, struct token_list *out,
                      struct err *e)
{
    const struct settings *s = r->settings;
    /* Without a chat form nothing opens a block of thoughts: "off" holds, and is meant for other tasks. */
    int is_off = s->thinking == CHAT_THINKING_AUTO || (p->no_chat && s->thinking == CHAT_THINKING_OFF);
    if ((p->is_rendered || p->no_chat) && (s->system || !is_off))
        return err_set(
            e, ERR_USAGE,
            "%s, problem %s: its prompt takes no chat form, so \"system\" and \"thinking\" have no "
            "place in it; leave them out for this task",
            r->set->label, p->id);
    int rc = p->is_rendered
                 ? chat_encode_rendered(r->tokenizer, &r->scratch, p->prompt, p->prompt_len, out, e)
                 : wrap_text(r, p, p->prompt, p->prompt_len, out, e);
    if (rc)
        return err_add(e, "%s, problem %s", r->set->label, p->id), rc;
    int max_new = settings_max_new(s, p->max_new_tokens), limit = limit_of(r);
    int max_tokens = limit - max_new;
    if (p->truncate_middle && !p->is_rendered && max_tokens < 1)
        return err_set(e, ERR_USAGE,
                       "%s: max_new_tokens %d leaves no room for a prompt in %d tokens of context; lower it",
                       r->set->label, max_new, limit);
    if (p->truncate_middle && !p->is_rendered && out->n > (size_t)max_tokens)
        rc = truncate_middle(r, p, max_tokens, out, e);
    if (!rc && out->n >= (size_t)limit)
        rc = refuse_long(r, p, out->n, limit, e);
    return rc;
}

static int find_end_token(struct prompt_renderer *r, const struct problem *p, int32_t *id, struct err *e)
{
    struct token_list ids = {0};
    int rc = 0;
    *id = -1;
    if (p->stop)
        rc = tokenizer_encode(r->tokenizer, &r->scratch, p->stop, strlen(p->stop), 0, &ids, e);
    if (!rc && p->stop && !ids.n)
        rc = err_set(e, ERR_UNSUPPORTED,
                     "%s, problem %s: the tokenizer cannot spell the text that ends a completion",
                     r->set->label, p->id);
    if (!rc && p->stop)
        *id = ids.id[ids.n - 1];
    token_list_release(&ids);
    return rc;
}

static int count_tokens(void *context, const struct problem *p, struct err *e)
{
    struct prompt_renderer *r = context;
    struct token_list ids = {0};
    int rc = prompts_has_tokenizer(r, e);
    if (!rc)
        rc = wrap_text(r, p, p->prompt, p->prompt_len, &ids, e);
    int n = ids.n < INT_MAX ? (int)ids.n : INT_MAX;
    token_list_release(&ids);
    return rc ? rc : n;
}

struct task_counter prompts_counter(struct prompt_renderer *r)
{
    return (struct task_counter){.count = count_tokens, .context = r, .limit = limit_of(r)};
}

void prompts_renderer_release(struct prompt_renderer *r)
{
    tokenizer_scratch_release(&r->scratch);
}

int prompts_render(struct prompt_set *s, struct prompt_renderer *r, struct err *e)
{
    struct token_list one = {0};
    struct chat_words words;
    int rc = prompts_has_tokenizer(r, e);
    if (!rc)
        rc = prompts_words(&words, s->chat, r->settings, e);
    if (rc)
        return rc;
    s->rows = xcalloc(s->task.n_problems + 1, sizeof *s->rows);
    for (size_t i = 0; i < s->task.n_problems && !rc; i++) {
        one.n = 0;
        rc = render_one(r, &s->task.problems[i], &one, e);
        if (!rc)
            rc = find_end_token(r, &s->task.problems[i], &s->rows[i].end_token, e);
        if (rc)
            break;
        s->rows[i].first = s->ids.n;
        s->rows[i].n = (int)one.n;
        job_hash_ids(one.id, one.n, s->rows[i].sha256);
        for (size_t k = 0; k < one.n; k++)
            token_list_add(&s->ids, one.id[k]);
    }
    token_list_release(&one);
    return rc;
}

/* The first place of part in whole from `from` on, or the last one; NULL: it is not there. An empty part is
 * at either end. */
static const char *find_part(const struct str *whole, size_t from, const char *part, size_t n, int is_last)
{
    const char *end = whole->data + whole->len, *found = NULL;
    if (!n)
        return is_last ? end : whole->data + from;
    for (const char *p = whole->data + from; p + n <= end && (is_last || !found); p++)
        if (*p == *part && !memcmp(p, part, n))
            found = p;
    return found;
}

/* own: the range of the user text in the rendered form, which is that of the ids but for an uncut text. */
static void find_own(struct prompt_text *out, const struct str *form, const size_t own[2])
{
    const struct str *whole = &out->text;
    const char *at = find_part(whole, 0, form->data, form->len, 0);
    out->own[0] = 0;
    out->own[1] = whole->len;
    if (at) {
        out->own[0] = (size_t)(at - whole->data) + own[0];
        out->own[1] = (size_t)(at - whole->data) + own[1];
        return;
    }
    const char *before = find_part(whole, 0, form->data, own[0], 0);
    size_t from = before ? (size_t)(before - whole->data) + own[0] : 0;
    const char *after = find_part(whole, from, form->data + own[1], form->len - own[1], 1);
    if (before && after) {
        out->own[0] = from;
        out->own[1] = (size_t)(after - whole->data);
    }
}

void prompts_text(struct prompt_text *out, const struct prompt_set *s, size_t i, const struct tokenizer *t,
                  const struct settings *settings)
{
    const struct problem *p = &s->task.problems[i];
    struct str bytes = {0}, form = {0};
    struct chat_words words;
    struct err e = {0};
    size_t own[2] = {0, p->prompt_len};
    tokenizer_decode_text(t, s->ids.id + s->rows[i].first, (size_t)s->rows[i].n, 0, &bytes);
    str_add_utf8(&out->text, str_text(&bytes), bytes.len);
    out->own[0] = 0;
    out->own[1] = out->text.len;
    int rc = 0;
    if (p->is_rendered) {
        str_add(&form, p->prompt, p->prompt_len);
    } else if (!(rc = prompts_words(&words, s->chat, settings, &e))) {
        words.answer_prefix = p->answer_prefix;
        if (p->no_chat)
            words.thinking = CHAT_THINKING_AUTO;
        rc = chat_render(p->no_chat || !s->chat ? chat_find("none") : s->chat, &words, p->prompt,
                         p->prompt_len, &form, own, &e);
    }
    if (!rc && out->text.len && form.len && own[1] <= form.len)
        find_own(out, &form, own);
    str_release(&bytes);
    str_release(&form);
}

void prompts_release(struct prompt_set *s)
{
    task_close(&s->task);
    token_list_release(&s->ids);
    free(s->rows);
    free(s->options);
    memset(s, 0, sizeof *s);
}
