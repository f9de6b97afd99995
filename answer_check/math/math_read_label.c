/* What stands before a value and announces it: "Minimum: 1", "(C) 12", "only x = 0", "\text{The area is } 5".
 */
#include <string.h>

#include "answer_check/math/math_reader.h"

/* "only x = 0", "exactly 5": the first word changes nothing. */
void read_adverb(struct math_reader *r)
{
    static const char *const table[] = {"only", "exactly", "approximately", "about", "roughly", "all", "any"};
    const struct token *t = reader_token(r);
    if (t->kind != T_WORD || (t[1].kind == T_WORD && t[1].n > 1) || t[1].kind == T_END)
        return;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_starts((struct span){t->s, (size_t)t->n}, table[i]) && strlen(table[i]) == (size_t)t->n)
            reader_next(r);
}

/* A label: words, perhaps with a number (Case 2), and a colon. Returns the number of tokens before the
 * colon; 0 when there is no label; -1 when the words only announce something (The answer is: 5), because
 * such a text is a response rather than an expression. */
int read_label_length(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int n = read_phrase_length(r);
    if (!n && t->kind == T_WORD && t->n > 2 && t[1].kind == T_DIGITS && t[1].space)
        n = 1;
    n += n && t[n].kind == T_DIGITS;
    if (!n || t[n].kind != T_COLON)
        return 0;
    for (int i = 0; i < n; i++) {
        struct span word = {t[i].s, (size_t)t[i].n};
        if (math_word_announces(word) || (math_word_is_stop(word) && word.n > 1))
            return -1;
    }
    return n;
}

/* The letter of an option before its value, "(C) 12" and "(B)\ -7": three tokens, or 0. A sign behind it must
 * belong to the number, since (B) - 7 is a difference. */
int read_choice_label(const struct math_reader *r)
{
    const struct token *t = reader_token(r), *next = t + 3;
    if (r->pos || t->kind != T_OPEN || t->value != '(' || t->match != 2 || t[1].kind != T_WORD ||
        t[1].n != 1 || *t[1].s < 'A' || *t[1].s > 'J' || (!next->space && !(t->flags & TOKEN_TEXT)))
        return 0;
    if (next->kind == T_MINUS)
        return (next[1].kind == T_DIGITS || next[1].kind == T_FRACTION || next[1].kind == T_ROOT) &&
                       !next[1].space
                   ? 3
                   : 0;
    return next->kind == T_DIGITS || next->kind == T_FRACTION || next->kind == T_ROOT ||
                   next->kind == T_CURRENCY
               ? 3
               : 0;
}

/* "\text{The smallest such } n \text{ is } 5", "\text{Area of } ABC = 5": skips words that announce a
 * value, up to their verb or sign. Only at the beginning of a text, and only when the words are set as
 * text. */
void read_announcement(struct math_reader *r)
{
    int verb = 0, words = 0;
    for (int i = 0; !r->pos && i < 24; i++) {
        const struct token *t = &r->t[i];
        struct span word = {t->s, (size_t)t->n};
        int text = t->flags & TOKEN_TEXT && (read_is_word(t) || t->kind == T_COLON);
        int name =
            t->kind == T_NAME || (t->kind == T_WORD && (t->n == 1 || (*t->s <= 'Z' && t->s[1] <= 'Z')));
        if (t->kind == T_RELATION && t->value == MATH_EQUAL && words > 1)
            verb = i;
        if (i && t->kind == T_UNDERSCORE) { /* \omega_{1} */
            i = t[1].kind == T_OPEN ? t[1].match : i + 1;
            continue;
        }
        if ((!text && !name) || (text && (span_starts(word, "not") || word.n == 0)))
            break;
        words += text;
        if (text && words > 1 && word.n < 4 && (span_starts(word, "is") || span_starts(word, "are")))
            verb = i;
    }
    const struct token *next = &r->t[verb + 1];
    if (verb && next->kind != T_END && !(next->kind == T_WORD && next->flags & TOKEN_TEXT))
        r->pos = verb + 1 + (next->kind == T_COLON);
}
