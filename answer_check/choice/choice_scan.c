/* Finds declarations of option letters in an answer section, by class (contract: choice_scan.h). The
 * comment of each rule shows what it matches. */
#include "answer_check/choice/choice_scan.h"

#include <string.h>

static void note(struct choice_found *out, const struct choice_text *t, enum choice_class k, size_t content)
{
    size_t end;
    char letter = content < out->until ? 0 : choice_declared(t, content, &end);
    if (!letter)
        return;
    size_t second = choice_another(t, end, letter);
    out->letter[k] = letter;
    out->conflicts[k] = second > 0;
    if (second)
        out->until = second;
}

/* Is "= C" at i a letter, not the start of a formula ("= C + 1")? */
static int equals_letter(const struct choice_text *t, size_t i)
{
    size_t end;
    if (!choice_declared(t, i + 1, &end) || (choice_at(t, end) == '*' && choice_is_word(t, end + 1)))
        return 0;
    end = choice_skip(t, end, " )*_`]'\"", NULL);
    return !strchr("+-/^=\\(", choice_at(t, end)) || !choice_at(t, end);
}

/* Is there a letter at i, behind blanks and marks, and nothing else to the end of its line or sentence? */
static int lone_letter(const struct choice_text *t, size_t i)
{
    size_t end;
    return choice_declared(t, i, &end) && choice_ends(t, end);
}

/* Can a verb of behind_verb() start with c? This skips most bytes quickly. */
static int is_verb_start(char c)
{
    c = ascii_lower(c);
    return c == 'i' || c == 'e' || c == 'b' || c == '\xc3';
}

/* For a noun such as "answer" that ends at i, the position of what it declares, or 0. It stands behind
 * "=", a dash, "->" or the ">" of a tag with nothing between ("Answer - C", "<answer>C"); or directly
 * behind the noun, in the rest of the line or below it as under a heading ("Final answer C.", "##
 * Answer"); or behind a ":" or "is" that follows on the same line within 60 bytes. */
static size_t behind_verb(const struct choice_text *t, size_t i)
{
    static const char *const verbs[] = {"ist", "is", "est", "es", "be", "\xc3\xa9", "\xc3\xa8", NULL};
    size_t n, sign = choice_skip(t, i, " *_", NULL);
    if (choice_at(t, sign) == '=' && choice_at(t, sign + 1) != '>')
        return equals_letter(t, sign) ? sign + 1 : 0;
    n = choice_skip(t, sign, "=->", NULL) - sign;
    if (n)
        return n <= 3 ? sign + n : 0;
    if (sign < t->n && sign > i && lone_letter(t, sign))
        return sign;
    for (size_t j = i; j < t->n && j < i + 60; j++) {
        if (t->s[j] == ':')
            return j + 1;
        if (t->s[j] == '\n' || t->s[j] == '.' || t->s[j] == ';' || t->s[j] == '?')
            return t->s[j] == '\n' && j == sign && lone_letter(t, j) ? j : 0;
        if (j > i && is_verb_start(t->s[j]) && !choice_is_word(t, j - 1) &&
            (n = choice_has_any(t, j, verbs)) && !choice_is_word(t, j + n))
            return j + n;
    }
    return 0;
}

/* Does the word stand before i, with white space between? */
static int word_before(const struct choice_text *t, size_t i, const char *word)
{
    size_t n = strlen(word), blank = i;
    while (blank && t->s[blank - 1] == ' ')
        blank--;
    return blank < i && blank >= n && choice_has(t, blank - n, word) &&
           !(blank > n && choice_is_word(t, blank - n - 1));
}

static int any_before(const struct choice_text *t, size_t i, const char *const *words)
{
    for (int k = 0; words[k]; k++)
        if (word_before(t, i, words[k]))
            return 1;
    return 0;
}

/* Do these words make the option before them the answer? */
static int is_right(const struct choice_text *t, size_t i)
{
    static const char *const right[] = {"is correct",           "is right",
                                        "is the correct",       "is the right",
                                        "is the best",          "is the answer",
                                        "is therefore correct", "must be correct",
                                        "must be right",        NULL};
    return choice_has_any(t, i, right) > 0;
}

/* "if B is correct" only supposes that it is. */
static int is_supposed(const struct choice_text *t, size_t i)
{
    static const char *const words[] = {"if", "whether", "unless", "suppose", "assume", "assuming", NULL};
    return any_before(t, i, words) || (word_before(t, i, "option") && i > 7 && any_before(t, i - 7, words));
}

