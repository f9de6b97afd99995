/* Translates the split pattern of a tokenizer.json for PCRE2.
 *
 * The tokenizers library matches it with Oniguruma in Ruby's syntax, where ^ and $ are ends of lines, (?m)
 * lets the dot match them, (?i) holds to the end of its group with all alternatives, {,3} begins at 0, {2}+
 * repeats {2}, and classes nest and intersect. The file is untrusted: what is not known here is refused. So
 * is (?i) over characters of which two are one in another case (ss and U+00DF), which PCRE2 does not match.
 *
 * A class with others inside becomes alternatives of plain classes, an intersection lookaheads before the
 * last of its parts, so that each still matches one character. */
#include "engine/text/pretoken.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/pretoken_parts.h"
#include "engine/text/unicode.h"

enum { PATTERN_MAX = 4096, GROUPS_MAX = 100, CLASSES_MAX = 10 };

struct reader {
    const char *p;
    size_t n, at;
    struct str *out;
    const char *what;
    struct err *e;
    size_t atom;   /* where in out the last thing begins that a quantifier can repeat */
    uint32_t last; /* the character before, where it stands for itself; else 0 */
    int fold;      /* in (?i) */
    struct str spare;
    int depth;
    struct {
        size_t start; /* in out */
        int fold;     /* outside of the group */
        int n_open;   /* parentheses that end with it */
    } group[GROUPS_MAX];
};

static int refuse_pattern(struct reader *r, size_t from, const char *why)
{
    size_t n = r->at < r->n ? r->at + 1 - from : r->n - from;
    return err_set(r->e, ERR_UNSUPPORTED,
                   "%s: the pattern of pre_tokenizer's Split is not supported: %s at byte %zu (%.*s)",
                   r->what, why, from, (int)(n < 40 ? n : 40), r->p + from);
}

static int looking_at(const struct reader *r, const char *text)
{
    size_t n = strlen(text);
    return r->n - r->at >= n && !memcmp(r->p + r->at, text, n);
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t hex_digits(const struct reader *r, size_t at, size_t max)
{
    size_t n = 0;
    while (n < max && at + n < r->n && isxdigit((unsigned char)r->p[at + n]))
        n++;
    return n;
}

/* ---- characters that stand for themselves */

/* Characters that are several in another case. */
static int folds_to_several(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0xdf, 0xdf},   {0x130, 0x130},   {0x149, 0x149},   {0x1f0, 0x1f0},   {0x390, 0x390},  {0x3b0, 0x3b0},
        {0x587, 0x587}, {0x1e96, 0x1e9e}, {0x1f50, 0x1f56}, {0x1f80, 0x1fff}, {0xfb00, 0xfb17}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return 1;
    return 0;
}

/* Two that are one character in another case. Those with combining marks are not listed: any character before
 * a mark or a Greek iota counts. */
static int folds_together(uint32_t a, uint32_t b)
{
    static const char pairs[] = "ss st ff fi fl ";
    char pair[3] = {(char)tolower((int)(a & 0x7f)), (char)tolower((int)(b & 0x7f)), 0};
    if (a < 0x80 && b < 0x80 && a && b) {
        const char *at = strstr(pairs, pair);
        return at && (at - pairs) % 3 == 0;
    }
    return (a && b >= 0x300 && b < 0x370) || (a == 0x2bc && (b | 32) == 'n') || (a >= 0x370 && b == 0x3b9) ||
           (a >= 0x530 && a < 0x590 && b >= 0x530 && b < 0x590);
}

/* Two letters next to each other that are also one: the alternative is written out. Returns 1 when it was. */
static int add_ligature(struct reader *r, uint32_t c)
{
    static const char *const known[][2] = {{"ss", "\\x{df}"},
                                           {"st", "\\x{fb05}\\x{fb06}"},
                                           {"ff", "\\x{fb00}"},
                                           {"fi", "\\x{fb01}"},
                                           {"fl", "\\x{fb02}"}};
    char pair[3] = {(char)tolower((int)(r->last & 0x7f)), (char)tolower((int)(c & 0x7f)), 0};
    int is_next = r->out->len == r->atom + 1 && (uint32_t)r->out->data[r->atom] == r->last;
    if (c >= 0x80 || r->last >= 0x80 || !is_next || (r->at + 1 < r->n && strchr("*+?{", r->p[r->at + 1])))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i][0], pair)) {
            str_clear(&r->spare);
            str_printf(&r->spare, "(?:%c%c|[%s])", (char)r->last, (char)c, known[i][1]);
            r->out->len = r->atom;
            str_puts(r->out, r->spare.data);
            r->last = c;
            r->at++;
            return 1;
        }
    return 0;
}

