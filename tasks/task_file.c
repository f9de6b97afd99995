/* Reads the JSON object of a task (contract: task_file.h; keys: docs/tasks.md). Task files may come from
 * anywhere: every key, type, path and template is checked here, before a row is read. */
#include "tasks/task_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tasks/few_shot.h"
#include "tasks/known_sets.h"
#include "tasks/task_list.h"
#include "tasks/task_parse.h"

static const struct task_kind *const kinds[] = {
#define X(name) &task_kind_##name,
    TASK_KINDS(X)
#undef X
        NULL,
};

const struct task_kind *task_kind_find(const char *name)
{
    for (int i = 0; kinds[i]; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

const struct task_kind *task_kind_at(size_t i)
{
    return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL;
}

void task_kinds_list(struct str *out)
{
    for (int i = 0; kinds[i]; i++)
        str_printf(out, "%s%s", i ? ", " : "", kinds[i]->name);
}

#define TEXT(struct_type, member, key, what)                                                                 \
    {                                                                                                        \
        .name = key, .type = PARAM_STRING, .offset = offsetof(struct struct_type, member), .help = what      \
    }
static const struct param file_params[] = {
    TEXT(task_file, name, "name", "what run files call it"),
    TEXT(task_file, about, "about", "what it is; up to \":\" its title"),
    TEXT(task_file, version, "version", "changes where prompts or problems change"),
    TEXT(task_file, unchecked, "unchecked", "what nobody could check"),
    {.name = "limit",
     .type = PARAM_INT,
     .offset = offsetof(struct task_file, limit),
     .min = 1,
     .max = 1 << 20,
     .help = "tokens of a completion where the run file says none"},
    {.name = "expected_tokens",
     .type = PARAM_INT,
     .offset = offsetof(struct task_file, expected_tokens),
     .min = 1,
     .max = 1 << 20,
     .help = "typical length of a completion"},
    {.name = "truncate_middle",
     .type = PARAM_BOOL,
     .offset = offsetof(struct task_file, truncate_middle),
     .def = "false",
     .help = "a prompt that is too long loses its middle"},
    {.name = "restricted",
     .type = PARAM_BOOL,
     .offset = offsetof(struct task_file, is_restricted),
     .def = "false",
     .help = "its authors ask that no example be published"},
    {.name = NULL},
};
static const struct param rows_params[] = {
    TEXT(task_rows, file, "file", "where the rows are"),
    TEXT(task_rows, format, "format", "jsonl, json, csv or tsv"),
    TEXT(task_rows, with, "with", "only rows that have this column"),
    TEXT(task_rows, without, "without", "only rows that lack this column"),
    TEXT(task_rows, hub, "hub", "data set on the Hugging Face Hub"),
    TEXT(task_rows, revision, "revision", "of the hub's data set"),
    TEXT(task_rows, path, "path", "file in the hub's data set"),
    TEXT(task_rows, licence, "licence", "of the data"),
    {.name = NULL},
};
static const struct param facts_params[] = {
    {.name = "rows",
     .type = PARAM_INT,
     .offset = offsetof(struct task_facts, rows),
     .min = 1,
     .max = TASK_PROBLEMS_MAX,
     .help = "how many there are"},
    {.name = "repeats",
     .type = PARAM_INT,
     .offset = offsetof(struct task_facts, repeats),
     .min = 1,
     .max = TASK_PROBLEMS_MAX,
     .help = "how many of them repeat an earlier one, so that a file with as many rows is taken as it is"},
    TEXT(task_facts, answers_sha256, "answers_sha256", "SHA-256 of the answers in order, each ended by LF"),
    TEXT(task_facts, source, "source", "where these were read"),
    {.name = NULL},
};

/* ---- names and paths */

static int check_name(const struct task_parse *p)
{
    const char *name = p->f->name;
    if (!name)
        return err_set(p->e, ERR_USAGE,
                       "%s: \"name\" is missing; write what run files and reports call the task",
                       p->f->where);
    if (!task_parse_is_name(name))
        return err_set(
            p->e, ERR_USAGE,
            "%s: \"name\" is \"%.80s\"; a task's name has 1 to %d letters, digits, \".\", \"_\" and "
            "\"-\", the first a letter or digit",
            p->f->where, name, TASK_NAME_MAX);
    return 0;
}

static int read_rows(const struct task_parse *p, const json_t *o)
{
    struct task_rows *r = &p->f->rows;
    json_t *rest = json_is_object(o) ? json_copy((json_t *)o) : NULL;
    json_object_del(rest, "fetch");
    int rc = task_parse_table(p, "rows", rows_params, r, rest ? rest : o);
    json_decref(rest);
    if (!rc && r->file)
        rc = task_file_check_path(p->f, "rows.file", r->file, p->e);
    if (!rc && r->file && p->f->dir)
        rc = task_file_check_link(p->f, "rows.file", p->f->dir, r->file, p->e);
    if (!rc && r->format && !rows_format_is_known(r->format))
        rc = err_set(p->e, ERR_USAGE, "%s: \"rows.format\" is \"%.40s\"; it can be jsonl, json, csv or tsv",
                     p->f->where, r->format);
    return rc ? rc : task_parse_sources(p, json_object_get(o, "fetch"));
}

static int read_facts(const struct task_parse *p, const json_t *o)
{
    struct task_facts *k = &p->f->facts;
    int rc = task_parse_table(p, "facts", facts_params, k, o);
    const char *hash = k->answers_sha256;
    k->rows = k->rows == PARAM_UNSET_INT ? 0 : k->rows;
    k->repeats = k->repeats == PARAM_UNSET_INT ? 0 : k->repeats;
    if (!rc && hash && (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64))
        rc = task_parse_refuse(p, "facts.answers_sha256", "64 hex digits");
    if (!rc && hash && !k->rows)
        rc = err_set(p->e, ERR_USAGE,
                     "%s: \"facts\" has answers_sha256 and no \"rows\"; say how many there are", p->f->where);
    return rc;
}

/* ---- fields */

static int check_column(const struct task_parse *p, const char *role, const char *column)
{
    if (column && *column && !strchr(column, ',') && strlen(column) < 64)
        return 0;
    return err_set(
        p->e, ERR_USAGE,
        "%s: \"fields.%s\" must name columns: a text of 1 to 63 bytes without a comma, or a list of such",
        p->f->where, role);
}

static const struct param field_params[] = {
    TEXT(task_field, after, "after", "left out where the text begins with it"),
    {.name = "trim",
     .type = PARAM_BOOL,
     .offset = offsetof(struct task_field, is_trimmed),
     .def = "false",
     .help = "without the white space around it"},
    {.name = NULL},
};

/* The columns of a field, or an object with "columns" and what becomes of their text. */
static int add_field(const struct task_parse *p, const char *role, const json_t *v)
{
    struct task_file *f = p->f;
    const struct task_role *known = task_role_find(f->kind, role);
    struct task_field field = {0};
    struct str columns = {0};
    int rc = 0;
    if (json_is_object(v)) {
        json_t *rest = json_copy((json_t *)v);
        v = json_object_get(v, "columns");
        json_object_del(rest, "columns");
        rc = task_parse_table(p, arena_printf(p->arena, "fields.%.40s", role), field_params, &field, rest);
        json_decref(rest);
        if (rc)
            return rc;
    }
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    if (f->n_fields == TASK_ROLES_MAX)
        return err_set(p->e, ERR_USAGE, "%s: \"fields\" has more than %d fields", f->where, TASK_ROLES_MAX);
    if (!task_parse_is_name(role) || strlen(role) > 32)
        return err_set(p->e, ERR_USAGE,
                       "%s: \"fields\" has \"%.40s\"; a field's name has letters, digits and _", f->where,
                       role);
    if (!n || n > 64)
        rc = check_column(p, role, NULL);
    for (size_t i = 0; i < n && !rc; i++) {
        const char *column = task_parse_text(p, json_is_array(v) ? json_array_get(v, i) : v);
        rc = check_column(p, role, column);
        if (!rc)
            str_printf(&columns, "%s%s", i ? "," : "", column);
    }
    if (!rc) {
        field.role = arena_strdup(p->arena, role);
        field.columns = arena_strdup(p->arena, str_text(&columns));
        field.is_each = known && known->use == ROLE_EACH && json_is_array(v);
        f->field[f->n_fields++] = field;
    }
    str_release(&columns);
    return rc;
}

static int read_fields(const struct task_parse *p, const json_t *o)
{
    const char *role;
    json_t *v;
    int rc = 0;
    if (o && !json_is_object(o))
        return task_parse_refuse(p, "fields", "an object that says which columns hold what");
    json_object_foreach((json_t *)o, role, v)
    {
        rc = strcmp(role, "note") ? add_field(p, role, v) : 0;
        if (rc)
            return rc;
    }
    for (const struct task_role *r = p->f->kind->roles; r->name; r++) {
        int i = 0;
        while (i < p->f->n_fields && strcmp(p->f->field[i].role, r->name))
            i++;
        if (i == p->f->n_fields && i < TASK_ROLES_MAX)
            p->f->field[p->f->n_fields++] = (struct task_field){.role = r->name, .columns = r->columns};
    }
    return 0;
}

/* Columns whose values the option "subset" may name. */
static int read_subsets(const struct task_parse *p, const json_t *list)
{
    struct str columns = {0};
    int rc = 0;
    if (list && (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > TASK_ROLES_MAX))
        return task_parse_refuse(p, "subsets", "a list of columns whose values \"subset\" may name");
    for (size_t i = 0; i < json_array_size(list) && !rc; i++) {
        const char *column = task_parse_text(p, json_array_get(list, i));
        if (!column || !*column || strchr(column, ',') || strlen(column) >= 64)
            rc = task_parse_refuse(p, "subsets", "a list of columns: texts of 1 to 63 bytes without a comma");
        else
            str_printf(&columns, "%s%s", i ? "," : "", column);
    }
    if (!rc && list)
        p->f->subsets = arena_strdup(p->arena, str_text(&columns));
    str_release(&columns);
    return rc;
}

/* ---- the whole */

static const char *const objects[] = {"kind",  "rows",    "fields",   "prompts", "grader",
                                      "facts", "subsets", "few_shot", "note",    NULL};

int task_is_file_key(const char *key)
{
    int is_known = strcmp(key, "name") && param_find(file_params, key) != NULL;
    for (int i = 0; objects[i]; i++)
        is_known |= !strcmp(key, objects[i]);
    return is_known;
}

static int check_keys(const struct task_parse *p, const json_t *o)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)o, key, v)
    {
        if (!strcmp(key, "name") || task_is_file_key(key))
            continue;
        const char *names[32] = {0};
        size_t n = 0;
        for (int i = 0; objects[i]; i++)
            names[n++] = objects[i];
        for (const struct param *q = file_params; q->name; q++)
            names[n++] = q->name;
        struct str known = {0};
        for (size_t i = 0; i < n; i++)
            str_printf(&known, "%s%s", i ? ", " : "", names[i]);
        const char *near = str_nearest(key, names);
        int rc = near ? err_set(p->e, ERR_USAGE, "%s: unknown key \"%.80s\"; did you mean \"%s\"?",
                                p->f->where, key, near)
                      : err_set(p->e, ERR_USAGE, "%s: unknown key \"%.80s\"; known are %s", p->f->where, key,
                                str_text(&known));
        str_release(&known);
        return rc;
    }
    return 0;
}

