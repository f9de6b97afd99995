/* Exact text, for look-up tasks: the answer must be the reference, white space and case folded, one final
 * full stop removed. The last line counts as an answer only where the response ended by itself. */
#include "answer_check/extract.h"
#include "evalcore/base/str.h"

#include <string.h>
#include <utf8proc.h>

/* Folds case by Unicode's simple mapping and white space to single blanks. */
static struct span fold(struct arena *a, struct span s)
{
    struct str valid = {0};
    str_add_utf8(&valid, s.s, s.n);
    char *out = arena_alloc(a, 2 * valid.len + 4); /* the longest growth is 2 bytes to 3 */
    size_t n = 0;
    for (size_t i = 0; i < valid.len;) {
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

/* The last "answer:" whose rest of the line, or else the next line, is not blank. A line that is only markup
 * around the answer ("**Answer:** red door") loses its stars. */
static int answer_line(struct span *out, struct span s)
{
    for (size_t i = s.n; i-- > 0;) {
        if (!span_starts((struct span){s.s + i, s.n - i}, "answer") || (i && ascii_is_letter(s.s[i - 1])))
            continue;
        size_t j = i + 6;
        while (j < s.n && (s.s[j] == ' ' || s.s[j] == '*'))
            j++;
        if (j == s.n || s.s[j] != ':')
            continue;
        j++;
        while (j < s.n && (ascii_is_space(s.s[j]) || s.s[j] == '*'))
            j++;
        size_t end = j;
        while (end < s.n && s.s[end] != '\n')
            end++;
        while (end > j && (ascii_is_space(s.s[end - 1]) || s.s[end - 1] == '*'))
            end--;
        if (end == j)
            continue;
        *out = (struct span){s.s + j, end - j};
        return 1;
    }
    return 0;
}

int grade_exact(struct grade *out, const char *gold_text, size_t gold_len, const struct response *r,
                struct arena *a)
{
    struct span section, found, gold = fold(a, (struct span){gold_text, gold_len});
    if (!gold.n)
        return grade_set(out, VERDICT_ERROR, "The reference answer is empty.");
    if (grade_section(out, r, &section))
        return 0;
    struct box_list boxes;
    const char *where = "The last \"Answer:\" line";
    if (!answer_line(&found, section)) {
        extract_boxes(&boxes, section, a);
        where = "The last box";
        if (boxes.n)
            found = boxes.box[boxes.n - 1].content;
        else if (r->finish == FINISH_LENGTH || !extract_last_line(&found, section))
            return grade_no_answer(out, r);
        else
            where = "The last line";
    }
    struct span pred = fold(a, found);
    if (!pred.n)
        return grade_no_answer(out, r);
    int equal = pred.n == gold.n && !memcmp(pred.s, gold.s, gold.n);
    grade_set(out, equal ? VERDICT_CORRECT : VERDICT_WRONG,
              arena_printf(a, "%s %s the reference.", where, equal ? "equals" : "differs from"));
    out->gold_form = grade_form(a, gold);
    out->pred_form = grade_form(a, pred);
    return 0;
}
