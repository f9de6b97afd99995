/* The four tasks of the embedded model: relay (integers, like AIME), algebra (linear expressions, like MATH),
 * choice (four options, like GPQA) and lookup (retrieval from a long text, like LongBench), generated from a
 * seed or read from a JSONL file with "rendered" (or "prompt"), "gold" and perhaps "id". */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/base/rng.h"
#include "tasks/rows.h"
#include "tasks/task_list.h"

/* ---- the generators, in the text form of engine/pocket's recipe (gen.py). The wording, the pools of names
 * and items and the rules of drawing are those the model was trained on; the draws themselves come from our
 * own counter-based generator, so a problem is a function of (family, steps, seed, index) on every machine.
 */

/* Appends a question and its reference answer. What is drawn depends on r alone. steps: rules (relay, choice,
 * algebra) or facts (lookup), POCKET_STEPS_MIN..POCKET_STEPS_MAX. */
typedef void (*pocket_gen_fn)(struct str *question, struct str *gold, struct rng *r, int steps);

static const char *const words[] = {
    "amber",   "lantern", "copper",  "violin", "silver",  "anchor", "marble",  "falcon", "velvet",  "compass",
    "crystal", "harbor",  "golden",  "maple",  "scarlet", "ribbon", "emerald", "castle", "ivory",   "bridge",
    "cobalt",  "garden",  "crimson", "tower",  "bronze",  "mirror", "azure",   "meadow", "granite", "candle",
    "saffron", "island",  "willow",  "engine", "walnut",  "basket", "indigo",  "beacon",
};
enum { N_ITEMS = sizeof words / sizeof words[0] };

struct name {
    char s[3];
};

/* n different two-letter names in random order; short English words are not names. */
static void draw_names(struct name *out, int n, struct rng *r)
{
    static const char reserved[][3] = {"is", "in", "to", "of", "at", "on", "or", "an", "as", "by"};
    struct name all[26 * 26];
    int n_all = 0;
    for (int i = 0; i < 26 * 26; i++) {
        struct name x = {{(char)('a' + i / 26), (char)('a' + i % 26), 0}};
        int is_reserved = 0;
        for (size_t k = 0; k < sizeof reserved / sizeof reserved[0]; k++)
            is_reserved |= !strcmp(x.s, reserved[k]);
        if (!is_reserved)
            all[n_all++] = x;
    }
    for (int i = 0; i < n; i++) {
        int j = i + (int)rng_below(r, (uint32_t)(n_all - i));
        struct name t = all[i];
        all[i] = all[j];
        all[j] = t;
        out[i] = all[i];
    }
}

static int draw_between(struct rng *r, int low, int high)
{
    return low + (int)rng_below(r, (uint32_t)(high - low + 1));
}

/* Writes the lines, each already in `text` from start[i] to start[i+1], in random order. */
static void add_shuffled(struct str *out, const struct str *text, const size_t *start, int n, struct rng *r)
{
    int *order = xcalloc((size_t)n, sizeof *order);
    for (int i = 0; i < n; i++)
        order[i] = i;
    rng_shuffle(r, order, n);
    for (int i = 0; i < n; i++)
        str_add(out, text->data + start[order[i]], start[order[i] + 1] - start[order[i]]);
    free(order);
}

static int modulo_1000(int v)
{
    return (v % 1000 + 1000) % 1000;
}

