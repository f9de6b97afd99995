/* Is a text mathematics, or words? */
#include "answer_check/math/math_read.h"

/* Is this symbol really a word? It is when it has at least three letters, or letters of another script. */
static int is_word_node(const struct math_node *m)
{
    int letters = 0;
    if (m->kind != MATH_SYMBOL || !m->source.n || m->source.s[0] == '\\')
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
