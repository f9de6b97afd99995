/* What a sentence presents as its result, where nothing states the answer more plainly (contract:
 * sentence.h). Only a whole expression counts: where it cannot be read, a part of it must not stand for it.
 */
#include "answer_check/strict/sentence.h"

#include <string.h>

#include "answer_check/strict/extract.h"
#include "answer_check/strict/result_run.h"
#include "answer_check/text/value_words.h"

/* The fraction or the ratio that two numbers at the end of the sentence make: "the probability is 3 out of
 * 5", "the odds are 3 to 2". */
static int two_numbers(struct span *out, struct span s, struct math_work *w)
{
    struct plain_run two, one;
    int is_chance = sentence_says(s, "probability|chance|fraction|proportion|likelihood");
    int is_ratio = sentence_says(s, "odds|ratio");
    if ((!is_chance && !is_ratio) || !run_last(&two, s) || !run_last(&one, (struct span){s.s, two.from}))
        return 0;
    struct span a = {s.s + one.from, run_without_stops(s, one.from, one.to) - one.from};
    struct span b = {s.s + two.from, run_without_stops(s, two.from, two.to) - two.from};
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
static struct span with_unit(struct span s, struct plain_run run, struct math_work *w)
{
    struct span value = {s.s + run.from, run_without_stops(s, run.from, run.to) - run.from};
    if (value.n < run.to - run.from || run.is_list)
        return value;
    size_t i = run.to;
    struct span word = run_next_word(s, &i);
    size_t end = run_without_stops(s, (size_t)(word.s - s.s), (size_t)(word.s - s.s) + word.n);
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
    struct plain_run run = {from, from + n, 1, 0, 0};
    struct span said = {s.s + from, n};
    const char *text = arena_printf(w->arena, "\\text{%.*s}", (int)n, said.s);
    *out = (struct span){text, strlen(text)};
    return run_role(s, run) == ROLE_RESULT && !value_is_qualified(s, said);
}

/* The time in words that the sentence ends with, "at half past seven". */
static int clock_result(struct span *out, struct span s, struct math_work *w)
{
    enum { WORDS = 6 };
    if (!sentence_says(s, "past|o'clock|quarter to"))
        return 0;
    s.n = run_without_stops(s, 0, s.n);
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
    struct plain_run run, earlier;
    if (clock_result(out, s, w))
        return 1;
    if (two_numbers(out, s, w))
        return 1;
    if (!run_last(&run, s))
        return words_result(out, s, w);
    for (int k = 0;; k++) {
        enum role role = run_role(s, run);
        int has_earlier = run_last(&earlier, (struct span){s.s, run.from});
        if (k == RUNS || (role == ROLE_GIVEN && !has_earlier))
            return words_result(out, s, w);
        int is_at =
            role == ROLE_RESULT && memchr(s.s + run.from, '=', run.to - run.from) && run_is_case(s, run.from);
        if ((role == ROLE_RESULT && !is_at) || !has_earlier)
            break;
        run = earlier;
    }
    struct span before = run_word_before(s, run.from);
    int is_bare = before.n &&
                  (before.s == s.s || ascii_is_space(before.s[-1]) || strchr("*_(", before.s[-1])) &&
                  !memchr(s.s + run.from, '}', run.to - run.from);
    if (is_bare && ascii_is_digit(s.s[run.from]) && !run_word_behind(s, run.to).n &&
        sentence_says(before, months)) {
        *out = (struct span){before.s, run_without_stops(s, run.from, run.to) - (size_t)(before.s - s.s)};
        return 1; /* "March 15th" */
    }
    if (sentence_says((struct span){s.s, run.from}, "from") && before.n == 2 && span_starts(before, "to"))
        return 0; /* "from 10 to 12" */
    struct span value = with_unit(s, run, w);
    if (two_units(out, s, value, w))
        return 1;
    struct span bare = {s.s + run.from, run_without_stops(s, run.from, run.to) - run.from};
    if (!run.is_list && memchr(value.s, '$', value.n) && memrchr(value.s, '=', value.n)) {
        /* sums of money, "$14 + $17 = $31" */
        const char *last = memrchr(value.s, '=', value.n);
        value = span_trim((struct span){last + 1, value.n - (size_t)(last + 1 - value.s)});
    }
    if (!value.n)
        return 0;
    if (memchr(value.s, '=', value.n) || value.s[0] == '[') {
        if ((ascii_is_letter(value.s[0]) && run_is_case(s, run.from)) ||
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
        struct span word = run_next_word(s, &i);
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
    struct plain_run run = {from, to, 1, 0, 0};
    int is_quantified = sentence_says(run_word_before(s, from), "all|every|any|each");
    return (run_is_case(s, from) || is_quantified || run_role(s, run) != ROLE_RESULT) &&
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
    out->n = run_without_stops(*out, 0, out->n);
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
    struct plain_run run;
    /* a number in words behind the formula of its name: "the value of $m$ is 58" */
    if (run_last(&run, after) && run.has_number && !math_is_value(w, *out))
        return 0;
    if (run_last(&run, after) && run.has_number &&
        sentence_says(after, "is|are|equals|=|total|get|gives|has|have") && plain_result(&number, after, w)) {
        *out = number;
        return 1;
    }
    int is_result = !has_neighbour(s, from, to) && !value_is_qualified(s, *out) &&
                    !value_is_qualified(s, whole) && !run_is_named_place(s, from, to);
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
