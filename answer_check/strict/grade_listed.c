/* Answers that the end of a response says in several places, as one list (contract: grading.h). */
#include "answer_check/strict/grading.h"

#include <string.h>

#include "answer_check/strict/extract.h"
#include "answer_check/strict/sentence.h"
#include "evalcore/base/str.h"

int grading_after_is(struct span *out, struct span s)
{
    static const char *const leading[] = {"at ",          "equal to ",  "just ",        "exactly ",
                                          "simply ",      "given by ",  "therefore ",   "thus ",
                                          "located at ",  "the point ", "the line ",    "the set ",
                                          "found to be ", "then ",      "the interval "};
    for (size_t i = s.n; i-- > 4;)
        if (!memcmp(s.s + i - 4, " is ", 4)) {
            *out = span_trim((struct span){s.s + i, s.n - i});
            for (size_t k = 0; k < sizeof leading / sizeof *leading; k++) {
                size_t n = strlen(leading[k]);
                if (span_starts(*out, leading[k]) && out->n > n) {
                    *out = span_trim((struct span){out->s + n, out->n - n});
                    k = (size_t)-1;
                }
            }
            return out->n > 0;
        }
    return 0;
}

/* One part of an answer on a line, "(a) 3", "- $x = 2$", "b = 2": its value, and the sort of its label. */
static int read_part(struct span *value, struct span line, struct math_work *w)
{
    enum { PART_NONE, PART_LABEL, PART_BULLET, PART_NAME };
    line = span_trim(line);
    size_t bullet = span_at(line, 0, "- ") || span_at(line, 0, "* ") ? 2
                    : span_at(line, 0, "\xe2\x80\xa2 ")              ? 4
                                                                     : 0;
    size_t label = bullet ? 0 : grading_part_label(line);
    int is_name = !bullet && !label && line.n > 2 && memchr(line.s, '=', line.n < 12 ? line.n : 12) != NULL;
    *value = span_trim((struct span){line.s + bullet + label, line.n - bullet - label});
    struct span said;
    if (label && sentence_says(*value, "answer is|solution is|root is") && !sentence_is_doubtful(*value) &&
        grading_after_is(&said, *value))
        *value = said;
    while (value->n && strchr(".;,", value->s[value->n - 1]))
        value->n--;
    if ((!bullet && !label && !is_name) || !value->n || !math_is_value(w, *value))
        return PART_NONE;
    return bullet ? PART_BULLET : label ? PART_LABEL : PART_NAME;
}

/* Are the parts values of one name or of none, and not all the same: "x = 1" and "x = 4", "3" and "5"? */
static int are_alternatives(struct grading *g, const struct span *part, int n)
{
    size_t name[2];
    int differ = 0;
    struct answer last = {0};
    for (int i = 0; i < n; i++) {
        const char *sign = memchr(part[i].s, '=', part[i].n);
        struct span left = span_trim((struct span){part[i].s, sign ? (size_t)(sign - part[i].s) : 0});
        struct span value = {sign ? sign + 1 : part[i].s, part[i].n};
        value.n -= (size_t)(value.s - part[i].s);
        while (value.n && strchr("$ ", value.s[value.n - 1]))
            value.n--;
        left = left.n && left.s[0] == '$' ? (struct span){left.s + 1, left.n - 1} : left;
        name[i > 0] = left.n;
        if (left.n > 1 || (left.n && !ascii_is_letter(left.s[0])) || name[i > 0] != name[0] ||
            memchr(value.s, '=', value.n) || (i && left.n && left.s[0] != part[0].s[part[0].s[0] == '$']))
            return 0;
        struct answer a = answer_read(g->w, value);
        differ |= i && !answer_compare(g->w, &last, &a, g->rules).equal;
        last = a;
    }
    return differ;
}

int grade_listed(struct grading *g, struct span section)
{
    enum { PARTS = 8 };
    struct span part[PARTS], s = sentence_plain(section, g->w);
    struct str all = {0};
    int n = 0, sort = 0;
    for (size_t end = s.n; end && n < PARTS;) {
        size_t from = end;
        while (from && s.s[from - 1] != '\n' && !(s.s[from - 1] == ';' && span_at(s, from, " (")))
            from--;
        struct span line = {s.s + from, end - from};
        int is = span_trim(line).n ? read_part(&part[n], line, g->w) : sort;
        if (span_trim(line).n && (!is || (sort && is != sort)))
            break;
        n += span_trim(line).n > 0;
        sort = is;
        end = from ? from - 1 : 0;
    }
    int is_list = (memchr(g->gold.s, ',', g->gold.n) || memchr(g->gold.s, ';', g->gold.n));
    int are_choices = n > 1 && are_alternatives(g, part, n);
    if (n < 2 || (!is_list && !are_choices))
        return 0;
    while (n-- > 0) {
        str_add(&all, part[n].s, part[n].n);
        str_puts(&all, n ? ", " : "");
    }
    struct span text = {arena_strndup(g->w->arena, str_text(&all), all.len), all.len};
    str_release(&all);
    struct answer pred = answer_read(g->w, text);
    struct answer_match m = grading_compare(g, &pred);
    if (!m.equal && !are_choices)
        return 0;
    grading_note(g, "last lines", text);
    return !grading_decide(g, &pred, &m, "The parts that the section ends with, read as one list,");
}

int grade_clauses(struct grading *g, struct span section)
{
    static const char is[] = " is ", and[] = " and ";
    struct span line, said;
    if (!extract_last_line(&line, section) || line.n > 300 || !memmem(line.s, line.n, and, 5))
        return 0;
    line = sentence_plain(line, g->w);
    if (sentence_is_doubtful(line))
        return 0;
    struct str all = {0};
    int n = 0;
    for (size_t from = 0; from < line.n;) {
        struct span rest = {line.s + from, line.n - from};
        const char *next = memmem(rest.s, rest.n, and, 5);
        struct span clause = {rest.s, next ? (size_t)(next - rest.s) : rest.n};
        if (!memmem(clause.s, clause.n, is, 4) || !grading_after_is(&said, clause)) {
            n = 0;
            break;
        }
        while (said.n && strchr(".,;", said.s[said.n - 1]))
            said.n--;
        str_puts(&all, n++ ? ", " : "");
        str_add(&all, said.s, said.n);
        from += clause.n + (next ? 5 : 0);
    }
    struct span text = {arena_strndup(g->w->arena, str_text(&all), all.len), all.len};
    str_release(&all);
    if (n < 2)
        return 0;
    struct answer pred = answer_read(g->w, text);
    struct answer_match m = grading_compare(g, &pred);
    if (!m.equal)
        return 0;
    grading_note(g, "last line", line);
    return !grading_decide(g, &pred, &m, "What the clauses of the last line say, as one list,");
}
