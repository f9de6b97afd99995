/* Damaged copies and named subsets (contract: known_set.h). */
#include "tasks/known_set.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

/* An answer as a number, without leading zeros and a degree sign, as copies of AIME write them; -1: it is
 * none. */
static long plain_answer(const struct problem *p)
{
    static const char *const ends[] = {"", "^\\circ", "^{\\circ}", "\xc2\xb0"};
    char *end;
    long n = *p->gold >= '0' && *p->gold <= '9' ? strtol(p->gold, &end, 10) : -1;
    for (int i = 0; n >= 0 && i < 4; i++)
        if (!strcmp(end, ends[i]))
            return n;
    return -1;
}

/* A file with most of the answers, but not all, is a copy of which some problems are damaged; one with few of
 * them is another set that somebody named. */
static int check_answers(const struct task *t, const char *path, struct err *e)
{
    const struct known_set *k = t->ops->known;
    int n = k->n_problems, n_found = 0;
    const char *wrong = NULL;
    if (!k->answers || t->n_problems != (size_t)n)
        return 0;
    char *is_taken = xcalloc((size_t)n, 1);
    for (int i = 0; i < n; i++) {
        long answer = plain_answer(&t->problems[i]);
        int at = 0;
        while (at < n && (is_taken[at] || k->answers[at] != answer))
            at++;
        if (at < n)
            is_taken[at] = 1, n_found++;
        else if (!wrong)
            wrong = t->problems[i].id;
    }
    free(is_taken);
    if (!wrong || n_found < n * 4 / 5)
        return 0;
    return err_set(
        e, ERR_FORMAT,
        "%s: %d answers are those of %s, but not that of problem %s: this copy is damaged; `kveval fetch "
        "%s` gets one that is checked",
        path, n_found, t->ops->name, wrong, t->ops->name);
}

static int check_damage(const struct task *t, const char *path, struct err *e)
{
    for (const struct known_damage *d = t->ops->known->damage; d && d->text; d++)
        for (size_t i = 0; i < t->n_problems; i++)
            if (strstr(t->problems[i].prompt, d->text))
                return err_set(e, ERR_FORMAT,
                               "%s: problem %s is damaged, %s; `kveval fetch %s` gets a copy that is checked",
                               path, t->problems[i].id, d->what, t->ops->name);
    return 0;
}

/* Are the first n problems those of the published file? */
static int is_published(const struct task *t, const struct known_subset *s)
{
    struct str ids = {0};
    char hex[65];
    if (s->source)
        return !strcmp(t->source, s->source);
    for (int i = 0; i < s->n; i++)
        str_printf(&ids, "%s\n", t->problems[i].id);
    sha256_hex(ids.data, ids.len, hex, 64);
    str_release(&ids);
    return !strcmp(hex, s->ids);
}

static int take_subset(struct task *t, const char *path, struct err *e)
{
    const struct known_subset *s = t->ops->known->subsets;
    struct str names = {0};
    for (; s && s->name && strcmp(s->name, t->options.subset); s++)
        str_printf(&names, "%s%s", names.len ? ", " : "", s->name);
    int rc = 0;
    if (!s || !s->name)
        rc = err_set(e, ERR_USAGE, "task %s: unknown subset \"%.80s\"; it has %s", t->ops->name,
                     t->options.subset, str_text(&names));
    else if (t->n_problems < (size_t)s->n || !is_published(t, s))
        rc = err_set(
            e, ERR_USAGE,
            "task %s: subset %s is the first %d problems of the published file, and %s is another file; "
            "`kveval fetch %s` gets it, and \"problems\": %d takes the first ones of any file",
            t->ops->name, s->name, s->n, path, t->ops->name, s->n);
    else
        t->n_problems = (size_t)s->n;
    str_release(&names);
    return rc;
}

int known_check(struct task *t, const char *path, struct err *e)
{
    const struct known_set *k = t->ops->known;
    int rc = check_damage(t, path, e);
    if (!rc)
        rc = check_answers(t, path, e);
    if (!rc && t->options.subset && k->subsets)
        rc = take_subset(t, path, e);
    return rc;
}
