#ifndef EVALCORE_BASE_STR_H
#define EVALCORE_BASE_STR_H

#include <stdarg.h>
#include <stddef.h>

/* Growable byte string for every room but kernels. It may hold any bytes. Once anything was added, even
 * nothing with str_add(s, "", 0), `data` ends with a NUL that len does not count. A zeroed struct str is
 * an empty one; release it with str_release(). str_add(), _puts(), _putc(), _printf() and _bytes() append;
 * none fails (arena.h). */
struct str {
    char *data;
    size_t len, cap;
};

void str_add(struct str *s, const char *bytes, size_t n);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
void str_printf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_bytes(struct str *s, double n);   /* an amount of memory: "256.6 MiB" */
void str_clear(struct str *s);             /* len 0, keeps the memory */
void str_release(struct str *s);           /* frees the memory; s is empty again */
const char *str_text(const struct str *s); /* "" when empty; borrowed until s changes */

/* Appends src to dst and replaces every byte sequence that is not valid UTF-8 by U+FFFD (one for each
 * maximal invalid subpart, as Unicode 15 section 3.9 recommends and Python's errors="replace" does). NULs
 * are kept. */
void str_add_utf8(struct str *dst, const char *src, size_t n);

/* Returns how many bytes (1 to 4) the character at p[0..n), n > 0, has in valid UTF-8; where there is none,
 * minus the length of the maximal invalid subpart, which is -n where more bytes could make it valid. */
int str_utf8_step(const unsigned char *p, size_t n);

/* White space as Python's str.strip() takes it away, in UTF-8. Returns how many bytes (1 to 3) the one white
 * character at the front of p[0..n), or at its end, has; 0: there is none. Any bytes are allowed. */
size_t str_space_at(const char *p, size_t n);
size_t str_space_before(const char *p, size_t n);

/* Returns the edit distance in bytes (insert, delete, replace, swap of neighbours), for "did you mean". */
int str_distance(const char *a, const char *b);
/* Returns the entry of a NULL-ended list that `name` was probably meant to be: what other programs call so,
 * else the first of the nearest; or NULL when nothing is near. */
const char *str_nearest(const char *name, const char *const *known);

#endif