static int read_kind(const struct task_parse *p, const json_t *v)
{
    const char *name = json_string_value(v);
    p->f->kind = name ? task_kind_find(name) : NULL;
    if (p->f->kind)
        return 0;
    struct str known = {0};
    task_kinds_list(&known);
    int rc = name ? err_set(p->e, ERR_USAGE, "%s: \"kind\" is \"%.40s\"; it can be %s", p->f->where, name,
                            str_text(&known))
             : v  ? err_set(p->e, ERR_USAGE, "%s: \"kind\" must be a text, one of %s", p->f->where,
                            str_text(&known))
                  : err_set(p->e, ERR_USAGE, "%s: \"kind\" is missing; it can be %s", p->f->where,
                            str_text(&known));
    str_release(&known);
    return rc;
}

static const char *canonical_of(const struct task_parse *p, const json_t *o)
{
    struct str text = {0};
    json_canonical(&text, o);
    const char *out = arena_strdup(p->arena, str_text(&text));
    str_release(&text);
    return out;
}

/* In the order of the file, since the first prompt is the default. */
static const char *written_of(const struct task_parse *p, const json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT);
    const char *out = arena_strdup(p->arena, text ? text : "");
    free(text);
    return out;
}

/* What decides prompts and grades; the rest may be corrected and the task is the same. */
static const char *definition_of(const struct task_parse *p, const json_t *o)
{
    static const char *const said[] = {"name",  "about",           "note", "version", "unchecked",
                                       "facts", "expected_tokens", "rows"};
    json_t *kept = json_copy((json_t *)o);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        json_object_del(kept, said[i]);
    const char *out = canonical_of(p, kept);
    json_decref(kept);
    return out;
}

