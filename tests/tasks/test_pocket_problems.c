/* The pocket families: the fixed problems and the generated ones are read by one strict grammar, solved from
 * their text alone, and must have the gold that this gives. Then: what the generator promises, and grades. */
#include "evalcore/base/json.h"
#include "evalcore/base/file.h"
#include "tasks/task.h"
#include "tests/check.h"

enum { MAX_RULES = 640 }; /* more than any problem has */

struct reader {
    const char *p;
    int bad;
};

static int eat(struct reader *r, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(r->p, text, n) != 0)
        return 0;
    r->p += n;
    return 1;
}

static void need(struct reader *r, const char *text)
{
    r->bad |= !eat(r, text);
}

static int number(struct reader *r)
{
    int v = 0, digits = 0;
    const char *start = r->p;
    for (; *r->p >= '0' && *r->p <= '9' && digits < 6; r->p++, digits++)
        v = v * 10 + (*r->p - '0');
    r->bad |= !digits || (digits > 1 && *start == '0');
    return v;
}

struct word {
    char s[12];
};

static struct word word(struct reader *r)
{
    struct word w = {""};
    size_t n = 0;
    while (*r->p >= 'a' && *r->p <= 'z' && n < sizeof w.s - 1)
        w.s[n++] = *r->p++;
    r->bad |= !n;
    return w;
}

static struct word name(struct reader *r)
{
    static const char *const reserved[] = {"is", "in", "to", "of", "at", "on", "or", "an", "as", "by"};
    struct word w = word(r);
    r->bad |= strlen(w.s) != 2;
    for (int i = 0; i < 10; i++)
        r->bad |= !strcmp(w.s, reserved[i]);
    return w;
}

/* a x + b, written as the recipe writes it. relay's numbers are those with a = 0. */
struct value {
    int a, b;
};

static struct value linear(struct reader *r)
{
    struct value v = {0, 0};
    int minus = eat(r, "-"), n = 1;
    if (*r->p != 'x') {
        n = number(r);
        r->bad |= (minus && !n) || (*r->p == 'x' && n < 2);
    }
    n = minus ? -n : n;
    if (!eat(r, "x")) {
        v.b = n;
        return v;
    }
    v.a = n;
    if (eat(r, " + "))
        v.b = number(r);
    else if (eat(r, " - "))
        v.b = -number(r);
    else
        return v;
    r->bad |= v.b == 0;
    return v;
}

struct rule {
    int seen;
    struct word name, left, right;
    int sign, factor; /* factor 0: a value */
    struct value value;
};

struct puzzle {
    struct rule rule[MAX_RULES];
    int n, n_base;
};

static int find(const struct puzzle *z, struct word w, int before)
{
    for (int i = 0; i < before; i++)
        if (!strcmp(z->rule[i].name.s, w.s))
            return i;
    return -1;
}

/* " rule 7 : ab = ..." lines in any order, then their evaluation in the order of their numbers. */
static void rules(struct reader *r, struct puzzle *z, int is_relay)
{
    memset(z, 0, sizeof *z);
    while (eat(r, " rule ") && !r->bad) {
        int i = number(r) - 1;
        if (i < 0 || i >= MAX_RULES || z->rule[i].seen) {
            r->bad = 1;
            return;
        }
        struct rule *u = &z->rule[i];
        u->seen = 1;
        need(r, " : ");
        u->name = name(r);
        need(r, " = ");
        const char *s = r->p;
        if (*s >= 'a' && *s <= 'z' && !(s[0] == 'x' && (s[1] == '\n' || s[1] == ' '))) {
            u->left = name(r);
            u->sign = eat(r, " + ") ? 1 : (need(r, " - "), -1);
            u->factor = is_relay ? number(r) : 1;
            r->bad |= is_relay && (u->factor < 2 || u->factor > 5);
            if (is_relay)
                need(r, " * ");
            u->right = name(r);
        } else {
            u->value = linear(r);
            r->bad |= is_relay ? u->value.a || u->value.b < 0 || u->value.b > 999
                               : abs(u->value.a) > 30 || abs(u->value.b) > 60;
            z->n_base++;
        }
        need(r, "\n");
        z->n++;
    }
    for (int i = 0; i < z->n && !r->bad; i++) {
        struct rule *u = &z->rule[i];
        r->bad |= !u->seen || find(z, u->name, i) >= 0;
        if (!u->factor)
            continue;
        int j = find(z, u->left, i), k = find(z, u->right, i), f = u->sign * u->factor;
        if (j < 0 || k < 0 || j == k) {
            r->bad = 1;
            return;
        }
        u->value.a = z->rule[j].value.a + f * z->rule[k].value.a;
        u->value.b = z->rule[j].value.b + f * z->rule[k].value.b;
        if (is_relay)
            u->value.b = (u->value.b % 1000 + 1000) % 1000;
    }
}

