/* Every field that is read of a model's four files, with what a change of it does: model_fields.json is the
 * table, docs/models.md the page. For each row a folder is written with the change and without it, and the
 * keys of a run file's jobs are compared, as a sweep makes them. The readers' calls of json_object_get() are
 * counted by name (the linker puts __wrap_json_object_get() in its place): a field that is read and not in
 * the table fails the test. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/plan/runplan.h"
#include "tests/check.h"

json_t *__real_json_object_get(const json_t *o, const char *key);
json_t *__wrap_json_object_get(const json_t *o, const char *key);

enum { VOCABULARY = 100, NAMES_MAX = 200 }; /* larger objects map tokens to ids */
static int is_recording, n_names;
static char name[NAMES_MAX][64];

static int is_field_name(const char *key)
{
    return strlen(key) > 1 &&
           strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(key);
}

json_t *__wrap_json_object_get(const json_t *o, const char *key)
{
    if (is_recording && json_object_size(o) < VOCABULARY && is_field_name(key)) {
        int i = 0;
        while (i < n_names && strcmp(name[i], key) != 0)
            i++;
        if (i == n_names && n_names < NAMES_MAX)
            snprintf(name[n_names++], sizeof name[0], "%s", key);
    }
    return __real_json_object_get(o, key);
}

/* ---- the folder: the embedded model's files, or a tokenizer like Llama 2's over the same weights */

static const char *const files[] = {"config.json", "generation_config.json", "tokenizer.json",
                                    "tokenizer_config.json", "../run.json"};
enum { N_FILES = 5 };
struct folder {
    json_t *file[N_FILES];
};

static json_t *read_json(const char *path)
{
    struct err e = {0};
    json_t *o = NULL;
    CHECK_INT(json_read_file(&o, path, &e), 0);
    return o;
}

/* Characters and bytes, as sentencepiece's vocabularies have them, with one merge. */
static json_t *llama_tokenizer(void)
{
    static const char mark[] = "\xe2\x96\x81";
    json_t *vocab = json_pack("{s:i, s:i, s:i}", "<unk>", 0, "<s>", 1, "</s>", 2);
    char text[16];
    int id = 3;
    for (int i = 0; i < 256; i++, id++) {
        snprintf(text, sizeof text, "<0x%02X>", (unsigned)i);
        json_object_set_new(vocab, text, json_integer(id));
    }
    for (char c = 'a'; c <= 'z'; c++, id++)
        json_object_set_new(vocab, (char[2]){c, 0}, json_integer(id));
    for (char c = '0'; c <= '9'; c++, id++)
        json_object_set_new(vocab, (char[2]){c, 0}, json_integer(id));
    json_object_set_new(vocab, mark, json_integer(id++));
    snprintf(text, sizeof text, "%sa", mark);
    json_object_set_new(vocab, text, json_integer(id++));
    return json_pack(
        "{s:s, s:[{s:i, s:s, s:b}, {s:i, s:s, s:b}, {s:i, s:s, s:b}], s:{s:s, s:[{s:s, s:s}, {s:s, s:{s:s}, "
        "s:s}]}, s:n, s:{s:s, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:{s:{s:s, s:[i], s:[s]}}}, s:{s:s, "
        "s:[{s:s, "
        "s:{s:s}, s:s}, {s:s}, {s:s}, {s:s, s:s, s:i, s:i}]}, s:{s:s, s:s, s:b, s:b, s:o, s:[s]}}",
        "version", "1.0", "added_tokens", "id", 0, "content", "<unk>", "special", 1, "id", 1, "content",
        "<s>", "special", 1, "id", 2, "content", "</s>", "special", 1, "normalizer", "type", "Sequence",
        "normalizers", "type", "Prepend", "prepend", mark, "type", "Replace", "pattern", "String", " ",
        "content", mark, "pre_tokenizer", "post_processor", "type", "TemplateProcessing", "single",
        "SpecialToken", "id", "<s>", "type_id", 0, "Sequence", "id", "A", "type_id", 0, "special_tokens",
        "<s>", "id", "<s>", "ids", 1, "tokens", "<s>", "decoder", "type", "Sequence", "decoders", "type",
        "Replace", "pattern", "String", mark, "content", " ", "type", "ByteFallback", "type", "Fuse", "type",
        "Strip", "content", " ", "start", 1, "stop", 0, "model", "type", "BPE", "unk_token", "<unk>",
        "fuse_unk", 1, "byte_fallback", 1, "vocab", vocab, "merges", "\xe2\x96\x81 a");
}

