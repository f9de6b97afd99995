#ifndef ANSWER_CHECK_COMPAT_COMPAT_TOKENS_H
#define ANSWER_CHECK_COMPAT_COMPAT_TOKENS_H

/* The words of the original's grammar: the tables that compat_lex.c searches. Each ends with NULL, or with
 * a row that begins with NULL. */

struct compat_literal {
    const char *text;
    short kind, value; /* kind: enum compat_token; value: a function, the letter of a number set, else 0 */
};
extern const struct compat_literal compat_literals[];

struct compat_greek_letter {
    const char *name, *sign; /* "alpha", "α" */
};
extern const struct compat_greek_letter compat_greek_letters[];

extern const char *const compat_operator_names[]; /* names that are known only inside \operatorname */
extern const char *const compat_other_symbols[];  /* commands that are symbols */
extern const char *const compat_accents[];        /* commands that put an accent on a symbol */

#endif