static void solve_relay(struct reader *r, char *answer, size_t cap, int *n, int is_choice)
{
    struct puzzle z;
    need(r, "Apply the rules in order , all values modulo 1000 .\n");
    rules(r, &z, 1);
    *n = z.n;
    if (r->bad || !z.n)
        return;
    r->bad |= z.n_base != (z.n / 4 > 2 ? z.n / 4 : 2);
    need(r, is_choice ? "Which option is the value of " : "Find the value of ");
    r->bad |= strcmp(name(r).s, z.rule[z.n - 1].name.s) != 0;
    int value = z.rule[z.n - 1].value.b, seen[4];
    if (!is_choice) {
        need(r, " .");
        snprintf(answer, cap, "%d", value);
        return;
    }
    need(r, " ?");
    for (int i = 0; i < 4; i++) {
        char letter[8];
        need(r, "\n ");
        seen[i] = number(r);
        for (int k = 0; k < i; k++)
            r->bad |= seen[k] == seen[i];
        snprintf(letter, sizeof letter, " is %c", 'A' + i);
        need(r, letter);
        if (seen[i] == value)
            snprintf(answer, cap, "%c", 'A' + i);
    }
}

static void solve_algebra(struct reader *r, char *answer, size_t cap, int *n)
{
    struct puzzle z;
    need(r, "Apply the rules in order and simplify .\n");
    rules(r, &z, 0);
    *n = z.n;
    if (r->bad || !z.n)
        return;
    r->bad |= z.n_base < (z.n / 3 > 2 ? z.n / 3 : 2);
    need(r, "Write ");
    r->bad |= strcmp(name(r).s, z.rule[z.n - 1].name.s) != 0;
    need(r, " in terms of x .");
    struct value v = z.rule[z.n - 1].value;
    char head[16] = "";
    if (v.a)
        snprintf(head, sizeof head, v.a == 1 ? "x" : v.a == -1 ? "-x" : "%dx", v.a);
    if (!v.a)
        snprintf(answer, cap, "%d", v.b);
    else if (v.b)
        snprintf(answer, cap, "%s %c %d", head, v.b > 0 ? '+' : '-', abs(v.b));
    else
        snprintf(answer, cap, "%s", head);
}

static void solve_lookup(struct reader *r, char *answer, size_t cap, int *n)
{
    static struct word from[MAX_RULES], to[MAX_RULES], room[MAX_RULES], item[MAX_RULES][2];
    int n_leads = 0, n_holds = 0;
    need(r, "Read the notes .\n");
    while (eat(r, " room ") && !r->bad && n_leads < MAX_RULES && n_holds < MAX_RULES) {
        struct word w = name(r);
        if (eat(r, " leads to room ")) {
            from[n_leads] = w;
            to[n_leads++] = name(r);
        } else {
            need(r, " holds the ");
            room[n_holds] = w;
            item[n_holds][0] = word(r);
            need(r, " ");
            item[n_holds++][1] = word(r);
        }
        need(r, "\n");
    }
    *n = n_leads;
    r->bad |= n_leads != n_holds;
    need(r, "Start in room ");
    struct word at = name(r);
    need(r, " and move ");
    int hops = number(r);
    r->bad |= hops < 2 || hops > 6;
    need(r, " times . What is there ?");
    for (int i = 0; i < hops && !r->bad; i++) {
        int k = 0;
        while (k < n_leads && strcmp(from[k].s, at.s) != 0)
            k++;
        r->bad |= k == n_leads;
        at = to[k < n_leads ? k : 0];
    }
    for (int k = 0; k < n_holds; k++) {
        r->bad |= !strcmp(item[k][0].s, item[k][1].s);
        if (!strcmp(room[k].s, at.s))
            snprintf(answer, cap, "%.11s %.11s", item[k][0].s, item[k][1].s);
    }
}

/* Reads and solves one problem of task `name`; it must have `steps` rules or facts. */
static void solve(const char *task, const struct problem *p, int steps)
{
    struct reader r = {p->prompt, 0};
    char answer[64] = "(none)";
    int n = 0;
    need(&r, "<|User|>");
    if (!strcmp(task, "algebra"))
        solve_algebra(&r, answer, sizeof answer, &n);
    else if (!strcmp(task, "lookup"))
        solve_lookup(&r, answer, sizeof answer, &n);
    else
        solve_relay(&r, answer, sizeof answer, &n, !strcmp(task, "choice"));
    need(&r, "<|Assistant|><think>\n");
    if (r.bad || *r.p) {
        fprintf(stderr, "%s: not of the form, at: %.60s\n", p->id, r.p);
        CHECK(0);
    }
    CHECK_INT(n, steps);
    CHECK_STR(p->gold, answer);
    CHECK(p->is_rendered && p->thinking_open);
    CHECK_INT(p->n_options, strcmp(task, "choice") ? 0 : 4);
}

