/* Exact text, for look-up tasks: the answer must be the reference, white space and case folded, one final
 * full stop removed. The last line counts as an answer only where the response ended by itself. */
#include "answer_check/answer_check.h"
#include "answer_check/strict/extract.h"
#include "answer_check/text/latex_clean.h"
#include "evalcore/base/str.h"

#include <string.h>
#include <utf8proc.h>

/* Folds case by Unicode's simple mapping and white space to single blanks. */
static struct span fold_text(struct arena *a, struct span s)
{
    struct str valid = {0};
    str_add_utf8(&valid, s.s, s.n);
    char *out = arena_room(a, 2 * valid.len + 4); /* the longest growth is 2 bytes to 3 */
    size_t n = 0;
    for (size_t i = 0; i < valid.len;) {
        if (!(valid.data[i] & 0x80) && !ascii_is_space(valid.data[i])) { /* most bytes */
            out[n++] = ascii_lower(valid.data[i++]);
            continue;
        }
        utf8proc_int32_t c;
        utf8proc_ssize_t used =
            utf8proc_iterate((const utf8proc_uint8_t *)valid.data + i, (utf8proc_ssize_t)(valid.len - i), &c);
        i += used > 0 ? (size_t)used : 1;
        if (used <= 0)
            continue;
        if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || c == 0x3000) {
            if (n && out[n - 1] != ' ')
                out[n++] = ' ';
        } else {
            n += (size_t)utf8proc_encode_char(utf8proc_tolower(c), (utf8proc_uint8_t *)out + n);
        }
    }
    str_release(&valid);
    while (n && out[n - 1] == ' ')
        n--;
    if (n && out[n - 1] == '.')
        n--;
    while (n && out[n - 1] == ' ')
        n--;
    return (struct span){out, n};
}

static int strip_ends(struct span *s, size_t front, size_t back)
{
    *s = span_trim((struct span){s->s + front, s->n - front - back});
    return 1;
}

/* Takes one layer of "$..$", "{..}" or "\text{..}" off. */
static int strip_layer(struct span *s)
{
    static const char *const formula[][2] = {{"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};
    static const char *const fonts[] = {"",         "\\text",   "\\textbf", "\\textit", "\\textrm",
                                        "\\mathrm", "\\mathbf", "\\mathit", "\\mbox",   "\\boxed"};
    for (int k = 0; k < 3; k++) {
        size_t n = strlen(formula[k][0]);
        const char *close = s->n > 2 * n && span_at(*s, 0, formula[k][0])
                                ? memmem(s->s + n, s->n - n, formula[k][1], n)
                                : NULL;
        if (close && close == s->s + s->n - n)
            return strip_ends(s, n, n);
    }
    for (size_t k = 0; k < sizeof fonts / sizeof *fonts; k++) {
        size_t n = strlen(fonts[k]);
        if (s->n > n && !memcmp(s->s, fonts[k], n) && s->s[n] == '{' &&
            latex_is_group((struct span){s->s + n, s->n - n}))
            return strip_ends(s, n + 1, 1);
    }
    return 0;
}

/* The text to be compared: undressed and folded. */
static struct span plain_text(struct arena *a, struct span s)
{
    for (int layers = 0; layers < 8 && strip_layer(&s); layers++)
        ;
    return fold_text(a, s);
}

static int equals_exactly(struct span gold, struct span text, struct arena *a)
{
    struct span pred = plain_text(a, text);
    return pred.n == gold.n && !memcmp(pred.s, gold.s, gold.n);
}

int grade_exact(struct grade *out, const char *gold_text, size_t gold_len, const struct response *r,
                struct arena *a)
{
    struct span section, found, gold = plain_text(a, span_trim((struct span){gold_text, gold_len}));
    if (!gold.n)
        return grade_set(out, VERDICT_ERROR, "The reference answer is empty.");
    if (grade_section(out, r, &section))
        return 0;
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    struct box_list boxes;
    struct declared declared;
    const char *where = "The last box";
    extract_boxes(&boxes, section, a);
    int equal;
    if (boxes.n) {
        found = boxes.box[boxes.n - 1].content;
        equal = equals_exactly(gold, found, a);
    } else {
        enum declared_status status = extract_declared(&declared, section, r->finish, &w);
        if (status == DECLARED_FOUND) {
            where = "The last declared answer";
            found = declared.text;
            equal = equals_exactly(gold, found, a) || equals_exactly(gold, declared.line, a);
        } else if (status == DECLARED_CUT || r->finish == FINISH_LENGTH ||
                   !extract_last_line(&found, section)) {
            return grade_no_answer(out, r);
        } else {
            where = "The last line";
            equal = equals_exactly(gold, found, a);
        }
    }
    struct span pred = plain_text(a, found);
    if (!pred.n)
        return grade_no_answer(out, r);
    grade_set(out, equal ? VERDICT_CORRECT : VERDICT_WRONG,
              arena_printf(a, "%s %s the reference.", where, equal ? "equals" : "differs from"));
    out->gold_form = grade_form(a, gold.s, gold.n);
    out->pred_form = grade_form(a, pred.s, pred.n);
    return 0;
}
