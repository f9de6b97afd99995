/* What a sentence presents as its result, where nothing states the answer more plainly (contract:
 * sentence.h). Only a whole expression counts: where it cannot be read, a part of it must not stand for it.
 */
#include "answer_check/strict/sentence.h"

#include <string.h>

#include "answer_check/strict/extract.h"
#include "answer_check/text/value_words.h"

/* ---- plain mathematics ---- */

/* Letters that are no word of prose: names of functions and constants. */
static int is_math_word(struct span word)
{
    static const char *const known[] = {
        "pi",   "sqrt",  "cbrt",   "sin",    "cos",    "tan",    "cot",      "sec",   "csc",
        "log",  "ln",    "exp",    "arcsin", "arccos", "arctan", "sinh",     "cosh",  "tanh",
        "max",  "min",   "gcd",    "lcm",    "mod",    "inf",    "infinity", "theta", "alpha",
        "beta", "gamma", "lambda", "phi",    "omega",  "floor",  "ceil",     "abs",   "lim"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (word.n == strlen(known[k]) && span_starts(word, known[k]))
            return 1;
    return 0;
}

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
    if (span_at(s, i, "\xe2\x82\xac") || span_at(s, i, "\xef\xbc\x88") || span_at(s, i, "\xef\xbc\x89"))
        return 3;
    return 0;
}

enum word_kind { WORD_PROSE, WORD_JOINT, WORD_NUMBER, WORD_LETTER, WORD_OPERATOR };

/* What the word is to a formula. A single letter is a name, and "a" and "I" are words. */
static enum word_kind kind_of(struct span w)
{
    int digits = 0, letters = 0, signs = 0;
    for (size_t i = 0; i < w.n;) {
        size_t sign = (unsigned char)w.s[i] >= 0x80 ? math_sign(w, i) : 0, from = i;
        if (sign) {
            signs++;
            i += sign;
        } else if ((unsigned char)w.s[i] >= 0x80) {
            return WORD_PROSE;
        } else if (ascii_is_letter(w.s[i])) {
            int is_command = i && w.s[i - 1] == '\\';
            while (i < w.n && ascii_is_letter(w.s[i]))
                i++;
            struct span run = {w.s + from, i - from};
            if (run.n > 1 && !is_command && !is_math_word(run) && !digits)
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
        if (word.n && kind != WORD_PROSE) {
            size_t from = (size_t)(word.s - s.s);
            if (!is_open)
                run = (struct run){from, 0, 0, 0, 0};
            is_open = 1;
            run.to = from + word.n;
            run.has_number |= kind == WORD_NUMBER;
            run.has_sign |= kind == WORD_LETTER && core.n > 1;
            if (core.n < word.n && strchr(";:", s.s[run.to - 1])) /* another clause */
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

/* Words before a number that it only numbers: "step 3". */
static int is_named_place(struct span s, size_t i)
{
    static const char names[] =
        "step|steps|theorem|chapter|question|problem|case|figure|fig|equation|eq|part|option|"
        "line|example|section|note|method|version|lemma|definition|table|exercise|page|"
        "grade|row|column|item|number of the|approach|way|proposition|corollary|reference";
    while (i && (ascii_is_space(s.s[i - 1]) || strchr("(.#", s.s[i - 1])))
        i--;
    size_t end = i;
    while (i && ascii_is_letter(s.s[i - 1]))
        i--;
    return end > i && sentence_says((struct span){s.s + i, end - i}, names);
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

/* Is the run at `from` the whole in "3 of 10", or does it only limit something? */
static int is_share(struct span s, size_t from)
{
    while (from && ascii_is_space(s.s[from - 1]))
        from--;
    if (from < 4 || span_starts((struct span){s.s + from - 3, 3}, " of") == 0)
        return 0;
    size_t i = from - 3;
    if (i > 4 && span_starts((struct span){s.s + i - 4, 4}, " out"))
        i -= 4;
    return i && (ascii_is_digit(s.s[i - 1]));
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
    return word.n && ascii_is_letter(word.s[0]) && !is_short && both.n > value.n && math_is_value(w, both)
               ? both
               : value;
}

static int plain_result(struct span *out, struct span s, struct math_work *w)
{
    struct run run;
    if (!last_run(&run, s) || is_share(s, run.from) || is_named_place(s, run.from))
        return 0;
    struct span value = with_unit(s, run, w);
    if (!run.is_list && memchr(value.s, '$', value.n) && memrchr(value.s, '=', value.n)) {
        /* sums of money, "$14 + $17 = $31" */
        const char *last = memrchr(value.s, '=', value.n);
        value = span_trim((struct span){last + 1, value.n - (size_t)(last + 1 - value.s)});
    }
    if (memchr(value.s, '=', value.n) || value.s[0] == '[') {
        if (is_case(s, run.from) || (value.s[0] == '[' && !memchr(value.s, ',', value.n)))
            return 0;
    }
    if (!value.n || value_is_qualified(s, value) || !math_is_value(w, value))
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
    static const char *const words[] = {" but ", " which is ", ", it's ", ", it is ", "; it is "};
    const char *denial = memmem(s.s, s.n, "not ", 4), *last = NULL;
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

int sentence_result(struct span *out, struct span sentence, struct math_work *w)
{
    struct span s = behind_denial(sentence_plain(sentence, w)), whole;
    if (s.n > UNDECLARED_BYTES || sentence_is_doubtful(s) || extract_is_program(s))
        return 0;
    if (!extract_formula_in(out, &whole, s))
        return plain_result(out, s, w);
    size_t from = (size_t)(whole.s - s.s), to = from + whole.n;
    struct span after = {s.s + to, s.n - to}, number;
    struct run run;
    /* a number in words behind the formula of its name: "the value of $m$ is 58" */
    if (last_run(&run, after) && run.has_number && !math_is_value(w, *out))
        return 0;
    if (last_run(&run, after) && run.has_number && sentence_says(after, "is|are|equals|=|total|get|gives") &&
        plain_result(&number, after, w)) {
        *out = number;
        return 1;
    }
    return !has_neighbour(s, from, to) && !value_is_qualified(s, *out) && !value_is_qualified(s, whole) &&
           !is_named_place(s, from);
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
        if (sentence_is_doubtful(behind_denial(s)))
            break;
        if (!sentence_result(&found, s, w))
            continue;
        int is_strong = sentence_concludes(s);
        if (is_strong || !is_weak)
            *out = found;
        is_weak = 1;
        if (is_strong || memchr(s.s, '=', s.n) || memchr(s.s, '$', s.n) || memchr(s.s, '\\', s.n))
            break;
    }
    return is_weak;
}
