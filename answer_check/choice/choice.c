/* Multiple choice: the strongest class of declaration decides, and within it the last one. Two letters in
 * one declaration ("A or B") are ambiguous, and so are different mentions when there is nothing stronger. */
#include "answer_check/choice/choice_scan.h"
#include "answer_check/text/answer_object.h"

#include <string.h>

static const char *const rules[CHOICE_CLASSES] = {
    [CHOICE_DECLARED] = "declared: the last answer, box or correct option",
    [CHOICE_CHOSEN] = "chosen: the last \"I choose\" or \"it is\"",
    [CHOICE_ALONE] = "alone: the last line or sentence is a letter",
    [CHOICE_LABELLED] = "labelled: the only line that starts like an option",
    [CHOICE_MENTIONED] = "mentioned: the only option named",
};

const char *choice_status_name(enum choice_status s)
{
    static const char *const names[] = {"ok", "ambiguous", "unparsed", "unfinished"};
    return (unsigned)s < 4 ? names[s] : "unparsed";
}

enum { SECTION_MAX = 1 << 17 }; /* bytes; only the end of a longer section counts */

/* ---- every option judged: "(A) F (B) F (C) T (D) F" ---- */

/* The verdict at i: 1, 0, or -1 where there is none. *n: its length. */
static int verdict_at(struct span s, size_t i, size_t *n)
{
    static const struct {
        const char *word;
        int is_true;
    } words[] = {{"true", 1},
                 {"false", 0},
                 {"correct", 1},
                 {"incorrect", 0},
                 {"right", 1},
                 {"wrong", 0},
                 {"yes", 1},
                 {"no", 0},
                 {"\xe2\x9c\x93", 1},
                 {"\xe2\x9c\x94", 1},
                 {"\xe2\x9c\x85", 1},
                 {"\xe2\x9c\x97", 0},
                 {"\xe2\x9c\x98", 0},
                 {"\xe2\x9d\x8c", 0},
                 {"t", 1},
                 {"f", 0},
                 {"y", 1},
                 {"n", 0}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (words[k].word[0] != ascii_lower(s.s[i]))
            continue;
        *n = strlen(words[k].word);
        if (s.n - i >= *n && span_starts((struct span){s.s + i, s.n - i}, words[k].word) &&
            !(*n < 2 && s.s[i] > 'Z') && (words[k].word[0] > 'z' || !span_is_word(s, i + *n)))
            return words[k].is_true;
    }
    return -1;
}

/* Behind the marks at i that occur in `marks`, blanks and arrows. */
static size_t behind_marks(struct span s, size_t i, const char *marks)
{
    enum { MARKS_MAX = 16 };
    size_t from = i;
    while (i < s.n && i < from + MARKS_MAX)
        if (ascii_is_space(s.s[i]) || (s.s[i] && strchr(marks, s.s[i])))
            i++;
        else if (span_at(s, i, "\xe2\x86\x92") || span_at(s, i, "\xe2\x87\x92"))
            i += 3;
        else
            break;
    return i;
}

/* Finds the last run in which every option is judged, once and in any order, and nothing else is said.
 * Returns how many are true, or -1 for none. *letter: the last that is; *end: the byte behind the run. */
static int judged_options(char *letter, size_t *end, struct span s, int n_options)
{
    enum { RUN_MAX = 400 };
    for (size_t i = s.n; i-- > 0 && n_options > 1;) {
        int n_true = 0, n_judged = 0;
        uint32_t seen = 0;
        size_t at = i;
        if (s.s[i] < 'A' || s.s[i] >= 'A' + n_options || (i && span_is_word(s, i - 1)))
            continue;
        for (; n_judged < n_options; n_judged++) {
            size_t n, marks;
            at = behind_marks(s, at, "(*|,;.-_");
            char option = at < s.n ? s.s[at] : 0;
            if (option < 'A' || option >= 'A' + n_options || seen >> (option - 'A') & 1)
                break;
            marks = ++at;
            at = behind_marks(s, at, ").:*|-=_?");
            int verdict = at < s.n && at > marks ? verdict_at(s, at, &n) : -1;
            if (verdict < 0)
                break;
            seen |= 1U << (option - 'A');
            n_true += verdict;
            *letter = verdict ? option : *letter;
            at += n;
        }
        if (n_judged < n_options || at - i > RUN_MAX)
            continue;
        *end = at;
        return n_true;
    }
    return -1;
}

