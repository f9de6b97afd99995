/* Chat forms as text. The whole prompt is rendered first and then encoded at once, with the user text as the
 * guarded range. So the ids are those that a template in the model's own files gives, even where line breaks
 * merge across the borders of the user text. */
#include "engine/text/chat.h"

#include <string.h>

/* One row per form. chat_guess takes the first row whose tokens a tokenizer has, so a form whose tokens are a
 * superset of another's stands above it. */
static const struct chat FORMS[] = {
    {.name = "r1-distill",
     .help =
         "DeepSeek-R1 distilled models: one user turn, no system prompt, the answer starts inside <think>",
     .before = "<｜begin▁of▁sentence｜><｜User｜>",
     .after = "<｜Assistant｜><think>\n",
     .opens_thinking = 1,
     .end = "<｜end▁of▁sentence｜>"},
    {.name = "pocket",
     .help = "the embedded model: one user turn, the answer starts inside <think>",
     .before = "<|begin_of_sentence|><|User|>",
     .after = "<|Assistant|><think>\n",
     .opens_thinking = 1,
     .end = "<|end_of_sentence|>"},
    {.name = "qwen3",
     .help = "Qwen3 and Qwen2.5: one user turn, no system prompt; the model opens <think> itself",
     .before = "<|im_start|>user\n",
     .after = "<|im_end|>\n<|im_start|>assistant\n",
     .end = "<|im_end|>"},
    {.name = "llama3",
     .help = "Llama 3 instruct: one user turn; unlike the official template without a system turn, which "
             "holds dates",
     .before = "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n",
     .after = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     .end = "<|eot_id|>"},
    {.name = "none",
     .help = "no form: the prompt is prefix, text and suffix; the model's begin-of-sentence token is put "
             "before it",
     .before = "",
     .after = ""},
};

const struct chat *chat_at(size_t i)
{
    return i < sizeof FORMS / sizeof *FORMS ? &FORMS[i] : NULL;
}

const struct chat *chat_find(const char *name)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
        if (!strcmp(FORMS[i].name, name))
            return &FORMS[i];
    return NULL;
}

/* 1 when the text has a "<...>" that is no added token of the tokenizer; the first one is copied to
 * `missing`. */
static int lacks_token(const struct tokenizer *t, const char *text, struct str *missing)
{
    const char *end;
    for (; text && (text = strchr(text, '<')) && (end = strchr(text, '>')); text = end) {
        str_clear(missing);
        str_add(missing, text, (size_t)(end + 1 - text));
        if (tokenizer_find_added(t, missing->data) < 0)
            return 1;
    }
    return 0;
}

static int lacks(const struct chat *c, const struct tokenizer *t, struct str *missing)
{
    return lacks_token(t, c->before, missing) || lacks_token(t, c->after, missing) ||
           lacks_token(t, c->end, missing);
}

const struct chat *chat_guess(const struct tokenizer *t)
{
    const struct chat *found = NULL;
    struct str missing = {0};
    for (size_t i = 0; !found && i < sizeof FORMS / sizeof *FORMS; i++)
        if (*FORMS[i].before && !lacks(&FORMS[i], t, &missing))
            found = &FORMS[i];
    str_release(&missing);
    return found;
}

int chat_encode(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                const char *prefix, const char *user, size_t n_user, const char *suffix,
                struct token_list *out, struct err *e)
{
    struct str text = {0};
    int rc;
    if (lacks(c, t, &text)) {
        rc = err_set(e, ERR_USAGE,
                     "the chat form %s needs the token %s, which this model's tokenizer.json does not have; "
                     "choose another "
                     "form, or none",
                     c->name, text.data);
        goto out;
    }
    str_clear(&text);
    str_puts(&text, c->before);
    str_puts(&text, prefix ? prefix : "");
    size_t from = text.len;
    str_add(&text, user, n_user);
    size_t to = text.len;
    str_puts(&text, suffix ? suffix : "");
    str_puts(&text, c->after);
    rc = tokenizer_encode_guarded(t, s, str_text(&text), text.len, from, to, out, e);
out:
    str_release(&text);
    return rc;
}
