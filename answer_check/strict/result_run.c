/* Runs of plain mathematics in a sentence (contract: result_run.h). */
#include "answer_check/strict/result_run.h"

#include <string.h>

#include "answer_check/strict/sentence.h"

/* A character beyond ASCII that belongs to formulas: Greek letters, operators, superscripts. Its length, or
 * 0. */
static size_t math_sign(struct span s, size_t i)
{
    unsigned char c = (unsigned char)s.s[i], d = i + 1 < s.n ? (unsigned char)s.s[i + 1] : 0;
    if (i + (c < 0xe0 ? 2 : 3) > s.n) /* cut off */
        return 0;
    if (c == 0xce || c == 0xcf)
        return 2;
    if (c == 0xc3 && (d == 0x97 || d == 0xb7)) /* x, : */
        return 2;
    if (c == 0xc2 && (d == 0xb2 || d == 0xb3 || d == 0xb7 || d == 0xb9 || d == 0xb1 || d == 0xbd ||
                      d == 0xbc || d == 0xbe || d == 0xb0 || d == 0xa2 || d == 0xa3))
        return 2;
    if (c == 0xe2 && (d == 0x88 || d == 0x89 || d == 0x8a || d == 0x81 || d == 0x82 || d == 0x85 ||
                      d == 0x84 || d == 0x86))
        return 3;
    if (span_at(s, i, "\xe2\x80\xb0") || span_at(s, i, "\xe2\x82\xac") || span_at(s, i, "\xef\xbc\x88") ||
        span_at(s, i, "\xef\xbc\x89"))
        return 3;
    return 0;
}

enum word_kind { WORD_PROSE, WORD_JOINT, WORD_NUMBER, WORD_LETTER, WORD_OPERATOR };

/* What the word is to a formula. A single letter is a name, and "a" and "I" are words. */
static enum word_kind kind_of(struct span w)
{
    int digits = 0, letters = 0, signs = 0;
    size_t number = 0; /* "the 12-packs" */
    while (number < w.n && ascii_is_digit(w.s[number]))
        number++;
    if (number && number + 2 < w.n && w.s[number] == '-' && ascii_is_letter(w.s[number + 1]) &&
        ascii_is_letter(w.s[number + 2]))
        return WORD_PROSE;
    for (size_t i = 0; i < w.n;) {
        size_t sign = (unsigned char)w.s[i] >= 0x80 ? math_sign(w, i) : 0, from = i;
        unsigned char c = (unsigned char)w.s[i], d = sign > 1 ? (unsigned char)w.s[i + 1] : 0,
                      f = sign > 2 ? (unsigned char)w.s[i + 2] : 0;
        if (sign) {
            int is_fraction = (c == 0xe2 && d == 0x88 && f == 0x9e) ||
                              (c == 0xc2 && d >= 0xbc && d <= 0xbe) || (c == 0xe2 && d == 0x85 && f < 0x9f);
            digits += is_fraction;
            signs++;
            i += sign;
        } else if ((unsigned char)w.s[i] >= 0x80) {
            return WORD_PROSE;
        } else if (ascii_is_letter(w.s[i])) {
            int is_command = i && w.s[i - 1] == '\\';
            while (i < w.n && ascii_is_letter(w.s[i]))
                i++;
            struct span run = {w.s + from, i - from};
            if (run.n > 1 && !is_command && !sentence_is_math_word(run) && !digits)
                return WORD_PROSE;
            letters += run.n == 1;
            signs += run.n > 1;
        } else {
            digits += ascii_is_digit(w.s[i]);
            signs += !ascii_is_digit(w.s[i]) && !strchr(".,;'\"", w.s[i]);
            i++;
        }
    }
    if (digits)
        return WORD_NUMBER;
    if (letters == 1 && !signs)
        return w.s[0] == 'a' || w.s[0] == 'I' || w.s[0] == 'A' ? WORD_PROSE : WORD_LETTER;
    return letters + signs ? (letters || w.n > 3 ? WORD_LETTER : WORD_OPERATOR) : WORD_PROSE;
}

/* Does "choose" stand between two numbers or letters, in "5 choose 2"? */
static int is_binomial(struct span s, struct span word)
{
    size_t at = (size_t)(word.s - s.s), next = at + word.n + 1;
    return word.n == 6 && span_starts(word, "choose") && at > 1 && next < s.n &&
           (ascii_is_digit(s.s[at - 2]) || (ascii_is_letter(s.s[at - 2]) && at > 2 && s.s[at - 3] == ' ')) &&
           (ascii_is_digit(s.s[next]) ||
            (ascii_is_letter(s.s[next]) && (next + 1 == s.n || !ascii_is_letter(s.s[next + 1]))));
}

