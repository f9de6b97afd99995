/* The clause of a sentence that presents its result (contract: sentence.h). A sentence is cut at commas,
 * semicolons, dashes and a few conjunctions, outside formulas and brackets. Clauses that give a reason, a
 * time or an aside present nothing; one that draws a conclusion comes before one that does not; and a clause
 * that rejects what was said voids all of it. */
#include "answer_check/strict/sentence.h"

#include <string.h>

#include "answer_check/strict/extract.h"

enum clause_kind { CLAUSE_PLAIN, CLAUSE_SIDE, CLAUSE_CONCLUSION };

struct clause {
    struct span text;
    enum clause_kind kind;
};
enum { CLAUSES = 12 };

/* Words that open a clause beside the point, and those that open a conclusion. */
static const char side[] =
    "or about|or approximately|or roughly|or around|or nearly|approximately|about|roughly|which is "
    "about|which is "
    "approximately|that is "
    "about|since|because|as|when|where|which|who|whose|with|while|using|by|given|after|before|note|noting|i."
    "e|e.g|"
    "rather than|instead of|not|attained|achieved|reached|obtained|see|from|in|out of|of the|of these|though|"
    "although|even though|unlike|smaller|larger|for|eliminating|plugging|substituting|setting|taking|adding|"
    "subtracting|dividing|multiplying|excluding|discarding|rejecting|checking|solving|considering|as desired|"
    "as required|as claimed|because of|due to|counting|including|if|once|on the|denn|da|weil|wobei|car|"
    "puisque|parce que|porque|pues|ya que|pois|poiché|perché";
static const char conclusion[] =
    "so|thus|hence|therefore|then|giving|gives|leaving|yielding|making|which gives|which leaves|which "
    "is|which "
    "means|which equals|which makes|which yields|this gives|it is|it's|it has to|it must|the only|we get|we "
    "obtain|we find|and so|and thus|and hence|and therefore|the answer|所以|因此|故";
static const char supposing[] = "for example|for instance|if|suppose|supposing|assume|assuming|let|were|when";
static const char turning[] = "but|which|this|that|it|however|yet|and this|though|although";

/* Does the text begin with a word, and not with a function's name? */
static int begins_with_word(struct span s)
{
    size_t n = 0;
    while (n < s.n && ascii_is_letter(s.s[n]))
        n++;
    return n > 1 && !sentence_is_math_word((struct span){s.s, n});
}

/* Is the word before the blank at i one that "giving" belongs to, "after giving 12 away"? */
static int follows_preposition(struct span s, size_t i)
{
    size_t from = i;
    while (from && ascii_is_letter(s.s[from - 1]))
        from--;
    return sentence_says((struct span){s.s + from, i - from}, "after|before|by|without|of|from|for|and|or");
}

/* Does it speak of a share, "3 of them negative"? */
static int is_share(struct span s)
{
    size_t i = 0;
    while (i < s.n && ascii_is_digit(s.s[i]))
        i++;
    struct span rest = {s.s + i, s.n - i};
    return i && (span_starts(rest, " of them") || span_starts(rest, " of these") ||
                 span_starts(rest, " of which") || span_starts(rest, " of whom"));
}

/* Does a clause begin at byte i of the sentence? The length of what separates it from the one before: of the
 * blank, where a conjunction does. */
