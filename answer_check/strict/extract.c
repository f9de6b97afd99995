/* Finds declarations and the last line in an answer section. */
#include "answer_check/strict/extract.h"

#include <string.h>

#include "answer_check/strict/sentence.h"
#include "answer_check/text/value_words.h"
#include "evalcore/base/str.h"

static int is_decoration(char c)
{
    return ascii_is_space(c) || c == '*' || c == '_' || c == ':' || c == '#' || c == '`';
}

struct declaration {
    size_t content; /* where it starts */
    size_t end;     /* where it ends at the latest */
    int strong;   /* "final answer ...", "Answer:" as the start of a sentence, or "<answer>"; else "the answer
                   * is ..." */
    int is_label; /* strong, with a colon: what follows is the answer even if it is words */
    int is_tag;   /* in tags */
    int is_open;  /* in a tag that nothing closes */
    int is_block; /* several lines, which are searched like a section */
    int is_value; /* only a value counts, no words */
};

/* The verb at i, with what may follow it. */
static int is_is(struct span s, size_t i)
{
    return s.n - i > 2 && ascii_lower(s.s[i]) == 'i' && ascii_lower(s.s[i + 1]) == 's' &&
           (s.s[i + 2] == ' ' || s.s[i + 2] == ':' || s.s[i + 2] == '\n' || s.s[i + 2] == '\\' ||
            s.s[i + 2] == '$');
}

/* Does a tag open at i in which an answer stands? */
static int tag_at(struct declaration *out, struct span s, size_t i)
{
    struct span content;
    int is_closed;
    if (!extract_tag(&content, &is_closed, s, i))
        return 0;
    *out = (struct declaration){.content = (size_t)(content.s - s.s),
                                .end = (size_t)(content.s - s.s) + content.n,
                                .strong = 1,
                                .is_tag = 1,
                                .is_open = !is_closed,
                                .is_value = !is_closed,
                                .is_block = memchr(content.s, '\n', content.n) != NULL};
    return 1;
}

/* Does a line begin at i with "#### " and a value, as in GSM8K? */
static int hashes_at(struct declaration *out, struct span s, size_t i)
{
    if (!span_at(s, i, "####") || span_at(s, i + 4, "#") || (i && s.s[i - 1] != '\n'))
        return 0;
    const char *line = memchr(s.s + i, '\n', s.n - i);
    size_t end = line ? (size_t)(line - s.s) : s.n;
    *out = (struct declaration){.content = i + 4, .end = end, .strong = 1, .is_tag = 1, .is_value = 1};
    return end > i + 4;
}

/* The noun "answer" in other languages at i: its length, or 0. */
static size_t foreign_noun(struct span s, size_t i)
{
    static const char *const nouns[] = {"\xe7\xad\x94\xe6\xa1\x88", /* Chinese */
                                        "\xe7\xad\x94\xe3\x81\x88", /* Japanese */
                                        "\xeb\x8b\xb5",             /* Korean */
                                        "antwort",
                                        "r\xc3\xa9ponse",
                                        "respuesta",
                                        "resposta",
                                        "risposta",
                                        "\xd0\xbe\xd1\x82\xd0\xb2\xd0\xb5\xd1\x82",
                                        "\xd0\x9e\xd1\x82\xd0\xb2\xd0\xb5\xd1\x82"};
    for (size_t k = 0; k < sizeof nouns / sizeof *nouns; k++) {
        if (nouns[k][0] != ascii_lower(s.s[i]) || i + 1 >= s.n || nouns[k][1] != ascii_lower(s.s[i + 1]))
            continue;
        size_t n = strlen(nouns[k]);
        if (n <= s.n - i && span_starts((struct span){s.s + i, s.n - i}, nouns[k]) &&
            !(ascii_is_letter(nouns[k][0]) && i && ascii_is_letter(s.s[i - 1])))
            return n;
    }
    return 0;
}

