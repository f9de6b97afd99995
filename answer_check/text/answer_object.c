/* Answers in objects of JSON, read by key (contract: answer_object.h). A model that is asked for JSON writes
 * LaTeX with single backslashes in it, bare keys and comments, so the reader is no strict one. */
#include "answer_check/text/answer_object.h"

#include "evalcore/base/str.h"

#include <string.h>

/* Names under which an answer stands, best first, without blanks, "-" and "_". The first ones name nothing
 * else; the later ones may also name a part of the way there. */
static const char *const answer_names[ANSWER_NAMES] = {
    "finalanswer",    "answer",         "ans",        "correctanswer", "predictedanswer",
    "numericanswer",  "answervalue",    "theanswer",  "最终答案",      "答案",
    "correctoption",  "selectedoption", "choice",     "answerchoice",  "answerletter",
    "selectedanswer", "bestanswer",     "bestoption", "chosenoption",  "correctchoice",
    "finalchoice", /* OWN_NAMES of them */
    "finalanswers",   "answers",        "solutions",  "finalresult",   "result",
    "solution",       "final",          "finalvalue", "option",        "letter",
    "prediction",     "conclusion",     "boxed",      "value",         "selected",
    "chosen",         "best",           "response",   "output",        "latex",
    "exact",          "expression"};
enum { OWN_NAMES = 21 };

static int is_named(struct span name, const char *known)
{
    size_t k = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (strchr(" _-", name.s[i]))
            continue;
        if (!known[k] || ascii_lower(name.s[i]) != known[k++])
            return 0;
    }
    return !known[k];
}

int answer_name_rank(struct span name)
{
    for (int k = 0; name.n && k < ANSWER_NAMES; k++)
        if (is_named(name, answer_names[k]))
            return k;
    return ANSWER_NAMES;
}

struct json_text {
    struct span s;
    size_t i;
    int is_cut; /* by the length limit: the last value may lack its end */
};

static void skip_space(struct json_text *t)
{
    while (t->i < t->s.n) {
        if (span_at(t->s, t->i, "//")) {
            while (t->i < t->s.n && t->s.s[t->i] != '\n')
                t->i++;
        } else if (ascii_is_space(t->s.s[t->i])) {
            t->i++;
        } else {
            break;
        }
    }
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
    if (t->i >= t->s.n) {
        t->i = t->s.n;
        return 0;
    }
    *out = (struct span){t->s.s + from, t->i++ - from};
    return 1;
}

