/* Words: the same words in other dress, and words that mean mathematics ("no solutions" is the empty set,
 * "all real numbers" is R, "seventeen" is 17). Other sentences have no meaning here. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

#include "answer_check/read/math_read.h"
#include "evalcore/base/arena.h"

enum { WORDS_MAX = 16 };

struct words {
    int n; /* -1: too many */
    struct span word[WORDS_MAX];
};

/* The words of a text, which blanks and hyphens separate. */
static struct words split_words(const char *s)
{
    struct words out = {0};
    while (*s) {
        size_t n = strcspn(s, " -");
        if (n && out.n == WORDS_MAX)
            return (struct words){-1, {{0}}};
        if (n)
            out.word[out.n++] = (struct span){s, n};
        s += n + (s[n] != 0);
    }
    return out;
}

static int is_one_of(struct span word, const char *const *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_is(word, table[i]))
            return 1;
    return 0;
}
#define IS_ONE_OF(word, table) is_one_of(word, table, sizeof(table) / sizeof *(table))

/* ---- the same words ---- */

/* Words that change nothing: "an ellipse" is "ellipse", "if n is odd" is "n odd". */
static int is_filler(struct span word, int first)
{
    static const char *const anywhere[] = {"an", "the", "is", "are"}, *const leading[] = {"a", "if", "when"};
    return IS_ONE_OF(word, anywhere) || (first && IS_ONE_OF(word, leading));
}

/* What an adjective or a verb may be said of: "the series diverges", "an even function". */
static int is_subject(struct span word)
{
    static const char *const table[] = {"series",    "sequence", "limit",    "integral", "function",
                                        "statement", "claim",    "equation", "system",   "graph",
                                        "curve",     "it",       "this",     "answer"};
    return IS_ONE_OF(word, table);
}

static int has_subject(const struct words *w)
{
    for (int i = 0; i < w->n; i++)
        if (is_subject(w->word[i]))
            return 1;
    return 0;
}

