/* The kind math: a problem and its answer, which the math checker compares (answer_check). */
#include "tasks/task_file.h"

#include <string.h>

#include "tasks/known_sets.h"

/* As GSM8K has its answers: the way to the number and, behind "####", the number, with commas in thousands. A
 * copy that holds the number alone is read too. */
static struct row_text cut_answer(struct row_text answer, const struct task_grader *g, struct task *t)
{
    const char *mark = NULL;
    for (const char *p = answer.s; g->answer_after && (p = strstr(p, g->answer_after));
         p += strlen(g->answer_after))
        mark = p + strlen(g->answer_after);
    if (!mark && g->answer_after)
        return answer;
    if (!mark && !g->answer_without)
        return answer;
    mark = mark ? mark : answer.s;
    char *cut = arena_strdup(&t->arena, mark + strspn(mark, " \t")), *to = cut;
    for (const char *p = cut; *p; p++)
        if (!g->answer_without || !strchr(g->answer_without, *p))
            *to++ = *p;
    while (to > cut && strchr(" \t\r\n", to[-1]))
        to--;
    *to = 0;
    return (struct row_text){cut, (size_t)(to - cut)};
}

/* What stands in the last \boxed{...} of a worked solution; without one the text itself. */
static struct row_text last_box(struct row_text answer)
{
    static const char mark[] = "\\boxed{";
    const char *begin = NULL, *end = answer.s + answer.n;
    for (const char *p = answer.s; (p = strstr(p, mark)); p += strlen(mark))
        begin = p + strlen(mark);
    int depth = begin ? 1 : 0;
    for (const char *p = begin; p && p < end; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        else if (*p == '{' || *p == '}')
            depth += *p == '{' ? 1 : -1;
        if (depth)
            continue;
        for (begin += strspn(begin, " \t\r\n"); p > begin && strchr(" \t\r\n", p[-1]); p--)
            ;
        return (struct row_text){begin, p > begin ? (size_t)(p - begin) : 0};
    }
    return answer;
}

static int add_row(struct rows *r, const json_t *row, struct task_loading *l, struct err *e)
{
    const struct task_grader *g = &l->file->grader;
    struct row_text problem, answer;
    int rc = task_row_text(&problem, r, row, l, "problem", e);
    if (!rc)
        rc = row_answer(&answer, r, row, task_field_find(l->file, "answer")->columns, e);
    if (rc)
        return rc;
    if (g->answer_in_box)
        answer = last_box(answer);
    answer = cut_answer(answer, g, r->task);
    if (!answer.n)
        return err_set(e, ERR_FORMAT, "%s:%ld: there is no answer %s \"%s\"", r->path, r->line,
                       g->answer_in_box ? "in" : "behind", g->answer_in_box ? "\\boxed{}" : g->answer_after);
    if (!problem.n)
        return err_set(e, ERR_FORMAT, "%s:%ld: field \"problem\" is empty", r->path, r->line);
    struct problem *p = rows_add(r);
    struct prompt_field field = {"problem", problem.s, problem.n};
    p->row = known_row_of_text(problem.s, problem.n);
    problem_set_gold(p, r->task, answer.s, answer.n);
    return task_row_problem(p, r, row, l, &field, 1, problem, e);
}

static int grade(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    return grade_math(out, p->gold, p->gold_len, r, a);
}

static const struct task_role roles[] = {{"problem", "problem,question,Problem", ROLE_NEEDED},
                                         {"answer", "answer,expected_answer,Answer", ROLE_NEEDED},
                                         {"id", "id,ID,unique_id,problem_idx", ROLE_OPTIONAL},
                                         {0}};

static const struct param grader[] = {
    {.name = "answer_after",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_grader, answer_after),
     .help = "the answer stands behind the last of this text"},
    {.name = "answer_without",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_grader, answer_without),
     .help = "characters that are left out of the answer"},
    {.name = "answer_in_box",
     .type = PARAM_BOOL,
     .offset = offsetof(struct task_grader, answer_in_box),
     .def = "false",
     .help = "the answer stands in the last \\boxed{} of a worked solution"},
    {.name = NULL},
};

const struct task_kind task_kind_math = {
    .name = "math",
    .help = "problems whose answers are numbers or formulas",
    .metric = "accuracy",
    .grades_math = 1,
    .expected_tokens = 4000,
    .roles = roles,
    .prompts = "{\"openr1\": \"math_openr1\", \"r1\": \"math_r1\", \"delta\": \"math_delta\", "
               "\"kascade\": \"math_kascade\", \"dms\": \"math_dms\", \"lighteval\": \"math_lighteval\"}",
    .example = "{\"problem\": \"What is $3 + 4$?\", \"answer\": \"7\", \"id\": \"made-up\"}",
    .grader = grader,
    .row = add_row,
    .grade = grade,
};
