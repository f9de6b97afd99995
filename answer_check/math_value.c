/* Tuples, lists and readings. An answer can often be read in more than one way (is 1,234 a number or a list?
 * is "x = 5" the value 5?); two answers are equal when some pair of admissible readings is equal exactly, or
 * when their flattened texts are the same. */
#include "answer_check/latex_clean.h"
#include "answer_check/math_value.h"

#include <string.h>

static int opener(struct span s, size_t i, size_t *width)
{
    *width = 1;
    if (s.s[i] == '\\' && i + 1 < s.n && (s.s[i + 1] == '{' || s.s[i + 1] == '}')) {
        *width = 2;
        return s.s[i + 1] == '{' ? 1 : -1;
    }
    if (strchr("([{", s.s[i]))
        return 1;
    return strchr(")]}", s.s[i]) ? -1 : 0;
}

/* Next comma at depth 0 from i on, or s.n. */
static size_t next_comma(struct span s, size_t i)
{
    int depth = 0;
    for (size_t width; i < s.n; i += width) {
        depth += opener(s, i, &width);
        if (depth <= 0 && (s.s[i] == ',' || s.s[i] == ';'))
            return i;
    }
    return s.n;
}

/* If one pair of brackets encloses all of s: its inside, and the bracket characters. */
static int unwrap(struct span s, struct span *inside, char *open, char *close)
{
    size_t width, first;
    int depth = 0;
    if (s.n < 2 || opener(s, 0, &first) != 1 || (first == 1 && s.s[0] == '{'))
        return 0;
    for (size_t i = 0; i < s.n; i += width) {
        depth += opener(s, i, &width);
        if (depth == 0 && i + width < s.n)
            return 0;
        if (depth == 0) {
            *open = s.s[first - 1];
            *close = s.s[i + width - 1];
            *inside = span_trim((struct span){s.s + first, i - first});
            return 1;
        }
    }
    return 0;
}

static int parse_value(struct math_value *out, struct poly_work *w, struct span s, int depth)
{
    struct span inside = s;
    char open = 0, close = 0;
    s = span_trim(s);
    int wrapped = unwrap(s, &inside, &open, &close);
    if (!wrapped)
        inside = s;
    int is_list =
        next_comma(inside, 0) < inside.n || open == '{' || (wrapped && (open != '(') != (close != ')'));
    if (!is_list)
        return math_parse_expression(out, w, s);
    if (depth > 4)
        return -1;
    struct math_value *items = arena_alloc(w->arena, MATH_ITEMS_MAX * sizeof *items);
    int n = 0, has_text = 0;
    for (size_t i = 0; i <= inside.n;) {
        size_t end = next_comma(inside, i);
        struct span item = span_trim((struct span){inside.s + i, end - i});
        if (n == MATH_ITEMS_MAX || !item.n)
            return -1;
        if (parse_value(&items[n], w, item, depth + 1))
            items[n] = (struct math_value){.text = latex_flatten(w->arena, item), .has_text = 1};
        has_text |= items[n++].has_text;
        i = end + 1;
    }
    *out =
        (struct math_value){.n_items = n, .items = items, .open = open, .close = close, .has_text = has_text};
    return 0;
}

/* Removes the commas of 1,234 and 12,345,678; returns how many numbers had them. */
static int join_thousands(struct span *s, struct arena *a)
{
    char *out = arena_alloc(a, s->n + 1);
    size_t n = 0;
    int joined = 0;
    for (size_t i = 0; i < s->n;) {
        size_t j = i, groups = 0;
        while (j < s->n && ascii_is_digit(s->s[j]))
            j++;
        size_t lead = j - i;
        while (lead >= 1 && lead <= 3 && s->n - j >= 4 && s->s[j] == ',' && ascii_is_digit(s->s[j + 1]) &&
               ascii_is_digit(s->s[j + 2]) && ascii_is_digit(s->s[j + 3]) &&
               (s->n - j == 4 || !ascii_is_digit(s->s[j + 4]))) {
            j += 4;
            groups++;
        }
        joined += groups > 0;
        if (j == i)
            out[n++] = s->s[i++];
        for (; i < j; i++)
            if (s->s[i] != ',')
                out[n++] = s->s[i];
    }
    *s = (struct span){out, n};
    return joined;
}

int math_parse(struct math_value *out, struct poly_work *w, struct span s, int thousands)
{
    if (s.n > MATH_INPUT_MAX || !s.n)
        return -1;
    if (thousands)
        join_thousands(&s, w->arena);
    return parse_value(out, w, s, 0);
}

