/* Words. A short run of words that are no mathematics is a text: a name, "no solution", "Monday and
 * Friday". A whole sentence is a text only when it consists of nothing but words. */
#include "answer_check/read/reader.h"

#include <string.h>
#include <utf8proc.h>

#include "evalcore/base/arena.h"

enum { PHRASE_WORDS = 12, SENTENCE_WORDS = 60 };

/* Letters, also those of a word with a mathematical meaning. */
static int is_letters(const struct token *t)
{
    return t->kind == T_WORD || t->flags & TOKEN_PLAIN;
}

int read_is_word(const struct token *t)
{
    return is_letters(t) || t->kind == T_AND || t->kind == T_OR || t->kind == T_CONDITION;
}

/* A word that can hardly be a product of letters. */
static int is_wordy(const struct token *t)
{
    struct span w = token_text(t);
    if (t->kind != T_WORD)
        return 0;
    return t->s[0] & 0x80 || (w.n >= 2 && t->flags & TOKEN_TEXT) || (w.n >= 4 && read_has_vowel(w)) ||
           math_word_is_short(w) || (w.n == 3 && read_has_vowel(w) && t->s[0] <= 'Z' && t->s[1] > 'Z');
}

/* Does the "and" at t stand inside a number in words? */
static int joins_number(const struct token *t)
{
    struct span before = token_text(t - 1);
    return (span_starts(before, "hundred") || span_starts(before, "thousand")) && t[1].kind == T_WORD &&
           math_word_number(token_text(t + 1)) > 0 && math_word_number(token_text(t + 1)) < 100;
}

/* The number of tokens of the words from t on, with the hyphens and apostrophes inside them; counts the
 * words, and those that can hardly be products. */
static int run_length(const struct token *t, int *words, int *wordy)
{
    int i = 0;
    *words = *wordy = 0;
    while (*words < PHRASE_WORDS) {
        if (i && t[i].kind == T_AND && joins_number(&t[i])) { /* three hundred and five */
            i++;
            continue;
        }
        if (!is_letters(&t[i]) || t[i].kind == T_CONDITION || t[i].kind == T_AND || t[i].kind == T_OR ||
            t[i].kind == T_PERCENT || (i && t[i].space == SPACE_WIDE))
            break;
        ++*words;
        *wordy += is_wordy(&t[i]);
        i++;
        int link = (t[i].kind == T_MINUS || t[i].kind == T_PRIME) && !t[i].space && t[i + 1].kind == T_WORD &&
                   !t[i + 1].space;
        if (link && t[i - 1].n > 1)
            i++;
    }
    return i;
}

/* Does this token separate words from what stands on the other side of it? */
static int is_separator(const struct token *t)
{
    switch (t->kind) {
    case T_END:
    case T_COMMA:
    case T_SEMICOLON:
    case T_COLON:
    case T_AND:
    case T_OR:
    case T_ROW:
    case T_CELL:
    case T_CLOSE:
    case T_FINISH:
    case T_CONDITION:
    case T_DOT:
        return 1;
    default:
        return t->space == SPACE_WIDE;
    }
}

/* Is a word by itself a text, or the product of its letters? As the side of a relation (Area = 5) it is no
 * text. */
static int lone_word(struct math_reader *r, const struct token *t)
{
    int first = r->pos == 0;
    const struct token *before = first ? NULL : t - 1;
    int begins = first || t->space == SPACE_WIDE || is_separator(before) || before->kind == T_OPEN ||
                 before->kind == T_BEGIN;
    int alone = begins && is_separator(t + 1);
    struct span w = token_text(t);
    int braced = !first && before->kind == T_OPEN && before->value == '{' && !(before->flags & TOKEN_BOX);
    int argument = r->pos > 1 && before->kind == T_OPEN && t[-2].kind == T_FUNCTION; /* \ln(pa) */
    if (!alone || w.n < 2 || ((braced || argument) && !(t->flags & TOKEN_TEXT)))
        return 0;
    if (t->flags & TOKEN_TEXT || t->s[0] & 0x80 || w.n > 6)
        return 1;
    int capitals = 1;
    for (size_t i = 0; i < w.n; i++)
        capitals &= w.s[i] >= 'A' && w.s[i] <= 'Z';
    int text = is_wordy(t) || capitals, title = !capitals && w.s[0] <= 'Z' && w.n > 2;
    if (capitals && (t[1].kind == T_COLON || (before && before->kind == T_COLON))) /* AB : BC */
        return 0;
    if (read_base_length(r) || (!text && w.n < 3))
        return 0;
    if (text && (title || math_word_is_short(w) || (w.n > 4 && !capitals)))
        return 1;
    return text != reader_option(r, READ_WORDS);
}

