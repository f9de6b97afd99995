/* Arena: alignment, zeroed memory (after a reset too), growth; xgrow on arrays of any type. */
#include "evalcore/base/arena.h"

#include <stdint.h>

#include "tests/check.h"

static int is_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return 0;
    return 1;
}

static void aligned_and_zeroed(void)
{
    struct arena a = {0};
    for (int round = 0; round < 3; round++) {
        size_t total = 0;
        for (size_t n = 0; n < 3000; n += 7) {
            unsigned char *p = arena_alloc(&a, n);
            CHECK_INT((uintptr_t)p % 16, 0);
            CHECK(is_zero(p, n));
            memset(p, 0xEE, n);
            total += n;
        }
        CHECK_INT(a.used, total);
        arena_release(&a);
        CHECK_INT(a.used, 0);
        CHECK(!a.head);
    }
    arena_release(&a);
}

static void large_objects_do_not_overlap(void)
{
    struct arena a = {0};
    size_t n = 10 * 1000 * 1000;
    char *small = arena_strdup(&a, "small"), *big = arena_alloc(&a, n), *after = arena_strdup(&a, "after");
    memset(big, 1, n);
    CHECK_STR(small, "small");
    CHECK_STR(after, "after");
    CHECK(arena_alloc(&a, 0) != arena_alloc(&a, 0));
    arena_release(&a);
}

static void texts(void)
{
    struct arena a = {0};
    CHECK_STR(arena_strdup(&a, ""), "");
    CHECK_STR(arena_strndup(&a, "abcdef", 3), "abc");
    CHECK_STR(arena_strndup(&a, NULL, 0), "");
    CHECK_STR(arena_printf(&a, "%s-%03d", "x", 7), "x-007");
    arena_release(&a);
}

static void growing_arrays(void)
{
    int *v = NULL;
    size_t cap = 0;
    for (int i = 0; i < 1000; i++) {
        xgrow(&v, &cap, (size_t)i + 1, sizeof *v);
        v[i] = i;
    }
    CHECK(cap >= 1000 && cap < 4000);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(v[i], i);
    size_t before = cap;
    xgrow(&v, &cap, 10, sizeof *v);
    CHECK_INT(cap, before);
    free(v);
    unsigned char *z = xcalloc(100, 3);
    CHECK(is_zero(z, 300));
    z = xrealloc(z, 600);
    CHECK(is_zero(z, 300));
    free(z);
    char *s = xstrdup("copy");
    CHECK_STR(s, "copy");
    free(s);
}

int main(void)
{
    aligned_and_zeroed();
    large_objects_do_not_overlap();
    texts();
    growing_arrays();
    return check_done();
}
