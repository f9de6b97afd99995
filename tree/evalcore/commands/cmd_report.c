/* kveval report and score: everything here is rebuilt from the journals of a run folder. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/base/margin.h"
#include "evalcore/commands/commands.h"
#include "evalcore/gate/gate.h"
#include "evalcore/report/report.h"
#include "evalcore/store/grades.h"
#include "evalcore/store/run.h"

enum { RUNS_MAX = 64 }; /* that one page merges */

struct report_flags {
    const char *against, *bench, *history, *zh_dict;
    double margin; /* 0: what the run folder says */
    int transcripts;
    const char *out;       /* NULL: DIR/report */
    const char *cache_dir; /* no option: of the process */
};

static const struct cli_option report_table[] = {
    {"against", 0, CLI_STRING, offsetof(struct report_flags, against), "OLD",
     .help = "compare with another run folder"},
    {"bench", 0, CLI_STRING, offsetof(struct report_flags, bench), "FILE",
     .help = "draw the parts of a decode step that kveval bench components printed into this file"},
    {"history", 0, CLI_STRING, offsetof(struct report_flags, history), "FILE",
     .help = "draw the nights of a history that kveval gate keeps as a control chart"},
    {"margin", 0, CLI_DOUBLE, offsetof(struct report_flags, margin), "POINTS",
     .help = "what may be lost and still be called as good as the baseline; default: the run file's margin",
     .min = MARGIN_MIN, .max = MARGIN_MAX},
    {"out", 'o', CLI_STRING, offsetof(struct report_flags, out), "FOLDER",
     .help = "write the page here; default DIR/report, needed when several runs are merged"},
    {"transcripts", 0, CLI_FLAG, offsetof(struct report_flags, transcripts), NULL,
     .help = "write the prompts and completions beside the page, which leads to them"},
    {"zh-dict", 0, CLI_STRING, offsetof(struct report_flags, zh_dict), "DIR", .help = ZH_DICT_HELP},
    {0},
};

/* As sweep says it, which would decode them again. */
static void warn_damaged(const struct run *r)
{
    if (r->n_bad_lines)
        log_warn(
            "%ld journal lines are damaged; their jobs are missing here, and kveval sweep decodes them again",
            r->n_bad_lines);
    if (r->n_conflicts)
        log_warn("%ld jobs were decoded twice with different tokens: results are not reproducible here",
                 r->n_conflicts);
}

/* On the page as well: whoever reads it may not be who edited the model. */
static void warn_changed_models(struct run *r, const char *cache_dir)
{
    r->n_changed_models = run_changed_models(r->config, cache_dir, 0, &r->arena, &r->changed_models);
    for (int i = 0; i < r->n_changed_models; i++)
        log_warn("%s: %s", r->dir, r->changed_models[i]);
}

static int count_missing(const struct run *r)
{
    if (r->n_done == r->n_expected)
        return 0;
    log_info(
        "%ld of %ld jobs are missing; short completions finish first, so these numbers lean towards them",
        r->n_expected - r->n_done, r->n_expected);
    return 1;
}

/* 0; or why nothing can be written into the folder or file. */
static int why_read_only(const char *path)
{
    return access(path, W_OK) && (errno == EROFS || errno == EACCES) ? errno : 0;
}

/* Grades can be made again: a folder that cannot be written to still gets its page elsewhere. */
static int keep_grades(const struct run *r, struct err *e)
{
    struct str folder = {0};
    struct err why = {0};
    file_join(&folder, r->dir, "grades");
    int is_read_only = why_read_only(file_is_dir(folder.data) ? folder.data : r->dir) != 0;
    str_release(&folder);
    int rc = grades_save(r, &why);
    if (rc && is_read_only) {
        log_warn("%s; the grades are not kept, and the next report makes them again", why.text);
        return 0;
    }
    return rc ? err_set(e, rc, "%s", why.text) : 0;
}

/* ERR_IO, with the way out, where the page is to be written into a folder that cannot be written to. */
static int check_writable(const char *dir, struct err *e)
{
    struct str folder = {0};
    file_join(&folder, dir, "report");
    int cause = why_read_only(file_is_dir(folder.data) ? folder.data : dir);
    str_release(&folder);
    return cause ? err_set(e, file_error_code(cause),
                           "%s cannot be written to: %s; write the page elsewhere with -o FOLDER", dir,
                           err_reason(cause))
                 : 0;
}

/* How much is missing is said, and new grades are kept. */
static int load_run(struct run *r, const char *dir, const struct report_flags *o, struct err *e)
{
    int rc = run_load_with(r, dir, &(struct run_options){.zh_dict = o->zh_dict}, e);
    if (rc)
        return ERR_USAGE; /* whatever the folder lacks */
    warn_damaged(r);
    warn_changed_models(r, o->cache_dir);
    count_missing(r);
    rc = r->n_graded || r->n_changed_grades ? keep_grades(r, e) : 0;
    if (rc)
        run_release(r);
    return rc;
}

/* Nights as the options of a report take them; the history lives in the arena. */
struct nights {
    struct gate_history history;
    struct arena arena;
};

static void add_nights(struct doc *d, const void *nights)
{
    const struct nights *n = nights;
    gate_nights(d, &n->history, "nights.svg", NULL);
}

static int read_nights(struct nights *n, const char *file, struct err *e)
{
    if (!file)
        return 0;
    if (!file_exists(file))
        return err_set(e, ERR_USAGE, "%s: there is no such history; kveval gate --history FILE writes one",
                       file);
    return gate_history_read(&n->history, file, &n->arena, e);
}

