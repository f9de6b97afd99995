#ifndef ANSWER_CHECK_READ_LEX_STATE_H
#define ANSWER_CHECK_READ_LEX_STATE_H

#include "answer_check/read/lex.h"

/* The lexer's state, shared by lex.c (characters) and lex_command.c (groups, commands and operators); no
 * other file includes this header. */

enum { LEX_DEPTH = 200, LEX_ENVIRONMENTS = 50 };
enum lex_group { GROUP_BRACES, GROUP_TEXT };

struct lex_level {
    unsigned char kind, in_text; /* in_text: the lexer's in_text before the group */
};

struct lexer {
    struct math_work *work;
    struct span text;
    size_t at, start; /* next byte; first byte of the token being read */
    struct token *t, spare;
    int n, cap;
    int space, boundary; /* space before the next token; whether a mark of math mode stood there */
    int in_text, box, negated, vector;
    int currency; /* $ is a currency sign, not a mark of math mode */
    int depth, n_environments, failed;
    struct lex_level group[LEX_DEPTH]; /* from here on nothing is cleared */
    struct {
        struct span name;
        int doubled; /* begun by \\begin: commands have two backslashes, rows end with four */
        int aligned; /* & is layout only */
    } environment[LEX_ENVIRONMENTS];
};

/* Appends a token of that kind, value and text, which begins at l->start and ends at l->at. Returns it, or a
 * spare one after setting l->failed when the array is full; never NULL. `s` is borrowed. */
struct token *lex_emit(struct lexer *l, enum token_kind kind, int value, const char *s, size_t n);
void lex_space(struct lexer *l, enum token_space space); /* notes space before the next token */
/* Notes a mark that ends a formula inside a text. When white space stands beside it, what follows is another
 * formula. */
void lex_math_mode(struct lexer *l);
char lex_peek(const struct lexer *l, size_t ahead); /* the byte at l->at + ahead; 0 at the end */
void lex_skip_blanks(struct lexer *l); /* moves l->at to the next byte that is no ASCII white space */

/* The functions below return 0, or -1 where the text cannot be read. */
int lex_open_group(struct lexer *l, enum lex_group kind); /* opens a group; -1 beyond LEX_DEPTH */
int lex_text_group(struct lexer *l); /* opens the group behind \text; 0 and nothing where there is no brace */
int lex_backslash(struct lexer *l);  /* what stands behind a backslash */
int lex_meaning(struct lexer *l, const struct token_meaning *m); /* emits or notes what a command means */
int lex_ascii_operator(struct lexer *l, char c); /* c is consumed already; -1: c is no operator */

#endif
