#ifndef ENGINE_TEXT_PRETOKEN_PARTS_H
#define ENGINE_TEXT_PRETOKEN_PARTS_H

#include "evalcore/base/str.h"

/* Between pretoken_pattern.c, which translates split patterns, and pretoken_sets.c, which knows the names of
 * sets. */
#define PRETOKEN_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
/* Outside of classes, and at the borders of words, Oniguruma counts superscripts and fractions of Latin-1
 * too. */
#define PRETOKEN_LATIN_WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

struct pretoken_set {
    const char *name;    /* of [[:name:]] */
    const char *inner;   /* what stands between the brackets of a PCRE2 class */
    const char *inverse; /* the same of all other characters; NULL: it has no such form */
    int is_case;         /* upper or lower case, to which (?i) in a class would add the other */
};
/* Returns the set of that name, NULL if there is none. */
const struct pretoken_set *pretoken_set(const char *name);
/* Appends what \p{name} is inside a PCRE2 class; the name is in lower case, without spaces, hyphens and
 * underscores. A name that is not known is taken for a script's, which PCRE2 checks. negated: all other
 * characters. Returns 1, or 0 and appends nothing where the inverse has no such form; *is_case as above. */
int pretoken_property(struct str *out, const char *name, int negated, int *is_case);

#endif
