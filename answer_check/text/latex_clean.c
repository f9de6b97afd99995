/* Brings LaTeX and plain-text answers to one spelling before they are parsed or compared as text. It changes
 * only what carries no meaning (fonts, spacing, delimiter sizes) or what answers leave out at will (degree
 * signs). */
#include "answer_check/text/latex_clean.h"

#include <string.h>

struct rewrite {
    const char *from, *to; /* `from` is a command name without its backslash, or plain bytes */
};

static const struct rewrite commands[] = {
    {"left", ""},
    {"right", ""},
    {"big", ""},
    {"Big", ""},
    {"bigg", ""},
    {"Bigg", ""},
    {"bigl", ""},
    {"bigr", ""},
    {"Bigl", ""},
    {"Bigr", ""},
    {"quad", " "},
    {"qquad", " "},
    {"displaystyle", ""},
    {"textstyle", ""},
    {"limits", ""},
    {"boxed", ""},
    {"fbox", ""},
    {"dfrac", "\\frac"},
    {"tfrac", "\\frac"},
    {"cfrac", "\\frac"},
    {"cdot", "*"},
    {"times", "*"},
    {"ast", "*"},
    {"div", "/"},
    {"degree", ""},
    {"leq", "\\le"},
    {"geq", "\\ge"},
    {"neq", "\\ne"},
    {"lbrace", "\\{"},
    {"rbrace", "\\}"},
    {"textbf", "\\text"},
    {"textit", "\\text"},
    {"textrm", "\\text"},
    {"mathrm", "\\text"},
    {"mathbf", "\\text"},
    {"mathit", "\\text"},
    {"mbox", "\\text"},
    {"textnormal", "\\text"},
    {"operatorname", "\\text"},
    {"emptyset", "\\varnothing"},
    {"percent", "%"},
    {"!", ""},
    {",", ""},
    {";", " "},
    {":", " "},
    {" ", " "},
    {"(", ""},
    {")", ""},
    {"[", ""},
    {"]", ""},
    {"$", ""},
    {"%", "%"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"&", "&"},
    {"#", "#"},
    {"_", "_"},
};

static const struct rewrite characters[] = {
    {"\xe2\x88\x92", "-"},
    {"\xe2\x80\x93", "-"},
    {"\xc3\x97", "*"},
    {"\xc2\xb7", "*"},
    {"\xe2\x8b\x85", "*"},
    {"\xc3\xb7", "/"},
    {"\xc2\xb0", ""},
    {"\xcf\x80", "\\pi "},
    {"\xe2\x88\x9e", "\\infty "},
    {"\xc2\xa0", " "},
    {"\xe2\x80\x89", ""},
    {"\xe2\x80\xaf", ""},
    {"\xe2\x89\xa4", "\\le "},
    {"\xe2\x89\xa5", "\\ge "},
    {"\xe2\x88\x9a", "\\sqrt "},
    {"$", ""},
    {"~", " "},
};

struct cleaner {
    char *out;
    size_t n;
};

/* Appends n bytes. White space and NULs become blanks, several in a row one, and none at the beginning. */
static void put_bytes(struct cleaner *c, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char ch = ascii_is_space(s[i]) || !s[i] ? ' ' : s[i];
        if (ch == ' ' && (!c->n || c->out[c->n - 1] == ' '))
            continue;
        c->out[c->n++] = ch;
    }
}

/* What `key` is rewritten as, or NULL when the table does not have it. */
static const char *find_rewrite(const struct rewrite *t, size_t n_table, struct span key)
{
    for (size_t i = 0; i < n_table; i++)
        if (key.n && t[i].from[0] == key.s[0] && span_is(key, t[i].from))
            return t[i].to;
    return NULL;
}

/* "^\circ" and "^{\circ}" vanish; s starts at \circ. Returns the bytes used. */
static size_t drop_degree(struct cleaner *c, struct span s)
{
    size_t used = 5;
    while (c->n && c->out[c->n - 1] == ' ')
        c->n--;
    if (c->n > 1 && c->out[c->n - 1] == '{' && c->out[c->n - 2] == '^') {
        c->n -= 2;
        while (used < s.n && s.s[used] == ' ')
            used++;
        if (used < s.n && s.s[used] == '}')
            used++;
    } else if (c->n && c->out[c->n - 1] == '^') {
        c->n--;
    }
    return used;
}

/* One command at s (which starts with a backslash). Returns the bytes used. */
static size_t clean_command(struct cleaner *c, struct span s)
{
    size_t n = 1;
    while (n < s.n && ascii_is_letter(s.s[n]))
        n++;
    if (n == 1 && s.n > 1)
        n = 2;
    struct span name = {s.s + 1, n - 1};
    if (name.n == 4 && !memcmp(name.s, "circ", 4))
        return drop_degree(c, s);
    const char *to = find_rewrite(commands, sizeof commands / sizeof *commands, name);
    if (to) {
        put_bytes(c, to, strlen(to));
    } else {
        put_bytes(c, s.s, n);
    }
    /* one space keeps a following letter out of the command's name, whatever stood there in the source */
    if (n > 2 && (!to || to[0] == '\\')) {
        while (n < s.n && ascii_is_space(s.s[n]))
            n++;
        if (n < s.n && ascii_is_letter(s.s[n]))
            put_bytes(c, " ", 1);
    }
    return n;
}

