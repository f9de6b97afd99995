/* Sentences and the words in them (contract: sentence.h). */
#include "answer_check/strict/sentence.h"

#include <string.h>

#include "answer_check/text/value_words.h"

/* ---- where sentences end ---- */

/* The length of a full-width point, "!" or "?" at i, or 0. */
static size_t wide_stop(struct span s, size_t i)
{
    static const char *const stops[] = {"\xe3\x80\x82", "\xef\xbc\x81", "\xef\xbc\x9f", "\xef\xbc\x9b"};
    for (int k = 0; k < 4; k++)
        if (span_at(s, i, stops[k]))
            return 3;
    return 0;
}

/* Does the point at i belong to an abbreviation or a number of a list: "e.g. ", "approx. ", "1. "? */
static int is_abbreviation(struct span s, size_t i)
{
    static const char *const known[] = {"approx", "vs", "eq", "fig", "resp", "dr", "mr", "mrs", "ms", "st"};
    size_t from = i;
    while (from && ascii_is_letter(s.s[from - 1]))
        from--;
    struct span word = {s.s + from, i - from};
    if (word.n == 1)
        return from && s.s[from - 1] == '.';
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (word.n == strlen(known[k]) && span_starts(word, known[k]))
            return 1;
    size_t digits = i;
    while (digits && ascii_is_digit(s.s[digits - 1]))
        digits--;
    return digits < i && i - digits < 3 && (!digits || s.s[digits - 1] == '\n');
}

/* Does the line end at i stand before or behind a formula that is set off, so that the sentence goes on? */
static int is_inner_line(struct span s, size_t i, int behind_display)
{
    enum { BLANKS_MAX = 64 };
    size_t last = s.n - i > BLANKS_MAX ? i + BLANKS_MAX : s.n;
    while (i < last && ascii_is_space(s.s[i]))
        i++;
    return span_at(s, i, "\\[") || span_at(s, i, "$$") ||
           (behind_display && i < s.n && s.s[i] >= 'a' && s.s[i] <= 'z');
}

struct sentences sentences_from(struct span text, size_t i)
{
    return (struct sentences){.text = text, .at = i, .has_formula = 1};
}

