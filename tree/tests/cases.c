/* Reader of .test files (forms: tests/cases.h). The file is read whole and cut up in place, so texts need no
 * copies. It uses the C library only: the tests of every folder link it. */
#include "tests/cases.h"

static void fail(const struct cases *c, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", c->path, line, what);
    exit(1);
}

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

void cases_open(struct cases *c, const char *path)
{
    *c = (struct cases){.line = 1};
    if (!path) {
        fprintf(stderr, "this test reads its cases from a .test file: give its path as the argument\n");
        exit(1);
    }
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t len = 0, cap = 1 << 16;
    c->text = need(malloc(cap));
    for (size_t n; (n = fread(c->text + len, 1, cap - len - 1, f)) > 0;) {
        len += n;
        if (cap - len < 2)
            c->text = need(realloc(c->text, cap *= 2));
    }
    fclose(f);
    c->text[len] = 0;
    c->next = c->text;
    c->path = need(strdup(path));
}

void cases_close(struct cases *c)
{
    free(c->text);
    free(c->path);
    *c = (struct cases){0};
}

/* Cuts off and returns the next line, or NULL at the end. */
static char *take_line(struct cases *c)
{
    char *line = c->next, *end = strchr(line, '\n');
    if (!*line)
        return NULL;
    if (end)
        *end = 0;
    c->next = end ? end + 1 : line + strlen(line);
    c->line++;
    return line;
}

static int is_case(const char *line)
{
    return strncmp(line, "=== ", 4) == 0 && line[4];
}

static int is_key(const char *line)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return strncmp(line, "--- ", 4) == 0 && line[4] && line[4 + strspn(line + 4, word)] == 0;
}

/* Does the line at p (ended by \n or NUL) open a case or a section? */
static int is_marker_at(const char *p)
{
    char head[128];
    size_t n = strcspn(p, "\n");
    if (n >= sizeof head)
        return strncmp(p, "=== ", 4) == 0;
    memcpy(head, p, n);
    head[n] = 0;
    return is_case(head) || is_key(head);
}

/* The text up to the next marker, unescaped in place. */
static char *take_text(struct cases *c)
{
    char *text = c->next, *out = text, *line;
    int lines = 0;
    while (*c->next && !is_marker_at(c->next)) {
        line = take_line(c);
        if (lines++)
            *out++ = '\n';
        if (line[0] == '\\' && (is_case(line + 1) || is_key(line + 1)))
            line++;
        size_t n = strlen(line);
        memmove(out, line, n);
        out += n;
    }
    if (!lines)
        return c->next > c->text ? c->next - 1 : c->next; /* rests on the NUL that ended the key's line */
    if (!*c->next || strncmp(c->next, "=== ", 4) == 0)
        while (out > text && out[-1] == '\n')
            out--;
    *out = 0;
    return text;
}

int cases_next(struct cases *c, struct test_case *out)
{
    char *line = take_line(c);
    while (line && (!*line || *line == '#'))
        line = take_line(c);
    if (!line)
        return 0;
    if (!is_case(line))
        fail(c, c->line - 1, "expected \"=== name\"");
    *out = (struct test_case){.path = c->path, .name = line + 4, .line = c->line - 1};
    while (*c->next && strncmp(c->next, "=== ", 4) != 0) {
        line = take_line(c);
        if (!*line && !out->n)
            continue;
        if (!is_key(line))
            fail(c, c->line - 1, "expected \"--- key\" or \"=== name\"");
        if (out->n == CASE_SECTIONS_MAX)
            fail(c, c->line - 1, "too many sections in one case (CASE_SECTIONS_MAX)");
        if (case_text(out, line + 4))
            fail(c, c->line - 1, "this case has that section already");
        out->section[out->n].key = line + 4;
        out->section[out->n].line = c->line - 1;
        out->section[out->n].text = take_text(c);
        out->n++;
    }
    return 1;
}

static int find(const struct test_case *t, const char *key)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->section[i].key, key) == 0)
            return i;
    return -1;
}

const char *case_text(const struct test_case *t, const char *key)
{
    int i = find(t, key);
    return i < 0 ? NULL : t->section[i].text;
}

const char *case_need(const struct test_case *t, const char *key)
{
    int i = find(t, key);
    if (i < 0) {
        fprintf(stderr, "%s:%d: case \"%s\" has no section \"--- %s\"\n", t->path, t->line, t->name, key);
        exit(1);
    }
    return t->section[i].text;
}

int case_line(const struct test_case *t, const char *key)
{
    int i = find(t, key);
    return i < 0 ? t->line : t->section[i].line;
}

char *cases_line(struct cases *c, int *line)
{
    char *s = take_line(c);
    while (s && (s[strspn(s, " \t\r")] == 0 || *s == '#'))
        s = take_line(c);
    *line = c->line - 1;
    return s;
}

char *case_cut(char *line, const char *separator)
{
    char *at = strstr(line, separator);
    if (!at)
        return NULL;
    char *right = at + strlen(separator);
    right += strspn(right, " \t");
    while (at > line && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    *at = 0;
    return right;
}

void case_newlines(char *text)
{
    static const char mark[] = "⏎";
    char *out = text;
    while (*text) {
        size_t n = strncmp(text, mark, sizeof mark - 1) ? 1 : sizeof mark - 1;
        *out++ = n > 1 ? '\n' : *text;
        text += n;
    }
    *out = 0;
}

void cases_each(const char *path, void (*run)(const struct test_case *t))
{
    struct cases c;
    struct test_case t;
    cases_open(&c, path);
    while (cases_next(&c, &t))
        run(&t);
    cases_close(&c);
}

void cases_each_line(const char *path, void (*run)(const char *path, int line, char *text))
{
    struct cases c;
    int line;
    char *text;
    cases_open(&c, path);
    while ((text = cases_line(&c, &line)))
        run(path, line, text);
    cases_close(&c);
}
