#ifndef EVALCORE_COMMANDS_CONVERT_GATES_H
#define EVALCORE_COMMANDS_CONVERT_GATES_H

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* The room of `kveval convert`: trained gates of other projects become a file that policy dms reads with
 * `gate` (docs/policies.md, dms). Two kinds are known by their tensors:
 *
 *   dms_separate_alpha  NVIDIA Model-Optimizer's adapters, an RMSNorm and a linear layer on the residual
 * stream before the layer's own norm: layers.N.self_attn.dms_proj_alpha_norm.weight, dms_proj_alpha.weight,
 * .bias
 *
 *   kvzap               NVIDIA kvpress' linear scorers: layers.N.weight, layers.N.bias; a token goes where
 * its score is below a threshold (arXiv 2601.07891)
 */
struct convert_gates {
    const char *from;  /* a safetensors file, or a folder with one */
    const char *model; /* the folder of the model that they are for; NULL: `from`, a folder then */
    const char *out;
    int window;       /* PARAM_UNSET_INT: that of the source */
    double threshold; /* kvzap only; NaN: not given */
};
/* Writes the file c->out, in place of an earlier one. told: what was made, as one sentence for people, is
 * added to it. Returns 0, or an error, and nothing is added: ERR_USAGE where model is NULL and `from` a file,
 * where threshold is not given for kvzap or is for the other kind, or where neither the source nor `window`
 * says the window; ERR_FORMAT for tensors of neither kind or of another shape; ERR_UNSUPPORTED for gates that
 * cannot be converted (KVzap's two-layer ones) or a model that this program does not run; ERR_IO or ERR_DISK
 * for a file that cannot be read or written. */
int convert_gates(const struct convert_gates *c, struct str *told, struct err *e);

#endif