/* Where the clause begins that ends at i. */
static size_t foreign_clause(struct span s, size_t i)
{
    enum { REACH = 64 };
    size_t from = i;
    while (from && i - from < REACH && !strchr("\n.,;:", s.s[from - 1]) &&
           !(from > 2 && span_at(s, from - 3, "，")) &&
           !(from > 2 && (span_at(s, from - 3, "。") || span_at(s, from - 3, "；"))))
        from--;
    return from;
}

/* Does that noun at i declare something: a verb or a colon behind it? */
static int foreign_declaration(struct declaration *out, struct span s, size_t i)
{
    static const char *const verbs[] = {":",
                                        "\xef\xbc\x9a",
                                        "\xe6\x98\xaf",
                                        "\xe4\xb8\xba",
                                        "\xe7\x82\xba",
                                        "\xe7\xad\x89\xe4\xba\x8e",
                                        "\xe3\x81\xaf",
                                        "\xec\x9d\x80",
                                        "\xeb\x8a\x94",
                                        "ist ",
                                        "ist:",
                                        "est :",
                                        "est:",
                                        "es:",
                                        "est ",
                                        "es ",
                                        "\xc3\xa9 ",
                                        "\xc3\xa8 ",
                                        "\xe2\x80\x94",
                                        "\xe3\x80\x91",
                                        "应该是",
                                        "应该为",
                                        "应为",
                                        "应是"};
    static const char *const denials[] = {"\xe4\xb8\x8d", "\xe9\x9d\x9e"};
    static const char *const adjectives[] = {" correcta", " correcte", " correta", " corretta", " certa",
                                             " esatta",   " exacta",   " exacte",  " final",    " finale"};
    size_t n = foreign_noun(s, i), j = i + n;
    if (!n)
        return 0;
    for (size_t k = 0; j < s.n && s.s[j] == ' ' && k < sizeof adjectives / sizeof *adjectives; k++) {
        size_t length = strlen(adjectives[k]);
        if (span_at(s, j, adjectives[k]) && !(j + length < s.n && ascii_is_letter(s.s[j + length]))) {
            i += length; /* "la respuesta correcta es" */
            j += length;
            break;
        }
    }
    while (j < s.n && j < i + n + 4 && (s.s[j] == ' ' || s.s[j] == '*'))
        j++;
    for (size_t k = 0; k < sizeof denials / sizeof *denials; k++)
        if (span_at(s, j, denials[k]))
            return 0;
    struct span clause = {s.s + foreign_clause(s, i), i - foreign_clause(s, i)};
    if (sentence_begins(clause, "当|若|如果|假设|假如|wenn|falls|si|se|если"))
        return 0;
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
        if (span_at(s, j, verbs[k])) {
            *out = (struct declaration){
                .content = j + strlen(verbs[k]), .end = s.n, .strong = k < 2, .is_label = k < 2};
            return 1;
        }
    return 0;
}

/* The length of an arrow, a dash or an equals sign that stands at i for a colon: "Answer -> 5". */
static size_t arrow_length(struct span s, size_t i)
{
    static const char *const arrows[] = {"\xe2\x86\x92", "\xe2\x87\x92", "->", "=>",
                                         "\xe2\x80\x93", "\xe2\x80\x94", "-",  "="};
    for (size_t k = 0; k < sizeof arrows / sizeof *arrows; k++) {
        size_t n = strlen(arrows[k]);
        if (span_at(s, i, arrows[k]) && i + n < s.n && s.s[i + n] == ' ')
            return n;
    }
    return 0;
}

