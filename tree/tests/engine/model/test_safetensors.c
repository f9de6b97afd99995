/* Reading safetensors: good files, shards and memory; malformed files, each of which gives a sentence that
 * names the file and what is wrong; values of the three number types; the identity and its cache. The files
 * are made here, in a folder of the test. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"
#include "tests/check.h"

static char folder[] = "/tmp/kveval_safetensors_XXXXXX";

static void put_file(struct str *out, const char *header, uint64_t length, size_t n_data)
{
    for (int i = 0; i < 8; i++)
        str_putc(out, (char)(length >> 8 * i));
    str_puts(out, header);
    for (size_t i = 0; i < n_data; i++)
        str_putc(out, (char)i);
}

static const char *write_file(const char *name, const char *header, size_t n_data)
{
    static char path[300];
    struct str file = {0};
    struct err e = {0};
    put_file(&file, header, strlen(header), n_data);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(file_write_atomic(path, file.data, file.len, &e), 0);
    str_release(&file);
    return path;
}

static void write_text(const char *name, const char *text)
{
    char path[300];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(file_write_atomic(path, text, strlen(text), &e), 0);
}

#define ENTRY(name, dtype, shape, a, b)                                                                      \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #a "," #b "]}"

static const struct {
    const char *header;
    size_t n_data;
    const char *words; /* of the message */
} BAD[] = {
    {"{", 0, "file:1:1: not valid JSON"},
    {"[]", 0, "the header must be a JSON object"},
    {"{\"a\":3}", 0, "tensor \"a\": its header entry must be an object"},
    {"{\"a\":{}}", 0, "tensor \"a\": the dtype must be a text"},
    {"{\"a\":{\"dtype\":\"F32\"}}", 0, "tensor \"a\": the shape must be a list"},
    {"{" ENTRY("a", "F32", "[1.5]", 0, 4) "}", 4,
     "tensor \"a\": the shape must hold integers that are not negative"},
    {"{" ENTRY("a", "F32", "[-1]", 0, 4) "}", 4,
     "tensor \"a\": the shape must hold integers that are not negative"},
    {"{" ENTRY("a", "F32", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4,
     "tensor \"a\": the shape has more than 8 dimensions"},
    {"{" ENTRY("a", "F32", "[4294967296,4294967296]", 0, 4) "}", 4,
     "tensor \"a\": the shape is larger than any memory"},
    {"{" ENTRY("a", "F32", "[9223372036854775807]", 0, 4) "}", 4,
     "tensor \"a\": the shape is larger than any memory"},
    {"{" ENTRY("a", "X9", "[4294967296,4294967296]", 0, 4) "}", 4,
     "tensor \"a\": the shape is larger than any memory"},
    {"{" ENTRY("a", "F32", "[92233720368547758070]", 0, 4) "}", 4, "not valid JSON: too big integer"},
    {"{" ENTRY("a", "F32", "[2]", 0, 8) "}", 4,
     "tensor \"a\" has the data_offsets 0 to 8, but the file holds 4 bytes"},
    {"{" ENTRY("a", "F32", "[2]", -4, 4) "}", 4, "tensor \"a\" has the data_offsets -4 to 4"},
    {"{" ENTRY("a", "F32", "[2]", 4, 0) "}", 4, "tensor \"a\" has the data_offsets 4 to 0"},
    {"{" ENTRY("a", "F32", "[2]", 0, "x") "}", 8, "tensor \"a\": the data_offsets must be two integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4,
     "tensor \"a\": the data_offsets must be two integers"},
    {"{" ENTRY("a", "F32", "[2]", 0, 4) "}", 4,
     "tensor \"a\" has 4 bytes of data, but its shape and dtype F32 ask for 8"},
    {"{" ENTRY("a", "BF16", "[]", 0, 4) "}", 4,
     "tensor \"a\" has 4 bytes of data, but its shape and dtype BF16 ask for 2"},
    {"{" ENTRY("a", "F32", "[0]", 0, 4) "}", 4,
     "tensor \"a\" has 4 bytes of data, but its shape and dtype F32 ask for 0"},
    {"{" ENTRY("a", "F32", "[2]", 0, 8) "," ENTRY("b", "F32", "[2]", 4, 12) "}", 12,
     "tensor \"b\": its data overlap"},
    {"{" ENTRY("a", "F32", "[1]", 0, 4) "," ENTRY("b", "F32", "[1]", 8, 12) "}", 12,
     "tensor \"b\": there are bytes before"},
    {"{" ENTRY("a", "F32", "[1]", 0, 4) "}", 7, "the last 3 bytes belong to no tensor"},
    {"{" ENTRY("a", "F32", "[1]", 0, 4) "," ENTRY("a", "F32", "[1]", 4, 8) "}", 8, "duplicate object key"},
};

static void check_bad(void)
{
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct safetensors *s = NULL;
        struct err e = {0};
        struct str file = {0};
        put_file(&file, BAD[i].header, strlen(BAD[i].header), BAD[i].n_data);
        CHECK(safetensors_open_memory(&s, file.data, file.len, "file", &e) < 0);
        CHECK(!s);
        CHECK(!strncmp(e.text, "file:", 5));
        if (!strstr(e.text, BAD[i].words))
            CHECK_STR(e.text, BAD[i].words);
        str_release(&file);
    }
    static const char short_files[][10] = {"", "abc", "\x08\0\0\0\0\0\0", "\x02\0\0\0\0\0\0\0{"};
    static const size_t sizes[] = {0, 3, 8, 9};
    static const char *const words[] = {"cut: is empty", "3 bytes are too few",
                                        "the header of 8 bytes does not fit",
                                        "the header of 2 bytes does not fit into the file of 9"};
    for (int i = 0; i < 4; i++) {
        struct safetensors *s;
        struct err e = {0};
        CHECK_INT(safetensors_open_memory(&s, short_files[i], sizes[i], "cut", &e), ERR_FORMAT);
        if (!strstr(e.text, words[i]))
            CHECK_STR(e.text, words[i]);
    }
    struct safetensors *s;
    struct err e = {0};
    CHECK_INT(safetensors_open_memory(&s, "PK\3\4 a zip file", 15, "zip", &e), ERR_FORMAT);
    CHECK(strstr(e.text, "zip: is a ZIP archive"));
    e = (struct err){0};
    CHECK_INT(safetensors_open_memory(&s, "no such kind of file", 20, "odd", &e), ERR_FORMAT);
    CHECK(strstr(e.text, "odd: is no safetensors file"));
}

