/* AIME 2024, AIME 2025, MATH-500 and GSM8K from JSONL files. The public copies of these sets name their
 * fields differently; all names in use are accepted. */
#include "tasks/known_sets.h"
#include "tasks/rows.h"
#include "tasks/task_list.h"

#include <string.h>

#define MATH_FIELDS                                                                                          \
    "problem (or question, Problem), answer (or expected_answer, Answer), perhaps id (or ID, unique_id, "    \
    "problem_idx)"

#define AIME_PROMPTS "openr1,r1,delta,kascade,dms"

/* GSM8K's answers are the way to the number and, behind "####", the number, with commas in thousands. A copy
 * that holds the number alone is read too. */
static struct row_text number_of_gsm8k(struct row_text answer, struct task *t)
{
    const char *mark = NULL;
    for (const char *p = answer.s; (p = strstr(p, "####")); p += 4)
        mark = p + 4;
    if (!mark)
        return answer;
    char *number = arena_strdup(&t->arena, mark + strspn(mark, " \t")), *to = number;
    for (const char *p = number; *p; p++)
        if (*p != ',')
            *to++ = *p;
    while (to > number && strchr(" \t\r\n", to[-1]))
        to--;
    *to = 0;
    return (struct row_text){number, (size_t)(to - number)};
}

static int add_row(struct rows *r, const json_t *row, void *context, struct err *e)
{
    struct row_text problem, answer, id;
    int rc = row_text(&problem, r, row, "problem,question,Problem", 0, e);
    if (!rc)
        rc = row_answer(&answer, r, row, "answer,expected_answer,Answer", e);
    if (!rc)
        rc = row_text(&id, r, row, "id,ID,unique_id,problem_idx", 1, e);
    if (rc)
        return rc;
    if (r->task->ops == &task_gsm8k)
        answer = number_of_gsm8k(answer, r->task);
    if (!answer.n)
        return err_set(e, ERR_FORMAT, "%s:%ld: there is no number behind \"####\"", r->path, r->line);
    if (!problem.n)
        return err_set(e, ERR_FORMAT, "%s:%ld: field \"problem\" is empty", r->path, r->line);
    struct problem *p = rows_add(r);
    struct str text = {0};
    struct prompt_field field = {"problem", problem.s, problem.n};
    prompt_fill(&text, context, &field, 1);
    problem_set_prompt(p, r->task, text.data, text.len);
    str_release(&text);
    problem_set_hash(p, problem.s, problem.n);
    p->row = known_row_of_text(problem.s, problem.n);
    problem_set_gold(p, r->task, answer.s, answer.n);
    return problem_set_id(p, r, id, e);
}

static int load_math(struct task *t, const char *path, struct err *e)
{
    const char *template;
    int rc = prompt_find(&template, t, "math", e);
    return rc ? rc : rows_read_jsonl(t, path, add_row, (void *)(uintptr_t) template, e);
}

static int grade_math_task(struct grade *out, const struct problem *p, const struct response *r,
                           struct arena *a)
{
    return grade_math(out, p->gold, p->gold_len, r, a);
}

const struct task_ops task_aime24 = {
    .name = "aime24",
    .help = "AIME 2024: 30 competition problems with integer answers (JSONL)",
    .version = "1",
    .default_file = "aime/aime24.jsonl",
    .fields = MATH_FIELDS,
    .metric = "accuracy",
    .grades_math = 1,
    .prompts = AIME_PROMPTS,
    .expected_tokens = 12000,
    .load = load_math,
    .grade = grade_math_task,
};

const struct task_ops task_aime25 = {
    .name = "aime25",
    .help = "AIME 2025: 30 competition problems with integer answers (JSONL)",
    .version = "1",
    .default_file = "aime/aime25.jsonl",
    .fields = MATH_FIELDS,
    .metric = "accuracy",
    .grades_math = 1,
    .prompts = AIME_PROMPTS,
    .expected_tokens = 14000,
    .load = load_math,
    .grade = grade_math_task,
};

const struct task_ops task_math500 = {
    .name = "math500",
    .help = "MATH-500: 500 problems of the MATH test set (JSONL)",
    .version = "1",
    .default_file = "math500/test.jsonl",
    .fields = MATH_FIELDS,
    .metric = "accuracy",
    .grades_math = 1,
    .prompts = AIME_PROMPTS ",lighteval",
    .expected_tokens = 4000,
    .options = "subset",
    .load = load_math,
    .grade = grade_math_task,
};

const struct task_ops task_gsm8k = {
    .name = "gsm8k",
    .help = "GSM8K: 1,319 grade school word problems with number answers (JSONL)",
    .version = "1",
    .default_file = "gsm8k/test.jsonl",
    .fields = "question (or problem, Problem), answer (the number, or text with #### before it), perhaps id",
    .metric = "accuracy",
    .grades_math = 1,
    .prompts = "r1,openr1,delta,kascade,dms",
    .expected_tokens = 400,
    .load = load_math,
    .grade = grade_math_task,
};