static const char *list_prompts(const struct task_parse *p)
{
    struct str list = {0};
    for (int i = 0; i < p->f->n_prompts; i++)
        str_printf(&list, "%s%s", i ? "," : "", p->f->prompt[i].name);
    const char *out = arena_strdup(p->arena, str_text(&list));
    str_release(&list);
    return out;
}

/* "problem (or question), answer, perhaps id" */
static const char *list_fields(const struct task_parse *p)
{
    struct str list = {0};
    for (int i = 0; i < p->f->n_fields; i++) {
        const struct task_field *f = &p->f->field[i];
        const struct task_role *role = task_role_find(p->f->kind, f->role);
        const char *rest = strchr(f->columns, ',');
        str_printf(&list, "%s%s", list.len ? ", " : "",
                   role && (role->use == ROLE_OPTIONAL || role->use == ROLE_FILLED) ? "perhaps " : "");
        for (const char *s = f->columns; *s; s++)
            if (s == rest && !f->is_each)
                str_puts(&list, " (or ");
            else
                str_printf(&list, "%c%s", *s, *s == ',' ? " " : "");
        if (rest && !f->is_each)
            str_putc(&list, ')');
    }
    const char *out = arena_strdup(p->arena, str_text(&list));
    str_release(&list);
    return out;
}

