#ifndef ENGINE_MODEL_MODEL_ROPE_H
#define ENGINE_MODEL_MODEL_ROPE_H

#include "engine/model/model_config.h"
#include "evalcore/base/json.h"

/* Reads the rotation of a model whose shape is read already: rope_theta and rope_scaling, or rope_parameters,
 * in which newer files have both. model_config.h has what is done with it. */
int model_rope_parse(struct model_config *c, const json_t *o, const char *what, struct err *e);

#endif
