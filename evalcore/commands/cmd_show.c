/* kveval show: one problem of one cell for a person to read: prompt, completion, answer, verdict and its
 * reason. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/commands/commands.h"
#include "evalcore/store/option_grade.h"
#include "evalcore/store/run.h"

struct show_options {
    int sample, ids;
};

static const struct cli_option show_table[] = {
    {"sample", 0, CLI_INT, offsetof(struct show_options, sample), "N",
     .help = "which sample, from 0 (default: all)", .min = 0, .max = CLI_INT_MAX},
    {"ids", 0, CLI_FLAG, offsetof(struct show_options, ids), NULL, .help = "print token ids as well"},
    {0},
};

/* By id, or by number from 0. */
static int find_problem(const struct cell *c, const char *name, struct err *e)
{
    long number;
    for (int i = 0; i < c->task->n_problems; i++)
        if (!strcmp(c->task->problems[i].id, name))
            return i;
    if (!cli_int(name, 0, c->task->n_problems - 1, &number))
        return (int)number;
    err_set(e, ERR_USAGE,
            "cell %s has no problem \"%s\"; its %d problems are named like \"%s\", or count from 0", c->id,
            name, c->task->n_problems, c->task->n_problems ? c->task->problems[0].id : "");
    return -1;
}

static void print_text(const char *title, const char *text, size_t n)
{
    printf("---- %s\n", title);
    fwrite(text, 1, n, stdout);
    printf("%s", n && text[n - 1] == '\n' ? "" : "\n");
}

/* As the model got it, between marks what is not the task's. A folder of an earlier version holds the task's
 * text alone; what stood around that is in its configuration, in parts. */
static void print_prompt(const struct cell *c, const struct run_problem *p)
{
    static const char *const open = "\xe2\x9f\xa6", *const close = "\xe2\x9f\xa7"; /* U+27E6, U+27E7 */
    struct str text = {0}, marked = {0};
    size_t own[2];
    if (!run_prompt(p, &text, own)) {
        print_text(c->task->is_text          ? "prompt"
                   : c->task->option_metrics ? "context of the options"
                   : p->is_rendered          ? "prompt, as the task renders it"
                                             : "the task's text, without what was put around it",
                   p->prompt, p->prompt_len);
        if (!c->task->is_text && !c->task->option_metrics)
            printf(
                "The model got %d tokens. This folder is of an earlier version and does not keep what chat "
                "form,\nprefix and suffix added; config.resolved.json names them. Repeat the sweep's "
                "command: "
                "finished\nanswers stay, and the prompts are written as the model got them.\n",
                p->prompt_tokens);
    } else {
        if (own[0])
            str_puts(&marked, open);
        str_add(&marked, text.data, own[0]);
        if (own[0])
            str_puts(&marked, close);
        str_add(&marked, str_text(&text) + own[0], own[1] - own[0]);
        if (own[1] < text.len) {
            str_puts(&marked, open);
            str_add(&marked, text.data + own[1], text.len - own[1]);
            str_puts(&marked, close);
        }
        printf("---- prompt, %d tokens%s\n", p->prompt_tokens,
               own[0] || own[1] < text.len
                   ? "; between \xe2\x9f\xa6 and \xe2\x9f\xa7 what is not the task's own text"
                   : "");
        fwrite(str_text(&marked), 1, marked.len, stdout);
        printf("\n");
        if (p->asked)
            printf("(%zu of the task's %zu bytes: the middle was cut out, or the template trimmed it)\n",
                   p->asked_len, p->prompt_len);
    }
    str_release(&text);
    str_release(&marked);
}

static void print_verdict(const struct record *rec)
{
    printf("---- verdict\n%s: %s\n", verdict_name(rec->verdict), rec->reason);
    printf("answer read: %s\n", *rec->pred_form ? rec->pred_form : "(none)");
    printf("compared with: %s\n", *rec->gold_form ? rec->gold_form : "(nothing)");
    if (rec->finish == FINISHED_ERROR)
        printf("the job failed: %s\n", rec->error);
}

static void print_likelihood(const struct likelihood *l)
{
    struct likelihood_bucket sum = likelihood_total(l);
    printf("---- likelihood\n%.4f bits per byte (%d tokens, %lld bytes); divergence from its reference %.3g "
           "nats a token, the same likeliest token at %.1f %%\n",
           sum.bits / (double)sum.bytes, sum.tokens, (long long)sum.bytes, sum.kl / sum.tokens,
           100 * (double)sum.agree / sum.tokens);
}

/* What was scored of each option, with marks at the one that is right and at those that are chosen. */
static void print_options(const struct record *rec, const struct run_task *t, const struct run_problem *p)
{
    enum option_metric first, second;
    int is_known = option_metrics_read(t->option_metrics, &first, &second);
    printf("---- options\n   log-likelihood  tokens   by length\n");
    for (int i = 0; i < rec->options->n; i++) {
        const struct option_score *o = &rec->options->option[i];
        printf("%c  %14.6f  %6d  %10.6f%s%s", 'A' + i, o->logprob, o->tokens,
               o->logprob / p->option_lengths[i], i < p->n_option_texts ? "  " : "",
               i < p->n_option_texts ? p->option_texts[i] : "");
        for (int k = 0; k < 2 && is_known; k++) {
            enum option_metric m = k ? second : first;
            if (m != OPTION_METRICS && option_choose(rec->options, p->option_lengths, m) == i)
                printf("  <- %s", option_metric_name(m));
        }
        printf("\n");
    }
}