/* Passes over a value, up to the comma or bracket behind it: 1 and its text, or 0. */
static int read_value(struct json_text *t, struct span *out)
{
    struct span inner;
    size_t from = t->i;
    int depth = 0;
    if (t->i < t->s.n && strchr("\"'", t->s.s[t->i]))
        return read_quoted(t, out);
    for (; t->i < t->s.n; t->i++) {
        char c = t->s.s[t->i];
        if (c == '"' && !read_quoted(t, &inner))
            return 0;
        if (t->i >= t->s.n) /* behind a string */
            break;
        c = t->s.s[t->i];
        if (!depth && (c == ',' || c == '}' || c == ']' || c == '\n' || span_at(t->s, t->i, " //")))
            break;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
    *out = span_trim((struct span){t->s.s + from, t->i - from});
    return out->n > 0 && (t->i < t->s.n || (!depth && !t->is_cut));
}

/* What one object holds. */
struct object {
    struct span answer; /* the value of the best name; empty where it has none */
    int rank;           /* of that name */
    size_t end;
};

enum { MEMBERS = 64 };

/* Reads the key at t, with its colon: 1, 0 where none stands there, -1 where the text ends in it. */
static int read_key(struct json_text *t, struct span *key)
{
    int is_quoted = t->i < t->s.n && strchr("\"'", t->s.s[t->i]) != NULL;
    if (is_quoted && !read_quoted(t, key))
        return -1;
    if (!is_quoted) {
        size_t from = t->i;
        while (t->i < t->s.n && (ascii_is_letter(t->s.s[t->i]) || t->s.s[t->i] == '_'))
            t->i++;
        *key = (struct span){t->s.s + from, t->i - from};
    }
    skip_space(t);
    if (t->i >= t->s.n)
        return is_quoted ? -1 : 0;
    return t->s.s[t->i++] == ':' && (is_quoted || key->n > 1);
}

/* A value that is an object without a name that answers: its only value, or "x = 2, y = 5". */
static struct span values_of(struct json_text t, struct arena *a)
{
    struct span key, value, only = {0};
    struct str all = {0};
    int n = 0;
    for (t.i++; n < MEMBERS; n++) {
        skip_space(&t);
        if (read_key(&t, &key) != 1)
            break;
        skip_space(&t);
        if (!read_value(&t, &value))
            break;
        only = value;
        str_puts(&all, n ? ", " : "");
        str_add(&all, key.s, key.n);
        str_puts(&all, " = ");
        str_add(&all, value.s, value.n);
        skip_space(&t);
        if (t.i < t.s.n && t.s.s[t.i] == ',')
            t.i++;
    }
    struct span out = n == 1 ? only : (struct span){arena_strndup(a, str_text(&all), all.len), all.len};
    str_release(&all);
    return out;
}

/* Reads the object at t: 1 when it is one. One that the text ends in counts if its keys are in quotes; a
 * value that is not whole then is none. */
static int read_object(struct json_text t, struct object *out, struct arena *a, int depth)
{
    *out = (struct object){.rank = ANSWER_NAMES};
    if (t.i >= t.s.n || t.s.s[t.i] != '{')
        return 0;
    t.i++;
    for (int members = 0; members < MEMBERS; members++) {
        struct span key, value;
        skip_space(&t);
        if (members && t.i < t.s.n && t.s.s[t.i] == '}')
            break;
        int is_quoted = t.i < t.s.n && strchr("\"'", t.s.s[t.i]), has_key;
        has_key = t.i < t.s.n ? read_key(&t, &key) : -1;
        if (has_key < 0 && members) {
            t.i = t.s.n;
            break;
        }
        if (has_key <= 0 ||
            (!is_quoted && answer_name_rank(key) == ANSWER_NAMES && out->rank == ANSWER_NAMES))
            return 0;
        skip_space(&t);
        struct json_text nested = t;
        int is_whole = read_value(&t, &value);
        if (!is_whole && t.i < t.s.n)
            return 0;
        if (is_whole && answer_name_rank(key) < out->rank) {
            struct object deeper;
            out->rank = answer_name_rank(key);
            out->answer = value;
            if (depth < 3 && value.n && value.s[0] == '{' && read_object(nested, &deeper, a, depth + 1)) {
                out->answer = deeper.answer.n ? deeper.answer : values_of(nested, a);
                out->rank = deeper.rank < out->rank ? deeper.rank : out->rank;
            }
        }
        skip_space(&t);
        if (t.i >= t.s.n && is_quoted)
            break;
        if (t.i < t.s.n && t.s.s[t.i] == ',')
            t.i++;
        else if (t.i >= t.s.n || t.s.s[t.i] != '}')
            return 0;
    }
    out->end = t.i < t.s.n ? t.i + 1 : t.s.n;
    return 1;
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

int answer_object(struct span *out, size_t *start, size_t *end, struct span s, int is_cut, struct arena *a)
{
    enum { TRIED = 32, OBJECT_MAX = 16384 };
    int tried = 0, found = 0, rank = ANSWER_NAMES;
    const char *brace = s.s + s.n;
    while (tried < TRIED && brace > s.s && (brace = memrchr(s.s, '{', (size_t)(brace - s.s)))) {
        size_t i = (size_t)(brace - s.s);
        if (i && (s.s[i - 1] == '\\' || ascii_is_letter(s.s[i - 1])))
            continue;
        size_t next = i + 1;
        while (next < s.n && ascii_is_space(s.s[next]))
            next++;
        if (next >= s.n || !(strchr("\"'", s.s[next]) || ascii_is_letter(s.s[next])))
            continue;
        struct object object;
        tried++;
        struct span rest = {s.s, s.n - i > OBJECT_MAX ? i + OBJECT_MAX : s.n};
        if (!read_object((struct json_text){rest, i, is_cut || rest.n < s.n}, &object, a, 0))
            continue;
        int is_around = found && object.end >= *end, is_own = object.rank < OWN_NAMES;
        if (object.answer.n && !span_is(object.answer, "null")) {
            if (found > 0 && !is_around && !(is_own && rank >= OWN_NAMES))
                continue;
            struct span read = unescape(object.answer, a);
            if (found > 0 && !read.n)
                continue;
            *out = read;
            rank = object.rank;
            found = 1;
        } else if (!found || (is_around && rank >= OWN_NAMES)) { /* an object around it that names none */
            *out = (struct span){0};
            found = -1;
        } else {
            if (is_around && found > 0)
                *start = i;
            continue;
        }
        *start = i;
        *end = object.end;
    }
    return found;
}
