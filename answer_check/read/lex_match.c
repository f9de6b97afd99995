/* Pairs brackets before anything is read, so that the reader never has to guess: unbalanced text fails at
 * once, and from the beginning of a bracket its end is known. Two kinds of signs do not show whether they
 * open or close: | (absolute value, such that, divides) and the brackets of ]a, b[. */
#include "answer_check/read/lex.h"
#include "evalcore/base/arena.h"

struct bracket_level {
    int open; /* index of the token, -1 for the whole text */
    int bars; /* plain bars still to come on this level, not counting deeper ones */
    int comma, separator;
    int colon, relation; /* in {x : x > 0}: index of the colon, and of a relation behind it */
};

struct matcher {
    struct token *t;
    struct bracket_level *level;
    int depth; /* index of the innermost level; level[0] is the whole text */
};

/* Can an operand end with this token, so that an opening sign behind it is unlikely? */
static int ends_operand(const struct token *t)
{
    switch (t->kind) {
    case T_DIGITS:
    case T_WORD:
    case T_NAME:
    case T_CONSTANT:
    case T_VULGAR:
    case T_CLOSE:
    case T_FINISH:
    case T_BANG:
    case T_PRIME:
    case T_PERCENT:
    case T_CIRC:
    case T_NUMBER_SET:
    case T_DOT:
    case T_DOTS:
        return 1;
    default:
        return 0;
    }
}

/* Can an operand begin with this token? */
static int begins_operand(const struct token *t)
{
    switch (t->kind) {
    case T_END:
    case T_CLOSE:
    case T_FINISH:
    case T_CUP:
    case T_CAP:
    case T_SETMINUS:
    case T_COMMA:
    case T_SEMICOLON:
    case T_DOT:
    case T_AND:
    case T_OR:
    case T_ROW:
    case T_CELL:
    case T_RELATION:
    case T_CONDITION:
        return 0;
    default:
        return 1;
    }
}

/* May the brackets be a pair? Round and square ones may be mixed, and '.' of \left. fits all but braces. */
static int brackets_fit(int open, int close)
{
    if (open == '.' || close == '.')
        return open != '{' && close != '{';
    if (open == '(' || open == '[' || open == ']')
        return close == '(' || close == '[' || close == ']';
    return open == close;
}

/* Opens a level at token i; -1 when that is too deep. */
static int push_level(struct matcher *m, int i)
{
    if (m->depth >= MATH_TREE_DEPTH)
        return -1;
    int bars = m->level[m->depth].bars;
    m->level[++m->depth] = (struct bracket_level){.open = i};
    if (m->t[i].value == '|') /* bars inside bars are on the same level as these */
        m->level[m->depth].bars = bars;
    return 0;
}

/* Closes the innermost level with token i; -1 when the brackets do not fit. */
static int pop_level(struct matcher *m, int i)
{
    int open = m->level[m->depth].open;
    if (open < 0 || m->t[open].kind != T_OPEN || !brackets_fit(m->t[open].value, m->t[i].value))
        return -1;
    if (m->t[open].value == '|')
        m->level[m->depth - 1].bars = m->level[m->depth].bars;
    struct bracket_level *top = &m->level[m->depth];
    if (m->t[open].value == '{' && top->colon && top->relation && !(m->t[open].flags & TOKEN_BOX))
        m->t[top->colon].kind = T_MID;
    m->t[open].match = i;
    m->t[i].match = open;
    m->depth--;
    return 0;
}

/* A [ behind an operand, with none after it, closes [a, b[ or ]a, b[. A ] that stands behind no operand
 * opens. */
static void turn_bracket(const struct matcher *m, struct token *t, const struct token *before)
{
    const struct bracket_level *top = &m->level[m->depth];
    int open = top->open < 0 ? 0 : m->t[top->open].value;
    int ended = before && ends_operand(before);
    if (t->flags & TOKEN_FIXED || t->value != '[')
        return;
    if (t->kind == T_OPEN && ended && top->comma && (open == '[' || open == ']' || open == '(') &&
        !begins_operand(t + 1)) {
        t->kind = T_CLOSE;
        t->value = ']';
    } else if (t->kind == T_CLOSE && !ended) {
        t->kind = T_OPEN;
        t->value = ']';
    }
}

