/* kveval calibrate: which layers of a model should choose for the others, measured on development problems
 * (docs/calibration.md). */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/calibration/calibration.h"
#include "evalcore/commands/commands.h"

struct calibrate_options {
    struct calibration_options run;
    int n_layers, k_pages, l_pages;
};

#define RUN(member) (offsetof(struct calibrate_options, run) + offsetof(struct calibration_options, member))
#define AT(member)  offsetof(struct calibrate_options, member)
static const struct cli_option calibrate_table[] = {
    {"output-path", 'o', CLI_STRING, RUN(out), "FILE.json",
     .help = "what was found; .csv, .svg and .curve.svg beside it"},
    CALIBRATION_OPTIONS(RUN),
    {"layers", 0, CLI_INT, AT(n_layers), "N",
     .help = "how many anchors (default 5, layer 0 among them) or refresh layers (default 3) to propose",
     .min = 1, .max = 8},
    {"k-pages", 0, CLI_INT, AT(k_pages), "K", .help = "delta: pages that a layer chooses (default 64)",
     .min = 1, .max = 1000000},
    {"l-pages", 0, CLI_INT, AT(l_pages), "L", .help = "delta: of these, the most recent (default 8)",
     .min = 1, .max = 1000000},
    {0},
};

static void print_calibration(const struct calibration *c, const int *proposed)
{
    struct str line = {0};
    double mean = 0;
    for (int i = 0; i < c->n_choose; i++)
        str_printf(&line, "%s%d", i ? "+" : "", proposed[i]);
    printf("%s=%s\n", strcmp(c->policy, "delta") ? "anchors" : "layers", str_text(&line));
    for (int l = 1; l < c->measure->n_layers; l++)
        mean += c->measure->curve[l] / (c->measure->n_layers - 1);
    if (!strcmp(c->policy, "delta"))
        printf("mean cosine distance between neighbouring layers %.3f (paper: .733, .631 and .323 for 1.5B, "
               "7B and 14B)\n",
               mean);
    for (int i = 0; i < c->measure->n_tasks; i++) {
        double of_task = 0;
        for (int l = 1; l < c->measure->n_layers; l++)
            of_task += c->measure->by_task[i].curve[l] / (c->measure->n_layers - 1);
        printf("  %s %.3f\n", c->measure->by_task[i].task, of_task);
    }
    printf("%d problems, %ld tokens of completions\n", c->dev->n, c->dev->tokens);
    str_release(&line);
}

static int run_measure(struct calibration *c, const struct calibrate_options *o, struct calibration_run *r,
                       struct err *e)
{
    struct layer_measure m = {0};
    int proposed[8], kascade = !strcmp(c->policy, "kascade");
    struct engine *en = r->plan.loaded[0].engine;
    const char *slash = strrchr(r->file.models[0].path, '/'); /* not where it lies on this machine */
    c->model = slash && slash[1] ? slash + 1 : r->file.models[0].path;
    c->weights = engine_info(en)->weights;
    c->n_choose = o->n_layers ? o->n_layers : kascade ? 5 : 3;
    c->k_pages = o->k_pages;
    c->l_pages = o->l_pages;
    c->max_new = o->run.max_new;
    c->dev = &r->dev;
    c->measure = &m;
    int rc = kascade ? measure_kascade(&m, en, &r->dev, e)
                     : measure_delta(&m, en, &r->dev, o->k_pages, o->l_pages, e);
    if (!rc)
        rc = calibration_write(c, o->run.out, proposed, e);
    if (!rc)
        print_calibration(c, proposed);
    layer_measure_release(&m);
    return rc;
}

static int run_calibrate(const struct process_env *p, int argc, char **argv)
{
    struct calibrate_options o = {.run = CALIBRATION_DEFAULTS, .k_pages = 64, .l_pages = 8};
    struct calibration c = {0};
    struct calibration_run r = {0};
    struct err e = {0};
    const char *args[2];
    int n, code = command_parse(&cmd_calibrate, &o, argc, argv, args, 2, 2, &n), rc = 0;
    if (code >= 0)
        return code;
    c.policy = args[0];
    if (strcmp(c.policy, "kascade") && strcmp(c.policy, "delta"))
        rc = err_set(&e, ERR_USAGE, "\"%s\" cannot be calibrated; kascade and delta can", c.policy);
    else if (!o.run.out)
        rc = err_set(&e, ERR_USAGE, "no file was given; name one with -o FILE.json");
    else if (o.l_pages > o.k_pages)
        rc = err_set(&e, ERR_USAGE, "--l-pages is above --k-pages; the recent pages are part of them");
    if (!rc)
        rc = calibration_run_open(&r, p, args[1], &o.run, &e);
    if (!rc)
        rc = run_measure(&c, &o, &r, &e);
    calibration_run_close(&r);
    return rc ? command_fail(&e, rc == ERR_DEVICE ? EXIT_INCOMPLETE : EXIT_USAGE) : EXIT_DONE;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .usage = "kascade|delta RUN.json -o FILE.json",
    .help = "find the layers of a model that should choose for the others",
    .details = "RUN.json names the model and the tasks of development problems; give it the policy \"full\" "
               "alone.\nA run file's policy takes the result as \"calibration\": \"FILE.json\".",
    .options = calibrate_table,
    .run = run_calibrate,
};
