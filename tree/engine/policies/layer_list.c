/* Lists of layers among a policy's options (contract: layer_list.h). */
#include "engine/policies/layer_list.h"

int layer_list_has(const struct param_ints *layers, int layer)
{
    for (int i = 0; i < layers->n; i++)
        if (layers->v[i] == layer)
            return 1;
    return 0;
}

int layer_list_check(const struct param_ints *layers, const char *key, int n_layers, struct err *e)
{
    for (int i = 0; i < layers->n; i++)
        if (layers->v[i] >= n_layers)
            return err_set(e, ERR_USAGE, "%s names layer %d, and the model has layers 0 to %d", key,
                           layers->v[i], n_layers - 1);
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