/* "not (A)", "(B) fails", "option C is wrong": is this option only named to be rejected? */
static int is_rejected(const struct choice_text *t, size_t before, size_t end)
{
    static const char *const no[] = {"not", "n't",  "reject", "exclude", "eliminate",
                                     "out", "than", "unlike", NULL};
    static const char *const wrong[] = {"is wrong",      "is incorrect", "is not ",       "is false",
                                        "isn't",         "cannot ",      "can't ",        "fails",
                                        "is out",        "is ruled",     "is excluded",   "is eliminated",
                                        "is impossible", "does not ",    "doesn't ",      "would be wrong",
                                        "is also wrong", "are wrong",    "are incorrect", NULL};
    return any_before(t, before, no) || choice_has_any(t, end, wrong);
}

static void mention(struct choice_found *out, char letter)
{
    enum choice_class k = CHOICE_MENTIONED;
    out->conflicts[k] |= out->letter[k] && out->letter[k] != letter;
    out->letter[k] = letter;
}

/* "option B is correct" declares B, "option B" alone mentions it. i is behind the noun that starts at
 * `noun`. */
static void note_option(struct choice_found *out, const struct choice_text *t, size_t noun, size_t i)
{
    size_t end;
    char letter = choice_at(t, i) == ' ' || choice_at(t, i) == ':' ? choice_declared(t, i, &end) : 0;
    if (!letter)
        return;
    end = choice_skip(t, end, " )*_`]'\"", NULL);
    if (!is_right(t, end)) {
        if (!is_rejected(t, noun, end))
            mention(out, letter);
    } else if (!is_supposed(t, noun)) {
        out->letter[CHOICE_DECLARED] = letter;
        out->conflicts[CHOICE_DECLARED] = 0;
    }
}

/* "B is correct", "[B] is the right one": the letter before the verb at i. */
static void note_subject(struct choice_found *out, const struct choice_text *t, size_t i)
{
    size_t end = i, start;
    while (end && strchr(" )*_`]'\"", t->s[end - 1]) && t->s[end - 1])
        end--;
    if (!end || end == i)
        return;
    for (start = end - 1; start && strchr("(*_`['\"", t->s[start - 1]) && t->s[start - 1];)
        start--;
    char letter = choice_letter_at(t, end - 1, start < end - 1 ? CHOICE_ENCLOSED : CHOICE_BARE);
    if (!letter || letter != t->s[end - 1] || is_supposed(t, start))
        return;
    out->letter[CHOICE_DECLARED] = letter;
    out->conflicts[CHOICE_DECLARED] = 0;
}

/* "(B)", "[B]" and "**B**" in running text. */
static void note_mark(struct choice_found *out, const struct choice_text *t, size_t i)
{
    size_t j = i;
    char open = t->s[i], close = open == '(' ? ')' : open == '[' ? ']' : '*';
    while (choice_at(t, j) == open)
        j++;
    char letter = choice_letter_at(t, j, CHOICE_ENCLOSED);
    if (!letter || t->s[j] != letter || choice_at(t, j + 1) != close)
        return;
    if (!is_rejected(t, i, choice_skip(t, j + 1, " )*_`]'\"", NULL)))
        mention(out, letter);
}

/* "Hence C.", "So, (B)": a word that introduces a conclusion, followed by nothing but a letter. */
static void note_conclusion(struct choice_found *out, const struct choice_text *t, size_t i)
{
    static const char *const words[] = {"so", "thus", "hence", "therefore", "conclusion", NULL};
    size_t n = choice_has_any(t, i, words);
    if (!n || choice_is_word(t, i + n))
        return;
    i += n + (choice_at(t, i + n) == ',' || choice_at(t, i + n) == ':');
    if ((choice_at(t, i) == ' ' || choice_at(t, i) == '\n') && lone_letter(t, i))
        note(out, t, CHOICE_CHOSEN, i);
}

/* The nouns of a declaration: "answer" in the languages that models answer in, and weaker ones. */
static void note_noun(struct choice_found *out, const struct choice_text *t, size_t i)
{
    static const char *const answers[] = {"answer",
                                          "r\xc3\xa9ponse",
                                          "reponse",
                                          "respuesta",
                                          "resposta",
                                          "risposta",
                                          "antwort",
                                          "\xd0\xbe\xd1\x82\xd0\xb2\xd0\xb5\xd1\x82", /* ru */
                                          "\xd0\x9e\xd1\x82\xd0\xb2\xd0\xb5\xd1\x82",
                                          NULL}; /* the same with a capital */
    static const char *const options[] = {"option", "choice", "guess", "selection", NULL};
    static const char *const right[] = {"correct", "right", "best", NULL};
    size_t content, n = choice_has_any(t, i, answers);
    if (n) {
        if (!(i && t->s[i - 1] == '/') && (content = behind_verb(t, i + n)))
            note(out, t, CHOICE_DECLARED, content);
        return;
    }
    n = choice_has_any(t, i, options);
    if (!n)
        return;
    if (n == 6)
        note_option(out, t, i, i + n);
    if ((content = behind_verb(t, i + n)))
        note(out, t, any_before(t, i, right) ? CHOICE_DECLARED : CHOICE_CHOSEN, content);
}

