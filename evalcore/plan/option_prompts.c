/* From problems with options to token ids (contract: option_prompts.h). What is done follows
 * TemplateLM._encode_pair() and HFLM.tok_encode() of lm-evaluation-harness 0.4.9. */
#include "evalcore/plan/option_prompts.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/str.h"
#include "evalcore/store/job_key.h"

/* What is rendered just now. */
struct pair {
    struct prompt_renderer *r;
    const struct problem *problem;
    int option;
    struct token_list context, whole;
};

static int refuse(const struct pair *p, const char *why, struct err *e)
{
    return err_set(e, ERR_USAGE, "%s, problem %s, option %c: %s", p->r->set->label, p->problem->id,
                   'A' + p->option, why);
}

static int takes_begin(const struct engine_info *info)
{
    return !strncmp(info->family, "gemma", strlen("gemma"));
}

static int encode(struct pair *p, const char *text, size_t n, struct token_list *out, struct err *e)
{
    const int32_t *before;
    size_t n_before = takes_begin(p->r->info) ? tokenizer_before(p->r->tokenizer, &before) : 0;
    out->n = 0;
    for (size_t i = 0; i < n_before; i++)
        token_list_add(out, before[i]);
    return tokenizer_encode(p->r->tokenizer, &p->r->scratch, text, n, 0, out, e);
}

static int refuse_long(const struct pair *p, size_t n_given, struct err *e)
{
    struct str advice = {0}, why = {0};
    engine_context_advice(p->r->info, &advice);
    str_printf(&why,
               "its context of %zu tokens and its own %zu do not fit the model's context of %d; use fewer "
               "examples, or leave the problem out (--sample-ids)%s",
               p->context.n, n_given, p->r->info->max_context, str_text(&advice));
    int rc = refuse(p, str_text(&why), e);
    str_release(&advice);
    str_release(&why);
    return rc;
}

static int encode_option(struct pair *p, const struct problem_option *o, struct err *e)
{
    const char *context = o->context ? o->context : p->problem->prompt;
    size_t n = o->context ? o->context_len : p->problem->prompt_len, kept = n, space;
    struct str whole = {0};
    while ((space = str_space_before(context, kept)))
        kept -= space;
    str_add(&whole, context, n);
    str_add(&whole, o->text, o->text_len);
    int rc = encode(p, context, kept, &p->context, e);
    if (!rc)
        rc = encode(p, str_text(&whole), whole.len, &p->whole, e);
    str_release(&whole);
    if (rc)
        return err_add(e, "%s, problem %s, option %c", p->r->set->label, p->problem->id, 'A' + p->option), rc;
    if (!p->context.n)
        return refuse(p, "nothing stands before it; an option is scored behind a context", e);
    if (p->whole.n <= p->context.n)
        return refuse(p, "it has no token behind its context, so there is nothing to score", e);
    if (p->whole.n > (size_t)p->r->info->max_context)
        return refuse_long(p, p->whole.n - p->context.n, e);
    return 0;
}

static int is_same(const struct prompt_set *s, const struct prompt_option *last, const struct token_list *ids)
{
    return (size_t)last->n_context == ids->n &&
           !memcmp(s->ids.id + last->context, ids->id, ids->n * sizeof *ids->id);
}

/* Appends the tokens to the set's; those of a context that the option before has are there already. */
static void add_option(struct prompt_set *s, const struct pair *p, struct prompt_option *out,
                       const struct prompt_option *last)
{
    *out = (struct prompt_option){
        .context = s->ids.n, .n_context = (int)p->context.n, .n_given = (int)(p->whole.n - p->context.n)};
    if (last && is_same(s, last, &p->context))
        out->context = last->context;
    else
        for (size_t i = 0; i < p->context.n; i++)
            token_list_add(&s->ids, p->context.id[i]);
    out->given = s->ids.n;
    for (size_t i = p->context.n; i < p->whole.n; i++)
        token_list_add(&s->ids, p->whole.id[i]);
}

/* The row's hash is of all that the likelihoods of its options depend on. A negative first number keeps it
 * from being that of a prompt. */
static void hash_row(const struct prompt_set *s, const struct prompt_option *o, int n, struct prompt_row *row)
{
    struct token_list all = {0};
    token_list_add(&all, -1 - s->task.options.scored);
    for (int i = 0; i < n; i++) {
        token_list_add(&all, o[i].n_context);
        token_list_add(&all, o[i].n_given);
        for (int k = 0; k < o[i].n_context; k++)
            token_list_add(&all, s->ids.id[o[i].context + (size_t)k]);
        for (int k = 0; k < o[i].n_given; k++)
            token_list_add(&all, s->ids.id[o[i].given + (size_t)k]);
    }
    job_hash_ids(all.id, all.n, row->sha256);
    token_list_release(&all);
}

static int render_one(struct pair *p, struct prompt_set *s, size_t q, struct err *e)
{
    struct problem *problem = &s->task.problems[q];
    struct prompt_option *options = s->options + q * ENGINE_OPTIONS_MAX;
    struct prompt_row *row = &s->rows[q];
    int rc = 0, given = 0;
    p->problem = problem;
    *row = (struct prompt_row){.first = s->ids.n, .end_token = -1};
    for (p->option = 0; p->option < problem->n_options && !rc; p->option++) {
        rc = encode_option(p, &problem->options[p->option], e);
        if (!rc) {
            add_option(s, p, &options[p->option], p->option ? &options[p->option - 1] : NULL);
            given += options[p->option].n_given;
            row->n = row->n > options[p->option].n_context ? row->n : options[p->option].n_context;
        }
    }
    if (rc)
        return rc;
    problem->max_new_tokens = given; /* as many are decoded, no more and no fewer */
    hash_row(s, options, problem->n_options, row);
    return 0;
}

int option_prompts_render(struct prompt_set *s, struct prompt_renderer *r, struct err *e)
{
    struct pair p = {.r = r};
    int rc = prompts_has_tokenizer(r, e);
    s->rows = xcalloc(s->task.n_problems + 1, sizeof *s->rows);
    s->options = xcalloc(s->task.n_problems * ENGINE_OPTIONS_MAX + 1, sizeof *s->options);
    for (size_t q = 0; q < s->task.n_problems && !rc; q++)
        rc = render_one(&p, s, q, e);
    token_list_release(&p.context);
    token_list_release(&p.whole);
    return rc;
}
