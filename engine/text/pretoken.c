/* Cuts text into pieces with PCRE2's JIT compiler.
 *
 * A pre-tokenizer is a row of stages, each of which works inside the pieces of the one before. A stage is
 * either a regular expression whose matches become pieces of their own, or the prefix space of ByteLevel.
 * ByteLevel also renames bytes, which is left out, because merging works on bytes. The patterns come from a
 * downloaded file, so a match has limits on steps and memory, and reaching one is an error. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/text/pretoken.h"

#include <pcre2.h>
#include <string.h>

enum { MATCH_STEPS = 20 * 1000 * 1000, MATCH_KIB = 256 * 1024, STACK_FIRST = 64 << 10, STACK_MOST = 8 << 20 };

static int add_stage(struct pretoken *p, void *regex, int compiled, enum pretoken_known known,
                     const char *what, struct err *e)
{
    if (p->n == PRETOKEN_STAGES) {
        pcre2_code_free(regex);
        return err_set(e, ERR_UNSUPPORTED, "%s: pre_tokenizer has more than %d stages", what,
                       PRETOKEN_STAGES);
    }
    p->stage[p->n].regex = regex;
    p->stage[p->n].compiled = compiled;
    p->stage[p->n].known = known;
    p->n++;
    return 0;
}

static int add_pattern(struct pretoken *p, const char *pattern, size_t n, const char *what, struct err *e)
{
    struct str own = {0};
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    int rc = pretoken_pattern(&own, pattern, n, what, e);
    if (rc)
        goto out;
    int code;
    PCRE2_SIZE at;
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_code *regex = pcre2_compile((PCRE2_SPTR)own.data, own.len,
                                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &at, context);
    if (!regex) {
        PCRE2_UCHAR why[200] = "";
        pcre2_get_error_message(code, why, sizeof why);
        rc = err_set(e, ERR_FORMAT, "%s: the pattern of pre_tokenizer's Split cannot be compiled: %s", what,
                     (const char *)why);
        goto out;
    }
    uint32_t may_be_empty = 1;
    pcre2_pattern_info(regex, PCRE2_INFO_MATCHEMPTY, &may_be_empty);
    if (may_be_empty) {
        pcre2_code_free(regex);
        rc = err_set(e, ERR_UNSUPPORTED, "%s: the pattern of pre_tokenizer's Split may match nothing at all",
                     what);
        goto out;
    }
    rc = add_stage(p, regex, !pcre2_jit_compile(regex, PCRE2_JIT_COMPLETE), pretoken_recognise(pattern, n),
                   what, e);
out:
    pcre2_compile_context_free(context);
    str_release(&own);
    return rc;
}

static int add_split(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    const char *behavior;
    int invert = 0, rc = json_get_str(spec, "behavior", &behavior, what, e);
    if (!rc)
        rc = json_opt_bool(spec, "invert", &invert, what, e);
    if (rc)
        return rc;
    if (strcmp(behavior, "Isolated"))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: pre_tokenizer's Split has behavior \"%s\"; only Isolated is supported", what,
                       behavior);
    if (invert)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: pre_tokenizer's Split has invert true; only false is supported", what);
    const json_t *regex = json_object_get(json_object_get(spec, "pattern"), "Regex");
    if (!json_is_string(regex))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: pre_tokenizer's Split needs a pattern of the form {\"Regex\": \"...\"}", what);
    return add_pattern(p, json_string_value(regex), json_string_length(regex), what, e);
}

static int add_byte_level(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    int prefix_space = 1, use_regex = 1;
    int rc = json_opt_bool(spec, "add_prefix_space", &prefix_space, what, e);
    if (!rc)
        rc = json_opt_bool(spec, "use_regex", &use_regex, what, e);
    if (!rc && prefix_space)
        rc = add_stage(p, NULL, 0, PRETOKEN_OTHER, what, e);
    const char *gpt2 = pretoken_known_pattern(PRETOKEN_GPT2);
    if (!rc && use_regex)
        rc = add_pattern(p, gpt2, strlen(gpt2), what, e);
    return rc;
}

static int add_one(struct pretoken *p, const json_t *spec, int last, const char *what, struct err *e)
{
    const char *type;
    int rc = json_get_str(spec, "type", &type, what, e);
    if (rc)
        return err_add(e, "pre_tokenizer");
    if (!strcmp(type, "Split") && !last)
        return add_split(p, spec, what, e);
    if (!strcmp(type, "ByteLevel") && last)
        return add_byte_level(p, spec, what, e);
    if (!strcmp(type, "Split") || !strcmp(type, "ByteLevel"))
        return err_set(e, ERR_UNSUPPORTED, "%s: pre_tokenizer must end in ByteLevel and hold it once", what);
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: pre_tokenizer %s is not supported; ByteLevel, Split and Sequence are", what, type);
}

int pretoken_open(struct pretoken *p, const json_t *spec, const char *what, struct err *e)
{
    *p = (struct pretoken){0};
    if (!json_is_object(spec))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: pre_tokenizer must be an object: ByteLevel, or a Sequence that ends in it", what);
    const json_t *type = json_object_get(spec, "type");
    if (!json_is_string(type) || strcmp(json_string_value(type), "Sequence"))
        return add_one(p, spec, 1, what, e);
    const json_t *list = json_object_get(spec, "pretokenizers");
    size_t n = json_array_size(list);
    if (!n)
        return err_set(e, ERR_FORMAT, "%s: pre_tokenizer's Sequence has no \"pretokenizers\"", what);
    int rc = 0;
    for (size_t i = 0; !rc && i < n; i++)
        rc = add_one(p, json_array_get(list, i), i + 1 == n, what, e);
    return rc;
}

void pretoken_close(struct pretoken *p)
{
    for (int i = 0; i < p->n; i++)
        pcre2_code_free(p->stage[i].regex);
    *p = (struct pretoken){0};
}

static void scratch_init(struct pretoken_scratch *s)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(context, MATCH_STEPS);
    pcre2_set_heap_limit(context, MATCH_KIB);
    s->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MOST, NULL);
    pcre2_jit_stack_assign(context, NULL, s->stack);
    s->context = context;
    s->match = pcre2_match_data_create(1, NULL);
}

void pretoken_scratch_release(struct pretoken_scratch *s)
{
    pcre2_match_data_free(s->match);
    pcre2_match_context_free(s->context);
    pcre2_jit_stack_free(s->stack);
    for (int i = 0; i < PRETOKEN_STAGES; i++)
        str_release(&s->spaced[i]);
    *s = (struct pretoken_scratch){0};
}

struct walk {
    const struct pretoken *p;
    struct pretoken_scratch *s;
    pretoken_piece_fn *piece;
    void *context;
    struct err *e;
};

/* Finds the next match from `at` on: 1 and where it is, or 0 for none. */
static int match(const struct walk *w, int stage, const char *text, size_t n, size_t at, size_t *from,
                 size_t *to)
{
    const pcre2_code *regex = w->p->stage[stage].regex;
    pcre2_match_data *data = w->s->match;
    int rc = PCRE2_ERROR_JIT_STACKLIMIT;
    if (w->p->stage[stage].compiled)
        rc = pcre2_jit_match(regex, (PCRE2_SPTR)text, n, at, PCRE2_NO_UTF_CHECK, data, w->s->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(regex, (PCRE2_SPTR)text, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                         w->s->context);
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    if (rc < 0) {
        PCRE2_UCHAR why[200] = "";
        pcre2_get_error_message(rc, why, sizeof why);
        return err_set(w->e, ERR_UNSUPPORTED,
                       "the tokenizer's split pattern gave up at byte %zu of a text of %zu bytes: %s", at, n,
                       (const char *)why);
    }
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(data);
    *from = place[0];
    *to = place[1];
    return 1;
}

static int run(const struct walk *w, int stage, const char *text, size_t n)
{
    if (!n)
        return 0;
    if (stage == w->p->n) {
        w->piece(w->context, text, n);
        return 0;
    }
    if (!w->p->stage[stage].regex) {
        struct str *spaced = &w->s->spaced[stage];
        if (text[0] == ' ')
            return run(w, stage + 1, text, n);
        str_clear(spaced);
        str_putc(spaced, ' ');
        str_add(spaced, text, n);
        return run(w, stage + 1, spaced->data, spaced->len);
    }
    size_t at = 0, from = n, to = n;
    enum pretoken_known known = w->p->stage[stage].known;
    while (at < n) {
        if (known && (to = pretoken_ascii_end(known, text, n, at))) {
            int rc = run(w, stage + 1, text + at, to - at);
            if (rc)
                return rc;
            at = to;
            continue;
        }
        int rc = match(w, stage, text, n, at, &from, &to);
        if (rc < 0)
            return rc;
        if (!rc || to <= from)
            from = to = n;
        rc = run(w, stage + 1, text + at, from - at);
        if (!rc)
            rc = run(w, stage + 1, text + from, to - from);
        if (rc)
            return rc;
        at = to;
    }
    return 0;
}

int pretoken_split(const struct pretoken *p, struct pretoken_scratch *s, const char *text, size_t n,
                   pretoken_piece_fn *piece, void *context, struct err *e)
{
    if (!s->match)
        scratch_init(s);
    struct walk w = {p, s, piece, context, e};
    return run(&w, 0, text, n);
}
