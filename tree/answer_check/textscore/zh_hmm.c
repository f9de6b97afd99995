/* jieba's hidden Markov model for words that its dictionary lacks: its tables and the most likely path
 * (Viterbi). The tables are Python dictionaries in the files prob_*.py, which are read as data. Arithmetic
 * and ties are those of the public code: of equal sums the state with the later letter wins. */
#include "answer_check/textscore/zh_segmenter.h"

#include <stdlib.h>
#include <string.h>

#include "answer_check/text/code_points.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"

/* ---- the tables */

struct reader {
    const char *path, *s, *end;
    long line;
};

/* Sets the error that something else was expected in the file's line. */
static int fail_expected(const struct reader *r, const char *wanted, struct err *e)
{
    return err_set(e, ERR_FORMAT, "%s:%ld: %s was expected", r->path, r->line, wanted);
}

/* The next character that is no white space, 0 at the end; white space before it is passed over. */
static char peek_char(struct reader *r)
{
    for (; r->s < r->end && strchr(" \t\r\n", *r->s) && *r->s; r->s++)
        r->line += *r->s == '\n';
    return r->s < r->end ? *r->s : 0;
}

/* Passes over the character c and returns 1, or returns 0 when another one is next. */
static int accept_char(struct reader *r, char c)
{
    if (peek_char(r) != c)
        return 0;
    r->s++;
    return 1;
}

/* A key of one character, written as itself or as \uXXXX, and its colon. */
static int read_key(struct reader *r, int32_t *key, struct err *e)
{
    char quote = peek_char(r), digits[5] = {0};
    if ((quote != '\'' && quote != '"') || r->end - r->s < 3)
        return fail_expected(r, "a key in quotes", e);
    r->s++;
    if (r->s[0] == '\\' && r->s[1] == 'u' && r->end - r->s > 6) {
        char *stop;
        memcpy(digits, r->s + 2, 4);
        *key = (int32_t)strtol(digits, &stop, 16);
        if (stop != digits + 4)
            return fail_expected(r, "four hexadecimal digits", e);
        r->s += 6;
    } else {
        size_t used = 0;
        *key = utf8_next(r->s, (size_t)(r->end - r->s), &used);
        r->s += used;
    }
    if (!accept_char(r, quote) || !accept_char(r, ':'))
        return fail_expected(r, "a key of one character and a colon", e);
    return 0;
}

/* The state with that letter, or -1. */
static int state_of(int32_t c)
{
    static const char letters[] = "BEMS";
    const char *at = c > 0 && c < 128 ? strchr(letters, (int)c) : NULL;
    return at ? (int)(at - letters) : -1;
}

static int read_number(struct reader *r, double *out, struct err *e)
{
    char text[64], *stop;
    size_t n = 0;
    peek_char(r);
    while (n < sizeof text - 1 && r->s + n < r->end && strchr("+-.0123456789eE", r->s[n]) && r->s[n])
        n++;
    memcpy(text, r->s, n);
    text[n] = 0;
    *out = strtod(text, &stop);
    if (!n || *stop)
        return fail_expected(r, "a number", e);
    r->s += n;
    return 0;
}

/* Reads {key: number, ...}: the numbers of those keys that are states (of_states) or Chinese characters;
 * others are skipped. */
static int read_row(struct reader *r, double *row, int of_states, struct err *e)
{
    int rc = accept_char(r, '{') ? 0 : fail_expected(r, "{", e);
    while (!rc && !accept_char(r, '}')) {
        int32_t key;
        double v;
        rc = read_key(r, &key, e);
        if (!rc)
            rc = read_number(r, &v, e);
        if (rc)
            break;
        int i = of_states ? state_of(key) : key >= ZH_FIRST && key <= ZH_LAST ? key - ZH_FIRST : -1;
        if (i >= 0)
            row[i] = v;
        if (!accept_char(r, ',') && peek_char(r) != '}')
            rc = fail_expected(r, ", or }", e);
    }
    return rc;
}

