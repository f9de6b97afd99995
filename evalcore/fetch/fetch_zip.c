/* An archive of JSONL files (contract: fetch_parts.h). LongBench is published as one ZIP file; its copies in
 * parquet have other field names and no files to pin. The Hub's listing says which commit the revision is and
 * which SHA-256 the archive has; that is checked, as is the number of rows of each file. */
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/fetch/fetch_parts.h"

/* LongBench's archive has 34 files and 114 MB, packed. */
enum { MEMBER_BYTES_MAX = 1 << 29, ARCHIVE_BYTES_MAX = 1 << 30, MEMBERS_MAX = 1000 };

static int count_lines(const struct str *text)
{
    int n = 0;
    for (size_t i = 0; i < text->len; i++)
        n += text->data[i] == '\n' || i + 1 == text->len;
    return n;
}

/* "data/qasper.jsonl" -> "qasper.jsonl", letters, digits, "-" and "_"; NULL for all else, which is left out.
 */
static const char *file_name(const char *member)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (strncmp(member, "data/", 5))
        return NULL;
    size_t n = strspn(member + 5, letters);
    return n && !strcmp(member + 5 + n, ".jsonl") ? member + 5 : NULL;
}

static int rows_expected(const struct task_source *s, const char *name)
{
    for (const struct task_member *k = s->members; k->name; k++)
        if (strlen(k->name) + 6 == strlen(name) && !strncmp(k->name, name, strlen(k->name)))
            return k->n_rows;
    return 0; /* LongBench-E: not counted */
}

/* folder NULL: checks the member and writes nothing. */
static int unpack_member(const struct zip *z, const struct zip_member *m, const struct task_source *s,
                         const char *folder, struct err *e)
{
    const char *name = file_name(m->name);
    struct str text = {0}, path = {0};
    if (!name)
        return 0;
    int rc = zip_read(&text, z, m, MEMBER_BYTES_MAX, e), want = rows_expected(s, name);
    if (!rc && want && count_lines(&text) != want)
        rc = err_set(e, ERR_FORMAT, "%s: %s has %d rows, %d are expected", z->path, m->name,
                     count_lines(&text), want);
    if (folder)
        file_join(&path, folder, name);
    if (!rc && folder)
        rc = file_write_atomic(path.data, str_text(&text), text.len, e);
    str_release(&text);
    str_release(&path);
    return rc;
}

static int unpack_archive(const struct file_map *archive, const char *url, const struct task_source *s,
                          const char *folder, const char *data, struct err *e)
{
    struct zip z;
    struct zip_member m;
    int rc = 0;
    /* All members are checked before the first is written, so that no folder holds files of two archives. */
    for (int writes = 0; writes < 2 && !rc; writes++) {
        int more = 0;
        rc = zip_open(&z, url, archive->data, archive->size, e);
        if (!rc)
            rc = zip_check_size(&z, MEMBERS_MAX, ARCHIVE_BYTES_MAX, e);
        while (!rc && (more = zip_next(&z, &m, e)) > 0)
            rc = unpack_member(&z, &m, s, writes ? folder : NULL, e);
        if (!rc && more < 0)
            rc = more;
    }
    if (!rc && fetch_source_look(s, data) == FETCH_MISSING)
        rc = err_set(e, ERR_FORMAT, "%s: not all files of %s are in this archive", url, s->file);
    return rc;
}

int fetch_zip(const struct task_source *s, const char *data, const struct fetch_options *o, struct str *note,
              int *signal, struct err *e)
{
    struct arena a = {0};
    struct str folder = {0};
    struct hub_list list = {0};
    struct fetch_part p = {.fd = -1, .name = s->file, .token = o->token, .max_bytes = MEMBER_BYTES_MAX};
    const char *commit = NULL;
    char hex[65];
    if (o->is_offline)
        commit = (commit = fetch_cached_commit(s, o, &a)) ? commit : "main";
    file_join(&folder, data, s->file);
    int rc = file_mkdirs(folder.data, e);
    if (!rc && !commit)
        rc = hub_list_get(&list, "datasets", s->hub, s->revision ? s->revision : "main", o, signal, e);
    if (!rc && !commit && !*signal) {
        const struct hub_file *f = hub_list_find(&list, s->part[0]);
        commit = list.commit;
        if (!f || !f->is_lfs)
            rc = err_set(e, ERR_FORMAT, "%s: the Hub lists no archive %s with a SHA-256 there", s->hub,
                         s->part[0]);
        else
            p.sha256 = f->hash;
    }
    if (!rc && !*signal) {
        p.url = arena_printf(&a, "%s/datasets/%s/resolve/%s/%s", o->endpoint, s->hub, commit, s->part[0]);
        p.path = arena_printf(&a, "%s/%s.incomplete", folder.data, s->part[0]);
        p.cached = fetch_cached(s, commit, s->part[0], o, &a);
        rc = fetch_part_get(&p, o, signal, e);
    }
    if (!rc && !*signal)
        rc = unpack_archive(&p.map, p.url, s, folder.data, data, e);
    if (!rc && !*signal) {
        sha256_hex(p.map.data, p.map.size, hex, 64);
        str_printf(note, "commit %s, archive's SHA-256 %s%s", commit, hex,
                   p.sha256 ? " as the Hub lists it"
                            : ", from the cache and not compared with the Hub's list");
    }
    /* also an archive that came whole and is no use: it would be in the way of a better one */
    fetch_part_close(&p, (!rc || rc == ERR_FORMAT) && !*signal);
    str_release(&folder);
    hub_list_release(&list);
    arena_release(&a);
    return rc;
}