static int show_record(const struct run *r, const struct cell *c, const struct record *rec, int ids,
                       struct err *e)
{
    struct str text = {0}, list = {0};
    char title[200];
    int rc = run_text(r, rec, &text, e);
    if (!rc && ids)
        rc = run_ids(r, rec, &list, e);
    if (!rc) {
        snprintf(title, sizeof title, "completion, sample %d: %d tokens, finish %s", rec->sample, rec->tokens,
                 finish_name(rec->finish));
        if (rec->options)
            print_options(rec, c->task, &c->task->problems[rec->problem]);
        else
            print_text(title, str_text(&text), text.len);
        if (ids)
            print_text("token ids", str_text(&list), list.len);
        if (rec->likelihood)
            print_likelihood(rec->likelihood);
        else
            print_verdict(rec);
        if (isnan(rec->kv.reads))
            printf("KV read: not counted, another engine decoded it; %.2f s\n", rec->seconds);
        else
            printf("KV read: %.0f of %.0f tokens (%.3f), most held %.0f; %.2f s in the batch\n",
                   rec->kv.reads, rec->kv.reads_full,
                   rec->kv.reads_full > 0 ? rec->kv.reads / rec->kv.reads_full : 1.0, rec->kv.peak_tokens,
                   rec->seconds);
        printf("key %s in %s\n", rec->key, r->journals[rec->journal]);
    }
    str_release(&text);
    str_release(&list);
    return rc;
}

static int show_completion(const struct run *r, const char *cell, const char *name,
                           const struct show_options *o, struct err *e)
{
    int c = run_find_cell(r, cell, e), shown = 0, rc = 0;
    int problem = c < 0 ? -1 : find_problem(&r->cells[c], name, e);
    if (problem < 0)
        return ERR_USAGE;
    if (o->sample >= r->cells[c].samples)
        return err_set(e, ERR_USAGE,
                       "cell %s has %d sample%s of a problem, counted from 0; there is no sample %d",
                       r->cells[c].id, r->cells[c].samples, r->cells[c].samples == 1 ? "" : "s", o->sample);
    const struct run_problem *p = &r->cells[c].task->problems[problem];
    printf("cell %s\npolicy %s: %s\ntask %s, problem %s\n", r->cells[c].id, r->cells[c].policy_label,
           r->cells[c].budget_rule, r->cells[c].task->label, p->id);
    if (p->option_order)
        printf("options shown as A, B, ...: the record's %s\n", p->option_order);
    if (p->prompt)
        print_prompt(&r->cells[c], p);
    else
        printf("---- prompt\n%d tokens; its text is not kept: the data set's authors ask that no example be "
               "published\n",
               p->prompt_tokens);
    if (p->answer_prefix && !p->before)
        print_text("beginning of the answer, which the completion continues", p->answer_prefix,
                   strlen(p->answer_prefix));
    printf("---- reference answer%s\n", p->n_golds > 1 ? "s" : "");
    for (int i = 0; i < p->n_golds; i++)
        printf("%s\n", p->golds[i]);
    if (!p->n_golds)
        printf("%s\n", p->gold);
    for (int i = 0; i < r->cells[c].n_records && !rc; i++) {
        const struct record *rec = &r->cells[c].records[i];
        if (rec->problem != problem || (o->sample >= 0 && rec->sample != o->sample))
            continue;
        rc = show_record(r, &r->cells[c], rec, o->ids, e);
        shown++;
    }
    if (!rc && !shown)
        return err_set(e, ERR_IO, "this problem has not been decoded yet; repeat the sweep to go on");
    return rc;
}

static int run_show(const struct process_env *p, int argc, char **argv)
{
    struct show_options o = {.sample = -1};
    struct err e = {0};
    struct run r;
    const char *args[3];
    int n;
    (void)p;
    int code = command_parse(&cmd_show, &o, argc, argv, args, 3, 3, &n);
    if (code >= 0)
        return code;
    if (run_load(&r, args[0], &e))
        return command_fail(&e, EXIT_USAGE);
    int rc = show_completion(&r, args[1], args[2], &o, &e);
    run_release(&r);
    return rc ? command_fail(&e, rc == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE) : EXIT_DONE;
}

const struct command cmd_show = {
    .name = "show",
    .usage = "DIR CELL PROBLEM",
    .help = "print prompt, completion, answer and verdict of one problem, with the reason",
    .details =
        "CELL is the name of a folder under DIR/cells, a part of such a name, or a label. PROBLEM is an "
        "id, or a number\ncounted from 0.",
    .options = show_table,
    .run = run_show,
};
