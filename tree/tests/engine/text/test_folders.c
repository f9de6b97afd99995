/* A tokenizer.json beside a tokenizer_config.json gives the ids that Transformers gives (folders.test;
 * folders.py made it and states the format): those of version 4, and those of version 5 where 4 cannot load
 * the folder. */
#include <sys/stat.h>

#include "engine/text/chat.h"
#include "engine/text/tokenizer.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tests/cases.h"

static const char folder[] = "folders_scratch";
static struct tokenizer_scratch scratch;

static void write_json(const char *name, const json_t *v)
{
    struct str path = {0};
    struct err e = {0};
    char *text = json_dumps(v, JSON_COMPACT);
    file_join(&path, folder, name);
    CHECK_INT(file_write_atomic(path.data, text, strlen(text), &e), 0);
    free(text);
    str_release(&path);
}

static void write_folder(const json_t *row)
{
    struct str path = {0};
    struct err e = {0};
    json_t *file;
    str_printf(&path, SOURCE_DIR "/tests/engine/text/tokenizers/%s.json",
               json_string_value(json_object_get(row, "base")));
    CHECK_INT(json_read_file(&file, path.data, &e), 0);
    json_object_update(file, json_object_get(row, "tokenizer"));
    write_json("tokenizer.json", file);
    write_json("tokenizer_config.json", json_object_get(row, "config"));
    json_decref(file);
    str_release(&path);
}

/* Unless "legacy" is false, version 4 writes the mark as a normalizer does, before each part of a text and
 * before one that begins with a space, which what version 5 builds does not. */
static int differs_by_version(const json_t *row, const char *text)
{
    return !json_is_false(json_object_get(json_object_get(row, "config"), "legacy")) &&
           (*text == ' ' || strchr(text, '<'));
}

static void check_ids(const char *path, int line, const json_t *row, const json_t *one,
                      const struct token_list *ids)
{
    const char *text = json_string_value(json_array_get(one, 0));
    const json_t *want = json_array_get(one, 1);
    if (json_is_null(want)) {
        want = json_array_get(one, 2);
        if (differs_by_version(row, text))
            return;
    }
    int same = json_array_size(want) == ids->n;
    for (size_t i = 0; same && i < ids->n; i++)
        same = json_integer_value(json_array_get(want, i)) == ids->id[i];
    check_count++;
    if (!same) {
        check_failures++;
        fprintf(stderr, "%s:%d: \"%s\" gives %zu ids, which differ from Transformers' %zu\n", path, line,
                text, ids->n, json_array_size(want));
    }
}

static void check_row(const char *path, int line, char *text)
{
    struct err e = {0};
    json_t *row = json_loads(text, 0, NULL), *one;
    struct tokenizer *t = NULL;
    struct chat_own own = {0};
    const struct chat *form = NULL;
    struct chat_words words = {0};
    struct token_list ids = {0};
    size_t i;
    CHECK(row);
    write_folder(row);
    CHECK_INT(tokenizer_open_folder(&t, folder, &e), 0);
    CHECK_STR(e.text, "");
    if (!t)
        return;
    CHECK_INT(chat_own_open(&own, folder, t, &e), 0);
    json_array_foreach(json_object_get(row, "texts"), i, one)
    {
        const char *said = json_string_value(json_array_get(one, 0));
        ids.n = 0;
        CHECK_INT(tokenizer_encode(t, &scratch, said, strlen(said), 1, &ids, &e), 0);
        check_ids(path, line, row, one, &ids);
    }
    json_array_foreach(json_object_get(row, "prompts"), i, one)
    {
        const char *said = json_string_value(json_array_get(one, 0));
        ids.n = 0;
        CHECK_INT(chat_own_form(&own, &form, &e), 0);
        CHECK_INT(chat_encode(form, t, &scratch, &words, said, strlen(said), &ids, &e), 0);
        check_ids(path, line, row, one, &ids);
    }
    token_list_release(&ids);
    chat_own_release(&own);
    tokenizer_close(t);
    json_decref(row);
}

static void refused(const char *config, const char *words)
{
    struct err e = {0};
    struct tokenizer *t;
    json_t *c = json_loads(config, 0, NULL);
    write_json("tokenizer_config.json", c);
    CHECK(tokenizer_open_folder(&t, folder, &e) < 0);
    CHECK(!t && strstr(e.text, words));
    json_decref(c);
}

int main(int argc, char **argv)
{
    mkdir(folder, 0777);
    cases_each_line(argc > 1 ? argv[1] : NULL, check_row);
    refused("{\"add_prefix_space\": \"yes\"}", "\"add_prefix_space\"");
    refused("{\"split_special_tokens\": 1}", "\"split_special_tokens\"");
    tokenizer_scratch_release(&scratch);
    return check_done();
}