/* Does the sentence only suppose the answer at i: "suppose the answer is 5", "if the answer were"? */
static int is_supposed(struct span s, size_t i)
{
    enum { REACH = 64 };
    size_t from = i > REACH ? i - REACH : 0;
    for (size_t k = from; k < i; k++)
        if (strchr("\n.,;:>!?", s.s[k]))
            from = k + 1;
    struct span clause = {s.s + from, i - from};
    static const char of[] = " of the ";
    int is_part = clause.n > sizeof of && !memcmp(clause.s + clause.n - (sizeof of - 1), of, sizeof of - 1) &&
                  !sentence_says(clause, "value|form|version|notation|letter");
    return is_part ||
           sentence_says(
               clause,
               "asked to|prove that|show that|doubt|doubt that|whether|cannot conclude|cannot say|"
               "cannot claim|cannot be sure|cannot deduce|cannot tell|can't conclude|can't say|can't tell|"
               "can't be sure|don't think|don't believe|don't know|do not think|do not believe|do not know|"
               "does not mean|doesn't mean|does not follow|doesn't follow|no reason|not clear|unclear|"
               "convinced|mistake to|not shown|not proved|not proven|unproven|not established|claimed|"
               "claim that|textbooks|first glance|first thought|initially|originally|one possible|"
               "a possible|another possible|supposedly|allegedly|false that|the wrong|a wrong|the incorrect|"
               "an incorrect|mistaken|twice the|the first|the second|the third|the fourth|the other|half the|"
               "square of the|cube of the|root of the|double the|times the|thrice the|reciprocal of the") ||
           sentence_begins(
               clause, "if|suppose|supposing|assume|assuming|unless|whether|for n|for general|in general|"
                       "more generally|let us suppose|let us assume|say|when|perhaps|maybe|one might|one may|"
                       "one could|you might|some|many|most people|people|students|others|it is tempting");
}

/* Does "answer" at i declare something? */
static int noun_declares(struct declaration *out, struct span s, size_t i)
{
    if (i && ascii_is_letter(s.s[i - 1]))
        return 0;
    size_t back = i;
    while (back && s.s[back - 1] != '\n' && is_decoration(s.s[back - 1]))
        back--;
    int is_final = back >= 5 && span_starts((struct span){s.s + back - 5, 5}, "final");
    size_t first = is_final ? back - 5 : back; /* where the noun starts */
    while (is_final && first && s.s[first - 1] != '\n' && is_decoration(s.s[first - 1]))
        first--;
    int starts = !first || !(ascii_is_letter(s.s[first - 1]) || s.s[first - 1] == ',');
    size_t reach = is_final ? 100 : 0; /* "final answer to the whole problem is": how far "is" may be */
    size_t j = i + 6;
    if (span_at(s, j, ">") || is_supposed(s, i)) /* a tag */
        return 0;
    if (j < s.n && s.s[j] == 's')
        j++;
    for (; j < s.n; j++) {
        size_t colon = s.s[j] == ':' ? 1 : span_at(s, j, "\xef\xbc\x9a") ? 3 : 0; /* full-width */
        if (!colon && starts && ascii_is_space(s.s[j - 1]))
            colon = arrow_length(s, j);
        int is_verb = !colon && ascii_is_space(s.s[j - 1]) && is_is(s, j);
        if (is_final && j == i + 6 && s.s[j] == '(') { /* "final_answer(7)" */
            const char *close = memchr(s.s + j, '\n', s.n - j);
            size_t end = close ? (size_t)(close - s.s) : s.n;
            while (end > j && s.s[end - 1] != ')')
                end--;
            size_t quote = j + 1 < s.n && strchr("\"'", s.s[j + 1]) ? 1 : 0;
            *out = (struct declaration){
                .content = j + 1 + quote, .end = end - 1 - quote, .strong = 1, .is_label = 1, .is_value = 1};
            return end > j + 2 * quote + 2;
        }
        if (colon || is_verb) {
            int strong = is_final || (colon && starts);
            *out = (struct declaration){.content = j + (colon ? colon : 2),
                                        .end = s.n,
                                        .strong = strong,
                                        .is_label = strong && colon};
            return 1;
        }
        if (s.s[j] == ' ' || s.s[j] == '*' || s.s[j] == '_' || s.s[j] == '"')
            continue;
        if (!reach || s.s[j] == '\n' || s.s[j] == '.' || s.s[j] == '|')
            return 0;
        reach--;
    }
    return 0;
}

