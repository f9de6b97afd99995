/* Reads the "pre_tokenizer" of a tokenizer.json into stages (contract: pretoken.h).
 *
 * Digits, Punctuation, Whitespace and WhitespaceSplit are splits at patterns of their own. ByteLevel also
 * renames bytes, which is left out, because merging works on bytes; so it can only stand last. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "engine/text/pretoken.h"

static struct pretoken_stage *add_stage(struct pretoken *p, const char *what, struct err *e)
{
    if (p->n == PRETOKEN_STAGES) {
        err_set(e, ERR_UNSUPPORTED, "%s: pre_tokenizer has more than %d stages", what, PRETOKEN_STAGES);
        return NULL;
    }
    return &p->stage[p->n++];
}

/* A split at the matches of `regex`, which is PCRE2's dialect already. */
static int add_regex(struct pretoken *p, const char *regex, size_t n, struct pretoken_stage how,
                     const char *what, struct err *e)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    int code;
    PCRE2_SIZE at;
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_code *compiled = pcre2_compile(
        (PCRE2_SPTR)regex, n, PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &at, context);
    pcre2_compile_context_free(context);
    if (!compiled) {
        PCRE2_UCHAR why[200] = "";
        pcre2_get_error_message(code, why, sizeof why);
        return err_set(e, ERR_FORMAT, "%s: the pattern of pre_tokenizer's Split cannot be compiled: %s", what,
                       (const char *)why);
    }
    struct pretoken_stage *s = add_stage(p, what, e);
    if (!s) {
        pcre2_code_free(compiled);
        return e->code;
    }
    *s = how;
    s->kind = PRETOKEN_SPLIT;
    s->regex = compiled;
    s->compiled = !pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
    return 0;
}

/* A split at a pattern in the dialect of the file. */
static int add_pattern(struct pretoken *p, const char *pattern, size_t n, struct pretoken_stage how,
                       const char *what, struct err *e)
{
    struct str own = {0};
    int rc = pretoken_pattern(&own, pattern, n, what, e);
    if (!rc)
        rc = add_regex(p, str_text(&own), own.len, how, what, e);
    str_release(&own);
    return rc;
}

static int add_plain_text(struct pretoken *p, const char *text, size_t n, struct pretoken_stage how,
                          const char *what, struct err *e)
{
    struct str regex = {0};
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 0x80)
            str_printf(&regex, "\\x{%02x}", (unsigned char)text[i]);
        else
            str_putc(&regex, text[i]);
    }
    int rc = add_regex(p, str_text(&regex), regex.len, how, what, e);
    str_release(&regex);
    return rc;
}

static int read_behavior(const json_t *spec, enum pretoken_behavior *out, const char *what, struct err *e)
{
    static const char *const names[] = {
        [PRETOKEN_ISOLATED] = "Isolated",
        [PRETOKEN_REMOVED] = "Removed",
        [PRETOKEN_WITH_PREVIOUS] = "MergedWithPrevious",
        [PRETOKEN_WITH_NEXT] = "MergedWithNext",
        [PRETOKEN_CONTIGUOUS] = "Contiguous",
    };
    const char *name = "Isolated";
    int rc = json_opt_str(spec, "behavior", &name, what, e);
    for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum pretoken_behavior)i;
            return 0;
        }
    return rc ? rc
              : err_set(e, ERR_UNSUPPORTED,
                        "%s: pre_tokenizer has the behavior \"%.60s\", which is not known", what, name);
}

static int add_split(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    struct pretoken_stage how = {0};
    int rc = read_behavior(spec, &how.behavior, what, e);
    if (!rc)
        rc = json_opt_bool(spec, "invert", &how.invert, what, e);
    if (rc)
        return rc;
    /* Pieces of their own are the same whichever of them is called the match. */
    how.invert &= how.behavior != PRETOKEN_ISOLATED;
    const json_t *pattern = json_object_get(spec, "pattern"), *regex = json_object_get(pattern, "Regex"),
                 *text = json_object_get(pattern, "String");
    if (json_is_string(regex))
        return add_pattern(p, json_string_value(regex), json_string_length(regex), how, what, e);
    if (json_string_length(text))
        return add_plain_text(p, json_string_value(text), json_string_length(text), how, what, e);
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: pre_tokenizer's Split needs a pattern of the form {\"Regex\": \"...\"} or "
                   "{\"String\": \"...\"}",
                   what);
}

static const char gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static int add_byte_level(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    int prefix_space = 1, use_regex = 1;
    int rc = json_opt_bool(spec, "add_prefix_space", &prefix_space, what, e);
    if (!rc)
        rc = json_opt_bool(spec, "use_regex", &use_regex, what, e);
    if (!rc && prefix_space) {
        struct pretoken_stage *s = add_stage(p, what, e);
        if (!s)
            return e->code;
        s->kind = PRETOKEN_PREFIX_SPACE;
    }
    if (!rc && use_regex)
        rc = add_pattern(p, gpt2_pattern, strlen(gpt2_pattern), (struct pretoken_stage){0}, what, e);
    p->is_byte_level = 1;
    return rc;
}