/* A function that stands before its letter, "sin x". */
static int is_function(struct span word)
{
    return word.n < 7 &&
           sentence_says(word, "sin|cos|tan|cot|sec|csc|ln|log|arcsin|arccos|arctan|sinh|cosh|tanh");
}

struct span run_next_word(struct span s, size_t *i)
{
    while (*i < s.n && (ascii_is_space(s.s[*i]) || span_at(s, *i, "\xe2\x80\x9c")))
        ++*i;
    size_t from = *i;
    while (*i < s.n && !ascii_is_space(s.s[*i])) {
        /* Chinese stands beside numbers without a blank */
        int is_wide = (unsigned char)s.s[*i] >= 0xe3 && !math_sign(s, *i);
        if (is_wide && *i > from && !((unsigned char)s.s[from] >= 0xe3 && !math_sign(s, from)))
            break;
        if (!is_wide && *i > from && (unsigned char)s.s[from] >= 0xe3 && !math_sign(s, from))
            break;
        *i += is_wide && *i + 2 < s.n ? 3 : 1;
    }
    return (struct span){s.s + from, *i - from};
}

size_t run_without_stops(struct span s, size_t from, size_t to)
{
    while (to > from && (strchr(".,;:?\"'_", s.s[to - 1]) || (s.s[to - 1] == '!' && to == s.n)))
        to--;
    return to;
}

static int is_joint(struct span word)
{
    return span_is(word, "and") || span_is(word, "or") || span_is(word, "&");
}

int run_last(struct plain_run *out, struct span s)
{
    struct plain_run run = {0}, joined = {0};
    int is_open = 0, found = 0, may_join = 0;
    for (size_t i = 0;;) {
        struct span word = run_next_word(s, &i);
        struct span core = word;
        core.n = run_without_stops(s, (size_t)(word.s - s.s), (size_t)(word.s - s.s) + word.n) -
                 (size_t)(word.s - s.s);
        enum word_kind kind = core.n ? kind_of(core) : word.n ? WORD_OPERATOR : WORD_PROSE;
        if (kind == WORD_PROSE && is_open && is_binomial(s, word))
            kind = WORD_OPERATOR;
        if (word.n && kind != WORD_PROSE) {
            size_t from = (size_t)(word.s - s.s);
            if (!is_open)
                run = (struct plain_run){from, 0, 0, 0, 0};
            is_open = 1;
            run.to = from + word.n;
            run.has_number |= kind == WORD_NUMBER;
            run.has_sign |= (kind == WORD_LETTER && core.n > 1) || is_function(core);
            if (core.n < word.n && strchr(";:", s.s[run.to - 1]) &&
                !(word.n == 1 && core.n == 0 && i + 1 < s.n && ascii_is_digit(s.s[i + 1]) && run.has_number &&
                  word.s[0] == ':')) /* another clause, not the ratio "1 : 2" */
                is_open = 0;
        }
        if ((!word.n || kind == WORD_PROSE || !is_open) && run.to) {
            if (run.has_number || run.has_sign) {
                if (may_join)
                    joined = (struct plain_run){joined.from, run.to, 1, 1, 1};
                else
                    joined = run;
                found = 1;
            } else if (may_join) {
                may_join = 0;
            }
            may_join = found && (run.has_number || run.has_sign) && is_joint(word);
            run = (struct plain_run){0};
            is_open = 0;
        } else if (word.n && kind == WORD_PROSE) {
            may_join = found && may_join && is_joint(word); /* ", and" */
        }
        if (!word.n)
            break;
    }
    *out = joined;
    return found;
}

struct span run_word_before(struct span s, size_t i)
{
    while (i && (ascii_is_space(s.s[i - 1]) || strchr("(.#*_$", s.s[i - 1])))
        i--;
    size_t end = i;
    while (i && ascii_is_letter(s.s[i - 1]))
        i--;
    return (struct span){s.s + i, end - i};
}

struct span run_word_behind(struct span s, size_t i)
{
    while (i < s.n && (ascii_is_space(s.s[i]) || strchr("*_$", s.s[i])))
        i++;
    size_t from = i;
    while (i < s.n && ascii_is_letter(s.s[i]))
        i++;
    return (struct span){s.s + from, i - from};
}

