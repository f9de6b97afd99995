#ifndef ANSWER_CHECK_COMPAT_COMPAT_TOKENS_H
#define ANSWER_CHECK_COMPAT_COMPAT_TOKENS_H

/* What the original's grammar spells out: the tables that compat_lex.c goes through. Each ends with NULL. */

struct compat_literal {
    const char *text;
    short kind, value; /* enum compat_token; a function, a number set's letter, else 0 */
};
extern const struct compat_literal compat_literals[];

struct compat_greek_letter {
    const char *name, *sign; /* "alpha", "α" */
};
extern const struct compat_greek_letter compat_greek_letters[];

extern const char *const compat_operator_names[]; /* which only \operatorname may hold */
extern const char *const compat_other_symbols[];  /* commands that are symbols */
extern const char *const compat_accents[];        /* commands that dress a symbol */

#endif