/* The section with what it says in JSON as a declaration, or the section itself. */
static struct span without_object(struct span section, int is_cut, struct arena *a)
{
    struct span value;
    size_t start, end;
    int found =
        memchr(section.s, '{', section.n) ? answer_object(&value, &start, &end, section, is_cut, a) : 0;
    if (!found)
        return section;
    if (found < 0)
        return (struct span){section.s + end, section.n - end};
    const char *text =
        arena_printf(a, "Answer: %.*s%.*s", (int)value.n, value.s, (int)(section.n - end), section.s + end);
    return (struct span){text, strlen(text)};
}

/* Extracts the letter and also says which class decided (CHOICE_CLASSES when none did). */
static int extract_class(struct choice *out, enum choice_class *by, const struct response *r, int n_options,
                         struct arena *a)
{
    struct choice_found found;
    struct span section;
    *by = CHOICE_CLASSES;
    *out = (struct choice){CHOICE_UNPARSED, 0, "no option letter was found"};
    if (n_options < 1 || n_options > 26) {
        out->rule = "the number of options is not between 1 and 26";
        return -1;
    }
    if (response_answer(r, &section.s, &section.n)) {
        *out = (struct choice){CHOICE_UNFINISHED, 0, "thinking was opened and never closed"};
        return 0;
    }
    section = without_object(span_end(section, SECTION_MAX), r->finish == FINISH_LENGTH, a);
    char judged = 0;
    size_t behind;
    int n_true = judged_options(&judged, &behind, section, n_options);
    if (n_true >= 0) {
        section = (struct span){section.s + behind, section.n - behind};
        *by = CHOICE_DECLARED;
        *out =
            n_true == 1
                ? (struct choice){CHOICE_OK, judged, "declared: every option is judged, and one is true"}
                : (struct choice){CHOICE_AMBIGUOUS, 0, "every option is judged, and not one alone is true"};
    }
    choice_scan(&found, section, n_options, r->finish, a);
    for (int k = 0; k < CHOICE_CLASSES; k++) {
        if (!found.letter[k] || found.conflicts[k] == CHOICE_UNSTATED || (n_true >= 0 && k > CHOICE_CHOSEN))
            continue;
        *by = (enum choice_class)k;
        *out = (struct choice){CHOICE_OK, found.letter[k], rules[k]};
        if (found.conflicts[k])
            *out = (struct choice){CHOICE_AMBIGUOUS, 0,
                                   found.conflicts[k] == CHOICE_TAKEN_BACK ? "the answer is taken back"
                                   : k == CHOICE_MENTIONED ? "options are mentioned and none is stated"
                                                           : "one declaration names several letters"};
        return 0;
    }
    return 0;
}

int choice_extract(struct choice *out, const struct response *r, int n_options, struct arena *a)
{
    enum choice_class by;
    return extract_class(out, &by, r, n_options, a);
}

int grade_choice(struct grade *out, char gold, const struct response *r, int n_options, struct arena *a)
{
    struct choice c;
    enum choice_class by;
    if (extract_class(&c, &by, r, n_options, a))
        return grade_set(out, VERDICT_ERROR, "The number of options is not between 1 and 26.");
    if (gold < 'A' || gold >= 'A' + n_options)
        return grade_set(out, VERDICT_ERROR, "The reference answer is not the letter of an option.");
    if (c.status == CHOICE_UNFINISHED)
        return grade_set(out, VERDICT_UNFINISHED, "Thinking was opened and never closed.");
    /* at the length limit only a statement counts, not a mention */
    if (c.status == CHOICE_UNPARSED || (r->finish == FINISH_LENGTH && by > CHOICE_CHOSEN))
        return grade_no_answer(out, r);
    if (c.status == CHOICE_AMBIGUOUS)
        grade_set(out, VERDICT_AMBIGUOUS, arena_printf(a, "Ambiguous: %s.", c.rule));
    else
        grade_set(out, c.letter == gold ? VERDICT_CORRECT : VERDICT_WRONG,
                  arena_printf(a, "Letter %c (%s).", c.letter, c.rule));
    out->gold_form = arena_printf(a, "%c", gold);
    if (c.letter)
        out->pred_form = arena_printf(a, "%c", c.letter);
    return 0;
}
