#ifndef EVALCORE_STORE_KEYMAP_H
#define EVALCORE_STORE_KEYMAP_H

#include <stddef.h>

/* Hash table from job keys (32 hex digits) to numbers. Keys are copied. Zeroed is empty. */
struct keymap {
    struct keymap_slot *slot;
    size_t n, cap;
};

/* The number stored for key: `value` when it is new, the old one when it was there. */
long keymap_add(struct keymap *m, const char *key, long value);
long keymap_find(const struct keymap *m, const char *key); /* -1: not there */
void keymap_release(struct keymap *m);

#endif