/* The bytes at which neither a sentence nor a formula begins or ends. */
static const unsigned char is_inner[256] = {
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,
    ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1,
    ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
    ['y'] = 1, ['z'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1,
    ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1, ['+'] = 1, ['-'] = 1, ['*'] = 1, ['/'] = 1,
    ['='] = 1, ['('] = 1, [')'] = 1, ['{'] = 1, ['}'] = 1, ['^'] = 1, ['_'] = 1};

size_t sentences_next(struct sentences *it)
{
    struct span s = it->text;
    struct formula *f = &it->formula;
    int behind_display = 0;
    size_t i = it->at;
    it->at = s.n;
    while (i < s.n) {
        char c = s.s[i];
        if (is_inner[(unsigned char)c]) {
            behind_display = 0;
            i++;
            continue;
        }
        size_t wide = (unsigned char)c >= 0xe3 ? wide_stop(s, i) : 0;
        if (wide)
            return it->at = i + wide;
        if (c == '\n' && !is_inner_line(s, i, behind_display))
            return it->at = i + 1;
        if ((c == '.' || c == '!' || c == '?') && (i + 1 == s.n || ascii_is_space(s.s[i + 1])) &&
            !(c == '.' && is_abbreviation(s, i)))
            return it->at = i + 1;
        if ((c == '$' || c == '\\') && it->has_formula && (!f->to || f->from < i))
            it->has_formula = extract_next_formula(f, s, i, it->exhausted);
        if (it->has_formula && f->to && f->from == i) {
            behind_display = f->start - f->from == 2;
            i = f->to;
            continue;
        }
        behind_display = behind_display && (c == '\n' || ascii_is_space(c) || strchr(".,;", c) != NULL);
        i += c == '\\' && i + 1 < s.n ? 2 : 1;
    }
    return s.n;
}

size_t sentence_next(struct span s, size_t i)
{
    struct sentences it = sentences_from(s, i);
    return sentences_next(&it);
}

/* ---- what sentences say ---- */

/* Is it a mark of credit: "(36 points)", "[3 marks]", "Full marks: 3", "This question is worth 5 points"? */
static int is_credit(struct span s)
{
    static const char units[] =
        "points|point|pts|pt|marks|mark|credits|credit|\xe5\x88\x86"; /* the last one is Chinese */
    struct span t = span_trim(s);
    while (t.n && strchr("*_.", t.s[t.n - 1]))
        t.n--;
    while (t.n && strchr("*_", t.s[0]))
        t = (struct span){t.s + 1, t.n - 1};
    if (t.n > 3 && t.n < 24 && (t.s[0] == '(' || t.s[0] == '[')) {
        size_t i = 1;
        while (i < t.n && (ascii_is_digit(t.s[i]) || t.s[i] == ' '))
            i++;
        struct span unit = {t.s + i, t.n - i - 1};
        return i > 1 && strchr(")]", t.s[t.n - 1]) && unit.n && !strchr("*_#>-\"(.,;", unit.s[0]) &&
               sentence_begins(unit, units);
    }
    return sentence_begins(t, "full marks|total marks|max marks|marks:|points:|score:") ||
           (sentence_says(t, "worth|awarded|earns") && sentence_says(t, units) &&
            sentence_says(t, "question|problem|part|exercise|solution"));
}

/* Is it an aside in parentheses, "(Indeed, 11 * 2 = 22.)", that takes nothing back? */
static int is_aside(struct span s)
{
    s = span_trim(s);
    return s.n > 8 && s.s[0] == '(' && s.s[s.n - 1] == ')' && s.s[1] >= 'A' && s.s[1] <= 'Z' &&
           ascii_is_letter(s.s[2]) &&
           !sentence_says(
               s, "reject*|discard*|extraneous|invalid|impossible|wrong|incorrect|mistake|answer|so|thus|"
                  "hence|therefore");
}

int sentence_is_chatter(struct span s)
{
    char last = s.n ? s.s[s.n - 1] : 0;
    if ((last == ')' || last == ']' || ascii_is_digit(last) || last == '.' || last == '*') && is_credit(s))
        return 1;
    if (last == ')' && is_aside(s))
        return 1;
    return sentence_begins(
               s,
               "let me know|feel free|i hope|hope this|hope that|would you|do you|did you|shall i|should i|"
               "want me|if you|is there anything|are there any|happy to|glad to|please|thank|thanks|"
               "have a|good luck|don't hesitate|any questions|great job|good job|rate|cheers|you can|"
               "you could|enjoy|need more|need help|need any|i can also|i can provide|i'm here|i am here|"
               "i used|i thought for|i solved it|this took me|total tokens|token count|time:|time taken|time "
               "used|tokens|word "
               "count|words:|references|source:|difficulty|rating|"
               "confidence:|check:|sanity check|quick check|double-check|double check|as a "
               "check|check|checking|verification|verify|verifying|to verify|to "
               "check|confidence|"
               "希望|如果你|如果您|如有|如需|需要我|请") ||
           sentence_says(s, "let me know|feel free to|hope this helps|hope that helps");
}

/* Is there any word in it, two letters of which no command is made, or a character of Chinese or Cyrillic? */
static int has_words(struct span s)
{
    for (size_t i = 0, run = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c == '\\') {
            while (i + 1 < s.n && ascii_is_letter(s.s[i + 1]))
                i++;
            run = 0;
            continue;
        }
        run = ascii_is_letter((char)c) ? run + 1 : 0;
        if (run > 1 || c >= 0xe3 || c == 0xd0 || c == 0xd1)
            return 1;
    }
    return 0;
}

/* Are digits spoken of that nobody states: "we need the last digit of 12"? */
static int asks_for_digits(struct span s)
{
    return sentence_says(s, "last digit of|digits of") && !sentence_says(s, "is|are|equals|was");
}