/* The bytes that a declaration may begin with. */
static const unsigned char may_declare[256] = {['a'] = 1, ['A'] = 1, ['r'] = 1,  ['R'] = 1,  ['<'] = 1,
                                               ['['] = 1, ['#'] = 1, [0xe7] = 1, [0xeb] = 1, [0xd0] = 1};

/* May a noun begin with the bytes at i: "answer", "antwort", "respuesta", or one of other scripts? */
static int may_be_noun(struct span s, size_t i)
{
    if (s.n - i < 3)
        return 0;
    char next = ascii_lower(s.s[i + 1]), third = ascii_lower(s.s[i + 2]);
    switch (ascii_lower(s.s[i])) {
    case 'a':
        return next == 'n' && (third == 's' || third == 't');
    case 'r':
        return next == '\xc3' || ((next == 'e' || next == 'i') && third == 's');
    case '\xe7':
        return next == '\xad' && third == '\x94';
    case '\xeb':
        return next == '\x8b' && third == '\xb5';
    case '\xd0':
        return third == '\xd1';
    default:
        return 0;
    }
}

/* May the name of a tag in which an answer stands begin so? */
static int may_be_tag(char c)
{
    switch (ascii_lower(c)) {
    case 'a':
    case 'c':
    case 'f':
    case 'o':
    case 'r':
    case 's':
        return 1;
    default:
        return !c;
    }
}

/* Does a declaration stand at i? *seen counts the places that had to be looked at. */
static int declaration_at(struct declaration *out, struct span s, size_t i, int *seen)
{
    unsigned char c = (unsigned char)s.s[i];
    if (c == '<' || c == '[' || c == '#') {
        enum { TAG_COST = 64 }; /* one whose end was looked for in vain */
        *seen += i + 1 < s.n && (c == '#' ? s.s[i + 1] == '#' : ascii_is_letter(s.s[i + 1]));
        if (c == '#')
            return hashes_at(out, s, i);
        int is_there = tag_at(out, s, i);
        *seen += is_there ? 0 : TAG_COST * (i + 2 < s.n && may_be_tag(s.s[i + 1]));
        return is_there;
    }
    if (!may_be_noun(s, i))
        return 0;
    if (!span_starts((struct span){s.s + i, s.n - i}, "answer"))
        return foreign_declaration(out, s, i);
    ++*seen;
    return noun_declares(out, s, i);
}

/* Does the formula go on behind its closing mark, which follows byte i: "$\\pi$/6", "$x$ = 5"? */
static int goes_on(struct span s, size_t i)
{
    while (i < s.n && (ascii_is_space(s.s[i]) || s.s[i] == '.'))
        i++;
    i += span_at(s, i, "$$") || span_at(s, i, "\\)") || span_at(s, i, "\\]") ? 2 : 1;
    size_t behind = i;
    while (behind < s.n && s.s[behind] == ' ')
        behind++;
    if (behind >= s.n || span_at(s, behind, "</")) /* a tag that closes */
        return 0;
    return strchr("/^+=<>", s.s[behind]) || (behind == i && ascii_is_digit(s.s[i]));
}

/* The end of the sentence: ". " outside braces, or a line end; a point inside a number does not end it. */
static size_t sentence_end(struct span s)
{
    size_t i = 0;
    for (int depth = 0; i < s.n && s.s[i] != '\n'; i++) {
        depth += (s.s[i] == '{') - (s.s[i] == '}');
        if (s.s[i] == '.' && depth <= 0 && i + 1 < s.n && ascii_is_space(s.s[i + 1]))
            break;
        if (span_at(s, i, "\xe3\x80\x82")) /* the full-width one */
            break;
    }
    return i;
}

