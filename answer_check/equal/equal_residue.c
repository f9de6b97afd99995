/* Classes of integers by their remainder, written as a congruence, with a parameter or in words: x \equiv 3
 * \pmod 7, x = 7k + 3, "all odd n"; and sums and products with dots, 1 + 2 + \cdots + 100. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

/* ---- classes ---- */

struct residue {
    int64_t modulus, rest;
    const char *name; /* "" where the writing names none */
};

static int64_t reduced(int64_t a, int64_t m)
{
    return ((a % m) + m) % m;
}

/* m as a k + b of one letter k: 1, or 0. */
static int read_linear(struct comparison *e, const struct math_node *m, struct residue *out)
{
    const char *letter[2];
    int64_t at[3];
    if (math_symbols(e->w, m, letter, 2) != 1)
        return 0;
    for (int i = 0; i < 3; i++) {
        const struct math_node *x = math_node_integer(e->w, m->source, i);
        const struct math_node *value = x ? math_substitute(e->w, m, letter[0], x) : NULL;
        if (!value || !math_scalar_integer(e->w, value, &at[i]))
            return 0;
    }
    int64_t step = at[1] - at[0];
    if (at[2] - at[1] != step || (step < 2 && step > -2))
        return 0;
    out->modulus = step < 0 ? -step : step;
    out->rest = reduced(at[0], out->modulus);
    return 1;
}

/* Does the condition say no more than that a letter is an integer? */
static int is_integer(const struct math_node *m)
{
    if (m->kind == MATH_TEXT)
        return strstr(m->name, "integer") && !strstr(m->name, "positive") && !strstr(m->name, "negative");
    return m->kind == MATH_RELATION && m->n == 2 && m->ops[0] == MATH_IN &&
           m->child[1]->kind == MATH_NUMBER_SET && m->child[1]->which == 'Z' && !*m->child[1]->name;
}

/* "all even n", "n is odd", "even integers": 1 and the class, or 0. */
static int read_words(const char *s, struct residue *out)
{
    static const char *const light[] = {"all",     "any",     "every",  "the",    "integers",
                                        "integer", "numbers", "number", "values", "of",
                                        "is",      "must",    "be",     "for",    "an"};
    int parity = -1;
    const char *name = "";
    while (*s) {
        size_t n = strcspn(s, " ");
        struct span word = {s, n};
        int known = 0;
        for (size_t k = 0; k < sizeof light / sizeof *light; k++)
            known |= span_is(word, light[k]);
        if (span_is(word, "even") || span_is(word, "odd"))
            parity = *s == 'o';
        else if (n == 1 && *s != 'a' && !*name)
            name = s;
        else if (!known)
            return 0;
        s += n + (s[n] == ' ');
    }
    *out = (struct residue){2, parity, name};
    return parity >= 0;
}

/* The remainder and the modulus of x \equiv 3 \pmod 7, also where the modulus stands as in 3 \bmod 7: 1, or
 * 0. */
static int read_congruence(struct comparison *e, const struct math_node *m, struct residue *out)
{
    if (m->kind != MATH_RELATION || m->ops[0] != MATH_CONGRUENT)
        return 0;
    const struct math_node *right = m->child[1];
    int is_function = m->n == 2 && right->kind == MATH_FUNCTION && right->which == MATH_MOD && right->n == 2;
    if (m->n != 3 && !is_function)
        return 0;
    return math_scalar_integer(e->w, is_function ? right->child[0] : right, &out->rest) &&
           math_scalar_integer(e->w, is_function ? right->child[1] : m->child[2], &out->modulus) &&
           out->modulus > 1;
}

static int read_residue(struct comparison *e, const struct math_node *m, struct residue *out)
{
    if (m->kind == MATH_EITHER)
        m = m->child[0];
    if (m->kind == MATH_TEXT)
        return read_words(m->name, out);
    if ((m->kind == MATH_CASES || m->kind == MATH_AND || m->kind == MATH_LIST) && m->n == 2 &&
        is_integer(m->child[1]))
        m = m->child[0];
    if (m->kind == MATH_EITHER)
        m = m->child[0];
    if (m->kind != MATH_RELATION || m->child[0]->kind != MATH_SYMBOL)
        return 0;
    out->name = m->child[0]->name;
    if (m->ops[0] == MATH_CONGRUENT) {
        if (!read_congruence(e, m, out))
            return 0;
        out->rest = reduced(out->rest, out->modulus);
        return 1;
    }
    return m->n == 2 && m->ops[0] == MATH_EQUAL && math_is_scalar(m->child[1]) &&
           read_linear(e, m->child[1], out);
}

enum math_truth equal_residues(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred)
{
    struct residue g, p;
    if (gold->kind == pred->kind && gold->kind == MATH_RELATION && gold->ops[0] == pred->ops[0])
        return MATH_FALSE; /* 7k + 3 and 7n + 3 are compared as families */
    if (!read_residue(e, gold, &g) || !read_residue(e, pred, &p) || g.modulus != p.modulus ||
        g.rest != p.rest)
        return MATH_FALSE;
    return !*g.name || !*p.name || *g.name == *p.name ? MATH_TRUE : MATH_FALSE;
}

const struct math_node *equal_remainder(struct comparison *e, const struct math_node *m)
{
    struct residue r;
    if (read_congruence(e, m, &r) && r.rest >= 0 && r.rest < r.modulus)
        return m->n == 2 ? m->child[1]->child[0] : m->child[1];
    return NULL;
}

/* ---- dots ---- */

static int is_dots(const struct math_node *m)
{
    return m->kind == MATH_SYMBOL && !strcmp(m->name, "...");
}

const struct math_node *equal_without_dots(struct comparison *e, const struct math_node *m)
{
    enum { TERMS = 8 };
    int64_t term[TERMS], last;
    if (m->kind != MATH_ADD || m->n < 4 || m->n > TERMS || !is_dots(m->child[m->n - 2]) ||
        !math_scalar_integer(e->w, m->child[m->n - 1], &last))
        return NULL;
    for (int i = 0; i < m->n - 2; i++)
        if (!math_scalar_integer(e->w, m->child[i], &term[i]) || term[i] > 1000000000 ||
            term[i] < -1000000000)
            return NULL;
    int64_t step = term[1] - term[0];
    for (int i = 2; i < m->n - 2; i++)
        if (term[i] - term[i - 1] != step)
            return NULL;
    if (!step || (last - term[0]) % step || (last - term[0]) / step < m->n - 2 || last > 1000000000 ||
        last < -1000000000)
        return NULL;
    int64_t count = (last - term[0]) / step + 1;
    if (count > 1000000000)
        return NULL;
    return math_node_integer(e->w, m->source, (term[0] + last) * count / 2);
}
