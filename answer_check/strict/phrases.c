/* Finds phrases in texts (contract: sentence.h). Each thread indexes a list of phrases once, by the first
 * byte of the phrases, so that a word of a text meets only those that begin as it does. */
#include "answer_check/strict/sentence.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 256, PHRASES = 8192, BUCKETS = 32 };

struct phrase {
    unsigned short at; /* where it begins in the list */
    unsigned char length;
    char second; /* its second byte, or 0 where a text may have another one there */
};

struct phrase_list {
    const char *text;                  /* NULL: the place is free */
    unsigned short start[BUCKETS + 1]; /* its phrases in the thread's array, by bucket */
    uint32_t seconds[BUCKETS];         /* the buckets of their second bytes */
};

/* The lists that the thread has indexed, at the places that their addresses give. */
static _Thread_local struct phrase_list lists[LISTS];
static _Thread_local struct phrase phrases[PHRASES];
static _Thread_local unsigned n_lists, n_phrases;

static unsigned bucket_of(char c)
{
    return (unsigned char)c % BUCKETS;
}

/* Where the next phrase of the list begins; `phrase` is one of n bytes. */
static const char *behind_phrase(const char *phrase, size_t n)
{
    return phrase + n + (phrase[n] == '|');
}

static size_t phrase_length(const char *phrase)
{
    return (size_t)(strchrnul(phrase, '|') - phrase);
}

static void make_index(struct phrase_list *l, const char *text)
{
    unsigned short next[BUCKETS] = {0};
    unsigned n = n_phrases;
    memset(l->seconds, 0, sizeof l->seconds);
    for (const char *p = text; *p; p = behind_phrase(p, phrase_length(p)))
        next[bucket_of(*p)]++;
    for (int k = 0; k < BUCKETS; k++) {
        l->start[k] = (unsigned short)n;
        n += next[k];
        next[k] = l->start[k];
    }
    l->start[BUCKETS] = (unsigned short)n;
    if (n > PHRASES)
        abort(); /* a longer list needs a larger array */
    for (const char *p = text; *p;) {
        size_t length = phrase_length(p);
        char second = length > 1 && !strchr("'*", p[1]) ? p[1] : 0;
        l->seconds[bucket_of(*p)] |= second ? UINT32_C(1) << bucket_of(second) : UINT32_MAX;
        phrases[next[bucket_of(*p)]++] =
            (struct phrase){(unsigned short)(p - text), (unsigned char)length, second};
        p = behind_phrase(p, length);
    }
    n_phrases = n;
    l->text = text;
}

/* The index of a list, which lasts as long as the program does. */
static const struct phrase_list *index_of(const char *text)
{
    enum { LONGEST = 512 };
    unsigned k = (unsigned)((uintptr_t)text * 0x9e3779b1u >> 16) % LISTS;
    for (; lists[k].text; k = (k + 1) % LISTS)
        if (lists[k].text == text)
            return &lists[k];
    if (n_lists > LISTS / 2 || n_phrases > PHRASES - LONGEST) { /* no room: begin anew */
        memset(lists, 0, sizeof lists);
        n_lists = n_phrases = 0;
    }
    n_lists++;
    make_index(&lists[k], text);
    return &lists[k];
}

/* Does the phrase of n bytes stand at the start of s, as whole words? An apostrophe may be curly. */
static int phrase_is_at(struct span s, const char *phrase, size_t n)
{
    int is_stem = phrase[n - 1] == '*';
    size_t i = 0;
    n -= (size_t)is_stem;
    for (size_t k = 0; k < n; k++, i++) {
        if (i >= s.n)
            return 0;
        if (phrase[k] == '\'' && span_at(s, i, "\xe2\x80\x99")) {
            i += 2;
            continue;
        }
        if (ascii_lower(s.s[i]) != phrase[k])
            return 0;
    }
    return is_stem || !ascii_is_letter(phrase[n - 1]) || i >= s.n ||
           !(ascii_is_letter(s.s[i]) || (unsigned char)s.s[i] == 0xc3);
}

/* May a phrase of the list stand at byte i of the text? */
static inline int any_may_be_at(const struct phrase_list *l, struct span s, size_t i)
{
    char second = i + 1 < s.n ? ascii_lower(s.s[i + 1]) : 0;
    return l->seconds[bucket_of(ascii_lower(s.s[i]))] >> bucket_of(second) & 1;
}

/* Does a phrase of the list stand at byte i of the text? */
static int any_is_at(const struct phrase_list *l, struct span s, size_t i)
{
    struct span rest = {s.s + i, s.n - i};
    char first = ascii_lower(s.s[i]), second = rest.n > 1 ? ascii_lower(rest.s[1]) : 0;
    const struct phrase *end = phrases + l->start[bucket_of(first) + 1];
    for (const struct phrase *p = phrases + l->start[bucket_of(first)]; p < end; p++)
        if ((!p->second || p->second == second) && phrase_is_at(rest, l->text + p->at, p->length))
            return 1;
    return 0;
}

int sentence_says(struct span s, const char *list)
{
    const struct phrase_list *l = index_of(list);
    int was_letter = 0;
    for (size_t i = 0; i < s.n; i++) {
        int is_letter = ascii_is_letter(s.s[i]), begins = !was_letter || !is_letter;
        was_letter = is_letter;
        if (begins && any_may_be_at(l, s, i) && ((unsigned char)s.s[i] & 0xc0) != 0x80 && any_is_at(l, s, i))
            return 1;
    }
    return 0;
}

int sentence_begins(struct span s, const char *list)
{
    size_t i = 0;
    for (; i < s.n; i++) {
        if (span_at(s, i, "\xe2\x80\x93") || span_at(s, i, "\xe2\x80\x94")) /* dashes */
            i += 2;
        else if (!ascii_is_space(s.s[i]) && !strchr("*_#>-\"(.,;", s.s[i]))
            break;
    }
    return i < s.n && any_is_at(index_of(list), s, i);
}