static int write_report(const struct run *r, const struct report_flags *o, const struct nights *n,
                        struct str *table, struct err *e)
{
    struct run old = {0};
    struct str folder = {0};
    int rc =
        o->against ? run_load_with(&old, o->against, &(struct run_options){.zh_dict = o->zh_dict}, e) : 0;
    file_join(&folder, r->dir, "report");
    if (!rc && !o->out)
        rc = file_mkdir_own(folder.data, e);
    if (!rc)
        rc = report_write_with(r,
                               &(struct report_options){.against = o->against ? &old : NULL,
                                                        .transcripts = o->transcripts,
                                                        .bench = o->bench,
                                                        .add_nights = o->history ? add_nights : NULL,
                                                        .nights = n},
                               o->out ? o->out : str_text(&folder), table, e);
    str_release(&folder);
    run_release(&old);
    return rc;
}

static int report_merged(const char **dirs, int n, const struct report_flags *o, const struct nights *nights,
                         struct str *table, struct err *e)
{
    struct run runs[RUNS_MAX] = {0};
    int rc = 0, loaded = 0;
    if (o->against)
        return err_set(e, ERR_USAGE,
                       "--against compares one run with another; leave it out when runs are merged");
    if (!o->out)
        return err_set(e, ERR_USAGE, "%d runs become one page: say where with -o FOLDER", n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(dirs[i], dirs[k]))
                return err_set(e, ERR_USAGE, "%s is named twice; name each run once", dirs[i]);
    while (loaded < n && !(rc = load_run(&runs[loaded], dirs[loaded], o, e)))
        loaded++;
    if (!rc)
        rc = report_write_merged(runs, n, o->margin,
                                 &(struct report_options){.transcripts = o->transcripts,
                                                          .bench = o->bench,
                                                          .add_nights = o->history ? add_nights : NULL,
                                                          .nights = nights},
                                 o->out, table, e);
    while (loaded)
        run_release(&runs[--loaded]);
    return rc;
}

static int report_one(const char *dir, const struct report_flags *o, const struct nights *n,
                      struct str *table, struct err *e)
{
    struct run r;
    int rc = o->out ? 0 : check_writable(dir, e);
    if (!rc)
        rc = load_run(&r, dir, o, e);
    if (rc)
        return rc;
    if (o->margin > 0)
        r.margin = o->margin;
    rc = write_report(&r, o, n, table, e);
    run_release(&r);
    return rc;
}

static int run_report(const struct process_env *p, int argc, char **argv)
{
    struct report_flags o = {0};
    struct nights nights = {0};
    struct str table = {0};
    struct err e = {0};
    const char *dirs[RUNS_MAX];
    int n, code = command_parse(&cmd_report, &o, argc, argv, dirs, 1, RUNS_MAX, &n);
    if (code >= 0)
        return code;
    o.cache_dir = p->cache_dir;
    int rc = read_nights(&nights, o.history, &e);
    if (!rc)
        rc = n > 1 ? report_merged(dirs, n, &o, &nights, &table, &e)
                   : report_one(dirs[0], &o, &nights, &table, &e);
    if (!rc)
        printf("%s\nreport: %s%s/report.md and index.html\n", str_text(&table), o.out ? o.out : dirs[0],
               o.out ? "" : "/report");
    str_release(&table);
    arena_release(&nights.arena);
    return rc ? command_fail(&e, rc == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE) : EXIT_DONE;
}

const struct command cmd_report = {
    .name = "report",
    .usage = "DIR... [-o FOLDER] [--against OLD] [--bench FILE] [--history FILE] [--margin POINTS] "
             "[--transcripts]",
    .help = "write DIR/report from the journals, finished or not; several runs as one page",
    .options = report_table,
    .run = run_report,
};

static int run_score(const struct process_env *p, int argc, char **argv)
{
    enum { CHANGES_SHOWN = 20 };
    struct str changes = {0};
    struct err e = {0};
    struct run r;
    const char *dir;
    struct report_flags o = {0};
    int n, count[VERDICT_COUNT] = {0};
    int code = command_parse(&cmd_score, &o, argc, argv, &dir, 1, 1, &n);
    if (code >= 0)
        return code;
    if (run_load_with(&r, dir, &(struct run_options){.grades = RUN_GRADES_NEW, .zh_dict = o.zh_dict}, &e))
        return command_fail(&e, EXIT_USAGE);
    warn_changed_models(&r, p->cache_dir);
    for (int c = 0; c < r.n_cells; c++)
        for (int i = 0; i < r.cells[c].n_records; i++)
            count[r.cells[c].records[i].verdict] += !r.cells[c].records[i].likelihood;
    int rc = grades_save(&r, &e);
    if (!rc) {
        printf("grader %s, %ld of %ld completions:", r.grader, r.n_done, r.n_expected);
        for (int v = 0; v < VERDICT_COUNT; v++)
            printf("%s %d %s", v ? "," : "", count[v], verdict_name((enum verdict)v));
        printf("\n");
        rc = grades_changes(&r, CHANGES_SHOWN, &changes, &e);
        fputs(str_text(&changes), stdout);
    }
    if (!rc)
        rc = report_write(&r, NULL, &e);
    str_release(&changes);
    run_release(&r);
    return rc ? command_fail(&e, EXIT_INCOMPLETE) : EXIT_DONE;
}

static const struct cli_option score_table[] = {
    {"zh-dict", 0, CLI_STRING, offsetof(struct report_flags, zh_dict), "DIR", .help = ZH_DICT_HELP},
    {0},
};

const struct command cmd_score = {
    .name = "score",
    .usage = "DIR",
    .help = "grade a run folder anew, without decoding; its report, and what an older grader said otherwise",
    .options = score_table,
    .run = run_score,
};