static void check_values(void)
{
    static const unsigned char bytes[] = {0, 0,    0x80, 0x3F, 0, 0x3C, 1,    0,    0xFF, 0x03, 0xFF, 0x7B,
                                          0, 0xFC, 0,    0x7E, 0, 0x80, 0x80, 0x3F, 0x49, 0xC0, 9,    9};
    struct str file = {0};
    struct safetensors *s;
    struct err e = {0};
    static const char header[] =
        "{\"__metadata__\":{\"window\":\"16\"}," ENTRY("one", "F32", "[]", 0, 4) "," ENTRY(
            "half", "F16", "[7]", 4,
            18) "," ENTRY("brain", "BF16", "[2,1]", 18,
                          22) "," ENTRY("none", "F32", "[3,0]", 22,
                                        22) "," ENTRY("odd", "Q4", "[2]", 22,
                                                      24) "} "; /* one pad byte: the data are not aligned */
    put_file(&file, header, strlen(header), 0);
    str_add(&file, (const char *)bytes, sizeof bytes);
    CHECK_INT(safetensors_open_memory(&s, file.data, file.len, "memory", &e), 0);
    CHECK_STR(e.text, "");
    CHECK_STR(safetensors_meta(s, "window"), "16");
    CHECK(!safetensors_meta(s, "shift"));
    CHECK_INT(s->n, 5);
    CHECK(!safetensors_find(s, "two") && !safetensors_find(s, "__metadata__"));
    const struct st_tensor *t;
    const int64_t brain[] = {2, 1}, wrong[] = {1, 2}, odd[] = {2};
    CHECK_INT(safetensors_need(s, "brain", 2, brain, &t, &e), 0);
    float v[8];
    CHECK_INT(st_to_f32(t, v, 2, &e), 0);
    CHECK_NEAR(v[0], 1, 0);
    CHECK_NEAR(v[1], -3.140625, 0);
    CHECK_INT(st_to_f32(safetensors_find(s, "one"), v, 1, &e), 0);
    CHECK_NEAR(v[0], 1, 0);
    CHECK_INT(st_to_f32(safetensors_find(s, "half"), v, 7, &e), 0);
    CHECK_NEAR(v[0], 1, 0);
    CHECK_NEAR(v[1], ldexp(1, -24), 0);
    CHECK_NEAR(v[2], ldexp(1023, -24), 0);
    CHECK_NEAR(v[3], 65504, 0);
    CHECK(isinf(v[4]) && v[4] < 0 && isnan(v[5]));
    CHECK(v[6] == 0 && signbit(v[6]));
    CHECK_INT(st_to_f32(safetensors_find(s, "none"), v, 0, &e), 0);
    CHECK_INT(safetensors_need(s, "one", 0, NULL, &t, &e), 0);
    CHECK_INT(st_to_f32(t, v, 2, &e), ERR_FORMAT);
    CHECK_STR(e.text, "tensor \"one\" has 1 values, 2 are asked for");
    const struct {
        const char *name;
        int n;
        const int64_t *shape;
        int code;
        const char *text;
    } need[] = {{"brain", 2, wrong, ERR_FORMAT,
                 "memory: tensor \"brain\" has the shape [2, 1], but config.json asks for [1, 2]"},
                {"brain", 1, wrong, ERR_FORMAT,
                 "memory: tensor \"brain\" has the shape [2, 1], but config.json asks for [1]"},
                {"two", 1, wrong, ERR_FORMAT, "memory: the tensor \"two\" is missing"},
                {"odd", 1, odd, ERR_UNSUPPORTED,
                 "memory: tensor \"odd\" has the dtype Q4; F32, F16 and BF16 are supported"}};
    for (int i = 0; i < 4; i++) {
        e = (struct err){0};
        CHECK_INT(safetensors_need(s, need[i].name, need[i].n, need[i].shape, &t, &e), need[i].code);
        CHECK_STR(e.text, need[i].text);
        CHECK(!t);
    }
    e = (struct err){0};
    CHECK_INT(st_to_f32(safetensors_find(s, "odd"), v, 2, &e), ERR_UNSUPPORTED);
    char hex[65], want[65];
    CHECK_INT(safetensors_identity(s, NULL, hex, &e), 0);
    sha256_hex(file.data, file.len, want, 64);
    CHECK_STR(hex, want);
    safetensors_close(s);
    str_release(&file);
}

