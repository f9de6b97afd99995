#ifndef ANSWER_CHECK_MATH_MATH_READER_H
#define ANSWER_CHECK_MATH_MATH_READER_H

#include "answer_check/lex/math_lex.h"
#include "answer_check/math/math_read.h"

/* Shared by the files of the reader (math_read*.c), whose entry is math_read() in math_read.h. This header
 * is a door only for the lists of words at its end, math_word_*(), which answer_check/equal uses too.
 *
 * The reader is a recursive descent over tokens whose brackets are already paired. Every function reads
 * what its name says and leaves `pos` behind it, or returns NULL; after NULL the value of `pos` means
 * nothing, so a caller that wants to try something else restores the place it remembered. `options` decide
 * between several meanings of a writing. The reader collects in `seen` which options would make a
 * difference for this text, and math_read() reads the text again with these options, one at a time and in
 * pairs. One choice thus holds at all places of a text. */

/* The other readings, each the opposite of the usual one, in the order in which they are tried. */
enum read_option {
    READ_INTERVAL = 1 << 0,        /* (a, b): an open interval, not a pair */
    READ_COMMA = 1 << 1,           /* 3,333: a list, not a number; for 3, 333 the other way round */
    READ_DECIMAL_COMMA = 1 << 2,   /* 3,14: one number */
    READ_LETTER_UNIT = 1 << 3,     /* 3m: metres, not m times 3 */
    READ_TIME = 1 << 4,            /* 12:30: a time, not a ratio */
    READ_NATURAL_LOG = 1 << 5,     /* \log x: base e, not 10 */
    READ_NAMES = 1 << 6,           /* AB: a product, not a name; abc: a name, not a product */
    READ_WORDS = 1 << 7,           /* a word alone: the product of its letters, or the other way round */
    READ_PRODUCT = 1 << 8,         /* f(x): f times x */
    READ_APPLICATION = 1 << 9,     /* a(n): a of n, not a times n */
    READ_SLASH = 1 << 10,          /* 1/2x: 1 over 2x, not half of x */
    READ_TEX_DIGITS = 1 << 11,     /* x^23: x^2 times 3 as TeX sets it; \sqrt12: the root of 12 */
    READ_SCIENTIFIC = 1 << 12,     /* 3e-5: 3 times 10^-5, not 3e minus 5 */
    READ_FUNCTION_SLASH = 1 << 13, /* sin x/2: how far the argument goes */
    READ_E_SYMBOL = 1 << 14,
    READ_I_SYMBOL = 1 << 15,
    READ_CHOOSE = 1 << 16, /* C_9^2, C(9, 2): a binomial coefficient */
    READ_FLOOR = 1 << 17,  /* [x]: the integer part, not a parenthesis */
    READ_OPTIONS = 18
};

struct math_reader {
    struct math_work *w;
    const struct token *t;
    struct span text;
    int64_t start; /* steps left at the beginning */
    int pos;
    int skip; /* how many letters or digits of the token at pos are already read */
    int depth;
    unsigned options, seen;
    int bound_i, bound_e; /* inside a sum over i (or e) it is a symbol, not the constant */
    int in_bracket;       /* inside ( ) and the like: commas separate there */
    int no_mid;           /* a | here means "such that", not "divides" */
    int commas;           /* number of commas in the whole text */
    int in_integral;      /* dx ends the argument of a function */
    int in_rows;          /* inside an environment, where \\ ends a row and does not separate statements */
};

enum { READ_ITEMS = 4000 }; /* elements of one list */

/* A sequence: its elements and what stands before each. */
struct read_items {
    const struct math_node **node;
    enum token_kind *separator; /* T_COMMA, T_SEMICOLON, T_AND, T_OR; value T_ROW for a new line */
    unsigned char *comma;       /* whether a comma stood before "or" or "and" */
    int n, cap;
    int logical; /* joined by \land or \lor: statements, whatever they look like */
};

/* Tools (math_reader.c). */
const struct token *reader_token(const struct math_reader *r);
int reader_is(const struct math_reader *r, enum token_kind kind);
int reader_option(struct math_reader *r, enum read_option o); /* notes that o matters here; is it chosen? */
void reader_next(struct math_reader *r);
/* One level deeper: -1 when that is too deep or no steps are left; after 0 the caller undoes it, r->depth--.
 */
int reader_enter(struct math_reader *r);
struct span reader_source(const struct math_reader *r, int from); /* from token `from` to before pos */
const struct math_node *reader_named(struct math_reader *r, enum math_kind kind, int from, const char *name);
const struct math_node *reader_one(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a);
const struct math_node *reader_two(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a, const struct math_node *b);
const struct math_node *reader_function(struct math_reader *r, enum math_function f, int from,
                                        const struct math_node *a, const struct math_node *b /* or NULL */);
const struct math_node *reader_integer(struct math_reader *r, const char *digits, int n);
const char *reader_flat(struct math_reader *r, int from, int to); /* the tokens as one name, without blanks */
const unsigned char *reader_bytes(struct math_reader *r, const unsigned char *bytes, int n); /* a copy */
const char *reader_join_names(struct math_reader *r, const char *a, const char *b);
int reader_add(struct math_reader *r, struct read_items *list, const struct math_node *m,
               enum token_kind separator, int comma);
const struct math_node *reader_list(struct math_reader *r, enum math_kind kind, int from,
                                    const struct read_items *list);

/* "(about 18.9)", "(square units)" behind a value: the index of the closing token, or 0. Such a remark has
 * no effect. */
