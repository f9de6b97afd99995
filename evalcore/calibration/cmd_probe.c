/* kveval probe recall: how much of full attention's mass the tokens hold that policies read, by layer. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/calibration/calibration.h"
#include "evalcore/calibration/calibration_run.h"

#define RUN(member) offsetof(struct calibration_options, member)
static const struct cli_option probe_table[] = {
    {"output-path", 'o', CLI_STRING, RUN(out), "FILE.csv", .help = "recall by policy and layer"},
    CALIBRATION_OPTIONS(RUN),
    {0},
};

static double mean_of(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum / n;
}

static double least_of(const double *v, int n)
{
    double least = v[0];
    for (int i = 1; i < n; i++)
        least = v[i] < least ? v[i] : least;
    return least;
}

/* Policies of several generation settings are the same instance, so each is measured once. */
static int probe(struct calibration_run *r, struct str *csv, struct err *e)
{
    struct engine *en = r->plan.lanes[0].engine;
    int layers = engine_info(en)->n_layers, rc = 0;
    double *recall = xcalloc((size_t)layers, sizeof *recall);
    str_puts(csv, "policy,layer,recall\n");
    printf("%-32s %8s %8s\n", "policy", "recall", "least");
    for (int i = 0; i < r->file.n_policies && !rc; i++) {
        const struct runfile_policy *p = &r->file.policies[i];
        rc = measure_recall(recall, en, &r->dev, &p->spec, e);
        if (rc) {
            err_add(e, "%s", p->where);
            break;
        }
        for (int l = 0; l < layers; l++)
            str_printf(csv, "%s,%d,%.6f\n", p->label, l, recall[l]);
        printf("%-32s %8.4f %8.4f\n", p->label, mean_of(recall, layers), least_of(recall, layers));
    }
    printf("%d problems, %ld tokens of completions\n", r->dev.n, r->dev.tokens);
    free(recall);
    return rc;
}

static int run_probe(const struct program *p, int argc, char **argv)
{
    struct calibration_options o = CALIBRATION_DEFAULTS;
    struct calibration_run r = {0};
    struct err e = {0};
    struct str csv = {0};
    const char *args[2];
    int n, code = command_parse(&cmd_probe, &o, argc, argv, args, 2, 2, &n), rc = 0;
    if (code >= 0)
        return code;
    if (strcmp(args[0], "recall"))
        rc = err_set(&e, ERR_USAGE, "\"%s\" cannot be probed; recall can", args[0]);
    if (!rc)
        rc = calibration_run_open(&r, p, args[1], &o, &e);
    if (!rc)
        rc = probe(&r, &csv, &e);
    if (!rc && o.out)
        rc = file_write_atomic(o.out, str_text(&csv), csv.len, &e);
    calibration_run_close(&r);
    str_release(&csv);
    return rc ? command_fail(&e, rc == ERR_DEVICE ? EXIT_INCOMPLETE : EXIT_USAGE) : EXIT_DONE;
}

const struct command cmd_probe = {
    .name = "probe",
    .usage = "recall RUN.json [-o FILE.csv]",
    .help = "measure how much attention the tokens hold that policies read",
    .details =
        "Completions of full attention are decoded again under each policy of RUN.json, token by token as "
        "they stand.\nRecall is the share of full attention's probability on the tokens that a layer "
        "reads, the mean over steps and query heads.",
    .options = probe_table,
    .run = run_probe,
};
