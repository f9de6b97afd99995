/* Finds and opens the data of the Chinese segmenter. */
#include "answer_check/chinese/zh_segmenter.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"

static const char debian_dir[] =
    "/usr/lib/python3/dist-packages/jieba"; /* where python3-jieba puts them, version 0.42.1 in Debian 12 */

static int has_dictionary(const char *dir)
{
    struct str path = {0};
    file_join(&path, dir, "dict.txt");
    int there = file_exists(path.data);
    str_release(&path);
    return there;
}

/* A folder by its path from the folder of the program. */
static void path_beside(struct str *out, const char *program, const char *path)
{
    const char *slash = strrchr(program, '/');
    str_clear(out);
    str_add(out, program, slash ? (size_t)(slash - program) + 1 : 0);
    str_puts(out, path);
}

/* share/ beside the program, as in a build folder, or where `cmake --install` puts it. NULL: neither has the
 * dictionary. */
static const char *own_dir(struct str *share, const char *program)
{
    static const char *const paths[] = {"share", "../share/kveval"};
    for (size_t i = 0; program && i < sizeof paths / sizeof paths[0]; i++) {
        path_beside(share, program, paths[i]);
        if (has_dictionary(share->data))
            return share->data;
    }
    return NULL;
}

static int open_in(struct zh_segmenter **out, const char *dir, struct err *e)
{
    struct zh_segmenter *s = xcalloc(1, sizeof *s);
    struct str dict = {0}, tables = {0};
    file_join(&dict, dir, "dict.txt");
    file_join(&tables, dir, "finalseg");
    int rc = zh_dict_open(&s->dict, dict.data, e);
    if (!rc)
        rc = zh_hmm_open(&s->hmm, tables.data, e);
    if (rc)
        err_add(e, "jieba's dictionary");
    str_release(&dict);
    str_release(&tables);
    if (rc)
        zh_segmenter_close(s);
    else
        *out = s;
    return rc;
}

int zh_segmenter_open(struct zh_segmenter **out, const char *dir, const char *program, struct err *e)
{
    struct str share = {0};
    *out = NULL;
    if (!dir)
        dir = own_dir(&share, program);
    if (!dir && has_dictionary(debian_dir))
        dir = debian_dir;
    int rc = dir ? open_in(out, dir, e) : 0;
    str_release(&share);
    return rc;
}

void zh_segmenter_close(struct zh_segmenter *s)
{
    if (s)
        zh_dict_close(&s->dict);
    free(s);
}

const char *zh_segmenter_name(const struct zh_segmenter *s)
{
    return s ? "jieba" : "char";
}
