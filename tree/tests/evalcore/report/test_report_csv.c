/* Every CSV file of one run that has something for each of them: test_report_csv FOLDER writes them and
 * columns.md there, for csv_pandas.py to load. Every row has as many fields as its table has columns. */
#include "tests/check.h"

#include "evalcore/export/csv_tables.h"
#include "tests/evalcore/report/plain_run.h"
#include "tests/evalcore/report/written.h"

/* The cells of relay become a family of RULER, a data set of LongBench, and a text. */
static void make_everything(struct run *r)
{
    static const struct likelihood some = {2, {{8, 4, 4, 10, 10, 0}, {16, 6, 3, 10, 20, 3}}};
    static const char *const names[] = {"ruler", "longbench", "text"};
    struct run_task *t = arena_alloc(&r->arena, 3 * sizeof *t);
    for (int i = 0; i < 3; i++) {
        t[i] = r->tasks[0];
        t[i].name = t[i].label = names[i];
        t[i].problems = arena_alloc(&r->arena, 10 * sizeof *t[i].problems);
        for (int k = 0; k < 10; k++) {
            t[i].problems[k] = r->tasks[0].problems[k];
            t[i].problems[k].subset = "qasper";
        }
    }
    t[0].options = "{\"subset\":\"vt\",\"tokens\":1024}";
    t[2].is_text = 1;
    for (int i = 0; i < 5; i++)
        r->cells[i].task = &t[i < 2 ? 0 : i < 4 ? 1 : 2];
    r->cells[3].baseline = 2;
    r->cells[4].baseline = -1;
    for (int k = 0; k < 10; k++)
        ((struct record *)r->cells[4].records)[k].likelihood = &some;
    json_object_set_new(r->config, "published",
                        json_pack("[{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:i}, s:f}]", "paper", "a, \"b\"",
                                  "where", "Table 1", "model", "pocket", "task", "choice", "policy", "full",
                                  "metric", "accuracy", "unit", "fraction", "settings", "problems", 30,
                                  "value", 0.6));
}

static int count_fields(const char *line)
{
    int n = 1, quoted = 0;
    for (; *line && (quoted || *line != '\n'); line++) {
        quoted ^= *line == '"';
        n += !quoted && *line == ',';
    }
    return n;
}

/* No field of these holds a line's end. */
static void check_table(const struct csv_table *t, const char *text)
{
    int n = 0, rows = 0;
    while (t->columns[n].name)
        n++;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        CHECK_INT(count_fields(line), n);
        rows++;
    }
    if (rows < 2)
        fprintf(stderr, "%s has no rows\n", t->file);
    CHECK(rows >= 2);
}

static void put_file(const char *name, const struct str *text)
{
    struct str path = {0};
    struct err e = {0};
    in_folder(&path, name);
    CHECK_INT(file_write_atomic(str_text(&path), str_text(text), text->len, &e), 0);
    str_release(&path);
}

int main(int argc, char **argv)
{
    struct run run;
    struct arena a = {0};
    struct report now, old;
    struct err e = {0};
    struct str text = {0}, meaning = {0};
    const struct csv_table *t;
    if (argc > 1)
        snprintf(folder, sizeof folder, "%s", argv[1]);
    plain_run(&run);
    make_everything(&run);
    report_compute(&old, &run, &a);
    report_compute(&now, &run, &a);
    report_published(&now);
    report_against(&now, &old);
    csv_columns_md(&meaning);
    if (argc > 1) {
        CHECK_INT(file_mkdirs(folder, &e), 0);
        put_file("columns.md", &meaning);
    }
    for (int i = 0; (t = csv_table_at(i)) != NULL; i++) {
        str_clear(&text);
        csv_print(&text, t, &now);
        check_table(t, str_text(&text));
        CHECK_INT(count_text(str_text(&meaning), arena_printf(&a, "\n## %s\n", t->file)), 1);
        for (const struct csv_column *c = t->columns; c->name; c++)
            CHECK(*c->meaning);
        if (argc > 1)
            put_file(t->file, &text);
    }
    str_release(&text);
    str_release(&meaning);
    arena_release(&a);
    fake_release(&run);
    return check_done();
}
