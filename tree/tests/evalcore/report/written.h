#ifndef TESTS_EVALCORE_REPORT_WRITTEN_H
#define TESTS_EVALCORE_REPORT_WRITTEN_H

/* A folder for the reports of one test program, and reading what was written into it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"

static char folder[256];

static inline void open_folder(const char *name)
{
    snprintf(folder, sizeof folder, "%s.%ld", name, (long)getpid());
}

static void in_folder(struct str *path, const char *name)
{
    str_clear(path);
    file_join(path, folder, name);
}

static inline const char *read_file(struct str *out, const char *name)
{
    struct str path = {0};
    struct err e = {0};
    in_folder(&path, name);
    str_clear(out);
    if (file_read(str_text(&path), out, &e))
        fprintf(stderr, "%s\n", e.text);
    str_release(&path);
    return str_text(out);
}

static inline int is_written(const char *name)
{
    struct str path = {0};
    in_folder(&path, name);
    int yes = file_exists(str_text(&path));
    str_release(&path);
    return yes;
}

static inline int count_text(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

#endif
