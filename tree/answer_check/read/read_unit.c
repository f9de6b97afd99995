/* Marks behind a value: percent, currency, units, ordinals, words of scale. A unit of one letter (3m) is
 * only ever a second reading, and only when the number and the letter are the whole text. */
#include "answer_check/read/reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

enum { UNIT_WORDS = 6, MARKS = 4 };

const struct math_node *read_named_mark(struct math_reader *r, enum math_kind kind, int from,
                                        const char *name, const struct math_node *value)
{
    struct math_node *m = math_node_1(r->w, kind, reader_source(r, from), value);
    if (m)
        m->name = name;
    return m;
}

/* Is it th, st, nd or rd? Behind a number only the one that belongs to it is: 5st is a product. */
static int is_ordinal(const struct token *t, const struct token *number)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    if (t->kind != T_WORD || t->n != 2)
        return 0;
    for (int i = 0; i < 4; i++)
        if (!strncmp(t->s, ends[i], 2))
            return i == 0 || number->kind != T_DIGITS ||
                   (number->s[number->n - 1] == '0' + i &&
                    !(number->n > 1 && number->s[number->n - 2] == '1'));
    return 0;
}

int read_ordinal_length(const struct token *t)
{
    if (t->kind == T_CARET && t[1].kind == T_OPEN && is_ordinal(&t[2], t - 1) && t[3].kind == T_CLOSE)
        return 4;
    if (t->kind == T_CARET && is_ordinal(&t[1], t - 1))
        return 2;
    return is_ordinal(t, t - 1) && !t->space ? 1 : 0;
}

/* Letters that could name a unit. */
static int is_letters(const struct token *t)
{
    return t->kind == T_WORD || (t->flags & TOKEN_PLAIN && t->kind == T_FUNCTION); /* 5 min */
}

static int is_constant_letter(const struct token *t)
{
    return t->n == 1 && (*t->s == 'e' || *t->s == 'i');
}

static int has_ascii_vowel(const struct token *t)
{
    for (int i = 0; i < t->n; i++)
        if (strchr("aeiouy", ascii_lower(t->s[i])))
            return 1;
    return 0;
}

/* Do a number and the letters at pos stand by themselves, perhaps with a power? */
static int is_whole_quantity(const struct math_reader *r, int from)
{
    const struct token *first = from ? &r->t[from - 1] : NULL, *k = reader_token(r) + 1;
    if (r->pos == 0 || k[-2].kind != T_DIGITS)
        return 0;
    while (first && (first->kind == T_MINUS || first->kind == T_PLUS))
        first = first == r->t ? NULL : first - 1;
    int alone = !first || first->kind == T_COMMA || first->kind == T_RELATION || first->kind == T_OPEN ||
                first->kind == T_AND || first->kind == T_OR;
    if (k->kind == T_SLASH && k[1].kind == T_WORD && k[1].n <= 3)
        k += 2; /* m/s */
    if (k->kind == T_CARET)
        k = k[1].kind == T_OPEN ? &r->t[k[1].match + 1] : k + 2;
    return alone && (k->kind == T_END || k->kind == T_COMMA || k->kind == T_AND || k->kind == T_OR);
}

/* Is this 3m and nothing more: a number, a letter that is a unit, and perhaps its power? */
static int is_letter_unit(const struct math_reader *r, int from)
{
    const struct token *t = reader_token(r);
    return t->n == 1 && strchr("msdhglLtVWNJK", *t->s) && is_whole_quantity(r, from);
}

/* Two small letters glued to a number inside a formula are a product: 2mv + v^2, 8cm^2 - 6n. So are those
 * with a power that are no length: mv^4. */
