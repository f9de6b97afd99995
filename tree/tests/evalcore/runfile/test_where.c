/* "where" conditions, one line each: where.test. */
#include "evalcore/runfile/runfile_parts.h"
#include "tests/cases.h"

static int lookup(void *context, const char *name, double *out, struct err *e)
{
    static const struct {
        const char *name;
        double value;
    } known[] = {{"k", 8}, {"l", 4}, {"ratio", 0.25}};
    (void)context;
    for (size_t i = 0; i < 3; i++)
        if (!strcmp(known[i].name, name)) {
            *out = known[i].value;
            return 0;
        }
    return err_set(e, ERR_USAGE, "no \"%s\"", name);
}

static void row(const char *path, int number, char *line)
{
    const char *want = case_cut(line, "=>");
    struct err e = {0};
    int result = -1;
    int rc = expr_true(line, lookup, NULL, &result, &e);
    const char *got = rc ? e.text : result ? "1" : "0";
    CHECK(rc == 0 || rc == ERR_USAGE);
    check_count++;
    if (strcmp(got, want ? want : "")) {
        check_failures++;
        fprintf(stderr, "%s:%d: \"%s\" gives \"%s\", want \"%s\"\n", path, number, line, got,
                want ? want : "(no =>)");
    }
}

int main(int argc, char **argv)
{
    cases_each_line(argc > 1 ? argv[1] : NULL, row);
    return check_done();
}