static void scan_at(struct choice_found *out, const struct choice_text *t, size_t i)
{
    static const char *const chosen[] = {"choose ",    "choosing ", "chose ",      "pick ",    "select ",
                                         "selecting ", "go with ",  "going with ", "opt for ", "settle on ",
                                         "it is ",     "it's ",     "must be ",    NULL};
    char c = ascii_lower(t->s[i]);
    static const char *const no[] = {"not", NULL};
    if (c == '\\' && (choice_has(t, i, "\\boxed") || choice_has(t, i, "\\fbox")) && !any_before(t, i, no))
        note(out, t, CHOICE_DECLARED, i);
    if ((c == '(' || c == '[' || c == '*') && (!i || t->s[i - 1] != t->s[i]))
        note_mark(out, t, i);
    if (!c || !strchr("aocpsgimrth\xd0", c) || (i && choice_is_word(t, i - 1)))
        return;
    note_noun(out, t, i);
    if ((c == 'i' || c == 'm') && is_right(t, i))
        note_subject(out, t, i);
    size_t n = choice_has_any(t, i, chosen);
    if (n)
        note(out, t, CHOICE_CHOSEN, i + n);
    note_conclusion(out, t, i);
}

/* The last line, or its last sentence, if it is only a letter ("B", "(B).", "**B**") or starts like an
 * option ("**B) the text of it**"). */
static void scan_last(struct choice_found *out, const struct choice_text *t)
{
    size_t end = t->n, start, end_letter;
    while (end && ascii_is_space(t->s[end - 1]))
        end--;
    start = end;
    while (start && t->s[start - 1] != '\n' &&
           !(start < end && start > 1 && t->s[start - 1] == ' ' && t->s[start - 2] == '.'))
        start--;
    struct choice_text line = *t;
    line.n = end;
    size_t i = choice_skip(&line, start, " *_(#`['\"->", NULL);
    int marked = i > start || choice_at(&line, i + 1) == ')'; /* "(b)" and "b)" are; "b" alone is no answer */
    if ((choice_at(&line, i) < 'A' || choice_at(&line, i) > 'Z') &&
        !(marked && choice_skip(&line, i + 1, " *_)]`'\".:", NULL) >= end))
        return;
    char letter = choice_letter_at(&line, i, CHOICE_ENCLOSED);
    end_letter = choice_skip(&line, i + 1, " *_)]`'\".:", NULL);
    if (letter && !is_rejected(t, start, end_letter) && (end_letter >= end || choice_at(&line, i + 1) == ')'))
        out->letter[CHOICE_ALONE] = letter;
}

/* Does a line start like an option ("B. twelve metres", "**C)** because", "(D)", "C" alone) at i? */
static char label_at(const struct choice_text *t, size_t i)
{
    int marks;
    i = choice_skip(t, i, " \t*_(#`['\"", &marks);
    size_t behind = choice_skip(t, i + 1, "*_`]'\")", NULL);
    char c = choice_at(t, i), next = choice_at(t, behind);
    int is_closed = behind > i + 1, ends = ascii_is_space(choice_at(t, behind + 1));
    if (c < 'A' || c > 'Z' || is_rejected(t, i, choice_skip(t, behind, " ", NULL)))
        return 0;
    if (is_closed && (marks > 0 || t->s[i + 1] == ')')) /* in marks, or "C)" */
        return ascii_is_space(next) || next == '.' || next == ':' ? choice_letter_at(t, i, CHOICE_ENCLOSED)
                                                                  : 0;
    if (is_closed || (next != '\n' && next != '\r' && !(next == '.' && ends)))
        return 0;
    return choice_letter_at(t, i, CHOICE_ENCLOSED);
}

/* The option with which lines start, provided that all such lines name the same one; otherwise they are a
 * list of the options. */
static void scan_labels(struct choice_found *out, const struct choice_text *t)
{
    char only = 0;
    for (size_t start = 0; start < t->n;) {
        const char *newline = memchr(t->s + start, '\n', t->n - start);
        char letter = label_at(t, start);
        if (letter && only && only != letter)
            return;
        only = letter ? letter : only;
        start = newline ? (size_t)(newline - t->s) + 1 : t->n;
    }
    out->letter[CHOICE_LABELLED] = only;
}

void choice_scan(struct choice_found *out, struct span section, int n_options, enum finish finish,
                 struct arena *a)
{
    struct span plain = choice_plain(section, a);
    struct choice_text t = {plain.s, plain.n, (char)('A' + n_options - 1), finish == FINISH_LENGTH};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < t.n; i++)
        scan_at(out, &t, i);
    scan_last(out, &t);
    scan_labels(out, &t);
}