static int is_product_of_letters(const struct math_reader *r, int from)
{
    static const char *const lengths[] = {"cm", "dm", "ft", "in", "km", "mi", "mm", "yd"};
    const struct token *t = reader_token(r);
    int is_length = 0;
    for (size_t i = 0; t->n == 2 && i < sizeof lengths / sizeof *lengths; i++)
        is_length |= !memcmp(t->s, lengths[i], 2);
    if (t->n != 2 || t->space || *t->s < 'a')
        return 0;
    if (!memcmp(t->s, "cu", 2) || !memcmp(t->s, "sq", 2)) /* not cu ft */
        return t[1].kind != T_WORD;
    return (t[1].kind == T_CARET && !is_length) || !is_whole_quantity(r, from);
}

/* Can the word at pos be a unit of the value before it, and in which way? */
static int is_unit_word(struct math_reader *r, const struct math_node *m, int from)
{
    const struct token *t = reader_token(r);
    if (r->skip || !is_letters(t) || m->kind == MATH_TEXT)
        return 0;
    if (t->kind == T_FUNCTION)
        return math_word_is_unit(token_text(t)) && t[1].kind != T_OPEN && t[1].kind != T_UNDERSCORE;
    if (t->flags & TOKEN_TEXT)
        return !(t->n == 1 && is_constant_letter(t)) && !math_word_is_stop(token_text(t)) &&
               t[-1].kind != T_WORD && (t->n > 1 || t[-1].kind == T_DIGITS || t[-1].kind == T_CLOSE);
    if (t->n == 1)
        return is_letter_unit(r, from) && reader_option(r, READ_LETTER_UNIT);
    if (math_word_is_unit(token_text(t)))
        return (t[-1].kind != T_WORD || t->space) && !is_product_of_letters(r, from);
    if (t->s[0] & 0x80) /* 4000千克 */
        return t[-1].kind == T_DIGITS;
    return t->space && t[-1].kind != T_WORD && t->n >= 3 && has_ascii_vowel(t) &&
           !math_word_is_stop(token_text(t)) &&
           (m->kind == MATH_NUMBER || m->kind == MATH_DIVIDE || m->kind == MATH_ADD) &&
           t[1].kind != T_RELATION && t[1].kind != T_OPEN;
}

int read_unit_follows(struct math_reader *r, const struct math_node *m, int from)
{
    const char *half;
    const struct token *t = reader_token(r);
    if (r->skip || !m || (r->pos && t[-1].kind == T_DIGITS && read_half_of_day(t, &half)))
        return 0;
    if ((r->pos && t[-1].kind == T_DIGITS && !t->space && is_ordinal(t, t - 1)) ||
        (m->kind == MATH_NUMBER && read_base_words(t)))
        return 1;
    return is_unit_word(r, m, from);
}

/* Reads ^2 or ^{-1} behind a unit into its name. Returns 1, or 0 when there is no power. */
static int unit_power(struct math_reader *r, struct str *name)
{
    const struct token *t = reader_token(r);
    int braced = t[1].kind == T_OPEN && t[1].value == '{', minus = t[1 + braced].kind == T_MINUS;
    const struct token *digits = t + 1 + braced + minus;
    if (t->kind != T_CARET || digits->kind != T_DIGITS || (braced && digits[1].kind != T_CLOSE))
        return 0;
    str_printf(name, "^%s%.*s", minus ? "-" : "", digits->n, digits->s);
    r->pos += 2 + 2 * braced + minus;
    return 1;
}

/* Does the name of a unit go on with this token? word_before: no sign stands between. */
static int continues_unit(const struct token *t, int word_before)
{
    if (!is_letters(t) || t->space == SPACE_WIDE || math_word_is_stop(token_text(t)))
        return 0;
    if (t->flags & TOKEN_TEXT)
        return 1;
    return t->n > 1 && (math_word_is_unit(token_text(t)) ||
                        (word_before && t->kind == T_WORD && t->n > 2 && has_ascii_vowel(t)));
}

