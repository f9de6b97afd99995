/* One journal out of many (contract: journal_compact.h). */
#include "evalcore/store/journal_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"

enum { FLUSH_BYTES = 4 << 20, NAMES_MAX = 1000 };

static int write_failed(struct err *e, const char *what, const char *path, int cause)
{
    return err_set(e, file_error_code(cause), "cannot %s %s: %s; the journals are as they were", what, path,
                   err_reason(cause));
}

static int flush_buffer(int fd, struct str *buffer, const char *path, struct err *e)
{
    for (size_t done = 0; done < buffer->len;) {
        ssize_t n = write(fd, buffer->data + done, buffer->len - done);
        if (n < 0 && errno != EINTR)
            return write_failed(e, "write", path, errno);
        done += n > 0 ? (size_t)n : 0;
    }
    str_clear(buffer);
    return 0;
}

/* Appends a line with its newline, just as it is in its file, once its checksum is right again. */
static int add_line(struct str *buffer, int from, const struct scan_place *at, const char *path,
                    struct err *e)
{
    size_t want = at->length + 1, have = 0;
    char *line = xmalloc(want);
    ssize_t n = 1;
    while (have < want && n) {
        n = pread(from, line + have, want - have, (off_t)(at->offset + (int64_t)have));
        if (n < 0 && errno != EINTR)
            break;
        have += n > 0 ? (size_t)n : 0;
    }
    int rc = 0;
    if (n < 0)
        rc = write_failed(e, "read", path, errno);
    else if (have < want || line[at->length] != '\n' || !journal_line_is_whole(line, at->length))
        rc = err_set(e, ERR_IO, "%s:%ld changed while it was read; the journals are as they were", path,
                     at->line);
    else
        str_add(buffer, line, want);
    free(line);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct scan_place *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The lines in the order of their files, each of which is opened once. */
static int write_lines(const struct journal_scan *s, int fd, const char *path, struct err *e)
{
    struct scan_place *list = xcalloc(s->n_jobs + 1, sizeof *list);
    struct str buffer = {0};
    int from = -1, open_file = -1, rc = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        list[i] = s->job[i].at;
    qsort(list, s->n_jobs, sizeof *list, by_place);
    for (size_t i = 0; i < s->n_jobs && !rc; i++) {
        const char *source = s->file[list[i].file].path;
        if (list[i].file != open_file) {
            if (from >= 0)
                close(from);
            from = open(source, O_RDONLY | O_CLOEXEC);
            open_file = list[i].file;
            if (from < 0)
                rc = write_failed(e, "open", source, errno);
        }
        if (!rc)
            rc = add_line(&buffer, from, &list[i], source, e);
        if (!rc && (buffer.len >= FLUSH_BYTES || i + 1 == s->n_jobs))
            rc = flush_buffer(fd, &buffer, path, e);
    }
    if (from >= 0)
        close(from);
    str_release(&buffer);
    free(list);
    return rc;
}

/* Has the new file the same keys with the same results, each once, and nothing else? */
static int check_scan(const struct journal_scan *s, const char *path, struct err *e)
{
    struct journal_scan now;
    int rc = journal_scan_file(&now, path, e);
    int same = !rc && now.n_jobs == s->n_jobs && now.total.records == (long)s->n_jobs && !now.n_notes;
    for (size_t i = 0; i < s->n_jobs && same; i++) {
        const struct scan_job *job = &s->job[i];
        long at = job->key[0] ? keymap_find(&now.map, job->key) : -1;
        same = !job->key[0] || (at >= 0 && now.job[at].at.length == job->at.length &&
                                !strcmp(now.job[at].digest, job->digest));
    }
    journal_scan_release(&now);
    if (!rc && !same)
        rc = err_set(e, ERR_DISK, "%s does not read as it was written; the journals are as they were", path);
    return rc;
}

static int write_new(const struct journal_scan *s, const char *path, struct str *name, struct err *e)
{
    int fd = file_open_temporary(name, path, e);
    if (fd < 0)
        return fd;
    const char *temporary = name->data;
    int rc = write_lines(s, fd, temporary, e);
    if (!rc && file_sync(fd) && errno != EINVAL)
        rc = write_failed(e, "write", temporary, errno);
    if (close(fd) && !rc)
        rc = write_failed(e, "write", temporary, errno);
    if (!rc)
        rc = check_scan(s, temporary, e);
    if (!rc && rename(temporary, path))
        rc = write_failed(e, "rename to", path, errno);
    if (rc) {
        unlink(temporary);
        return rc;
    }
    return file_sync_folder_of(path, e);
}

static int remove_old(const struct journal_scan *s, const char *path, struct err *e)
{
    for (int i = 0; i < s->n_files; i++)
        if (unlink(s->file[i].path) && errno != ENOENT)
            return err_set(
                e, file_error_code(errno),
                "cannot remove %s: %s; %s holds all its records that count, so remove it by hand or "
                "repeat the command",
                s->file[i].path, err_reason(errno), path);
    return file_sync_folder_of(path, e);
}

int journal_compact(const struct journal_scan *s, const char *run_dir, struct str *path, struct err *e)
{
    struct str dir = {0}, temporary = {0};
    int is_compact = s->n_files <= 1 && !s->n_notes && s->total.records == (long)s->n_jobs;
    if (is_compact)
        return 0;
    file_join(&dir, run_dir, "journal");
    for (int n = 0; n < NAMES_MAX && (!n || file_exists(path->data)); n++) {
        str_clear(path);
        journal_path(path, dir.data, n);
    }
    int rc = file_mkdir_own(dir.data, e); /* a linked folder is somewhere else */
    if (!rc)
        rc = write_new(s, path->data, &temporary, e);
    if (!rc)
        rc = remove_old(s, path->data, e);
    str_release(&temporary);
    str_release(&dir);
    return rc;
}