static size_t boundary(struct span s, size_t i)
{
    static const char *const dashes[] = {" \xe2\x80\x94 ", " \xe2\x80\x93 ", " -- ", " - "};
    static const char words[] =
        "so|because|since|rather than|instead of|but|hence|therefore|thus|leaving|giving";
    struct span rest = {s.s + i + 1, s.n - i - 1};
    for (size_t k = 0; s.s[i] == ' ' && k < sizeof dashes / sizeof *dashes; k++)
        if (span_at(s, i, dashes[k])) {
            struct span behind = {s.s + i + strlen(dashes[k]), s.n - i - strlen(dashes[k])};
            return begins_with_word(behind) ? strlen(dashes[k]) : 0;
        }
    if (span_at(s, i, "\xef\xbc\x8c")) /* the full-width comma */
        return 3;
    int is_wide = rest.n > 1 && (unsigned char)rest.s[0] >= 0xe3;
    if (s.s[i] == ',' && is_wide) /* before a character of Chinese */
        return 1;
    if ((s.s[i] == ',' || s.s[i] == ';') && rest.n > 1 && rest.s[0] == ' ') {
        struct span word = span_trim(rest);
        while (word.n && strchr("*_", word.s[0]))
            word = (struct span){word.s + 1, word.n - 1};
        int is_word =
            begins_with_word(word) || is_share(word) || span_starts(word, "i.e") || span_starts(word, "e.g");
        int is_letter = word.n > 3 && ascii_is_letter(word.s[0]) && word.s[1] == ' ' && s.s[i] == ';';
        is_letter |= word.n > 4 && ascii_is_letter(word.s[0]) &&
                     span_at(word, 1, " =") && /* "when x = 4, y = 36" */
                     sentence_says((struct span){s.s, i}, "when|if|for|with|at|where");
        int is_joint = span_starts(word, "and ") || span_starts(word, "or ");
        if (is_joint) { /* of a list, unless a clause follows */
            struct span after = span_trim((struct span){word.s + 3, word.n - 3});
            is_word = begins_with_word(after) && !span_starts(after, "both");
        }
        return is_word || is_letter ? 2 : 0;
    }
    if (s.s[i] == ' ' && i && s.s[i - 1] != ',' && rest.n > 3 && sentence_begins(rest, words) &&
        !sentence_begins(rest, "so far|so that|so many|so much") && ascii_is_letter(rest.s[0]) &&
        !follows_preposition(s, i))
        return 1;
    /* "12 as 12 + 12 + 12 = 36" */
    if (span_at(s, i, " as ") && i && (ascii_is_digit(s.s[i - 1]) || s.s[i - 1] == '$') &&
        memchr(rest.s, '=', rest.n))
        return 1;
    return 0;
}

static int has_digit(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (ascii_is_digit(s.s[i]))
            return 1;
    return 0;
}

/* May a value stand in the clause? */
static int has_value(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.s[i] & 0x80) || strchr("$\\=+^<>", s.s[i]))
            return 1;
    if (sentence_says(s, "sin|cos|tan|ln|log|sqrt|infinity|pi|e"))
        return 1;
    return has_digit(s) || sentence_number_word(s, 0, NULL);
}

