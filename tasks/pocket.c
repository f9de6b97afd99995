/* The four tasks of the embedded model: relay (integers, like AIME), algebra (linear expressions, like MATH),
 * choice (four options, like GPQA) and lookup (retrieval from a long text, like LongBench), generated from a
 * seed or read from a JSONL file with "rendered" (or "prompt"), "gold" and perhaps "id". */
#include <string.h>

#include "evalcore/base/hash.h"
#include "tasks/pocket_gen.h"
#include "tasks/rows.h"
#include "tasks/task_list.h"

enum { POCKET_PROBLEMS = 64 };

static const struct family {
    const struct task_ops *ops;
    pocket_gen_fn generate;
    int steps; /* default size */
} families[] = {
    {&task_relay, pocket_relay, 20},
    {&task_choice, pocket_choice, 18},
    {&task_algebra, pocket_algebra, 16},
    {&task_lookup, pocket_lookup, 60},
};

/* Does the text end inside <think>? */
static int ends_in_thinking(const char *text, size_t n)
{
    struct response r = {text, n, THINKING_AUTO, FINISH_STOP};
    const char *rest;
    size_t n_rest;
    return response_answer(&r, &rest, &n_rest);
}

static int generate_problems(struct task *t, struct err *e)
{
    const struct family *f = families;
    while (f->ops != t->ops)
        f++;
    const struct task_options *o = &t->options;
    int steps = o->steps == PARAM_UNSET_INT ? f->steps : o->steps;
    int n = o->problems == PARAM_UNSET_INT ? POCKET_PROBLEMS : o->problems;
    struct rows rows = {.task = t};
    struct str text = {0}, gold = {0};
    /* the number of problems is left out: problem i is the same in a longer run */
    str_printf(&text, "pocket %s version %s steps %d seed %d", t->ops->name, t->ops->version, steps, o->seed);
    sha256_hex(text.data, text.len, t->source, 64);
    uint64_t key = hash_bytes64(text.data, text.len);
    for (int i = 0; i < n; i++) {
        struct rng r;
        rng_init(&r, key, (uint64_t)i);
        str_clear(&text);
        str_clear(&gold);
        str_puts(&text, "<|User|>");
        f->generate(&text, &gold, &r, steps);
        str_puts(&text, "<|Assistant|><think>\n");
        rows.line = i + 1;
        struct problem *p = rows_add(&rows);
        p->id = arena_printf(&t->arena, "%s%d-s%d-%03d", t->ops->name, steps, o->seed, i);
        p->is_rendered = p->thinking_open = 1;
        p->n_options = t->ops == &task_choice ? 4 : 0;
        problem_set_prompt(p, t, text.data, text.len);
        problem_set_gold(p, t, gold.data, gold.len);
    }
    int rc = rows_finish(&rows, e);
    rows_release(&rows);
    str_release(&text);
    str_release(&gold);
    return rc;
}

static int add_row(struct rows *r, const json_t *row, void *context, struct err *e)
{
    struct row_text text, gold, id;
    (void)context;
    int rc = row_text(&text, r, row, "rendered", 1, e), is_rendered = text.s != NULL;
    if (!rc && !is_rendered)
        rc = row_text(&text, r, row, "prompt", 1, e);
    if (!rc)
        rc = row_answer(&gold, r, row, "gold", e);
    if (!rc)
        rc = row_text(&id, r, row, "id", 1, e);
    if (rc)
        return rc;
    if (!text.n)
        return err_set(e, ERR_FORMAT, "%s:%ld: a non-empty field \"rendered\" or \"prompt\" is needed",
                       r->path, r->line);
    int is_choice = r->task->ops == &task_choice;
    if (is_choice && (gold.n != 1 || gold.s[0] < 'A' || gold.s[0] > 'D'))
        return err_set(e, ERR_FORMAT, "%s:%ld: field \"gold\" must be one of the letters A, B, C, D", r->path,
                       r->line);
    struct problem *p = rows_add(r);
    problem_set_prompt(p, r->task, text.s, text.n);
    problem_set_gold(p, r->task, gold.s, gold.n);
    p->is_rendered = is_rendered;
    p->thinking_open = is_rendered && ends_in_thinking(text.s, text.n);
    p->n_options = is_choice ? 4 : 0;
    return problem_set_id(p, r, id, e);
}

static int load_pocket(struct task *t, const char *path, struct err *e)
{
    return path ? rows_read_jsonl(t, path, add_row, NULL, e) : generate_problems(t, e);
}

#define POCKET_FIELDS "rendered (the whole prompt) or prompt (the chat form is added), gold, perhaps id"

static int grade_by_value(struct grade *out, const struct problem *p, const struct response *r,
                          struct arena *a)
{
    return grade_math(out, p->gold, p->gold_len, r, a);
}

static int grade_by_letter(struct grade *out, const struct problem *p, const struct response *r,
                           struct arena *a)
{
    return grade_choice(out, p->gold[0], r, p->n_options, a);
}

static int grade_by_text(struct grade *out, const struct problem *p, const struct response *r,
                         struct arena *a)
{
    return grade_exact(out, p->gold, p->gold_len, r, a);
}

const struct task_ops task_relay = {
    .name = "relay",
    .help = "pocket: follow rules modulo 1000 to an integer (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .grades_math = 1,
    .expected_tokens = 930,
    .load = load_pocket,
    .grade = grade_by_value,
};

const struct task_ops task_choice = {
    .name = "choice",
    .help = "pocket: relay with four options (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .expected_tokens = 850,
    .load = load_pocket,
    .grade = grade_by_letter,
};

const struct task_ops task_algebra = {
    .name = "algebra",
    .help = "pocket: add and subtract linear expressions (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .grades_math = 1,
    .expected_tokens = 680,
    .load = load_pocket,
    .grade = grade_by_value,
};

const struct task_ops task_lookup = {
    .name = "lookup",
    .help = "pocket: follow rooms through a long list of facts (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .expected_tokens = 52,
    .load = load_pocket,
    .grade = grade_by_text,
};