/* Letters of a name in capitals, "AIME", but no currency. */
static int is_acronym(struct span word)
{
    for (size_t i = 0; i < word.n; i++)
        if (word.s[i] < 'A' || word.s[i] > 'Z')
            return 0;
    return word.n > 2 && !sentence_says(word, "usd|eur|gbp|cny|inr|rmb|jpy|mph|kwh|mhz|ghz|rpm|db|not");
}

int run_is_named_place(struct span s, size_t from, size_t to)
{
    static const char names[] =
        "step|steps|theorem|chapter|question|problem|case|figure|fig|equation|eq|part|option|"
        "line|example|section|note|method|version|lemma|definition|table|exercise|page|"
        "grade|row|column|item|number of the|approach|way|proposition|corollary|reference|base|solution";
    static const char counted[] = "cases|equations|variables|unknowns|methods|approaches|steps|conditions|"
                                  "candidates";
    struct span before = run_word_before(s, from), behind = run_word_behind(s, to);
    if (memchr(s.s + from, '=', to - from)) /* "the line x = 2" */
        return 0;
    if (before.n == 2 && span_starts(before, "of")) { /* "the power of 5" */
        struct span noun = run_word_before(s, (size_t)(before.s - s.s));
        if (noun.n && sentence_says(noun, "power|base|multiple|digits|coefficient"))
            return 1;
    }
    return (before.n && (sentence_says(before, names) || is_acronym(before))) ||
           (behind.n && (sentence_says(behind, counted) || is_acronym(behind)));
}

int run_is_case(struct span s, size_t from)
{
    while (from && ascii_is_space(s.s[from - 1]))
        from--;
    size_t end = from;
    while (from && ascii_is_letter(s.s[from - 1]))
        from--;
    return end > from &&
           sentence_says((struct span){s.s + from, end - from}, "for|when|at|where|with|take|put|see");
}

enum role run_role(struct span s, struct plain_run run)
{
    static const char definite[] = "the|these|those|all|both|each|every|other|first|last|same|next|previous";
    struct span before = run_word_before(s, run.from),
                behind = run_word_behind(s, run_without_stops(s, run.from, run.to));
    int has_noun = behind.n > 1 && !sentence_says(behind, "is|are|was|were|and|or|to|as|in|of|on|by|for");
    if (run_is_named_place(s, run.from, run.to))
        return ROLE_GIVEN;
    if (before.n && has_noun && sentence_says(before, definite))
        return ROLE_GIVEN;
    size_t at = (size_t)(before.s - s.s);
    struct span earlier = at ? run_word_before(s, at) : (struct span){0};
    int is_of = before.n && sentence_says(before, "of");
    if (!is_of && before.n && sentence_says(before, "the|these|those|all|every"))
        is_of = earlier.n && sentence_says(earlier, "of");
    if (is_of) { /* "3 of 10", "3 out of the 10" */
        size_t i = (size_t)((sentence_says(before, "of") ? before.s : earlier.s) - s.s);
        struct span out = run_word_before(s, i);
        i = out.n == 3 && span_starts(out, "out") ? (size_t)(out.s - s.s) : i;
        while (i && ascii_is_space(s.s[i - 1]))
            i--;
        if (i && ascii_is_digit(s.s[i - 1]))
            return ROLE_GIVEN;
    }
    int is_phrasal = earlier.n && sentence_says(earlier, "bring|brings|result|results|resulting|takes");
    if (before.n && !is_phrasal && s.s[run.from] != '$' &&
        sentence_says(before, "in|for|after|within|during|among|his|her|their|its|our|my|your"))
        return ROLE_CIRCUM;
    for (size_t at_word = run.from, k = 0; k < 4; k++) { /* "after giving away 12" */
        struct span word = run_word_before(s, at_word);
        if (!word.n)
            break;
        if (sentence_says(word, "after|before|without|despite"))
            return ROLE_CIRCUM;
        at_word = (size_t)(word.s - s.s);
    }
    struct span noun = earlier.n == 2 && span_starts(earlier, "to")
                           ? run_word_before(s, (size_t)(earlier.s - s.s))
                           : (struct span){0};
    size_t i = noun.n ? (size_t)(noun.s - s.s) : 0;
    return i > 1 && ascii_is_digit(s.s[i - 2]) ? ROLE_CIRCUM : ROLE_RESULT;
}
