/* GPQA-Diamond from its CSV file. The authors ask that no example appear in plain text: messages name lines,
 * columns and record ids, never what a field holds.
 *
 * The options' order is a function of the record id alone, so it depends neither on a seed nor on the number
 * or order of the rows, unless the orders of another harness are asked for; it is stored with every problem.
 *
 * DELTA asked the questions as they were before the authors' last revision; its prompt variant reads those
 * columns. A problem's hash is of the revised question all the same, so that it is one problem under all
 * prompts and in any order of its options.
 */
#include "tasks/csv.h"
#include "tasks/duplicates.h"
#include "tasks/option_order.h"
#include "tasks/rows.h"
#include "tasks/task_list.h"

#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/str.h"

enum { QUESTION, CORRECT, WRONG_1, WRONG_2, WRONG_3, RECORD_ID, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {"Question",           "Correct Answer",
                                                    "Incorrect Answer 1", "Incorrect Answer 2",
                                                    "Incorrect Answer 3", "Record ID"};

/* Is the column's text revised, so that a second column has its earlier form? */
static int is_revised(int column)
{
    return column != RECORD_ID;
}

struct columns {
    int at[N_COLUMNS];
    int revised_question; /* which names the problem; -1: the file has none */
};

/* Where the column of that name is, with `before` in front of it; -1: nowhere. */
static int find_column(int *at, const struct csv *c, const char *before, const char *name, struct err *e)
{
    size_t n = strlen(name), skip = strlen(before);
    *at = -1;
    for (int i = 0; i < c->n_fields; i++) {
        if (c->fields[i].len != skip + n || memcmp(c->fields[i].s, before, skip) ||
            memcmp(c->fields[i].s + skip, name, n))
            continue;
        if (*at >= 0)
            return err_set(e, ERR_FORMAT, "%s:%ld: the header has the column \"%s%s\" twice", c->path,
                           c->line, before, name);
        *at = i;
    }
    return 0;
}

/* `before`, name_before() of the task, stands in front of the names of revised columns: "" or "Pre-Revision
 * ". */
static int find_columns(struct columns *out, const struct csv *c, const char *before, struct err *e)
{
    int rc = 0;
    for (int k = 0; k < N_COLUMNS && !rc; k++) {
        const char *own = is_revised(k) ? before : "";
        rc = find_column(&out->at[k], c, own, column_names[k], e);
        if (!rc && out->at[k] < 0)
            rc =
                err_set(e, ERR_FORMAT, "%s:%ld: the header has no column \"%s%s\"; is this gpqa_diamond.csv?",
                        c->path, c->line, own, column_names[k]);
    }
    return rc ? rc : find_column(&out->revised_question, c, "", column_names[QUESTION], e);
}

/* As the harnesses trim fields, which are in Python: no-break spaces go, too. */
static struct row_text trim_field(struct csv_field f)
{
    size_t n;
    for (; (n = str_space_at(f.s, f.len)); f.s += n)
        f.len -= n;
    while ((n = str_space_before(f.s, f.len)))
        f.len -= n;
    return (struct row_text){f.s, f.len};
}

static const char *name_before(const struct rows *r)
{
    const char *variant = r->task->options.prompt;
    return variant && !strcmp(variant, "delta") ? "Pre-Revision " : "";
}

static void set_hash(struct problem *p, const struct csv *c, const struct columns *columns,
                     struct row_text asked)
{
    int at = columns->revised_question;
    struct row_text revised = at < 0 ? asked : trim_field(c->fields[at]);
    if (!revised.n)
        revised = asked;
    problem_set_hash(p, revised.s, revised.n);
}

/* The same question with the same options is the same problem, in whatever order they stand. */
static void set_same(struct problem *p, const struct row_text *part)
{
    struct str text = {0};
    uint64_t options = 0;
    for (int k = CORRECT; k <= WRONG_3; k++)
        options += duplicates_hash(part[k].s, part[k].n);
    str_printf(&text, "%016llx%016llx",
               (unsigned long long)duplicates_hash(part[QUESTION].s, part[QUESTION].n),
               (unsigned long long)options);
    p->same = hash_bytes64(text.data, text.len);
    p->answer = duplicates_hash(part[CORRECT].s, part[CORRECT].n);
    str_release(&text);
}

static int add_record(struct rows *r, const struct csv *c, const struct columns *columns,
                      const char *template, struct option_order *orders, struct err *e)
{
    struct row_text part[N_COLUMNS];
    for (int k = 0; k < N_COLUMNS; k++) {
        part[k] = trim_field(c->fields[columns->at[k]]);
        if (!part[k].n)
            return err_set(e, ERR_FORMAT, "%s:%ld: the column \"%s%s\" is empty", c->path, c->line,
                           is_revised(k) ? name_before(r) : "", column_names[k]);
    }
    int order[4];
    char letters[5] = "", gold = 0;
    option_order_next(orders, order, part[RECORD_ID].s, part[RECORD_ID].n);
    for (int i = 0; i < 4; i++) {
        letters[i] = (char)('A' + order[i]);
        order[i] += CORRECT; /* the part that stands at letter 'A' + i */
        if (order[i] == CORRECT)
            gold = (char)('A' + i);
    }
    const struct prompt_field fields[] = {
        {"problem", part[QUESTION].s, part[QUESTION].n}, {"A", part[order[0]].s, part[order[0]].n},
        {"B", part[order[1]].s, part[order[1]].n},       {"C", part[order[2]].s, part[order[2]].n},
        {"D", part[order[3]].s, part[order[3]].n},
    };
    r->line = c->line;
    struct problem *p = rows_add(r);
    struct str text = {0};
    prompt_fill(&text, template, fields, 5);
    problem_set_prompt(p, r->task, text.data, text.len);
    str_release(&text);
    set_hash(p, c, columns, part[QUESTION]);
    set_same(p, part);
    problem_set_gold(p, r->task, &gold, 1);
    p->n_options = 4;
    p->option_order = arena_strdup(&r->task->arena, letters);
    return problem_set_id(p, r, part[RECORD_ID], e);
}

static int read_records(struct rows *r, struct csv *c, const char *template, struct err *e)
{
    struct columns columns;
    int n_fields, rc = csv_next(c, e), rule = r->task->options.order;
    struct option_order orders;
    if (rc <= 0)
        return rc < 0 ? rc : err_set(e, ERR_FORMAT, "%s: the file is empty", c->path);
    rc = find_columns(&columns, c, name_before(r), e);
    n_fields = c->n_fields;
    option_order_init(&orders, rule < 0 ? OPTIONS_BY_RECORD : (enum option_rule)rule);
    while (!rc && (rc = csv_next(c, e)) > 0) {
        rc = c->n_fields == n_fields
                 ? add_record(r, c, &columns, template, &orders, e)
                 : err_set(e, ERR_FORMAT, "%s:%ld: this row has %d fields, the header has %d", c->path,
                           c->line, c->n_fields, n_fields);
    }
    return rc ? rc : rows_finish(r, e);
}

static int load_gpqa(struct task *t, const char *path, struct err *e)
{
    const char *template;
    struct file_map map = {0};
    int rc = prompt_find(&template, t, "gpqa", e);
    if (!rc)
        rc = file_map_open(&map, path, e);
    if (rc)
        return rc;
    struct rows r = {.task = t, .path = path};
    struct csv c;
    sha256_hex(map.data, map.size, t->source, 64);
    csv_open(&c, path, (const char *)map.data, map.size);
    rc = read_records(&r, &c, template, e);
    csv_close(&c);
    rows_release(&r);
    file_map_close(&map);
    return rc;
}

static int grade_gpqa(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    return grade_choice(out, p->gold[0], r, p->n_options, a);
}

/* Several independent projects publish this hash for this commit. */
static const struct task_source sources[] = {
    {.file = "gpqa/gpqa_diamond.csv",
     .hub = "Idavidrein/gpqa",
     .revision = "633f5ee89ab8ad4522a9f850766b73f62147ffdd",
     .part = {"gpqa_diamond.csv"},
     .sha256 = {"41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305"},
     .licence = "CC BY 4.0",
     .is_gated = 1},
    {.file = NULL},
};

const struct task_ops task_gpqa_diamond = {
    .name = "gpqa_diamond",
    .help = "GPQA-Diamond: 198 questions with four options (CSV); options in an order fixed by the record id",
    .version = "2",
    .default_file = "gpqa/gpqa_diamond.csv",
    .sources = sources,
    .fields =
        "columns Record ID, Question, Correct Answer, Incorrect Answer 1, 2 and 3; for the prompt delta, "
        "these but the first with \"Pre-Revision \" before their names",
    .metric = "accuracy",
    .prompts = "openr1,delta,dms",
    .is_restricted = 1,
    .options = "subset,order",
    .expected_tokens = 8000,
    .load = load_gpqa,
    .grade = grade_gpqa,
};
