/* kveval bench: speed beside the machine's own limits, measured in the same run. Never a test: machines
 * differ. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/bench/bench.h"
#include "evalcore/commands/commands.h"

static const struct {
    const char *name;
    bench_fn run;
} benches[] = {
#define X(name) {#name, bench_##name},
    BENCHES(X)
#undef X
};
enum { N_BENCHES = sizeof benches / sizeof *benches };

struct options {
    int threads, batch, sampled, nights;
    const char *device, *isa, *model, *random, *policy, *pairs, *csv, *tokens;
};

static const struct cli_option options[] = {
    {"model", 'M', CLI_STRING, offsetof(struct options, model), "MODEL",
     .help = "model of `decode`, `prefill`, `components` and `load`: pocket (default) or a folder"},
    {"random-weights", 0, CLI_STRING, offsetof(struct options, random), "CONFIG.json",
     .help = "random weights of this shape (a Hugging Face config.json) instead; `load` writes them to the "
             "current folder for a while"},
    {"policy", 0, CLI_STRING, offsetof(struct options, policy), "SPEC",
     .help = "`decode`, `prefill` and `components`: NAME or NAME:key=value,key=value, lists as 2+5+7 "
             "(default full)"},
    {"batch", 0, CLI_INT, offsetof(struct options, batch), "N",
     .help = "`decode` and `components`: sequences; default 32, on a GPU 64", .min = 1, .max = 512},
    {"tokens", 0, CLI_STRING, offsetof(struct options, tokens), "N,...",
     .help = "`decode` from 1 to N tokens; `prefill` of N tokens (default 1024, on a GPU also 4096 and "
             "16384); `components` of a step at N tokens (default 1024); `prompts`, a GPU's: of N alone; "
             "each in turn "
             "where there are several"},
    {"sampled", 0, CLI_FLAG, offsetof(struct options, sampled), NULL,
     .help = "`decode --tokens`: estimated from short stretches at a few lengths"},
    {"device", 0, CLI_STRING, offsetof(struct options, device), "DEVICE", .help = DEVICE_HELP},
    {"threads", 0, CLI_INT, offsetof(struct options, threads), "N", .help = "CPU threads; default all",
     .min = 1, .max = CLI_THREADS_MAX},
    {"isa", 0, CLI_STRING, offsetof(struct options, isa), "ISA",
     .help = "scalar, avx2 or avx512; default the best here"},
    {"pairs", 0, CLI_STRING, offsetof(struct options, pairs), "FILE",
     .help = "JSON Lines with gold and pred that `grade` times instead of responses that it makes up"},
    {"nights", 0, CLI_INT, offsetof(struct options, nights), "N",
     .help = "nights that `stats` simulates; default 2000", .min = 20, .max = 1000000},
    {"csv", 0, CLI_STRING, offsetof(struct options, csv), "FILE", .help = "write the figures there too"},
    {0},
};

static int run_one(struct bench *b, const char *name, bench_fn fn, const struct options *o, struct err *e)
{
    struct str command = {0};
    str_printf(&command, "kveval bench %s", name);
    if (o->device)
        str_printf(&command, " --device %s", o->device);
    if (o->threads)
        str_printf(&command, " --threads %d", o->threads);
    if (o->isa)
        str_printf(&command, " --isa %s", o->isa);
    if (o->random)
        str_printf(&command, " --random-weights %s", o->random);
    else if (strcmp(b->model, "pocket"))
        str_printf(&command, " --model %s", b->model);
    if (o->policy)
        str_printf(&command, " --policy %s", o->policy);
    if (o->batch)
        str_printf(&command, " --batch %d", o->batch);
    if (b->tokens)
        str_printf(&command, " --tokens %d", b->tokens);
    if (o->sampled)
        str_puts(&command, " --sampled");
    if (b->pairs)
        str_printf(&command, " --pairs %s", b->pairs);
    if (o->nights)
        str_printf(&command, " --nights %d", o->nights);
    b->command = str_text(&command);
    int rc = fn(b, e);
    str_release(&command);
    return rc;
}

enum { LENGTHS_MAX = 32, TOKENS_MIN = 128, TOKENS_MAX = 1048576 };

/* "1024,4096": writes the lengths and returns how many, or a negative ERR_. NULL: one, 0, the benchmark's
 * own. */
static int read_lengths(int lengths[LENGTHS_MAX], const char *text, struct err *e)
{
    int n = 0;
    lengths[n] = 0;
    if (!text)
        return 1;
    for (const char *p = text;; p++) {
        size_t digits = strspn(p, "0123456789");
        long v = digits && digits < 8 ? strtol(p, NULL, 10) : 0;
        p += digits;
        if (v < TOKENS_MIN || v > TOKENS_MAX || (*p && *p != ',') || n == LENGTHS_MAX)
            return err_set(
                e, ERR_USAGE,
                "--tokens: \"%.80s\" is not one number of tokens from %d to %d, or up to %d of them with "
                "commas between",
                text, TOKENS_MIN, TOKENS_MAX, LENGTHS_MAX);
        lengths[n++] = (int)v;
        if (!*p)
            return n;
    }
}