static int check_fold(struct reader *r, size_t from, uint32_t c)
{
    if (r->fold && (folds_to_several(c) || folds_together(r->last, c)))
        return refuse_pattern(r, from, "(?i) over letters that are one in another case");
    r->last = c;
    return 0;
}

/* Copies a character as it stands. */
static int copy_char(struct reader *r, struct str *out)
{
    size_t step, from = r->at;
    uint32_t c = (uint32_t)utf8_after(r->p, r->n, r->at, &step);
    r->at += step - 1;
    if (r->fold && out == r->out && add_ligature(r, c))
        return 0;
    if (check_fold(r, from, c))
        return r->e->code;
    r->at = from + step;
    str_add(out, r->p + from, step);
    return 0;
}

static int code_point(struct reader *r, size_t from, struct str *out)
{
    int braces = r->p[from + 1] == 'x' && from + 2 < r->n && r->p[from + 2] == '{';
    size_t first = from + 2 + (size_t)braces, max = braces ? 6 : r->p[from + 1] == 'x' ? 2 : 4;
    size_t n = hex_digits(r, first, max);
    char digits[8] = "";
    if (!n || (!braces && n != max) || (braces && (first + n >= r->n || r->p[first + n] != '}')) ||
        (max == 2 && r->p[first] > '7'))
        return refuse_pattern(r, from, "a character code");
    memcpy(digits, r->p + first, n);
    r->at = first + n + (size_t)braces - 1;
    if (check_fold(r, from, (uint32_t)strtoul(digits, NULL, 16)))
        return r->e->code;
    str_printf(out, "\\x{%s}", digits);
    r->at++;
    return 0;
}

/* ---- classes */

/* One operand of a class while it is read. */
struct operand {
    struct str plain; /* what may stand between brackets */
    struct str more;  /* "|[^a]": further classes, which may not */
    int is_after_set; /* a hyphen that follows a set is one */
};

static void operand_end(struct operand *o, struct str *out)
{
    if (!o->more.len)
        str_printf(out, "[%s]", str_text(&o->plain));
    else if (o->plain.len)
        str_printf(out, "(?:[%s]%s)", str_text(&o->plain), o->more.data);
    else
        str_printf(out, "(?:%s)", o->more.data + 1);
    str_release(&o->plain);
    str_release(&o->more);
    *o = (struct operand){0};
}

static void add_set(struct operand *o, const struct pretoken_set *s, int negated)
{
    if (!negated || s->inverse)
        str_puts(&o->plain, negated ? s->inverse : s->inner);
    else
        str_printf(&o->more, "|[^%s]", s->inner);
    o->is_after_set = 1;
}

/* \p{L}, \P{Lu}, \p{^Han} */
static int read_property(struct reader *r, struct operand *o, int in_class)
{
    size_t from = r->at, at = from + 2, n = 0;
    int negated = r->p[from + 1] == 'P', is_case;
    char name[40];
    if (at >= r->n || r->p[at] != '{')
        return refuse_pattern(r, from, "a property without braces");
    at++;
    if (at < r->n && r->p[at] == '^') {
        negated = !negated;
        at++;
    }
    for (; at < r->n && (isalnum((unsigned char)r->p[at]) || strchr(" _-", r->p[at])) && n + 1 < sizeof name;
         at++)
        if (isalnum((unsigned char)r->p[at]))
            name[n++] = (char)tolower((unsigned char)r->p[at]);
    name[n] = 0;
    r->at = at;
    if (!n || at >= r->n || r->p[at] != '}')
        return refuse_pattern(r, from, "a property");
    if (!in_class && !strcmp(name, "word"))
        return add_set(o, pretoken_set("\\w"), negated), r->at++, 0;
    if (!pretoken_property(&o->plain, name, negated, &is_case))
        add_set(o, pretoken_set(strcmp(name, "whitespace") ? name : "space"), negated);
    if (is_case && r->fold && in_class)
        return refuse_pattern(r, from, "(?i) over a class of upper or lower case");
    o->is_after_set = 1;
    r->at++;
    return 0;
}

