#ifndef EVALCORE_COMMANDS_RESPONSE_JSON_H
#define EVALCORE_COMMANDS_RESPONSE_JSON_H

#include "answer_check/answer_check.h"
#include "evalcore/cli/jsonl.h"

/* What the filters over JSONL that grade responses (grade, choice) have in common. */

/* A response: the text in field `key`, and "thinking" and "finish" (default auto and stop). */
int filter_response(const json_t *in, const char *key, struct response *r, struct err *e);

#endif
