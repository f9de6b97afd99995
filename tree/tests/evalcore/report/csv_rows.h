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
static inline void check_rows(const struct test_case *t, const struct csv_file *f)
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

/* The values that section `name` gives for columns of the file: value[column][row], NULL behind the last. */
struct csv_values {
    char *text;
    const char *value[CSV_COLUMNS_MAX][CSV_ROWS_MAX];
    int column[CSV_COLUMNS_MAX], line[CSV_COLUMNS_MAX]; /* of each line of the section */
    int n_lines, n_values;
};

/* "column: value | value ..", one line a column, each with equally many values. */
static void read_values(struct csv_values *v, const struct test_case *t, const char *name,
                        const struct csv_file *f)
{
    char *rest, *line;
    memset(v, 0, sizeof *v);
    rest = v->text = strdup(case_need(t, name));
    for (int at = case_line(t, name) + 1; v->n_lines < CSV_COLUMNS_MAX && (line = next_line(&rest)) != NULL;
         at++) {
        char *value = case_cut(line, ":"), *next;
        int column = csv_file_column(f, line), n = 0;
        check_field(t, at, "the column", column < 0 ? "not in the file" : line, line);
        if (column < 0)
            continue;
        for (; value && n < CSV_ROWS_MAX - 1; value = next, n++) {
            next = case_cut(value, " | ");
            v->value[column][n] = value;
        }
        if (v->n_lines)
            CHECK_INT(n, v->n_values);
        v->n_values = n;
        v->column[v->n_lines] = column;
        v->line[v->n_lines++] = at;
    }
}

static void check_values(const struct test_case *t, const struct csv_values *v, const struct csv_file *f,
                         const int *row)
{
    for (int i = 0; i < v->n_lines; i++)
        for (int k = 0, c = v->column[i]; k < v->n_values && v->value[c][k]; k++)
            check_field(t, v->line[i], f->field[0][c], f->field[row[k]][c], v->value[c][k]);
}

/* Section `name`: named columns of all rows of the file, in its order. An empty section: there are no rows.
 */
static inline void check_named(const struct test_case *t, const char *name, const struct csv_file *f)
{
    static struct csv_values v;
    int row[CSV_ROWS_MAX];
    read_values(&v, t, name, f);
    CHECK_INT(v.n_values, f->n_rows - 1);
    for (int i = 0; i < CSV_ROWS_MAX; i++)
        row[i] = i + 1;
    if (v.n_values == f->n_rows - 1)
        check_values(t, &v, f, row);
    free(v.text);
}

/* Finds the rows by the columns that section "key" names. Returns their number. */
static inline int find_rows(const struct test_case *t, const struct csv_file *f, const struct csv_values *v,
                            int *row)
{
    char *key = strdup(case_need(t, "key")), *rest = key, *name;
    int n = 0, n_keys = 0, column[CSV_COLUMNS_MAX];
    for (; (name = next_word(&rest)) != NULL && (column[n_keys] = csv_file_column(f, name)) >= 0;)
        n_keys++;
    CHECK(!name && n_keys);
    for (int i = 1; i < f->n_rows && !name; i++)
        for (int k = 0, is_same = 0; k < v->n_values && !is_same; k++) {
            is_same = 1;
            for (int j = 0; j < n_keys; j++)
                is_same &= v->value[column[j]][k] && !strcmp(f->field[i][column[j]], v->value[column[j]][k]);
            if (is_same)
                row[n++] = i;
        }
    free(key);
    return n;
}

/* Section "columns": every column of the file in its order, with its values in the rows that section "key"
 * finds, in the file's order. Section "all": these are all rows. */
static inline void check_columns(const struct test_case *t, const struct csv_file *f)
{
    static struct csv_values v;
    int row[CSV_ROWS_MAX];
    read_values(&v, t, "columns", f);
    CHECK_INT(v.n_lines, f->n_columns);
    for (int i = 0; i < v.n_lines; i++)
        check_field(t, v.line[i], "the column", f->field[0][i], f->field[0][v.column[i]]);
    int n = find_rows(t, f, &v, row);
    CHECK_INT(n, v.n_values);
    if (case_text(t, "all"))
        CHECK_INT(n, f->n_rows - 1);
    if (n == v.n_values)
        check_values(t, &v, f, row);
    free(v.text);
}

/* One case against the text of its file. */
static inline void check_csv(const struct test_case *t, const char *text)
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
