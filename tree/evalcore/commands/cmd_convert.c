/* kveval convert gates: trained gates of other projects as a file for policy dms. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/param.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/convert_gates.h"

struct convert_flags {
    const char *model, *out;
    int window;
    double threshold;
};

static const struct cli_option convert_table[] = {
    {"output-path", 'o', CLI_STRING, offsetof(struct convert_flags, out), "FILE",
     .help = "the safetensors file to write"},
    {"model", 'M', CLI_STRING, offsetof(struct convert_flags, model), "MODEL",
     .help = "folder or Hub id of the model that the gates are for (default: SOURCE)"},
    {"window", 0, CLI_INT, offsetof(struct convert_flags, window), "N",
     .help = "tokens that a flagged token stays visible (default: dms_window_size of config.json, KVzap 128)",
     .min = 0, .max = 1000000},
    {"threshold", 0, CLI_DOUBLE, offsetof(struct convert_flags, threshold), "T",
     .help = "KVzap: a token whose score is below T is dropped", .min = -1000, .max = 1000},
    {0},
};

static int run_convert(const struct process_env *p, int argc, char **argv)
{
    struct convert_flags o = {.window = PARAM_UNSET_INT, .threshold = NAN};
    struct arena a = {0};
    struct str told = {0};
    struct err e = {0};
    const char *args[2];
    int n;
    int code = command_parse(&cmd_convert, &o, argc, argv, args, 2, 2, &n);
    if (code >= 0)
        return code;
    if (strcmp(args[0], "gates"))
        err_set(&e, ERR_USAGE, "\"%s\" cannot be converted; gates can", args[0]);
    else if (!o.out)
        err_set(&e, ERR_USAGE, "-o is missing: the safetensors file to write");
    else if (o.model)
        hub_model(&o.model, p, o.model, &a, &e);
    struct convert_gates c = {args[1], o.model, o.out, o.window, o.threshold};
    if (!e.code && !convert_gates(&c, &told, &e))
        printf("%s\n", str_text(&told));
    str_release(&told);
    arena_release(&a);
    return e.code ? command_fail(&e, EXIT_USAGE) : EXIT_DONE;
}

const struct command cmd_convert = {
    .name = "convert",
    .usage = "gates SOURCE -o FILE",
    .help = "make a gate file for policy dms of adapters that other projects have trained",
    .details = "SOURCE is a safetensors file or a folder with one:\n"
               "  adapters of NVIDIA's DMS with dms_separate_alpha, folded exactly into one linear gate\n"
               "  linear gates of KVzap, with --threshold; run them with prefill=dense as well\n"
               "A checkpoint whose gates are a borrowed neuron needs no file: dms:neuron=last.\n",
    .options = convert_table,
    .run = run_convert,
};
