#ifndef TESTS_EVALCORE_REPORT_CSV_ROWS_H
#define TESTS_EVALCORE_REPORT_CSV_ROWS_H

/* CSV files against rows of .test files that name the columns they check. An empty field is written "-". */
#include "evalcore/base/str.h"
#include "tests/cases.h"

enum { CSV_ROWS_MAX = 100, CSV_COLUMNS_MAX = 64 };
struct csv_file {
    char *text;                                       /* fields point into it */
    const char *field[CSV_ROWS_MAX][CSV_COLUMNS_MAX]; /* row 0: the names of the columns */
    int n_rows, n_columns;
};

/* RFC 4180 with "\n" at the end of every line, the last one included; quotes only where they are needed. Cuts
 * up `text`. Rows of different lengths, or another form, are failed checks. */
static void csv_file_read(struct csv_file *f, char *text)
{
    *f = (struct csv_file){.text = text};
    while (*text) {
        int n = 0;
        for (char end = ','; end == ',' && n < CSV_COLUMNS_MAX; n++) {
            int is_quoted = *text == '"';
            char *from = text + is_quoted, *to = from, *in = from;
            for (; is_quoted ? *in != '"' || in[1] == '"' : *in != ',' && *in != '\n'; in++) {
                in += is_quoted && *in == '"';
                CHECK(*in && (is_quoted || *in != '"'));
                if (!*in)
                    return;
                *to++ = *in;
            }
            in += is_quoted;
            end = *in;
            CHECK(end == ',' || end == '\n');
            *to = 0;
            CHECK_INT(is_quoted, from[strcspn(from, ",\"\r\n")] != 0);
            f->field[f->n_rows][n] = *from ? from : "-";
            text = in + 1;
        }
        f->n_columns = f->n_rows ? f->n_columns : n;
        CHECK_INT(n, f->n_columns);
        if (++f->n_rows == CSV_ROWS_MAX)
            return;
    }
}

static int csv_file_column(const struct csv_file *f, const char *name)
{
    for (int i = 0; i < f->n_columns; i++)
        if (!strcmp(f->field[0][i], name))
            return i;
    return -1;
}

static void check_field(const struct test_case *t, int line, const char *column, const char *got,
                        const char *want)
{
    check_count++;
    if (!strcmp(got, want))
        return;
    check_failures++;
    fprintf(stderr, "%s:%d: %s: %s is \"%s\", want \"%s\"\n", t->path, line, t->name, column, got, want);
}

/* Cuts the next word off *text; NULL at the end of the line. */
static char *next_word(char **text)
{
    char *word = *text + strspn(*text, " ");
    *text = word + strcspn(word, " ");
    if (**text)
        *(*text)++ = 0;
    return *word ? word : NULL;
}

/* Cuts the next line off *text; NULL at the end. */
static char *next_line(char **text)
{
    char *line = *text;
    *text += strcspn(line, "\n");
    if (**text)
        *(*text)++ = 0;
    return *line ? line : NULL;
}

/* Section "rows": the first line names columns, the others have their values in each row of the file. */
static void check_rows(const struct test_case *t, const struct csv_file *f)
{
    char *all = strdup(case_need(t, "rows")), *rest = all, *line = next_line(&rest), *word;
    int column[CSV_COLUMNS_MAX], n = 0, row = 0, at = case_line(t, "rows") + 1;
    while (line && n < CSV_COLUMNS_MAX && (word = next_word(&line)) != NULL) {
        column[n] = csv_file_column(f, word);
        CHECK(column[n] >= 0);
        n += column[n] >= 0;
    }
    while ((line = next_line(&rest)) != NULL) {
        at++;
        if (++row >= f->n_rows)
            break;
        for (int i = 0; i < n; i++)
            check_field(t, at, f->field[0][column[i]], f->field[row][column[i]],
                        (word = next_word(&line)) ? word : "");
    }
    CHECK_INT(row, f->n_rows - 1);
    free(all);
}

/* Finds the rows by the columns that section "key" names and section "columns" has first. */
static int find_rows(const struct test_case *t, const struct csv_file *f, char *const *value, int *row)
{
    char *key = strdup(case_need(t, "key")), *rest = key, *name;
    int n = 0, n_keys = 0, column[CSV_COLUMNS_MAX];
    for (; (name = next_word(&rest)) != NULL; n_keys++)
        if ((column[n_keys] = csv_file_column(f, name)) < 0)
            break;
    CHECK(!name && n_keys);
    for (int i = 1; i < f->n_rows && !name; i++) {
        int is_same = 1, k;
        for (k = 0; k < CSV_ROWS_MAX && value[column[0] * CSV_ROWS_MAX + k]; k++) {
            is_same = 1;
            for (int j = 0; j < n_keys; j++)
                is_same &= !strcmp(f->field[i][column[j]], value[column[j] * CSV_ROWS_MAX + k]);
            if (is_same)
                break;
        }
        if (k < CSV_ROWS_MAX && value[column[0] * CSV_ROWS_MAX + k] && is_same)
            row[n++] = i;
    }
    free(key);
    return n;
}

/* Section "columns": every column of the file in its order, "name: value | value ..", with its values in the
 * rows that section "key" finds, in the file's order. Section "all": these are all rows. */
static void check_columns(const struct test_case *t, const struct csv_file *f)
{
    static char *value[CSV_COLUMNS_MAX * CSV_ROWS_MAX];
    char *all = strdup(case_need(t, "columns")), *rest = all, *line;
    int n = 0, n_values = -1, row[CSV_ROWS_MAX], first = case_line(t, "columns") + 1;
    memset(value, 0, sizeof value);
    for (; n < CSV_COLUMNS_MAX && (line = next_line(&rest)) != NULL; n++) {
        char *v = case_cut(line, ":"), *next;
        int k = 0;
        check_field(t, first + n, "the column", n < f->n_columns ? f->field[0][n] : "(none)", line);
        for (; v && k < CSV_ROWS_MAX - 1; v = next, k++) {
            next = case_cut(v, " | ");
            value[n * CSV_ROWS_MAX + k] = v;
        }
        n_values = n_values < 0 ? k : n_values;
        CHECK_INT(k, n_values);
    }
    CHECK_INT(n, f->n_columns);
    int n_rows = n == f->n_columns ? find_rows(t, f, value, row) : 0;
    CHECK_INT(n_rows, n_values);
    if (case_text(t, "all"))
        CHECK_INT(n_rows, f->n_rows - 1);
    for (int i = 0; i < n && n_rows == n_values; i++)
        for (int k = 0; k < n_rows; k++)
            check_field(t, first + i, f->field[0][i], f->field[row[k]][i], value[i * CSV_ROWS_MAX + k]);
    free(all);
}

/* One case against the text of its file. */
static void check_csv(const struct test_case *t, const char *text)
{
    static struct csv_file f;
    csv_file_read(&f, strdup(text));
    if (case_text(t, "rows"))
        check_rows(t, &f);
    else
        check_columns(t, &f);
    free(f.text);
}

#endif
