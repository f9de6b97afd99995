/* Cuts plain text into tokens: option letters, words by what they say (choice_words.c), and signs (contract:
 * choice_scan.h). Marks of Markdown have no tokens; they only decide whether a letter stands in marks. */
#include "answer_check/choice/choice_text.h"

#include <string.h>

struct tokenizer {
    const struct choice_text *t;
    struct choice_token *k;
    size_t n;
    size_t no_ruler; /* no ruler of a table ends before this position */
    int is_spaced;
};

/* Appends a token of that kind. */
static void add_token(struct tokenizer *z, enum choice_kind kind)
{
    if (kind == K_OTHER && z->n && z->k[z->n - 1].kind == K_OTHER)
        return; /* a run of words that say nothing is one token */
    z->k[z->n++] = (struct choice_token){.kind = kind, .is_spaced = z->is_spaced};
    z->is_spaced = 0;
}

static enum choice_kind last_kind(const struct tokenizer *z)
{
    return z->n ? z->k[z->n - 1].kind : K_LINE;
}

/* Emits the letter at i and returns the position behind it, or 0 when there is none. */
static size_t read_letter(struct tokenizer *z, size_t i, enum choice_dress dress, size_t end)
{
    char up = choice_letter_at(z->t, i, dress);
    if (!up)
        return 0;
    add_token(z, K_LETTER);
    z->k[z->n - 1].letter = up;
    z->k[z->n - 1].dress = dress;
    z->k[z->n - 1].is_small = up != z->t->s[i];
    return end;
}

/* Marks that may stand between a bracket and its letter, and brackets that open. */
enum { MARK = 1, BRACKET = 2 };
static const unsigned char dress[256] = {['*'] = MARK, ['_'] = MARK, ['`'] = MARK,    ['\''] = MARK,
                                         ['"'] = MARK, [' '] = MARK, ['('] = BRACKET, ['['] = BRACKET};

/* Behind a few of these bytes at i, so that a flood of brackets is not skipped anew from each of them. */
static size_t skip_few(const struct choice_text *t, size_t i, int kinds)
{
    enum { MARKS_MAX = 12 };
    size_t end = i;
    while (end < t->n && end < i + MARKS_MAX && dress[(unsigned char)t->s[end]] & kinds)
        end++;
    return end;
}

/* "(C)", "[C]", "( **C** )": the bracket at i and all that closes it. */
static size_t read_bracketed(struct tokenizer *z, size_t i)
{
    const struct choice_text *t = z->t;
    size_t in = skip_few(t, i, MARK | BRACKET), out = skip_few(t, in + 1, MARK);
    int is_applied = i && ((is_word_at(t, i - 1) && last_kind(z) == K_OTHER) || strchr("_^", t->s[i - 1]));
    if (byte_at(t, out) != ')' && byte_at(t, out) != ']')
        return 0;
    if (is_applied) { /* "f(C)", "x_{C}" */
        add_token(z, K_OTHER);
        return out + 1;
    }
    /* "[A]" may be a concentration; it is no mention */
    return read_letter(z, in, t->s[i] == '[' && last_kind(z) != K_LINE ? CHOICE_NAMED : CHOICE_BRACKETED,
                       skip_marks(t, out, ")]*_`"));
}

/* A letter that no bracket holds. */
static size_t plain_letter(struct tokenizer *z, size_t i)
{
    const struct choice_text *t = z->t;
    char before = i ? t->s[i - 1] : 0, behind = byte_at(t, i + 1);
    int is_marked = before && strchr("*_`'\"", before) && behind && strchr("*_`'\")]:.", behind);
    enum choice_kind last = last_kind(z);
    if (behind == ')')
        return read_letter(z, i, CHOICE_BRACKETED, i + 2);
    if (is_marked) /* what was \text{A} may be any symbol; it is no mention */
        return read_letter(z, i, before == '`' ? CHOICE_NAMED : CHOICE_ENCLOSED, i + 1);
    if (last == K_OPTION) /* no article stands behind the noun */
        return read_letter(z, i, CHOICE_ENCLOSED, i + 1);
    if (last == K_ANSWER && t->s[i] == 'a')
        return 0; /* an article */
    int is_named = last == K_ANSWER || last == K_COLON || last == K_BAR || last == K_BOX ||
                   (z->n > 1 && last == K_OPEN && z->k[z->n - 2].kind == K_BOX);
    return read_letter(z, i, is_named ? CHOICE_NAMED : CHOICE_BARE, i + 1);
}

