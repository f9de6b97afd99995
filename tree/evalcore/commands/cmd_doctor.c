/* kveval doctor: is this machine fit for a run, or a model (evalcore/doctor)? Exit 3 when a check failed. */
#include <stddef.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/commands/commands.h"
#include "evalcore/doctor/doctor.h"

struct doctor_options {
    const char *out, *device, *kv_dtype;
    int threads, context, batch;
};

#define AT(member) offsetof(struct doctor_options, member)
static const struct cli_option doctor_table[] = {
    {"output-path", 'o', CLI_STRING, AT(out), "DIR", .help = "where runs will be written (default .)"},
    {"context", 0, CLI_INT, AT(context), "N",
     .help = "with a model: tokens of a sequence that memory is counted for", .min = 1, .max = CLI_INT_MAX},
    {"batch", 0, CLI_INT, AT(batch), "N", .help = "with a model: sequences that memory is counted for",
     .min = 1, .max = 512},
    {"kv-dtype", 0, CLI_STRING, AT(kv_dtype), "TYPE", .help = "with a model: fp32 or bf16"},
    {"device", 0, CLI_STRING, AT(device), "DEVICE", .help = "with a model: " DEVICE_HELP},
    {"threads", 0, CLI_INT, AT(threads), "N", .help = "CPU threads", .min = 1, .max = CLI_THREADS_MAX},
    {0},
};

enum { ANSWER_TOKENS = 24 };

static int check_model(const struct process_env *p, const struct doctor_options *o, const char *name)
{
    struct device_list device;
    struct arena a = {0};
    struct err e = {0};
    struct doctor_order order = {.question = "What is the capital of France?",
                                 .answer_tokens = ANSWER_TOKENS};
    int faults = 0, rc = device_list_parse(&device, o->device, 1, &e);
    order.engine = (struct engine_options){.backend = device.backend,
                                           .ordinal = device.ordinal[0],
                                           .threads = o->threads,
                                           .max_batch = o->batch,
                                           .max_context = o->context,
                                           .cache_dir = p->cache_dir};
    if (!rc)
        rc = engine_kv_dtype(&order.engine.kv_dtype, o->kv_dtype, &e);
    if (!rc)
        rc = hub_model(&order.engine.model, p, name, &a, &e);
    if (!rc && strcmp(name, "pocket") && !engine_random_config(name) && !file_is_dir(order.engine.model))
        rc =
            err_set(&e, ERR_USAGE,
                    "doctor: %s is no folder; give \"pocket\", a folder with config.json, tokenizer.json and "
                    "*.safetensors, or the id of a model in the Hub's cache",
                    name);
    if (!rc)
        faults = doctor_model(&order);
    arena_release(&a);
    return rc ? command_fail(&e, EXIT_USAGE) : faults ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int run_doctor(const struct process_env *p, int argc, char **argv)
{
    struct doctor_options o = {.out = "."};
    const char *model = NULL;
    int n, code = command_parse(&cmd_doctor, &o, argc, argv, &model, 0, 1, &n);
    if (code >= 0)
        return code;
    if (model)
        return check_model(p, &o, model);
    return doctor_machine(p, o.out, o.threads) ? EXIT_INCOMPLETE : EXIT_DONE;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .usage = "[MODEL] [-o DIR]",
    .help = "check the machine: system, memory, disk, GPUs, graders, the engine's numbers; or a model",
    .details =
        "Without MODEL it looks at the machine. MODEL is pocket, a model's folder or an id in the Hub's "
        "cache;\n"
        "then it looks at files, shapes, weights, memory, tokenizer, chat template and end tokens, and "
        "decodes\n"
        "one answer. Each line says ok, warning or fault, and \"->\" the way out. Exit 3 with a fault.",
    .options = doctor_table,
    .run = run_doctor,
};
