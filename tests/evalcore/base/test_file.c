/* Files: what is read is what was written, a write is whole or not at all, and every failure names path and
 * cause. */
#include "evalcore/base/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

static const char top[] = "test_file.tmp";

static const char *in_top(const char *name)
{
    static char path[4][200];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", top, name);
    return p;
}

static void put(const char *path, const char *data, size_t n)
{
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, data, n, &e), 0);
    CHECK_STR(e.text, "");
}

/* What file_write_atomic() writes before it renames it to a: no other process uses that name. */
static const char *temporary(void)
{
    static char name[160];
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%s/a.%s.%ld.tmp", top, host, (long)getpid());
    return name;
}

/* Two processes at one path, as two reports of one folder: the fixed name made one take away the other's. */
static void two_writers(void)
{
    enum { ROUNDS = 200 };
    struct err e = {0};
    struct str s = {0};
    int status = 1;
    pid_t other = fork();
    for (int i = 0; i < ROUNDS && !e.code; i++)
        file_write_atomic(in_top("both"), other ? "parent" : "child!", 6, &e);
    if (!other)
        _exit(e.code != 0);
    CHECK_STR(e.text, "");
    CHECK_INT(waitpid(other, &status, 0), other);
    CHECK_INT(status, 0);
    CHECK_INT(file_read(in_top("both"), &s, &e), 0);
    CHECK(!strcmp(str_text(&s), "parent") || !strcmp(str_text(&s), "child!"));
    str_release(&s);
}