/* Reads the words, powers and slashes of a unit that begins at pos. */
static const char *read_unit_name(struct math_reader *r)
{
    struct str name = {0};
    for (int words = 0; words < UNIT_WORDS; words++) {
        const struct token *t = reader_token(r);
        for (int i = 0; i < t->n; i++) /* MHz keeps its capitals */
            str_putc(&name, t->n > 3 ? ascii_lower(t->s[i]) : t->s[i]);
        reader_next(r);
        t = reader_token(r);
        int stop = t[1].kind == T_CLOSE || t[1].kind == T_COMMA || continues_unit(t + 1, 1);
        if (t->kind == T_DOT && !t->space && stop) { /* sq. ft */
            reader_next(r);
            t = reader_token(r);
        }
        if (unit_power(r, &name))
            t = reader_token(r);
        int linked = (t->kind == T_SLASH || t->kind == T_MINUS || t->kind == T_TIMES) &&
                     (continues_unit(t + 1, 0) || (t->kind == T_SLASH && t[1].kind == T_WORD && t[1].n <= 2));
        if (linked) {
            str_putc(&name, t->kind == T_SLASH ? '/' : t->kind == T_MINUS ? '-' : '*');
            reader_next(r);
        } else if (continues_unit(t, 1)) {
            str_putc(&name, ' ');
        } else {
            break;
        }
    }
    const char *copy = arena_strndup(r->w->arena, str_text(&name), name.len);
    str_release(&name);
    return copy;
}

/* Reads the unit, the degrees or the word of scale that follows the value m. */
static const struct math_node *read_unit(struct math_reader *r, const struct math_node *m, int from)
{
    const struct token *t = reader_token(r);
    int scale = math_word_scale(token_text(t));
    if (t->kind == T_WORD && scale) { /* 5 million */
        static const char zeros[] = "1000000000000";
        reader_next(r);
        return reader_two(r, MATH_MULTIPLY, from, m, reader_integer(r, zeros, scale + 1));
    }
    int degrees = math_word_is_degree(token_text(t));
    if (degrees && !(is_letters(&t[1]) && !t[1].space)) {
        const struct token *k = t + 1;
        if (!is_letters(k) || k->space == SPACE_WIDE || !continues_unit(k, 0)) {
            reader_next(r);
            return reader_one(r, MATH_DEGREES, from, m);
        }
    }
    return read_named_mark(r, MATH_UNIT, from, read_unit_name(r), m);
}

/* Reads "th" or the like, which takes `used` tokens, and words behind it, as a unit. */
static const struct math_node *read_ordinal(struct math_reader *r, const struct math_node *m, int from,
                                            int used)
{
    const char *name = "th";
    r->pos += used;
    if (continues_unit(reader_token(r), 1))
        name = reader_join_names(r, "th ", read_unit_name(r));
    return read_named_mark(r, MATH_UNIT, from, name, m);
}

const struct math_node *read_marks(struct math_reader *r, const struct math_node *m, int from)
{
    for (int i = 0; m && i < MARKS && !r->skip; i++) {
        const struct token *t = reader_token(r);
        int ordinal = m->kind == MATH_NUMBER || m->kind == MATH_SYMBOL ? read_ordinal_length(t) : 0;
        int based = m->kind == MATH_NUMBER ? read_base_words(t) : 0;
        int per_cent = t->kind == T_WORD && t[1].kind == T_WORD && t->n == 3 && t[1].n == 4 &&
                       span_starts(token_text(t), "per") && span_starts(token_text(&t[1]), "cent");
        if (based) {
            const struct token *digits = t + based / 2;
            r->pos += based;
            m = reader_two(r, MATH_BASE, from, m, reader_integer(r, digits->s, digits->n));
        } else if (per_cent) {
            r->pos += 2;
            m = reader_one(r, MATH_PERCENT, from, m);
        } else if (t->kind == T_PERCENT) {
            reader_next(r);
            m = reader_one(r, MATH_PERCENT, from, m);
        } else if (t->kind == T_CURRENCY) {
            reader_next(r);
            m = read_named_mark(r, MATH_CURRENCY, from, t->s, m);
        } else if (ordinal) {
            m = read_ordinal(r, m, from, ordinal);
        } else if (read_unit_follows(r, m, from)) {
            m = read_unit(r, m, from);
        } else {
            break;
        }
    }
    return m;
}
