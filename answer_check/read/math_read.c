/* Entry of the reader: it cuts the text into tokens, pairs the brackets and produces one reading after the
 * other.
 *
 * The first reading takes the usual meaning everywhere and notes what else the text could mean. Then each
 * other meaning is tried by itself, and then they are tried in pairs. Equal trees are kept once. */
#include "answer_check/read/reader.h"
#include "answer_check/text/respell.h"

#include <string.h>

static int is_scalar_kind(enum math_kind k)
{
    return (k >= MATH_ADD && k <= MATH_APPLY) || (k >= MATH_PERCENT && k <= MATH_BASE);
}

/* May m stand below this parent? Words, lists and statements are no operands: "the answer is" times 42 is
 * no product. */
static int may_be_child(const struct math_node *parent, const struct math_node *m)
{
    enum math_kind k = m->kind;
    return !is_scalar_kind(parent->kind) ||
           (k != MATH_TEXT && k != MATH_LIST && k != MATH_RELATION && k != MATH_AND && k != MATH_OR);
}

/* The number of nodes, or more than MATH_TREE_NODES when there are too many, when they lie too deep, or
 * when one cannot stand below its parent. */
static int count_nodes(const struct math_node *m, int depth)
{
    int n = 1;
    if (depth > MATH_TREE_DEPTH)
        return MATH_TREE_NODES + 1;
    for (int i = 0; i < m->n && n <= MATH_TREE_NODES; i++)
        n += may_be_child(m, m->child[i]) ? count_nodes(m->child[i], depth + 1) : MATH_TREE_NODES + 1;
    return n;
}

/* Reads all n tokens with these options; NULL when they cannot be read, or the tree is too large. */
static const struct math_node *read_once(struct math_reader *r, unsigned options, int n)
{
    r->pos = r->skip = r->depth = 0;
    r->bound_i = r->bound_e = r->in_bracket = r->no_mid = r->in_rows = r->in_integral = 0;
    r->options = options;
    const struct math_node *m = read_statements(r);
    if (!m || r->pos != n || r->skip || count_nodes(m, 1) > MATH_TREE_NODES)
        return NULL;
    return m;
}

enum {
    READ_STEPS = 30000
}; /* steps after which no further reading of a long text is begun; the usual one is always tried */

struct readings {
    const struct math_node *node[MATH_TREE_READINGS];
    int n;
};

/* Adds the reading with these options, if there is one that is new and the limits allow another. */
static void try_reading(struct math_reader *r, struct readings *out, unsigned options, int n)
{
    int enough = out->n == MATH_TREE_READINGS || (options && r->start - r->w->steps > READ_STEPS);
    const struct math_node *m = enough ? NULL : read_once(r, options, n);
    for (int i = 0; m && i < out->n; i++)
        if (math_node_same(m, out->node[i]))
            m = NULL;
    if (m)
        out->node[out->n++] = m;
}

/* The tree of a text that is no prose: one reading, or a MATH_EITHER of several. */
static const struct math_node *read_all(struct math_reader *r, int n)
{
    struct readings all = {0};
    try_reading(r, &all, 0, n);
    unsigned seen = r->seen;
    for (int i = 0; i < READ_OPTIONS; i++)
        if (seen & 1u << i)
            try_reading(r, &all, 1u << i, n);
    seen |= r->seen;
    for (int i = 0; i < READ_OPTIONS; i++)
        for (int k = i + 1; (seen & 1u << i) && k < READ_OPTIONS; k++)
            if (seen & 1u << k)
                try_reading(r, &all, 1u << i | 1u << k, n);
    if (all.n < 2)
        return all.n ? all.node[0] : NULL;
    return math_node_new(r->w, MATH_EITHER, r->text, all.n, all.node);
}

/* A full stop, comma or line end at the end of a text means nothing, but the point of "25." belongs to the
 * number. */
static int trim_end(struct token *t, int n)
{
    while (n > 1) {
        const struct token *last = &t[n - 1];
        int number = last->kind == T_DOT && n <= 3 && t[n - 2].kind == T_DIGITS &&
                     (n == 2 || t[0].kind == T_MINUS || t[0].kind == T_PLUS);
        if ((last->kind != T_DOT && last->kind != T_COMMA && last->kind != T_SEMICOLON &&
             last->kind != T_ROW && !(last->kind == T_NAME && !strncmp(last->s, "checkmark", 9))) ||
            number)
            break;
        n--;
        t[n] = (struct token){.kind = T_END, .at = last->at, .end = last->at, .match = -1, .s = ""};
    }
    return n;
}

