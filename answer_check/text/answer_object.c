/* Answers in objects of JSON, read by key (contract: answer_object.h). A model that is asked for JSON writes
 * LaTeX with single backslashes in it and bare keys, so the reader is no strict one. */
#include "answer_check/text/answer_object.h"

#include <string.h>

/* Names under which an answer stands, best first. */
static const char *const answer_names[ANSWER_NAMES] = {
    "final_answer", "finalanswer",    "final answer",   "final-answer",   "answer",
    "ans",          "correct_answer", "correct answer", "correct_option", "selected_option",
    "choice",       "final_result",   "final result",   "result",         "solution",
    "final",        "option",         "letter",         "value"};

int answer_name_rank(struct span name)
{
    for (int k = 0; k < ANSWER_NAMES; k++)
        if (name.n == strlen(answer_names[k]) && span_starts(name, answer_names[k]))
            return k;
    return ANSWER_NAMES;
}

struct json_text {
    struct span s;
    size_t i;
};

static void skip_space(struct json_text *t)
{
    while (t->i < t->s.n && ascii_is_space(t->s.s[t->i]))
        t->i++;
}

/* Passes over a string in quotes: 1 and its content, or 0. */
static int read_quoted(struct json_text *t, struct span *out)
{
    char quote = t->i < t->s.n ? t->s.s[t->i] : 0;
    if (quote != '"' && quote != '\'')
        return 0;
    size_t from = ++t->i;
    while (t->i < t->s.n && t->s.s[t->i] != quote)
        t->i += t->s.s[t->i] == '\\' ? 2 : 1;
    if (t->i >= t->s.n)
        return 0;
    *out = (struct span){t->s.s + from, t->i++ - from};
    return 1;
}

/* Passes over a value, up to the comma or bracket behind it: 1 and its text, or 0. */
static int read_value(struct json_text *t, struct span *out)
{
    struct span inner;
    size_t from = t->i;
    if (read_quoted(t, out))
        return 1;
    for (int depth = 0; t->i < t->s.n; t->i++) {
        char c = t->s.s[t->i];
        if (c == '"' && !read_quoted(t, &inner))
            return 0;
        c = t->i < t->s.n ? t->s.s[t->i] : 0;
        if (!depth && (c == ',' || c == '}' || c == ']' || c == '\n'))
            break;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
    *out = span_trim((struct span){t->s.s + from, t->i - from});
    return out->n > 0;
}

/* Reads the object at t: 1 when it is one. *answer: the value of the best name, empty where it has none. */
static int read_object(struct json_text t, struct span *answer, size_t *end, int depth)
{
    enum { MEMBERS = 64 };
    int best = ANSWER_NAMES;
    *answer = (struct span){0};
    if (t.i >= t.s.n || t.s.s[t.i] != '{')
        return 0;
    t.i++;
    for (int members = 0; members < MEMBERS; members++) {
        struct span key, value;
        skip_space(&t);
        if (members && t.i < t.s.n && t.s.s[t.i] == '}')
            break;
        if (!read_quoted(&t, &key)) {
            size_t from = t.i;
            while (t.i < t.s.n && (ascii_is_letter(t.s.s[t.i]) || t.s.s[t.i] == '_'))
                t.i++;
            key = (struct span){t.s.s + from, t.i - from};
            if (key.n < 2 || (answer_name_rank(key) == ANSWER_NAMES && best == ANSWER_NAMES))
                return 0;
        }
        skip_space(&t);
        if (t.i >= t.s.n || t.s.s[t.i++] != ':')
            return 0;
        skip_space(&t);
        struct json_text nested = t;
        size_t ignored;
        if (!read_value(&t, &value))
            return 0;
        if (answer_name_rank(key) < best) {
            best = answer_name_rank(key);
            *answer = value;
            struct span deeper;
            if (depth < 3 && value.n && value.s[0] == '{' &&
                read_object(nested, &deeper, &ignored, depth + 1))
                *answer = deeper;
        }
        skip_space(&t);
        if (t.i < t.s.n && t.s.s[t.i] == ',')
            t.i++;
        else if (t.i >= t.s.n || t.s.s[t.i] != '}')
            return 0;
    }
    *end = t.i + 1;
    return t.i < t.s.n;
}

/* The value without escapes and the quotes of list elements. A backslash before a letter is LaTeX's. */
static struct span unescape(struct span s, struct arena *a)
{
    char *out = arena_alloc(a, s.n + 1);
    int in_list = s.n && s.s[0] == '[';
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char next = i + 1 < s.n ? s.s[i + 1] : 0;
        if (s.s[i] == '\\' && next && strchr("\\\"/'", next)) {
            out[n++] = next;
            i++;
        } else if (s.s[i] == '\\' && next == 'n' && !(i + 2 < s.n && ascii_is_letter(s.s[i + 2]))) {
            out[n++] = '\n';
            i++;
        } else if (!(in_list && s.s[i] == '"')) {
            out[n++] = s.s[i];
        }
    }
    struct span value = span_trim((struct span){out, n});
    if (value.n > 2 && value.s[0] == '[' && value.s[value.n - 1] == ']' && !memchr(value.s, ',', value.n))
        value = span_trim((struct span){value.s + 1, value.n - 2}); /* a list of one */
    return value;
}

int answer_object(struct span *out, size_t *end, struct span s, struct arena *a)
{
    enum { TRIED = 32, OBJECT_MAX = 16384 };
    int tried = 0, found = 0;
    for (size_t i = s.n; i-- > 0 && tried < TRIED;) {
        if (s.s[i] != '{' || (i && (s.s[i - 1] == '\\' || ascii_is_letter(s.s[i - 1]))))
            continue;
        size_t next = i + 1;
        while (next < s.n && ascii_is_space(s.s[next]))
            next++;
        if (next >= s.n || !(strchr("\"'", s.s[next]) || ascii_is_letter(s.s[next])))
            continue;
        struct span value;
        size_t last;
        tried++;
        struct span rest = {s.s, s.n - i > OBJECT_MAX ? i + OBJECT_MAX : s.n};
        if (!read_object((struct json_text){rest, i}, &value, &last, 0))
            continue;
        if (found && last < *end)
            continue;
        if (value.n && !span_is(value, "null")) {
            struct span read = unescape(value, a);
            if (!found || read.n) {
                *out = read;
                *end = last;
                found = 1;
            }
            /* an object around this one may name the answer */
        } else if (!found) {
            *out = (struct span){0};
            *end = last;
            found = -1;
        }
    }
    return found;
}
