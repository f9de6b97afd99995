/* --sample-ids and --limit (contract: sample_ids.h). */
#include "evalcore/plan/sample_ids.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/json.h"

enum { NAMED_MAX = 8 }; /* of a message */

static void add_id(struct sample_ids *s, struct sample_id entry)
{
    xgrow(&s->entry, &s->cap, s->n + 1, sizeof *s->entry);
    s->entry[s->n++] = entry;
}

static int add_task(struct sample_ids *s, const char *task, const json_t *list, struct arena *a,
                    struct err *e)
{
    size_t i;
    const json_t *v;
    task = arena_strdup(a, task);
    if (!json_is_array(list))
        return err_set(e, ERR_USAGE, "--sample-ids: \"%s\" must be a list of ids and positions", task);
    if (!json_array_size(list))
        return err_set(e, ERR_USAGE, "--sample-ids names no problem of \"%s\"", task);
    add_id(s, (struct sample_id){.task = task, .is_task = 1});
    json_array_foreach((json_t *)list, i, v)
    {
        if (json_is_string(v))
            add_id(s, (struct sample_id){.task = task, .id = arena_strdup(a, json_string_value(v))});
        else if (json_is_integer(v))
            add_id(s, (struct sample_id){.task = task, .position = (long)json_integer_value(v)});
        else
            return err_set(e, ERR_USAGE,
                           "--sample-ids: \"%s\" must hold texts (ids) and integers (positions)", task);
    }
    return 0;
}

static int names_nothing(struct err *e)
{
    return err_set(e, ERR_USAGE, "--sample-ids names no problem");
}

int sample_ids_parse(struct sample_ids *s, const char *text, struct arena *a, struct err *e)
{
    json_t *map = NULL, *list;
    const char *task;
    *s = (struct sample_ids){.given = text != NULL};
    if (!text)
        return 0;
    if (text[0] != '{') {
        for (const char *at = text; *at;) {
            size_t n = strcspn(at, ",");
            if (n)
                add_id(s, (struct sample_id){.id = arena_strndup(a, at, n)});
            at += n + (at[n] == ',');
        }
        return s->n ? 0 : names_nothing(e);
    }
    int rc = json_read_text(&map, text, strlen(text), "--sample-ids", e);
    if (!rc)
        json_object_foreach(map, task, list)
        {
            rc = add_task(s, task, list, a, e);
            if (rc)
                break;
        }
    json_decref(map);
    if (!rc && !s->n)
        names_nothing(e);
    return e->code ? ERR_USAGE : 0;
}

void sample_ids_release(struct sample_ids *s)
{
    free(s->entry);
    *s = (struct sample_ids){0};
}

/* An entry list under the label goes before one under the name, which other tasks may share. */
static const char *task_key(struct sample_ids *s, const char *label, const char *name)
{
    const char *key = NULL;
    for (size_t i = 0; i < s->n; i++) {
        struct sample_id *x = &s->entry[i];
        if (!x->is_task || (strcmp(x->task, label) && (key || strcmp(x->task, name))))
            continue;
        key = x->task;
    }
    for (size_t i = 0; i < s->n && key; i++)
        s->entry[i].matched |= s->entry[i].is_task && !strcmp(s->entry[i].task, key);
    return key;
}

void sample_ids_filter(struct sample_ids *s, struct task *t, const char *label, int limit)
{
    const char *key = task_key(s, label, t->ops->name);
    size_t kept = 0;
    for (size_t i = 0; i < t->n_problems; i++) {
        int keep = !s->given;
        for (size_t k = 0; k < s->n; k++) {
            struct sample_id *x = &s->entry[k];
            if (x->is_task || (x->task && (!key || strcmp(x->task, key))))
                continue;
            if (x->id ? !strcmp(x->id, t->problems[i].id) : x->position == (long)i)
                keep = x->matched = 1;
        }
        if (keep && (limit <= 0 || kept < (size_t)limit))
            t->problems[kept++] = t->problems[i];
    }
    t->n_problems = kept;
}

int sample_ids_check(const struct sample_ids *s, struct err *e)
{
    struct str text = {0};
    const struct sample_id *owner = NULL; /* the task that the entries behind it belong to */
    int n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct sample_id *x = &s->entry[i];
        owner = x->is_task ? x : owner;
        if (x->matched || (owner && owner != x && !owner->matched) || n++ >= NAMED_MAX)
            continue;
        str_puts(&text, n > 1 ? "; " : "");
        if (x->is_task)
            str_printf(&text, "no task is named \"%s\"", x->task);
        else if (!x->task)
            str_printf(&text, "no problem is named \"%s\"", x->id);
        else if (x->id)
            str_printf(&text, "%s has no problem \"%s\"", x->task, x->id);
        else
            str_printf(&text, "%s has no problem at position %ld", x->task, x->position);
    }
    int rc = n ? err_set(e, ERR_USAGE, "--sample-ids: %s%s", text.data, n > NAMED_MAX ? "; ..." : "") : 0;
    str_release(&text);
    return rc;
}
