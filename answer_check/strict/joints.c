/* Words of other languages that join values as "and" and "or" do (contracts: extract.h, sentence.h). */
#include "answer_check/strict/sentence.h"

#include <string.h>

static const struct {
    const char *word, *english;
} joints[] = {
    {"and", "and"}, {"or", "or"},      {"oder", "or"},   {"ou", "or"},     {"o", "or"},
    {"u", "or"},    {"ou bien", "or"}, {"und", "and"},   {"sowie", "and"}, {"et", "and"},
    {"y", "and"},   {"e", "and"},      {"ed", "and"},    {"или", "or"},    {"и", "and"},
    {"或", "or"},   {"或者", "or"},    {"或是", "or"},   {"和", "and"},    {"与", "and"},
    {"及", "and"},  {"以及", "and"},   {"または", "or"}, {"と", "and"},    {"또는", "or"},
};
enum { JOINTS = sizeof joints / sizeof *joints, JOINT_MAX = 9 };

/* Which joint the text is, or JOINTS. */
static int joint_of(struct span s)
{
    int k = 0;
    while (k < JOINTS && !(s.n == strlen(joints[k].word) && span_starts(s, joints[k].word)))
        k++;
    return k;
}

int extract_is_joint(struct span s)
{
    return s.n && s.n <= JOINT_MAX && joint_of(s) < JOINTS;
}

/* May a value end before byte i: the mark of a formula, a digit, a letter of its own? *is_marked: such a
 * mark. */
static int value_ends(struct span s, size_t i, int *is_marked)
{
    while (i && s.s[i - 1] == ' ')
        i--;
    *is_marked = i && (s.s[i - 1] == '$' || span_at(s, i - 1, ")"));
    return *is_marked || (i && (ascii_is_digit(s.s[i - 1]) || strchr("}]", s.s[i - 1]) ||
                                (ascii_is_letter(s.s[i - 1]) && (i < 2 || !ascii_is_letter(s.s[i - 2])))));
}

/* May one begin at byte i? */
static int value_begins(struct span s, size_t i, int *is_marked)
{
    while (i < s.n && s.s[i] == ' ')
        i++;
    *is_marked = i < s.n && (s.s[i] == '$' || s.s[i] == '\\');
    return *is_marked ||
           (i < s.n && (ascii_is_digit(s.s[i]) || strchr("-({", s.s[i]) ||
                        (ascii_is_letter(s.s[i]) && i + 1 < s.n && strchr(" =_<>", s.s[i + 1]))));
}

/* The joint of another language that stands between two values at byte i, or JOINTS; *n is its length. */
static int joint_at(struct span s, size_t i, size_t *n)
{
    unsigned char c = (unsigned char)ascii_lower(s.s[i]);
    int is_wide = c >= 0xe3, before, behind, found = JOINTS;
    if (!is_wide && !(i && s.s[i - 1] == ' ' && (strchr("ouyes", c) || c == 0xd0)))
        return JOINTS;
    *n = 0;
    for (int k = 0; k < JOINTS; k++) {
        size_t length = strlen(joints[k].word);
        if (length > *n && (unsigned char)joints[k].word[0] == c && span_at(s, i, joints[k].word) &&
            (is_wide || (i + length < s.n && s.s[i + length] == ' '))) {
            found = k;
            *n = length;
        }
    }
    if (found == JOINTS || !strcmp(joints[found].word, joints[found].english) || !value_ends(s, i, &before) ||
        !value_begins(s, i + *n, &behind))
        return JOINTS;
    return *n > 1 || (before && behind) ? found : JOINTS; /* "y" and "o" may be letters */
}

struct span sentence_with_joints(struct span s, struct math_work *w)
{
    size_t first = 0, n = 0, length;
    while (first < s.n && joint_at(s, first, &length) == JOINTS)
        first++;
    if (first == s.n)
        return s;
    char *out = arena_alloc(w->arena, 6 * s.n + 8);
    for (size_t i = 0; i < s.n;) {
        int k = joint_at(s, i, &length);
        if (k == JOINTS) {
            out[n++] = s.s[i++];
            continue;
        }
        size_t english = strlen(joints[k].english);
        out[n++] = ' ';
        memcpy(out + n, joints[k].english, english);
        n += english;
        out[n++] = ' ';
        i += length;
    }
    return (struct span){out, n};
}