/* [:alpha:], [:^alpha:] */
static int read_posix(struct reader *r, struct operand *o)
{
    size_t from = r->at, at = from + 2, n = 0;
    int negated = at < r->n && r->p[at] == '^';
    char name[12];
    for (at += (size_t)negated; at < r->n && islower((unsigned char)r->p[at]) && n + 1 < sizeof name; at++)
        name[n++] = r->p[at];
    name[n] = 0;
    const struct pretoken_set *s = pretoken_set(name);
    r->at = at;
    if (!s || !looking_at(r, ":]"))
        return refuse_pattern(r, from, "a class whose name is not known");
    if (s->is_case && r->fold)
        return refuse_pattern(r, from, "(?i) over a class of upper or lower case");
    add_set(o, s, negated);
    r->at += 2;
    return 0;
}

static const struct pretoken_set *escaped_set(char c, int in_class)
{
    return c == 'w'   ? pretoken_set(in_class ? "word" : "\\w")
           : c == 's' ? pretoken_set("space")
           : c == 'd' ? pretoken_set("digit")
           : c == 'h' ? pretoken_set("xdigit")
                      : NULL;
}

/* An escape that stands for one character or one of a set. */
static int read_escape(struct reader *r, struct operand *o, int in_class)
{
    size_t from = r->at;
    if (from + 1 >= r->n)
        return refuse_pattern(r, from, "a backslash at the end");
    char c = r->p[from + 1];
    const struct pretoken_set *s = escaped_set((char)tolower((unsigned char)c), in_class);
    if (c == 'p' || c == 'P')
        return read_property(r, o, in_class);
    o->is_after_set = 0;
    if (c == 'x' || c == 'u')
        return code_point(r, from, &o->plain);
    r->at += 2;
    if (s)
        return add_set(o, s, isupper((unsigned char)c)), 0;
    if (c == 'v' || (c == 'b' && in_class)) {
        str_puts(&o->plain, c == 'v' ? "\\x{b}" : "\\x{8}");
        return 0;
    }
    if (!ispunct((unsigned char)c) && !strchr("rntfae ", c)) {
        r->at--;
        return refuse_pattern(r, from,
                              "an escape whose meaning differs between regular expression libraries");
    }
    str_putc(&o->plain, '\\');
    str_putc(&o->plain, c);
    return 0;
}

static int read_class(struct reader *r, struct str *out, int depth);

static int read_item(struct reader *r, struct operand *o, int depth)
{
    char c = r->p[r->at];
    if (looking_at(r, "[:"))
        return read_posix(r, o);
    if (c == '[') {
        str_putc(&o->more, '|');
        o->is_after_set = 1;
        return read_class(r, &o->more, depth + 1);
    }
    r->last = 0;
    if (c == '\\')
        return read_escape(r, o, 1);
    if (c == '^' || (c == '-' && (o->is_after_set || !o->plain.len)))
        str_putc(&o->plain, '\\');
    o->is_after_set = 0;
    return copy_char(r, &o->plain);
}