/* The end of the word at i, which no entry of the lexicon matches. One character of Chinese or Japanese, a
 * run of Hangul. */
static size_t word_end(const struct choice_text *t, size_t i)
{
    unsigned char c = (unsigned char)t->s[i];
    if (c >= 0xea && c <= 0xed) {
        while (i + 2 < t->n && (unsigned char)t->s[i] >= 0xea && (unsigned char)t->s[i] <= 0xed)
            i += 3;
        return i < t->n ? i : t->n;
    }
    if (c >= 0xe0) {
        for (i++; i < t->n && ((unsigned char)t->s[i] & 0xc0) == 0x80;)
            i++;
        return i;
    }
    do
        i++;
    while (is_word_at(t, i) || (byte_at(t, i) == '\'' && ascii_is_letter(byte_at(t, i + 1))) ||
           (((unsigned char)byte_at(t, i) & 0xc0) == 0x80 && i < t->n) ||
           (ascii_is_digit(t->s[i - 1]) && (byte_at(t, i) == '.' || byte_at(t, i) == ',') &&
            ascii_is_digit(byte_at(t, i + 1))));
    return i;
}

/* Does the word that ends at `end`, "no," at the start of a clause, take back what was said? */
static int takes_back(const struct tokenizer *z, size_t end)
{
    enum choice_kind last = last_kind(z);
    char next = byte_at(z->t, skip_marks(z->t, end, " "));
    if (next != '-' && next != byte_at(z->t, end))
        return 0;
    if (last == K_COLON && z->n > 1 && z->k[z->n - 2].kind == K_LETTER)
        return 0; /* "Option C: no." */
    return (last == K_LINE || last == K_STOP || last == K_QUESTION || last == K_COMMA || last == K_FIX ||
            last == K_DASH || last == K_OPEN || last == K_COLON) &&
           next && strchr(",:.!-;", next);
}

/* At the start of a sentence, does an option follow at once? */
static int is_next_option(const struct tokenizer *z, size_t i)
{
    size_t next = skip_marks(z->t, i, " ,(*");
    if (span_starts((struct span){z->t->s + next, z->t->n - next}, "to "))
        next += 3;
    char c = byte_at(z->t, next);
    return (last_kind(z) == K_LINE || last_kind(z) == K_STOP) && c >= 'A' && c <= z->t->last_letter &&
           !is_word_at(z->t, next + 1);
}

/* Reads a word, by what it says. Returns the position behind it. */
static size_t read_word(struct tokenizer *z, size_t i)
{
    const struct choice_text *t = z->t;
    size_t n, end;
    enum choice_kind kind = choice_word(t->words, (struct span){t->s + i, t->n - i}, &n);
    if (kind == K_OR && n == 1 && last_kind(z) != K_LETTER)
        kind = K_LIGHT; /* "o" joins in Spanish and is an article in Portuguese */
    size_t next = skip_marks(t, i + n, " (*");
    if (n == 2 && last_kind(z) == K_LETTER && t->s[i] == 't' && byte_at(t, next) >= 'A' &&
        byte_at(t, next) <= t->last_letter && !is_word_at(t, next + 1))
        kind = K_OR; /* "A to C" */
    if (n == 1 && ascii_is_letter(t->s[i]) && choice_is_formula(t, i))
        kind = K_OTHER; /* the I of "I = 3" */
    if (kind == K_FIX && n == 3 && span_starts((struct span){t->s + i, 3}, "now") && is_next_option(z, i + n))
        kind = K_IF; /* "Now, B." */
    if (n) {
        int is_no = kind == K_NOT && n <= 4 && !(n == 3 && ascii_lower(t->s[i + 2]) == 't');
        add_token(z, kind == K_OWN || (is_no && takes_back(z, i + n)) ? K_FIX : kind);
        z->k[z->n - 1].is_own = kind == K_OWN || (kind == K_FAILS && ascii_is_letter(t->s[i]));
        return i + n;
    }
    end = word_end(t, i);
    int is_small = byte_at(t, i + 2) >= 'a' && byte_at(t, i + 2) <= 'z';
    if (end == i + 1 && t->s[i] == 'a' && last_kind(z) == K_IS && i > 1 &&
        ((unsigned char)t->s[i - 2] >= 0x80 || is_small)) {
        add_token(z, K_LIGHT); /* the article of "é a C" and of "is a better answer" */
        return end;
    }
    int is_symbol = end == i + 1 && t->s[i] >= 'A' && t->s[i] <= 'Z';
    add_token(z, end - i > 3 && !memcmp(t->s + end - 3, "n't", 3) ? K_NOT : K_OTHER);
    z->k[z->n - 1].is_symbol = is_symbol;
    return end;
}

