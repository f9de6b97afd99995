/* kveval probe recall: how much of full attention's mass the tokens hold that policies read, by layer. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/csv_row.h"
#include "evalcore/base/file.h"
#include "evalcore/calibration/calibration.h"
#include "evalcore/commands/commands.h"

#define RUN(member) offsetof(struct calibration_options, member)
static const struct cli_option probe_table[] = {
    {"output-path", 'o', CLI_STRING, RUN(out), "FILE.csv", .help = "recall by policy and layer"},
    CALIBRATION_OPTIONS(RUN),
    {0},
};

/* The mean over layers with full attention. A layer with a window has no recall: its entry is NaN. */
static double mean_of(const double *v, int n)
{
    double sum = 0;
    int full = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) {
            sum += v[i];
            full++;
        }
    return sum / full;
}

static double least_of(const double *v, int n)
{
    double least = INFINITY;
    for (int i = 0; i < n; i++)
        least = fmin(least, v[i]);
    return least;
}

static int probe_policy(struct calibration_run *r, const struct runfile_policy *p, double *recall,
                        struct str *csv, struct err *e)
{
    struct engine *en = r->plan.loaded[0].engine;
    int layers = engine_info(en)->n_layers;
    if (measure_recall(recall, en, &r->dev, &p->spec, e))
        return err_add(e, "%s", p->where);
    for (int l = 0; l < layers; l++) {
        if (isnan(recall[l]))
            continue;
        struct csv_row row = {csv, 0};
        csv_row_text(&row, p->label);
        csv_row_int(&row, l);
        csv_row_number(&row, recall[l]);
        csv_row_end(&row);
    }
    printf("%-32s %8.4f %8.4f\n", p->label, mean_of(recall, layers), least_of(recall, layers));
    return 0;
}

/* Policies of several generation settings are the same instance, so each is measured once. Those that forget
 * tokens are named and left out, so that the file of a sweep can be probed as it is. */
static int probe_policies(struct calibration_run *r, struct str *csv, struct err *e)
{
    double *recall = xcalloc((size_t)engine_info(r->plan.loaded[0].engine)->n_layers, sizeof *recall);
    int rc = 0, measured = 0;
    str_puts(csv, "policy,layer,recall\n");
    printf("%-32s %8s %8s\n", "policy", "recall", "least");
    for (int i = 0; i < r->file.n_policies && !rc; i++) {
        const struct runfile_policy *p = &r->file.policies[i];
        if (recall_is_measurable(&p->spec)) {
            rc = probe_policy(r, p, recall, csv, e);
            measured++;
        } else
            printf("%-32s %8s %8s  it forgets tokens, whose places others take\n", p->label, "-", "-");
    }
    free(recall);
    if (!rc && !measured)
        return err_set(
            e, ERR_USAGE,
            "all policies forget tokens; recall is measured for those that select from all tokens");
    if (!rc)
        printf("%d problems, %ld tokens of completions\n", r->dev.n, r->dev.tokens);
    return rc;
}

static int run_probe(const struct process_env *p, int argc, char **argv)
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
        rc = probe_policies(&r, &csv, &e);
    if (!rc && o.out)
        rc = file_write_output(o.out, str_text(&csv), csv.len, &e);
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
        "reads, the mean over steps and query heads. Policies that forget tokens are left out.",
    .options = probe_table,
    .run = run_probe,
};