/* Without the aside in parentheses that the clause ends with: "12 (we discard -12)", not "(3, 4)". */
static struct span without_aside(struct span s)
{
    size_t end = s.n;
    while (end && strchr(".!*_ ", s.s[end - 1]))
        end--;
    if (!end || s.s[end - 1] != ')' || (end > 1 && s.s[end - 2] == '\\'))
        return s;
    size_t open = end - 1;
    for (int depth = 0; open; open--) {
        depth += (s.s[open] == ')') - (s.s[open] == '(');
        if (!depth)
            break;
    }
    int run = 0, longest = 0;
    for (size_t i = open; i < end; i++) {
        run = ascii_is_letter(s.s[i]) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    struct span aside = {s.s + open, end - open};
    int is_reason = sentence_begins(aside, "as|since|because|for") && s.s[open - 1] == ' ';
    int is_aside = !span_starts(aside, "(mod") && open > 1 && s.s[open - 1] == ' ' && longest > 2 &&
                   !memchr(aside.s, '\\', aside.n);
    if (is_reason)
        return span_trim((struct span){s.s, open});
    if (!is_aside || (sentence_is_doubtful(aside) && !has_digit(aside))) /* "12 (rejected)" */
        return s;
    return span_trim((struct span){s.s, open});
}

/* Is the letter behind "for" one of a condition, "for a < 0"? */
static int is_condition(struct span s)
{
    size_t i = 4;
    s = span_trim(s);
    while (i < s.n && (ascii_is_letter(s.s[i]) || s.s[i] == ' '))
        i++;
    return i < s.n && i < 8 && strchr("<>=\\$\xe2", s.s[i]);
}

static enum clause_kind kind_of(struct span s)
{
    if (!has_value(s) &&
        sentence_begins(s, "so that's|so that is|so this is|so it is|so we are done|so we're done|"
                           "and we are done|and that is|which is"))
        return CLAUSE_SIDE;
    if (has_digit(s) && sentence_begins(s, "whose") &&
        sentence_says(s, "sum is|product is|difference is|total is"))
        return CLAUSE_CONCLUSION;
    if (has_digit(s) && is_share(s))
        return CLAUSE_SIDE;
    if (has_digit(s) && sentence_says(s, "in all|in total|altogether"))
        return CLAUSE_CONCLUSION;
    if (sentence_begins(s, "i.e|that is") && has_value(s) &&
        sentence_says(
            s, "solution set is|solutions are|solution is|answer is|interval is|set is|range is|domain is"))
        return CLAUSE_CONCLUSION;
    if (sentence_begins(s, "for a") && is_condition(s))
        return CLAUSE_SIDE;
    if (sentence_begins(
            s, "which occurs|which happens|which is attained|which is achieved|which is reached|which is "
               "obtained|which is when|which holds"))
        return CLAUSE_SIDE;
    if (has_digit(s) &&
        sentence_begins(s, "which|for a|for an|totaling|totalling|bringing|to give|to make|to get|"
                           "amounting|adding up"))
        return CLAUSE_CONCLUSION; /* ", which at $2 each brings in $18", ", for a total of 540" */
    if (sentence_begins(s, conclusion) && (has_value(s) || !sentence_begins(s, "which|it")))
        return CLAUSE_CONCLUSION;
    if (has_digit(s) && sentence_begins(s, "by|using") && sentence_says(s, "is|equals|are|get|have"))
        return CLAUSE_PLAIN; /* "By independence the probability equals 1/2" */
    return sentence_begins(s, side) &&
                   !sentence_begins(s, "in total|in all|in conclusion|in the end|in summary|of "
                                       "whom|of which|for a total|by the way")
               ? CLAUSE_SIDE
               : CLAUSE_PLAIN;
}

/* Cuts the sentence into clauses. */
static int split(struct clause *out, struct span s)
{
    struct formula f = {0};
    int n = 0, depth = 0, exhausted[4] = {0}, has_formula = 1;
    size_t from = 0;
    for (size_t i = 0; i < s.n && n + 1 < CLAUSES;) {
        char c = s.s[i];
        if ((c == '$' || c == '\\') && has_formula && (!f.to || f.from < i))
            has_formula = extract_next_formula(&f, s, i, exhausted);
        if (has_formula && f.to && f.from == i) {
            i = f.to;
            continue;
        }
        depth += (strchr("([{", c) && c) - (strchr(")]}", c) && c);
        size_t gap = depth <= 0 && i > from ? boundary(s, i) : 0;
        if (gap && !(ascii_is_letter(s.s[from]) &&
                     !memchr(s.s + from, ' ', i - from))) { /* "Therefore, .." goes on */
            out[n++].text = without_aside(span_trim((struct span){s.s + from, i - from}));
            from = i += gap;
        } else {
            i++;
        }
    }
    out[n++].text = without_aside(span_trim((struct span){s.s + from, s.n - from}));
    for (int k = 0; k < n; k++)
        out[k].kind = kind_of(out[k].text);
    return n;
}

int sentence_clause(struct span *out, struct span s)
{
    struct clause c[CLAUSES];
    int n = split(c, s), pick = -1;
    for (int i = 1; i < n; i++)
        if (c[i].kind == CLAUSE_CONCLUSION)
            pick = i;
    int concludes = pick > 0;
    for (int i = n - 1; i >= 0 && pick < 0; i--)
        if ((c[i].kind != CLAUSE_SIDE || n == 1) && has_value(c[i].text) && !sentence_is_doubtful(c[i].text))
            pick = i;
    if (pick < 0)
        return 0;
    for (int i = 0; i < n; i++) {
        if (i == pick || !sentence_is_doubtful(c[i].text))
            continue;
        if (i < pick) { /* "We reject -2, which leaves 12", but not "if x = 3, then 12" */
            if (sentence_begins(c[i].text, supposing) || !(concludes || c[i].kind == CLAUSE_SIDE))
                return 0;
        } else if (sentence_begins(c[i].text, "since|because|as")) {
            continue; /* "12, since we exclude one" */
        } else if (!has_digit(c[i].text) || (sentence_begins(c[i].text, turning))) {
            return 0; /* "x = 12, which is impossible" */
        }
    }
    *out = c[pick].text;
    return out->n > 0 && !sentence_is_doubtful(*out);
}