static int add_own(struct pretoken *p, const char *regex, struct pretoken_stage how, const char *what,
                   struct err *e)
{
    return add_regex(p, regex, strlen(regex), how, what, e);
}

/* The library's is_numeric is the categories Nd, Nl and No. */
static int add_digits(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    int individual = 0, rc = json_opt_bool(spec, "individual_digits", &individual, what, e);
    return rc ? rc : add_own(p, individual ? "\\p{N}" : "\\p{N}+", (struct pretoken_stage){0}, what, e);
}

static int add_punctuation(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    struct pretoken_stage how = {0};
    int rc = read_behavior(spec, &how.behavior, what, e);
    return rc ? rc : add_own(p, "[!-/:-@\\[-`{-~\\p{P}]", how, what, e);
}

static int add_whitespace(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    (void)spec;
#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}"
    return add_own(p, "[" WORD "]+|[^" WORD "\\p{White_Space}]+",
                   (struct pretoken_stage){.behavior = PRETOKEN_REMOVED, .invert = 1}, what, e);
#undef WORD
}

static int add_whitespace_split(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    (void)spec;
    return add_own(p, "\\p{White_Space}", (struct pretoken_stage){.behavior = PRETOKEN_REMOVED}, what, e);
}

static int add_metaspace(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    static const char *const schemes[] = {
        [PRETOKEN_ALWAYS] = "always", [PRETOKEN_FIRST] = "first", [PRETOKEN_NEVER] = "never"};
    const char *mark, *scheme = "always";
    int split = 1, prefix = 1, k = 0, rc = json_get_str(spec, "replacement", &mark, what, e);
    if (!rc)
        rc = json_opt_str(spec, "prepend_scheme", &scheme, what, e);
    if (!rc)
        rc = json_opt_bool(spec, "split", &split, what, e);
    if (!rc)
        rc = json_opt_bool(spec, "add_prefix_space", &prefix, what, e);
    if (rc)
        return rc;
    while (k < 3 && strcmp(scheme, schemes[k]))
        k++;
    if (!*mark || strlen(mark) > 4 || k == 3 || (!prefix && k != PRETOKEN_NEVER))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: pre_tokenizer's Metaspace has a replacement that is not one character, or a "
                       "prepend_scheme that is unknown or contradicts add_prefix_space",
                       what);
    struct pretoken_stage *s = add_stage(p, what, e);
    if (!s)
        return e->code;
    s->kind = PRETOKEN_METASPACE;
    memcpy(s->mark, mark, strlen(mark) + 1);
    s->prepend = (enum pretoken_prepend)k;
    s->is_whole = !split;
    return 0;
}

static const struct {
    const char *type;
    int (*add)(struct pretoken *p, const json_t *spec, const char *what, struct err *e);
} KINDS[] = {
    {"ByteLevel", add_byte_level},  {"Split", add_split},
    {"Digits", add_digits},         {"Punctuation", add_punctuation},
    {"Whitespace", add_whitespace}, {"WhitespaceSplit", add_whitespace_split},
    {"Metaspace", add_metaspace},
};

static int read_one(struct pretoken *p, const json_t *spec, int depth, const char *what, struct err *e)
{
    const char *type;
    int rc = json_get_str(spec, "type", &type, what, e);
    if (rc)
        return err_add(e, "pre_tokenizer");
    if (!strcmp(type, "Sequence") && depth <= 4) {
        const json_t *list = json_object_get(spec, "pretokenizers");
        if (!json_array_size(list))
            return err_set(e, ERR_FORMAT, "%s: pre_tokenizer's Sequence has no \"pretokenizers\"", what);
        for (size_t i = 0; !rc && i < json_array_size(list); i++)
            rc = read_one(p, json_array_get(list, i), depth + 1, what, e);
        return rc;
    }
    if (p->is_byte_level)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: pre_tokenizer has a %.60s after ByteLevel, which must be last", what, type);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (!strcmp(type, KINDS[i].type))
            return KINDS[i].add(p, spec, what, e);
    struct str names = {0};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        str_printf(&names, "%s, ", KINDS[i].type);
    rc = err_set(e, ERR_UNSUPPORTED, "%s: pre_tokenizer %.60s is not supported; %sand Sequence are", what,
                 type, str_text(&names));
    str_release(&names);
    return rc;
}

int pretoken_open(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    *p = (struct pretoken){0};
    if (!spec || json_is_null(spec))
        return 0;
    return read_one(p, spec, 0, what, e);
}

void pretoken_close(struct pretoken *p)
{
    for (int i = 0; i < p->n; i++)
        pcre2_code_free(p->stage[i].regex);
    *p = (struct pretoken){0};
}