/* Reads {state: row, ...}. */
static int read_rows(struct reader *r, double *rows, size_t width, int of_states, struct err *e)
{
    int rc = accept_char(r, '{') ? 0 : fail_expected(r, "{", e);
    while (!rc && !accept_char(r, '}')) {
        int32_t key;
        rc = read_key(r, &key, e);
        if (!rc && state_of(key) < 0)
            rc = fail_expected(r, "one of the states B, E, M and S", e);
        if (!rc)
            rc = read_row(r, rows + (size_t)state_of(key) * width, of_states, e);
        if (!rc && !accept_char(r, ',') && peek_char(r) != '}')
            rc = fail_expected(r, ", or }", e);
    }
    return rc;
}

/* Reads the dictionary behind "P=" in a file; width 0: it is a single row of states. */
static int read_table(double *rows, size_t width, int of_states, const char *dir, const char *name,
                      struct err *e)
{
    struct str path = {0}, text = {0};
    file_join(&path, dir, name);
    int rc = file_read(path.data, &text, e);
    if (!rc) {
        struct reader r = {path.data, str_text(&text), str_text(&text) + text.len, 1};
        while (r.s < r.end && *r.s != '{')
            r.line += *r.s++ == '\n';
        for (size_t i = 0; i < (width ? ZH_STATES * width : ZH_STATES); i++)
            rows[i] = ZH_IMPOSSIBLE;
        rc = width ? read_rows(&r, rows, width, of_states, e) : read_row(&r, rows, 1, e);
    }
    str_release(&text);
    str_release(&path);
    return rc;
}

int zh_hmm_open(struct zh_hmm *h, const char *dir, struct err *e)
{
    int rc = read_table(h->start, 0, 1, dir, "prob_start.py", e);
    if (!rc)
        rc = read_table(h->step[0], ZH_STATES, 1, dir, "prob_trans.py", e);
    if (!rc)
        rc = read_table(h->emit[0], ZH_LAST - ZH_FIRST + 1, 0, dir, "prob_emit.py", e);
    return rc;
}

/* ---- the path */

/* The states that may stand before B, E, M and S, those with the later letter second. */
static const unsigned char before[ZH_STATES][2] = {{ZH_E, ZH_S}, {ZH_B, ZH_M}, {ZH_B, ZH_M}, {ZH_E, ZH_S}};

/* Goes one character further: updates best[to] and notes the state from which each was reached. */
static void advance_path(const struct zh_hmm *h, double best[ZH_STATES], unsigned char from[ZH_STATES],
                         size_t c)
{
    double now[ZH_STATES];
    for (int to = 0; to < ZH_STATES; to++) {
        int a = before[to][0], b = before[to][1];
        double via_a = best[a] + h->step[a][to] + h->emit[to][c],
               via_b = best[b] + h->step[b][to] + h->emit[to][c];
        from[to] = (unsigned char)(via_b >= via_a ? b : a);
        now[to] = via_b >= via_a ? via_b : via_a;
    }
    memcpy(best, now, sizeof now);
}

void zh_hmm_cut(struct word_list *out, const struct zh_hmm *h, const char *text, const size_t *start,
                size_t n)
{
    double best[ZH_STATES];
    unsigned char(*from)[ZH_STATES] = xmalloc((n + 1) * sizeof *from), *state = xmalloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t at = start[i];
        size_t c = (size_t)(utf8_next(text, start[n], &at) - ZH_FIRST);
        if (i)
            advance_path(h, best, from[i], c);
        else
            for (int s = 0; s < ZH_STATES; s++)
                best[s] = h->start[s] + h->emit[s][c];
    }
    for (size_t i = n; i-- > 0;)
        state[i] = i + 1 < n ? from[i + 1][state[i + 1]] : best[ZH_S] >= best[ZH_E] ? ZH_S : ZH_E;
    size_t begin = 0;
    for (size_t i = 0; i < n; i++) {
        if (state[i] == ZH_B)
            begin = i;
        else if (state[i] == ZH_E)
            word_list_add(out, text + start[begin], start[i + 1] - start[begin]);
        else if (state[i] == ZH_S)
            word_list_add(out, text + start[i], start[i + 1] - start[i]);
    }
    free(from);
    free(state);
}
