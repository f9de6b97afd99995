/* From a source to a data file (contract: fetch.h); here the form of files that are taken as they are, one
 * behind the other. Nothing but whole parts with the right hash ever gets the final name: the hash that the
 * task's file has, or the one that the Hub lists for a large file. Parts are mapped, never read into memory:
 * those of LiveCodeBench are gigabytes. */
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/fetch/fetch_parts.h"

static const int64_t part_bytes_max = (int64_t)1 << 32; /* the largest is LiveCodeBench's, 1.3 GB */

struct parts {
    const struct task_source *s;
    const struct fetch_options *o;
    struct arena *a;
    const char *commit;
    const char *hash[TASK_PARTS_MAX]; /* NULL: not known */
    struct fetch_part part[TASK_PARTS_MAX];
    int n;
};

static int is_address(const char *part)
{
    return strstr(part, "://") != NULL;
}

/* Finds out the commit, and the hashes that the task's file does not have, by the Hub's list. */
static int find_hashes(struct parts *p, struct str *note, int *signal, struct err *e)
{
    const struct task_source *s = p->s;
    struct hub_list list = {0};
    int rc = 0, is_listed = 0;
    p->commit = s->revision ? s->revision : "main";
    for (int i = 0; i < TASK_PARTS_MAX && s->part[i]; i++) {
        p->hash[i] = s->sha256[i];
        is_listed |= !s->sha256[i] && !is_address(s->part[i]);
    }
    if (!is_listed) {
        str_printf(note, s->sha256[0] ? "SHA-256 as published for commit %s" : "of commit %s, hash not known",
                   p->commit);
        return 0;
    }
    if (p->o->is_offline) {
        const char *commit = s->revision ? NULL : fetch_cached_commit(s, p->o, p->a);
        p->commit = commit ? commit : p->commit;
        str_printf(note, "commit %s, from the cache and not compared with the Hub's list", p->commit);
        return 0;
    }
    rc = hub_list_get(&list, "datasets", s->hub, p->commit, p->o, signal, e);
    for (int i = 0; i < TASK_PARTS_MAX && s->part[i] && !rc && !*signal; i++) {
        const struct hub_file *f = hub_list_find(&list, s->part[i]);
        if (p->hash[i] || is_address(s->part[i]))
            continue;
        if (!f || !f->is_lfs)
            rc = err_set(e, ERR_FORMAT, "%s: the Hub lists no file %s with a SHA-256 there", s->hub,
                         s->part[i]);
        else
            p->hash[i] = arena_strdup(p->a, f->hash);
    }
    if (!rc && !*signal) {
        p->commit = arena_strdup(p->a, list.commit);
        str_printf(note, "commit %s, SHA-256 as the Hub lists it", p->commit);
    }
    hub_list_release(&list);
    return rc;
}

static int get_part(struct parts *p, const char *file, int i, int *signal, struct err *e)
{
    const struct task_source *s = p->s;
    const struct fetch_options *o = p->o;
    const char *url = s->part[i], *cached = NULL;
    int is_of_hub = !is_address(url);
    if (is_of_hub) {
        url = arena_printf(p->a, "%s/datasets/%s/resolve/%s/%s", o->endpoint, s->hub, p->commit, url);
        cached = fetch_cached(s, p->commit, s->part[i], o, p->a);
    }
    p->part[i] = (struct fetch_part){.url = url,
                                     .path = arena_printf(p->a, "%s.%d.incomplete", file, i + 1),
                                     .cached = cached,
                                     .sha256 = p->hash[i],
                                     .name = s->file,
                                     .token = is_of_hub ? o->token : NULL,
                                     .max_bytes = part_bytes_max};
    int rc = fetch_part_get(&p->part[i], o, signal, e);
    if (s->is_gated) {
        hub_add_advice(o->is_offline ? 0 : rc, arena_printf(p->a, "datasets/%s", s->hub), o, e);
        if (rc == ERR_USAGE && !o->is_offline)
            err_add(e, "%s is gated", s->hub);
    }
    return rc;
}

/* A line end at the end of each part but the last: lines of two parts must not become one. */
static int write_parts(const struct parts *p, const char *file, struct err *e)
{
    struct file_piece piece[2 * TASK_PARTS_MAX];
    size_t n = 0;
    for (int i = 0; i < p->n; i++) {
        const struct file_map *m = &p->part[i].map;
        piece[n++] = (struct file_piece){m->data, m->size};
        if (i + 1 < p->n && m->size && m->data[m->size - 1] != '\n')
            piece[n++] = (struct file_piece){"\n", 1};
    }
    return file_write_pieces(file, piece, n, e);
}

int fetch_parts(const struct task_source *s, const char *data, const struct fetch_options *o,
                struct str *note, int *signal, struct err *e)
{
    struct arena a = {0};
    struct str file = {0};
    struct parts p = {.s = s, .o = o, .a = &a};
    file_join(&file, data, s->file);
    int rc = fetch_make_folder_of(file.data, e);
    if (!rc)
        rc = find_hashes(&p, note, signal, e);
    for (; !rc && !*signal && p.n < TASK_PARTS_MAX && s->part[p.n]; p.n++)
        rc = get_part(&p, file.data, p.n, signal, e);
    int is_done = !rc && !*signal;
    if (is_done)
        rc = write_parts(&p, file.data, e);
    for (int i = 0; i < p.n; i++)
        fetch_part_close(&p.part[i], is_done && !rc);
    str_release(&file);
    arena_release(&a);
    return rc;
}

int fetch_source_get(const struct task_source *s, const char *data, const struct fetch_options *o,
                     struct str *note, int *signal, struct err *e)
{
    *signal = 0;
    return s->split     ? fetch_rows(s, data, o, note, signal, e)
           : s->members ? fetch_zip(s, data, o, note, signal, e)
                        : fetch_parts(s, data, o, note, signal, e);
}
