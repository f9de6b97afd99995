/* What a sentence presents as its result, where nothing states the answer more plainly (contract:
 * sentence.h). Only a whole expression counts: where it cannot be read, a part of it must not stand for it.
 */
#include "answer_check/strict/sentence.h"

#include <string.h>

#include "answer_check/strict/extract.h"
#include "answer_check/text/value_words.h"

/* ---- plain mathematics ---- */

/* A character beyond ASCII that belongs to formulas: Greek letters, operators, superscripts. Its length, or
 * 0. */
static size_t math_sign(struct span s, size_t i)
{
    unsigned char c = (unsigned char)s.s[i], d = i + 1 < s.n ? (unsigned char)s.s[i + 1] : 0;
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

/* The next word from *i on; empty at the end. */
static struct span next_word(struct span s, size_t *i)
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

/* A run of words that are mathematics, and whether it may be an answer. */
struct run {
    size_t from, to;
    int has_number, has_sign, is_list;
};

/* The signs of prose at the end of a word are no part of a formula. */
static size_t without_stops(struct span s, size_t from, size_t to)
{
    while (to > from && (strchr(".,;:?\"'_", s.s[to - 1]) || (s.s[to - 1] == '!' && to == s.n)))
        to--;
    return to;
}

static int is_joint(struct span word)
{
    return span_is(word, "and") || span_is(word, "or") || span_is(word, "&");
}

/* The last run with a number or a sign in it: 1, or 0. *several: there is another one with a number. */
static int last_run(struct run *out, struct span s)
{
    struct run run = {0}, joined = {0};
    int is_open = 0, found = 0, may_join = 0;
    for (size_t i = 0;;) {
        struct span word = next_word(s, &i);
        struct span core = word;
        core.n = without_stops(s, (size_t)(word.s - s.s), (size_t)(word.s - s.s) + word.n) -
                 (size_t)(word.s - s.s);
        enum word_kind kind = core.n ? kind_of(core) : word.n ? WORD_OPERATOR : WORD_PROSE;
        if (kind == WORD_PROSE && is_open && is_binomial(s, word))
            kind = WORD_OPERATOR;
        if (word.n && kind != WORD_PROSE) {
            size_t from = (size_t)(word.s - s.s);
            if (!is_open)
                run = (struct run){from, 0, 0, 0, 0};
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
                    joined = (struct run){joined.from, run.to, 1, 1, 1};
                else
                    joined = run;
                found = 1;
            } else if (may_join) {
                may_join = 0;
            }
            may_join = found && (run.has_number || run.has_sign) && is_joint(word);
            run = (struct run){0};
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

/* The word that ends before byte i, without blanks and marks; empty where there is none. */
static struct span word_before(struct span s, size_t i)
{
    while (i && (ascii_is_space(s.s[i - 1]) || strchr("(.#*_$", s.s[i - 1])))
        i--;
    size_t end = i;
    while (i && ascii_is_letter(s.s[i - 1]))
        i--;
    return (struct span){s.s + i, end - i};
}

static struct span word_behind(struct span s, size_t i)
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

/* Does the number from `from` to `to` only name a place, "step 3", "AIME 2024", or count what is no result,
 * "12 cases to consider"? */
static int is_named_place(struct span s, size_t from, size_t to)
{
    static const char names[] =
        "step|steps|theorem|chapter|question|problem|case|figure|fig|equation|eq|part|option|"
        "line|example|section|note|method|version|lemma|definition|table|exercise|page|"
        "grade|row|column|item|number of the|approach|way|proposition|corollary|reference|base|solution";
    static const char counted[] = "cases|equations|variables|unknowns|methods|approaches|steps|conditions|"
                                  "candidates";
    struct span before = word_before(s, from), behind = word_behind(s, to);
    if (memchr(s.s + from, '=', to - from)) /* "the line x = 2" */
        return 0;
    if (before.n == 2 && span_starts(before, "of")) { /* "the power of 5" */
        struct span noun = word_before(s, (size_t)(before.s - s.s));
        if (noun.n && sentence_says(noun, "power|base|multiple|digits|coefficient"))
            return 1;
    }
    return (before.n && (sentence_says(before, names) || is_acronym(before))) ||
           (behind.n && (sentence_says(behind, counted) || is_acronym(behind)));
}

/* Is "n = 4" behind "for" or "when" a case rather than a result? */
static int is_case(struct span s, size_t from)
{
    while (from && ascii_is_space(s.s[from - 1]))
        from--;
    size_t end = from;
    while (from && ascii_is_letter(s.s[from - 1]))
        from--;
    return end > from &&
           sentence_says((struct span){s.s + from, end - from}, "for|when|at|where|with|take|put|see");
}

/* What a number is to the sentence. */
enum role {
    ROLE_RESULT,
    ROLE_GIVEN,  /* what the sentence takes as known: "the 16 glasses", the 10 of "3 of 10" */
    ROLE_CIRCUM, /* a circumstance of another number, if there is one: "12 km in 3 hours", "12 ways to choose
                    3" */
};

static enum role role_of(struct span s, struct run run)
{
    static const char definite[] = "the|these|those|all|both|each|every|other|first|last|same|next|previous";
    struct span before = word_before(s, run.from),
                behind = word_behind(s, without_stops(s, run.from, run.to));
    int has_noun = behind.n > 1 && !sentence_says(behind, "is|are|was|were|and|or|to|as|in|of|on|by|for");
    if (is_named_place(s, run.from, run.to))
        return ROLE_GIVEN;
    if (before.n && has_noun && sentence_says(before, definite))
        return ROLE_GIVEN;
    size_t at = (size_t)(before.s - s.s);
    struct span earlier = at ? word_before(s, at) : (struct span){0};
    int is_of = before.n && sentence_says(before, "of");
    if (!is_of && before.n && sentence_says(before, "the|these|those|all|every"))
        is_of = earlier.n && sentence_says(earlier, "of");
    if (is_of) { /* "3 of 10", "3 out of the 10" */
        size_t i = (size_t)((sentence_says(before, "of") ? before.s : earlier.s) - s.s);
        struct span out = word_before(s, i);
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
        struct span word = word_before(s, at_word);
        if (!word.n)
            break;
        if (sentence_says(word, "after|before|without|despite"))
            return ROLE_CIRCUM;
        at_word = (size_t)(word.s - s.s);
    }
    struct span noun = earlier.n == 2 && span_starts(earlier, "to")
                           ? word_before(s, (size_t)(earlier.s - s.s))
                           : (struct span){0};
    size_t i = noun.n ? (size_t)(noun.s - s.s) : 0;
    return i > 1 && ascii_is_digit(s.s[i - 2]) ? ROLE_CIRCUM : ROLE_RESULT;
}

/* The fraction or the ratio that two numbers at the end of the sentence make: "the probability is 3 out of
 * 5", "the odds are 3 to 2". */
static int two_numbers(struct span *out, struct span s, struct math_work *w)
{
    struct run two, one;
    int is_chance = sentence_says(s, "probability|chance|fraction|proportion|likelihood");
    int is_ratio = sentence_says(s, "odds|ratio");
    if ((!is_chance && !is_ratio) || !last_run(&two, s) || !last_run(&one, (struct span){s.s, two.from}))
        return 0;
    struct span a = {s.s + one.from, without_stops(s, one.from, one.to) - one.from};
    struct span b = {s.s + two.from, without_stops(s, two.from, two.to) - two.from};
    struct span between = span_trim((struct span){a.s + a.n, (size_t)(b.s - a.s) - a.n});
    int is_out_of = span_is(between, "out of") || span_is(between, "in") || span_is(between, "in every");
    if (!(is_chance && is_out_of) && !(is_ratio && span_is(between, "to")))
        return 0;
    const char *text =
        arena_printf(w->arena, "%.*s%c%.*s", (int)a.n, a.s, is_out_of ? '/' : ':', (int)b.n, b.s);
    *out = (struct span){text, strlen(text)};
    return math_is_value(w, *out);
}

/* The run with the unit behind it, as far as both are one value. */
static struct span with_unit(struct span s, struct run run, struct math_work *w)
{
    struct span value = {s.s + run.from, without_stops(s, run.from, run.to) - run.from};
    if (value.n < run.to - run.from || run.is_list)
        return value;
    size_t i = run.to;
    struct span word = next_word(s, &i);
    size_t end = without_stops(s, (size_t)(word.s - s.s), (size_t)(word.s - s.s) + word.n);
    struct span both = {value.s, end - run.from};
    int is_short = end - (size_t)(word.s - s.s) < 3 && memchr(value.s, '$', value.n); /* "$31 on both" */
    if (span_is(word, "only") || span_is(word, "works"))
        return value;
    if (memmem(value.s, value.n < 5 ? value.n : 5, "€", 3) ||
        memmem(value.s, value.n < 4 ? value.n : 4, "£", 2)) {
        struct span plain = {word.s, end - (size_t)(word.s - s.s)}; /* "€7.20 left" */
        if (!sentence_says(plain, "million|billion|trillion|thousand|hundred|k|m|bn|per|cents|pence"))
            return value;
    }
    return word.n && ascii_is_letter(word.s[0]) && !is_short && both.n > value.n && math_is_value(w, both)
               ? both
               : value;
}

/* The quantity in two units that ends in `last`: "1 hour and 20 minutes", "6 feet 3 inches". */
static int two_units(struct span *out, struct span s, struct span last, struct math_work *w)
{
    static const char larger[] =
        "hour|hours|hr|hrs|minute|minutes|min|day|days|week|weeks|year|years|month|months|"
        "foot|feet|ft|yard|yards|pound|pounds|dollar|dollars|meter|meters|metre|metres|"
        "kilometer|kilometers|km|kg|kilograms";
    size_t i = (size_t)(last.s - s.s);
    if (!memchr(last.s, ' ', last.n))
        return 0;
    while (i && (s.s[i - 1] == ' ' || s.s[i - 1] == ','))
        i--;
    if (i > 4 && span_at(s, i - 4, " and"))
        i -= 4;
    size_t end = i;
    while (i && ascii_is_letter(s.s[i - 1]))
        i--;
    if (end == i || !sentence_says((struct span){s.s + i, end - i}, larger))
        return 0;
    while (i && s.s[i - 1] == ' ')
        i--;
    end = i;
    while (i && ascii_is_digit(s.s[i - 1]))
        i--;
    *out = (struct span){s.s + i, (size_t)(last.s + last.n - s.s) - i};
    return i < end && !value_is_qualified(s, *out) && math_is_value(w, *out);
}

/* Words with which a sentence draws its conclusion. */
static const char strong[] =
    "so|thus|hence|therefore|total|altogether|in all|consequently|finally|in conclusion|"
    "we conclude|result|overall|then|answer|we get|we find|we obtain|which gives|this gives|"
    "所以|因此|故|综上|答案|结果|总共|一共";

int sentence_concludes(struct span s)
{
    return sentence_says(s, strong);
}

/* The number that a conclusion states in words. */
static int words_result(struct span *out, struct span s, struct math_work *w)
{
    size_t from, n = sentence_number_word(s, 0, &from), next, last = 0;
    if (!n ||
        !(sentence_concludes(s) ||
          sentence_says(
              s, "there are|there is|needs|remain|remains|left|takes|took|costs|weighs|measures|lasts|length "
                 "is|height is|width is|age is|distance is|speed is|time is")))
        return 0;
    while ((last = sentence_number_word(s, from + n, &next))) { /* the last one */
        from = next;
        n = last;
    }
    struct run run = {from, from + n, 1, 0, 0};
    struct span said = {s.s + from, n};
    const char *text = arena_printf(w->arena, "\\text{%.*s}", (int)n, said.s);
    *out = (struct span){text, strlen(text)};
    return role_of(s, run) == ROLE_RESULT && !value_is_qualified(s, said);
}

/* The time in words that the sentence ends with, "at half past seven". */
static int clock_result(struct span *out, struct span s, struct math_work *w)
{
    enum { WORDS = 6 };
    if (!sentence_says(s, "past|o'clock|quarter to"))
        return 0;
    s.n = without_stops(s, 0, s.n);
    size_t i = s.n;
    for (int k = 0; k < WORDS && i; k++) {
        while (i && ascii_is_space(s.s[i - 1]))
            i--;
        while (i && !ascii_is_space(s.s[i - 1]))
            i--;
        struct span tail = {s.s + i, s.n - i};
        if (k && math_is_value(w, tail) && sentence_says(tail, "past|o'clock|quarter to")) {
            *out = tail;
            return 1;
        }
    }
    return 0;
}

static const char months[] =
    "january|february|march|april|may|june|july|august|september|october|november|december";

static int plain_result(struct span *out, struct span s, struct math_work *w)
{
    enum { RUNS = 8 };
    struct run run, earlier;
    if (clock_result(out, s, w))
        return 1;
    if (two_numbers(out, s, w))
        return 1;
    if (!last_run(&run, s))
        return words_result(out, s, w);
    for (int k = 0;; k++) {
        enum role role = role_of(s, run);
        int has_earlier = last_run(&earlier, (struct span){s.s, run.from});
        if (k == RUNS || (role == ROLE_GIVEN && !has_earlier))
            return words_result(out, s, w);
        int is_at =
            role == ROLE_RESULT && memchr(s.s + run.from, '=', run.to - run.from) && is_case(s, run.from);
        if ((role == ROLE_RESULT && !is_at) || !has_earlier)
            break;
        run = earlier;
    }
    struct span before = word_before(s, run.from);
    int is_bare = before.n &&
                  (before.s == s.s || ascii_is_space(before.s[-1]) || strchr("*_(", before.s[-1])) &&
                  !memchr(s.s + run.from, '}', run.to - run.from);
    if (is_bare && ascii_is_digit(s.s[run.from]) && !word_behind(s, run.to).n &&
        sentence_says(before, months)) {
        *out = (struct span){before.s, without_stops(s, run.from, run.to) - (size_t)(before.s - s.s)};
        return 1; /* "March 15th" */
    }
    if (sentence_says((struct span){s.s, run.from}, "from") && before.n == 2 && span_starts(before, "to"))
        return 0; /* "from 10 to 12" */
    struct span value = with_unit(s, run, w);
    if (two_units(out, s, value, w))
        return 1;
    struct span bare = {s.s + run.from, without_stops(s, run.from, run.to) - run.from};
    if (!run.is_list && memchr(value.s, '$', value.n) && memrchr(value.s, '=', value.n)) {
        /* sums of money, "$14 + $17 = $31" */
        const char *last = memrchr(value.s, '=', value.n);
        value = span_trim((struct span){last + 1, value.n - (size_t)(last + 1 - value.s)});
    }
    if (!value.n)
        return 0;
    if (memchr(value.s, '=', value.n) || value.s[0] == '[') {
        if ((ascii_is_letter(value.s[0]) && is_case(s, run.from)) ||
            (value.s[0] == '[' && !memchr(value.s, ',', value.n)))
            return 0;
    }
    if (value_is_qualified(s, value) || value_is_qualified(s, bare) || !math_is_value(w, value))
        return 0;
    *out = value;
    return 1;
}

/* ---- sentences ---- */

/* Does a piece of a formula stand beside the one from `from` to `to`, marks included: "$\pi$/6", "-$5$", "$1$
 * or 2"? */
static int has_neighbour(struct span s, size_t from, size_t to)
{
    size_t before = from, behind = to;
    while (before && s.s[before - 1] == ' ')
        before--;
    while (behind < s.n && s.s[behind] == ' ')
        behind++;
    if (before && (strchr("/^+<>*(", s.s[before - 1]) || (s.s[before - 1] == '-' && before == from)) &&
        !(before > 1 && s.s[before - 1] == '*' && s.s[before - 2] == '*') &&
        !(s.s[before - 1] == '(' && behind < s.n && s.s[behind] == ')'))
        return 1;
    if (from && from == before && ascii_is_digit(s.s[from - 1]))
        return 1;
    if (behind >= s.n || span_at(s, behind, "</")) /* a tag that closes */
        return 0;
    if (strchr("/^+<>=", s.s[behind]) || (behind == to && ascii_is_digit(s.s[to])))
        return 1;
    for (size_t i = behind, k = 0; k < 2; k++) {
        struct span word = next_word(s, &i);
        if (k == 0 && !span_is(word, "or"))
            return 0;
        if (k && word.n)
            return ascii_is_digit(word.s[0]) || word.s[0] == '$' || word.s[0] == '\\' || word.s[0] == '-';
    }
    return 0;
}

/* What stands behind a value that is denied, "not 10 but 12", "not 10 which is 12"; else the sentence. */
static struct span behind_denial(struct span s)
{
    static const char *const words[] = {" but ",     " which is ", ", it's ", ", it is ", "; it is ",
                                        " sondern ", " sino ",     " mais ",  " ma "};
    static const char *const denials[] = {"not ", "nicht ", "no es ", "n'est pas ", "non "};
    const char *denial = NULL, *last = NULL;
    for (size_t k = 0; k < sizeof denials / sizeof *denials && !denial; k++)
        denial = memmem(s.s, s.n, denials[k], strlen(denials[k]));
    if (!denial || (denial > s.s && denial[-1] != ' '))
        return s;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const char *from = denial;
        while ((from = memmem(from, s.n - (size_t)(from - s.s), words[k], strlen(words[k]))))
            last = from += strlen(words[k]);
    }
    struct span rest = last ? (struct span){last, s.n - (size_t)(last - s.s)} : s;
    return last && !sentence_is_doubtful(rest) ? rest : s;
}

/* Is the formula from `from` to `to` a case or known, "for all $n$", "the $16$ glasses", with another one
 * before? */
static int is_beside(struct span s, size_t from, size_t to)
{
    struct span earlier, whole;
    struct run run = {from, to, 1, 0, 0};
    int is_quantified = sentence_says(word_before(s, from), "all|every|any|each");
    return (is_case(s, from) || is_quantified || role_of(s, run) != ROLE_RESULT) &&
           extract_formula_in(&earlier, &whole, (struct span){s.s, from});
}

struct span sentence_without_arrow(struct span s)
{
    static const char *const arrows[] = {"\\Rightarrow", "\\implies",    "\\therefore",  "\\Longrightarrow",
                                         "\\rightarrow", "\\to",         "=>",           "->",
                                         "\xe2\x87\x92", "\xe2\x88\xb4", "\xe2\x86\x92", "\xe2\x9f\xb9"};
    s = span_trim(s);
    for (size_t k = 0; k < sizeof arrows / sizeof *arrows; k++) {
        size_t n = strlen(arrows[k]);
        if (span_at(s, 0, arrows[k]) && s.n > n && !(arrows[k][0] == '\\' && ascii_is_letter(s.s[n])))
            return span_trim((struct span){s.s + n, s.n - n});
    }
    return s;
}

/* The sentence without the marks of formulas where all of them are mere numbers, "$12$ of the $30$". */
static struct span without_number_marks(struct span s, struct math_work *w)
{
    struct formula f;
    int exhausted[4] = {0}, found = 0;
    for (size_t i = 0; extract_next_formula(&f, s, i, exhausted); i = f.to, found++)
        for (size_t k = f.start; k < f.end; k++)
            if (!ascii_is_digit(s.s[k]) && !strchr("-., ", s.s[k]))
                return s;
    if (!found)
        return s;
    char *out = arena_alloc(w->arena, s.n + 1);
    size_t n = 0, from = 0;
    memset(exhausted, 0, sizeof exhausted);
    for (size_t i = 0; extract_next_formula(&f, s, i, exhausted); i = from = f.to) {
        memcpy(out + n, s.s + from, f.from - from);
        n += f.from - from;
        memcpy(out + n, s.s + f.start, f.end - f.start);
        n += f.end - f.start;
    }
    memcpy(out + n, s.s + from, s.n - from);
    return (struct span){out, n + s.n - from};
}

/* A sentence that stands in parentheses as a whole, without them. */
static struct span without_brackets(struct span s)
{
    s = span_trim(s);
    size_t end = s.n && s.s[s.n - 1] == '.' ? s.n - 1 : s.n;
    if (end < 8 || s.s[0] != '(' || s.s[end - 1] != ')' || memchr(s.s + 1, '(', end - 1) ||
        !ascii_is_letter(s.s[1]) || !ascii_is_letter(s.s[2]))
        return s;
    return (struct span){s.s + 1, end - 2};
}

/* Without remarks in brackets in the middle, "15 (half of 30) in total"; a copy where there is one. */
static struct span without_inner_asides(struct span s, struct math_work *w)
{
    const char *open = memmem(s.s, s.n, " (", 2);
    if (!open)
        return s;
    char *out = arena_alloc(w->arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        const char *close = span_at(s, i, " (") ? memchr(s.s + i, ')', s.n - i) : NULL;
        struct span inner = {s.s + i + 2, close ? (size_t)(close - s.s) - i - 2 : 0};
        int run = 0, longest = 0;
        for (size_t k = 0; k < inner.n; k++) {
            run = ascii_is_letter(inner.s[k]) ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        size_t end = close ? (size_t)(close - s.s) + 1 : 0;
        if (longest > 2 && end + 1 < s.n && s.s[end] == ' ' && ascii_is_letter(s.s[end + 1]) && i &&
            (ascii_is_digit(s.s[i - 1]) || s.s[i - 1] == '$') && !span_starts(inner, "mod") &&
            !memchr(inner.s, '(', inner.n) && !memchr(inner.s, '\\', inner.n) &&
            (!sentence_is_doubtful(inner) || span_starts(inner, "not "))) {
            i = end - 1;
            continue;
        }
        out[n++] = s.s[i];
    }
    return (struct span){out, n};
}

/* The value of "Only x = 4 satisfies ..". */
static int only_value(struct span *out, struct span s, struct math_work *w)
{
    static const char *const verbs[] = {" satisfies ", " works", " is valid", " remains",
                                        " fits",       " holds", " survives"};
    if (!span_starts(s, "only "))
        return 0;
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
        const char *verb = memmem(s.s, s.n, verbs[k], strlen(verbs[k]));
        *out = span_trim((struct span){s.s + 5, verb ? (size_t)(verb - s.s) - 5 : 0});
        if (verb && out->n > 2 && out->s[0] == '$' && out->s[out->n - 1] == '$')
            *out = (struct span){out->s + 1, out->n - 2};
        if (verb && math_is_value(w, *out))
            return 1;
    }
    return 0;
}

/* The value behind the colon of "only one works: 15". */
static int behind_colon(struct span *out, struct span s, struct math_work *w)
{
    const char *colon = memrchr(s.s, ':', s.n);
    if (!colon || colon + 2 >= s.s + s.n || colon[1] != ' ')
        return 0;
    struct span head = {s.s, (size_t)(colon - s.s)};
    *out = span_trim((struct span){colon + 2, s.n - head.n - 2});
    out->n = without_stops(*out, 0, out->n);
    return sentence_says(head, "only one|exactly one|leaves|remaining|remains|just one") &&
           !sentence_says(head, "if|suppose|assume|try|not|check|fails") && math_is_value(w, *out);
}

int sentence_result(struct span *out, struct span sentence, struct math_work *w)
{
    enum { FORMULAS = 6 };
    struct span all = behind_denial(without_brackets(sentence_plain(sentence, w))), s, whole;
    if (all.n > UNDECLARED_BYTES || extract_is_program(all) || sentence_gives_cases(all))
        return 0;
    all = without_inner_asides(all, w);
    if (behind_colon(out, all, w) || only_value(out, all, w))
        return 1;
    if (!sentence_clause(&s, without_number_marks(all, w)) ||
        sentence_begins(s, "let|take|consider|assume|suppose|put|try"))
        return 0;
    if (!extract_formula_in(out, &whole, s))
        return plain_result(out, s, w);
    size_t from = (size_t)(whole.s - s.s), to = from + whole.n;
    for (int k = 0; k < FORMULAS && is_beside(s, from, to); k++) {
        s.n = from;
        extract_formula_in(out, &whole, s);
        from = (size_t)(whole.s - s.s);
        to = from + whole.n;
    }
    struct span after = {s.s + to, s.n - to}, number;
    struct run run;
    /* a number in words behind the formula of its name: "the value of $m$ is 58" */
    if (last_run(&run, after) && run.has_number && !math_is_value(w, *out))
        return 0;
    if (last_run(&run, after) && run.has_number &&
        sentence_says(after, "is|are|equals|=|total|get|gives|has|have") && plain_result(&number, after, w)) {
        *out = number;
        return 1;
    }
    int is_result = !has_neighbour(s, from, to) && !value_is_qualified(s, *out) &&
                    !value_is_qualified(s, whole) && !is_named_place(s, from, to);
    *out = sentence_without_arrow(*out);
    return is_result;
}

int sentence_last_result(struct span *out, struct span section, struct math_work *w)
{
    enum { SENTENCES = 4, REACH = 4096, BEGUN_MAX = 512 };
    size_t begun[BEGUN_MAX], n = 0;
    struct span found;
    int is_weak = 0;
    size_t from = section.n > REACH ? section.n - REACH : 0;
    while (from && section.s[from - 1] != '\n')
        from--;
    section = (struct span){section.s + from, section.n - from};
    if (section.n > 4 * REACH || extract_is_program(section))
        return 0;
    struct sentences it = sentences_from(section, 0);
    for (size_t i = 0; i < section.n; i = sentences_next(&it))
        begun[n++ % BEGUN_MAX] = i;
    size_t end = section.n;
    for (int seen = 0, left = BEGUN_MAX; n-- > 0 && seen < SENTENCES && left-- > 0;) {
        size_t at = begun[n % BEGUN_MAX];
        struct span s = span_trim((struct span){section.s + at, end - at});
        end = at;
        if (!s.n || sentence_is_chatter(s))
            continue;
        seen++;
        if (!sentence_result(&found, s, w)) {
            if (sentence_is_doubtful(behind_denial(s)))
                break;
            continue;
        }
        size_t before = n ? begun[(n - 1) % BEGUN_MAX] : at; /* "When a < 0 it is 4. When a > 0 it is 5." */
        if (sentence_gives_cases((struct span){section.s + before, (size_t)(s.s + s.n - section.s) - before}))
            return 0;
        int is_strong = sentence_concludes(s);
        if (is_strong || !is_weak)
            *out = found;
        is_weak = 1;
        if (is_strong || memchr(s.s, '=', s.n) || memchr(s.s, '$', s.n) || memchr(s.s, '\\', s.n))
            break;
    }
    return is_weak;
}