int sentence_rejects(struct span s)
{
    if (!has_words(s))
        return 0;
    return asks_for_digits(s) || value_is_bounded(s) ||
           (sentence_says(s, "answer has") && !sentence_says(s, "answer has to be|answer has the")) ||
           (sentence_says(s, "of the answer") &&
            !sentence_says(s, "value of the answer|form of the answer")) ||
           sentence_says(
               s,
               "impossible|not possible|exclud*|reject*|discard*|rule out|rules out|ruled out|ruling out|"
               "extraneous|invalid|inadmissible|contradict*|fails|fail|does not work|doesn't work|suppose|"
               "supposing|assume|assuming|let us try|let's try|try|trying|test|testing|candidate|candidates|"
               "not sure|unsure|not clear|unclear|whether|guess|guessing|maybe|perhaps|possibly|might be|"
               "could be|may be|not a solution|not a root|not valid|not allowed|eliminat*|ignore|ignoring|"
               "omit|wrong|incorrect|mistake|can't be|cannot be|couldn't be|isn't|wasn't|is not|are not|"
               "was not|not equal|consider|to consider|to check|to try|need to find|want to find|"
               "have to find|must find|divides|too large|too small|doubt|unlikely|close to|nearly|almost|"
               "asked to|remains to|prove that|show that|unknown|no exact|an upper bound|a lower bound|"
               "bounded by|up to|previous problem|previous question|earlier problem|other problem|"
               "still need|still have to|next we|multiply by|divide by|differs from|different from|estimate|"
               "not certain|seems|plausible|roughly|we want the|or so|for example|for instance|e.g.|repeat|"
               "similarly for|ではありません|아닙|假设|no es|n'est pas|nicht|ist kein|non è|não "
               "é|ではない|じゃない|아니|не |"
               "cases left|cases remain|continuous at|differentiable at|axis at|no reason|not convinced|"
               "not shown|unproven|not proven|not proved|answer ends|answer contains|answer consists|"
               "answer requires|answer follows|answer exceeds|answer includes|answer begins|answer starts|"
               "answer needs|answer uses|we begin with|we start with|continue with|"
               "cases have been considered|many would say|some would say|people would say|might say|"
               "initially i|originally i|at first i|initially we|i initially|i originally|first glance|"
               "first attempt|first thought|might well|could well|one of the solutions is|"
               "one of the roots is|one solution is|one possible|one of the answers|textbooks claim|"
               "says otherwise|disagree*|key says|book says|not match the|n't match the|not an option|"
               "none of the options|not among|answer depends on|answer involves|square of the answer|"
               "half of the answer|twice the answer|double the answer|answer squared|answer cubed|answer "
               "plus|answer minus|answer times|"
               "answer doubled|answer halved|answer tripled|answer divided|answer multiplied|answer "
               "increased|"
               "answer decreased|answer modulo|answer mod|number squared|number cubed|value squared|result "
               "squared|"
               "twice the number|half the number|half of the number|times the number|square of the "
               "number|cube of the "
               "number|half the answer|twice x|twice n|적어도|많아야|"
               "höchstens|mindestens|au plus|au moins|como máximo|como mínimo|a lo sumo|al menos|por lo "
               "menos|no "
               "máximo|pelo menos|al massimo|almeno|не более|не менее|не больше|не меньше|oder weniger|oder "
               "mehr|"
               "ou moins|o menos|o más|cases starting from|must still|"
               "still be checked|to be checked|works only for|works only if|works only when|"
               "and then we divide|and then we multiply|and then we subtract|don't believe|do not believe|"
               "false that|cannot conclude|too big|too many|too few|is false|rather than|instead of|"
               "spurious|infeasible|undefined|far "
               "from|排除|舍去|舍掉|假如|可能|不是|不等于|不为|不对|不可能|不能|不超过|不足|不小于|不大于|"
               "并非|"
               "小于|大于|至少|至多|超过|最多|最少|低于|高于|错|或|还是");
}

int sentence_is_doubtful(struct span s)
{
    size_t n = s.n;
    while (n && (ascii_is_space(s.s[n - 1]) || strchr("*_\"')$", s.s[n - 1])))
        n--;
    if (n && (s.s[n - 1] == '?' || (n > 2 && !memcmp(s.s + n - 3, "\xef\xbc\x9f", 3))))
        return 1;
    return has_words(s) &&
           (sentence_rejects(s) ||
            sentence_says(s,
                          "if|unless|except|provided|not|never|cannot|can't|don't|doesn't|won't|neither|nor|"
                          "let|no longer|besides|excluding|without"));
}

/* ---- words that are mathematics ---- */

int sentence_is_math_word(struct span word)
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

/* The word from byte i on: letters. */
static struct span word_at(struct span s, size_t i)
{
    size_t from = i;
    while (i < s.n && ascii_is_letter(s.s[i]))
        i++;
    return (struct span){s.s + from, i - from};
}

/* Does the number in words at i go on with the word, which stands behind a blank or a hyphen? */
static int is_number_part(struct span word)
{
    static const char more[] =
        "half|halves|third|thirds|quarter|quarters|fourths|fifth|fifths|sixths|eighths|tenths|dozen";
    return math_word_number(word) >= 0 || math_word_scale(word) > 0 ||
           (word.n > 3 && sentence_says(word, more));
}