static struct folder make_folder(int is_llama)
{
    struct folder f = {
        {read_json(SOURCE_DIR "/engine/pocket/config.json"), json_pack("{s:i}", "eos_token_id", 450),
         is_llama ? llama_tokenizer() : read_json(SOURCE_DIR "/engine/pocket/tokenizer.json"),
         is_llama
             ? json_object()
             : json_pack("{s:s, s:s, s:s, s:s}", "tokenizer_class", "PreTrainedTokenizerFast", "bos_token",
                         "<|begin_of_sentence|>", "eos_token", "<|end_of_sentence|>", "chat_template",
                         "{{ bos_token }}{% for m in messages %}<|User|>{{ m['content'] }}{% endfor %}"
                         "{% if add_generation_prompt %}<|Assistant|>{% endif %}"),
         json_pack("{s:s, s:i, s:[s], s:[{s:s, s:s}]}", "model", "m", "max_new_tokens", 40, "policies",
                   "full", "tasks", "name", "pocket.lookup", "file", "p.jsonl")}};
    return f;
}

static void release_folder(struct folder *f)
{
    for (int i = 0; i < N_FILES; i++)
        json_decref(f->file[i]);
}

static int file_index(const char *file)
{
    int i = 0;
    while (i < N_FILES && strcmp(strrchr(files[i], '/') ? strrchr(files[i], '/') + 1 : files[i], file) != 0)
        i++;
    CHECK(i < N_FILES);
    return i < N_FILES ? i : 0;
}

/* Sets "a.0.b" to a value; NULL takes it out. Returns 0 when there is no such place. */
static int set_field(json_t *o, const char *path, json_t *to)
{
    char part[64];
    const char *dot;
    while ((dot = strchr(path, '.')) && o) {
        snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
        o = json_is_array(o) ? json_array_get(o, strtoul(part, NULL, 10)) : __real_json_object_get(o, part);
        path = dot + 1;
    }
    if (json_is_array(o) && to)
        return !json_array_set(o, strtoul(path, NULL, 10), to);
    if (!json_is_object(o))
        return 0;
    return to ? !json_object_set(o, path, to) : !json_object_del(o, path);
}

static void write_folder(const struct folder *f)
{
    for (int i = 0; i < N_FILES; i++) { /* without waiting for the disk, which file_write_atomic() does */
        char path[64];
        snprintf(path, sizeof path, "m/%s", files[i]);
        CHECK_INT(json_dump_file(f->file[i], path, JSON_COMPACT), 0);
    }
}

/* ---- what a folder gives: the keys of the jobs, or why it is refused */

static void record_names(void)
{
    struct tokenizer *t = NULL;
    struct chat_own chat;
    struct err e = {0};
    char hex[65];
    is_recording = 1;
    if (!engine_open_tokenizer("m", &t, &e) && !engine_open_chat("m", t, &chat, &e)) {
        engine_configuration("m", t, hex, &e);
        chat_own_release(&chat);
    }
    tokenizer_close(t);
    is_recording = 0;
}

static int job_keys(struct str *keys, struct err *e)
{
    struct runfile file = {0};
    struct runplan plan;
    struct runplan_options o = {.dry = 1};
    if (runfile_load(&file, "run.json", &(struct runfile_options){0}, e))
        return e->code;
    int rc = runplan_build(&plan, &file, &o, e);
    if (!rc) {
        struct model_facts facts = {"w", plan.loaded[0].configuration, "n", "d"};
        rc = runplan_bind(&plan, &facts, e);
        for (long i = 0; i < plan.n_jobs; i++)
            str_printf(keys, "%s ", plan.jobs[i].key);
        CHECK(plan.n_jobs == 2);
        runplan_release(&plan);
    }
    runfile_release(&file);
    return rc;
}

/* ---- the page */

/* "pre_tokenizer.pretokenizers.0.behavior" is "pre_tokenizer.behavior" there: lists are walked through. */
static void plain_name(const char *path, char *out, size_t n)
{
    static const char *const lists[] = {"pretokenizers", "normalizers",    "processors",
                                        "decoders",      "special_tokens", NULL};
    size_t used = 0;
    out[0] = 0;
    while (*path) {
        size_t len = strcspn(path, ".");
        int is_last = !path[len], skip = path[0] >= '0' && path[0] <= '9';
        for (int i = 0; lists[i] && !is_last; i++)
            skip |= strlen(lists[i]) == len && !strncmp(path, lists[i], len);
        if (path[0] == '<') /* a token by its text */
            skip = 1;
        int is_vocab = !strncmp(path, "vocab.", 6);
        if (!skip)
            used += (size_t)snprintf(out + used, n - used, "%s%.*s", used ? "." : "", (int)len, path);
        path += is_vocab ? strlen(path) : len + (path[len] == '.');
    }
}

/* The line of the page that has the field under its file. */
static const char *find_line(const char *page, const char *file, const char *field, char *line, size_t n)
{
    char heading[80], cell[200];
    snprintf(heading, sizeof heading, "\n## `%s`\n", file);
    snprintf(cell, sizeof cell, "`%s`", field);
    const char *from = strstr(page, heading), *to = from ? strstr(from + 4, "\n## ") : NULL;
    while (from && (from = strstr(from, "\n| ")) && (!to || from < to)) {
        size_t len = strcspn(++from, "\n"), first = strcspn(from + 2, "|");
        snprintf(line, n, "%.*s", (int)(first + 2 < n ? first + 2 : n - 1), from);
        if (strstr(line, cell)) {
            snprintf(line, n, "%.*s", (int)(len < n ? len : n - 1), from);
            return line;
        }
    }
    return NULL;
}

