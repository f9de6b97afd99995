#ifndef ENGINE_MODEL_DEFAULTS_H
#define ENGINE_MODEL_DEFAULTS_H

#include "engine/policies/policy.h"

/* Options that papers publish per model: DELTA's refresh layers, Kascade's anchors and head maps, OmniKV's
 * filter layers and LessIsMore's selection layers, and the embedded model's own. A model for which only gates
 * ship (engine/pocket/pocket.h) has a row of NULLs. */
struct model_defaults {
    const char *model; /* "DeepSeek-R1-Distill-Qwen-1.5B" */
    int n_layers;
    const char *delta_layers;    /* as a PARAM_INTS option is written; NULL: not published */
    const char *kascade_anchors; /* the same */
    const char *kascade_map;     /* as a PARAM_MAP option is written; NULL: identity */
    int delta_l_pages;           /* 0: the paper's */
    const char *omnikv_layers, *lessismore_layers; /* as delta_layers */
};
enum model_default {
    MODEL_DEFAULT_DELTA,
    MODEL_DEFAULT_KASCADE,
    MODEL_DEFAULT_OMNIKV,
    MODEL_DEFAULT_LESSISMORE
};

/* Returns the row of a model. It is known by its number of layers and one of its names, whatever the case of
 * their letters: m->name if there is one and else, in this order, the last part of its path, the name in a
 * path of the Hub's cache, and "_name_or_path" in its config.json. NULL when it is not known. *taken, in the
 * arena: "published for MODEL, which is the folder's name". */
const struct model_defaults *model_defaults_find(const struct policy_model *m, struct arena *a,
                                                 const char **taken);

/* Fills in the option `key` (layers, of a spec's params) from what is published for the model, unless it is
 * set, and says so in s->taken; checks that the model has these layers. Returns 0, or ERR_USAGE where nothing
 * is published or the model lacks a layer. */
int model_defaults_layers(struct policy_spec *s, const struct param_ints *layers, const char *key,
                          enum model_default which, const struct policy_model *m, struct arena *a,
                          struct err *e);

/* Always returns ERR_USAGE, with the names that were looked for, the line to write, with layers as
 * placeholders, and the models that have published ones. */
int model_defaults_missing(const char *key, enum model_default which, const struct policy_model *m,
                           struct err *e);

#endif