static int read_class(struct reader *r, struct str *out, int depth)
{
    struct str body = {0};
    struct operand o = {0};
    size_t from = r->at++, n_parts = 0;
    int negated = r->at < r->n && r->p[r->at] == '^', rc = 0;
    r->at += (size_t)negated;
    if (depth > CLASSES_MAX)
        return refuse_pattern(r, from, "classes inside classes");
    if (r->at < r->n && r->p[r->at] == ']')
        return refuse_pattern(r, from, "an empty class");
    while (!rc && r->at < r->n && r->p[r->at] != ']') {
        if (!looking_at(r, "&&")) {
            rc = read_item(r, &o, depth);
            continue;
        }
        if (!o.plain.len && !o.more.len)
            break;
        str_puts(&body, "(?=");
        operand_end(&o, &body);
        str_putc(&body, ')');
        r->at += 2;
        n_parts++;
    }
    if (!rc && r->at == r->n)
        rc = refuse_pattern(r, from, "a class that is not closed");
    if (!rc && !o.plain.len && !o.more.len)
        rc = refuse_pattern(r, from, "an empty intersection of classes");
    int is_plain = !n_parts && !o.more.len;
    if (!rc && is_plain)
        str_printf(out, "[%s%s]", negated ? "^" : "", o.plain.data);
    operand_end(&o, &body);
    if (!rc && !is_plain)
        str_printf(out, negated ? "(?:(?!%s)(?s:.))" : "(?:%s)", body.data);
    str_release(&body);
    r->last = 0;
    r->at++;
    return rc;
}

/* ---- anchors, counts, groups */

#define WORD_BEFORE(x) "(?<" x "[" PRETOKEN_WORD PRETOKEN_LATIN_WORD "])"
#define WORD_AFTER(x)  "(?" x "[" PRETOKEN_WORD PRETOKEN_LATIN_WORD "])"

