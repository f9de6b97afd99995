/* kveval probe: how much of full attention's mass the tokens hold that policies read, by layer, the best keys
 * of each head, or where the query of one step looks. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/csv_row.h"
#include "evalcore/base/file.h"
#include "evalcore/calibration/calibration.h"
#include "evalcore/commands/commands.h"

struct probe_options {
    struct calibration_options run;
    int keys;
    const char *steps;
};

#define RUN(member) (offsetof(struct probe_options, run) + offsetof(struct calibration_options, member))
static const struct cli_option probe_table[] = {
    {"output-path", 'o', CLI_STRING, RUN(out), "FILE.csv",
     .help =
         "recall by policy and layer; of keys the shares by layer and head, and beside them the "
         "similarity of "
         "layers and two figures; of maps the probability of each position, and beside it a figure of each "
         "step"},
    CALIBRATION_OPTIONS(RUN),
    {"keys", 0, CLI_INT, offsetof(struct probe_options, keys), "K",
     .help = "keys: how many best keys of a head (default 256)", .min = 1, .max = 1000000},
    {"steps", 0, CLI_STRING, offsetof(struct probe_options, steps), "N,N",
     .help = "maps: which decode steps, such as 900,1000"},
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

/* A line for each layer: the mean over its heads, the head that has least, the best keys of the heads' mean,
 * and how they serve the next layer. */
static int probe_keys(struct calibration_run *r, const struct probe_options *o, struct err *e)
{
    struct keys_measure m;
    int rc = measure_keys(&m, r->plan.loaded[0].engine, &r->dev, o->keys, e);
    if (rc)
        return rc;
    printf("%-8s %8s %8s %8s %12s\n", "layer", "share", "least", "of mean", "next layer's");
    for (int l = 0; l < m.n_layers; l++) {
        const double *share = m.share + (size_t)l * (size_t)m.n_q;
        printf("%-8d %8.4f %8.4f %8.4f ", m.number[l], mean_of(share, m.n_q), least_of(share, m.n_q),
               m.pooled[l]);
        if (l + 1 < m.n_layers)
            printf("%12.4f\n", m.similarity[l * m.n_layers + l + 1]);
        else
            printf("%12s\n", "-");
    }
    printf("%d problems, %ld steps with more than %d keys\n", r->dev.n, m.steps, m.keys);
    if (o->run.out)
        rc = keys_measure_write(&m, o->run.out, e);
    keys_measure_release(&m);
    return rc;
}

/* The numbers of --steps. */
static int read_steps(int *steps, int *n, const char *text, struct err *e)
{
    *n = 0;
    while (text && *text) {
        char name[16];
        long step = 0;
        size_t len = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), text);
        if (*n == MAPS_MAX)
            return err_set(e, ERR_USAGE, "--steps has more than %d steps", MAPS_MAX);
        if (cli_int(name, 1, CLI_INT_MAX, &step))
            return err_set(e, ERR_USAGE, "--steps has \"%s\", which is no number from 1 on", name);
        for (int i = 0; i < *n; i++)
            if (steps[i] == (int)step)
                return err_set(e, ERR_USAGE, "--steps has %ld twice", step);
        steps[(*n)++] = (int)step;
        text += len + (text[len] == ',' && text[len + 1]);
    }
    return *n ? 0 : err_set(e, ERR_USAGE, "say which decode steps with --steps, such as --steps 900,1000");
}

/* A line for each step and layer: what the first token, the prompt and the last 128 tokens hold. */
static void print_maps(const struct map_measure *m)
{
    printf("%-6s %-6s %9s %9s %9s\n", "step", "layer", "first", "prompt", "last 128");
    for (int i = 0; i < m->n_maps; i++)
        for (int l = 0; l < m->n_layers; l++) {
            const struct attention_map *map = &m->map[i];
            const double *p = map->p + (size_t)l * (size_t)map->n;
            double prompt = 0, last = 0;
            for (int t = 0; t < map->n; t++) {
                prompt += t < m->n_prompt ? p[t] : 0;
                last += t >= map->n - 128 ? p[t] : 0;
            }
            printf("%-6d %-6d %9.4f %9.4f %9.4f\n", map->step, m->number[l], p[0], prompt, last);
        }
}

static int probe_maps(struct calibration_run *r, const struct probe_options *o, const int *steps, int n,
                      struct err *e)
{
    struct map_measure m;
    const struct dev_problem *p = &r->dev.problems[0];
    int rc = measure_maps(&m, r->plan.loaded[0].engine, p, steps, n, e);
    if (rc)
        return rc;
    print_maps(&m);
    printf("the first problem of %s: %d tokens of prompt, %d of completion\n", p->task, p->n_prompt,
           p->n - p->n_prompt);
    if (o->run.out)
        rc = map_measure_write(&m, o->run.out, e);
    map_measure_release(&m);
    return rc;
}

static int run_probe(const struct process_env *p, int argc, char **argv)
{
    struct probe_options o = {.run = CALIBRATION_DEFAULTS, .keys = 256};
    struct calibration_run r = {0};
    struct err e = {0};
    struct str csv = {0};
    const char *args[2];
    int n, code = command_parse(&cmd_probe, &o, argc, argv, args, 2, 2, &n), rc = 0;
    if (code >= 0)
        return code;
    int is_keys = !strcmp(args[0], "keys"), is_maps = !strcmp(args[0], "maps");
    int steps[MAPS_MAX], n_steps = 0;
    if (!is_keys && !is_maps && strcmp(args[0], "recall"))
        rc = err_set(&e, ERR_USAGE, "\"%s\" cannot be probed; recall, keys and maps can", args[0]);
    if (!rc && is_maps)
        rc = read_steps(steps, &n_steps, o.steps, &e);
    if (is_maps && !o.run.limit)
        o.run.limit = 1;
    if (!rc)
        rc = calibration_run_open(&r, p, args[1], &o.run, &e);
    if (!rc && is_keys)
        rc = probe_keys(&r, &o, &e);
    else if (!rc && is_maps)
        rc = probe_maps(&r, &o, steps, n_steps, &e);
    else if (!rc)
        rc = probe_policies(&r, &csv, &e);
    if (!rc && !is_keys && !is_maps && o.run.out)
        rc = file_write_output(o.run.out, str_text(&csv), csv.len, &e);
    calibration_run_close(&r);
    str_release(&csv);
    return rc ? command_fail(&e, rc == ERR_DEVICE ? EXIT_INCOMPLETE : EXIT_USAGE) : EXIT_DONE;
}

const struct command cmd_probe = {
    .name = "probe",
    .usage = "recall|keys|maps RUN.json [-o FILE.csv]",
    .help = "measure how much attention the tokens hold that policies read, or where full attention lies",
    .details =
        "Completions of full attention are decoded again under each policy of RUN.json, token by token as "
        "they stand.\nRecall is the share of full attention's probability on the tokens that a layer "
        "reads, the mean over steps and query heads. Policies that forget tokens are left out.\n"
        "keys looks at full attention alone, whatever the policies of RUN.json: what the --keys best keys of "
        "each layer "
        "and head hold, and how well those of one layer serve another.\n"
        "maps looks at the decode steps --steps of the first problem alone: how full attention's probability "
        "lies over positions and layers.",
    .options = probe_table,
    .run = run_probe,
};
