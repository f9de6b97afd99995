/* Reads rows.fetch of a task's object: the data files that `kveval fetch` makes, and from what (contract:
 * task_parse.h; keys: docs/tasks.md). What it names is fetched for the program's own tasks only. */
#include <string.h>

#include "tasks/task_list.h"
#include "tasks/task_parse.h"

enum { FILES_MAX = 8 };

#define TEXT(member, key, what)                                                                              \
    {                                                                                                        \
        .name = key, .type = PARAM_STRING, .offset = offsetof(struct task_source, member), .help = what      \
    }
static const struct param source_params[] = {
    TEXT(file, "file", "the data file, rows.file if not said"),
    TEXT(revision, "revision", "commit, rows.revision if not said"),
    TEXT(config, "config", "of the Hub's data set, \"default\" if not said"),
    TEXT(split, "split", "whose rows are the file"),
    TEXT(answers, "answers_sha256",
         "SHA-256 of its answers without leading zeros, sorted, each ended by a line feed"),
    {.name = "rows",
     .type = PARAM_INT,
     .offset = offsetof(struct task_source, n_rows),
     .min = 1,
     .max = TASK_PROBLEMS_MAX,
     .help = "how many the split has"},
    {.name = NULL},
};

static int is_hash(const char *s)
{
    return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

/* A list of texts, of which there are at most as many as parts. */
static int read_texts(const struct task_parse *p, const char *key, const char **out, const json_t *list)
{
    size_t n = json_array_size(list);
    int rc = list && (!n || n > TASK_PARTS_MAX) ? -1 : 0;
    for (size_t i = 0; i < n && !rc; i++) {
        out[i] = task_parse_text(p, json_array_get(list, i));
        rc = out[i] && *out[i] ? 0 : -1;
    }
    return rc ? task_parse_refuse(p, key, arena_printf(p->arena, "a list of 1 to %d texts", TASK_PARTS_MAX))
              : 0;
}

static int check_source(const struct task_parse *p, const struct task_source *s)
{
    int is_whole = 1;
    for (int i = 0; i < TASK_PARTS_MAX && s->part[i]; i++)
        is_whole &= !strncmp(s->part[i], "https://", 8);
    if (!s->file)
        return task_parse_refuse(p, "rows.fetch", "of a task with rows.file, or name the file there");
    int rc = task_file_check_path(p->f, "rows.fetch.file", s->file, p->e);
    if (!rc && !strchr(s->file, '/'))
        rc = task_parse_refuse(p, "rows.fetch.file", "a file in a folder of the data folder");
    if (!rc && (s->split != NULL) == (s->part[0] != NULL))
        rc = task_parse_refuse(p, "rows.fetch", "a list of objects with either \"split\" or \"parts\"");
    if (!rc && (s->split || !is_whole) && !(s->hub && strchr(s->hub, '/')))
        rc = task_parse_refuse(p, "rows.hub", "owner/name where rows.fetch takes files or rows from there");
    if (!rc && s->answers && (!is_hash(s->answers) || !s->n_rows))
        rc = task_parse_refuse(p, "rows.fetch.answers_sha256", "64 hex digits, beside \"rows\"");
    for (int i = 0; i < TASK_PARTS_MAX && s->sha256[i] && !rc; i++)
        if (!is_hash(s->sha256[i]) || !s->part[i])
            rc = task_parse_refuse(p, "rows.fetch.sha256", "64 hex digits for each of \"parts\"");
    return rc;
}

static int read_source(const struct task_parse *p, struct task_source *s, const json_t *o)
{
    const struct task_rows *r = &p->f->rows;
    json_t *rest = json_is_object(o) ? json_copy((json_t *)o) : NULL;
    json_object_del(rest, "parts");
    json_object_del(rest, "sha256");
    int rc = rest ? task_parse_table(p, "rows.fetch", source_params, s, rest)
                  : task_parse_refuse(p, "rows.fetch", "a list of objects");
    json_decref(rest);
    if (!rc)
        rc = read_texts(p, "rows.fetch.parts", s->part, json_object_get(o, "parts"));
    if (!rc)
        rc = read_texts(p, "rows.fetch.sha256", s->sha256, json_object_get(o, "sha256"));
    s->file = s->file ? s->file : r->file;
    s->revision = s->revision ? s->revision : r->revision;
    s->config = s->config ? s->config : "default";
    s->n_rows = s->n_rows == PARAM_UNSET_INT ? 0 : s->n_rows;
    s->hub = r->hub;
    s->licence = r->licence ? r->licence : "not stated";
    return rc ? rc : check_source(p, s);
}

int task_parse_sources(const struct task_parse *p, const json_t *list)
{
    size_t n = json_array_size(list);
    if (!list)
        return 0;
    if (!n || n > FILES_MAX)
        return task_parse_refuse(p, "rows.fetch",
                                 arena_printf(p->arena, "a list of 1 to %d objects", FILES_MAX));
    struct task_source *s = arena_alloc(p->arena, (n + 1) * sizeof *s);
    int rc = 0;
    memset(s, 0, (n + 1) * sizeof *s);
    for (size_t i = 0; i < n && !rc; i++)
        rc = read_source(p, &s[i], json_array_get(list, i));
    p->f->rows.sources = s;
    return rc;
}
