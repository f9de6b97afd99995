/* Where the result of kveval gate goes, and its exit code (contract: gate_options.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/gate_options.h"

static int exit_code_of(const struct gate_options *o, enum gate_verdict v)
{
    switch (v) {
    case GATE_PASS:
        return EXIT_DONE;
    case GATE_REGRESSION:
        return EXIT_REGRESSION;
    case GATE_INCONCLUSIVE:
        return o->inconclusive && !strcmp(o->inconclusive, "pass") ? EXIT_DONE : EXIT_INCONCLUSIVE;
    default:
        return EXIT_INCOMPLETE;
    }
}

static int append_file(const char *path, const struct str *text, struct err *e)
{
    int fd = file_open_output(path, O_APPEND, e);
    if (fd < 0)
        return fd;
    FILE *f = fdopen(fd, "a");
    int bad = !f || fwrite(str_text(text), 1, text->len, f) != text->len;
    bad |= f && fclose(f);
    return bad ? err_set(e, file_error_code(errno), "%s cannot be written: %s", path, err_reason(errno)) : 0;
}

/* Past the stream that would take their orders away (shown.h); gate_github() has made the texts in them
 * inert.
 */
static void put_annotations(const struct str *text)
{
    fflush(stdout);
    file_put(STDOUT_FILENO, str_text(text), text->len); /* the verdict does not depend on who reads */
}

int gate_error_code(const struct err *e)
{
    return e->code == ERR_USAGE || e->code == ERR_UNSUPPORTED ? EXIT_USAGE : EXIT_INCOMPLETE;
}

static int add_night(struct gate_history *h, const struct gate_options *o, const struct gate_result *r,
                     struct arena *a, struct err *e)
{
    int rc = gate_history_add(o->history, r, (double)time(NULL), e);
    return rc ? rc : gate_history_read(h, o->history, a, e);
}

/* The files come before the history, which may be damaged. */
int gate_write_result(const struct gate_options *o, const struct process_env *p, struct gate_result *r,
                      const char *dir, int is_night, struct arena *a, struct err *e)
{
    struct gate_history h = {0};
    struct str md = {0}, github = {0};
    int rc = gate_write(dir, r, NULL, &md, a, e), is_lost = 0;
    if (!rc && is_night) {
        is_lost = add_night(&h, o, r, a, e);
        if (is_lost && r->verdict != GATE_REGRESSION) {
            r->verdict = GATE_ERROR;
            r->words = e->text;
        }
        str_clear(&md);
        rc = gate_write(dir, r, is_lost ? NULL : &h, &md, a, e);
    }
    if (p->is_github) {
        gate_github(&github, r);
        put_annotations(&github);
    }
    if (!rc && p->github_summary && md.len < 1 << 20)
        rc = append_file(p->github_summary, &md, e);
    str_release(&md);
    str_release(&github);
    return rc ? rc : is_lost;
}

int gate_publish_result(const struct gate_options *o, const struct process_env *p,
                        const struct gate_result *r, const char *dir, struct arena *a)
{
    struct gate_result told = *r;
    struct str console = {0};
    struct err e = {0};
    int rc = gate_write_result(o, p, &told, dir, o->history && r->verdict != GATE_OPEN, a, &e);
    gate_console(&console, &told);
    if (!o->quiet)
        printf("%sdetails: %s/gate.md, gate.html, gate.json, gate.xml\n", str_text(&console), dir);
    str_release(&console);
    if (rc)
        command_fail(&e, EXIT_INCOMPLETE);
    return rc && told.verdict != GATE_REGRESSION ? EXIT_INCOMPLETE : exit_code_of(o, told.verdict);
}
