#ifndef ENGINE_TEXT_TOKENIZER_CONFIG_H
#define ENGINE_TEXT_TOKENIZER_CONFIG_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* tokenizer_config.json of a model's folder, for the files of this room. */

/* The names of the special tokens, "bos_token" first and "eos_token" second; ends with NULL. */
extern const char *const tokenizer_token_names[];

/* Reads it, with special_tokens_map.json laid over it where Transformers does so. *out NULL: the folder has
 * neither. */
int tokenizer_config_read(json_t **out, const char *folder, struct err *e);
/* The text of a special token: as it is written there, else the default of the tokenizer's class. NULL: there
 * is none. config may be NULL. */
const char *tokenizer_config_token(const json_t *config, const char *name);
/* 1 when the file does not say it and its class is none whose defaults are known. */
int tokenizer_config_is_unsaid(const json_t *config, const char *name);
/* Does the class put its own template around a plain text, with bos_token and eos_token in it? */
int tokenizer_config_has_frame(const json_t *config);

#endif
