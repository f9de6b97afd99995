/* Journals: what is written is read, a file cut at any byte loses only its torn tail, any damaged byte is
 * noticed. */
#include <fcntl.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/store/journal.h"
#include "tests/check.h"

enum { RECORDS = 3 };

struct seen {
    int n;
    char key[8][16];
    int64_t offset[8];
    size_t length[8];
};

static int see(void *context, const struct journal_line *l, void *item)
{
    (void)item;
    struct seen *s = context;
    snprintf(s->key[s->n], sizeof s->key[0], "%s", json_string_value(json_object_get(l->head, "key")));
    s->offset[s->n] = l->offset;
    s->length[s->n] = l->length;
    CHECK(json_object_get(l->head, "ids") == NULL);
    s->n++;
    return 0;
}

static const struct journal_reader reader = {.take = see};
static const char tricky[] = "a \"quote\" \\ ,\"ids\":[ ],\"text\": ,\"crc\":\"\n\xff\x00 end";

static int add(struct journal *j, int i, struct err *e)
{
    const int32_t ids[] = {i, 1 << 20, 0};
    json_t *head = json_pack("{s:s++, s:s, s:i}", "key", "key",
                             i == 0   ? "0"
                             : i == 1 ? "1"
                                      : "2",
                             "", "odd", ",\"ids\":[1],\"text\":", "n", i);
    json_t *tail = i == 2 ? json_pack("{s:[i,i], s:s}", "list", 4, 5, "odd", ",\"crc\":\"") : NULL;
    int rc = journal_add(j, head, ids, (size_t)i, tricky, sizeof tricky - 1, tail, e);
    json_decref(tail);
    json_decref(head);
    return rc;
}

static char *write_three(struct str *bytes)
{
    struct journal j;
    struct err e = {0};
    journal_init(&j, "run");
    for (int i = 0; i < RECORDS; i++)
        CHECK_INT(add(&j, i, &e), 0);
    CHECK_INT(journal_sync(&j, &e), 0);
    CHECK_INT(j.records, RECORDS);
    char *path = xstrdup(j.path);
    journal_close(&j);
    CHECK_INT(file_read(path, bytes, &e), 0);
    return path;
}

static void write_file(const char *path, const struct str *bytes)
{
    FILE *f = fopen(path, "wb");
    fwrite(bytes->data, 1, bytes->len, f);
    fclose(f);
}

