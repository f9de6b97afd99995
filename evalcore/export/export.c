/* kveval export's table of formats and what holds for all of them (contract: export.h). */
#include "evalcore/export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
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

static int write_systems(struct export *x, const struct export_format *f, struct err *e)
{
    int rc = 0;
    for (int i = export_next_system(x->run, -1); i >= 0 && !rc; i = export_next_system(x->run, i))
        rc = f->write_system(x, i, e);
    return rc;
}

int export_run(const struct run *r, const struct export_options *o, struct export_done *done, struct err *e)
{
    const struct export_format *f = find_format(o->format, e);
    if (!f)
        return ERR_USAGE;
    int rc = check_complete(r, o, e);
    if (rc)
        return rc;
    for (int i = 0; i < r->n_tasks; i++)
        if (r->tasks[i].is_misnamed)
            log_warn("task %s is %s", r->tasks[i].label, r->tasks[i].set);
    *done = (struct export_done){.completions = r->n_done};
    struct export x = {.run = r, .o = o, .done = done};
    set_time(&x);
    export_files_init(&x.files, o->replace);
    rc = f->write ? f->write(&x, e) : write_systems(&x, f, e);
    if (!rc)
        rc = export_files_commit(&x.files, e);
    done->files = (long)x.files.n;
    export_files_release(&x.files);
    arena_release(&x.arena);
    return rc;
}

/* ---- Files that appear together. */

enum { FLUSH_BYTES = 1 << 20 };

void export_files_init(struct export_files *f, int replace)
{
    *f = (struct export_files){.replace = replace, .fd = -1};
}

static int io_error(struct err *e, const char *path, int cause)
{
    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        return err_set(e, ERR_IO,
                       "cannot write %s: %s; nothing was exported, free some space or choose another place "
                       "with -o",
                       path,
                       cause == ENOSPC   ? "the disk is full"
                       : cause == EDQUOT ? "the disk quota is used up"
                                         : "the file size limit is reached");
    return err_set(e, file_error_code(cause), "cannot write %s: %s", path, err_reason(cause));
}

/* Makes the folders above path and remembers those that were not there. */
static int make_folders(struct export_files *f, const char *path, struct err *e)
{
    char *part = xstrdup(path);
    int rc = 0;
    for (char *p = part + 1; *p && !rc; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        if (!file_is_dir(part)) {
            rc = file_mkdirs(part, e);
            if (!rc) {
                xgrow(&f->folders, &f->folder_cap, f->n_folders + 1, sizeof *f->folders);
                f->folders[f->n_folders++] = xstrdup(part);
            }
        }
        *p = '/';
    }
    free(part);
    return rc;
}

int export_open(struct export_files *f, const char *path, struct err *e)
{
    struct str temporary = {0};
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->list[i].path, path))
            return err_set(e, ERR_USAGE,
                           "two cells would be written to %s; tell them apart with \"as\" in the run file",
                           path);
    int is_file = !file_plain(path, NULL);
    if (file_exists(path) && (!f->replace || !is_file))
        return err_set(e, ERR_USAGE, "%s is there already; choose another place with -o%s", path,
                       is_file ? ", or replace it with --force" : "");
    int rc = make_folders(f, path, e);
    if (rc)
        return rc;
    f->fd = file_open_temporary(&temporary, path, e);
    if (f->fd < 0) {
        rc = f->fd;
    } else {
        xgrow(&f->list, &f->cap, f->n + 1, sizeof *f->list);
        f->list[f->n++] = (struct export_file){xstrdup(path), xstrdup(temporary.data)};
    }
    str_release(&temporary);
    return rc;
}

struct str *export_text(struct export_files *f)
{
    return &f->buffer;
}

static int write_buffer(struct export_files *f, struct err *e)
{
    for (size_t done = 0; done < f->buffer.len;) {
        ssize_t n = write(f->fd, f->buffer.data + done, f->buffer.len - done);
        if (n < 0 && errno != EINTR)
            return io_error(e, f->list[f->n - 1].path, errno);
        done += n > 0 ? (size_t)n : 0;
    }
    str_clear(&f->buffer);
    return 0;
}

int export_flush(struct export_files *f, struct err *e)
{
    return f->buffer.len < FLUSH_BYTES ? 0 : write_buffer(f, e);
}

int export_close(struct export_files *f, struct err *e)
{
    int rc = write_buffer(f, e);
    if (!rc && file_sync(f->fd) < 0 && errno != EINVAL)
        rc = io_error(e, f->list[f->n - 1].path, errno);
    if (close(f->fd) < 0 && !rc)
        rc = io_error(e, f->list[f->n - 1].path, errno);
    f->fd = -1;
    return rc;
}

int export_files_commit(struct export_files *f, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < f->n && !rc; i++) {
        struct export_file *x = &f->list[i];
        if (rename(x->temporary, x->path) < 0)
            rc = io_error(e, x->path, errno);
        else
            x->temporary[0] = 0;
    }
    for (size_t i = 0; i < f->n && !rc; i++)
        rc = file_sync_folder_of(f->list[i].path, e);
    return rc;
}

void export_files_release(struct export_files *f)
{
    if (f->fd >= 0)
        close(f->fd);
    for (size_t i = 0; i < f->n; i++) {
        if (f->list[i].temporary[0])
            unlink(f->list[i].temporary);
        free(f->list[i].path);
        free(f->list[i].temporary);
    }
    for (size_t i = f->n_folders; i-- > 0;) {
        rmdir(f->folders[i]); /* stays when something is in it */
        free(f->folders[i]);
    }
    free(f->list);
    free(f->folders);
    str_release(&f->buffer);
    export_files_init(f, 0);
}