static void check_page(const char *page, const char *file, const char *path, const char *effect)
{
    char field[160], line[1200];
    const char *words = !strcmp(effect, "anew")   ? "decoded anew"
                        : !strcmp(effect, "none") ? "no effect"
                                                  : effect;
    plain_name(path, field, sizeof field);
    const char *found = find_line(page, file, field, line, sizeof line);
    CHECK(found != NULL);
    if (!found || !strstr(found, words)) {
        check_failures++;
        fprintf(stderr, "  docs/models.md: \"%s\" is missing for %s of %s\n", words, field, file);
    }
}

/* ---- the table */

static void apply(struct folder *f, const char *file, const char *path, json_t *to, const char *where)
{
    if (!set_field(f->file[file_index(file)], path, to)) {
        check_failures++;
        fprintf(stderr, "  %s: no place for %s in %s\n", where, path, file);
    }
}

static void check_row(json_t *row, const char *page)
{
    const char *file = json_string_value(__real_json_object_get(row, "file")),
               *path = json_string_value(__real_json_object_get(row, "field")),
               *effect = json_string_value(__real_json_object_get(row, "effect")), *got;
    json_t *to = __real_json_object_get(row, "to"), *with = __real_json_object_get(row, "with"), *one;
    struct folder f = make_folder(json_is_true(__real_json_object_get(row, "llama")));
    struct str keys[2] = {{0}, {0}};
    struct err e[2] = {{0}, {0}};
    size_t i;
    json_array_foreach(with, i, one)
    {
        apply(&f, json_string_value(json_array_get(one, 0)), json_string_value(json_array_get(one, 1)),
              json_array_get(one, 2), path);
    }
    int is_llama = json_is_true(__real_json_object_get(row, "llama"));
    static struct str plain[2]; /* keys without a change, of either folder */
    for (int k = 0; k < 2; k++) {
        if (k)
            apply(&f, file, path, to, path);
        if (!k && !with && plain[is_llama].len) {
            str_puts(&keys[0], plain[is_llama].data);
            continue;
        }
        write_folder(&f);
        job_keys(&keys[k], &e[k]);
        record_names();
        if (!k && !with)
            str_puts(&plain[is_llama], str_text(&keys[0]));
    }
    got = e[0].code                                        ? "refused before"
          : e[1].code                                      ? "refused"
          : strcmp(str_text(&keys[0]), str_text(&keys[1])) ? "anew"
                                                           : "none";
    const char *last = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
    int is_named = !e[1].code || strstr(e[1].text, file) || strstr(e[1].text, last);
    CHECK_STR(got, effect);
    CHECK(is_named); /* a refusal names the file or the field */
    if (strcmp(got, effect) != 0 || !is_named) {
        char *text = json_dumps(row, JSON_COMPACT);
        fprintf(stderr, "  %s %s%s\n", text, e[0].text, e[1].text);
        free(text);
    }
    check_page(page, file, path, effect);
    str_release(&keys[0]);
    str_release(&keys[1]);
    release_folder(&f);
}

static int is_in_table(json_t *rows, const char *field)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *path = json_string_value(__real_json_object_get(row, "field"));
        const char *dot = strrchr(path, '.');
        if (!strcmp(dot ? dot + 1 : path, field))
            return 1;
    }
    return 0;
}

int main(void)
{
    static const char problems[] =
        "{\"id\": \"a\", \"prompt\": \" Anna's map: room 12, then  room 345. Where is r\u00f3ma? \", "
        "\"gold\": \"1\"}\n"
        "{\"id\": \"b\", \"prompt\": \"think (aloud) \\n\\n and ~ say {x}\", \"gold\": \"2\"}\n";
    struct str page = {0};
    struct err e = {0};
    json_t *rows = read_json(SOURCE_DIR "/tests/evalcore/plan/model_fields.json"), *row;
    size_t i;
    CHECK_INT(file_read(SOURCE_DIR "/docs/models.md", &page, &e), 0);
    CHECK_INT(file_mkdirs("m", &e), 0);
    CHECK_INT(file_write_atomic("p.jsonl", problems, strlen(problems), &e), 0);
    unlink("m/model.safetensors");
    CHECK_INT(symlink(SOURCE_DIR "/engine/pocket/model.safetensors", "m/model.safetensors"), 0);
    json_array_foreach(rows, i, row) check_row(row, str_text(&page));
    CHECK(json_array_size(rows) > 100 && n_names > 60 && n_names < NAMES_MAX);
    for (int k = 0; k < n_names; k++)
        if (!is_in_table(rows, name[k])) {
            check_failures++;
            fprintf(stderr,
                    "\"%s\" is read of a model's files and not in tests/evalcore/plan/model_fields.json\n",
                    name[k]);
        }
    json_decref(rows);
    str_release(&page);
    return check_done();
}