/* Drops quotation marks around the whole text: 'abc', "Friday". Returns the first token. */
static struct token *trim_quotes(struct token *t, int *n)
{
    if (*n < 3 || t[0].kind != T_PRIME || t[*n - 1].kind != T_PRIME || t[0].value != t[*n - 1].value)
        return t;
    t[*n - 1].kind = T_END;
    t[*n - 1].s = "";
    t[*n - 1].n = 0;
    *n -= 2;
    return t + 1;
}

/* A formula cut up into the rows of a matrix of one column, between any two tokens, as in
 * \begin{matrix}\frac{\\1\\}{\\2\\}\end{matrix}. Drops the rows and the matrix; 0 when the text is no such
 * formula. */
static int drop_rows(struct token *t, int n)
{
    int k = 0, rows = 0;
    if (n < 3 || t[0].kind != T_BEGIN || t[n - 1].kind != T_FINISH || t[0].n < 6 ||
        memcmp(t[0].s + t[0].n - 6, "matrix", 6) != 0)
        return 0;
    for (int i = 1; i + 1 < n; i++) {
        if (t[i].kind == T_CELL || t[i].kind == T_BEGIN)
            return 0;
        rows += t[i].kind == T_ROW;
        if (t[i].kind != T_ROW) {
            t[k] = t[i];
            t[k++].space = SPACE_BLANK;
        }
    }
    t[k] = t[n];
    return rows ? k : 0;
}

static const struct math_node *read_tokens(struct math_work *w, struct span text, struct token *t, int n);

const struct math_node *math_read(struct math_work *w, struct span text)
{
    return math_read_respelled(w, respell(w->arena, text));
}

const struct math_node *math_read_respelled(struct math_work *w, struct span text)
{
    struct token *t;
    int n = math_lex(w, text, &t);
    const struct math_node *m = n > 0 ? read_tokens(w, text, t, n) : NULL;
    if (m || n <= 0 || t[0].kind != T_BEGIN)
        return m;
    n = math_lex(w, text, &t);
    n = n > 0 ? drop_rows(t, n) : 0;
    return n > 0 ? read_tokens(w, text, t, n) : NULL;
}

/* Reads n tokens: trims them, pairs the brackets, and takes them as prose or as mathematics. */
static const struct math_node *read_tokens(struct math_work *w, struct span text, struct token *t, int n)
{
    n = trim_end(t, n);
    t = trim_quotes(t, &n);
    n = trim_end(t, n);
    if (math_match(w, t, n))
        return NULL;
    struct math_reader r = {.w = w, .t = t, .text = text, .start = w->steps};
    for (int i = 0; i < n; i++)
        r.commas += t[i].kind == T_COMMA;
    const struct math_node *m = read_prose(&r, n, 0);
    m = m ? m : read_all(&r, n);
    return m ? m : read_prose(&r, n, 1);
}

/* ---- mathematics or words? ---- */

/* A Greek letter or a sign, perhaps with an index or a letter behind it: \xce\xbb_1, the sign of an angle. */
static int is_sign(struct span s)
{
    unsigned char c = (unsigned char)s.s[0];
    return c == 0xe2 || ((c == 0xce || c == 0xcf) && (s.n == 2 || (s.n > 2 && !(s.s[2] & 0x80))));
}

/* Is this symbol really a word? It is when it has at least three letters, or letters of another script. */
static int is_word_node(const struct math_node *m)
{
    int letters = 0;
    if (m->kind != MATH_SYMBOL || !m->source.n || m->source.s[0] == '\\' || is_sign(m->source))
        return m->kind == MATH_TEXT;
    for (const char *p = m->name; *p && *p != '_'; p++) {
        if ((unsigned char)*p >= 0x80 || *p == ' ')
            return 1;
        letters += ascii_is_letter(*p);
    }
    return letters > 2;
}

int math_is_mathematical(const struct math_node *m)
{
    if (!m || is_word_node(m))
        return 0;
    for (int i = 0; i < (m->kind == MATH_UNIT ? 1 : m->n); i++)
        if (!math_is_mathematical(m->child[i]))
            return 0;
    return 1;
}

int math_is_value(struct math_work *w, struct span text)
{
    return math_is_mathematical(math_read(w, text));
}