/* White space; a line that goes on with a small letter continues the sentence, unless that is a label. */
static size_t skip_white(struct tokenizer *z, size_t i)
{
    const struct choice_text *t = z->t;
    size_t end = skip_marks(t, i, " \t\r\n\v\f"), n_lines = 0;
    for (size_t j = i; j < end; j++)
        n_lines += t->s[j] == '\n';
    z->is_spaced = 1;
    if (!n_lines || last_kind(z) == K_LINE)
        return end;
    enum choice_kind last = last_kind(z);
    char next = byte_at(t, end), then = byte_at(t, end + 1);
    int is_wrapped = n_lines == 1 && next >= 'a' && next <= 'z' && then != ')' && then != '.' &&
                     then != '\n' && last != K_STOP && last != K_BAR && last != K_QUESTION &&
                     last != K_COLON && end < t->n;
    if (!is_wrapped)
        add_token(z, K_LINE);
    return end;
}

/* Signs at the start of a line that only set it out: bullets, numbers, quotation, rulers of tables. */
static size_t line_start(struct tokenizer *z, size_t i)
{
    const struct choice_text *t = z->t;
    size_t end = i < z->no_ruler ? i : skip_marks(t, i, "|-: \t"), digits = i;
    if (end > i + 3 && (byte_at(t, end) == '\n' || end == t->n))
        return end;
    if (end > z->no_ruler)
        z->no_ruler = end;
    if ((t->s[i] == '-' || t->s[i] == '>' || t->s[i] == '|') && byte_at(t, i + 1) != '>' &&
        byte_at(t, i + 1) != '-')
        return i + 1;
    if (!memcmp(t->s + i, "\xe2", 1) && t->n - i > 3 && !memcmp(t->s + i, "\xe2\x80\xa2", 3))
        return i + 3;
    while (ascii_is_digit(byte_at(t, digits)))
        digits++;
    return digits > i && (byte_at(t, digits) == '.' || byte_at(t, digits) == ')') &&
                   byte_at(t, digits + 1) == ' '
               ? digits + 1
               : 0;
}

/* A tag of HTML; "<answer>" declares and "</answer>" ends the declaration. */
static size_t read_tag(struct tokenizer *z, size_t i)
{
    const struct choice_text *t = z->t;
    size_t name = i + 1 + (byte_at(t, i + 1) == '/'), end = name;
    if (span_starts((struct span){t->s + name, t->n - name}, "answer")) {
        if (name == i + 1)
            return name;
        size_t next = skip_marks(t, name + 7, " ,"), n;
        enum choice_kind joint = K_OTHER;
        if (next < t->n)
            joint = choice_word(t->words, (struct span){t->s + next, t->n - next}, &n);
        if (next >= t->n || (joint != K_OR && joint != K_AND) ||
            byte_at(t, skip_marks(t, next + n, " ")) != '<')
            add_token(z, K_STOP); /* one more tag may follow: "<answer>A</answer> or <answer>B</answer>" */
    }
    while (end < name + 12 && byte_at(t, end) != '>' && byte_at(t, end) != '\n')
        end++;
    return byte_at(t, end) == '>' ? end + 1 : i + 1;
}

/* The end of "~~B~~", which is crossed out, or 0. */
static size_t strikeout_end(const struct choice_text *t, size_t i)
{
    for (size_t end = i + 2; byte_at(t, i + 1) == '~' && byte_at(t, end) != '\n' && end < i + 200; end++)
        if (t->s[end] == '~' && byte_at(t, end + 1) == '~')
            return end + 2;
    return 0;
}

