/* The embedded model's tokenizer against its prompts, and how its ids are decoded. */
#include "engine/text/tokenizer.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tests/check.h"

/* The prompts of a family: each has as many ids as the reference decoder counted, which also counts the
 * begin-of-sentence token. *rows: how many were compared. */
static void check_prompts(const struct tokenizer *t, const char *family, int *rows)
{
    struct str path = {0}, back = {0};
    struct file_lines problems = {0}, reference = {0};
    struct token_list ids = {0};
    struct tokenizer_scratch scratch = {0};
    struct err e = {0};
    const char *line;
    size_t n;
    str_printf(&path, SOURCE_DIR "/tests/data/pocket/problems/%s.jsonl", family);
    CHECK_INT(file_lines_open(&problems, path.data, &e), 0);
    CHECK_INT(file_lines_open(&reference, SOURCE_DIR "/tests/data/pocket/reference/full.jsonl", &e), 0);
    json_t *want = NULL, *p = NULL;
    while (file_lines_next(&problems, &line, &n, &e) == 1) {
        CHECK_INT(json_read_text(&p, line, n, "problem", &e), 0);
        const char *text = json_string_value(json_object_get(p, "rendered"));
        ids.n = 0;
        str_clear(&back);
        CHECK_INT(tokenizer_encode(t, &scratch, text, strlen(text), 1, &ids, &e), 0);
        tokenizer_decode(t, ids.id, ids.n, 0, &back);
        CHECK_STR(str_text(&back), text);
        const char *id = json_string_value(json_object_get(p, "id"));
        while (!want && file_lines_next(&reference, &line, &n, &e) == 1) {
            CHECK_INT(json_read_text(&want, line, n, "reference", &e), 0);
            if (strcmp(json_string_value(json_object_get(want, "task")), family)) {
                json_decref(want);
                want = NULL;
            }
        }
        if (want && !strcmp(json_string_value(json_object_get(want, "id")), id)) {
            CHECK_INT(ids.n + 1, json_integer_value(json_object_get(want, "prompt_len")));
            json_decref(want);
            want = NULL;
            ++*rows;
        }
        json_decref(p);
    }
    json_decref(want);
    CHECK_INT(problems.number, 64);
    file_lines_close(&problems);
    file_lines_close(&reference);
    token_list_release(&ids);
    tokenizer_scratch_release(&scratch);
    str_release(&path);
    str_release(&back);
}

static void check_decoding(const struct tokenizer *t)
{
    struct str out = {0};
    static const int32_t ids[] = {451, 39, -1, 100000, 454, 450, 455}; /* 455: one past the largest id */
    tokenizer_decode(t, ids, 7, 1, &out);
    CHECK_STR(str_text(&out), "H</think>");
    str_clear(&out);
    tokenizer_decode(t, ids, 7, 0, &out);
    CHECK_STR(str_text(&out), "<|User|>H</think><|end_of_sentence|>");
    str_release(&out);
}

int main(void)
{
    static const char *const families[] = {"relay20", "algebra16", "lookup60", "choice18"};
    struct err e = {0};
    struct tokenizer *t;
    int rows = 0;
    CHECK_INT(tokenizer_open_file(&t, SOURCE_DIR "/engine/pocket/tokenizer.json", &e), 0);
    CHECK_STR(e.text, "");
    if (!t)
        return check_done();
    for (int i = 0; i < 4; i++)
        check_prompts(t, families[i], &rows);
    CHECK_INT(rows, 64);
    check_decoding(t);
    tokenizer_close(t);
    return check_done();
}