static void whole_files(void)
{
    struct str s = {0};
    struct err e = {0};
    put(in_top("a"), "x\0y\n", 4);
    CHECK_INT(file_read(in_top("a"), &s, &e), 0);
    CHECK(s.len == 4 && memcmp(s.data, "x\0y\n", 4) == 0);
    put(in_top("a"), "new", 3);
    str_clear(&s);
    CHECK_INT(file_read(in_top("a"), &s, &e), 0);
    CHECK_STR(s.data, "new");
    CHECK(!file_exists(temporary()));
    put(in_top("empty"), NULL, 0);
    str_clear(&s);
    CHECK_INT(file_read(in_top("empty"), &s, &e), 0);
    CHECK_INT(s.len, 0);
    struct err long_one = {0};
    str_clear(&s);
    CHECK_INT(file_read_most("/dev/zero", 1 << 20, &s, &long_one), ERR_FORMAT);
    CHECK(strstr(long_one.text, "/dev/zero: is longer than 1048576 bytes"));
    CHECK_INT(file_read(in_top("none"), &s, &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp/none: No such file or directory");
    e.code = 0;
    CHECK_INT(file_read(top, &s, &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp: Is a directory");
    str_release(&s);
}

static void maps(void)
{
    struct file_map m;
    struct err e = {0};
    CHECK_INT(file_map_open(&m, in_top("a"), &e), 0);
    CHECK(m.size == 3 && memcmp(m.data, "new", 3) == 0);
    file_map_close(&m);
    file_map_close(&m);
    CHECK_INT(file_map_open(&m, in_top("empty"), &e), 0);
    CHECK(!m.data && !m.size);
    file_map_close(&m);
    CHECK_INT(file_map_open(&m, in_top("none"), &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp/none: No such file or directory");
    e.code = 0;
    CHECK_INT(file_map_open(&m, top, &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp: it is not a regular file");
}

/* /dev/full refuses every byte as a full disk does; the temporary file is made to be a link to it. */
static void full_disk(void)
{
    struct str s = {0};
    struct err e = {0};
    if (access("/dev/full", W_OK)) {
        fprintf(stderr, "skipped: no /dev/full here\n");
        return;
    }
    CHECK_INT(symlink("/dev/full", temporary()), 0);
    CHECK_INT(file_write_atomic(in_top("a"), "lost", 4, &e), ERR_DISK);
    CHECK_STR(e.text,
              "cannot write test_file.tmp/a (4 bytes): the disk is full; free some space there or choose "
              "another folder");
    CHECK_INT(file_read(in_top("a"), &s, &e), 0);
    CHECK_STR(s.data, "new"); /* the old file is whole */
    CHECK(access(temporary(), F_OK) != 0);
    CHECK_INT(access("/dev/full", F_OK), 0);
    e.code = 0;
    CHECK_INT(file_write_atomic(in_top("no/such"), "x", 1, &e), ERR_IO);
    CHECK_STR(e.text, "cannot write test_file.tmp/no/such (1 bytes): No such file or directory");
    str_release(&s);
}

/* What a person can mend in a command, and what a repetition may. */
static void kinds(void)
{
    struct err e = {0};
    CHECK_INT(file_error_code(ENOSPC), ERR_DISK);
    CHECK_INT(file_error_code(EFBIG), ERR_DISK);
    CHECK_INT(file_error_code(EDQUOT), ERR_DISK);
    CHECK_INT(file_error_code(EIO), ERR_DISK);
    CHECK_INT(file_error_code(EACCES), ERR_IO);
    CHECK_INT(mkfifo(in_top("fifo"), 0600), 0);
    CHECK_INT(file_plain(in_top("a"), &e), 0);
    CHECK_INT(file_plain(in_top("missing"), &e), 0);
    CHECK_INT(file_plain(in_top("fifo"), &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp/fifo: it is not a regular file");
}

static void folders(void)
{
    struct err e = {0};
    CHECK_INT(file_mkdirs(in_top("d/e/f"), &e), 0);
    CHECK_INT(file_mkdirs(in_top("d/e/f/"), &e), 0);
    CHECK_INT(file_mkdirs(in_top("d//g"), &e), 0);
    CHECK_INT(file_mkdirs("/", &e), 0);
    CHECK(file_is_dir(in_top("d/e/f")) && file_is_dir(in_top("d/g")));
    CHECK(file_exists(in_top("a")) && !file_is_dir(in_top("a")) && !file_is_dir(in_top("none")));
    CHECK_INT(file_mkdirs(in_top("a/b/c"), &e), ERR_IO);
    CHECK_STR(e.text,
              "cannot create the folder test_file.tmp/a/b/c: test_file.tmp/a exists and is not a folder");
    put(in_top("d/e/f/x"), "x", 1);
    CHECK_INT(symlink("../../a", in_top("d/e/link")), 0);
    CHECK_INT(symlink("..", in_top("d/e/up")), 0);
    e.code = 0;
    CHECK_INT(file_remove_tree(in_top("d/"), &e), 0);
    CHECK(!file_exists(in_top("d")) && file_exists(in_top("a")));
    CHECK_INT(file_remove_tree(in_top("d"), &e), 0);
    CHECK_STR(e.text[0] && e.code ? e.text : "", "");
}

static void joining(void)
{
    static const char *const row[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"a", "/b", "/b"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct str s = {0};
        file_join(&s, row[i][0], row[i][1]);
        CHECK_STR(s.data, row[i][2]);
        str_release(&s);
    }
}

static void lines(void)
{
    struct file_lines l;
    struct err e = {0};
    const char *line;
    size_t n;
    struct str text = {0};
    str_puts(&text, "first\n\n");
    for (int i = 0; i < 100000; i++)
        str_putc(&text, 'x');
    str_add(&text, "\na\0b\ntorn", 9);
    put(in_top("lines"), text.data, text.len);
    CHECK_INT(file_lines_open(&l, in_top("lines"), &e), 0);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK_STR(line, "first");
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK(n == 0 && *line == 0);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK_INT(n, 100000);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK(n == 3 && memcmp(line, "a\0b", 4) == 0 && !l.torn);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK_STR(line, "torn");
    CHECK(l.torn && l.number == 5);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 0);
    file_lines_close(&l);
    file_lines_close(&l);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 0);
    CHECK_INT(file_lines_open(&l, in_top("none"), &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp/none: No such file or directory");
    e.code = 0;
    CHECK_INT(file_lines_open(&l, top, &e), 0);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), ERR_IO);
    CHECK_STR(e.text, "test_file.tmp:1: cannot read on: Is a directory");
    file_lines_close(&l);
    str_release(&text);
}

static void listing(void)
{
    struct file_list l;
    struct err e = {0};
    CHECK_INT(file_mkdirs(in_top("list"), &e), 0);
    put(in_top("list/b.jsonl"), "", 0);
    put(in_top("list/a.jsonl"), "", 0);
    put(in_top("list/B.jsonl"), "", 0);
    put(in_top("list/c.txt"), "", 0);
    CHECK_INT(file_list(&l, in_top("list"), ".jsonl", &e), 0);
    CHECK_INT(l.n, 3);
    if (l.n == 3) {
        CHECK_STR(l.name[0], "B.jsonl");
        CHECK_STR(l.name[1], "a.jsonl");
        CHECK_STR(l.name[2], "b.jsonl");
    }
    file_list_release(&l);
    CHECK_INT(file_list(&l, in_top("list"), "", &e), 0);
    CHECK_INT(l.n, 4);
    file_list_release(&l);
    CHECK_INT(file_list(&l, in_top("none"), "", &e), ERR_IO);
    CHECK_STR(e.text, "cannot list the folder test_file.tmp/none: No such file or directory");
    file_list_release(&l);
}

int main(void)
{
    struct err e = {0};
    CHECK_INT(file_remove_tree(top, &e), 0);
    CHECK_INT(file_mkdirs(top, &e), 0);
    whole_files();
    two_writers();
    maps();
    full_disk();
    kinds();
    folders();
    joining();
    lines();
    listing();
    CHECK_INT(file_remove_tree(top, &e), 0);
    CHECK(!file_exists(top));
    return check_done();
}