static int read_bytes(const char *bytes, size_t n, struct seen *s, long *bad)
{
    struct err e = {0};
    FILE *f = fopen("cut.jsonl", "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
    memset(s, 0, sizeof *s);
    *bad = 0;
    return journal_read("cut.jsonl", &reader, s, bad, &e);
}

static void whole(const char *path, const struct str *bytes)
{
    struct seen s;
    struct str ids = {0}, text = {0};
    struct err e = {0};
    long bad;
    json_t *tail = NULL;
    CHECK_INT(read_bytes(bytes->data, bytes->len, &s, &bad), 0);
    CHECK_INT(s.n, RECORDS);
    CHECK_INT(bad, 0);
    CHECK_STR(s.key[2], "key2");
    CHECK_INT(journal_fetch(path, s.offset[2], s.length[2], &ids, &text, &tail, &e), 0);
    CHECK_STR(str_text(&ids), "[2,1048576]");
    CHECK_INT(text.len, sizeof tricky - 1 + 2); /* the byte ff has become U+FFFD */
    CHECK(!memcmp(text.data, tricky, 10));
    CHECK_INT(json_object_size(tail), 2);
    CHECK_INT(json_integer_value(json_array_get(json_object_get(tail, "list"), 1)), 5);
    CHECK_STR(json_string_value(json_object_get(tail, "odd")), ",\"crc\":\"");
    json_decref(tail);
    CHECK_INT(journal_fetch(path, s.offset[1], s.length[1], NULL, NULL, &tail, &e), 0);
    CHECK_INT(json_object_size(tail), 0); /* a record without one */
    json_decref(tail);
    CHECK_INT(journal_fetch(path, s.offset[0], s.length[0], &ids, NULL, NULL, &e), 0);
    CHECK_STR(str_text(&ids), "[]");
    CHECK_INT(journal_fetch(path, s.offset[2], s.length[2] + 100, &ids, NULL, NULL, &e), ERR_IO);
    str_release(&ids);
    str_release(&text);
}

/* A cut after the newline of record k keeps k records, a cut before it keeps k - 1; nothing is "damaged". */
static void torn(const struct str *bytes)
{
    struct seen s;
    long bad;
    int lines = 0;
    for (size_t n = 0; n <= bytes->len; n++) {
        lines += n > 0 && bytes->data[n - 1] == '\n';
        CHECK_INT(read_bytes(bytes->data, n, &s, &bad), 0);
        CHECK_INT(s.n, lines);
        CHECK_INT(bad, 0);
    }
}

static void damaged(const struct str *bytes)
{
    struct seen s;
    long bad;
    char *copy = xmalloc(bytes->len);
    for (size_t i = 0; i + 1 < bytes->len; i++) {
        memcpy(copy, bytes->data, bytes->len);
        copy[i] ^= 0x11;
        CHECK_INT(read_bytes(copy, bytes->len, &s, &bad), 0);
        CHECK_INT(s.n, bytes->data[i] == '\n' ? RECORDS - 2 : RECORDS - 1);
        CHECK_INT(bad, copy[i] == '\n' ? 2 : 1);
    }
    free(copy);
}

struct order {
    int64_t next; /* offset of the line that must come next, a damaged one left out */
    long n, wrong;
    int64_t damaged;
    size_t length;
};

/* What a thread that is not in order finds out goes through the item. */
static void look(void *context, const struct journal_line *l, void *item)
{
    (void)context;
    memcpy(item, &l->offset, sizeof l->offset);
}

static int take(void *context, const struct journal_line *l, void *item)
{
    struct order *o = context;
    int64_t looked;
    memcpy(&looked, item, sizeof looked);
    if (o->next == o->damaged)
        o->next += (int64_t)o->length + 1;
    o->wrong += looked != o->next || l->offset != o->next;
    o->next += (int64_t)l->length + 1;
    o->n++;
    return 0;
}

/* A file of many blocks: lines that lie across two of them, one that is damaged, a torn end. The order and
 * the counters are those of the file, whatever the threads do. */
static void many_blocks(const struct str *bytes)
{
    enum { TIMES = 25000 };
    static const struct journal_reader many = {.item = sizeof(int64_t), .look = look, .take = take};
    struct order o = {.damaged = -1, .length = (size_t)(strchr(bytes->data, '\n') - bytes->data)};
    struct err e = {0};
    long bad = 0;
    int64_t damaged = (int64_t)bytes->len * (TIMES / 2);
    FILE *f = fopen("many.jsonl", "w+b");
    for (int i = 0; i < TIMES; i++)
        fwrite(bytes->data, 1, bytes->len, f);
    fwrite(bytes->data, 1, o.length, f);
    fseek(f, (long)damaged + 20, SEEK_SET);
    fputc('\x01', f);
    fclose(f);
    o.damaged = damaged;
    CHECK_INT(journal_read("many.jsonl", &many, &o, &bad, &e), 0);
    CHECK_INT(o.n, (long)RECORDS * TIMES - 1);
    CHECK_INT(o.wrong, 0);
    CHECK_INT(bad, 1);
}

/* A line longer than a block is read whole. */
static void long_line(void)
{
    struct journal j;
    struct err e = {0};
    struct seen s = {0};
    long bad = 0;
    size_t n = 17 << 20;
    char *text = xmalloc(n);
    memset(text, 'x', n);
    journal_init(&j, "long");
    json_t *head = json_pack("{s:s}", "key", "long");
    CHECK_INT(add(&j, 0, &e), 0);
    CHECK_INT(journal_add(&j, head, NULL, 0, text, n, NULL, &e), 0);
    CHECK_INT(add(&j, 1, &e), 0);
    CHECK_INT(journal_read(j.path, &reader, &s, &bad, &e), 0);
    CHECK_INT(s.n, 3);
    CHECK_INT(bad, 0);
    CHECK_STR(s.key[1], "long");
    json_decref(head);
    free(text);
    journal_close(&j);
}

/* A file size limit stands for a full disk: the record that does not fit is an error, the ones before stay.
 */
static void full_disk(void)
{
    struct journal j;
    struct err e = {0};
    struct rlimit old, small;
    struct seen s = {0};
    long bad = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 500;
    journal_init(&j, "small");
    CHECK_INT(add(&j, 0, &e), 0);
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = 0, n = 1;
    while (!rc && n < 100)
        rc = add(&j, 1 + n++ % 2, &e);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_INT(rc, ERR_DISK);
    CHECK(strstr(e.text, "small/journal") != NULL);
    char *path = xstrdup(j.path);
    int64_t kept = j.records;
    journal_close(&j);
    struct err none = {0};
    CHECK_INT(journal_read(path, &reader, &s, &bad, &none), 0);
    CHECK_INT(s.n, kept);
    CHECK_INT(bad, 0);
    free(path);
}

struct flaws {
    int n[3];
    long line;
};

static void note(void *context, const struct journal_line *l, enum journal_flaw what)
{
    struct flaws *f = context;
    f->n[what]++;
    if (what == JOURNAL_NEWER)
        f->line = l->number;
}

static int leave(void *context, const struct journal_line *l, void *item)
{
    (void)context, (void)l, (void)item;
    return 0;
}

static void add_version(struct str *out, const char *version)
{
    size_t from = out->len;
    str_printf(out, "{\"v\":%s,\"key\":\"k\",\"ids\":[],\"text\":\"\"", version);
    journal_line_seal(out, from);
    str_putc(out, '\n');
}

/* A record of a later version once was believed, and would have been called damaged in another form. */
static void newer(void)
{
    static const struct {
        const char *version;
        int want;
    } rows[] = {{"1", 0},
                {"0", 0},
                {"01", 0},
                {"2", ERR_UNSUPPORTED},
                {"3", ERR_UNSUPPORTED},
                {"12", ERR_UNSUPPORTED},
                {"\"3\"", 0},
                {"-3", 0},
                {"\"\"", 0},
                {"99999999999", ERR_UNSUPPORTED}};
    static const struct journal_reader notes = {.take = leave, .flaw = note};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = {0};
        struct seen s;
        long bad;
        add_version(&text, rows[i].version);
        int rc = read_bytes(text.data, text.len, &s, &bad);
        CHECK_INT(rc, rows[i].want);
        CHECK_INT(s.n + (int)bad, !rows[i].want);
        text.data[5] ^= 1; /* a flipped bit is damage, whatever the version is then */
        CHECK_INT(read_bytes(text.data, text.len, &s, &bad), 0);
        CHECK_INT(bad, 1);
        str_release(&text);
    }
    struct str text = {0};
    struct flaws f = {0};
    struct err e = {0};
    long bad = 0;
    add_version(&text, "1");
    add_version(&text, "3");
    str_puts(&text, "{\"v\":3,\"other\":\"form\"");
    size_t from = (size_t)(strrchr(text.data, '\n') + 1 - text.data);
    journal_line_seal(&text, from);
    str_puts(&text, "\nnot a record\n{\"v\":3,");
    write_file("newer.jsonl", &text);
    CHECK_INT(journal_read("newer.jsonl", &notes, &f, &bad, &e), 0);
    CHECK_INT(f.n[JOURNAL_NEWER], 2);
    CHECK_INT(f.line, 3);
    CHECK_INT(f.n[JOURNAL_DAMAGED], 1);
    CHECK_INT(f.n[JOURNAL_TORN], 1);
    CHECK_INT(bad, 1);
    CHECK_INT(journal_read("newer.jsonl", &reader, &(struct seen){0}, &bad, &e), ERR_UNSUPPORTED);
    CHECK_STR(e.text,
              "newer.jsonl:2 is of version 3, and this kveval reads version 1; use the kveval that wrote it, "
              "or another folder");
    str_release(&text);
}

