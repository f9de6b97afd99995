/* kveval serve: parses the options; the server is evalcore/serve. */
#include <stddef.h>

#include "evalcore/cli/device_list.h"
#include "evalcore/commands/commands.h"
#include "evalcore/serve/serve.h"
#include "evalcore/sweep/sweep_options.h"

#define AT(member) offsetof(struct serve_options, member)
static const struct cli_option serve_table[] = {
    {"policy", 0, CLI_LIST, AT(policies), "POLICIES",
     .help = "policies to serve: full,quest:k_pages=64 (default full); may be repeated"},
    {"port", 0, CLI_INT, AT(port), "N", .help = "to listen at (default 8000); 0: any that is free", .min = 0,
     .max = 65535},
    {"host", 0, CLI_STRING, AT(host), "ADDRESS",
     .help = "to listen at (default 127.0.0.1, this machine alone)"},
    {"api-key-env", 0, CLI_STRING, AT(api_key_env), "NAME",
     .help = "environment variable with the key that requests must have"},
    {"devices", 0, CLI_STRING, AT(devices), "DEVICES", .help = DEVICES_HELP},
    {"threads", 0, CLI_INT, AT(threads), "N", .help = "CPU threads of each worker", .min = 1,
     .max = CLI_THREADS_MAX},
    {"max-batch", 'b', CLI_INT, AT(max_batch), "N",
     .help = "sequences decoded together (default 32, on a GPU 128)", .min = 1, .max = 512},
    {"max-queue", 0, CLI_INT, AT(max_queue), "N",
     .help = "completions that wait or are decoded (default 1024); beyond them the answer is 429", .min = 1,
     .max = 65536},
    {"kv-dtype", 0, CLI_STRING, AT(kv_dtype), "TYPE", .help = "fp32 or bf16"},
    {"drain", 0, CLI_INT, AT(drain), "SECONDS",
     .help = "SIGTERM and Ctrl-C give requests that are there so long to end (default 60)", .max = 86400},
    {"worker-timeout", 0, CLI_INT, AT(worker_timeout), "SECONDS",
     .help = "a worker that gives no sign of life for so long is ended (default 30)", .min = 2, .max = 86400},
    {"step-timeout", 0, CLI_INT, AT(step_timeout), "SECONDS", .help = STEP_TIMEOUT_HELP, .min = 2,
     .max = 86400},
    {0},
};

static int run_serve(const struct process_env *p, int argc, char **argv)
{
    struct serve_options o = {.host = "127.0.0.1", .port = 8000, .max_queue = 1024, .drain = DRAIN_SECONDS};
    int n, code = command_parse(&cmd_serve, &o, argc, argv, &o.model, 1, 1, &n);
    return code >= 0 ? code : serve_run(p, &o);
}

const struct command cmd_serve = {
    .name = "serve",
    .usage = "MODEL --policy POLICIES",
    .help = "OpenAI's HTTP interface to a model, under every policy of a list",
    .details =
        "MODEL is pocket, a model folder or an id in the Hub's cache. A request's model picks the policy:\n"
        "Qwen3-8B@quest:k_pages=64. All share one batch, and equal requests get equal answers whatever\n"
        "else runs. docs/serve.md says what is honoured and what is refused.",
    .options = serve_table,
    .run = run_serve,
};