/* What matches a place, and the break of a line. 0: it is something else. */
static int read_place(struct reader *r)
{
    static const struct {
        const char *word, *text;
    } places[] = {
        {"^", "(?:\\A|(?<=\\n)(?!\\z))"},
        {"$", "(?=\\n|\\z)"},
        {"\\A", "\\A"},
        {"\\z", "\\z"},
        {"\\Z", "(?=\\n?\\z)"},
        {"\\b", "(?:" WORD_BEFORE("=") WORD_AFTER("!") "|" WORD_BEFORE("!") WORD_AFTER("=") ")"},
        {"\\B", "(?:" WORD_BEFORE("=") WORD_AFTER("=") "|" WORD_BEFORE("!") WORD_AFTER("!") ")"},
        {"\\R", "(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (looking_at(r, places[i].word)) {
            r->atom = r->out->len;
            str_puts(r->out, places[i].text);
            r->at += strlen(places[i].word);
            return 1;
        }
    return 0;
}

/* {2} {2,} {,5} {2,5}; what else begins with a brace stands for itself. */
static int read_count(struct reader *r)
{
    size_t from = r->at, low = from + 1, at = low;
    while (at < r->n && is_digit(r->p[at]))
        at++;
    size_t n_low = at - low;
    int has_comma = at < r->n && r->p[at] == ',';
    size_t high = at + (size_t)has_comma;
    at = high;
    while (has_comma && at < r->n && is_digit(r->p[at]))
        at++;
    size_t n_high = at - high;
    if (at >= r->n || r->p[at] != '}' || (!n_low && !n_high) || n_low > 5 || n_high > 5) {
        r->atom = r->out->len;
        str_puts(r->out, "\\{");
        r->at++;
        return 0;
    }
    str_printf(r->out, "{%.*s%s%.*s}", n_low ? (int)n_low : 1, n_low ? r->p + low : "0", has_comma ? "," : "",
               (int)n_high, r->p + high);
    r->at = at + 1;
    char next = r->at < r->n ? r->p[r->at] : 0;
    if (next && strchr(has_comma ? "+*{" : "+*{?", next)) { /* it repeats what has a count already */
        struct str whole = {0};
        str_printf(&whole, "(?:%s)", r->out->data + r->atom);
        r->out->len = r->atom;
        str_puts(r->out, whole.data);
        str_release(&whole);
    }
    return 0;
}

static int open_group(struct reader *r, const char *text, size_t n_read)
{
    if (r->depth == GROUPS_MAX)
        return refuse_pattern(r, r->at, "too many groups inside each other");
    r->group[r->depth].start = r->out->len;
    r->group[r->depth].fold = r->fold;
    r->group[r->depth++].n_open = 1;
    str_puts(r->out, text);
    r->at += n_read;
    return 0;
}

/* (?i) (?i: (?m-i: : the options of Ruby that are known here. */
static int read_options(struct reader *r)
{
    size_t from = r->at, at = from + 2;
    struct str text = {0};
    int is_on = 1, fold = r->fold, rc = 0;
    str_puts(&text, "(?");
    for (; at < r->n && strchr("im-", r->p[at]); at++) {
        if (r->p[at] == '-')
            is_on = 0;
        if (r->p[at] == 'i')
            fold = is_on;
        str_putc(&text, r->p[at] == 'm' ? 's' : r->p[at]);
    }
    str_putc(&text, ':');
    if (at == from + 2 || at >= r->n || (r->p[at] != ':' && r->p[at] != ')')) {
        r->at = at;
        rc = refuse_pattern(r, from, "a special group");
    } else if (r->p[at] == ':') {
        rc = open_group(r, text.data, at + 1 - from);
        r->fold = fold;
    } else {
        str_puts(r->out, text.data);
        r->group[r->depth - 1].n_open++;
        r->at = at + 1;
        r->fold = fold;
    }
    str_release(&text);
    return rc;
}

static int read_group(struct reader *r)
{
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    size_t from = r->at;
    if (!looking_at(r, "(?"))
        return looking_at(r, "(*") ? refuse_pattern(r, from, "a special group") : open_group(r, "(?:", 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (looking_at(r, known[i]))
            return open_group(r, known[i], strlen(known[i]));
    if (looking_at(r, "(?#")) {
        const char *end = memchr(r->p + from, ')', r->n - from);
        r->at = end ? (size_t)(end - r->p) + 1 : r->n;
        return end ? 0 : refuse_pattern(r, from, "a comment that is not closed");
    }
    if (looking_at(r, "(?<")) {
        size_t at = from + 3;
        while (at < r->n && (isalnum((unsigned char)r->p[at]) || r->p[at] == '_'))
            at++;
        if (at > from + 3 && at < r->n && r->p[at] == '>' && !is_digit(r->p[from + 3]))
            return open_group(r, "(?:", at + 1 - from);
    }
    return read_options(r);
}

static int close_group(struct reader *r)
{
    if (r->depth == 1)
        return refuse_pattern(r, r->at, "a parenthesis that nothing opens");
    r->depth--;
    for (int i = 0; i < r->group[r->depth].n_open; i++)
        str_putc(r->out, ')');
    r->fold = r->group[r->depth].fold;
    r->atom = r->group[r->depth].start;
    r->at++;
    return 0;
}

static int read_one(struct reader *r)
{
    struct operand o = {0};
    char c = r->p[r->at];
    int rc = 0;
    if (c == '(')
        return read_group(r);
    if (c == ')')
        return close_group(r);
    if (c == '{')
        return read_count(r);
    if (strchr("|*+?", c)) {
        str_putc(r->out, c);
        r->last = 0;
        r->at++;
        return 0;
    }
    if (read_place(r))
        return 0;
    size_t start = r->out->len;
    if (c != '\\' && c != '[') {
        rc = copy_char(r, r->out);
        r->atom = start < r->out->len && r->out->data[r->out->len - 1] != ')' ? start : r->atom;
        return rc;
    }
    r->atom = start;
    if (c == '[')
        return read_class(r, r->out, 0);
    rc = read_escape(r, &o, 0);
    if (!rc && !o.is_after_set)
        str_puts(r->out, str_text(&o.plain));
    else if (!rc)
        operand_end(&o, r->out);
    str_release(&o.plain);
    str_release(&o.more);
    return rc;
}

int pretoken_pattern(struct str *out, const char *pattern, size_t n, const char *what, struct err *e)
{
    struct reader r = {.p = pattern, .n = n, .out = out, .what = what, .e = e, .depth = 1};
    if (n == 0 || n > PATTERN_MAX)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: the pattern of pre_tokenizer's Split has %zu bytes; 1 to %d are supported", what,
                       n, PATTERN_MAX);
    if (memchr(pattern, 0, n))
        return err_set(e, ERR_FORMAT, "%s: the pattern of pre_tokenizer's Split holds a NUL byte", what);
    int rc = 0;
    while (!rc && r.at < n)
        rc = read_one(&r);
    for (int i = 0; i < r.group[0].n_open; i++)
        str_putc(out, ')');
    str_release(&r.spare);
    return rc;
}
