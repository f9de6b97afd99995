/* What a last sentence says of the reference in words of its own: options that hold, that there is no such
 * thing, and words of languages without blanks (contract: grading.h). It is only asked where the reference is
 * of such a kind. */
#include "answer_check/strict/grading.h"

#include <string.h>

#include "answer_check/strict/sentence.h"

/* The last sentence of the section, without the marks of Markdown. */
static struct span last_sentence(struct span section, struct math_work *w)
{
    enum { REACH = 400 };
    struct span line;
    if (!extract_last_line(&line, section))
        return (struct span){0};
    line = span_end(line, REACH);
    for (size_t next; (next = sentence_next(line, 0)) < line.n;)
        line = span_trim((struct span){line.s + next, line.n - next});
    return sentence_plain(line, w);
}

/* ---- letters of options ---- */

/* Adds the letter of an option that stands at i, "A" or "(A)", as a word of its own. */
static int option_at(struct span s, size_t i)
{
    if (s.s[i] < 'A' || s.s[i] > 'H' || span_is_word(s, i + 1) || (i && span_is_word(s, i - 1)))
        return 0;
    return !(s.s[i] == 'A' && i + 1 < s.n && s.s[i + 1] == ' ' && i + 2 < s.n &&
             ascii_is_letter(s.s[i + 2]) && !span_starts((struct span){s.s + i + 2, s.n - i - 2}, "and") &&
             !span_starts((struct span){s.s + i + 2, s.n - i - 2}, "or"));
}

/* The letters that "Statements A and C are true" and "\xe6\x95\x85\xe9\x80\x89" (Chinese: so choose) name, as
 * a list: their number. */
static int named_options(char out[24], struct span s)
{
    static const char verbs[] = "are true|are correct|hold|holds|is true|is correct|are right|are valid";
    static const char chosen[] = "\xe9\x80\x89"; /* to choose */
    const char *choice = memmem(s.s, s.n, chosen, 3);
    int n = 0;
    size_t len = 0;
    if (!choice && !sentence_says(s, verbs))
        return 0;
    if (sentence_says(s, "not|only if|neither|nor|false|wrong|or|either|if|cannot|incorrect"))
        return 0;
    size_t from = choice ? (size_t)(choice - s.s) + 3 : 0;
    for (size_t i = from; i < s.n && n < 6; i++) {
        if (choice && !n && i - from > 12)
            break;
        if (!option_at(s, i))
            continue;
        len += (size_t)(n ? 2 : 0);
        if (n)
            memcpy(out + len - 2, ", ", 2);
        out[len++] = s.s[i];
        n++;
    }
    out[len] = 0;
    return n;
}

/* Is the reference made of such letters alone: "A", "A,C", "\text{(B) and (C)}"? */
static int has_option_letters(struct span gold)
{
    int n = 0;
    if (gold.n > 40)
        return 0;
    for (size_t i = 0; i < gold.n; i++) {
        struct span rest = {gold.s + i, gold.n - i};
        if (span_starts(rest, "\\text{") || span_starts(rest, "\\textbf{") ||
            span_starts(rest, "\\mathrm{")) {
            while (gold.s[i] != '{')
                i++;
        } else if (span_starts(rest, "and")) {
            i += 2;
        } else if (gold.s[i] >= 'A' && gold.s[i] <= 'H') {
            n++;
        } else if (!strchr("(), }$;", gold.s[i])) {
            return 0;
        }
    }
    return n;
}

static int grade_options(struct grading *g, struct span s)
{
    char letters[24], own[24];
    int n = has_option_letters(g->gold), found = n ? named_options(letters, s) : 0, k = 0;
    if (!found || found != n)
        return 0;
    size_t len = 0;
    for (size_t i = 0; i < g->gold.n && k < n && k < 6; i++)
        if (g->gold.s[i] >= 'A' && g->gold.s[i] <= 'H') {
            len += (size_t)(k ? 2 : 0);
            if (k)
                memcpy(own + len - 2, ", ", 2);
            own[len++] = g->gold.s[i];
            k++;
        }
    return k == n && !memcmp(own, letters, len);
}