/* The ";" of "A; C" joins letters like a comma; others end a sentence. */
static int is_list(const struct tokenizer *z, size_t i)
{
    size_t next = skip_marks(z->t, i + 1, " (*");
    char c = byte_at(z->t, next), behind = byte_at(z->t, skip_marks(z->t, next + 1, ")*]`\"$ "));
    return last_kind(z) == K_LETTER && c >= 'A' && c <= z->t->last_letter && strchr(".,;\n", behind) &&
           behind;
}

/* Reads a sign. Returns the position behind it. */
static size_t sign_at(struct tokenizer *z, size_t i)
{
    static const struct {
        char sign;
        enum choice_kind kind;
    } signs[] = {{':', K_COLON}, {',', K_COMMA}, {';', K_STOP}, {'!', K_STOP},  {'?', K_QUESTION},
                 {'|', K_BAR},   {'(', K_OPEN},  {'[', K_OPEN}, {')', K_CLOSE}, {']', K_CLOSE}};
    const struct choice_text *t = z->t;
    size_t n, end = i + 1;
    char c = t->s[i], next = byte_at(t, end);
    enum choice_kind kind = choice_word(t->words, (struct span){t->s + i, t->n - i}, &n);
    if (n) {
        add_token(z, kind);
        return i + n;
    }
    if (c == '[' && next == '/') { /* "[ANSWER]C[/ANSWER]" */
        add_token(z, K_STOP);
        return end;
    }
    for (size_t s = 0; s < sizeof signs / sizeof *signs; s++)
        if (signs[s].sign == c)
            add_token(z, c == ';' && is_list(z, i)                                       ? K_COMMA
                         : c == '|' && last_kind(z) == K_LETTER && !ascii_is_space(next) ? K_OR
                                                                                         : signs[s].kind);
    if (c == '.' && (ascii_is_space(next) || strchr(")]*_`'\"|<$\\", next)))
        add_token(z, K_STOP);
    else if (c == '-' && (z->is_spaced || !i || !is_word_at(t, i - 1) || last_kind(z) != K_OTHER))
        add_token(z, K_DASH);
    else if (c == '/' && last_kind(z) == K_LETTER)
        add_token(z, K_OR);
    else if (c == '>' && last_kind(z) == K_ANSWER)
        add_token(z, K_COLON);
    else if (c == '<' && (next == '/' || ascii_is_letter(next))) {
        end = read_tag(z, i);
    } else if (c == '\\') {
        while (ascii_is_letter(byte_at(t, end)))
            end++;
        if (end > i + 1)
            add_token(z, K_OTHER);
    }
    return end;
}

struct choice_token *choice_tokens(size_t *n, struct span text, int n_options, enum finish finish,
                                   struct arena *a)
{
    const struct choice_text t = {.s = text.s,
                                  .n = text.n,
                                  .last_letter = (char)('A' + n_options - 1),
                                  .is_cut = finish == FINISH_LENGTH,
                                  .words = choice_lexicon()};
    enum { LOOK_AHEAD = 16 }; /* zeroed tokens behind the last one, which readers may look at */
    struct tokenizer z = {.t = &t, .k = arena_room(a, (text.n + 8 + LOOK_AHEAD) * sizeof *z.k)};
    add_token(&z, K_LINE);
    add_token(&z, K_LINE);
    for (size_t i = 0, end; i<t.n; i = end> i ? end : i + 1) {
        char c = t.s[i];
        end = 0;
        if (ascii_is_space(c))
            end = skip_white(&z, i);
        if (!end && last_kind(&z) == K_LINE)
            end = line_start(&z, i);
        if (!end && (c == '(' || c == '['))
            end = read_bracketed(&z, i);
        if (!end && ascii_is_letter(c))
            end = plain_letter(&z, i);
        if (!end && is_word_at(&t, i))
            end = read_word(&z, i);
        if (!end && (unsigned char)c >= 0x80)
            end = read_word(&z, i);
        if (!end && c == '~')
            end = strikeout_end(&t, i);
        if (!end && c && strchr("*_`'\"#~$", c))
            end = i + 1;
        if (!end)
            end = sign_at(&z, i);
    }
    add_token(&z, K_LINE);
    add_token(&z, K_END);
    memset(z.k + z.n, 0, LOOK_AHEAD * sizeof *z.k);
    *n = z.n;
    return z.k;
}
