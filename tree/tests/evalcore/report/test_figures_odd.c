/* Every figure of runs that a reader would not expect: nothing decoded, one cell, all equal, names that try
 * to be markup. Each file must be XML, without numbers that are none. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#include "evalcore/base/log.h"
#include "evalcore/report/report.h"
#include "tests/check.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

#define EVIL "</title><script>alert(1)</script>\"'&]]>\xff\x01 k_pages="
static const struct fake_policy plain[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1},
    {"delta", "delta k_pages=8 l_pages=2", "{\"k_pages\":8,\"l_pages\":2}", "8", "2", "", "k_pages", "8", "r",
     0.4, 1},
    {"delta", "delta k_pages=8 l_pages=4", "{\"k_pages\":8,\"l_pages\":4}", "8", "4", "", "k_pages", "8", "r",
     0.4, 1},
    {"delta", "delta k_pages=16 l_pages=2", "{\"k_pages\":16,\"l_pages\":2}", "16", "2", "", "k_pages", "16",
     "r", 0.6, 1},
    {"delta", "delta k_pages=16 l_pages=4", "{\"k_pages\":16,\"l_pages\":4}", "16", "4", "", "k_pages", "16",
     "r", 0.6, 1},
};
static const struct fake_policy evil[] = {
    {"full", EVIL "0", "{}", "", "", "", "", "", EVIL, 1, 1},
    {"quest", EVIL "4", "{\"k_pages\":4}", "4", "", "", "k_pages", "4", EVIL, 0.2, 1},
    {EVIL, EVIL "8", EVIL, "8", "2", "", "k_pages", "<8>", EVIL, 0.4, 1},
    {EVIL, EVIL "16", EVIL, "16", "4", "", "k_pages", "<16>", EVIL, 0.6, 1},
};
static const struct fake_task two[] = {{"relay", "relay", "accuracy", 0, 930, 346},
                                       {"lookup", "lookup", "accuracy", -1, 60, 900}};
static const struct fake_task evil_task[] = {
    {"relay", "<img src=x onerror=alert(1)>", "accuracy", 0, 930, 346}};

static const struct odd {
    const char *what;
    struct fake_options o;
    int all_equal, no_records, is_huge, temperature;
    int figures; /* at least */
} runs[] = {
    {"as usual, two tasks", {plain, 5, two, 2, 12, 4, 1400, 0, 1}, 0, 0, 0, 1, 16},
    {"nothing decoded yet", {plain, 5, two, 2, 12, 1, 1400, 0, 1}, 0, 1, 0, 0, 0},
    {"one cell", {plain, 1, two, 1, 12, 1, 1400, 0, 1}, 0, 0, 0, 0, 3},
    {"one problem", {plain, 5, two, 2, 1, 1, 1400, 0, 1}, 0, 0, 0, 0, 14},
    {"all equal, one length, all right", {plain, 5, two, 2, 6, 1, 1400, 0, 1}, 1, 0, 0, 0, 14},
    {"all cut off", {plain, 5, two, 2, 6, 2, 4, 0, 1}, 0, 0, 0, 1, 14},
    {"unfinished", {plain, 5, two, 2, 9, 4, 1400, 3, 1}, 0, 0, 0, 1, 14},
    {"names that try to be markup", {evil, 4, evil_task, 1, 9, 4, 1400, 0, 1}, 0, 0, 0, 1, 6},
    {"counts as large as they get", {plain, 5, two, 2, 6, 2, 1400, 0, 1}, 0, 0, 1, 1, 14},
};

static void bend_run(struct run *r, const struct odd *w)
{
    for (int i = 0; i < r->n_cells; i++) {
        struct cell *c = &r->cells[i];
        c->temperature = w->temperature;
        if (w->no_records)
            c->n_records = 0;
        for (int k = 0; w->all_equal && k < c->n_records; k++) {
            struct record *rec = (struct record *)&c->records[k];
            *rec = c->records[0];
            rec->problem = k;
            rec->finish = FINISHED_STOP;
            rec->verdict = VERDICT_CORRECT;
            rec->score = 1;
        }
        for (int k = 0; w->is_huge && k < c->n_records; k++) { /* their sums were of ints */
            struct record *rec = (struct record *)&c->records[k];
            rec->tokens = rec->prompt_tokens = INT_MAX;
        }
    }
    if (w->no_records)
        r->n_done = 0;
}

/* Tags nest and close, and nothing but figures' elements is there. */
static int is_figure(const char *p)
{
    char stack[16][12];
    int depth = 0;
    for (; (p = strchr(p, '<')) != NULL; p = strchr(p, '>')) {
        static const char *const known[] = {"svg", "title", "desc", "style", "g", "path", "rect", "text"};
        const char *end = strchr(p, '>');
        size_t slash = p[1] == '/', n = strcspn(p + 1 + slash, " >/\n");
        size_t k = 0;
        while (k < 8 && (strlen(known[k]) != n || strncmp(known[k], p + 1 + slash, n) != 0))
            k++;
        if (!end || k == 8)
            return 0;
        if (slash) {
            if (!depth || strcmp(stack[--depth], known[k]) != 0)
                return 0;
        } else if (end[-1] != '/') {
            if (depth == 16)
                return 0;
            snprintf(stack[depth++], sizeof stack[0], "%s", known[k]);
        }
    }
    return depth == 0;
}

static int check_files(const char *what)
{
    struct str text = {0};
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *f; d && (f = readdir(d)) != NULL;) {
        size_t len = strlen(f->d_name);
        if (len < 4 || strcmp(f->d_name + len - 4, ".svg") != 0)
            continue;
        const char *svg = read_file(&text, f->d_name);
        int ok = is_figure(svg) && !strstr(svg, "\"nan") && !strstr(svg, " nan") && !strstr(svg, "Mnan") &&
                 !strstr(svg, "inf\"") && !strstr(svg, "alert(1)</script") && !count_text(svg, "<img") &&
                 !strchr(svg, '\x01') && strstr(svg, " width=\"") && strstr(svg, " height=\"");
        if (!ok)
            fprintf(stderr, "%s: %s\n", what, f->d_name);
        CHECK(ok);
        n++;
    }
    if (d)
        closedir(d);
    str_release(&text);
    return n;
}

int main(void)
{
    struct err e = {0};
    log_set_quiet(1);
    open_folder("test_figures_odd");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct run r;
        fake_run(&r, &runs[i].o);
        bend_run(&r, &runs[i]);
        CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
        int n = check_files(runs[i].what);
        if (n < runs[i].figures)
            fprintf(stderr, "%s: %d figures\n", runs[i].what, n);
        CHECK(n >= runs[i].figures && (n == 0) == runs[i].no_records && is_written("report.md"));
        file_remove_tree(folder, &e);
        fake_release(&r);
    }
    return check_done();
}
