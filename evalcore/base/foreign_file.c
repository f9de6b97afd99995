/* What lies where a file is expected (contract: foreign_file.h). */
#include "evalcore/base/foreign_file.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/file.h"

enum { LOOK_AT = 4096, MESSAGE_MAX = 65536 };

static int begins(const char *text, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && !strncasecmp(text, with, k);
}

static int holds(const char *text, size_t n, const char *word)
{
    size_t k = strlen(word);
    for (size_t i = 0; i + k <= n; i++)
        if (!memcmp(text + i, word, k))
            return 1;
    return 0;
}

static int is_all_zeros(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i])
            return 0;
    return 1;
}

#define POINTER                                                                                              \
    "is a git-lfs pointer and not the file itself; run `git lfs pull` in its folder, or get the model "      \
    "with " FOREIGN_FETCH
#define WEB_PAGE                                                                                             \
    "is a web page, as a login or an error gives it, and not the file itself; get it anew, for instance "    \
    "with " FOREIGN_FETCH
#define MESSAGE                                                                                              \
    "is an error message of a server and not the file itself; get it anew, for instance with " FOREIGN_FETCH

/* By the first bytes, in lower or upper case. */
static const struct {
    const char *first, *text;
} known[] = {
    {"version https://git-lfs", POINTER},
    {"version https://hawser", POINTER},
    {"<!doctype html", WEB_PAGE},
    {"<html", WEB_PAGE},
    {"<head", WEB_PAGE},
    {"<!--", WEB_PAGE},
    {"<?xml", MESSAGE},
    {"<error", MESSAGE},
    {"entry not found", MESSAGE},
    {"repository not found", MESSAGE},
    {"not found", MESSAGE},
    {"404", MESSAGE},
    {"403", MESSAGE},
    {"forbidden", MESSAGE},
    {"unauthorized", MESSAGE},
    {"access to model", MESSAGE},
    {"access denied", MESSAGE},
    {"invalid username or password", MESSAGE},
    {"invalid credentials", MESSAGE},
    {"internal server error", MESSAGE},
    {"bad gateway", MESSAGE},
    {"too many requests", MESSAGE},
    {"gguf", "is a GGUF file, which is not read; get the model's safetensors weights"},
    {"PK\x03\x04",
     "is a ZIP archive, as PyTorch's .bin and .pth files are, which are not read; get the model's "
     "safetensors weights, or convert it with Transformers' save_pretrained()"},
    {"\x80\x02",
     "is a pickle of PyTorch, which is not read; get the model's safetensors weights, or convert it "
     "with Transformers' save_pretrained()"},
    {"\x1f\x8b", "is a gzip archive; unpack it"},
    {"\x28\xb5\x2f\xfd", "is a zstd archive; unpack it"},
};

const char *foreign_encoding(const void *data, size_t n)
{
    const char *s = data;
    int has_mark = n >= 2 && (!memcmp(s, "\xff\xfe", 2) || !memcmp(s, "\xfe\xff", 2));
    int has_zeros = n >= 4 && (!s[0] != !s[1]) && !s[0] == !s[2] && !s[1] == !s[3];
    return has_mark || has_zeros
               ? "is a text in UTF-16, which is not read; save it as UTF-8, for instance with "
                 "`iconv -f UTF-16 -t UTF-8 OLD >NEW`"
               : NULL;
}

const char *foreign_bytes(const void *data, size_t n)
{
    const char *text = data;
    size_t size = n;
    if (!n)
        return "is empty, as a download leaves it that broke off at once; get it anew, for instance "
               "with " FOREIGN_FETCH;
    n = n < LOOK_AT ? n : LOOK_AT;
    if (n >= 16 && is_all_zeros(text, n))
        return "begins with zeros only, as a download leaves it that was not finished; get it anew, for "
               "instance "
               "with " FOREIGN_FETCH;
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        n -= 3;
    }
    for (; n && isspace((unsigned char)*text); n--)
        text++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(text, n, known[i].first))
            return known[i].text;
    if (n && *text == '{' && size < MESSAGE_MAX &&
        (holds(text, n, "\"error\"") || holds(text, n, "\"errors\"")))
        return MESSAGE;
    return NULL;
}

const char *foreign_message(void)
{
    return MESSAGE;
}

void foreign_missing(struct str *out, const char *dir, const char *name)
{
    static const char *const parts[] = {".incomplete", ".part",     ".partial", ".crdownload",
                                        ".aria2",      ".download", ".tmp"};
    struct str path = {0};
    struct stat st;
    char target[1024];
    file_join(&path, dir, name);
    ssize_t n = readlink(path.data, target, sizeof target - 1);
    if (n > 0 && stat(path.data, &st) && errno == ENOENT)
        str_printf(out,
                   "; %s is a link to %.*s, which is gone, as a Hub's cache that was cleared leaves it; get "
                   "it anew with " FOREIGN_FETCH,
                   name, (int)n, target);
    else if (n < 0 && lstat(path.data, &st) && errno == EACCES)
        str_printf(out, "; the folder %s may not be read: check its permissions", dir);
    size_t len = path.len;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !out->len; i++) {
        path.len = len;
        str_puts(&path, parts[i]);
        if (file_exists(path.data))
            str_printf(out,
                       "; %s%s is there, a download that was not finished: repeat it, or use " FOREIGN_FETCH,
                       name, parts[i]);
    }
    str_release(&path);
}

int foreign_check_missing(const char *dir, const char *name, struct err *e)
{
    struct str path = {0}, why = {0};
    file_join(&path, dir, name);
    if (!file_exists(path.data))
        foreign_missing(&why, dir, name);
    int rc = why.len ? err_set(e, ERR_IO, "%s is missing%s", path.data, why.data) : 0;
    str_release(&path);
    str_release(&why);
    return rc;
}