int read_remark(const struct math_reader *r);
/* "base 7", "(base 7)" behind a number: how many tokens, or 0. */
int read_base_words(const struct token *t);

/* Statements (math_read_statement.c). */
const struct math_node *read_statements(struct math_reader *r); /* everything up to the end of the group */
int read_items(struct math_reader *r, struct read_items *out);  /* the same in pieces; -1: unreadable */
const struct math_node *read_join(struct math_reader *r, int from, const struct read_items *list);
const struct math_node *read_shared_left(struct math_reader *r, int from, const struct read_items *list);
/* What announces a statement (math_read_label.c). A label and a choice's letter are a number of tokens, 0
 * where there is none; label -1: the words make the text a response. The other two pass over words. */
int read_label_length(struct math_reader *r);
int read_choice_label(const struct math_reader *r);
void read_adverb(struct math_reader *r);
void read_announcement(struct math_reader *r);
int read_opens_condition(const struct math_reader *r);        /* ( with a relation inside */
const struct math_node *read_relation(struct math_reader *r); /* math_read_relation.c */
int read_ratio_word(const struct math_reader *r);             /* the "to" of "3 to 4" */
int read_can_be_end(const struct math_node *m);               /* of an interval: a number, perhaps */

/* Scalars (math_read_scalar.c). */
const struct math_node *read_sum(struct math_reader *r);
const struct math_node *read_product(struct math_reader *r);
const struct math_node *read_power(struct math_reader *r); /* a primary with exponents and the like */
const struct math_node *read_postfix(struct math_reader *r, const struct math_node *m, int from);
const struct math_node *read_primary(struct math_reader *r); /* math_read_primary.c */
const struct math_node *read_script(struct math_reader *r);  /* behind ^ */
int read_starts_factor(const struct math_reader *r);

/* Primaries. */
const struct math_node *read_number(struct math_reader *r);
/* Reads the fraction at pos, which may follow a whole number; *joined says whether both form a mixed
 * number. */
const struct math_node *read_mixed(struct math_reader *r, const struct math_node *whole, int from,
                                   int *joined);
const struct math_node *read_base(struct math_reader *r, const struct math_node *digits, int from);
int read_subscript(struct math_reader *r);         /* passes over _x or _{..}; -1: there is none */
int read_base_length(const struct math_reader *r); /* tokens of A5 in A5_{16}; 0: none */
const struct math_node *read_based(struct math_reader *r, int tokens);
const struct math_node *read_letters(struct math_reader *r);
int read_is_composition(const struct math_reader *r); /* (f \circ g)(x) */
const struct math_node *read_composition(struct math_reader *r);
const struct math_node *read_name(struct math_reader *r, const char *name, int from, int plain_letter);
int read_is_chosen(const struct math_reader *r); /* {}_nC_k */
const struct math_node *read_chosen(struct math_reader *r);
const struct math_node *read_command(struct math_reader *r);
const struct math_node *read_argument(struct math_reader *r); /* {..} of a command, or its next token */
/* The bounds of a sum or an integral, _ and ^ in either order: 0, or -1. */
struct read_bounds {
    const struct math_node *variable, *from, *to, *condition;
    const char *name;
};
int read_bounds(struct math_reader *r, struct read_bounds *b);
const struct math_node *read_signed_product(struct math_reader *r);
const struct math_node *read_function(struct math_reader *r);
const struct math_node *read_bracket(struct math_reader *r);
const struct math_node *read_group(struct math_reader *r); /* {..} */
const struct math_node *read_environment(struct math_reader *r);
const struct math_node *read_cases(struct math_reader *r, int from); /* at \begin */

/* Calculus (math_read_calculus.c). */
int read_differential_follows(const struct math_reader *r); /* dx, behind an integral sign */
const struct math_node *read_opaque(struct math_reader *r, const char *name, int from);
int read_is_derivative(const struct math_reader *r); /* behind \frac */
const struct math_node *read_derivative(struct math_reader *r, int from);

/* Words (math_read_text.c, math_read_unit.c). */
int read_is_word(const struct token *t);       /* could it stand in prose? */
int read_phrase_length(struct math_reader *r); /* how many words at pos are no mathematics */
const struct math_node *read_phrase(struct math_reader *r, int n);
const char *read_folded(struct math_reader *r, int from, int to);
/* Reads the whole text when it consists of words only: sentences first, any words with `last_resort`. */
const struct math_node *read_prose(struct math_reader *r, int n, int last_resort);
const struct math_node *read_marks(struct math_reader *r, const struct math_node *m, int from);
int read_unit_follows(struct math_reader *r, const struct math_node *m, int from);
const struct math_node *read_named_mark(struct math_reader *r, enum math_kind kind, int from,
                                        const char *name, const struct math_node *value);
int read_half_of_day(const struct token *t, const char **name); /* tokens of "am", "p.m."; 0: none */
int read_ordinal_length(const struct token *t);                 /* tokens of "th", "^{th}"; 0: none */
int math_word_is_unit(struct span word);
int math_word_is_degree(struct span word);
int math_word_announces(struct span word); /* answer, solution: only what follows it counts */
int math_word_is_prose(struct span word);  /* is, so: never a product of letters */
int math_word_is_stop(struct span word);   /* is, the, of: a sentence, not a name */
int math_word_is_short(struct span word);
int math_word_number(struct span word); /* 12 for "twelve"; -1 for what is no number */
int math_word_scale(struct span word);  /* 6 for "million", a power of ten; 0 for other words */

#endif
