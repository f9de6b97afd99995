/* The words and the filler text of the task ruler. */
#include <ctype.h>

#include "tasks/ruler_gen.h"
#include "tests/check.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words are different ones, and the filler text repeats hardly a sentence and has no digit. */
static void texts(void)
{
    const char *all[2000];
    size_t n = 0;
    for (int i = 0; i < ruler_n_adjectives; i++)
        all[n++] = ruler_adjectives[i];
    for (int i = 0; i < ruler_n_nouns; i++)
        all[n++] = ruler_nouns[i];
    for (int i = 0; i < ruler_n_verbs; i++)
        all[n++] = ruler_verbs[i];
    qsort(all, n, sizeof *all, by_text);
    for (size_t i = 0; i < n; i++) {
        CHECK(strspn(all[i], "abcdefghijklmnopqrstuvwxyz") == strlen(all[i]));
        CHECK(!i || strcmp(all[i - 1], all[i]));
    }
    enum { SENTENCES = 600 };
    struct str sentence[SENTENCES];
    const char *sorted[SENTENCES];
    struct ruler_essay x;
    int n_again = 0;
    memset(sentence, 0, sizeof sentence);
    ruler_essay_init(&x, 7, 1);
    for (int i = 0; i < SENTENCES; i++) {
        ruler_essay_next(&x, &sentence[i]);
        sorted[i] = sentence[i].data;
        CHECK(!strpbrk(sorted[i], "{}0123456789") && isupper((unsigned char)sorted[i][0]));
        CHECK(sorted[i][sentence[i].len - 1] == '.');
    }
    qsort(sorted, SENTENCES, sizeof *sorted, by_text);
    for (int i = 1; i < SENTENCES; i++)
        n_again += !strcmp(sorted[i - 1], sorted[i]);
    CHECK(n_again < SENTENCES / 20);
    for (int i = 0; i < SENTENCES; i++)
        str_release(&sentence[i]);
}

int main(void)
{
    texts();
    return check_done();
}