static const char *list_options(const struct task_parse *p)
{
    const struct task_file *f = p->f;
    const char *own = f->kind->options;
    const char *all = arena_printf(p->arena, "%s%s%s%s", own ? "," : "", own ? own : "",
                                   f->subsets || known_set_has_subsets(f->name) ? ",subset" : "",
                                   f->few_shot.text ? ",few_shot" : "");
    return *all ? all + 1 : NULL;
}

/* Is another prompt the default than the one that stands first in the canonical order of keys? */
static int has_own_default(const struct task_file *f)
{
    for (int i = 1; i < f->n_prompts; i++)
        if (strcmp(f->prompt[i].name, f->prompt[0].name) < 0)
            return 1;
    return 0;
}

/* Hashes the definition, and what it does not have: which prompt is the default, where sorted keys hide that,
 * and the bytes of the file of examples, where it lies beside the task's rows. */
static void hash_decisive(const struct task_file *f, char hex[9])
{
    struct str all = {0}, path = {0};
    struct file_map map = {0};
    const char *rows = f->rows.file ? f->rows.file : "", *slash = strrchr(rows, '/');
    str_puts(&all, f->definition);
    if (has_own_default(f))
        str_printf(&all, "\ndefault %s", f->prompt[0].name);
    if (f->dir && f->few_shot.file) {
        str_printf(&path, "%s%s%.*s%s", f->dir, *f->dir ? "/" : "", slash ? (int)(slash - rows) + 1 : 0, rows,
                   f->few_shot.file);
        if (file_exists(str_text(&path)) && !file_map_open(&map, str_text(&path), NULL)) {
            char digest[65];
            sha256_hex(map.data, map.size, digest, 64);
            str_printf(&all, "\nexamples %s", digest);
            file_map_close(&map);
        }
    }
    sha256_hex(str_text(&all), all.len, hex, 8);
    str_release(&all);
    str_release(&path);
}

