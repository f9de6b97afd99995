#ifndef ENGINE_MODEL_DEFAULTS_H
#define ENGINE_MODEL_DEFAULTS_H

#include "evalcore/base/err.h"

/* What the papers publish per model: DELTA's refresh layers, Kascade's anchors and head maps, and the
 * embedded model's own. A model folder is recognised by the last part of its path and by its number of
 * layers. */
struct model_defaults {
    const char *model; /* "DeepSeek-R1-Distill-Qwen-1.5B" */
    int n_layers;
    const char *delta_layers;    /* as a PARAM_INTS option is written; NULL: not published */
    const char *kascade_anchors; /* the same */
    const char *kascade_map;     /* as a PARAM_MAP option is written; NULL: identity */
};

/* NULL when the model is not known. */
const struct model_defaults *model_defaults_find(const char *model, int n_layers);

/* ERR_USAGE: "`key` is missing and model X has no default; models that have one: ...". `field`:
 * "delta_layers" or "kascade_anchors". */
int model_defaults_missing(const char *key, const char *field, const char *model, struct err *e);

#endif
