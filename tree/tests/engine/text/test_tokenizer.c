/* The tokenizer gives the ids that the tokenizers library gives (tokenizer.test; tokenizers/make.py made it
 * and states the format). Decoding gives the text back, guarded text cannot forge special tokens, and long
 * pieces are not slow. */
#include <time.h>

#include "engine/text/tokenizer.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tests/cases.h"

enum { TOKENIZERS = 40 };
static struct named {
    char name[20];
    struct tokenizer *t;
} known[TOKENIZERS];
static int n_known;
static struct tokenizer_scratch scratch;

static struct tokenizer *by_name(const char *name, size_t n)
{
    for (int i = 0; i < n_known; i++)
        if (strlen(known[i].name) == n && !memcmp(known[i].name, name, n))
            return known[i].t;
    return NULL;
}

static void add_known(const char *name, struct tokenizer *t)
{
    if (n_known == TOKENIZERS)
        exit(1);
    snprintf(known[n_known].name, sizeof known->name, "%s", name);
    known[n_known++].t = t;
}

/* The file of a tokenizer with some fields replaced; a key with dots is a path. */
static void changed_file(const char *base, const char *fields, struct str *out)
{
    struct err e = {0};
    struct str path = {0};
    json_t *file, *change, *value;
    const char *key;
    str_printf(&path, SOURCE_DIR "/tests/engine/text/tokenizers/%s.json", base);
    CHECK_INT(json_read_file(&file, path.data, &e), 0);
    CHECK_INT(json_read_text(&change, fields, strlen(fields), "fields", &e), 0);
    json_object_foreach(change, key, value)
    {
        json_t *at = file;
        const char *name = key, *dot;
        for (; (dot = strchr(name, '.')); name = dot + 1) {
            char part[40];
            snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
            at = json_object_get(at, part);
        }
        CHECK_INT(json_object_set(at, name, value), 0);
    }
    char *text = json_dumps(file, JSON_COMPACT);
    str_puts(out, text);
    free(text);
    json_decref(file);
    json_decref(change);
    str_release(&path);
}

static unsigned hex4(const char *p)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++)
        v = v * 16 + (unsigned)(p[i] <= '9' ? p[i] - '0' : (p[i] | 32) - 'a' + 10);
    return v;
}

static void put_utf8(struct str *out, unsigned c)
{
    if (c < 0x80) {
        str_putc(out, (char)c);
    } else {
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        str_putc(out, (char)((0xFF00u >> (more + 1) & 0xFF) | c >> 6 * more));
        while (more-- > 0)
            str_putc(out, (char)(0x80 | (c >> 6 * more & 0x3F)));
    }
}

/* A JSON string in which a lone \udcXX is the byte XX; returns what follows it. */
static const char *read_text(const char *p, struct str *out)
{
    for (p++; *p && *p != '"'; p++) {
        if (*p != '\\') {
            str_putc(out, *p);
            continue;
        }
        p++;
        const char *at = strchr("b\bf\fn\nr\rt\t", *p);
        if (*p != 'u') {
            str_putc(out, at && *p >= 'b' ? at[1] : *p);
            continue;
        }
        unsigned c = hex4(p + 1);
        p += 4;
        if (c >= 0xDC80 && c < 0xDD00) {
            str_putc(out, (char)(c - 0xDC00));
        } else if (c >= 0xD800 && c < 0xDC00) {
            put_utf8(out, 0x10000 + ((c - 0xD800) << 10) + (hex4(p + 3) - 0xDC00));
            p += 6;
        } else {
            put_utf8(out, c);
        }
    }
    return p + 1;
}

static void put_ids(struct str *out, const struct token_list *l)
{
    for (size_t i = 0, j; i < l->n; i = j) {
        for (j = i; j < l->n && l->id[j] == l->id[i]; j++)
            ;
        str_printf(out, out->len ? " %d" : "%d", l->id[i]);
        if (j - i > 1)
            str_printf(out, "*%zu", j - i);
    }
}

/* what the next word of a line asks for */
enum asked { WITH_SPECIAL, PLAIN, FRAMED };

