/* kveval export's table of formats and what holds for all of them (contract: export.h). */
#include "evalcore/export/export.h"

#include <string.h>
#include <time.h>

#include "evalcore/export/export_parts.h"

static const struct export_format *const formats[] = {&export_lmeval, &export_lighteval, &export_inspect,
                                                      &export_csv, NULL};

static const struct export_format *find_format(const char *name, struct err *e)
{
    struct str names = {0};
    for (int i = 0; formats[i]; i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    for (int i = 0; formats[i]; i++)
        str_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
    err_set(e, ERR_USAGE, "there is no format \"%s\"; the formats are %s", name, names.data);
    str_release(&names);
    return NULL;
}

/* When the run folder was last written to. */
static void set_time(struct export *x)
{
    const json_t *m = x->run->manifest;
    const char *text = json_string_value(json_object_get(m, "updated"));
    struct tm utc = {0};
    char now[32];
    if (!text)
        text = json_string_value(json_object_get(m, "created"));
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) : NULL;
    time_t t = end && !*end ? timegm(&utc) : 0;
    gmtime_r(&t, &utc);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", &utc);
    x->time = arena_strdup(&x->arena, now);
    x->seconds = (double)t;
}

static int check_complete(const struct run *r, const struct export_options *o, struct err *e)
{
    long missing = r->n_expected - r->n_done;
    if (!r->n_done)
        return err_set(e, ERR_BUSY, "%s has no completion yet; repeat the sweep to go on", r->dir);
    if (missing && !o->allow_partial)
        return err_set(e, ERR_BUSY,
                       "%ld of %ld jobs of %s are missing; repeat the sweep to finish them, or export what "
                       "is there with --partial",
                       missing, r->n_expected, r->dir);
    return 0;
}

int export_run(const struct run *r, const struct export_options *o, struct export_done *done, struct err *e)
{
    const struct export_format *f = find_format(o->format, e);
    if (!f)
        return ERR_USAGE;
    int rc = check_complete(r, o, e);
    if (rc)
        return rc;
    *done = (struct export_done){.completions = r->n_done};
    struct export x = {.run = r, .o = o, .done = done};
    set_time(&x);
    export_files_init(&x.files, o->replace);
    rc = f->write(&x, e);
    if (!rc)
        rc = export_files_keep(&x.files, e);
    done->files = (long)x.files.n;
    export_files_release(&x.files);
    arena_release(&x.arena);
    return rc;
}
