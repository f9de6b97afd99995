/* Which problem files are missing (contract: data_files.h). */
#include "evalcore/plan/data_files.h"

#include <string.h>

#include "evalcore/base/file.h"

/* The file of a task, when it has one and it is missing. In the arena; NULL: nothing is missing. */
static const char *is_missing(const struct runfile_task *t, const char *data_dir, struct arena *a)
{
    const struct task_ops *ops = t->ops;
    struct str path = {0};
    if (t->options.file)
        str_puts(&path, t->options.file);
    else if (ops->default_file && (!ops->subset || t->options.subset))
        task_default_file(&path, ops, data_dir, t->options.subset);
    int needs_data = !t->options.file && !data_dir && !task_is_own(ops);
    int is_missing = path.len && (needs_data || !file_exists(path.data));
    const char *out = is_missing ? arena_strdup(a, path.data) : NULL;
    str_release(&path);
    return out;
}

int data_files_check(const struct runfile *f, const char *data_dir, struct err *e)
{
    struct arena a = {0};
    struct str files = {0}, present = {0};
    const char **seen = arena_alloc(&a, ((size_t)f->n_tasks + 1) * sizeof *seen);
    int n = 0, rc = 0;
    for (int i = 0; i < f->n_tasks; i++) {
        const char *path = is_missing(&f->tasks[i], data_dir, &a);
        if (!path) {
            str_printf(&present, "%s%s", present.len ? "," : "", f->tasks[i].label);
            continue;
        }
        int k = 0;
        while (k < n && strcmp(seen[k], path) != 0)
            k++;
        if (k == n) {
            str_printf(&files, "%s%s (%s)", n ? ", " : "", path, f->tasks[i].label);
            seen[n++] = path;
        }
    }
    if (n > 1)
        rc = err_set(
            e, ERR_USAGE,
            "%s: %d files of problems are missing%s: %s%s. %s%s; -t A,B decodes only the tasks named%s%s",
            f->path, n, data_dir ? "" : " (no --data DIR was given)", files.len > 600 ? "the first are " : "",
            files.len > 600 ? (files.data[600] = 0, files.data) : files.data,
            data_dir ? "Put them there" : "Give the folder that holds them with --data DIR",
            ", or name each with \"file\" in its entry of tasks",
            present.len ? ", of which these are here: -t " : "", str_text(&present));
    str_release(&files);
    str_release(&present);
    arena_release(&a);
    return rc;
}