/* The rules of relay and choice. Returns the value of the last register; values[] has those of all. */
static int add_rules(struct str *out, struct name *names, int *values, struct rng *r, int n)
{
    struct str text = {0};
    size_t *start = xcalloc((size_t)n + 1, sizeof *start);
    int base = n / 4 > 2 ? n / 4 : 2;
    draw_names(names, n, r);
    for (int i = 0; i < n; i++) {
        start[i] = text.len;
        if (i < base) {
            values[i] = (int)rng_below(r, 1000);
            str_printf(&text, " rule %d : %s = %d\n", i + 1, names[i].s, values[i]);
            continue;
        }
        int j = (int)rng_below(r, (uint32_t)i), k = (int)rng_below(r, (uint32_t)i);
        while (k == j)
            k = (int)rng_below(r, (uint32_t)i);
        int plus = (int)rng_below(r, 2), m = draw_between(r, 2, 5);
        values[i] = modulo_1000(values[j] + (plus ? m : -m) * values[k]);
        str_printf(&text, " rule %d : %s = %s %c %d * %s\n", i + 1, names[i].s, names[j].s, plus ? '+' : '-',
                   m, names[k].s);
    }
    start[n] = text.len;
    str_puts(out, "Apply the rules in order , all values modulo 1000 .\n");
    add_shuffled(out, &text, start, n, r);
    free(start);
    str_release(&text);
    return values[n - 1];
}

static void pocket_relay(struct str *question, struct str *gold, struct rng *r, int steps)
{
    struct name names[POCKET_STEPS_MAX];
    int values[POCKET_STEPS_MAX];
    int answer = add_rules(question, names, values, r, steps);
    str_printf(question, "Find the value of %s .", names[steps - 1].s);
    str_printf(gold, "%d", answer);
}

static void pocket_choice(struct str *question, struct str *gold, struct rng *r, int steps)
{
    static const int near[] = {-100, -10, -1, 1, 10, 100};
    struct name names[POCKET_STEPS_MAX];
    int values[POCKET_STEPS_MAX];
    int answer = add_rules(question, names, values, r, steps), option[4] = {answer};
    for (int n = 1; n < 4;) {
        /* a slip of one digit, another register's value, or anything, with equal chances */
        int kind = (int)rng_below(r, 3), v = (int)rng_below(r, 1000), seen = 0;
        if (kind == 0)
            v = modulo_1000(answer + near[rng_below(r, 6)]);
        else if (kind == 1)
            v = values[rng_below(r, (uint32_t)steps)];
        for (int i = 0; i < n; i++)
            seen |= option[i] == v;
        if (!seen)
            option[n++] = v;
    }
    rng_shuffle(r, option, 4);
    str_printf(question, "Which option is the value of %s ?", names[steps - 1].s);
    for (int i = 0; i < 4; i++) {
        str_printf(question, "\n %d is %c", option[i], 'A' + i);
        if (option[i] == answer)
            str_putc(gold, (char)('A' + i));
    }
}

struct linear {
    int a, b; /* a x + b */
};

static void add_linear(struct str *out, struct linear v)
{
    if (v.a == 0) {
        str_printf(out, "%d", v.b);
        return;
    }
    if (v.a == 1 || v.a == -1)
        str_puts(out, v.a == 1 ? "x" : "-x");
    else
        str_printf(out, "%dx", v.a);
    if (v.b)
        str_printf(out, " %c %d", v.b > 0 ? '+' : '-', abs(v.b));
}

static void pocket_algebra(struct str *question, struct str *gold, struct rng *r, int n)
{
    struct name names[POCKET_STEPS_MAX];
    struct linear values[POCKET_STEPS_MAX];
    struct str text = {0};
    size_t *start = xcalloc((size_t)n + 1, sizeof *start);
    int base = n / 3 > 2 ? n / 3 : 2;
    draw_names(names, n, r);
    for (int i = 0; i < n; i++) {
        start[i] = text.len;
        str_printf(&text, " rule %d : %s = ", i + 1, names[i].s);
        int found = 0;
        for (int tries = 0; i >= base && tries < 20 && !found; tries++) {
            int j = (int)rng_below(r, (uint32_t)i), k = (int)rng_below(r, (uint32_t)i - 1);
            k += k >= j;
            int sign = rng_below(r, 2) ? 1 : -1;
            struct linear c = {values[j].a + sign * values[k].a, values[j].b + sign * values[k].b};
            if (abs(c.a) >= 100 || abs(c.b) >= 100)
                continue; /* the model was trained on coefficients of two digits */
            found = 1;
            values[i] = c;
            str_printf(&text, "%s %c %s\n", names[j].s, sign > 0 ? '+' : '-', names[k].s);
        }
        if (!found) {
            values[i].a = draw_between(r, -30, 30);
            values[i].b = draw_between(r, -60, 60);
            add_linear(&text, values[i]);
            str_putc(&text, '\n');
        }
    }
    start[n] = text.len;
    str_puts(question, "Apply the rules in order and simplify .\n");
    add_shuffled(question, &text, start, n, r);
    str_printf(question, "Write %s in terms of x .", names[n - 1].s);
    add_linear(gold, values[n - 1]);
    free(start);
    str_release(&text);
}