/* "convergent" as the verb, and British words as American ones. */
static struct span as_verb(struct span word)
{
    static const char *const forms[][2] = {{"convergent", "converges"},
                                           {"divergent", "diverges"},
                                           {"converge", "converges"},
                                           {"diverge", "diverges"},
                                           {"anticlockwise", "counterclockwise"},
                                           {"colour", "color"},
                                           {"centre", "center"},
                                           {"metre", "meter"},
                                           {"metres", "meters"},
                                           {"grey", "gray"}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (span_is(word, forms[k][0]))
            return (struct span){forms[k][1], strlen(forms[k][1])};
    return word;
}

/* The word without the comma that it ends in before "but": "necessary, but not sufficient". */
static struct span without_comma(const struct words *w, int i)
{
    struct span s = w->word[i];
    if (i + 1 < w->n && s.n > 1 && s.s[s.n - 1] == ',' &&
        (span_is(w->word[i + 1], "but") || span_is(w->word[i + 1], "yet")))
        s.n--;
    return s;
}

/* Are the texts the same but for words that change nothing, such as the subject where only one has it? */
static int same_words(const char *a, const char *b)
{
    struct words x = split_words(a), y = split_words(b);
    int i = 0, k = 0;
    if (x.n < 0 || y.n < 0)
        return 0;
    int drops = has_subject(&x) != has_subject(&y);
    for (;; i++, k++) {
        while (i < x.n && x.n > 1 && (is_filler(x.word[i], i == 0) || (drops && is_subject(x.word[i]))))
            i++;
        while (k < y.n && y.n > 1 && (is_filler(y.word[k], k == 0) || (drops && is_subject(y.word[k]))))
            k++;
        if (i == x.n || k == y.n)
            return i == x.n && k == y.n && i && k;
        struct span one = as_verb(without_comma(&x, i)), two = as_verb(without_comma(&y, k));
        if (one.n != two.n || memcmp(one.s, two.s, one.n))
            return 0;
    }
}

/* Is the sentence the word with more behind it, as "yes" and "yes, it is"? */
static int is_answered_by(const char *word, const char *sentence)
{
    static const char *const table[] = {"yes", "no", "true", "false"};
    static const char *const limits[] = {"if",   "unless", "but",  "only",     "provided",
                                         "when", "except", "when", "whenever", "sometimes"};
    size_t n = strlen(word);
    if (!IS_ONE_OF(((struct span){word, n}), table) || strncmp(word, sentence, n) != 0 || sentence[n] != ',')
        return 0;
    sentence += n + 1 + (sentence[n + 1] == ' ');
    return !IS_ONE_OF(((struct span){sentence, strcspn(sentence, " ,")}), limits);
}

/* Is the phrase the name with what wins a game behind it, "Alice wins"? */
static int is_winner(const char *name, const char *phrase)
{
    static const char *const verbs[] = {" wins",           " will win",      " always wins",
                                        " can always win", " wins the game", " has a winning strategy",
                                        " is the winner",  " can win",       " can force a win"};
    size_t n = strlen(name);
    if (!n || strchr(name, ' ') || strncmp(name, phrase, n) != 0)
        return 0;
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
        if (!strcmp(phrase + n, verbs[k]))
            return 1;
    return 0;
}

/* Spells out DNE, and what is undefined: does not exist. */
static const char *spelled_out(const char *words)
{
    return strcmp(words, "dne") && strcmp(words, "undefined") ? words : "does not exist";
}

/* Are they the same but for hyphens: "counter-clockwise" and "counterclockwise"? */
static int same_but_hyphens(const char *a, const char *b)
{
    if (!strchr(a, '-') && !strchr(b, '-'))
        return 0;
    for (;; a++, b++) {
        a += *a == '-' && ascii_is_letter(a[1]);
        b += *b == '-' && ascii_is_letter(b[1]);
        if (*a != *b || !*a)
            return *a == *b;
    }
}

enum math_truth equal_texts(struct comparison *e, const struct math_node *gold, const struct math_node *pred)
{
    if (same_but_hyphens(gold->name, pred->name) ||
        same_words(spelled_out(gold->name), spelled_out(pred->name)) || !strcmp(gold->name, pred->name) ||
        is_answered_by(gold->name, pred->name) || is_answered_by(pred->name, gold->name) ||
        is_winner(gold->name, pred->name) || is_winner(pred->name, gold->name))
        return MATH_TRUE;
    const struct math_node *g = equal_meaning(e, gold), *p = equal_meaning(e, pred);
    return g && p ? equal_trees(e, g, p) : MATH_FALSE;
}

/* ---- words that begin another case ---- */

/* A piece of a bare value, as 9, n or -9/2: no relation, and no word such as "non-zero" or "(attained)". */
static int is_piece_of_value(struct span piece)
{
    int letters = 0, others = 0;
    for (size_t i = 0; i < piece.n; i++) {
        char c = piece.s[i];
        if (strchr("<>=", c))
            return 0;
        letters += c >= 'a' && c <= 'z';
        others += !(c >= 'a' && c <= 'z') && !strchr("-'()", c);
    }
    return others || letters <= 1;
}

/* "9 otherwise", or a value behind a comma or "and" with an if of its own: "n is even, 9 if n is odd", but
 * not "x > 0 for every y", nor "n is even, attained when n = 2". */
static int words_hold_case(const char *words)
{
    static const char *const rest[] = {"otherwise", "else"}, *const opening[] = {"if", "when", "for"};
    int begins = 0, value = 0; /* behind a comma, and all that stands there is a value */
    for (const char *s = words; *s; s += *s == ' ') {
        struct span word = {s, strcspn(s, " ")};
        s += word.n;
        int ends = word.n && strchr(",;", s[-1]) != NULL;
        word.n -= (size_t)ends;
        if (IS_ONE_OF(word, rest) || (value && IS_ONE_OF(word, opening)))
            return 1;
        value = begins && !ends && is_piece_of_value(word);
        begins = ends || value || span_is(word, "and");
    }
    return 0;
}

/* A value with its condition, and not y > 0 for all z, nor "attained" when x = 1. */
static int is_case(const struct math_node *m)
{
    if (m->kind != MATH_CASES || m->n != 2)
        return m->kind == MATH_CASES;
    const struct math_node *value = m->child[0];
    return value->kind != MATH_TEXT && value->kind != MATH_RELATION && !equal_is_statements(value);
}

int equal_holds_case(const struct math_node *condition)
{
    int words = condition->kind == MATH_TEXT || condition->kind == MATH_UNIT;
    if (is_case(condition) || (words && words_hold_case(condition->name)))
        return 1;
    for (int i = 0; i < condition->n; i++)
        if (equal_holds_case(condition->child[i]))
            return 1;
    return 0;
}

/* ---- what they mean ---- */

/* Do the words say that there is nothing: "no solution", "there are no real solutions", "no such x
 * exists", "none", "empty set"? */
static int says_nothing(const struct words *w, int i)
{
    static const char *const there[] = {"there", "is", "are", "exist", "exists", "the", "equation", "has"};
    static const char *const rest[] = {"real",  "such",   "solution", "solutions", "root",  "roots",
                                       "value", "values", "number",   "numbers",   "exist", "exists"};
    static const char *const no[] = {"keine", "sin", "aucune", "pas", "sem", "nessuna", "no", "não", "non"};
    static const char *const solution[] = {
        "lösung",    "lösungen", "reelle",  "reellen",  "solución", "soluciones", "tiene",
        "hay",       "existe",   "real",    "reales",   "de",       "solution",   "solutions",
        "réelle",    "réelles",  "solução", "soluções", "tem",      "há",         "soluzione",
        "soluzioni", "reale",    "reali",   "ha",       "ci",       "sono",       "reais"};
    int k = i;
    if (k + 1 < w->n && IS_ONE_OF(w->word[k], no)) {
        for (k++; k < w->n && IS_ONE_OF(w->word[k], solution);)
            k++;
        struct span last = w->word[w->n - 1];
        if (k == w->n && last.n > 4 &&
            (span_starts(last, "sol") || span_starts(last, "lös") || span_starts(last, "r")))
            return 1;
    }
    while (i < w->n && IS_ONE_OF(w->word[i], there))
        i++;
    if (i + 1 == w->n && (span_is(w->word[i], "none") || span_is(w->word[i], "nil")))
        return 1;
    if (i + 2 == w->n && span_is(w->word[i], "empty") && span_is(w->word[i + 1], "set"))
        return 1;
    if (i + 1 >= w->n || !span_is(w->word[i++], "no"))
        return 0;
    while (i < w->n && (IS_ONE_OF(w->word[i], rest) || w->word[i].n == 1))
        i++;
    return i == w->n;
}

/* Do the words say that there are infinitely many: "infinitely many", "infinitely many solutions",
 * "infinite"? */
static int says_infinite(const struct words *w)
{
    static const char *const rest[] = {"many", "solution", "solutions", "values", "number", "of"};
    int i = 0;
    while (i < w->n &&
           (span_is(w->word[i], "there") || span_is(w->word[i], "are") || span_is(w->word[i], "an")))
        i++;
    if (i == w->n)
        return 0;
    int sure = span_is(w->word[i], "infinity"), many = span_is(w->word[i], "infinitely");
    if (!sure && !many && !span_is(w->word[i], "infinite"))
        return 0;
    if (many && !(i + 1 < w->n && span_is(w->word[i + 1], "many")))
        return 0;
    for (i++; i < w->n; i++)
        if (sure || !IS_ONE_OF(w->word[i], rest))
            return 0;
    return 1;
}

/* Which set of numbers the words name, and its mark; 0 for others. "all real numbers", "the set of all
 * reals", "any positive integer n", "every real x". */
static char says_numbers(const struct words *w, const char **mark)
{
    static const struct {
        const char *word, *plural;
        char which;
    } kinds[] = {{"real", "reals", 'R'},
                 {"integer", "integers", 'Z'},
                 {"rational", "rationals", 'Q'},
                 {"natural", "naturals", 'N'},
                 {"complex", "complexes", 'C'}};
    static const char *const all[] = {"the", "set", "of", "all", "any", "every"};
    static const char *const noun[] = {"number", "numbers", "value", "values"};
    int i = 0, quantified = 0, named = 0;
    char which = 0;
    *mark = "";
    for (; i < w->n && IS_ONE_OF(w->word[i], all); i++)
        quantified |= w->word[i].s[0] != 'o';
    if (i < w->n && (span_is(w->word[i], "positive") || span_is(w->word[i], "negative")))
        *mark = w->word[i++].s[0] == 'p' ? "+" : "-";
    for (size_t k = 0; i < w->n && k < sizeof kinds / sizeof *kinds; k++) {
        named = span_is(w->word[i], kinds[k].plural) ||
                (span_is(w->word[i], kinds[k].word) && kinds[k].which == 'Z');
        if (named || span_is(w->word[i], kinds[k].word)) {
            which = kinds[k].which;
            break;
        }
    }
    i++;
    if (which && i < w->n && IS_ONE_OF(w->word[i], noun)) {
        named = 1;
        i++;
    }
    if (i < w->n && span_is(w->word[i], "of"))
        i++;
    if (i < w->n && w->word[i].n == 1 && quantified) { /* all real x */
        named = 1;
        i++;
    }
    return which && named && i == w->n && (quantified || w->n > 1) ? which : 0;
}

/* The value of "one hundred and twenty-three", or -1. */
static long number_of(const struct words *w, int from, int to)
{
    long total = 0, group = 0;
    int last = 1000, scale = 15; /* the sizes of the part before: they must fall */
    if (from >= to)
        return -1;
    for (int i = from; i < to; i++) {
        int v = math_word_number(w->word[i]);
        if (i == from && i + 1 < to && span_is(w->word[i], "a"))
            continue; /* a hundred */
        if (i + 1 == to && span_is(w->word[i], "dozen"))
            return (total + group ? total + group : 1) * 12;
        if (span_is(w->word[i], "and") && i > from && i + 1 < to)
            continue;
        if ((v < 0 && !math_word_scale(w->word[i])) || (v == 0 && w->n > 1))
            return -1;
        int zeros = math_word_scale(w->word[i]);
        if (zeros > 2) { /* thousand, million */
            long size = 1;
            for (int k = 0; k < zeros; k++)
                size *= 10;
            if (zeros >= scale || group > 999)
                return -1;
            total += (group ? group : 1) * size;
            group = 0;
            last = 1000;
            scale = zeros;
        } else if (v == 100) {
            if (group > 9 || last == 100)
                return -1;
            group = (group ? group : 1) * 100;
            last = 100;
        } else {
            int size = v < 10 ? 1 : v < 20 ? 2 : 10;
            if (!(last >= 100 || (last == 10 && size == 1)))
                return -1;
            group += v;
            last = size;
        }
    }
    return total + group;
}

/* The denominator that the last word of "two thirds" or "one half" states, or 0. */
static int word_denominator(struct span word)
{
    static const struct {
        const char *word;
        int value;
    } table[] = {{"half", 2},   {"halves", 2},  {"third", 3}, {"thirds", 3}, {"quarter", 4}, {"quarters", 4},
                 {"fourth", 4}, {"fourths", 4}, {"fifth", 5}, {"fifths", 5}, {"sixth", 6},   {"sixths", 6},
                 {"eighth", 8}, {"eighths", 8}, {"ninth", 9}, {"tenth", 10}, {"tenths", 10}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_is(word, table[i].word))
            return table[i].value;
    return 0;
}

/* The number of a place, "seventh", or 0. */
static int ordinal_of(struct span word)
{
    static const char *const table[] = {"first",   "second", "third", "fourth", "fifth",    "sixth",
                                        "seventh", "eighth", "ninth", "tenth",  "eleventh", "twelfth"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_is(word, table[i]))
            return (int)i + 1;
    return 0;
}

/* The number that words say: "minus seventeen", "two thirds"; or NULL. */
static const struct math_node *says_number(struct comparison *e, const struct math_node *m,
                                           const struct words *w)
{
    int negative = w->n > 1 && (span_is(w->word[0], "negative") || span_is(w->word[0], "minus"));
    int d = w->n > negative + 1 ? word_denominator(w->word[w->n - 1]) : 0;
    long n = number_of(w, negative, w->n - (d > 0));
    if (n < 0 || (d && n == 0))
        return NULL;
    const struct math_node *value = math_node_integer(e->w, m->source, n);
    if (d)
        value = math_node_2(e->w, MATH_DIVIDE, m->source, value, math_node_integer(e->w, m->source, d));
    return negative ? math_node_1(e->w, MATH_NEGATE, m->source, value) : value;
}

/* 12:00, of that half of the day. */
static const struct math_node *hour_twelve(struct comparison *e, const struct math_node *m, const char *half)
{
    struct math_node *time = math_node_2(e->w, MATH_TIME, m->source, math_node_integer(e->w, m->source, 12),
                                         math_node_integer(e->w, m->source, 0));
    if (time)
        time->name = half;
    return time;
}

const struct math_node *equal_meaning(struct comparison *e, const struct math_node *m)
{
    const char *mark;
    struct words w = m->kind == MATH_TEXT ? split_words(m->name) : (struct words){0};
    if (w.n < 1)
        return NULL;
    if (says_nothing(&w, 0))
        return math_node_number_set(e->w, m->source, '0', "");
    if (says_infinite(&w))
        return math_node_constant(e->w, m->source, MATH_INFINITY);
    if (w.n == 2 && span_is(w.word[1], "infinity")) {
        const struct math_node *infinity = math_node_constant(e->w, m->source, MATH_INFINITY);
        if (span_is(w.word[0], "negative") || span_is(w.word[0], "minus"))
            return math_node_1(e->w, MATH_NEGATE, m->source, infinity);
        if (span_is(w.word[0], "positive") || span_is(w.word[0], "plus"))
            return infinity;
    }
    if (w.n == 1 && (span_is(w.word[0], "noon") || span_is(w.word[0], "midnight")))
        return hour_twelve(e, m, *w.word[0].s == 'n' ? "pm" : "am");
    char which = says_numbers(&w, &mark);
    if (which)
        return math_node_number_set(e->w, m->source, which, mark);
    if (w.n == 1 && ordinal_of(w.word[0]))
        return math_node_integer(e->w, m->source, ordinal_of(w.word[0]));
    if (w.n == 2 && w.word[1].n == 1 && (span_is(w.word[0], "option") || span_is(w.word[0], "choice")))
        return math_node_named(e->w, MATH_SYMBOL, m->source,
                               arena_printf(e->w->arena, "%c", *w.word[1].s - 'a' + 'A'));
    const struct math_node *number = says_number(e, m, &w);
    return number ? number : equal_chinese_number(e, m);
}