/* Does the sentence open a brace or a formula that it does not close, or end in a command without the
 * argument that it may need? cut_behind: the length limit came right behind it. */
static int is_cut_off(struct span s, int cut_behind)
{
    int braces = 0, dollars = 0, money = 0, in_formula = 0;
    size_t command = s.n; /* start of the command that the sentence ends with */
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '\\') {
            command = i++;
            in_formula += i < s.n && (s.s[i] == '(' || s.s[i] == '[');
            in_formula -= i < s.n && (s.s[i] == ')' || s.s[i] == ']');
            continue;
        }
        if (!ascii_is_letter(s.s[i]))
            command = s.n;
        braces += (s.s[i] == '{') - (s.s[i] == '}');
        dollars += s.s[i] == '$';
        money += s.s[i] == '$' && extract_is_money(s, i, cut_behind);
    }
    if (braces > 0 || (dollars % 2 && !money) || in_formula > 0)
        return 1;
    return command < s.n && (cut_behind || extract_box_name(s, command));
}

/* Is this prose ("correct", "consistent with (2)") rather than a value? */
static int is_words(struct span s, struct math_work *w)
{
    int run = 0, longest = 0;
    if (!s.n || !ascii_is_letter(s.s[0]))
        return 0;
    for (size_t i = 0; i < s.n && longest < 2; i++) {
        run = ascii_is_letter(s.s[i]) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest >= 2 && !math_is_value(w, s);
}

/* Behind marks of Markdown and tags of HTML, the line that opens a fence of code, and the mark of a quoted
 * line. */
static struct span behind_decoration(struct span s)
{
    size_t i = 0;
    while (i < s.n) {
        if (span_at(s, i, "```")) {
            const char *line = memchr(s.s + i, '\n', s.n - i);
            for (i += 3; i < s.n && line && ascii_is_letter(s.s[i]);)
                i++;
        } else if (is_decoration(s.s[i]) || (s.s[i] == '>' && i && s.s[i - 1] == '\n')) {
            i++;
        } else if (span_at(s, i, "<b>") || span_at(s, i, "<i>")) {
            i += 3;
        } else if (span_at(s, i, "<strong>")) {
            i += 8;
        } else {
            break;
        }
    }
    return (struct span){s.s + i, s.n - i};
}

/* The items of a list with bullets, of one value each, as "2, 5": 1, or 0 where s begins with none. */
static int read_items(struct span *out, struct span s, struct math_work *w)
{
    enum { ITEMS = 16 };
    struct str all = {0};
    int n = 0;
    for (; n < ITEMS; n++) {
        s = span_trim(s);
        if (!s.n)
            break;
        size_t mark = span_at(s, 0, "- ") || span_at(s, 0, "* ") ? 2 : span_at(s, 0, "\xe2\x80\xa2 ") ? 4 : 0;
        const char *line = memchr(s.s, '\n', s.n);
        struct span item = {s.s + mark, (line ? (size_t)(line - s.s) : s.n) - mark};
        item = sentence_plain(span_trim(item), w);
        if (!mark || !math_is_value(w, item))
            break;
        str_puts(&all, n ? ", " : "");
        str_add(&all, item.s, item.n);
        s = line ? (struct span){line, s.n - (size_t)(line - s.s)} : (struct span){s.s + s.n, 0};
    }
    *out = (struct span){arena_strndup(w->arena, str_text(&all), all.len), all.len};
    str_release(&all);
    return n > 0;
}

/* A formula that the line begins with and that nothing closes, if it is whole otherwise: "\\( \\frac{1}{2}".
 */
static int open_formula(struct span *out, struct span s, struct math_work *w)
{
    enum { OPEN_MAX = 400 };
    const char *line = memchr(s.s, '\n', s.n);
    size_t mark = s.s[0] == '$' && !span_at(s, 0, "$$") ? 1 : 2;
    int depth = 0;
    s = span_trim((struct span){s.s + mark, (line ? (size_t)(line - s.s) : s.n) - mark});
    while (s.n && strchr(".,* ", s.s[s.n - 1]))
        s.n--;
    for (size_t i = 0; i < s.n && depth >= 0; i++)
        depth += (s.s[i] == '{') - (s.s[i] == '}');
    *out = s;
    return s.n && s.n < OPEN_MAX && !depth && !memchr(s.s, '$', s.n) && math_is_value(w, s);
}

/* What is declared at the start of `rest`. end: where the section's last word ends, or NULL: the length limit
 * did not come, so that nothing was cut off there. */
static enum declared_status read_content(struct declared *out, int *words, struct span rest, const char *end,
                                         struct math_work *w)
{
    const char *line_end = rest.n ? memchr(rest.s, '\n', rest.n) : NULL;
    *words = 0;
    if (line_end && !behind_decoration((struct span){rest.s, (size_t)(line_end - rest.s)}).n &&
        read_items(&out->text, (struct span){line_end, rest.n - (size_t)(line_end - rest.s)}, w)) {
        out->line = out->text;
        out->place = (struct span){rest.s, 0};
        return DECLARED_FOUND;
    }
    rest = behind_decoration(rest);
    if (rest.n > DECLARED_MAX)
        rest.n = DECLARED_MAX;
    if (rest.n && rest.s[0] == '}') { /* "\[ \text{Answer: } 5 \]" */
        size_t close = 1;
        while (close < rest.n && rest.s[close] != '$' && rest.s[close] != '\n' &&
               !span_at(rest, close, "\\]") && !span_at(rest, close, "\\)"))
            close++;
        struct span inner = span_trim((struct span){rest.s + 1, close - 1});
        rest = inner.n ? inner : span_trim((struct span){rest.s + 1, rest.n - 1});
    }
    const char *line = rest.n ? memchr(rest.s, '\n', rest.n) : NULL;
    out->line = span_trim((struct span){rest.s, line ? (size_t)(line - rest.s) : rest.n});
    while (out->line.n && is_decoration(out->line.s[out->line.n - 1]))
        out->line.n--;
    *words = 0;
    int formula = extract_leading_formula(&out->text, rest);
    struct span whole = {rest.s, formula > 0 ? (size_t)(out->text.s + out->text.n - rest.s) + 1 : 0};
    if (formula > 0 && value_is_qualified(out->line, whole)) { /* "$5$ times as large" */
        out->text = out->line;
        return DECLARED_FOUND;
    }
    if (formula > 0 && sentence_gives_cases(out->line)) {
        out->text = out->line;
        return DECLARED_FOUND;
    }
    if (formula > 0 && goes_on(rest, (size_t)(out->text.s + out->text.n - rest.s))) {
        out->text = out->line;
        return DECLARED_FOUND;
    }
    if (formula > 0) {
        out->place = out->text;
        extract_joined_formulas(&out->text, rest);
        out->place.n = (size_t)(out->text.s + out->text.n - out->place.s);
        out->text = sentence_with_joints(out->text, w);
        return DECLARED_FOUND;
    }
    if (formula < 0 && !end && !(rest.s[0] == '$' && extract_is_money(rest, 0, 0)) &&
        open_formula(&out->text, rest, w))
        return DECLARED_FOUND;
    struct span s = {rest.s, sentence_end(rest)};
    for (size_t i = 0; i + 2 < s.n; i++) /* a tag that follows */
        if (s.s[i] == '<' && ((s.s[i + 1] == '/' && !span_at(s, i, "</su")) || span_at(s, i, "<br")))
            s.n = i;
    int cut_behind = end && s.s + s.n >= end;
    if ((formula < 0 && !(rest.s[0] == '$' && extract_is_money(s, 0, cut_behind))) ||
        is_cut_off(s, cut_behind))
        return DECLARED_CUT;
    while (s.n && (is_decoration(s.s[s.n - 1]) || strchr(".,;!", s.s[s.n - 1])) &&
           !(s.s[s.n - 1] == '!' && s.n < rest.n && s.s[s.n] == '.')) /* "12!." is a factorial */
        s.n--;
    while (s.n > 4 && (unsigned char)s.s[s.n - 4] == 0xf0) /* an emoji */
        s = span_trim((struct span){s.s, s.n - 4});
    out->text = s;
    *words = is_words(s, w);
    return s.n ? DECLARED_FOUND : DECLARED_NONE;
}

/* What is said of an answer and is none. */
static const char judgements[] =
    "correct|right|verified|confirmed|consistent|reasonable|incorrect|wrong|valid";

static const char denials[] = "ではない|ではありません|じゃない|아니|아닙";

enum declared_status extract_declared(struct declared *out, struct span s, enum finish finish,
                                      struct math_work *w)
{
    enum { WORDS_MAX = 4096, TRIED_MAX = 64 };
    int best = -1, words_seen = 0, tried = 0, cut = 0;
    struct span text = span_trim(s);
    const char *end = finish == FINISH_LENGTH ? text.s + text.n : NULL;
    for (size_t i = s.n; i-- > 0 && words_seen < WORDS_MAX && tried < TRIED_MAX && best < 3;) {
        if (!may_declare[(unsigned char)s.s[i]])
            continue;
        struct declaration d;
        int words;
        if (!declaration_at(&d, s, i, &words_seen))
            continue;
        struct declared found = {0};
        tried++;
        struct span rest = {s.s + d.content, d.end - d.content};
        enum declared_status status = read_content(&found, &words, rest, end, w);
        cut |= status == DECLARED_CUT;
        if (i && strchr("([", s.s[i - 1]) && found.text.n > 1 &&
            found.text.s[found.text.n - 1] == (s.s[i - 1] == '(' ? ')' : ']'))
            found.text = span_trim((struct span){found.text.s, found.text.n - 1}); /* "(Answer: 5)" */
        if (d.is_open && finish == FINISH_LENGTH)
            continue;
        if (d.is_block) {
            struct span result;
            found = (struct declared){.text = rest, .line = rest, .is_block = 1};
            words = !math_is_value(w, rest) && !sentence_last_result(&result, rest, w);
            status = DECLARED_FOUND;
        }
        int rank = 2 * (!words || d.is_label) + d.strong;
        if (words && !d.is_label && sentence_begins(found.text, judgements)) /* "so the answer is correct" */
            continue;
        if (status == DECLARED_FOUND && sentence_says(found.text, denials)) /* Japanese, Korean: "is not" */
            continue;
        if (d.is_value && status == DECLARED_FOUND && !math_is_value(w, sentence_plain(found.text, w)))
            continue;
        if (status == DECLARED_FOUND && rank > best) {
            *out = found;
            out->rule = d.is_tag ? "tagged" : "declared";
            if (!found.place.s)
                out->place = found.text;
            best = rank;
        }
    }
    return best >= 0 ? DECLARED_FOUND : cut ? DECLARED_CUT : DECLARED_NONE;
}

int extract_last_line(struct span *out, struct span s)
{
    do {
        s = span_trim(s);
        size_t start = s.n;
        while (start && s.s[start - 1] != '\n' && s.s[start - 1] != '\r')
            start--;
        *out = span_trim((struct span){s.s + start, s.n - start});
        s.n = start;
        while (out->n && strchr("*_`#>", out->s[0]))
            *out = span_trim((struct span){out->s + 1, out->n - 1});
        while (out->n && strchr("*_`", out->s[out->n - 1]))
            *out = span_trim((struct span){out->s, out->n - 1});
    } while (s.n && (!out->n || extract_is_end_of_proof(*out)));
    return out->n > 0;
}
