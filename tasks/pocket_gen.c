/* Generators of the four pocket families. The wording, the pools of names and items and the rules of drawing
 * are those the model was trained on; the draws themselves come from our own counter-based generator, so a
 * problem is a function of (family, steps, seed, index) on every machine. */
#include "tasks/pocket_gen.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/task_list.h"

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

void pocket_relay(struct str *question, struct str *gold, struct rng *r, int steps)
{
    struct name names[POCKET_STEPS_MAX];
    int values[POCKET_STEPS_MAX];
    int answer = add_rules(question, names, values, r, steps);
    str_printf(question, "Find the value of %s .", names[steps - 1].s);
    str_printf(gold, "%d", answer);
}

void pocket_choice(struct str *question, struct str *gold, struct rng *r, int steps)
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

void pocket_algebra(struct str *question, struct str *gold, struct rng *r, int n)
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

void pocket_lookup(struct str *question, struct str *gold, struct rng *r, int n)
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
