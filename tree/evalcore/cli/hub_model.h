#ifndef EVALCORE_CLI_HUB_MODEL_H
#define EVALCORE_CLI_HUB_MODEL_H

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/cli/command.h"

/* Models by their id on the Hugging Face Hub, "owner/name" or "owner/name@revision", found in the Hub's own
 * cache where `kveval fetch`, Transformers, vLLM or `hf download` left them. Nothing is fetched. */

/* Help of an option that takes a model. */
#define MODEL_HELP "pocket (default), a model folder or an id in the Hub's cache"

/* Returns 1 when the text has the form of an id and no file or folder of that name is there, else 0. */
int hub_is_id(const char *model);

/* Returns 1 for 40 hexadecimal digits in lower case, a commit of the Hub's repositories, else 0. */
int hub_is_commit(const char *revision);

/* An id taken apart; all texts live in the arena. `model` has the form that hub_is_id() asks for. */
struct hub_id {
    const char *name;     /* "owner/name" */
    const char *revision; /* "main" where none was given */
    const char *folder;   /* CACHE/models--owner--name */
};
void hub_id_read(struct hub_id *id, const char *cache, const char *model, struct arena *a);

/* Returns 0 and *out: for an id the folder of the snapshot that refs/REVISION names (main where none is
 * given; a revision may be a commit), else `model` itself. Lives in the arena, or is `model`. ERR_USAGE when
 * an id's snapshot is not in the cache, or has no config.json; *out is `model` then. A path is not looked at.
 */
int hub_model(const char **out, const struct process_env *p, const char *model, struct arena *a,
              struct err *e);

#endif
