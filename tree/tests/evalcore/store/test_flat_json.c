/* The reader of flat objects against the JSON library: whatever it takes, the library takes with the same
 * values, and it takes what the program writes. */
#include "evalcore/base/json.h"
#include "evalcore/base/rng.h"
#include "evalcore/base/str.h"
#include "evalcore/store/completion_json.h"
#include "evalcore/store/flat_json.h"
#include "tests/check.h"

static const char head[] =
    "{\"v\":1,\"key\":\"0123456789abcdef0123456789abcdef\",\"cell\":\"quest "
    "k_pages=8\",\"problem\":\"m/1-2\","
    "\"sample\":3,\"finish\":\"stop\",\"tokens\":1234,\"kv_reads\":123456.5,\"kv_reads_full\":9.87e7,"
    "\"aux_reads\":0.0,\"peak_tokens\":1324.0,\"prefill_peak_tokens\":90,\"seconds\":12.345678901234567,"
    "\"preempted\":0,\"device\":\"cpu\",\"ids_sha256\":\"00ff\"";

static int same_bits(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

static int same_value(const struct flat_field *f, const json_t *v)
{
    if (f->type == FLAT_STRING)
        return json_is_string(v) && json_string_length(v) == f->text.n &&
               !memcmp(json_string_value(v), f->text.data, f->text.n);
    if (f->type == FLAT_INTEGER)
        return json_is_integer(v) && json_integer_value(v) == f->integer &&
               same_bits(json_number_value(v), f->number);
    if (f->type == FLAT_REAL)
        return json_is_real(v) && same_bits(json_real_value(v), f->number);
    return json_is_true(v) || json_is_false(v) || json_is_null(v);
}

static json_t *parse(const char *s, size_t n)
{
    struct str text = {0};
    str_add(&text, s, n);
    str_putc(&text, '}');
    json_t *o = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    str_release(&text);
    return o;
}

/* A completion reads the same from both, where the reader of flat objects does not pass. */
static int same_completion(const struct flat_object *o, const json_t *tree)
{
    struct completion a = {0}, b = {0};
    if (!completion_flat_read(o, &a))
        return 1;
    completion_json_read(tree, &b);
    return a.finish == b.finish && a.n_ids == b.n_ids && a.preempted == b.preempted && !b.error &&
           !b.likelihood.n && same_bits(a.seconds, b.seconds) && !memcmp(&a.kv, &b.kv, sizeof a.kv);
}

/* Is the object taken? -1: it is, and the library disagrees. */
static int taken(const char *s, size_t n)
{
    struct flat_object o;
    char *copy = malloc(n + 1); /* of just this size, so that a byte read beyond it is found */
    memcpy(copy, s, n);
    int out = flat_read(&o, copy, n);
    if (out) {
        json_t *tree = parse(s, n);
        if (!json_is_object(tree) || (int)json_object_size(tree) != o.n)
            out = -1;
        for (int i = 0; i < o.n && out > 0; i++) {
            char name[300];
            snprintf(name, sizeof name, "%.*s", (int)o.field[i].name.n, o.field[i].name.data);
            if (!same_value(&o.field[i], json_object_get(tree, name)))
                out = -1;
        }
        if (out > 0 && !same_completion(&o, tree))
            out = -1;
        json_decref(tree);
    }
    free(copy);
    return out;
}

static const struct {
    const char *text;
    int is_taken;
} rows[] = {
    {"{\"a\":1", 1},
    {"{\"a\":-0", 1},
    {"{\"a\":-0.0,\"b\":0e0,\"c\":1E+2,\"d\":1e-5", 1},
    {"{\"a\":123456789012345678", 1},
    {"{\"a\":0.1,\"b\":0.30000000000000004,\"c\":123456789012345.6,\"d\":1234567890.12345,\"e\":5e-324", 0},
    {"{\"a\":0.1,\"b\":0.30000000000000004,\"c\":123456789012345.6,\"d\":1234567890.12345,\"e\":2.5e-308", 1},
    {"{\"a\":0.000000000000001,\"b\":000000.1", 0},
    {"{\"a\":true,\"b\":false,\"c\":null,\"\":\"\"", 1},
    /* never taken, right or wrong */
    {"", 0},
    {"{", 0},
    {"[", 0},
    {"{\"a\":1,", 0},
    {"{\"a\":1}", 0},
    {"{\"a\"", 0},
    {"{\"a\":", 0},
    {"{\"a\":\"", 0},
    {"{\"a\":\"b", 0},
    {"{a:1", 0},
    {"{\"a\":01", 0},
    {"{\"a\":-", 0},
    {"{\"a\":+1", 0},
    {"{\"a\":.5", 0},
    {"{\"a\":1.", 0},
    {"{\"a\":1e", 0},
    {"{\"a\":-true", 0},
    {"{\"a\":1.true", 0},
    {"{\"a\":0x10", 0},
    {"{\"a\":NaN", 0},
    {"{\"a\":1e999", 0},
    {"{\"a\":9223372036854775808", 0},
    {"{\"a\":1 ", 0},
    {"{ \"a\":1", 0},
    {"{\"a\":tru", 0},
    {"{\"a\":truefalse", 0},
    {"{\"a\":[1]", 0},
    {"{\"a\":{\"b\":1}", 0},
    {"{\"a\":1,\"b\":2,\"a\":3", 0},
    {"{\"a\":1,\"\\u0061\":3", 0},
    {"{\"a\":\"\\u0000\"", 0},
    {"{\"a\":\"x\\\"y\"", 0},
    {"{\"a\":\"\xC3\xA4\"", 0},
    {"{\"a\":\"\x80\"", 0},
    {"{\"a\":\"\t\"", 0},
    {"{\"a\":\"\x7F\"", 0},
};

/* Bytes of a head changed, doubled and dropped: many are still objects, most are none. */
static void mutations(void)
{
    static const char bytes[] = "\"\"{}[]:,.-+eE0123456789\\ truefalsn\t\x01\x7F\x80\xC3ua";
    struct rng rng;
    long n_taken = 0, n_wrong = 0;
    rng_init(&rng, 7, 0);
    for (int round = 0; round < 200000; round++) {
        char text[sizeof head + 8];
        size_t n = sizeof head - 1;
        memcpy(text, head, n);
        for (unsigned k = rng_below(&rng, 3) + 1; k > 0; k--) {
            size_t at = rng_below(&rng, (uint32_t)n);
            unsigned how = rng_below(&rng, 3);
            if (how == 1)
                memmove(text + at, text + at + 1, --n - at);
            else if (how == 2)
                memmove(text + at + 1, text + at, n++ - at);
            if (how != 1)
                text[at] = bytes[rng_below(&rng, sizeof bytes - 1)];
        }
        int is_taken = taken(text, n);
        n_taken += is_taken > 0;
        n_wrong += is_taken < 0;
    }
    CHECK_INT(n_wrong, 0);
    CHECK(n_taken > 20000);
}

/* As many fields as there is room for, one more, and one name twice among many. */
static void many_fields(void)
{
    for (int n = FLAT_FIELDS_MAX - 1; n <= FLAT_FIELDS_MAX + 1; n++) {
        struct str text = {0};
        for (int i = 0; i < n; i++)
            str_printf(&text, "%s\"field %d\":%d", i ? "," : "{", i, i);
        CHECK_INT(taken(text.data, text.len), n <= FLAT_FIELDS_MAX);
        str_puts(&text, ",\"field 7\":1");
        CHECK_INT(taken(text.data, text.len), 0);
        str_release(&text);
    }
}

/* What JSON's own writer makes of any double is read back to the bit. */
static void doubles(void)
{
    struct rng rng;
    rng_init(&rng, 8, 0);
    int n_refused = 0, n_wrong = 0;
    for (int i = 0; i < 100000; i++) {
        double x = ldexp(rng_unit(&rng) - 0.5, (int)rng_below(&rng, 120) - 60);
        if (i % 2)
            x = round(x * 1000) / 1000;
        json_t *o = json_pack("{s:f}", "x", x);
        char *text = json_dumps(o, JSON_COMPACT);
        int is_taken = taken(text, strlen(text) - 1);
        n_refused += is_taken == 0;
        n_wrong += is_taken < 0;
        free(text);
        json_decref(o);
    }
    CHECK_INT(n_refused, 0);
    CHECK_INT(n_wrong, 0);
}

/* A failed job and a text keep what no plain value holds. */
static void left_to_the_library(void)
{
    static const char *const more[] = {",\"error\":\"out of memory\"", ",\"likelihood\":1"};
    for (int i = 0; i < 3; i++) {
        struct flat_object o;
        struct completion c = {0};
        struct str text = {0};
        str_puts(&text, head);
        if (i)
            str_puts(&text, more[i - 1]);
        CHECK(flat_read(&o, text.data, text.len));
        CHECK_INT(completion_flat_read(&o, &c), !i);
        str_release(&text);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int got = taken(rows[i].text, strlen(rows[i].text));
        if (got != rows[i].is_taken)
            fprintf(stderr, "row %s\n", rows[i].text);
        CHECK_INT(got, rows[i].is_taken);
    }
    CHECK_INT(taken(head, sizeof head - 1), 1);
    many_fields();
    mutations();
    doubles();
    left_to_the_library();
    return check_done();
}