static int folder_error(const char *index, const char *words)
{
    struct safetensors *s;
    struct err e = {0};
    write_text("model.safetensors.index.json", index);
    int rc = safetensors_open_folder(&s, folder, &e);
    CHECK(rc < 0 && !s);
    if (!strstr(e.text, words))
        CHECK_STR(e.text, words);
    return rc;
}

static void check_folder(void)
{
    struct safetensors *s;
    struct err e = {0};
    char first[65], second[65], path[300];
    CHECK_INT(safetensors_open_folder(&s, folder, &e), ERR_IO);
    CHECK(strstr(e.text, "holds neither model.safetensors nor"));
    write_file("one.safetensors",
               "{" ENTRY("a", "F32", "[1]", 0, 4) "," ENTRY("both", "F32", "[1]", 4, 8) "}", 8);
    write_file("two.safetensors",
               "{" ENTRY("b", "BF16", "[2]", 0, 4) "," ENTRY("both", "F16", "[1]", 4, 6) "}", 6);
    CHECK_INT(folder_error("{\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"three.safetensors\"}}",
                           "three.safetensors that it "
                           "names is missing"),
              ERR_IO);
    CHECK_INT(folder_error("{\"weight_map\":{\"b\":\"one.safetensors\"}}", "the tensor \"b\" is not in"),
              ERR_FORMAT);
    CHECK_INT(
        folder_error("{\"weight_map\":{\"b\":\"../one.safetensors\"}}", "must name files of its own folder"),
        ERR_FORMAT);
    CHECK_INT(folder_error("{\"weight_map\":{\"b\":7}}", "must name files of its own folder"), ERR_FORMAT);
    CHECK_INT(folder_error("{\"weight_map\":{}}", "field \"weight_map\" must be"), ERR_FORMAT);
    CHECK_INT(folder_error("{", "model.safetensors.index.json:1:1: not valid JSON"), ERR_FORMAT);
    write_text("model.safetensors.index.json",
               "{\"weight_map\":{\"a\":\"one.safetensors\",\"both\":\"two.safetensors\","
               "\"b\":\"two.safetensors\"}}");
    e = (struct err){0};
    CHECK_INT(safetensors_open_folder(&s, folder, &e), 0);
    CHECK_INT(s->n, 3);
    CHECK_INT(safetensors_find(s, "both")->dtype, ST_F16);
    CHECK_INT(safetensors_find(s, "a")->dtype, ST_F32);
    CHECK_INT(safetensors_identity(s, NULL, first, &e), 0);
    CHECK_INT(safetensors_identity(s, folder, second, &e), 0);
    CHECK_STR(first, second);
    safetensors_close(s);
    /* Names of shards are in no identity, and what was written a moment ago is not cached. */
    write_file("another.safetensors",
               "{" ENTRY("a", "F32", "[1]", 0, 4) "," ENTRY("both", "F32", "[1]", 4, 8) "}", 8);
    write_text("model.safetensors.index.json",
               "{\"weight_map\":{\"a\":\"another.safetensors\",\"both\":\"two.safetensors\","
               "\"b\":\"two.safetensors\"}}");
    CHECK_INT(safetensors_open_folder(&s, folder, &e), 0);
    CHECK_INT(safetensors_identity(s, folder, second, &e), 0);
    CHECK_STR(first, second);
    CHECK(safetensors_unhashed(s, folder) > 0);
    safetensors_close(s);

    /* One file, which has not been written a moment ago; its hash comes from the cache. */
    CHECK_INT(safetensors_open_folder(&s, SOURCE_DIR "/tests/engine/hf/llama", &e), 0);
    snprintf(path, sizeof path, "%s/cache", folder);
    CHECK_INT(safetensors_identity(s, path, first, &e), 0);
    struct file_list list;
    CHECK_INT(file_list(&list, path, ".sha256", &e), 0);
    CHECK_INT(list.n, 1);
    CHECK(safetensors_unhashed(s, path) == 0);
    struct str cached = {0};
    file_join(&cached, path, list.name[0]);
    char fake[66];
    memset(fake, 'a', 64);
    memcpy(fake + 64, "\n", 2);
    CHECK_INT(file_write_atomic(cached.data, fake, 65, &e), 0);
    CHECK_INT(safetensors_identity(s, path, second, &e), 0);
    fake[64] = 0;
    CHECK_STR(second, fake);
    CHECK_INT(file_write_atomic(cached.data, "torn", 4, &e), 0);
    CHECK_INT(safetensors_identity(s, path, second, &e), 0);
    CHECK_STR(second, first);
    safetensors_close(s);
    write_file("model.safetensors", "{" ENTRY("b", "F32", "[1]", 0, 4) "}", 4);
    CHECK_INT(safetensors_open_folder(&s, folder, &e), 0);
    CHECK_INT(safetensors_identity(s, path, second, &e), 0);
    CHECK(strcmp(first, second) != 0);
    /* A cache that cannot be written costs only time. */
    CHECK_INT(safetensors_identity(s, "/dev/null/cache", first, &e), 0);
    CHECK_STR(first, second);
    safetensors_close(s);
    CHECK_STR(e.text, "");
    file_list_release(&list);
    str_release(&cached);
}

/* The tiny models of the log-probability fixtures are files as other programs write them. */
static void check_real(void)
{
    static const char *const names[] = {"qwen3", "llama", "llama31"};
    for (int i = 0; i < 3; i++) {
        char path[300];
        struct safetensors *s;
        struct err e = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/tests/engine/hf/%s", names[i]);
        CHECK_INT(safetensors_open_folder(&s, path, &e), 0);
        CHECK_STR(e.text, "");
        const struct st_tensor *t = s ? safetensors_find(s, "model.embed_tokens.weight") : NULL;
        CHECK(t && t->n_dims == 2 && t->shape[0] == 320);
        safetensors_close(s);
    }
    struct safetensors *s;
    struct err e = {0};
    CHECK_INT(safetensors_open_file(&s, SOURCE_DIR "/tests/engine/hf/none.safetensors", &e), ERR_IO);
    CHECK(!s && strstr(e.text, "none.safetensors"));
    safetensors_close(NULL);
}

int main(void)
{
    struct err e = {0};
    if (!mkdtemp(folder))
        return 1;
    check_bad();
    check_values();
    check_folder();
    check_real();
    CHECK_INT(file_remove_tree(folder, &e), 0);
    return check_done();
}