static int spans_equal(struct span a, struct span b)
{
    return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

static int poly_equal_percent(const struct math_value *percent, const struct math_value *plain)
{
    const struct polynomial *a = &percent->poly, *b = &plain->poly;
    struct rational p, q, hundredth;
    if (poly_equal(a, b))
        return 1;
    return poly_is_const(a, &p) && poly_is_const(b, &q) && !rational_set(&hundredth, 1, 100) &&
           !rational_mul(&p, p, hundredth) && rational_equal(p, q);
}

int math_value_equal(const struct math_value *a, const struct math_value *b)
{
    if (a->n_items != b->n_items)
        return 0;
    if (!a->n_items) {
        if (a->text.s || b->text.s)
            return a->text.s && b->text.s && spans_equal(a->text, b->text);
        if (a->is_percent != b->is_percent)
            return a->is_percent ? poly_equal_percent(a, b) : poly_equal_percent(b, a);
        return poly_equal(&a->poly, &b->poly);
    }
    int unordered_a = !a->open || a->open == '{', unordered_b = !b->open || b->open == '{';
    if (unordered_a != unordered_b || (!unordered_a && (a->open != b->open || a->close != b->close)))
        return 0;
    unsigned char used[MATH_ITEMS_MAX] = {0};
    for (int i = 0; i < a->n_items; i++) {
        int j = unordered_a ? 0 : i, end = unordered_a ? b->n_items : i + 1;
        while (j < end && (used[j] || !math_value_equal(&a->items[i], &b->items[j])))
            j++;
        if (j == end)
            return 0;
        used[j] = 1;
    }
    return 1;
}

void math_value_print(struct str *out, const struct math_value *v)
{
    if (!v->n_items) {
        if (v->text.s)
            str_add(out, v->text.s, v->text.n);
        else
            poly_print(out, &v->poly);
        if (v->is_percent)
            str_putc(out, '%');
        return;
    }
    if (v->open)
        str_putc(out, v->open);
    for (int i = 0; i < v->n_items; i++) {
        if (i)
            str_puts(out, ", ");
        math_value_print(out, &v->items[i]);
    }
    if (v->close)
        str_putc(out, v->close);
}

struct reading {
    struct span s;
    int ok;
    struct math_value value;
};

static struct reading read_span(struct span s, int thousands, struct arena *a)
{
    struct poly_work w = {a, POLY_STEPS};
    struct reading r = {.s = s};
    r.ok = !math_parse(&r.value, &w, s, thousands);
    return r;
}

enum comparison { UNEQUAL_TEXT, UNEQUAL_EXACT, EQUAL_TEXT, EQUAL_EXACT }; /* better ones are greater */

static enum comparison compare_read(struct span g, struct span p, int thousands, struct arena *a)
{
    struct reading rg = read_span(g, thousands, a), rp = read_span(p, thousands, a);
    if (!rg.ok || !rp.ok)
        return UNEQUAL_TEXT;
    int text = rg.value.has_text || rp.value.has_text;
    if (math_value_equal(&rg.value, &rp.value))
        return text ? EQUAL_TEXT : EQUAL_EXACT;
    return text ? UNEQUAL_TEXT : UNEQUAL_EXACT;
}

static enum comparison compare_plain(struct span g, struct span p, struct arena *a)
{
    enum comparison c = compare_read(g, p, 1, a), list;
    if (c < EQUAL_TEXT && spans_equal(latex_flatten(a, g), latex_flatten(a, p)))
        c = EQUAL_TEXT;
    if (c < EQUAL_TEXT && memchr(g.s, ',', g.n) && memchr(p.s, ',', p.n) &&
        (list = compare_read(g, p, 0, a)) > c)
        c = list;
    return c;
}

/* Splits at '=' outside brackets: the number of them, the text before the first and after the last. */
static int split_equals(struct span s, struct span *left, struct span *right)
{
    int n = 0, depth = 0;
    *left = *right = (struct span){0};
    for (size_t i = 0, width; i < s.n; i += width) {
        depth += opener(s, i, &width);
        if (s.s[i] != '=' || depth > 0)
            continue;
        if (i && strchr("<>!", s.s[i - 1]))
            return 0;
        if (!n++)
            *left = span_trim((struct span){s.s, i});
        *right = span_trim((struct span){s.s + i + 1, s.n - i - 1});
    }
    return right->n && left->n ? n : 0;
}

/* x, x_1, f(x): what may stand in front of '=' in an answer that means only the value. */
static int is_name(struct span s)
{
    return s.n && s.n <= 6 && ascii_is_letter(s.s[0]) && !memchr(s.s, '+', s.n) && !memchr(s.s, '-', s.n) &&
           (s.n == 1 || s.s[1] == '_' || s.s[1] == '(');
}

/* The values alone of "x = 5", "m + n = 13 + 12 = 25", "x = 3, y = 5" and "x, y = 3, 5": each item of the
 * list loses its own assignment, so that no value gets lost. named: only names may stand in front of '='. 0
 * when there is nothing to take off. */
static int strip_assignments(struct span *out, struct span s, int named, struct arena *a)
{
    struct span left, right;
    int equals = split_equals(s, &left, &right), names = 1;
    for (size_t i = 0, end; equals == 1 && i < left.n; i = end + 1) {
        end = next_comma(left, i);
        names &= is_name(span_trim((struct span){left.s + i, end - i}));
    }
    if (equals == 1 && names) {
        *out = right;
        return 1;
    }
    char *text = arena_alloc(a, s.n + 1); /* a space is put in only where a '=' went */
    size_t n = 0;
    int stripped = 0;
    for (size_t i = 0, end; i < s.n; i = end + 1) {
        end = next_comma(s, i);
        struct span item = {s.s + i, end - i};
        equals = split_equals(item, &left, &right);
        if (equals && named && (equals > 1 || !is_name(left)))
            return 0;
        if (equals) {
            stripped++;
            item = right;
            if (n) /* "x = 1, y = 234" is no number with thousands */
                text[n++] = ' ';
        }
        memcpy(text + n, item.s, item.n);
        n += item.n;
        if (end < s.n)
            text[n++] = s.s[end];
    }
    *out = (struct span){text, n};
    return stripped;
}

/* Are two equations the same up to the order of their sides? */
static int equations_equal(struct span gl, struct span gr, struct span pl, struct span pr, struct arena *a)
{
    struct poly_work w = {a, POLY_STEPS};
    struct math_value v[4];
    struct span s[4] = {gl, gr, pl, pr};
    struct rational minus = {-1, 1};
    for (int i = 0; i < 4; i++)
        if (math_parse_expression(&v[i], &w, s[i]))
            return 0;
    if (poly_scale(&w, &v[1].poly, &v[1].poly, minus) || poly_add(&w, &v[0].poly, &v[0].poly, &v[1].poly) ||
        poly_scale(&w, &v[3].poly, &v[3].poly, minus) || poly_add(&w, &v[2].poly, &v[2].poly, &v[3].poly))
        return 0;
    if (poly_equal(&v[0].poly, &v[2].poly))
        return 1;
    return !poly_scale(&w, &v[2].poly, &v[2].poly, minus) && poly_equal(&v[0].poly, &v[2].poly);
}

static enum comparison compare_readings(struct span g, struct span p, struct arena *a)
{
    struct span gl, gr, pl, pr, values;
    enum comparison c = compare_plain(g, p, a);
    if (c >= EQUAL_TEXT)
        return c;
    int ng = split_equals(g, &gl, &gr), np = split_equals(p, &pl, &pr);
    if (!ng && np && strip_assignments(&values, p, 0, a))
        return compare_plain(g, values, a);
    if (ng && !np && strip_assignments(&values, g, 1, a))
        return compare_plain(values, p, a);
    if (ng == 1 && np == 1 && equations_equal(gl, gr, pl, pr, a))
        return EQUAL_EXACT;
    return c;
}

/* The text in front of a trailing \text{unit}, or s itself. */
static struct span without_unit(struct span s)
{
    struct span t = s;
    if (s.n > 2 && s.s[s.n - 2] == '^' && ascii_is_digit(s.s[s.n - 1]))
        t.n -= 2;
    if (!t.n || t.s[t.n - 1] != '}')
        return s;
    while (t.n && t.s[t.n - 1] != '{')
        t.n--;
    size_t n = t.n;
    if (n < 7 || memcmp(t.s + n - 6, "\\text{", 6))
        return s;
    t.n = n - 6;
    t = span_trim(t);
    return t.n ? t : s;
}

static const char *form(struct span s, struct arena *a)
{
    struct reading r = read_span(s, 1, a);
    if (!r.ok)
        return grade_form(a, s.s, s.n);
    struct str text = {0};
    math_value_print(&text, &r.value);
    const char *out = grade_form(a, str_text(&text), text.len);
    str_release(&text);
    return out;
}

void math_compare(struct math_match *out, struct span gold, struct span pred, struct arena *a)
{
    struct span g = latex_clean(a, gold), p = latex_clean(a, pred);
    struct span gu = without_unit(g), pu = without_unit(p);
    enum comparison c = compare_readings(g, p, a), bare;
    /* a unit that only one side gives is no difference */
    if (c < EQUAL_TEXT && (gu.n != g.n) != (pu.n != p.n) && (bare = compare_readings(gu, pu, a)) > c)
        c = bare;
    out->equal = c >= EQUAL_TEXT;
    out->how = c == EQUAL_EXACT || c == UNEQUAL_EXACT ? "exactly" : "as text";
    out->gold_form = form(g, a);
    out->pred_form = form(p, a);
}

int math_is_value(struct span text, struct arena *a)
{
    text = span_trim(text);
    if (!text.n || text.n > MATH_INPUT_MAX)
        return 0;
    struct span s = without_unit(latex_clean(a, text)), values;
    if (strip_assignments(&values, s, 0, a))
        s = values;
    struct reading r = read_span(s, 1, a);
    return r.ok && !r.value.has_text;
}