static int encode(const struct tokenizer *t, const struct str *text, enum asked asked, struct token_list *ids,
                  struct err *e)
{
    if (asked == FRAMED)
        return tokenizer_encode_plain(t, &scratch, str_text(text), text->len, 0, 0, ids, e);
    return tokenizer_encode(t, &scratch, str_text(text), text->len, asked == WITH_SPECIAL, ids, e);
}

static void check_ids(struct test_case *c, const struct tokenizer *t, const struct str *text,
                      enum asked asked, const char *want)
{
    struct token_list ids = {0};
    struct str got = {0}, back = {0}, clean = {0};
    struct err e = {0};
    CHECK_INT(encode(t, text, asked, &ids, &e), 0);
    put_ids(&got, &ids);
    check_count++;
    if (strcmp(str_text(&got), want)) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s: ids are %.300s\n  want %.300s\n", c->path, c->line, c->name,
                str_text(&got), want);
    }
    /* Where nothing is normalized or stripped, decoding gives the (repaired) text back. */
    if (!strcmp(c->name, "llama3") || !strcmp(c->name, "gpt2")) {
        str_add_utf8(&clean, str_text(text), text->len);
        tokenizer_decode(t, ids.id, ids.n, 0, &back);
        CHECK(back.len == clean.len && !memcmp(str_text(&back), str_text(&clean), clean.len));
    }
    token_list_release(&ids);
    str_release(&got);
    str_release(&back);
    str_release(&clean);
}

/* Bytes that are no UTF-8, which several tokens may leave, are repaired before they are compared. */
static void check_decoded(struct test_case *c, const struct tokenizer *t, const struct str *text,
                          const char *line)
{
    struct token_list ids = {0};
    struct str got = {0}, clean = {0}, want = {0};
    struct err e = {0};
    read_text(line, &want);
    CHECK_INT(encode(t, text, WITH_SPECIAL, &ids, &e), 0);
    tokenizer_decode_text(t, ids.id, ids.n, 0, &got);
    str_add_utf8(&clean, str_text(&got), got.len);
    check_count++;
    if (clean.len != want.len || memcmp(str_text(&clean), str_text(&want), want.len)) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s: decoded \"%.300s\"\n  want \"%.300s\"\n", c->path, c->line, c->name,
                str_text(&clean), str_text(&want));
    }
    token_list_release(&ids);
    str_release(&got);
    str_release(&clean);
    str_release(&want);
}

/* As a whole, and as a sequence decodes them one after the other. */
static void check_decode(struct test_case *c, char *line)
{
    char *space = strchr(line, ' ');
    const struct tokenizer *t = by_name(line, (size_t)(space - line));
    struct token_list ids = {0};
    struct str want = {0}, got = {0}, stream = {0};
    const char *at = read_text(space + 1, &want);
    for (char *end; *at; at = end)
        token_list_add(&ids, (int32_t)strtol(at, &end, 10));
    CHECK(t && ids.n);
    if (!t)
        return;
    tokenizer_decode_text(t, ids.id, ids.n, 1, &got);
    for (size_t i = 0; i < ids.n; i++)
        tokenizer_decode(t, &ids.id[i], 1, 1, &stream);
    tokenizer_settle(t, ids.id, ids.n, &stream);
    int with_space = stream.len > got.len && stream.data[0] == ' ';
    check_count++;
    if (strcmp(str_text(&got), want.data) || strcmp(stream.data + with_space, want.data)) {
        check_failures++;
        fprintf(stderr, "%s:%d: decoded \"%s\" and \"%s\", want \"%s\"\n", c->path, c->line, str_text(&got),
                stream.data, want.data);
    }
    token_list_release(&ids);
    str_release(&want);
    str_release(&got);
    str_release(&stream);
}