size_t sentence_number_word(struct span s, size_t i, size_t *from)
{
    struct span before = {0};
    for (; i < s.n; i++) {
        struct span word = word_at(s, i);
        if (!word.n || (i && (ascii_is_letter(s.s[i - 1]) || s.s[i - 1] == '\\')))
            continue;
        int is_dozen = span_starts(word, "dozen") && word.n == 5 && span_starts(before, "a") && before.n == 1;
        int is_one = word.n == 3 && span_starts(word, "one");
        if (math_word_number(word) < 0 && !is_dozen) {
            before = word;
            i += word.n - 1;
            continue;
        }
        int is_signed = before.n && sentence_says(before, "negative|minus");
        size_t start = is_signed || is_dozen ? (size_t)(before.s - s.s) : i, end = i + word.n;
        for (;;) { /* "twenty-one", "three hundred and five" */
            size_t next = end;
            if (next < s.n && (s.s[next] == '-' || s.s[next] == ' '))
                next++;
            int is_and = span_starts((struct span){s.s + next, s.n - next}, "and ") && end > 6 &&
                         sentence_says((struct span){s.s + start, end - start}, "hundred|thousand");
            struct span more = word_at(s, next + (is_and ? 4 : 0));
            if (next == end || !more.n || !is_number_part(more))
                break;
            end = (size_t)(more.s - s.s) + more.n;
        }
        int is_alone = end == i + word.n && !is_signed;
        int is_last = !word_at(s, end + (end < s.n && s.s[end] == ' ')).n;
        int is_stated = before.n && (sentence_says(before, "exactly|equals|only") ||
                                     (is_last && sentence_says(before, "is")));
        if (is_one && is_alone && !is_stated) { /* "this is one way" */
            before = word;
            i = end - 1;
            continue;
        }
        if (from)
            *from = start;
        return end - start;
    }
    return 0;
}

/* ---- marks of Markdown ---- */

/* Does the pair of stars at i set off words, rather than mean a power? */
static int is_emphasis(struct span s, size_t i)
{
    char before = i ? s.s[i - 1] : ' ', behind = i + 2 < s.n ? s.s[i + 2] : ' ';
    return ascii_is_space(before) || ascii_is_space(behind) || strchr("([{:\"'$", before) ||
           strchr(".,;:!?)]}\"'", behind) || (unsigned char)before >= 0x80 || (unsigned char)behind >= 0x80;
}

/* Where the star or low line at i closes that sets off "*words*" from there on: the place of the other one,
 * or 0.
 */
static size_t italics_end(struct span s, size_t i)
{
    enum { ITALICS_MAX = 60 };
    char mark = s.s[i];
    if (i && !strchr(" ([\n", s.s[i - 1]))
        return 0;
    for (size_t k = i + 1; k < s.n && k - i < ITALICS_MAX && s.s[k] != '\n'; k++) {
        if (s.s[k] != mark) {
            if (strchr("$\\", s.s[k]) || (mark == '_' && !ascii_is_letter(s.s[k]) && s.s[k] != ' '))
                return 0;
            continue;
        }
        int is_end = k + 1 == s.n || strchr(" .,;:!?)]\n", s.s[k + 1]);
        return k > i + 1 && is_end && s.s[i + 1] != ' ' && s.s[k - 1] != ' ' ? k : 0;
    }
    return 0;
}

struct span sentence_plain(struct span s, struct math_work *w)
{
    int has_low = memmem(s.s, s.n, " _", 2) != NULL;
    if (!has_low && !memchr(s.s, '*', s.n) && !memchr(s.s, '`', s.n))
        return sentence_with_joints(s, w);
    char *out = arena_alloc(w->arena, s.n + 1);
    size_t n = 0, italics = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (span_at(s, i, "**") && is_emphasis(s, i)) {
            i++;
            continue;
        }
        size_t close = s.s[i] == '*' || (has_low && s.s[i] == '_') ? italics_end(s, i) : 0;
        italics = close ? close : italics;
        if (s.s[i] == '`' || close || (i && i == italics))
            continue;
        out[n++] = s.s[i];
    }
    return sentence_with_joints(span_trim((struct span){out, n}), w);
}

/* Without the marks that end a proof or praise it, in Unicode. */
static struct span without_end_marks(struct span s)
{
    static const char *const marks[] = {"\xe2\x88\x8e", "\xe2\x96\xa1", "\xe2\x96\xa0", "\xe2\x9c\x93",
                                        "\xe2\x9c\x94", "\xe2\x9c\x85", "\xe2\x97\xbc", "\xe2\x97\xbb"};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (s.n > 3 && !memcmp(s.s + s.n - 3, marks[k], 3)) {
            s = span_trim((struct span){s.s, s.n - 3});
            k = (size_t)-1;
        }
    return s;
}

struct span sentence_without_chatter(struct span section)
{
    enum { CHATTER_MAX = 8, REACH = 1024 };
    section = without_end_marks(span_trim(section));
    for (int k = 0; k < CHATTER_MAX; k++) {
        size_t from = section.n > REACH ? section.n - REACH : 0, start = from, next;
        struct sentences it = sentences_from(section, from);
        while ((next = sentences_next(&it)) < section.n)
            start = next;
        struct span last = {section.s + start, section.n - start};
        if (!start || !sentence_is_chatter(span_trim(last)))
            break;
        section = without_end_marks(span_trim((struct span){section.s, start}));
    }
    return section;
}
