/* kveval compare: two cells, two policy settings or two runs, problem by problem. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/margin.h"
#include "evalcore/commands/commands.h"
#include "evalcore/compare/compare.h"
#include "evalcore/store/grades.h"

struct compare_flags {
    struct cli_list allow;
    double margin;
    int flips, json, md, force;
    const char *out, *zh_dict;
};

enum { FLIPS_SHOWN = 5 };

static const struct cli_option compare_table[] = {
    {"allow", 0, CLI_LIST, offsetof(struct compare_flags, allow), "WHAT",
     .help = "compare although this differs: problems, prompts, grader, partial; may be repeated"},
    {"margin", 0, CLI_DOUBLE, offsetof(struct compare_flags, margin), "POINTS",
     .help = "what may be lost and still be called as good; default: the run file's margin",
     .min = MARGIN_MIN, .max = MARGIN_MAX},
    {"flips", 0, CLI_INT, offsetof(struct compare_flags, flips), "N",
     .help = "how many flipped problems to show, -1 all (default: 5, in files all)", .min = -1,
     .max = CLI_INT_MAX},
    {"json", 0, CLI_FLAG, offsetof(struct compare_flags, json), NULL, .help = "print JSON"},
    {"md", 0, CLI_FLAG, offsetof(struct compare_flags, md), NULL, .help = "print markdown"},
    {"output-path", 'o', CLI_STRING, offsetof(struct compare_flags, out), "FILE",
     .help = "write a .md, .html or .json file instead"},
    {"force", 0, CLI_FLAG, offsetof(struct compare_flags, force), NULL, .help = "replace FILE"},
    {"zh-dict", 0, CLI_STRING, offsetof(struct compare_flags, zh_dict), "DIR", .help = ZH_DICT_HELP},
    {0},
};

static int read_allowed(const struct cli_list *list, unsigned *out, struct err *e)
{
    static const char *const names[] = {"problems", "prompts", "grader", "partial", NULL};
    for (int i = 0; i < list->n; i++) {
        int k = 0;
        while (names[k] && strcmp(names[k], list->v[i]) != 0)
            k++;
        if (!names[k])
            return err_set(e, ERR_USAGE, "--allow takes problems, prompts, grader or partial, not \"%s\"",
                           list->v[i]);
        *out |= 1U << k;
    }
    return 0;
}

enum form { FORM_TEXT, FORM_MD, FORM_HTML, FORM_JSON };

static int read_form(const struct compare_flags *o, enum form *form, struct err *e)
{
    const char *dot = o->out ? strrchr(o->out, '.') : NULL;
    *form = o->json ? FORM_JSON : o->md ? FORM_MD : FORM_TEXT;
    if (o->json && o->md)
        return err_set(e, ERR_USAGE, "--json and --md: one of the two");
    if (!o->out)
        return 0;
    if (file_exists(o->out) && !o->force)
        return err_set(e, ERR_USAGE, "%s is there already; choose another file, or replace it with --force",
                       o->out);
    enum form ending = !dot                    ? FORM_TEXT
                       : !strcmp(dot, ".md")   ? FORM_MD
                       : !strcmp(dot, ".html") ? FORM_HTML
                       : !strcmp(dot, ".json") ? FORM_JSON
                                               : FORM_TEXT;
    if (*form != FORM_TEXT && ending != FORM_TEXT && ending != *form)
        return err_set(e, ERR_USAGE, "-o %s and %s ask for two forms; leave one of them out", o->out,
                       o->json ? "--json" : "--md");
    if (*form == FORM_TEXT)
        *form = ending;
    return *form == FORM_TEXT
               ? err_set(e, ERR_USAGE, "-o takes a file that ends in .md, .html or .json, not \"%s\"", o->out)
               : 0;
}

static int print_comparison(struct str *out, struct comparison *c, enum form form, int flips, int columns,
                            struct err *e)
{
    struct doc d;
    if (form == FORM_TEXT)
        return compare_text(out, c, columns, flips, e);
    if (form == FORM_JSON)
        return compare_json(out, c, flips, e);
    doc_init(&d, &c->arena, "kveval compare");
    int rc = compare_doc(&d, c, flips, e);
    if (!rc && form == FORM_MD)
        doc_markdown(out, &d);
    else if (!rc)
        doc_html(out, &d);
    doc_release(&d);
    return rc;
}

static int run_compare(const struct process_env *p, int argc, char **argv)
{
    struct compare_flags o = {.flips = -2};
    struct comparison c = {0};
    struct str out = {0};
    struct err e = {0};
    enum form form;
    unsigned allowed = 0;
    const char *args[3];
    int n;
    int code = command_parse(&cmd_compare, &o, argc, argv, args, 2, 3, &n);
    if (code >= 0)
        return code;
    int rc = read_allowed(&o.allow, &allowed, &e);
    if (!rc)
        rc = read_form(&o, &form, &e);
    if (rc)
        return command_fail(&e, EXIT_USAGE);
    struct compare_options options = {
        n == 3 ? args[0] : NULL, args[n - 2], args[n - 1], allowed, o.margin, o.zh_dict};
    rc = compare_open(&c, &options, &e);
    int flips = o.flips >= -1 ? o.flips : form == FORM_TEXT ? FLIPS_SHOWN : -1;
    if (!rc)
        rc = print_comparison(&out, &c, form, flips, p->columns, &e);
    if (!rc && o.out)
        rc = file_write_output(o.out, str_text(&out), out.len, &e);
    else if (!rc)
        fwrite(str_text(&out), 1, out.len, stdout);
    compare_release(&c);
    str_release(&out);
    return rc ? command_fail(&e, command_read_code(&e)) : EXIT_DONE;
}

const struct command cmd_compare = {
    .name = "compare",
    .usage = "[DIR] A B",
    .help = "two cells, policy settings or runs, problem by problem: test, verdict, flipped problems",
    .details = "With DIR, A and B are cells of that run, or policy settings over all their tasks: \"quest "
               "k_pages=8\".\n"
               "Names can be copied from tables: \"relay, quest k_pages=8\" is the cell of that task.\n"
               "Without, each is a run folder or RUN:CELL; a CELL alone as B is one of A's run. Runs are "
               "compared cell\n"
               "by cell where policy setting, task and generation settings are the same, and policy setting "
               "by policy\n"
               "setting over all tasks.\n"
               "Problem sets, prompts or graders that differ, and missing answers, are refused unless "
               "--allow names\n"
               "them. Differences are B - A; p is two-sided and exact, and = says that a loss of the margin "
               "is ruled out.",
    .options = compare_table,
    .run = run_compare,
};
