/* Multiple choice: the strongest class of declaration decides, and within it the last one. Two letters in
 * one declaration ("A or B") are ambiguous, and so are different mentions when there is nothing stronger. */
#include "answer_check/choice/choice_scan.h"

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
    choice_scan(&found, span_end(section, SECTION_MAX), n_options, r->finish, a);
    for (int k = 0; k < CHOICE_CLASSES; k++) {
        if (!found.letter[k])
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
