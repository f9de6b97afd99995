/* Files: what is read is what was written, a write is whole or not at all, and every failure names path and
 * cause. */
#include "evalcore/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
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

/* The temporary files that are left; a write removes its own. */
static size_t count_temporary(void)
{
    struct file_list l;
    CHECK_INT(file_list(&l, top, ".tmp", NULL), 0);
    size_t n = l.n;
    file_list_release(&l);
    return n;
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
    CHECK_INT(count_temporary(), 0);
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

/* A limit of sizes refuses every byte, as a full disk does. */
static void full_disk(void)
{
    struct str s = {0};
    struct err e = {0};
    struct rlimit old, none;
    getrlimit(RLIMIT_FSIZE, &old);
    none = old;
    none.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    CHECK_INT(file_write_atomic(in_top("a"), "lost", 4, &e), ERR_DISK);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &old), 0);
    CHECK_STR(e.text, "cannot write test_file.tmp/a (4 bytes): File too large");
    CHECK_INT(file_read(in_top("a"), &s, &e), 0);
    CHECK_STR(s.data, "new"); /* the old file is whole */
    CHECK_INT(count_temporary(), 0);
    e.code = 0;
    CHECK_INT(file_write_atomic(in_top("no/such"), "x", 1, &e), ERR_IO);
    CHECK_STR(e.text, "cannot write test_file.tmp/no/such: No such file or directory");
    str_release(&s);
}

static const char *text_of(const char *path)
{
    static struct str s;
    str_clear(&s);
    file_read(path, &s, NULL);
    return str_text(&s);
}

/* What stands under a name of ours may be somebody's: nothing is written there, and nobody is waited for. */
static void planted(void)
{
    static const char *const kinds[] = {"symlink", "hard", "dangling", "fifo", "folder", "device"};
    put(in_top("theirs"), "precious", 8);
    for (int k = 0; k < 6; k++) {
        struct err own = {0}, whole = {0};
        const char *p = in_top("planted");
        CHECK_INT(file_remove_tree(p, NULL), 0);
        CHECK_INT(k == 0   ? symlink("theirs", p)
                  : k == 1 ? link(in_top("theirs"), p)
                  : k == 2 ? symlink("nowhere", p)
                  : k == 3 ? mkfifo(p, 0600)
                  : k == 4 ? mkdir(p, 0700)
                           : symlink("/dev/null", p),
                  0);
        CHECK_INT(file_open_own(p, 0, &own), ERR_IO);
        CHECK(strstr(own.text, "test_file.tmp/planted: it is "));
        CHECK_INT(file_open_new(p, 0), -1);
        CHECK_INT(file_write_atomic(p, "ours", 4, &whole), k < 4 ? 0 : ERR_IO);
        if (k < 4)
            CHECK_STR(text_of(p), "ours");
        else
            CHECK(strstr(whole.text, "test_file.tmp/planted (4 bytes): it is "));
        if (strcmp(text_of(in_top("theirs")), "precious") || file_exists(in_top("nowhere")) ||
            access("/dev/null", W_OK))
            CHECK_STR(kinds[k], "nothing changed behind it");
    }
    CHECK_INT(file_remove_tree(in_top("planted"), NULL), 0);
    int fd = file_open_own(in_top("theirs"), 0, NULL);
    CHECK(fd >= 0); /* ours, and not emptied */
    close(fd);
    CHECK_STR(text_of(in_top("theirs")), "precious");
}

/* Two processes of one host name and one number, as in containers, never have one name. */
static void temporary_names(void)
{
    struct str one = {0}, two = {0};
    int a = file_open_temporary(&one, in_top("t"), NULL), b = file_open_temporary(&two, in_top("t"), NULL);
    CHECK(a >= 0 && b >= 0 && strcmp(one.data, two.data));
    CHECK(!file_is_abandoned(strrchr(one.data, '/') + 1)); /* this process goes on */
    close(a);
    close(b);
    unlink(one.data);
    unlink(two.data);
    CHECK_INT(file_open_temporary(&one, in_top("no/such"), NULL), ERR_IO);
    str_release(&one);
    str_release(&two);
}

/* A path from the command line may be a stream. */
static void outputs(void)
{
    struct err e = {0};
    int pair[2], kept = dup(STDOUT_FILENO);
    char got[8] = "";
    struct stat st;
    CHECK_INT(file_write_output("/dev/null", "x", 1, &e), 0);
    CHECK(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
    CHECK_INT(pipe(pair), 0);
    CHECK(dup2(pair[1], STDOUT_FILENO) >= 0);
    CHECK_INT(symlink("/proc/self/fd/1", in_top("stdout")), 0);
    CHECK_INT(file_write_output(in_top("stdout"), "told", 4, &e), 0);
    CHECK(dup2(kept, STDOUT_FILENO) >= 0);
    CHECK_INT(read(pair[0], got, sizeof got), 4);
    CHECK_STR(got, "told");
    CHECK(!lstat(in_top("stdout"), &st) && S_ISLNK(st.st_mode));
    CHECK_INT(mkfifo(in_top("unread"), 0600), 0);
    CHECK_INT(file_write_output(in_top("unread"), "x", 1, &e), ERR_IO);
    CHECK(strstr(e.text, "unread: nobody reads it"));
    CHECK_INT(symlink("theirs", in_top("linked")), 0);
    e.code = 0;
    CHECK_INT(file_write_output(in_top("linked"), "ours", 4, &e), 0);
    CHECK_STR(text_of(in_top("theirs")), "precious");
    close(pair[0]);
    close(pair[1]);
    close(kept);
}

/* What a person can mend in a command, and what a repetition may. */
static void kinds(void)
{
    struct err e = {0};
    CHECK_INT(file_error_code(ENOSPC), ERR_DISK);
    CHECK_INT(file_error_code(EFBIG), ERR_DISK);
    CHECK_INT(file_error_code(EDQUOT), ERR_DISK);
    CHECK_INT(file_error_code(EIO), ERR_DISK);
    CHECK_INT(file_error_code(EMFILE), ERR_DISK);
    CHECK_INT(file_error_code(ENFILE), ERR_DISK);
    CHECK(strstr(err_reason(EMFILE), "ulimit -n"));
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

/* A FIFO is read like a file by way of its writer, however late that is with its bytes; without one it was
 * waited for without end. */
static void fifos(void)
{
    struct file_lines l;
    struct err e = {0};
    struct str s = {0};
    const char *line, *path = in_top("input");
    size_t n;
    int go[2], status = 1;
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK_INT(file_read(path, &s, &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_file.tmp/input: it is a FIFO and nobody writes to it");
    e.code = 0;
    int writer = open(path, O_RDWR | O_CLOEXEC);
    CHECK(writer >= 0 && pipe(go) == 0);
    CHECK_INT(file_lines_open(&l, path, &e), 0);
    pid_t child = fork();
    if (!child) {
        char any;
        _exit(read(go[0], &any, 1) != 1 || file_put(writer, "late\ntorn", 9));
    }
    close(writer);
    CHECK_INT(file_put(go[1], "!", 1), 0);
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK_STR(line, "late");
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 1);
    CHECK_STR(line, "torn");
    CHECK_INT(file_lines_next(&l, &line, &n, &e), 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    file_lines_close(&l);
    close(go[0]);
    close(go[1]);
    str_release(&s);
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
    planted();
    temporary_names();
    outputs();
    kinds();
    folders();
    joining();
    lines();
    fifos();
    listing();
    CHECK_INT(file_remove_tree(top, &e), 0);
    CHECK(!file_exists(top));
    return check_done();
}