static void grade_text(const struct task *t, const struct problem *p, const char *text, enum verdict want)
{
    struct arena a = {0};
    struct grade g;
    struct response r = {text, strlen(text), THINKING_OPEN, FINISH_STOP};
    CHECK_INT(t->ops->grade(&g, p, &r, &a), 0);
    if (g.verdict != want) {
        fprintf(stderr, "%s: %s, want %s: %s\n", p->id, verdict_name(g.verdict), verdict_name(want),
                g.reason);
        CHECK(0);
    }
    arena_release(&a);
}

/* The 64 fixed problems of a family, with the recipe's ideal solutions. */
static void fixed(const char *task, const char *base, int steps)
{
    struct task_options o;
    struct task t;
    struct err e = {0};
    struct file_lines lines;
    const char *line;
    size_t n, i = 0;
    struct arena a = {0};
    char *path = arena_printf(&a, SOURCE_DIR "/tests/data/pocket/problems/%s.jsonl", base);
    param_defaults(task_params, &o);
    o.file = path;
    CHECK_INT(task_open(&t, task_of_run(task, NULL)->name, &o, NULL, NULL, &e), 0);
    CHECK_INT(t.n_problems, 64);
    CHECK_INT(file_lines_open(&lines, path, &e), 0);
    for (; i < t.n_problems && file_lines_next(&lines, &line, &n, &e) > 0; i++) {
        json_t *row;
        char id[32];
        CHECK_INT(json_read_text(&row, line, n, path, &e), 0);
        snprintf(id, sizeof id, "%s-%02d", base, (int)i);
        CHECK_STR(t.problems[i].id, id);
        solve(task, &t.problems[i], steps);
        const char *solution = json_string_value(json_object_get(row, "solution"));
        grade_text(&t, &t.problems[i], solution, VERDICT_CORRECT);
        const char *cut = strstr(solution, "</think>");
        grade_text(&t, &t.problems[i], arena_strndup(&a, solution, (size_t)(cut - solution)),
                   VERDICT_UNFINISHED);
        /* another problem's solution is right only by chance: where the golds are the same */
        const struct problem *other = &t.problems[(i + 1) % t.n_problems];
        grade_text(&t, other, solution,
                   strcmp(other->gold, t.problems[i].gold) ? VERDICT_WRONG : VERDICT_CORRECT);
        json_decref(row);
    }
    CHECK_INT(i, 64);
    file_lines_close(&lines);
    task_close(&t);
    arena_release(&a);
}

static void open_generated(struct task *t, const char *task, int steps, int problems, int seed)
{
    struct task_options o;
    struct err e = {0};
    param_defaults(task_params, &o);
    o.problems = problems;
    o.seed = seed;
    o.steps = steps;
    CHECK_INT(task_open(t, task_of_run(task, NULL)->name, &o, NULL, NULL, &e), 0);
}

static void generated(const char *task, int default_steps)
{
    static const int sizes[] = {PARAM_UNSET_INT, 3, 4, 5, 8, 13, 100, 600};
    struct task t, longer, other;
    char id[64];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int steps = sizes[k] == PARAM_UNSET_INT ? default_steps : sizes[k];
        for (int seed = 1; seed <= 3; seed++) {
            open_generated(&t, task, sizes[k], steps > 50 ? 20 : 64, seed);
            for (size_t i = 0; i < t.n_problems; i++) {
                snprintf(id, sizeof id, "%s%d-s%d-%03d", task, steps, seed, (int)i);
                CHECK_STR(t.problems[i].id, id);
                solve(task, &t.problems[i], steps);
            }
            task_close(&t);
        }
    }
    open_generated(&t, task, PARAM_UNSET_INT, PARAM_UNSET_INT, 1);
    open_generated(&longer, task, default_steps, 100, 1);
    open_generated(&other, task, default_steps, 64, 2);
    CHECK_INT(t.n_problems, 64);
    CHECK_STR(t.source, longer.source);
    CHECK(strcmp(t.source, other.source) != 0);
    for (size_t i = 0; i < t.n_problems; i++) {
        CHECK_STR(t.problems[i].prompt, longer.problems[i].prompt);
        CHECK(strcmp(t.problems[i].prompt, other.problems[i].prompt) != 0);
        CHECK(!i || strcmp(t.problems[i].prompt, t.problems[i - 1].prompt) != 0);
    }
    task_close(&t);
    task_close(&longer);
    task_close(&other);
}

int main(void)
{
    fixed("relay", "relay20", 20);
    fixed("algebra", "algebra16", 16);
    fixed("lookup", "lookup60", 60);
    fixed("choice", "choice18", 18);
    generated("relay", 20);
    generated("algebra", 16);
    generated("lookup", 60);
    generated("choice", 18);
    return check_done();
}
