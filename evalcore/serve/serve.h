#ifndef EVALCORE_SERVE_SERVE_H
#define EVALCORE_SERVE_SERVE_H

#include "evalcore/cli/command.h"

/* The room of the server: OpenAI's HTTP interface to a model under several policies (docs/serve.md). The
 * command serve comes in by this door.
 *
 * One thread does all: in each turn it hands waiting completions to the workers (evalcore/sweep/decoder.h),
 * takes what they say, and lets libmicrohttpd go on with its connections. A completion is a job of the
 * decoder in one of a fixed number of places, so neither memory nor the list of jobs grows with time. */
struct serve_options {
    const char *model, *devices, *host, *api_key_env, *kv_dtype;
    struct cli_list policies;
    int port, threads, max_batch, max_queue, drain, worker_timeout, step_timeout;
};

/* Serves until a signal ends it. Prints errors; returns the exit code. */
int serve_run(const struct process_env *env, const struct serve_options *o);

#endif