static int bench_index(const char *name)
{
    for (int i = 0; i < N_BENCHES; i++)
        if (!strcmp(benches[i].name, name))
            return i;
    return -1;
}

static int unknown_benchmark(const char *name, struct err *e)
{
    struct str known = {0};
    for (int i = 0; i < N_BENCHES; i++)
        str_printf(&known, "%s%s", !i ? "" : i < N_BENCHES - 1 ? ", " : " and ", benches[i].name);
    err_set(e, ERR_USAGE, "unknown benchmark \"%s\"; there are %s", name, str_text(&known));
    str_release(&known);
    return e->code;
}

static int open_csv(struct bench *b, const char *path, struct err *e)
{
    int fd = file_open_output(path, 0, e);
    if (fd < 0)
        return fd;
    if (ftruncate(fd, 0) && errno != EINVAL) /* EINVAL: a pipe or a device */
        err_set(e, file_error_code(errno), "%s: cannot be written: %s", path, err_reason(errno));
    b->csv = fdopen(fd, "w");
    return e->code;
}

static int cmd_bench_run(const struct process_env *p, int argc, char **argv)
{
    struct options o = {.model = "pocket"};
    const char *args[N_BENCHES];
    int n_args, code = command_parse(&cmd_bench, &o, argc, argv, args, 0, N_BENCHES, &n_args);
    struct err e = {0};
    (void)p;
    if (code >= 0)
        return code;
    for (int i = 0; i < n_args; i++)
        if (bench_index(args[i]) < 0 && unknown_benchmark(args[i], &e))
            return command_fail(&e, EXIT_USAGE);
    struct device_list device;
    if (device_list_parse(&device, o.device, 1, &e))
        return command_fail(&e, EXIT_USAGE);
    struct str random = {0};
    if (o.random) {
        str_printf(&random, "random:%s", o.random);
        o.model = str_text(&random);
    }
    struct bench b = {.device = &device,
                      .threads = o.threads,
                      .isa = o.isa,
                      .model = o.model,
                      .policy = o.policy,
                      .batch = o.batch,
                      .sampled = o.sampled,
                      .pairs = o.pairs,
                      .nights = o.nights};
    int lengths[LENGTHS_MAX], n_lengths = read_lengths(lengths, o.tokens, &e);
    if (n_lengths < 0) {
        str_release(&random);
        return command_fail(&e, EXIT_USAGE);
    }
    if (o.csv && open_csv(&b, o.csv, &e))
        return command_fail(&e, EXIT_INCOMPLETE);
    for (int i = 0; i < (n_args ? n_args : N_BENCHES) && !e.code; i++) {
        int k = n_args ? bench_index(args[i]) : i;
        if (!n_args && benches[k].run == bench_stats)
            continue; /* it measures no machine */
        for (int l = 0; l < n_lengths && !e.code; l++) {
            b.tokens = lengths[l];
            run_one(&b, benches[k].name, benches[k].run, &o, &e);
        }
    }
    str_release(&random);
    if (b.csv && fclose(b.csv))
        err_set(&e, file_error_code(errno), "%s: cannot be written: %s", o.csv, err_reason(errno));
    return e.code ? command_fail(&e, e.code == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE) : EXIT_DONE;
}

const struct command cmd_bench = {
    .name = "bench",
    .usage = "[limits] [decode] [prefill] [components] [attention] [prompts] [topk] [forget] [linear] "
             "[load] [tokenizer] [grade] [stats]",
    .help = "measure speed beside the machine's own limits, one JSON line per figure",
    .details =
        "Without a name all but `stats` run, in about a minute. `floor` is the limit in the same unit, "
        "measured in the same run;\n"
        "`share` is the value as a share of it. For decode the limit is the sum over the step's "
        "phases (matrix products,\n"
        "attention) of max(bytes / read bandwidth at the step's working set, FLOP / FMA peak).\n"
        "`prefill` is one prompt up to its first token, beside its matrix products at that peak, and then "
        "the\n"
        "milliseconds of each operation, run alone: attention, the choice of keys, products.\n"
        "`components` prints microseconds and percent of each part of a step, replayed alone.\n"
        "`prompts` is one layer's attention to a whole prompt: dense, the masses and the best keys of tiles "
        "of\n"
        "queries, which Kascade's anchor layers choose, attention to such lists, and masks.\n"
        "`forget` is what SnapKV and R-KV do beside attention when they forget in all sequences,\n"
        "in one, in none.\n"
        "`stats` simulates nights of which the truth is known: how often the gate and the tests err, and\n"
        "how often the intervals hold the true value. There `floor` is the rate that is promised, and\n"
        "standard error shows a table. The figures depend on --nights alone, never on --threads.",
    .options = options,
    .prints_data = 1,
    .run = cmd_bench_run,
};
