/* Bump allocator and the aborting malloc family (contract: arena.h). Under AddressSanitizer every object is
 * followed by a poisoned gap, so that an overrun inside a block is caught as it would be with malloc. */
#include "evalcore/base/arena.h"

#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define RED_ZONE 16
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RED_ZONE 16
#endif
#endif
#ifndef RED_ZONE
#define RED_ZONE 0
#endif

enum { ALIGN = 16, BLOCK_MIN = 1 << 14, BLOCK_MAX = 1 << 22 };

struct arena_block {
    struct arena_block *older;
    size_t size, at;
    _Alignas(ALIGN) unsigned char bytes[];
};

static int exit_code; /* exit code when memory runs out where that is expected; 0: nowhere */

void memory_exits_with(int code)
{
    exit_code = code;
}

static _Noreturn void out_of_memory(size_t bytes)
{
    if (exit_code)
        _exit(exit_code);
    fprintf(stderr, "kveval: out of memory: the system refused %zu more bytes; run fewer jobs at a time\n",
            bytes);
    abort();
}

static struct arena_block *add_block(struct arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : BLOCK_MIN;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (size < need)
        size = need;
    struct arena_block *b = xmalloc(sizeof *b + size);
    *b = (struct arena_block){.older = a->head, .size = size};
    ASAN_POISON_MEMORY_REGION(b->bytes, size);
    a->head = b;
    return b;
}

void *arena_room(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        out_of_memory(bytes);
    size_t step = (bytes + RED_ZONE + ALIGN - 1) / ALIGN * ALIGN;
    if (!step)
        step = ALIGN; /* distinct objects have distinct addresses */
    struct arena_block *b = a->head;
    if (!b || b->size - b->at < step)
        b = add_block(a, step);
    void *p = b->bytes + b->at;
    b->at += step;
    a->used += bytes;
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    return p;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    enum { FEW = RED_ZONE ? 0 : 8 * ALIGN };
    unsigned char *p = arena_room(a, bytes);
    if (bytes > FEW)
        return memset(p, 0, bytes);
    for (size_t i = 0; i < bytes; i += ALIGN) /* the last step is the object's too */
        memset(p + i, 0, ALIGN);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_room(a, n + 1);
    if (n)
        memcpy(p, s, n);
    p[n] = 0;
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    char few[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(few, sizeof few, fmt, ap);
    va_end(ap);
    if (n < (int)sizeof few)
        return arena_strndup(a, few, n < 0 ? 0 : (size_t)n);
    char *p = arena_room(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

static void free_older(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
}

void arena_release(struct arena *a)
{
    free_older(a->head);
    *a = (struct arena){0};
}

void *xmalloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        out_of_memory(bytes);
    return p;
}

void *xcalloc(size_t n, size_t bytes)
{
    if (bytes && n > SIZE_MAX / bytes)
        out_of_memory(SIZE_MAX);
    void *p = n && bytes ? calloc(n, bytes) : calloc(1, 1);
    if (!p)
        out_of_memory(n * bytes);
    return p;
}

void *xrealloc(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        out_of_memory(bytes);
    return p;
}

char *xstrdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(xmalloc(n), s, n);
}

void xgrow(void *p, size_t *cap, size_t need, size_t item)
{
    if (*cap >= need)
        return;
    size_t grown = *cap ? *cap : 8;
    while (grown < need)
        grown = grown > SIZE_MAX / 2 ? need : grown * 2;
    if (item && grown > SIZE_MAX / item)
        out_of_memory(SIZE_MAX);
    void *
        data; /* p points to a pointer of any type: copy its bytes rather than pretend that it is a void ** */
    memcpy(&data, p, sizeof data);
    data = xrealloc(data, grown * item);
    memcpy(p, &data, sizeof data);
    *cap = grown;
}
