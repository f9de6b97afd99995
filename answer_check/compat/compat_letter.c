/* The letters A to D standing alone, as the String target finds them. */
#include "answer_check/compat/compat.h"

static int letter_at(struct span t, size_t i, struct compat_match *out)
{
    if (i >= t.n || t.s[i] < 'A' || t.s[i] > 'D')
        return 0;
    out->letter = (struct span){t.s + i, 1};
    out->end = i + 1;
    return 1;
}

/* "**B**," with what must follow it: a mark, a blank or the end. */
static int closed_letter(struct span t, size_t i, struct compat_match *out)
{
    if (!letter_at(t, i, out))
        return 0;
    for (int bold = span_at(t, i + 1, "**"); bold >= 0; bold--) {
        size_t k = i + 1 + (bold ? 2 : 0), blank = compat_space(t, k);
        if (k == t.n || blank || t.s[k] == '.' || t.s[k] == ',' || t.s[k] == ':') {
            out->end = k == t.n ? k : blank ? k + blank : k + 1;
            return 1;
        }
    }
    return 0;
}

/* The text's start or a blank, perhaps "**", then a letter. */
static int standing_letter(struct span t, size_t i, struct compat_match *out)
{
    for (int k = i == 0 ? 0 : 1; k < 2; k++) {
        size_t p = k ? i + compat_space(t, i) : i;
        if (k && p == i)
            break;
        if ((span_at(t, p, "**") && closed_letter(t, p + 2, out)) || closed_letter(t, p, out))
            return 1;
    }
    return 0;
}

static int behind_blanks(struct compat_text *t, size_t i, struct compat_match *out)
{
    return letter_at(t->t, compat_skip_space(t->t, i), out);
}

static int hoped(struct compat_text *t, size_t i, struct compat_match *out)
{
    return behind_blanks(t, i, out) && compat_hope(t->t, &out->end);
}

/* The nearest letter that begins at most 50 characters behind i, on the same line. */
static int within_50(struct compat_text *t, size_t i, struct compat_match *out)
{
    for (int gap = 0; gap <= 50 && i < t->t.n; gap++, i = compat_next(t->t, i)) {
        if (standing_letter(t->t, i, out))
            return 1;
        if (t->t.s[i] == '\n')
            break;
    }
    return 0;
}

static int first_letter(struct compat_text *t, size_t i, struct compat_match *out)
{
    return i == 0 && ((span_at(t->t, 0, "**") && closed_letter(t->t, 2, out)) || closed_letter(t->t, 0, out));
}

static int any_letter(struct compat_text *t, size_t i, struct compat_match *out)
{
    return standing_letter(t->t, i, out);
}

int compat_string_patterns(struct compat_pattern *out)
{
    out[0] = (struct compat_pattern){hoped, 0, COMPAT_FINAL_HOPE, 0};
    out[1] = (struct compat_pattern){behind_blanks, 50, COMPAT_FINAL_IS_ON_LINE, 0};
    out[2] = (struct compat_pattern){within_50, 100, COMPAT_ANSWER_COLON, 0};
    out[3] = (struct compat_pattern){within_50, 200, COMPAT_ANSWER, 0};
    out[4] = (struct compat_pattern){first_letter, 250, COMPAT_BLANK, 0};
    out[5] = (struct compat_pattern){any_letter, 300, COMPAT_BLANK, 0};
    return 6;
}
