/* Walking the lines of a file and the names of a folder (contract: file.h). A last line without a newline
 * is returned and marked as torn: in a journal it is the record that a crash cut off. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"

int file_lines_open(struct file_lines *l, const char *path, struct err *e)
{
    *l = (struct file_lines){0};
    int is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : file_open_input(path, e);
    if (fd < 0)
        return fd;
    l->stream = is_stdin ? stdin : fdopen(fd, "r");
    if (!l->stream) {
        int cause = errno;
        close(fd);
        return err_set(e, file_error_code(cause), "cannot read %s: %s", path, err_reason(cause));
    }
    l->owned = !is_stdin;
    l->path = xstrdup(is_stdin ? "standard input" : path);
    return 0;
}

int file_lines_next(struct file_lines *l, const char **line, size_t *n, struct err *e)
{
    if (!l->stream)
        return 0;
    errno = 0;
    ssize_t got = getline(&l->buf.data, &l->buf.cap, l->stream);
    if (got < 0) {
        if (ferror((FILE *)l->stream) || errno == ENOMEM)
            return err_set(e, file_error_code(errno), "%s:%ld: cannot read on: %s", l->path, l->number + 1,
                           err_reason(errno));
        return 0;
    }
    l->torn = l->buf.data[got - 1] != '\n';
    if (!l->torn)
        l->buf.data[--got] = 0;
    l->buf.len = (size_t)got;
    l->number++;
    *line = l->buf.data;
    *n = l->buf.len;
    return 1;
}

void file_lines_close(struct file_lines *l)
{
    if (l->stream && l->owned)
        fclose(l->stream);
    free(l->path);
    str_release(&l->buf);
    *l = (struct file_lines){0};
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int file_list(struct file_list *out, const char *dir, const char *suffix, struct err *e)
{
    *out = (struct file_list){0};
    DIR *d = opendir(dir);
    if (!d)
        return err_set(e, file_error_code(errno), "cannot list the folder %s: %s", dir, err_reason(errno));
    size_t cap = 0, tail = strlen(suffix);
    for (struct dirent *entry; (entry = readdir(d));) {
        size_t n = strlen(entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (n < tail || strcmp(entry->d_name + n - tail, suffix) != 0)
            continue;
        xgrow(&out->name, &cap, out->n + 1, sizeof *out->name);
        out->name[out->n++] = xstrdup(entry->d_name);
    }
    closedir(d);
    if (out->n)
        qsort(out->name, out->n, sizeof *out->name, by_bytes);
    return 0;
}

void file_list_release(struct file_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->name[i]);
    free(l->name);
    *l = (struct file_list){0};
}