static void make_ops(const struct task_parse *p)
{
    struct task_file *f = p->f;
    const struct task_kind *k = f->kind;
    char hex[9];
    hash_decisive(f, hex);
    f->ops = (struct task_ops){
        .name = f->name,
        .help = f->about ? f->about : k->help,
        .version = f->dir ? arena_printf(p->arena, "%s-%s", f->version ? f->version : "1", hex) : f->version,
        .default_file = f->rows.file,
        .sources = f->rows.sources,
        .fields = list_fields(p),
        .options = list_options(p),
        .metric = k->metric,
        .option_metrics = k->option_metrics ? k->option_metrics(f) : NULL,
        .prompts = list_prompts(p),
        .is_restricted = f->is_restricted,
        .grades_math = k->grades_math,
        .expected_tokens = f->expected_tokens ? f->expected_tokens : k->expected_tokens,
        .load = task_file_load,
        .grade = k->grade,
        .check_machine = k->check_machine,
        .grade_seconds = k->grade_seconds,
        .kind = k->name,
        .file = f,
    };
}

static int read_grader(const struct task_parse *p, const json_t *o)
{
    if (p->f->kind->grader)
        return task_parse_table(p, "grader", p->f->kind->grader, &p->f->grader, o);
    return o ? err_set(p->e, ERR_USAGE, "%s: the kind %s has nothing to set in \"grader\"; remove it",
                       p->f->where, p->f->kind->name)
             : 0;
}

int task_file_parse(struct task_file *f, const json_t *o, const char *where, const char *dir, struct arena *a,
                    struct err *e)
{
    struct task_parse p = {f, a, e};
    const char *key;
    json_t *v;
    *f = (struct task_file){.where = arena_strdup(a, where), .dir = dir ? arena_strdup(a, dir) : NULL};
    if (!json_is_object(o))
        return err_set(e, ERR_USAGE, "%s: a task is a JSON object", where);
    int rc = check_keys(&p, o);
    param_defaults(file_params, f);
    json_object_foreach((json_t *)o, key, v)
    {
        if (!rc && param_find(file_params, key))
            rc = param_set_json(file_params, f, a, key, v, f->where, e);
    }
    f->limit = f->limit == PARAM_UNSET_INT ? 0 : f->limit;
    f->expected_tokens = f->expected_tokens == PARAM_UNSET_INT ? 0 : f->expected_tokens;
    if (!rc)
        rc = read_kind(&p, json_object_get(o, "kind"));
    if (!rc)
        rc = check_name(&p);
    if (!rc)
        rc = read_rows(&p, json_object_get(o, "rows"));
    if (!rc)
        rc = read_facts(&p, json_object_get(o, "facts"));
    if (!rc)
        rc = read_fields(&p, json_object_get(o, "fields"));
    if (!rc)
        rc = read_subsets(&p, json_object_get(o, "subsets"));
    if (!rc && f->subsets && f->kind->options && list_has(f->kind->options, "subset"))
        rc = err_set(e, ERR_USAGE,
                     "%s: \"subsets\" is nothing for the kind %s, whose subset is a window of dates", where,
                     f->kind->name);
    if (!rc && f->kind->option_metrics && (f->limit || f->truncate_middle))
        rc = err_set(e, ERR_USAGE,
                     "%s: \"%s\" is nothing for the kind %s, which generates and cuts nothing; remove it",
                     where, f->limit ? "limit" : "truncate_middle", f->kind->name);
    if (!rc)
        rc = read_grader(&p, json_object_get(o, "grader"));
    if (!rc)
        rc = few_shot_parse(f, json_object_get(o, "few_shot"), a, e);
    if (!rc)
        rc = task_parse_prompts(&p, json_object_get(o, "prompts"));
    if (rc)
        return rc;
    f->written = written_of(&p, o);
    f->definition = definition_of(&p, o);
    make_ops(&p);
    return 0;
}