static void pocket_lookup(struct str *question, struct str *gold, struct rng *r, int n)
{
    struct name names[POCKET_STEPS_MAX];
    int next[POCKET_STEPS_MAX], item[POCKET_STEPS_MAX][2];
    struct str text = {0};
    size_t *start = xcalloc(2 * (size_t)n + 1, sizeof *start);
    draw_names(names, n, r);
    for (int i = 0; i < n; i++)
        next[i] = i;
    rng_shuffle(r, next, n);
    for (int i = 0; i < n; i++) {
        item[i][0] = (int)rng_below(r, N_ITEMS);
        item[i][1] = (int)rng_below(r, N_ITEMS - 1);
        item[i][1] += item[i][1] >= item[i][0];
        start[2 * i] = text.len;
        str_printf(&text, " room %s leads to room %s\n", names[i].s, names[next[i]].s);
        start[2 * i + 1] = text.len;
        str_printf(&text, " room %s holds the %s %s\n", names[i].s, words[item[i][0]], words[item[i][1]]);
    }
    start[2 * n] = text.len;
    int first = (int)rng_below(r, (uint32_t)n), hops = draw_between(r, 2, 6), room = first;
    for (int i = 0; i < hops; i++)
        room = next[room];
    str_puts(question, "Read the notes .\n");
    add_shuffled(question, &text, start, 2 * n, r);
    str_printf(question, "Start in room %s and move %d times . What is there ?", names[first].s, hops);
    str_printf(gold, "%s %s", words[item[room][0]], words[item[room][1]]);
    free(start);
    str_release(&text);
}

/* ---- the tasks */

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
    str_printf(&text, "pocket %s version %s steps %d seed %d", t->ops->short_name, t->ops->version, steps,
               o->seed);
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
        p->id = arena_printf(&t->arena, "%s%d-s%d-%03d", t->ops->short_name, steps, o->seed, i);
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
    .name = "pocket.relay",
    .short_name = "relay",
    .help = "follow rules modulo 1000 to an integer (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .grades_math = 1,
    .expected_tokens = 930,
    .expected_steps = 20,
    .load = load_pocket,
    .grade = grade_by_value,
};

const struct task_ops task_choice = {
    .name = "pocket.choice",
    .short_name = "choice",
    .help = "pocket.relay with four options (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .expected_tokens = 850,
    .expected_steps = 18,
    .load = load_pocket,
    .grade = grade_by_letter,
};

const struct task_ops task_algebra = {
    .name = "pocket.algebra",
    .short_name = "algebra",
    .help = "add and subtract linear expressions (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .grades_math = 1,
    .expected_tokens = 680,
    .expected_steps = 16,
    .load = load_pocket,
    .grade = grade_by_value,
};

const struct task_ops task_lookup = {
    .name = "pocket.lookup",
    .short_name = "lookup",
    .help = "follow rooms through a long list of facts (generated)",
    .version = "1",
    .fields = POCKET_FIELDS,
    .options = "steps,seed",
    .metric = "accuracy",
    .expected_tokens = 52,
    .load = load_pocket,
    .grade = grade_by_text,
};
