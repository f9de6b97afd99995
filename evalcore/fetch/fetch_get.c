/* From a source to a data file (contract: fetch.h); here the form that most have: files of known hashes, one
 * behind the other. Nothing but whole parts with the right hash ever gets the final name. */
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/fetch/fetch_parts.h"

enum { PART_BYTES_MAX = 1 << 29 }; /* the largest is that of LongBench v2, 465 MB */

static int get_part(struct fetch_part *p, const struct fetch_source *s, int i, const struct fetch_options *o,
                    struct str *whole, int *signal, struct err *e)
{
    int rc = fetch_part_get(p, o, whole, signal, e);
    if (s->is_gated) {
        struct str page = {0};
        str_printf(&page, "datasets/%s", s->repo);
        hub_add_advice(o->is_offline ? 0 : rc, page.data, o, e);
        str_release(&page);
        if (rc == ERR_USAGE && !o->is_offline)
            err_add(e, "%s is gated", s->task);
    }
    /* A line end at the end of each part but the last: lines of two parts must not become one. */
    if (!rc && i + 1 < FETCH_PARTS_MAX && s->part[i + 1] && whole->len && whole->data[whole->len - 1] != '\n')
        str_putc(whole, '\n');
    return rc;
}

int fetch_parts(const struct fetch_source *s, const char *data, const struct fetch_options *o, int *signal,
                struct err *e)
{
    struct arena a = {0};
    struct str file = {0}, whole = {0};
    struct fetch_part part[FETCH_PARTS_MAX];
    int n = 0;
    file_join(&file, data, s->file);
    int rc = fetch_make_folder_of(file.data, e);
    for (; !rc && !*signal && n < FETCH_PARTS_MAX && s->part[n]; n++) {
        const char *url = s->part[n], *cached = NULL;
        if (s->repo) {
            url = arena_printf(&a, "%s/datasets/%s/resolve/%s/%s", o->endpoint, s->repo, s->revision, url);
            cached = fetch_cached(s, s->revision, s->part[n], o, &a);
        }
        part[n] = (struct fetch_part){.url = url,
                                      .path = arena_printf(&a, "%s.%d.incomplete", file.data, n + 1),
                                      .cached = cached,
                                      .sha256 = s->sha256[n],
                                      .name = s->task,
                                      .token = s->repo ? o->token : NULL,
                                      .max_bytes = PART_BYTES_MAX};
        rc = get_part(&part[n], s, n, o, &whole, signal, e);
    }
    int is_done = !rc && !*signal;
    if (is_done)
        rc = file_write_atomic(file.data, whole.data, whole.len, e);
    for (int i = 0; i < n; i++)
        fetch_part_close(&part[i], is_done && !rc);
    str_release(&file);
    str_release(&whole);
    arena_release(&a);
    return rc;
}

int fetch_source_get(const struct fetch_source *s, const char *data, const struct fetch_options *o,
                     struct str *note, int *signal, struct err *e)
{
    *signal = 0;
    if (s->form == FETCH_ROWS)
        return fetch_rows(s, data, o, note, signal, e);
    if (s->form == FETCH_ZIP)
        return fetch_zip(s, data, o, note, signal, e);
    str_printf(note, "SHA-256 as published for commit %s", s->revision);
    return fetch_parts(s, data, o, signal, e);
}
