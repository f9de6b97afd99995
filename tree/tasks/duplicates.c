/* Repeated problems (contract: duplicates.h). */
#include "tasks/duplicates.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "evalcore/base/hash.h"

enum { NAMED_MAX = 3 }; /* pairs of rows in a message */

/* Appends the character at the front of text as its canonical decomposition, so that an accented letter is
 * one however it is written. Returns how many bytes it has; 1 where the text is no UTF-8. */
static size_t add_character(struct str *kept, const char *text, size_t n)
{
    utf8proc_int32_t c, parts[32];
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t taken = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n, &c);
    utf8proc_ssize_t k =
        taken > 0 ? utf8proc_decompose_char(c, parts, 32, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, NULL) : 0;
    if (k < 1 || k > 32) {
        str_putc(kept, *text);
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < k; i++)
        str_add(kept, (const char *)bytes, (size_t)utf8proc_encode_char(parts[i], bytes));
    return (size_t)taken;
}

uint64_t duplicates_hash(const char *text, size_t n)
{
    struct str kept = {0};
    size_t white;
    for (; n && (white = str_space_before(text, n)); n -= white) {
    }
    int is_white = 1; /* white space at the front is left out */
    for (size_t i = 0; i < n;) {
        size_t plain = 0; /* most of a text: bytes that begin no white character */
        while (i + plain < n && (signed char)text[i + plain] > ' ')
            plain++;
        str_add(&kept, text + i, plain);
        is_white = plain ? 0 : is_white;
        i += plain;
        white = i < n ? str_space_at(text + i, n - i) : 0;
        if (white && !is_white)
            str_putc(&kept, ' ');
        is_white = white > 0;
        i += white || i == n ? white : add_character(&kept, text + i, n - i);
    }
    uint64_t hash = hash_bytes64(str_text(&kept), kept.len);
    str_release(&kept);
    return hash ? hash : 1;
}

/* ---- equal answers */

static int same_text(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), white;
    for (; n && (white = str_space_at(a, n)); n -= white)
        a += white;
    for (; m && (white = str_space_at(b, m)); m -= white)
        b += white;
    for (; n && (white = str_space_before(a, n)); n -= white) {
    }
    for (; m && (white = str_space_before(b, m)); m -= white) {
    }
    return n == m && !memcmp(a, b, n);
}

/* Has q every answer of p? */
static int has_answers(const struct problem *p, const struct problem *q)
{
    for (int i = 0; i < p->n_golds; i++) {
        int k = 0;
        while (k < q->n_golds && !same_text(p->golds[i], q->golds[k]))
            k++;
        if (k == q->n_golds)
            return 0;
    }
    return 1;
}

/* Would the one answer be graded as correct by the other? */
static int grades_equal(const struct task *t, const struct problem *p, const struct problem *q)
{
    struct arena a = {0};
    struct grade g;
    const char *text = arena_printf(&a, "\\boxed{%s}", q->gold);
    struct response r = {text, strlen(text), THINKING_NONE, FINISH_STOP};
    int is_equal = !t->ops->grade(&g, p, &r, &a) && g.verdict == VERDICT_CORRECT;
    arena_release(&a);
    return is_equal;
}

static int same_answer(const struct task *t, const struct problem *p, const struct problem *q)
{
    if (p->answer || q->answer)
        return p->answer == q->answer;
    if (has_answers(p, q) && has_answers(q, p))
        return 1;
    return !strcmp(t->ops->metric, "accuracy") && p->n_golds == 1 && q->n_golds == 1 && grades_equal(t, p, q);
}

/* ---- repeated problems */

struct seen {
    uint64_t same;
    size_t i;
};

static int compare_seen(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return x->same != y->same ? (x->same > y->same) - (x->same < y->same) : (x->i > y->i) - (x->i < y->i);
}

/* first[i]: the first problem that is the same as problem i. *times: how often each problem stands there, 0
 * if not all equally often. Returns how many repeat another. */
