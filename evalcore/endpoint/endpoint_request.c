/* The body of a request (contract: endpoint_parts.h). Servers take defaults for what is not said, vLLM from
 * the model's generation_config.json (often a repetition penalty), llama.cpp its own (min_p 0.05), so all
 * that would bend the distribution is said to be off, under each server's name for it. */
#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/endpoint/endpoint_parts.h"

/* Written at once: a prompt may have 100,000 ids. */
static void add_prompt(struct str *out, const struct endpoint_request *r)
{
    if (r->text) {
        json_quote(out, r->text, r->n_text);
        return;
    }
    for (int i = 0; i < r->n_prompt; i++)
        str_printf(out, "%c%d", i ? ',' : '[', (int)r->prompt[i]);
    str_puts(out, r->n_prompt ? "]" : "[]");
}

void endpoint_body(struct str *out, const struct endpoint *p, const struct endpoint_request *r)
{
    json_t *o = json_pack("{s:o, s:i, s:f, s:f, s:i, s:I, s:i, s:b}", "model", json_text_of(p->name),
                          "max_tokens", r->max_new_tokens, "temperature", r->temperature, "top_p", r->top_p,
                          "top_k", r->top_k, "seed", (json_int_t)r->seed, "n", 1, "stream", p->o.stream);
    static const struct {
        const char *name;
        double off;
    } penalties[] = {{"min_p", 0},
                     {"repetition_penalty", 1},
                     {"repeat_penalty", 1},
                     {"frequency_penalty", 0},
                     {"presence_penalty", 0}};
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++)
        json_object_set_new(o, penalties[i].name, json_real(penalties[i].off));
    json_object_set_new(o, "return_token_ids", json_true());
    json_object_set_new(o, "add_special_tokens", json_false()); /* they are in the prompt, also as text */
    if (p->o.stream)
        json_object_set_new(o, "stream_options", json_pack("{s:b}", "include_usage", 1));
    if (r->n_stop) {
        json_t *stop = json_array();
        for (int i = 0; i < r->n_stop; i++)
            json_array_append_new(stop, json_text_of(r->stop[i]));
        json_object_set_new(o, "stop", stop);
    }
    if (r->n_end_tokens) {
        json_t *ends = json_array();
        for (int i = 0; i < r->n_end_tokens; i++)
            json_array_append_new(ends, json_integer(r->end_tokens[i]));
        json_object_set_new(o, "stop_token_ids", ends);
    }
    char *text = json_dumps(o, JSON_COMPACT);
    str_add(out, text, strlen(text) - 1); /* without its brace */
    str_puts(out, ",\"prompt\":");
    add_prompt(out, r);
    str_putc(out, '}');
    free(text);
    json_decref(o);
}