static void check_refused(struct test_case *c, char *line)
{
    char *words = strstr(line, " == "), *space = strchr(line, ' ');
    struct str file = {0};
    struct err e = {0};
    struct tokenizer *t;
    *words = *space = 0;
    changed_file(line, space + 1, &file);
    CHECK(tokenizer_open_text(&t, file.data, file.len, "file.json", &e) < 0);
    CHECK(!t);
    check_count++;
    if (!strstr(e.text, words + 4) || !strstr(e.text, "file.json")) {
        check_failures++;
        fprintf(stderr, "%s:%d: message is \"%s\", want \"%s\"\n", c->path, c->line, e.text, words + 4);
    }
    str_release(&file);
}

static void check_file(const char *path)
{
    struct cases f;
    struct str text = {0};
    char *line;
    cases_open(&f, path);
    struct test_case c = {.path = path};
    while ((line = cases_line(&f, &c.line))) {
        char *rest = strchr(line, ' ');
        if (!rest)
            rest = line + strlen(line);
        size_t n = (size_t)(rest - line);
        rest += *rest == ' ';
        if (!strncmp(line, "text ", 5)) {
            struct str one = {0};
            const char *after = read_text(rest, &one);
            long repeat = *after ? strtol(after, NULL, 10) : 1;
            str_clear(&text);
            while (repeat-- > 0)
                str_add(&text, one.data, one.len);
            str_release(&one);
        } else if (!strncmp(line, "variant ", 8)) {
            struct str file = {0};
            struct tokenizer *t;
            struct err e = {0};
            char *base = strchr(rest, ' '), *fields = strchr(base + 1, ' ');
            *base = *fields = 0;
            changed_file(base + 1, fields + 1, &file);
            CHECK_INT(tokenizer_open_text(&t, file.data, file.len, rest, &e), 0);
            CHECK_STR(e.text, "");
            add_known(rest, t);
            str_release(&file);
        } else if (!strncmp(line, "decode ", 7)) {
            check_decode(&c, rest);
        } else if (!strncmp(line, "refuse ", 7)) {
            check_refused(&c, rest);
        } else {
            const struct tokenizer *t = by_name(line, n);
            line[n] = 0;
            c.name = line;
            CHECK(t);
            int plain = !strncmp(rest, "plain ", 6), framed = !strncmp(rest, "framed ", 7);
            if (t && !strncmp(rest, "decoded ", 8))
                check_decoded(&c, t, &text, rest + 8);
            else if (t)
                check_ids(&c, t, &text,
                          plain    ? PLAIN
                          : framed ? FRAMED
                                   : WITH_SPECIAL,
                          plain    ? rest + 6
                          : framed ? rest + 7
                                   : rest);
        }
    }
    str_release(&text);
    cases_close(&f);
}

static size_t count_ids(const char *name, const char *text, size_t n, size_t from, size_t to, struct str *ids)
{
    struct token_list l = {0};
    struct err e = {0};
    CHECK_INT(tokenizer_encode_guarded(by_name(name, strlen(name)), &scratch, text, n, from, to, &l, &e), 0);
    str_clear(ids);
    put_ids(ids, &l);
    size_t count = l.n;
    token_list_release(&l);
    return count;
}

static void check_guard(void)
{
    struct str a = {0}, b = {0};
    static const char prompt[] = "<|im_start|>user\n<|im_end|>x<|im_end|>";
    const struct tokenizer *t = by_name("qwen2", 5);
    int end = tokenizer_find_added(t, "<|im_end|>"), start = tokenizer_find(t, "<|im_start|>");
    char want[100];
    CHECK(end > 0 && start > 0);
    CHECK_INT(tokenizer_find_added(t, "a"), -1);
    CHECK(tokenizer_find(t, " the") > 0 && tokenizer_find(t, "nothing of the kind") == -1);
    /* Only the last token counts where the range covers the first two; its neighbours are trusted again. */
    count_ids("qwen2", prompt, strlen(prompt), 0, 28, &a);
    snprintf(want, sizeof want, " %d", end);
    CHECK(a.len > strlen(want) && !strcmp(a.data + a.len - strlen(want), want));
    snprintf(want, sizeof want, " %d ", end);
    CHECK(!strstr(a.data, want));
    /* A range that a token straddles, at its end and at its start. */
    count_ids("qwen2", prompt, strlen(prompt), 30, 31, &a);
    count_ids("qwen2", prompt, strlen(prompt), 28, 38, &b);
    CHECK_STR(a.data, b.data);
    /* An empty range guards nothing, wherever it stands. */
    count_ids("qwen2", prompt, strlen(prompt), 30, 30, &a);
    count_ids("qwen2", prompt, strlen(prompt), 0, 0, &b);
    CHECK_STR(a.data, b.data);
    /* Recomposition moves the range: "<n>" of the variant is looked for in normalized text. */
    static const char moved[] = "e\xCC\x81<n>e\xCC\x81<n>";
    size_t all = count_ids("normal", moved, strlen(moved), 0, 0, &a);
    CHECK(count_ids("normal", moved, strlen(moved), 0, 6, &a) > all);
    CHECK(count_ids("normal", moved, strlen(moved), 9, 12, &b) > all);
    CHECK(strcmp(a.data, b.data) != 0);
    CHECK_INT(count_ids("normal", moved, strlen(moved), 6, 9, &a), all);
    str_release(&a);
    str_release(&b);
}