static size_t find_repeated(const struct task *t, size_t *first, size_t *times)
{
    size_t n = t->n_problems, repeated = 0;
    struct seen *seen = xcalloc(n + 1, sizeof *seen);
    for (size_t i = 0; i < n; i++)
        seen[i] = (struct seen){t->problems[i].same, i};
    qsort(seen, n, sizeof *seen, compare_seen);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && seen[end].same == seen[i].same; end++)
            first[seen[end].i] = seen[i].i;
        *times = !i || *times == end - i ? end - i : 0;
        repeated += end - i - 1;
    }
    free(seen);
    return repeated;
}

static int refuse_answers(const struct task *t, const char *path, size_t i, size_t first, struct err *e)
{
    return err_set(e, ERR_FORMAT,
                   "%s:%ld: this is the problem of line %ld with another answer; correct or remove one of "
                   "them, since \"duplicates\": \"fold\" does not choose",
                   path ? path : t->ops->name, t->problems[i].line, t->problems[first].line);
}

static int refuse_repeated(const struct task *t, const char *path, const size_t *first, size_t repeated,
                           size_t times, struct err *e)
{
    struct str rows = {0}, way = {0};
    int n = 0;
    const char *word = path ? "line" : "problem";
    for (size_t i = 0; i < t->n_problems && n < NAMED_MAX; i++)
        if (first[i] != i)
            str_printf(&rows, "%s%s %ld is that of %s %ld", n++ ? ", " : "", word, t->problems[i].line, word,
                       t->problems[first[i]].line);
    if (repeated > NAMED_MAX)
        str_puts(&rows, ", ...");
    if (!path)
        str_puts(&way, "generate fewer or larger ones");
    else if (times)
        str_printf(&way, "remove them and set \"samples\": %zu for as many answers to each", times);
    else
        str_puts(&way, "remove them (\"samples\": N asks for several answers to each)");
    int rc = err_set(e, ERR_FORMAT,
                     "%s: %zu of %zu problems repeat an earlier one (%s), and would count as several; %s, or "
                     "read each once with \"duplicates\": \"fold\" in the task's entry",
                     path ? path : t->ops->name, repeated, t->n_problems, rows.data, way.data);
    str_release(&rows);
    str_release(&way);
    return rc;
}

int duplicates_check(struct task *t, const char *path, struct err *e)
{
    size_t *first = xcalloc(t->n_problems + 1, sizeof *first), times = 0, kept = 0;
    size_t repeated = t->ops->grade ? find_repeated(t, first, &times) : 0; /* windows of a text may repeat */
    int rc = 0;
    for (size_t i = 0; i < t->n_problems && repeated && !rc; i++)
        if (first[i] != i && !same_answer(t, &t->problems[first[i]], &t->problems[i]))
            rc = refuse_answers(t, path, i, first[i], e);
    if (!rc && repeated && t->options.duplicates != DUPLICATES_FOLD)
        rc = refuse_repeated(t, path, first, repeated, times, e);
    for (size_t i = 0; i < t->n_problems && repeated && !rc; i++)
        if (first[i] == i)
            t->problems[kept++] = t->problems[i];
    if (repeated && !rc) {
        t->n_problems = kept;
        t->n_folded = repeated;
    }
    free(first);
    return rc;
}

/* ---- ids */

static int compare_ids(const void *a, const void *b)
{
    const struct problem *x = *(const struct problem *const *)a, *y = *(const struct problem *const *)b;
    int d = strcmp(x->id, y->id);
    return d ? d : (x->line > y->line) - (x->line < y->line);
}

int duplicates_check_ids(const struct task *t, const char *path, struct err *e)
{
    int rc = 0;
    const struct problem **by_id = xcalloc(t->n_problems + 1, sizeof *by_id);
    for (size_t i = 0; i < t->n_problems; i++)
        by_id[i] = &t->problems[i];
    qsort(by_id, t->n_problems, sizeof *by_id, compare_ids);
    for (size_t i = 1; i < t->n_problems && !rc; i++)
        if (!strcmp(by_id[i - 1]->id, by_id[i]->id))
            rc = err_set(e, ERR_FORMAT,
                         "%s:%ld: the id \"%.80s\" is already the id of line %ld; ids must be unique",
                         path ? path : "generator", by_id[i]->line, by_id[i]->id, by_id[i - 1]->line);
    free(by_id);
    return rc;
}
