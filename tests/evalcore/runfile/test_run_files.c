/* The run files of runs/: each is read, and has the number of cells that its row in run_files.test says. */
#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile.h"
#include "tests/cases.h"

/* "delta_fig3.json 40 4": file, cells, figures */
static void check_row(const char *row, const char *where)
{
    struct runfile f;
    struct runfile_options o = {.takes_endpoint = 1, .takes_models = 1};
    struct err e = {0};
    char name[100], path[400];
    int cells, figures, got = sscanf(row, "%99s %d %d", name, &cells, &figures);
    CHECK_INT(got, 3);
    if (got != 3)
        return;
    snprintf(path, sizeof path, SOURCE_DIR "/runs/%s", name);
    int rc = runfile_load(&f, path, &o, &e), before = check_failures;
    CHECK_INT(rc, 0);
    if (!rc) {
        int pairs = 0; /* of a policy with a model */
        for (int p = 0; p < f.n_policies; p++)
            for (int m = 0; m < f.n_models; m++)
                pairs += runfile_has(&f, p, m);
        CHECK_INT(f.n_tasks * pairs * f.n_settings, cells);
        CHECK_INT(json_array_size(f.published), figures);
        runfile_release(&f);
    }
    if (check_failures > before)
        fprintf(stderr, "%s: %s: %s\n", where, name, e.text);
}

int main(int argc, char **argv)
{
    struct cases c;
    struct file_list files;
    struct err e = {0};
    char *row, where[400];
    int line, n = 0;
    cases_open(&c, argc > 1 ? argv[1] : NULL);
    while ((row = cases_line(&c, &line))) {
        snprintf(where, sizeof where, "%s:%d", c.path, line);
        check_row(row, where);
        n++;
    }
    cases_close(&c);
    CHECK_INT(file_list(&files, SOURCE_DIR "/runs", ".json", &e), 0);
    CHECK_INT(n, files.n); /* none is forgotten */
    file_list_release(&files);
    return check_done();
}
