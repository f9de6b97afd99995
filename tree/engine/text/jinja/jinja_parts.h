#ifndef ENGINE_TEXT_JINJA_JINJA_PARTS_H
#define ENGINE_TEXT_JINJA_JINJA_PARTS_H

#include <stdint.h>

#include "engine/text/jinja/jinja.h"
#include "evalcore/base/arena.h"

/* Shared by the files of this room: tokens, the tree, values. int functions return 0 or a negative ERR_ code
 * with the error set, unless said otherwise: ERR_FORMAT for what Jinja refuses, ERR_UNSUPPORTED for what is
 * not supported or exceeds a bound. Functions with a struct jinja_state that return something else, or
 * nothing, leave an error in r->e; their result then has no meaning. */
enum {
    JINJA_TEXT_MAX = 1 << 20,
    JINJA_DEPTH_MAX = 100,      /* of the tree, and of calls */
    JINJA_STEPS_MAX = 2000000,  /* nodes that one rendering may visit */
    JINJA_MEMORY_MAX = 1 << 26, /* bytes that one rendering may allocate */
};

enum jtoken_kind { T_END, T_DATA, T_VAR, T_VAR_END, T_BLOCK, T_BLOCK_END, T_NAME, T_STRING, T_INT, T_OP };
struct jtoken {
    enum jtoken_kind kind;
    const char *text; /* a string's value, an operator's characters */
    size_t n;
    int64_t number;
    int line;
};
struct jtokens {
    struct jtoken *v;
    size_t n, cap;
};
/* Cuts a template into tokens, the last of which is T_END. Their texts lie in the arena; the caller frees v,
 * after an error too. */
int jinja_lex(struct jtokens *out, struct arena *a, const char *text, size_t n, const char *what,
              struct err *e);
/* Returns the length in bytes of the first character, at most n; n > 0. Only its first byte is looked at, so
 * in invalid UTF-8 a lead byte takes the bytes behind it along, and a continuation byte has length 1. */
size_t jinja_char(const char *p, size_t n);

enum jnode_kind {
    /* statements */
    N_DATA,      /* text */
    N_OUTPUT,    /* a */
    N_IF,        /* a: condition, list: then, b: else (first statement) */
    N_FOR,       /* target: list; a: iterable, b: filter; body, c: else */
    N_SET,       /* target a = b */
    N_SET_BLOCK, /* target a, body */
    N_MACRO,     /* text: name; list: N_ARG parameters; body */
    N_BODY,      /* body: a block that only groups */
    N_BREAK,
    N_CONTINUE,
    /* expressions */
    N_NAME,
    N_STRING,
    N_INT,
    N_TRUE,
    N_FALSE,
    N_NONE,
    N_LIST,  /* list; number 1: a tuple */
    N_DICT,  /* list of N_ARG: a key, b value */
    N_ATTR,  /* a . text */
    N_ITEM,  /* a [ b ] */
    N_SLICE, /* a [ list: three, N_MISSING where left out ] */
    N_MISSING,
    N_CALL,   /* a ( list of N_ARG: text keyword or NULL, a value ) */
    N_FILTER, /* a | text ( list of N_ARG ) */
    N_TEST,   /* a is text ( list of N_ARG ) */
    N_NOT,
    N_NEG,
    N_AND,
    N_OR,
    N_COND,   /* a if b else c, c may be NULL */
    N_BINARY, /* text: + - * % // ~ == != < > <= >= in, "not in"; comparisons are chained by N_CHAIN */
    N_CHAIN,  /* a, then list of N_BINARY whose a is NULL */
    N_ARG,
};
struct jnode {
    enum jnode_kind kind;
    int line;
    const char *text;
    size_t n;
    int64_t number;
    struct jnode *a, *b, *c, *list, *body, *next;
};
/* Builds the tree of a template in the arena; *out is its first statement. */
int jinja_parse(struct jnode **out, const struct jtokens *tokens, struct arena *a, const char *what,
                struct err *e);

enum jvalue_kind {
    V_UNDEFINED,
    V_NONE,
    V_BOOL,
    V_INT,
    V_STRING,
    V_LIST,
    V_DICT,
    V_SPACE,    /* namespace(): a mapping with attributes that can be set; text "loop": the variable loop */
    V_MACRO,    /* node and scope */
    V_FUNCTION, /* text: name of a global */
    V_METHOD,   /* text: name; list: items[0] is the object */
};
/* A value. Bytes [from, to) of a string are foreign. is_scattered: the foreign bytes lie in several places,
 * and the range is only their hull. is_markup: Jinja's `safe` was applied. */
struct jvalue {
    enum jvalue_kind kind;
    int64_t number;
    const char *text;
    size_t n, from, to;
    int is_scattered, is_markup;
    struct jlist
        *list; /* V_LIST: values (number 1: written as a tuple); V_DICT, V_SPACE: keys and values in turn */
    const struct jnode *node;
    struct jscope *scope;
};
struct jlist {
    struct jvalue *v;
    size_t n, cap;
};
struct jscope {
    struct jscope *up;
    struct jlist vars; /* names and values in turn */
};

