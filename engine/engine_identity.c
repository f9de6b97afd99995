/* What names a model in keys of results: the bytes of its weights, and what decoding makes of the files
 * beside them, as computed: two ways to write the same rotation are one, and names, dtypes and versions are
 * in neither. What works on prompts alone (chat template, merges, normalizer) is in the ids of the prompt,
 * and max_position_embeddings in the keys of the completions that it ends (job_context()). Whether the output
 * head is the embedding follows from the tensors that the files have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "evalcore/base/hash.h"

enum { TEXT_IDS = 1 << 20 }; /* more than any vocabulary has */

int engine_identity(const char *model, const char *cache_dir, char out[65], struct err *e)
{
    return model_identity(model, cache_dir, out, e);
}

int engine_identity_is_quick(const char *model, const char *cache_dir)
{
    return model_identity_is_quick(model, cache_dir);
}

static int by_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A set: the order in a file, and a token that is there twice, end no other completions. */
static void add_ends(struct str *out, const struct model_config *c)
{
    int32_t ends[MODEL_MAX_EOS];
    for (int i = 0; i < c->n_eos; i++)
        ends[i] = c->eos[i];
    qsort(ends, (size_t)c->n_eos, sizeof *ends, by_id);
    for (int i = 0; i < c->n_eos; i++)
        if (!i || ends[i] != ends[i - 1])
            str_printf(out, " %d", ends[i]);
}

/* Twelve digits: more than the table of cosines keeps, and less than what mathematical libraries agree on. */
static void add_rotations(struct str *out, const struct model_config *c)
{
    for (int r = 0; r < c->n_ropes; r++) {
        str_printf(out, "%srotation %.12g:", r ? "\n" : "", c->rope[r].attention);
        for (int i = 0; i < c->head_dim / 2; i++)
            str_printf(out, " %.12g", model_rope_frequency(&c->rope[r], i));
    }
}

void engine_hash_configuration(const struct model_config *c, const struct tokenizer *t, char out[65])
{
    struct str text = {0};
    char tokens[65] = "none";
    str_puts(&text, "configuration 1\n");
    model_config_shape(c, &text);
    str_printf(&text, "eps %.9g\nends", c->eps);
    add_ends(&text, c);
    str_puts(&text, "\n");
    add_rotations(&text, c);
    if (t)
        tokenizer_hash_decoding(t, tokens);
    str_printf(&text, "\ntokens %s\n", tokens);
    sha256_hex(text.data, text.len, out, 64);
    str_release(&text);
}

int engine_configuration(const char *model, const struct tokenizer *t, char out[65], struct err *e)
{
    struct model_config c;
    int rc = model_config_open(&c, model, e);
    if (!rc)
        engine_hash_configuration(&c, t, out);
    return rc;
}

/* The ids, or why there are none. */
static void add_ids(struct sha256 *h, const struct token_list *ids, const struct err *e)
{
    sha256_add(h, ids->id, ids->n * sizeof *ids->id);
    sha256_add(h, e->text, strlen(e->text) + 1);
}

static void add_chat(struct sha256 *h, const struct tokenizer *t, const struct chat_own *chat,
                     struct tokenizer_scratch *scratch)
{
    static const char user[] = " Is 12.5 > x_1?\n\nSay why. ";
    static const struct chat_words words[] = {
        {0}, {.system = "Be brief."}, {.thinking = CHAT_THINKING_ON}, {.thinking = CHAT_THINKING_OFF}};
    const struct chat *form = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct token_list ids = {0};
        struct err e = {0};
        if (!chat_own_form(chat, &form, &e))
            chat_encode(form, t, scratch, &words[i], user, sizeof user - 1, &ids, &e);
        add_ids(h, &ids, &e);
        token_list_release(&ids);
    }
}

void engine_hash_prompts(const struct tokenizer *t, const struct chat_own *chat, char out[65])
{
    struct tokenizer_scratch scratch = {0};
    struct token_list all = {0}, ids = {0};
    struct str text = {0};
    struct sha256 h;
    struct err e = {0};
    unsigned char digest[32];
    *out = 0;
    if (!t)
        return;
    for (int32_t i = 0; i < TEXT_IDS; i++)
        if (tokenizer_has(t, i))
            token_list_add(&all, i);
    tokenizer_decode(t, all.id, all.n, 0, &text);
    tokenizer_encode_plain(t, &scratch, str_text(&text), text.len, 0, 0, &ids, &e);
    sha256_init(&h);
    add_ids(&h, &ids, &e);
    add_chat(&h, t, chat, &scratch);
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    tokenizer_scratch_release(&scratch);
    token_list_release(&all);
    token_list_release(&ids);
    str_release(&text);
}
