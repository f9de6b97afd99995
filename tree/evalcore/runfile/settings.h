#ifndef EVALCORE_RUNFILE_SETTINGS_H
#define EVALCORE_RUNFILE_SETTINGS_H

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/param.h"

/* Generation settings: what a run file says beside model, tasks and policies. To add one, write a
 * member here, a line in the table of settings.c, and, where it changes tokens, a line in
 * settings_identity(). */
struct settings {
    double temperature; /* 0: greedy */
    int top_k;          /* 0: off */
    double top_p;       /* 1: off */
    int max_new_tokens; /* PARAM_UNSET_INT: the problem's own limit, else SETTINGS_MAX_NEW */
    int min_new_tokens;
    int max_total_tokens; /* prompt + completion; 0: the model's context */
    int ignore_eos;
    int samples; /* completions per problem */
    int seed;
    int kv_dtype;                /* enum kv_dtype */
    const char *chat;            /* "auto", "none" or a form's name */
    const char *prefix, *suffix; /* around the user text, inside the chat form */
    const char *system;          /* system message of the chat form; NULL: the form's own default */
    int thinking;                /* enum chat_thinking */
    const char *prompt;          /* prompt variant; NULL: the task's default */
    const char **stop;           /* strings that end a completion */
    int n_stop;
};

enum { SETTINGS_MAX_NEW = 32768, SETTINGS_STOP_MAX = 16 };

extern const struct param settings_params[]; /* all but `stop` */

void settings_defaults(struct settings *s); /* sets all to their defaults; no stop strings */
/* Sets one setting and returns 0; strings are copied into the arena. ERR_USAGE for an unknown key, another
 * type or a value out of range, with `where` in front of the message; the setting stays as it was. */
int settings_set(struct settings *s, struct arena *a, const char *key, const json_t *v, const char *where,
                 struct err *e);
int settings_known(const char *key); /* 1: there is a setting of that name, else 0 */
/* Returns 0, or ERR_USAGE when min_new_tokens is above a max_new_tokens that is set. */
int settings_check(const struct settings *s, const char *where, struct err *e);

/* Every effective setting; those that are unset (max_new_tokens, prompt, system) and thinking "auto" are left
 * out. New reference. */
json_t *settings_json(const struct settings *s);
/* Those that change a completion's tokens and are not in the prompt, the numerics class or the sample index,
 * without stop and max_new_tokens, which count for each job. New reference. */
json_t *settings_identity(const struct settings *s);

/* Returns the limit of new tokens for a problem that has `own` (0: none): what the run file says wins over
 * the problem's own; with neither it is SETTINGS_MAX_NEW. */
int settings_max_new(const struct settings *s, int own);
/* Returns 1 when nothing but the limit ends a completion (ignore_eos, no stop strings), else 0. */
int settings_only_limit(const struct settings *s);

#endif