/* One rendering. */
struct jinja_state {
    const char *what;
    struct arena arena;
    struct err *e;
    long steps;
    int depth, line; /* line of the node that is evaluated */
    int leaving;     /* N_BREAK or N_CONTINUE on its way to the loop, else 0 */
    struct jscope *scope;
};

/* Text under construction, with its range of foreign bytes. */
struct jtext {
    struct str s;
    size_t from, to;
    int is_scattered;
};
/* Appends a string with its foreign range. */
void jtext_add(struct jtext *t, const struct jvalue *v);
/* Returns the text as a string in the arena and releases t. */
struct jvalue jtext_take(struct jinja_state *r, struct jtext *t);

/* Sets the error, with the present line, and returns its code. */
int jinja_fail(struct jinja_state *r, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Counts the work on n bytes or items as steps; the next step checks the bound. */
void jinja_cost(struct jinja_state *r, size_t n);
/* Returns memory that lives as long as the rendering; NULL and an error when the bound is reached. */
void *jinja_alloc(struct jinja_state *r, size_t bytes);

/* Return a value: a number, a boolean, a string of n bytes, which is borrowed and not foreign, bytes from ..
 * to-1 of a string, which keep what is foreign of them, and an empty list. */
struct jvalue jv_int(int64_t v);
struct jvalue jv_bool(int v);
struct jvalue jv_text(const char *text, size_t n);
struct jvalue jv_slice(const struct jvalue *s, size_t from, size_t to);
struct jvalue jv_list(struct jinja_state *r);
/* Appends a value; l NULL: does nothing. */
void jlist_add(struct jinja_state *r, struct jlist *l, struct jvalue v);
/* Returns the value of a key, which may be written until the next jdict_set(); NULL: not there. */
struct jvalue *jdict_find(const struct jlist *l, const char *key, size_t n);
/* Sets the value of a key, a string, and replaces an earlier one. */
void jdict_set(struct jinja_state *r, struct jlist *l, struct jvalue key, struct jvalue v);
/* Returns 1 if the value counts as true in a condition, as in Python, else 0. */
int jv_true(const struct jvalue *v);
/* Returns 1 if a == b, else 0. Comparing two different mappings, or lists of lists, is an error, since it
 * could take forever. */
int jv_equal(struct jinja_state *r, const struct jvalue *a, const struct jvalue *b);
/* Returns 1 for a string with this text, else 0. */
int jv_is(const struct jvalue *v, const char *text);
/* Returns the kind in words, for messages: "a list". */
const char *jv_kind(const struct jvalue *v);
/* Sets *out to Python's str() of v, "" for an undefined value; lists and mappings are refused. */
int jv_string(struct jinja_state *r, const struct jvalue *v, struct jvalue *out);
/* Sets *out to the items that a loop over v sees, as a list: a mapping's keys, a string's characters, nothing
 * for an undefined value. ERR_FORMAT for a value without items. */
int jv_items(struct jinja_state *r, const struct jvalue *v, struct jvalue *out);
/* Sets *is_in to 1 if v is a part of a string or an item of `in`, else to 0. */
int jv_contains(struct jinja_state *r, const struct jvalue *in, const struct jvalue *v, int *is_in);
/* Returns the number of characters or items; 0 for an undefined value; an error for a value without length.
 */
int64_t jv_length(struct jinja_state *r, const struct jvalue *v);
/* Returns of[key]; a negative index counts from the end. V_UNDEFINED if there is no such item. */
struct jvalue jv_item(struct jinja_state *r, const struct jvalue *of, const struct jvalue *key);
/* Sets *out to of[start:stop:step]; the three are integers, V_NONE or V_UNDEFINED. */
int jv_part(struct jinja_state *r, const struct jvalue *of, const struct jvalue at[3], struct jvalue *out);
/* Returns the string without the characters in `chars` (NULL: white space) at its left and right end. */
struct jvalue jv_strip(const struct jvalue *s, const struct jvalue *chars, int left, int right);

/* Arguments of a call: positional values, and keyword arguments. */
struct jargs {
    struct jlist at;
    struct jlist named; /* names and values in turn */
};
/* Apply a filter, a test or a method to v and set *out to the result, of a test 1 or 0. An unknown name, or a
 * kind of value or arguments it does not take, is ERR_UNSUPPORTED. */
int jinja_filter(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *args,
                 struct jvalue *out);
int jinja_test(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *args,
               int *out);
/* Returns 1 when values of this kind have a method of that name, else 0. */
int jinja_has_method(const struct jvalue *v, const char *name);
int jinja_method(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *args,
                 struct jvalue *out);
/* Run a list of statements and append what they write to out, and evaluate an expression into *out. */
int jinja_exec(struct jinja_state *r, const struct jnode *list, struct jtext *out);
int jinja_eval(struct jinja_state *r, const struct jnode *n, struct jvalue *out);
/* jscope_find() returns the variable of that name in the scope or one around it, NULL if there is none;
 * jscope_set() sets one in the present scope, r->scope. name is borrowed. */
struct jvalue *jscope_find(struct jscope *s, const char *name, size_t n);
void jscope_set(struct jinja_state *r, const char *name, size_t n, struct jvalue v);

#endif