/* ---- words ---- */

/* The reference's words without what sets them as text. */
static struct span bare_words(struct span gold)
{
    static const char open[] = "\\text{";
    size_t n = strlen(open);
    if (gold.n > n + 1 && span_at(gold, 0, open) && gold.s[gold.n - 1] == '}')
        return span_trim((struct span){gold.s + n, gold.n - n - 1});
    return gold;
}

/* Does the sentence end with the reference's words of a language without blanks, and not deny them? */
static int ends_with_words(struct span gold, struct span s)
{
    static const char *const ends[] = {"\xe3\x80\x82", "\xe7\x9a\x84", ".", "!", "\xef\xbc\x81"};
    static const char *const denials[] = {"\xe4\xb8\x8d", "\xe9\x9d\x9e", "\xe6\x9c\xaa",
                                          "\xe5\xb9\xb6", "\xe6\xb2\xa1", "\xe5\x90\xa6"};
    gold = bare_words(gold);
    if (gold.n < 3 || (unsigned char)gold.s[0] < 0xe3)
        return 0;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        size_t n = strlen(ends[k]);
        if (s.n > n && !memcmp(s.s + s.n - n, ends[k], n)) {
            s.n -= n;
            k = (size_t)-1;
        }
    }
    if (s.n <= gold.n || memcmp(s.s + s.n - gold.n, gold.s, gold.n) != 0)
        return 0;
    struct span before = {s.s, s.n - gold.n};
    struct span last = before.n > 6 ? (struct span){before.s + before.n - 6, 6} : before; /* two characters */
    for (size_t k = 0; k < sizeof denials / sizeof *denials; k++)
        if (memmem(last.s, last.n, denials[k], 3))
            return 0;
    return !memmem(before.s, before.n, "\xe5\xa6\x82\xe6\x9e\x9c", 6); /* if */
}

/* Does the sentence say that an order is the reference's names, "The order is Beth, Ann, Carl"? */
static int says_order(struct span gold, struct span s)
{
    gold = bare_words(gold);
    while (s.n && strchr(".! ", s.s[s.n - 1]))
        s.n--;
    return s.n > gold.n + 4 && !memcmp(s.s + s.n - gold.n, gold.s, gold.n) && s.s[s.n - gold.n - 1] == ' ' &&
           sentence_says(s, "order|ranking|ranked|sequence is|line up|lined up|finish") &&
           !sentence_is_doubtful(s);
}

int grade_sayings(struct grading *g, struct span section)
{
    int is_zero = span_is(g->gold, "0"), is_wide = g->gold.n > 2 && (g->gold.s[0] & 0x80);
    is_wide |= g->gold.n > 6 && span_at(g->gold, 0, "\\text{") && (g->gold.s[6] & 0x80);
    int is_order = span_at(g->gold, 0, "\\text{") && memchr(g->gold.s, ',', g->gold.n);
    if (!is_zero && !is_wide && !is_order && !has_option_letters(g->gold))
        return 0;
    struct span s = last_sentence(section, g->w);
    int is_none =
        is_zero && sentence_begins(s, "there are no such|there is no such|there exist no such|hence there "
                                      "are no such|so there are no such|thus there are no such|"
                                      "therefore there are no such");
    is_none |=
        is_zero &&
        (sentence_begins(s, "there are none|so there are none|thus there are none|hence there are none|"
                            "therefore there are none") ||
         (sentence_begins(s, "no such|so no such|thus no such|hence no such|therefore no such|therefore, "
                             "no such") &&
          sentence_says(s, "exist|exists")));
    if (!s.n || (!is_none && !(is_wide && ends_with_words(g->gold, s)) && !grade_options(g, s) &&
                 !(is_order && says_order(g->gold, s))))
        return 0;
    grading_note(g, "last sentence", s);
    return !grading_as_text(g, s, VERDICT_CORRECT, "The last sentence says what the reference says.");
}
