#ifndef EVALCORE_BASE_ARENA_H
#define EVALCORE_BASE_ARENA_H

#include <stddef.h>

/* Memory for every room but kernels. An arena is a bump allocator for many small objects that are freed
 * together. A zeroed struct arena is an empty one. Its memory is zeroed and aligned to 16 bytes and
 * belongs to the arena. When the host has no memory left, all functions here print one sentence and abort,
 * because no caller could do better. */
struct arena {
    struct arena_block *head;
    size_t used; /* bytes handed out since init or reset */
};

/* 0 bytes too have an address of their own. */
void *arena_alloc(struct arena *a, size_t bytes);
void *arena_room(struct arena *a,
                 size_t bytes); /* the same, not zeroed: for what is written before it is read */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n); /* exactly n bytes of s, and a NUL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *a); /* frees everything; a is empty again */

/* Like malloc, calloc, realloc and strdup, but they abort instead of returning NULL, which they do not
 * return for 0 bytes either. xcalloc zeroes. Release the result with free(). */
void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xrealloc(void *p, size_t bytes);
char *xstrdup(const char *s);
/* From now on a process without memory ends silently with this exit code: whoever started it says what that
 * means. For processes that are started to be killed. */
void memory_exits_with(int code);
/* Makes room in a growing array: p points to the array's pointer, which has room for *cap items of `item`
 * bytes. If that is less than `need`, the capacity is doubled until it suffices (from 8 on), and new
 * items are not zeroed. *p may be NULL when *cap is 0. */
void xgrow(void *p, size_t *cap, size_t need, size_t item);

#endif