int read_phrase_length(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int words, wordy;
    if (r->skip || !is_letters(t))
        return 0;
    if (t->kind != T_WORD && !(t->flags & TOKEN_TEXT))
        return 0; /* sqrt, pi */
    int n = run_length(t, &words, &wordy);
    if (!n || math_step(r->w, words) || (t->kind != T_WORD && (words < 2 || !wordy)))
        return 0;
    if (words == 1 && n == 1)
        return lone_word(r, t);
    int article =
        !r->pos && (*t->s == 'a' || *t->s == 'A') && t[1].n > 3 && !math_word_is_unit(token_text(&t[1]));
    if (t->n == 1 && !(t->flags & TOKEN_TEXT) && !article)
        return 0; /* x meters */
    return wordy ? n : 0;
}

/* Writes the token's text in lower case to out and returns its length. */
static size_t fold_word(char *out, const struct token *t)
{
    size_t n = 0, at = 0, size = (size_t)t->n;
    while (at < size) {
        int c, used = math_character(t->s + at, size - at, &c);
        int lower = c < 0 ? c : utf8proc_tolower(c);
        utf8proc_uint8_t bytes[4];
        int k = lower >= 0 ? (int)utf8proc_encode_char(lower, bytes) : 0;
        if (k <= 0 || k > used) { /* the folded text is never longer than its source */
            memcpy(out + n, t->s + at, (size_t)used);
            n += (size_t)used;
        } else {
            memcpy(out + n, bytes, (size_t)k);
            n += (size_t)k;
        }
        at += (size_t)used;
    }
    return n;
}

static int is_punctuation(const struct token *t)
{
    return t->kind == T_DOT || t->kind == T_COMMA || t->kind == T_SEMICOLON || t->kind == T_COLON ||
           t->kind == T_BANG || t->kind == T_PRIME || t->kind == T_MINUS;
}

const char *read_folded(struct math_reader *r, int from, int to)
{
    size_t bytes = 1, n = 0;
    while (from < to && is_punctuation(&r->t[from]))
        from++;
    while (to > from && is_punctuation(&r->t[to - 1]))
        to--;
    for (int i = from; i < to; i++)
        bytes += (size_t)r->t[i].n + 1;
    if (math_step(r->w, (int64_t)bytes))
        return "";
    char *out = arena_alloc(r->w->arena, bytes);
    for (int i = from; i < to; i++) {
        if (i > from && r->t[i].space >= SPACE_THIN)
            out[n++] = ' ';
        n += fold_word(out + n, &r->t[i]);
    }
    return out;
}

const struct math_node *read_phrase(struct math_reader *r, int n)
{
    int from = r->pos;
    r->pos += n;
    return reader_named(r, MATH_TEXT, from, read_folded(r, from, from + n));
}

/* Sentences and names with a number (June 20); NULL for any other text. */
const struct math_node *read_prose(struct math_reader *r, int n, int last_resort)
{
    int words = 0, wordy = 0, stops = 0, digits = 0, single = 0, announces = 0;
    for (int i = 0; i < n; i++) {
        const struct token *t = &r->t[i];
        announces |= math_word_announces(token_text(t));
        if (read_is_word(t)) {
            words++;
            wordy += is_wordy(t);
            single += t->n == 1;
            stops += math_word_is_stop(token_text(t)) && t->n > 1;
        } else if (t->kind == T_DIGITS) {
            digits++;
        } else if (!is_punctuation(t)) {
            return NULL;
        }
    }
    if (!wordy || words > SENTENCE_WORDS)
        return NULL;
    int dated = digits == 1 && !announces && n == 2 && r->t[0].kind == T_WORD && is_wordy(&r->t[0]) &&
                r->t[0].s[0] <= 'Z' && r->t[1].space && !math_word_is_stop(token_text(&r->t[0]));
    int none = n > 2 && r->t[0].n == 2 && span_starts(token_text(&r->t[0]), "no") && r->t[1].n == 4 &&
               span_starts(token_text(&r->t[1]), "such"); /* no such n exists */
    int sentence = !digits && words > 1 && (last_resort || stops || none || words > PHRASE_WORDS / 2) &&
                   single * 2 <= words;
    if (!dated && !sentence)
        return NULL;
    r->pos = n;
    return reader_named(r, MATH_TEXT, 0, read_folded(r, 0, n));
}
