/* Words of a text with Chinese in it, as jieba 0.42.1 (MIT) cuts in its precise mode with the hidden
 * Markov model:
 *
 * - Runs of Chinese characters, Latin letters, digits and + # & . _ % - are cut by the dictionary: of all
 *   ways to compose the run from words of the dictionary (where a single character always counts as a
 *   word) the most likely one is taken, and of equally likely ones the one with the longer first word.
 * - Single characters in a row are then cut again, unless together they are a word of the dictionary:
 *   Chinese by the model, the rest into Latin words with their decimals and percent signs, and what lies
 *   between these.
 * - In everything else each character is a word, and a line end of two characters is one word.
 *
 * Without a dictionary the same rules hold, with each Chinese character by itself. */
#include "answer_check/textscore/zh_segmenter.h"
#include "answer_check/text/code_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"

static int is_han(int32_t c)
{
    return c >= ZH_FIRST && c <= ZH_LAST;
}

static int is_alnum(int32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* May the character stand in a run that the dictionary cuts? */
static int in_run(int32_t c)
{
    return is_han(c) || is_alnum(c) || (c > 0 && c < 128 && strchr("+#&._%-", (int)c));
}

/* A valid text, divided into characters. */
struct cutter {
    const struct zh_segmenter *zh; /* NULL: no dictionary */
    struct word_list *out;
    const char *text;
    const int32_t *c;
    size_t *start; /* where character i begins in text; [n] is the end */
    size_t n;
};

static void add_word(const struct cutter *t, size_t first, size_t past)
{
    if (past > first)
        word_list_add(t->out, t->text + t->start[first], t->start[past] - t->start[first]);
}

/* Length of a Latin word at i: letters and digits, then perhaps a point and digits, then perhaps a percent
 * sign. */
static size_t latin_length(const struct cutter *t, size_t i, size_t past)
{
    size_t j = i;
    while (j < past && is_alnum(t->c[j]))
        j++;
    if (j == i)
        return 0;
    size_t k = j + 1;
    while (j < past && t->c[j] == '.' && k < past && t->c[k] >= '0' && t->c[k] <= '9')
        k++;
    if (k > j + 1)
        j = k;
    return j + (j < past && t->c[j] == '%') - i;
}

/* Cuts Latin words, and what lies between them, from characters that are not Chinese. */
static void cut_latin(const struct cutter *t, size_t first, size_t past)
{
    size_t between = first;
    for (size_t i = first; i < past;) {
        size_t n = latin_length(t, i, past);
        if (n) {
            add_word(t, between, i);
            add_word(t, i, i + n);
            between = i + n;
        }
        i += n ? n : 1;
    }
    add_word(t, between, past);
}

/* Cuts characters that the dictionary did not join into words. */
static void cut_unknown(const struct cutter *t, size_t first, size_t past)
{
    for (size_t i = first, j; i < past; i = j) {
        int han = is_han(t->c[i]);
        for (j = i; j < past && is_han(t->c[j]) == han;)
            j++;
        if (!han)
            cut_latin(t, i, j);
        else if (t->zh)
            zh_hmm_cut(t->out, &t->zh->hmm, t->text, t->start + i, j - i);
        else
            for (; i < j; i++)
                add_word(t, i, i + 1);
    }
}

static int in_dictionary(const struct cutter *t, size_t first, size_t past)
{
    const char *s = t->text + t->start[first];
    size_t n = t->start[past] - t->start[first];
    const struct zh_entry *found = t->zh ? zh_dict_find(&t->zh->dict, s, n, zh_hash(0, s, n)) : NULL;
    return found && found->count;
}

/* Cuts single characters in a row. */
static void cut_singles(const struct cutter *t, size_t first, size_t past)
{
    if (past - first > 1 && !in_dictionary(t, first, past))
        cut_unknown(t, first, past);
    else
        for (size_t i = first; i < past; i++)
            add_word(t, i, i + 1);
}

/* The end of the first word on the most likely way from i to `past`. value[j - first] is the
 * log-probability of the way from j on, already known for j > i and set here for i. */
static size_t best_word(const struct cutter *t, double *value, size_t first, size_t i, size_t past)
{
    const struct zh_dict *d = &t->zh->dict;
    const char *s = t->text + t->start[i];
    const struct zh_entry *found;
    size_t end = i + 1;
    uint64_t hash = 0;
    int known = 0;
    value[i - first] = 0 - d->log_total + value[end - first]; /* an unknown word counts as seen once */
    for (size_t j = i; j < past; j++) {
        hash = zh_hash(hash, t->text + t->start[j], t->start[j + 1] - t->start[j]);
        found = zh_dict_find(d, s, t->start[j + 1] - t->start[i], hash);
        if (!found)
            break;
        if (!found->count)
            continue;
        double v = log((double)found->count) - d->log_total + value[j + 1 - first];
        if (!known || v >= value[i - first]) {
            value[i - first] = v;
            end = j + 1;
        }
        known = 1;
    }
    return end;
}

/* Cuts a run by the dictionary. */
static void cut_run(const struct cutter *t, size_t first, size_t past)
{
    if (!t->zh) {
        cut_singles(t, first, past);
        return;
    }
    size_t n = past - first, single = first;
    double *value = xmalloc((n + 1) * sizeof *value);
    size_t *end = xmalloc((n + 1) * sizeof *end);
    value[n] = 0;
    for (size_t i = past; i-- > first;)
        end[i - first] = best_word(t, value, first, i, past);
    for (size_t i = first; i < past;) {
        size_t next = end[i - first];
        if (next > i + 1) {
            cut_singles(t, single, i);
            add_word(t, i, next);
            single = next;
        }
        i = next;
    }
    cut_singles(t, single, past);
    free(value);
    free(end);
}

void zh_cut(struct word_list *out, const struct zh_segmenter *s, const char *text, size_t n)
{
    struct str valid = {0};
    struct code_points c;
    str_add_utf8(&valid, text, n);
    code_points_of(&c, str_text(&valid), valid.len);
    struct cutter t = {s, out, str_text(&valid), c.c, xmalloc((c.n + 1) * sizeof *t.start), c.n};
    size_t at = 0;
    for (size_t i = 0; i < c.n; i++) {
        t.start[i] = at;
        utf8_next(t.text, valid.len, &at);
    }
    t.start[c.n] = at;
    for (size_t i = 0, j; i < c.n; i = j) {
        for (j = i; j < c.n && in_run(c.c[j]);)
            j++;
        if (j > i) {
            cut_run(&t, i, j);
        } else {
            j += c.c[i] == '\r' && i + 1 < c.n && c.c[i + 1] == '\n' ? 2 : 1;
            add_word(&t, i, j);
        }
    }
    free(t.start);
    code_points_release(&c);
    str_release(&valid);
}

/* ---- finding and opening the data ---- */

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

/* Opens the data in a folder. Returns 0 and a new segmenter, or an error. */
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
