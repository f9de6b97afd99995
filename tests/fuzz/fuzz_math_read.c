/* Fuzzes the reader of mathematics. Whatever the bytes, there is no crash, the same tree is read twice
 * within the steps, it respects the limits of a tree, and every node is made from a piece of the text or of
 * its respelled copy. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_check/read/math_read.h"
#include "answer_check/text/respell.h"
#include "evalcore/base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `begin` is NULL for a tree of a respelled copy: then the bytes of each source are read, so that the
 * sanitizer sees one that ends outside of it. */
static int check_tree(const struct math_node *m, const char *begin, const char *end, int depth)
{
    int n = 1;
    assert(depth <= MATH_TREE_DEPTH + 1 && (unsigned)m->kind < MATH_KINDS && m->name && m->n >= 0);
    assert(!m->source.n || !begin || (m->source.s >= begin && m->source.s + m->source.n <= end));
    for (size_t i = 0; !begin && i < m->source.n; i++)
        assert(m->source.s[i]);
    if (m->kind == MATH_NUMBER)
        assert(m->literal.n > 0 && m->literal.period <= m->literal.decimals);
    if (m->kind == MATH_MATRIX)
        assert(m->rows * m->columns == m->n);
    if (m->kind == MATH_RELATION)
        assert(m->n >= 2 && m->ops);
    if (m->kind == MATH_EITHER)
        assert(m->n >= 2 && m->n <= MATH_TREE_READINGS && depth == 1);
    for (int i = 0; i < m->n; i++)
        n += check_tree(m->child[i], begin, end, depth + 1);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xmalloc(size ? size : 1); /* of exactly this size, so that reading past its end is noticed */
    memcpy(text, data, size);
    struct arena a = {0};
    struct str print[2] = {{0}, {0}}, infix = {0};
    struct span read = respell(&a, (struct span){text, size});
    const char *begin = read.s >= text && read.s <= text + size ? text : NULL;
    for (int i = 0; i < 2; i++) {
        struct math_work w = {.arena = &a, .steps = MATH_STEPS};
        const struct math_node *m = math_read(&w, (struct span){text, size});
        assert(w.steps >= 0);
        math_print(&print[i], m);
        if (!m)
            continue;
        assert(check_tree(m, begin, text + size, 1) <= MATH_TREE_READINGS * MATH_TREE_NODES);
        math_print_infix(&infix, m);
        assert(infix.len <= 2 * 500);
    }
    assert(!strcmp(str_text(&print[0]), str_text(&print[1])));
    str_release(&print[0]);
    str_release(&print[1]);
    str_release(&infix);
    arena_release(&a);
    free(text);
    return 0;
}