/* Rewrites the character at the beginning of s. Returns the bytes used. */
static size_t clean_character(struct cleaner *c, struct span s)
{
    if (s.n >= 3 && !memcmp(s.s, "{,}", 3)) {
        put_bytes(c, ",", 1);
        return 3;
    }
    int is_rewritten = (s.s[0] & 0x80) || s.s[0] == '$' || s.s[0] == '~';
    for (size_t i = 0; i < sizeof characters / sizeof *characters && is_rewritten; i++) {
        if (characters[i].from[0] != s.s[0])
            continue;
        size_t n = strlen(characters[i].from);
        if (s.n >= n && !memcmp(s.s, characters[i].from, n)) {
            put_bytes(c, characters[i].to, strlen(characters[i].to));
            return n;
        }
    }
    put_bytes(c, s.s, 1);
    return 1;
}

/* Length of a list word at s: "and", "or", "\text{ and }", ", and". 0: none. `before` is the byte before
 * s. */
static size_t list_word(struct span s, char before)
{
    size_t i = 0;
    int braced = s.n > 6 && !memcmp(s.s, "\\text{", 6);
    if (braced)
        i = 6;
    else if (ascii_is_letter(before) || before == '\\')
        return 0;
    while (braced && i < s.n && (s.s[i] == ' ' || s.s[i] == ','))
        i++;
    size_t n = span_starts((struct span){s.s + i, s.n - i}, "and")  ? 3
               : span_starts((struct span){s.s + i, s.n - i}, "or") ? 2
                                                                    : 0;
    if (!n)
        return 0;
    i += n;
    if (!braced)
        return i < s.n && !ascii_is_letter(s.s[i]) ? i : 0;
    while (i < s.n && s.s[i] == ' ')
        i++;
    return i < s.n && s.s[i] == '}' ? i + 1 : 0;
}

/* Replaces list words by commas, in place. A word at the very start joins nothing and stays. */
static void join_lists(struct cleaner *c)
{
    size_t w = 0;
    for (size_t i = 0; i < c->n;) {
        char first = ascii_lower(c->out[i]);
        int may_be = w && (first == 'a' || first == 'o' || first == '\\');
        size_t n = may_be ? list_word((struct span){c->out + i, c->n - i}, c->out[i - 1]) : 0;
        if (!n) {
            c->out[w++] = c->out[i++];
            continue;
        }
        while (w && c->out[w - 1] == ' ')
            w--;
        if (!w || c->out[w - 1] != ',')
            c->out[w++] = ',';
        c->out[w++] = ' ';
        i += n;
        while (i < c->n && c->out[i] == ' ')
            i++;
    }
    c->n = w;
}

int latex_is_group(struct span s)
{
    int depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '\\')
            i++;
        else if (s.s[i] == '{')
            depth++;
        else if (s.s[i] == '}' && --depth == 0)
            return i + 1 == s.n;
    }
    return 0;
}

struct span latex_clean(struct arena *a, struct span s)
{
    struct cleaner c = {arena_room(a, 8 * s.n + 8), 0}; /* no rewrite is longer than 8 times its source */
    for (size_t i = 0; i < s.n;) {
        struct span rest = {s.s + i, s.n - i};
        i += s.s[i] == '\\' ? clean_command(&c, rest) : clean_character(&c, rest);
    }
    join_lists(&c);
    struct span r = span_trim((struct span){c.out, c.n});
    for (int depth = 0; depth < 8 && r.n > 1 && r.s[0] == '{' && latex_is_group(r); depth++)
        r = span_trim((struct span){r.s + 1, r.n - 2});
    while (r.n && strchr(".,;: ", r.s[r.n - 1]) && !(r.n > 1 && r.s[r.n - 2] == '\\'))
        r.n--;
    return r;
}

/* Is it one of the words of two letters that occur as answers? */
static int is_short_word(struct span s)
{
    static const char *const words[] = {"no", "on", "up", "in", "it", "is", "of", "or", "to"};
    for (size_t k = 0; s.n == 2 && k < sizeof words / sizeof *words; k++)
        if (span_starts(s, words[k]))
            return 1;
    return 0;
}

int latex_is_word(struct span s)
{
    size_t letters = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_letter(s.s[i]) && s.s[i] != ' ')
            return 0;
        letters += s.s[i] != ' ';
    }
    return letters > 2 || is_short_word(s);
}

struct span latex_flatten(struct arena *a, struct span s)
{
    enum { DEPTH_MAX = 64 };
    char *out = arena_alloc(a, s.n + 1);
    unsigned char is_text[DEPTH_MAX] = {0}; /* open braces: do they belong to \text? */
    size_t n = 0, depth = 0;
    int words = 1, blank = 0; /* blank: a space was left out just now */
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.s[i];
        int text = s.n - i >= 6 && !memcmp(s.s + i, "\\text{", 6);
        /* {x} is x: "\sqrt{2}" and "\sqrt2", "x^{2}" and "x^2" */
        int one = ch == '{' && i + 2 < s.n && s.s[i + 2] == '}' && s.s[i + 1] != '\\' && s.s[i + 1] != '{';
        if (ch == ' ') {
            blank = 1;
            continue;
        }
        if (one) {
            ch = s.s[i + 1];
            i += 2;
        } else if (text || ch == '{') {
            if (depth < DEPTH_MAX)
                is_text[depth] = (unsigned char)text;
            depth++;
            i += text ? 5 : 0;
            if (text)
                continue;
        } else if (ch == '}' && depth && --depth < DEPTH_MAX && is_text[depth]) {
            continue;
        }
        words &= ascii_is_letter(ch) || ((unsigned char)ch & 0x80);
        if (blank && n && ascii_is_digit(out[n - 1]) && (ascii_is_digit(ch) || ch == '.'))
            out[n++] = ' ';
        blank = 0;
        out[n++] = ch;
    }
    words &= n > 2 || is_short_word((struct span){out, n});
    for (size_t i = 0; words && i < n; i++)
        out[i] = ascii_lower(out[i]);
    return (struct span){out, n};
}
