/* Strings: growth, repair of invalid UTF-8 as Python does it, edit distance and the nearest name. */
#include "evalcore/base/str.h"

#include "evalcore/base/hash.h"
#include "tests/cases.h"

static void adding(void)
{
    struct str s = {0};
    CHECK_STR(str_text(&s), "");
    str_clear(&s);
    str_add(&s, "", 0);
    CHECK(s.data && s.data[0] == 0);
    str_puts(&s, "ab");
    str_putc(&s, 'c');
    str_printf(&s, "%d%%", 5);
    CHECK_STR(s.data, "abc5%");
    str_add(&s, "\0x", 2);
    CHECK_INT(s.len, 7);
    CHECK(memcmp(s.data, "abc5%\0x", 8) == 0);
    str_clear(&s);
    CHECK_INT(s.len, 0);
    CHECK_STR(s.data, "");
    for (int i = 0; i < 10000; i++)
        str_printf(&s, "%04d", i);
    CHECK_INT(s.len, 40000);
    CHECK(memcmp(s.data + 4 * 1234, "1234", 4) == 0);
    str_release(&s);
    CHECK(!s.data && !s.len && !s.cap);
    str_release(&s);
}

static size_t from_hex(const char *hex, char *out)
{
    size_t n = 0;
    for (; hex[0] && hex[1] && *hex != '-'; hex += 2, n++) {
        char pair[3] = {hex[0], hex[1], 0};
        out[n] = (char)strtol(pair, NULL, 16);
    }
    return n;
}

static void utf8_cases(const char *path)
{
    struct cases c;
    int line;
    cases_open(&c, path);
    for (char *in; (in = cases_line(&c, &line));) {
        char *want = case_cut(in, "=>"), *name = want ? case_cut(want, "|") : NULL;
        CHECK(name != NULL);
        if (!name)
            continue;
        char bytes[64], wanted[64];
        size_t n = from_hex(in, bytes), n_want = from_hex(want, wanted);
        struct str got = {0};
        str_add_utf8(&got, bytes, n);
        int same = got.len == n_want && memcmp(got.data, wanted, n_want) == 0;
        CHECK(same);
        if (!same)
            fprintf(stderr, "%s:%d: %s: got %s\n", path, line, name, got.data);
        str_release(&got);
    }
    cases_close(&c);
}

/* All sequences of four bytes out of the 25 that stand at an edge of some range of the definition. The digest
 * is over the repaired sequences, a newline after each, and was made with Python:
 * sha256(b"".join(bytes(t).decode("utf-8", "replace").encode() + b"\n" for t in itertools.product(edge,
 * repeat=4))) */
static void utf8_every_edge(void)
{
    static const char edge[] = "\x00\x41\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF"
                               "\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF";
    enum { N = sizeof edge - 1 };
    struct str all = {0};
    char digest[65];
    CHECK_INT(N, 25);
    for (int i = 0; i < N * N * N * N; i++) {
        char b[4] = {edge[i / (N * N * N)], edge[i / (N * N) % N], edge[i / N % N], edge[i % N]};
        str_add_utf8(&all, b, 4);
        str_putc(&all, '\n');
    }
    sha256_hex(all.data, all.len, digest, 64);
    CHECK_STR(digest, "11becfc86aada0faaf73a1f64eabe87afe256e18789ef0e00a52c3dbc032099a");
    str_release(&all);
}

static void distances(void)
{
    CHECK_INT(str_distance("", ""), 0);
    CHECK_INT(str_distance("", "abc"), 3);
    CHECK_INT(str_distance("abc", ""), 3);
    CHECK_INT(str_distance("kitten", "sitting"), 3);
    CHECK_INT(str_distance("k_page", "k_pages"), 1);
    CHECK_INT(str_distance("apges", "pages"), 1);
    CHECK_INT(str_distance("ca", "abc"), 3); /* the restricted form: a swapped pair is not edited again */
}

static void nearest(void)
{
    static const char *const names[] = {"k_pages", "l_pages", "budget_tokens", "layers", "r", NULL};
    static const char *const none[] = {NULL};
    CHECK_STR(str_nearest("k_page", names), "k_pages");
    CHECK_STR(str_nearest("kpages", names), "k_pages");
    CHECK_STR(str_nearest("budget", names), "budget_tokens");
    CHECK_STR(str_nearest("layer", names), "layers");
    CHECK_STR(str_nearest("lpages", names), "l_pages");
    CHECK(!str_nearest("temperature", names));
    CHECK(!str_nearest("x", names));
    static const char *const ours[] = {"max_total_tokens", "max_new_tokens", "min_new_tokens", "samples",
                                       NULL};
    static const char *const option[] = {"max-batch", "max-new-tokens", NULL};
    static const char *const meant[][2] = {{"max_tokens", "max_new_tokens"},
                                           {"max_gen_toks", "max_new_tokens"},
                                           {"max_completion_tokens", "max_new_tokens"},
                                           {"n_predict", "max_new_tokens"},
                                           {"min_tokens", "min_new_tokens"},
                                           {"n", "samples"},
                                           {"num_return_sequences", "samples"},
                                           {"max_model_len", "max_total_tokens"}};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        CHECK_STR(str_nearest(meant[i][0], ours), meant[i][1]);
    CHECK_STR(str_nearest("max-tokens", option), "max-new-tokens");
    CHECK_STR(str_nearest("batch-size", option), "max-batch");
    CHECK(!str_nearest("system_prompt", ours));
    CHECK(!str_nearest("k_pages", none));
}

int main(int argc, char **argv)
{
    adding();
    utf8_cases(argc > 1 ? argv[1] : NULL);
    utf8_every_edge();
    distances();
    nearest();
    return check_done();
}
