/* What is there of a source, and how what is fetched is checked (contract: fetch.h). */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/fetch/fetch.h"

void fetch_source_check(char *out, size_t n, const struct task_source *s, int i)
{
    snprintf(out, n, "%.10s",
             s->answers                  ? "answers"
             : s->split                  ? (s->n_rows ? "rows" : "not known")
             : s->sha256[i]              ? s->sha256[i]
             : strstr(s->part[i], "://") ? "not known"
                                         : "by the Hub");
}

static int has_other_hash(const char *path, const char *sha256)
{
    struct file_map map = {0};
    char hex[65];
    if (file_map_open(&map, path, NULL))
        return 0;
    sha256_hex(map.data, map.size, hex, 64);
    file_map_close(&map);
    return strcmp(hex, sha256) != 0;
}

enum fetch_state fetch_source_look(const struct task_source *s, const char *data)
{
    struct str path = {0};
    file_join(&path, data, s->file);
    enum fetch_state state = file_exists(path.data) ? FETCH_THERE : FETCH_MISSING;
    for (const struct task_member *m = s->members; m && m->name && state; m++) {
        struct str member = {0};
        str_printf(&member, "%s/%s.jsonl", path.data, m->name);
        state = file_exists(member.data) ? FETCH_THERE : FETCH_MISSING;
        str_release(&member);
    }
    if (state && s->sha256[0] && !s->part[1] && has_other_hash(path.data, s->sha256[0]))
        state = FETCH_OTHER;
    str_release(&path);
    return state;
}
