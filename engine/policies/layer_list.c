/* Lists of layers among a policy's options (contract: layer_list.h). */
#include "engine/policies/layer_list.h"

#include <stdlib.h>

int layer_list_has(const struct param_ints *layers, int layer)
{
    for (int i = 0; i < layers->n; i++)
        if (layers->v[i] == layer)
            return 1;
    return 0;
}

int layer_list_full(const struct policy_model *m, int *out)
{
    const struct policy_dims d = {.n_layers = m->n_layers, .window = m->window};
    int n = 0;
    for (int l = -1; (l = policy_next_full(&d, l)) < m->n_layers;)
        out[n++] = l;
    return n;
}

int layer_list_first_full(const struct policy_model *m)
{
    const struct policy_dims d = {.n_layers = m->n_layers, .window = m->window};
    return policy_next_full(&d, -1);
}

static int has_window(int layer, const char *key, const struct policy_model *m, struct err *e)
{
    struct str text = {0};
    int *full = xmalloc((size_t)m->n_layers * sizeof *full), n = layer_list_full(m, full);
    for (int i = 0; i < n; i++)
        str_printf(&text, "%s%d", i ? ", " : "", full[i]);
    free(full);
    int rc = err_set(e, ERR_USAGE,
                     "%s names layer %d, which reads a window of %d tokens, and a policy acts on layers with "
                     "full attention only; those are %s",
                     key, layer, (int)m->window[layer], str_text(&text));
    str_release(&text);
    return rc;
}

int layer_list_check_one(int layer, const char *key, const struct policy_model *m, struct err *e)
{
    if (layer >= m->n_layers)
        return err_set(e, ERR_USAGE, "%s names layer %d, and the model has layers 0 to %d", key, layer,
                       m->n_layers - 1);
    return m->window && m->window[layer] ? has_window(layer, key, m, e) : 0;
}

int layer_list_check(const struct param_ints *layers, const char *key, const struct policy_model *m,
                     struct err *e)
{
    for (int i = 0; i < layers->n; i++)
        if (layer_list_check_one(layers->v[i], key, m, e))
            return e->code;
    return 0;
}

int layer_list_above(const struct param_ints *layers, const char *key, int dense_layers, struct err *e)
{
    if (!layers->n)
        return err_set(e, ERR_USAGE,
                       "%s: none of the model's default layers is above the first %d, which are dense "
                       "(dense_layers); name some",
                       key, dense_layers);
    for (int i = 0; i < layers->n; i++)
        if (layers->v[i] < dense_layers)
            return err_set(e, ERR_USAGE,
                           "%s names layer %d, but the first %d layers are dense (dense_layers) and choose "
                           "nothing; leave it out",
                           key, layers->v[i], dense_layers);
    return 0;
}

void layer_list_drop_below(struct param_ints *layers, int dense_layers)
{
    int n = 0;
    for (int i = 0; i < layers->n; i++)
        if (layers->v[i] >= dense_layers)
            layers->v[n++] = layers->v[i];
    layers->n = n;
}

int layer_list_first(const struct param_ints *layers, int dense_layers)
{
    int first = layers->n > 0 ? layers->v[0] : dense_layers;
    for (int i = 1; i < layers->n; i++)
        first = layers->v[i] < first ? layers->v[i] : first;
    return first > dense_layers ? first : dense_layers;
}
