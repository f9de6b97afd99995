/* Is an answer taken back by what the model writes behind it (contract: sentence.h)? A sentence does it that
 * owns to a mistake ("I made an error", "scratch that"), that begins with "wait" or "actually" and judges or
 * answers anew, or that stands next to the answer and calls it wrong. A question does not, nor does what is
 * said of others' mistakes; and a sentence that finds the answer right after all restores it. */
#include "answer_check/strict/sentence.h"

#include <string.h>

static const char negative[] =
    "wrong|incorrect|not right|not correct|isn't right|isn't correct|wasn't right|can't be right|cannot be "
    "right|"
    "cannot be correct|can't be correct|mistake|mistaken|error|miscalculat*|misread|doesn't work|does not "
    "work|"
    "doesn't satisfy|does not satisfy|not valid|invalid|impossible|错|不对|有误";
static const char fixing[] =
    "wait|no wait|update|edit|actually|hmm|hm|oops|ops|sorry|apologies|my apologies|no,|no.|no:|no!|hold "
    "on|correction|corrected|on second thought|"
    "on second thoughts|on reflection|but wait|oh|ah|however wait|等等|不对|更正|修正";
static const char owning[] =
    "wait, no|no, wait|wait no|no wait|scratch that|strike that|take that back|my mistake|my bad|i was "
    "wrong|i made a mistake|i made an error|"
    "i made a calculation error|i made an arithmetic error|i made an arithmetic mistake|"
    "i made a small mistake|i made a sign error|i made a slip|i've made|i have made|i miscalculated|i "
    "miscounted|"
    "i misread|i misspoke|let me correct|i need to correct|i should correct|correction:|更正|我算错|我错了";
static const char subjects[] = "that|this|it|but that|but this|but it|however, this|however, that|however, "
                               "it|the above|my answer|my previous|my earlier|the answer above|the "
                               "previous|the boxed|that's|that is|"
                               "the answer i|这个|这";
static const char others[] =
    "let me know|if i|if you|if there|common|often|many students|tempting|would give|"
    "might think|one might|would be wrong to|please|whether|double-check|double check|recheck|in case|"
    "make sure|see if";
static const char anew[] = "should be|should have been|must be|answer is|answer:|it is|it's|correct "
                           "answer|so it is|is actually|value is";
static const char restoring[] =
    "is right|is correct|was right|was correct|it's correct|it's right|that's right|that's correct|is fine|"
    "checks out|still holds|stands|confirmed|consistent|holds|no error|no mistake|not wrong|not a "
    "mistake|没错";

static int is_question(struct span s)
{
    s = span_trim(s);
    return s.n && s.s[s.n - 1] == '?';
}

/* Behind marks of formulas, Markdown and blanks at i. */
static size_t behind_marks(struct span s, size_t i)
{
    while (i < s.n) {
        if (span_at(s, i, "</")) { /* a tag that closes */
            const char *end = memchr(s.s + i, '>', s.n - i < 24 ? s.n - i : 24);
            if (!end)
                break;
            i = (size_t)(end - s.s) + 1;
        } else if (span_at(s, i, "\\)") || span_at(s, i, "\\]")) {
            i += 2;
        } else if (ascii_is_space(s.s[i]) || strchr("$*_`}", s.s[i])) {
            i++;
        } else {
            break;
        }
    }
    return i;
}

/* Do the words in the statement's own sentence reject it: "not 8", "8 is wrong", "8?" */
static int is_rejected(struct span s, size_t start, size_t end)
{
    size_t i = behind_marks(s, end), from = start;
    while (from && (ascii_is_space(s.s[from - 1]) || strchr("$*_`([\\", s.s[from - 1])))
        from--;
    struct span before = {s.s + (from > 12 ? from - 12 : 0), from > 12 ? 12 : from};
    for (size_t k = 0; k < before.n; k++) {
        struct span word = {before.s + k, before.n - k};
        if ((!k || !ascii_is_letter(before.s[k - 1])) &&
            ((word.n == 3 && span_starts(word, "not")) || (word.n == 6 && span_starts(word, "cannot")) ||
             (word.n == 5 && span_starts(word, "never")) || (word.n == 5 && span_starts(word, "isn't")) ||
             (word.n == 9 && span_starts(word, "cannot be")) ||
             (word.n == 6 && span_starts(word, "not be")) || (word.n == 8 && span_starts(word, "can't be"))))
            return 1;
    }
    if (i >= s.n)
        return 0;
    if (s.s[i] == '?')
        return 1;
    struct span rest = {s.s + i, s.n - i};
    if (!sentence_begins(rest, "is|was|isn't|wasn't|would be|cannot|can't|seems|looks|must be"))
        return 0;
    rest.n = sentence_next(rest, 0);
    rest.n = rest.n < 40 ? rest.n : 40;
    return sentence_says(rest, negative) && !sentence_says(rest, "wrong to|not wrong|no error|no mistake");
}

size_t sentence_before_second_thought(struct span s)
{
    static const char *const words[] = {" Wait",    " Actually",     " Hmm",     " Oops",
                                        " Sorry",   " Scratch that", " No, ",    " wait, ",
                                        " Hold on", " Correction",   " But wait"};
    size_t n = s.n;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const char *found = memmem(s.s, n, words[k], strlen(words[k]));
        if (found && found > s.s)
            n = (size_t)(found - s.s);
    }
    return n;
}

int sentence_takes_back(struct span *rest, struct span *by, struct span section, size_t start, size_t end)
{
    enum { REACH = 8192 };
    struct span s = {section.s, section.n - end > REACH ? end + REACH : section.n};
    int is_next = 1, is_fixing = 0, is_back = 0;
    *rest = *by = (struct span){0};
    if (is_rejected(s, start, end)) {
        *rest = *by = (struct span){section.s + end, section.n - end};
        by->n = sentence_next(s, end) - end;
        return 1;
    }
    /* what is taken back in the statement's own sentence, "\boxed{8} Wait, that is wrong.", or behind it */
    size_t begin = behind_marks(s, end);
    while (begin < s.n && strchr(".,;", s.s[begin]))
        begin = behind_marks(s, begin + 1);
    struct span own = {s.s + begin, s.n - begin};
    if (!sentence_begins(own, fixing) && !sentence_begins(own, owning) && !sentence_begins(own, subjects))
        begin = sentence_next(s, end);
    for (size_t i = begin, next; i < s.n; i = next) {
        next = sentence_next(s, i);
        struct span one = span_trim((struct span){s.s + i, next - i});
        if (!one.n)
            continue;
        int fixes = sentence_begins(one, fixing), judges = sentence_says(one, negative);
        int is_void = is_question(one) || sentence_says(one, others);
        if (sentence_says(one, restoring) && !judges && !is_question(one)) {
            is_back = 0;
        } else if (!is_void &&
                   !(judges && sentence_says(one, "not wrong|no mistake|no error|nothing wrong")) &&
                   (sentence_says(one, owning) || ((fixes || is_fixing) && judges) ||
                    (fixes && sentence_says(one, anew)) ||
                    (is_fixing && sentence_says(one, "should be|should have been|correct answer")) ||
                    (is_next && judges && sentence_begins(one, subjects)) ||
                    (is_next && sentence_begins(one, "on second thought|correction|更正")))) {
            if (!is_back) {
                *by = one;
                *rest = (struct span){section.s + i, section.n - i};
            }
            is_back = 1;
        }
        is_next &= fixes && one.n < 40;
        is_fixing = fixes;
    }
    return is_back;
}
