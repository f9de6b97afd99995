/* What names a model in keys of results: the bytes of its weights, and what decoding makes of the files
 * beside them, as computed: two ways to write the same rotation are one, and names, dtypes and versions are
 * in neither. What works on prompts alone (chat template, merges, normalizer) is in the ids of the prompt,
 * and max_position_embeddings in the keys of the completions that it ends (job_context()). Whether the output
 * head is the embedding follows from the tensors that the files have. */
#include <stdlib.h>

#include "engine/engine_impl.h"
#include "evalcore/base/hash.h"

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
static void add_rotation(struct str *out, const struct model_config *c)
{
    str_printf(out, "rotation %.12g:", c->rope_attention);
    for (int i = 0; i < c->head_dim / 2; i++)
        str_printf(out, " %.12g", model_rope_frequency(c, i));
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
    add_rotation(&text, c);
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
