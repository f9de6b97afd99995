/* Chinese words: the rows of zh_segmenter.test, with the dictionary in zh_dict/ and without one; the
 * places where the data are searched for; data that are refused. */
#include <jansson.h>

#include "answer_check/textscore/zh_segmenter.h"
#include "evalcore/base/file.h"
#include "tests/cases.h"

#define ZH_DICT SOURCE_DIR "/tests/answer_check/textscore/zh_dict"

static void check_cut(const char *path, int line, const json_t *o, const char *key,
                      const struct zh_segmenter *zh)
{
    const json_t *text = json_object_get(o, "text"), *want = json_object_get(o, key);
    struct word_list got = {0};
    zh_cut(&got, zh, json_string_value(text), json_string_length(text));
    int same = json_is_array(want) && got.n == json_array_size(want);
    for (size_t i = 0; same && i < got.n; i++) {
        const json_t *w = json_array_get(want, i);
        size_t n;
        const char *s = word_at(&got, i, &n);
        same = n == json_string_length(w) && !memcmp(s, json_string_value(w), n);
    }
    check_count++;
    if (!same) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s, %s:", path, line, json_string_value(json_object_get(o, "name")), key);
        for (size_t i = 0; i < got.n; i++) {
            size_t n;
            const char *s = word_at(&got, i, &n);
            fprintf(stderr, " [%.*s]", (int)n, s);
        }
        fprintf(stderr, "\n");
    }
    word_list_release(&got);
}

static void check_rows(const char *path, const struct zh_segmenter *zh)
{
    struct cases c;
    char *text;
    int line;
    cases_open(&c, path);
    while ((text = cases_line(&c, &line))) {
        json_t *o = json_loads(text, 0, NULL);
        check_cut(path, line, o, "words", zh);
        check_cut(path, line, o, "chars", NULL);
        json_decref(o);
    }
    cases_close(&c);
}

static void write_text(const char *path, const char *text)
{
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, text, strlen(text), &e), 0);
}

/* Opening a folder with these files must fail with `why` in the message or, if `why` is "", succeed. A file
 * given as "" has valid contents. */
static void open_refused(const char *dict, const char *trans, const char *why)
{
    static const char row[] = "P={'B': -1}", rows[] = "P={'B': {'E': -1}}";
    struct zh_segmenter *zh;
    struct err e = {0};
    write_text("zh/dict.txt", *dict ? dict : "ab 3 n\n");
    write_text("zh/finalseg/prob_start.py", row);
    write_text("zh/finalseg/prob_trans.py", *trans ? trans : rows);
    write_text("zh/finalseg/prob_emit.py", "P={'B': {'\\u4e00': -1.5e0,}, }");
    int rc = zh_segmenter_open(&zh, "zh", NULL, &e);
    CHECK_INT(rc != 0, *why != 0);
    if (!strstr(e.text, why))
        fprintf(stderr, "\"%s\": %s\n", why, e.text);
    CHECK(strstr(e.text, why) != NULL);
    CHECK((zh == NULL) == (rc != 0));
    zh_segmenter_close(zh);
}

static void bad_data(void)
{
    open_refused("", "", "");
    open_refused("a 1\r\nb 2 x\n", "", "");
    open_refused("ab\n", "", "zh/dict.txt:1: not a word and its count");
    open_refused("ab 3\nc x n\n", "", "zh/dict.txt:2: not a word and its count");
    open_refused("ab 99999999999 n\n", "", "zh/dict.txt:1: not a word");
    open_refused(" 3 n\n", "", "zh/dict.txt:1: not a word");
    open_refused("ab 0\n", "", "the dictionary is empty");
    open_refused("", "P={'B': {'E': -1}", "prob_trans.py:1: , or } was expected");
    open_refused("", "P={'B':\n {'E': x}}", "prob_trans.py:2: a number was expected");
    open_refused("", "P={'B' {'E': -1}}", "a key of one character and a colon was expected");
    open_refused("", "P={'X': {'E': -1}}", "one of the states B, E, M and S was expected");
    open_refused("", "P={'B': {'E': -1 'M': -1}}", ", or } was expected");
    open_refused("", "P={'B': {'\\u4x00': -1}}", "four hexadecimal digits was expected");
    open_refused("", "P=", "{ was expected");
    open_refused("", "P={'", "a key in quotes was expected");
}

static void write_copy(const char *name, const char *to)
{
    struct str from = {0}, text = {0};
    struct err e = {0};
    str_printf(&from, ZH_DICT "/%s", name);
    CHECK_INT(file_read(from.data, &text, &e), 0);
    write_text(to, text.data);
    str_release(&from);
    str_release(&text);
}

/* The data are found in share/ beside the program, or in ../share/kveval; a folder that is named must have
 * them.
 */
static void open_places(void)
{
    struct zh_segmenter *zh;
    struct err e = {0};
    CHECK_INT(file_mkdirs("zh_program/share/finalseg", &e), 0);
    write_copy("dict.txt", "zh_program/share/dict.txt");
    write_copy("finalseg/prob_start.py", "zh_program/share/finalseg/prob_start.py");
    write_copy("finalseg/prob_trans.py", "zh_program/share/finalseg/prob_trans.py");
    write_copy("finalseg/prob_emit.py", "zh_program/share/finalseg/prob_emit.py");
    CHECK_INT(zh_segmenter_open(&zh, NULL, "zh_program/kveval", &e), 0);
    CHECK(zh && zh->dict.n_entries < 100); /* our small dictionary, not the system's jieba */
    CHECK_STR(zh_segmenter_name(zh), "jieba");
    zh_segmenter_close(zh);
    CHECK_INT(file_mkdirs("zh_installed/bin", &e), 0);
    CHECK_INT(file_mkdirs("zh_installed/share", &e), 0);
    CHECK_INT(file_remove_tree("zh_installed/share/kveval", &e), 0);
    CHECK_INT(rename("zh_program/share", "zh_installed/share/kveval"), 0);
    CHECK_INT(zh_segmenter_open(&zh, NULL, "zh_installed/bin/kveval", &e), 0);
    CHECK(zh && zh->dict.n_entries < 100);
    zh_segmenter_close(zh);
    CHECK(zh_segmenter_open(&zh, "nowhere", "zh_program/kveval", &e) < 0);
    CHECK(!zh && strstr(e.text, "jieba's dictionary: ") && strstr(e.text, "nowhere/dict.txt"));
    CHECK_STR(zh_segmenter_name(NULL), "char");
    zh_segmenter_close(NULL);
}

/* A million characters, and characters that no dictionary has. */
static void cut_floods(const struct zh_segmenter *zh)
{
    static const char *const units[] = {
        "\xe7\xa0\x94\xe7\xa9\xb6\xe7\x94\x9f", "\xe5\x9b\xa7", "a.1", "%", "\r", "\xff"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct str text = {0};
        struct word_list words = {0};
        while (text.len < 1 << 20)
            str_puts(&text, units[i]);
        zh_cut(&words, zh, text.data, text.len);
        CHECK(words.n > 0);
        CHECK(units[i][0] == '\xff' || words.text.len == text.len);
        word_list_release(&words);
        str_release(&text);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    struct zh_segmenter *zh;
    struct err e = {0};
    CHECK_INT(file_mkdirs("zh/finalseg", &e), 0);
    if (zh_segmenter_open(&zh, ZH_DICT, NULL, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    check_rows(argv[1], zh);
    cut_floods(zh);
    zh_segmenter_close(zh);
    bad_data();
    open_places();
    return check_done();
}
