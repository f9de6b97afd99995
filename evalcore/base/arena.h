#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

/* Bump allocator: many small objects, one lifetime. A zeroed struct arena is an empty one. Memory is zeroed
 * and aligned to 16 bytes. Host out-of-memory aborts with one sentence: nobody up the stack could do better.
 */
struct arena {
    struct arena_block *head;
    size_t used; /* bytes handed out since init or reset */
};

void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *a);   /* forgets the contents, keeps one block */
void arena_release(struct arena *a); /* frees everything; a is empty again */

/* malloc family that aborts instead of returning NULL. xcalloc zeroes. Release with free(). */
void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xrealloc(void *p, size_t bytes);
char *xstrdup(const char *s);
/* Doubles a growing array: *p holds *cap items of `item` bytes; afterwards it holds at least `need`. */
void xgrow(void *p, size_t *cap, size_t need, size_t item);

#endif
