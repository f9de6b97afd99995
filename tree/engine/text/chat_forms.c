/* The chat forms that have names. A run file asks for one where the model's folder has no template, or where
 * another prompt is wanted. Their turns are those of the templates on the Hub of Qwen2.5-7B-Instruct,
 * Qwen3-0.6B, SmolLM2-135M-Instruct, Mistral-7B-Instruct-v0.3, Meta-Llama-3-8B-Instruct,
 * Llama-3.1-8B-Instruct and DeepSeek-R1-Distill-Llama-8B, whose renderings by jinja2 they equal with and
 * without a system message. A text is never trimmed here, as Llama's templates do. */
#include <string.h>

#include "engine/text/chat.h"

#define IM_SYSTEM .system_before = "<|im_start|>system\n", .system_after = "<|im_end|>\n"
#define IM_TURNS                                                                                             \
    .before = "<|im_start|>user\n", .after = "<|im_end|>\n<|im_start|>assistant\n", .end = "<|im_end|>"

/* One row per form. chat_guess takes the first row whose tokens a tokenizer has, so a form whose tokens are a
 * superset of another's stands above it. */
static const struct chat FORMS[] = {
    {.name = "r1-distill",
     .help = "DeepSeek-R1 distilled models: the answer starts inside <think>",
     .begin = "<｜begin▁of▁sentence｜>",
     .system_before = "",
     .system_after = "",
     .before = "<｜User｜>",
     .after = "<｜Assistant｜><think>\n",
     .end = "<｜end▁of▁sentence｜>"},
    {.name = "r1-first",
     .help = "the same as first published: the model opens <think> itself",
     .begin = "<｜begin▁of▁sentence｜>",
     .system_before = "",
     .system_after = "",
     .before = "<｜User｜>",
     .after = "<｜Assistant｜>",
     .end = "<｜end▁of▁sentence｜>",
     .is_unguessed = 1},
    {.name = "pocket",
     .help = "the embedded model: one user turn, the answer starts inside <think>",
     .begin = "<|begin_of_sentence|>",
     .before = "<|User|>",
     .after = "<|Assistant|><think>\n",
     .end = "<|end_of_sentence|>"},
    {.name = "qwen3",
     .help = "Qwen3: no system message unless one is given; thinking off adds an empty <think> block",
     .begin = "",
     IM_SYSTEM,
     IM_TURNS,
     .thinking_off = "<think>\n\n</think>\n\n"},
    {.name = "chatml",
     .help = "ChatML: no system message unless one is given",
     .begin = "",
     IM_SYSTEM,
     IM_TURNS,
     .is_unguessed = 1},
    {.name = "qwen2.5",
     .help = "Qwen2.5: ChatML with its default system message",
     .begin = "",
     IM_SYSTEM,
     .default_system = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
     IM_TURNS,
     .is_unguessed = 1},
    {.name = "smollm2",
     .help = "SmolLM2: ChatML with its default system message",
     .begin = "",
     IM_SYSTEM,
     .default_system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
     IM_TURNS,
     .is_unguessed = 1},
    {.name = "llama3",
     .help = "Llama 3 instruct: a system turn only where a message is given, without dates",
     .begin = "<|begin_of_text|>",
     .system_before = "<|start_header_id|>system<|end_header_id|>\n\n",
     .system_after = "<|eot_id|>",
     .before = "<|start_header_id|>user<|end_header_id|>\n\n",
     .after = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     .end = "<|eot_id|>"},
    {.name = "llama3.1",
     .help = "Llama 3.1 instruct: its system turn with the dates of its template, 26 Jul 2024 as today",
     .begin = "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: "
              "December 2023\nToday Date: 26 Jul 2024\n\n",
     .system_before = "",
     .system_after = "",
     .before = "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
     .after = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     .end = "<|eot_id|>",
     .is_unguessed = 1},
    {.name = "mistral",
     .help = "Mistral 7B instruct v0.3: [INST], a system message stands in the user's turn",
     .begin = "<s>",
     .system_before = "[INST] ",
     .system_after = "\n\n",
     .before = "[INST] ",
     .after = "[/INST]",
     .end = "</s>",
     .is_unguessed = 1},
    {.name = "none",
     .help =
         "no form: the prompt is prefix, text and suffix, with the tokens around it that the tokenizer asks "
         "for",
     .begin = "",
     .before = "",
     .after = "",
     .is_unguessed = 1},
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

int chat_lacks_tokens(const struct chat *c, const struct tokenizer *t, struct str *missing)
{
    return lacks_token(t, c->begin, missing) || lacks_token(t, c->before, missing) ||
           lacks_token(t, c->after, missing) || lacks_token(t, c->end, missing);
}

const struct chat *chat_guess(const struct tokenizer *t)
{
    const struct chat *found = NULL;
    struct str missing = {0};
    for (size_t i = 0; !found && chat_at(i); i++)
        if (!chat_at(i)->is_unguessed && !chat_lacks_tokens(chat_at(i), t, &missing))
            found = chat_at(i);
    str_release(&missing);
    return found;
}