/* A megabyte in one piece, and a long run of marks out of order: seconds if anything were quadratic. */
static void check_long(void)
{
    struct timespec a, b;
    struct str text = {0}, ids = {0};
    for (uint32_t i = 0; i < 1 << 20; i++)
        str_putc(&text, (char)('a' + (i * i >> 3) % 23));
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK(count_ids("qwen2", text.data, text.len, 0, 0, &ids) > 100000);
    str_clear(&text);
    for (int i = 0; i < 200000; i++)
        str_puts(&text, "\xCC\x81\xCC\x96"); /* U+0301 above, U+0316 below: the second goes first */
    CHECK(count_ids("qwen2", text.data, text.len, 0, 0, &ids) > 1000);
    str_clear(&text);
    for (int i = 0; i < 1 << 20; i++)
        str_puts(&text, "<|im_");
    CHECK(count_ids("llama3", text.data, text.len, 0, text.len, &ids) > 1000);
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK((double)(b.tv_sec - a.tv_sec) < 30);
    str_release(&text);
    str_release(&ids);
}

static void check_misuse(void)
{
    struct tokenizer *t = NULL;
    struct err e = {0};
    CHECK_INT(tokenizer_open_file(&t, SOURCE_DIR "/tests/engine/text/tokenizers/none.json", &e), ERR_IO);
    CHECK(!t && strstr(e.text, "none.json"));
    e = (struct err){0};
    CHECK_INT(tokenizer_open_text(&t, "{\"model\": ", 10, "cut.json", &e), ERR_FORMAT);
    CHECK(!t && strstr(e.text, "cut.json:1"));
    e = (struct err){0};
    CHECK_INT(tokenizer_open_text(&t, "[]", 2, "list.json", &e), ERR_FORMAT);
    CHECK_STR(e.text, "list.json: a tokenizer.json must hold an object");
    tokenizer_close(NULL);
}

int main(int argc, char **argv)
{
    static const char *const files[][2] = {
        {"qwen2", SOURCE_DIR "/tests/engine/text/tokenizers/qwen2.json"},
        {"llama3", SOURCE_DIR "/tests/engine/text/tokenizers/llama3.json"},
        {"gpt2", SOURCE_DIR "/tests/engine/text/tokenizers/gpt2.json"},
        {"few", SOURCE_DIR "/tests/engine/text/tokenizers/few.json"},
        {"llama2", SOURCE_DIR "/tests/engine/text/tokenizers/llama2.json"}};
    for (int i = 0; i < 5; i++) {
        struct err e = {0};
        struct tokenizer *t;
        CHECK_INT(tokenizer_open_file(&t, files[i][1], &e), 0);
        CHECK_STR(e.text, "");
        if (!t)
            return check_done();
        add_known(files[i][0], t);
    }
    check_file(argc > 1 ? argv[1] : NULL);
    check_guard();
    check_misuse();
    check_long();
    for (int i = 0; i < n_known; i++)
        tokenizer_close(known[i].t);
    tokenizer_scratch_release(&scratch);
    return check_done();
}