static void two_writers(void)
{
    struct journal a, b;
    struct err e = {0};
    journal_init(&a, "run");
    journal_init(&b, "run");
    CHECK_INT(add(&a, 0, &e), 0);
    CHECK_INT(add(&b, 1, &e), 0);
    CHECK(strcmp(a.path, b.path));
    journal_close(&a);
    journal_close(&b);
}

/* A head that jansson cannot write (it gave NULL and crashed) is an error, and the journal stays as it was.
 */
static void bad_head(void)
{
    struct journal j;
    struct err e = {0};
    struct str bytes = {0};
    json_t *head = json_pack("{s:o}", "key", json_string_nocheck("\xff"));
    journal_init(&j, "bad_head");
    CHECK_INT(add(&j, 0, &e), 0);
    CHECK_INT(journal_add(&j, head, NULL, 0, "", 0, NULL, &e), ERR_FORMAT);
    CHECK_INT(file_read(j.path, &bytes, NULL), 0);
    CHECK(bytes.len && strchr(bytes.data, '\n') == bytes.data + bytes.len - 1);
    json_decref(head);
    str_release(&bytes);
    journal_close(&j);
    file_remove_tree("bad_head", NULL);
}

int main(void)
{
    struct err e = {0};
    struct str bytes = {0};
    file_remove_tree("run", &e);
    file_remove_tree("small", &e);
    char *path = write_three(&bytes);
    whole(path, &bytes);
    torn(&bytes);
    damaged(&bytes);
    many_blocks(&bytes);
    long_line();
    full_disk();
    newer();
    two_writers();
    free(path);
    str_release(&bytes);
    bad_head();
    return check_done();
}