/* Decides what a plain bar is: the end of a pair that is open here, the beginning of one, or a sign
 * between two sides. */
static int match_bar(struct matcher *m, int i, const struct token *before)
{
    struct token *t = &m->t[i];
    struct bracket_level *top = &m->level[m->depth];
    int open = top->open < 0 ? 0 : m->t[top->open].value;
    int in_set = open == 'S';
    top->bars--;
    t->value = '|';
    if (before && ends_operand(before)) {
        if (open == '|' && m->t[top->open].kind == T_OPEN && !(m->t[top->open].flags & TOKEN_FIXED)) {
            t->kind = T_CLOSE;
            return pop_level(m, i);
        }
        if ((in_set && !top->separator) || top->bars % 2 == 0) {
            t->kind = T_MID;
            top->separator = 1;
            return 0;
        }
    }
    t->kind = T_OPEN;
    return push_level(m, i);
}

/* Counts the bars that stand on each level and stores the number in `match` of the level's opening token. */
static int count_bars(struct token *t, int n, int *whole, int *stack)
{
    int depth = 0;
    *whole = 0;
    for (int i = 0; i < n; i++) {
        if (t[i].kind == T_OPEN && t[i].value != '|') {
            if (depth >= MATH_TREE_DEPTH)
                return -1;
            t[i].match = 0;
            stack[depth++] = i;
        } else if (t[i].kind == T_CLOSE && t[i].value != '|' && depth > 0) {
            depth--;
        } else if (t[i].kind == T_BAR) {
            int *count = depth ? &t[stack[depth - 1]].match : whole;
            ++*count;
        }
    }
    return 0;
}

/* Takes one token into account; -1 when the text cannot be balanced. */
static int match_token(struct matcher *m, int i)
{
    struct token *t = &m->t[i];
    const struct token *before = i ? t - 1 : NULL;
    struct bracket_level *top = &m->level[m->depth];
    int in_set = top->open >= 0 && m->t[top->open].value == 'S' && m->t[top->open].kind == T_OPEN;
    turn_bracket(m, t, before);
    switch (t->kind) {
    case T_OPEN: {
        int bars = t->match;
        t->match = -1;
        if (push_level(m, i))
            return -1;
        if (t->value != '|')
            m->level[m->depth].bars = bars > 0 ? bars : 0;
        return 0;
    }
    case T_CLOSE:
        return pop_level(m, i);
    case T_BAR:
        return match_bar(m, i, before);
    case T_COMMA:
    case T_SEMICOLON:
        top->comma = 1;
        return 0;
    case T_MID:
        top->separator = 1;
        return 0;
    case T_COLON: /* {x : x > 0} */
        if (in_set && !top->separator) {
            t->kind = T_MID;
            t->value = ':';
            top->separator = 1;
        } else if (!top->colon) {
            top->colon = i;
        }
        return 0;
    case T_RELATION:
        top->relation |= top->colon > 0;
        return 0;
    case T_BEGIN:
        return push_level(m, i);
    case T_FINISH: {
        int open = top->open;
        if (open < 0 || m->t[open].kind != T_BEGIN)
            return -1;
        m->t[open].match = i;
        t->match = open;
        m->depth--;
        return 0;
    }
    default:
        return 0;
    }
}

int math_match(struct math_work *w, struct token *t, int n)
{
    size_t depth = n < MATH_TREE_DEPTH ? (size_t)n : MATH_TREE_DEPTH;
    int whole, *stack = arena_room(w->arena, (depth + 1) * sizeof *stack);
    struct bracket_level *level = arena_room(w->arena, (depth + 2) * sizeof *level);
    if (math_step(w, n))
        return -1;
    if (count_bars(t, n, &whole, stack))
        return -1;
    struct matcher m = {t, level, 0};
    m.level[0] = (struct bracket_level){.open = -1, .bars = whole};
    for (int i = 0; i < n; i++)
        if (match_token(&m, i))
            return -1;
    return m.depth ? -1 : 0;
}
