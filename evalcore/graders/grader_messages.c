/* Messages of graders (contract: grader_messages.h). */
#include "evalcore/graders/grader_messages.h"

#include <string.h>

#include "evalcore/store/run_fields.h"

static const char *const where = "a message of a grader";

static json_t *string_array(const char *const *list, int n)
{
    json_t *out = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(out, json_string(list[i]));
    return out;
}

/* What a grade depends on, as the run folder's own problem files say it. */
static json_t *problem_json(const struct run_problem *p)
{
    json_t *o = run_fields_json(run_problem_fields, p);
    json_object_set_new(o, "golds", string_array(p->golds, p->n_golds));
    json_object_set_new(o, "all_classes", string_array(p->all_classes, p->n_classes));
    return o;
}

json_t *grader_batch(const struct run *r, const struct ungraded *list, size_t n)
{
    json_t *items = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct record *rec = list[i].rec;
        json_t *o = json_pack("{s:o, s:I, s:I, s:i, s:s}", "journal",
                              json_text_of(strrchr(r->journals[rec->journal], '/') + 1), "offset",
                              (json_int_t)rec->offset, "length", (json_int_t)rec->length, "finish",
                              (int)rec->finish, "task", list[i].task->name);
        if (list[i].task->kind)
            json_object_set_new(o, "kind", json_text_of(list[i].task->kind));
        if (list[i].task->tests_file)
            json_object_set_new(o, "tests_file", json_text_of(list[i].task->tests_file));
        if (!i || list[i].problem != list[i - 1].problem)
            json_object_set_new(o, "problem", problem_json(list[i].problem));
        json_array_append_new(items, o);
    }
    return json_pack("{s:o}", "items", items);
}

static void read_strings(const json_t *list, const char *const **out, int *n, struct arena *a)
{
    *n = (int)json_array_size(list);
    const char **strings = arena_alloc(a, ((size_t)*n + 1) * sizeof *strings);
    for (int i = 0; i < *n; i++) {
        const char *s = json_string_value(json_array_get(list, (size_t)i));
        strings[i] = s ? s : "";
    }
    *out = *n ? strings : NULL;
}

static int read_problem(const json_t *o, struct run_problem *p, struct arena *a, struct err *e)
{
    *p = (struct run_problem){0};
    read_strings(json_object_get(o, "golds"), &p->golds, &p->n_golds, a);
    read_strings(json_object_get(o, "all_classes"), &p->all_classes, &p->n_classes, a);
    p->gold = p->n_golds ? p->golds[0] : "";
    return run_fields_read(run_problem_fields, p, o, a, where, e);
}

int grader_read_item(const json_t *o, struct grader_item *item, struct arena *a, struct err *e)
{
    const json_t *problem = json_object_get(o, "problem");
    int64_t length = 0, finish = 0;
    item->task.kind = item->task.tests_file = NULL;
    if (json_get_str(o, "journal", &item->journal, where, e) ||
        json_get_int(o, "offset", &item->rec.offset, where, e) ||
        json_get_int(o, "length", &length, where, e) || json_get_int(o, "finish", &finish, where, e) ||
        json_get_str(o, "task", &item->task.name, where, e) ||
        json_opt_str(o, "kind", &item->task.kind, where, e) ||
        json_opt_str(o, "tests_file", &item->task.tests_file, where, e))
        return ERR_FORMAT;
    item->rec.length = (size_t)length;
    item->rec.finish = (enum finish_reason)finish;
    if (!problem && !item->problem.id)
        return err_set(e, ERR_FORMAT, "%s names no problem", where);
    return problem ? read_problem(problem, &item->problem, a, e) : 0;
}

json_t *grader_grade(const struct record *rec)
{
    return json_pack("{s:s, s:f, s:s, s:s, s:s, s:s*, s:b}", "verdict", verdict_name(rec->verdict), "score",
                     rec->score, "reason", rec->reason, "gold_form", rec->gold_form, "pred_form",
                     rec->pred_form, "segmenter", rec->segmenter, "open", rec->is_ungraded);
}

json_t *grader_error(const struct err *error)
{
    return json_pack("{s:i, s:o}", "code", error->code, "error", json_text_of(error->text));
}

int grader_read_grade(const json_t *m, struct record *rec, struct arena *a, struct err *e)
{
    const char *verdict, *reason, *gold, *pred, *segmenter = NULL,
                                                *error = json_string_value(json_object_get(m, "error"));
    if (error) {
        int code = (int)json_integer_value(json_object_get(m, "code"));
        return err_set(e, code < 0 ? code : ERR_FORMAT, "%s", error);
    }
    if (json_get_str(m, "verdict", &verdict, where, e) ||
        json_get_double(m, "score", &rec->score, where, e) || json_get_str(m, "reason", &reason, where, e) ||
        json_get_str(m, "gold_form", &gold, where, e) || json_get_str(m, "pred_form", &pred, where, e) ||
        json_opt_str(m, "segmenter", &segmenter, where, e) ||
        json_opt_bool(m, "open", &rec->is_ungraded, where, e))
        return ERR_FORMAT;
    if (!verdict_find(verdict, &rec->verdict))
        return err_set(e, ERR_FORMAT, "%s has the verdict \"%s\"", where, verdict);
    rec->reason = arena_strdup(a, reason);
    rec->gold_form = arena_strdup(a, gold);
    rec->pred_form = arena_strdup(a, pred);
    rec->segmenter = segmenter ? arena_strdup(a, segmenter) : NULL;
    return 0;
}
