/* RULER (arXiv 2404.06654; code: NVIDIA/RULER) at any length: its eleven families of generated problems, with
 * its wording, numbers and scores. Words and filler text are our own (ruler_text.h), and so are the draws, so
 * the problems are not RULER's but of its kind. Its two question answering sets need SQuAD and HotpotQA and
 * are left out.
 *
 * The length is in the model's tokens: prompt with chat form and answer prefix, and the tokens to generate,
 * take at most `tokens`, and the haystack is the largest that fits, found for each problem. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "tasks/rows.h"
#include "tasks/ruler_gen.h"
#include "tasks/task_list.h"

/* Of vt the smallest size has a place for each line of a chain. CWE_SIZE: the ten common words. FWE_SIZE:
 * from 74 words on the counts of ranks 4 and 5 differ, so that three words are the most frequent ones behind
 * the dots. */
enum { RULER_PROBLEMS = 100, VT_EXAMPLE_TOKENS = 500, CWE_SIZE = 10, FWE_SIZE = 74 };

/* scripts/synthetic.yaml. Where one value is asked for, the wording is "niah_one". */
static const struct ruler_family families[] = {
    {"niah_single_1", "niah_one", ruler_niah, 1, RULER_NOISE, RULER_WORDS, RULER_NUMBERS, 1, 1, 1},
    {"niah_single_2", "niah_one", ruler_niah, 1, RULER_ESSAY, RULER_WORDS, RULER_NUMBERS, 1, 1, 1},
    {"niah_single_3", "niah_one", ruler_niah, 1, RULER_ESSAY, RULER_WORDS, RULER_UUIDS, 1, 1, 1},
    {"niah_multikey_1", "niah_one", ruler_niah, 1, RULER_ESSAY, RULER_WORDS, RULER_NUMBERS, 4, 1, 1},
    {"niah_multikey_2", "niah_one", ruler_niah, 1, RULER_NEEDLES, RULER_WORDS, RULER_NUMBERS, 1, 1, 1},
    {"niah_multikey_3", "niah_one", ruler_niah, 1, RULER_NEEDLES, RULER_UUIDS, RULER_UUIDS, 1, 1, 1},
    {"niah_multivalue", "niah", ruler_niah, 1, RULER_ESSAY, RULER_WORDS, RULER_NUMBERS, 1, 4, 1},
    {"niah_multiquery", "niah", ruler_niah, 1, RULER_ESSAY, RULER_WORDS, RULER_NUMBERS, 4, 1, 4},
    {.name = "vt", .protocol = "vt", .make = ruler_vt},
    {.name = "cwe", .protocol = "cwe", .make = ruler_cwe, .min_size = CWE_SIZE},
    {.name = "fwe", .protocol = "fwe", .make = ruler_fwe, .min_size = FWE_SIZE},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

static const char *family_name(size_t i)
{
    return i < N_FAMILIES ? families[i].name : NULL;
}

static int find_family(const struct ruler_family **out, const char *name, struct err *e)
{
    for (int i = 0; name && i < N_FAMILIES; i++)
        if (!strcmp(families[i].name, name)) {
            *out = &families[i];
            return 0;
        }
    struct str names = {0};
    for (int i = 0; i < N_FAMILIES; i++)
        str_printf(&names, "%s%s", i ? ", " : "", families[i].name);
    int rc =
        name ? err_set(e, ERR_USAGE, "task ruler: it has no subset \"%.80s\"; it has %s", name, names.data)
             : err_set(e, ERR_USAGE, "task ruler: name a family with subset: %s", names.data);
    str_release(&names);
    return rc;
}

_Static_assert((int)RULER_HOPS_MAX < (int)RULER_GOLDS_MAX, "all variables of a chain are asked for");

/* Fills c->chains and c->hops. */
static int read_chains(struct ruler_call *c, const struct task *t, struct err *e)
{
    int chains = t->options.chains, hops = t->options.hops;
    if (c->family->make != ruler_vt && (chains != PARAM_UNSET_INT || hops != PARAM_UNSET_INT))
        return err_set(e, ERR_USAGE, "task ruler: %s is an option of the subset vt; %s has none, remove it",
                       chains != PARAM_UNSET_INT ? "chains" : "hops", c->family->name);
    c->chains = chains == PARAM_UNSET_INT ? RULER_CHAINS : chains;
    c->hops = hops == PARAM_UNSET_INT ? RULER_HOPS : hops;
    return 0;
}

/* What the family is called where its numbers are other than RULER's: "vt-40-0". */
static const char *form_name(const struct ruler_call *c, struct arena *a)
{
    if (c->family->make != ruler_vt || (c->chains == RULER_CHAINS && c->hops == RULER_HOPS))
        return c->family->name;
    return arena_printf(a, "%s-%d-%d", c->family->name, c->chains, c->hops);
}

static int smallest_size(const struct ruler_call *c)
{
    return c->family->make == ruler_vt ? c->hops + 1 : c->family->min_size;
}

static int check_length(const struct task *t, struct err *e)
{
    int tokens = t->options.tokens;
    if (tokens == PARAM_UNSET_INT)
        return err_set(
            e, ERR_USAGE,
            "task ruler: say with tokens how many of the model's tokens prompt and completion fill, "
            "for example 4096");
    if (!t->counter)
        return err_set(
            e, ERR_USAGE,
            "task ruler: its problems have a length in a model's tokens, and there is no model here");
    if (tokens > t->counter->limit)
        return err_set(e, ERR_USAGE,
                       "task ruler: tokens is %d, but prompt and completion together may have %d "
                       "(max_total_tokens or the context); lower it or use a model with a longer context",
                       tokens, t->counter->limit);
    return 0;
}

/* ---- the largest haystack that fits ---- */

struct search {
    const struct ruler_call *call;
    const struct task_counter *counter;
    ruler_make_fn make;
    int max_prompt; /* tokens of the prompt at most */
    int no_chat;    /* 1: count it as a bare text */
    struct ruler_draft *draft;
    int tokens; /* of the draft */
};

/* Makes the draft with that size: 1 when it fits, 0 when not, or an error. */
static int try_size(struct search *s, int size, struct err *e)
{
    s->make(s->draft, s->call, size);
    struct problem p = {.prompt = str_text(&s->draft->prompt),
                        .prompt_len = s->draft->prompt.len,
                        .answer_prefix = str_text(&s->draft->answer_prefix),
                        .no_chat = s->no_chat};
    s->tokens = s->counter->count(s->counter->context, &p, e);
    return s->tokens < 0 ? s->tokens : s->tokens <= s->max_prompt;
}

/* Leaves the draft of the largest size that fits, one more of which does not, and puts it into *size, where
 * the search begins; the smallest does not fit: 0. Neighbouring problems differ little, so it takes growing
 * steps away from there until it has passed the place, and then halves. */
static int find_size(struct search *s, int smallest, int *size, struct err *e)
{
    int low = *size > smallest ? *size : smallest, high = low, step = 1;
    int fits = try_size(s, low, e);
    for (; fits == 0 && low > smallest; step *= 2) {
        high = low;
        low = low - step > smallest ? low - step : smallest;
        fits = try_size(s, low, e);
    }
    if (fits <= 0)
        return fits;
    for (; fits > 0 && high == low; step *= 2) {
        fits = try_size(s, low + step, e);
        if (fits > 0)
            high = low = low + step;
        else
            high = low + step;
    }
    while (fits >= 0 && high - low > 1) {
        int middle = low + (high - low) / 2;
        fits = try_size(s, middle, e);
        if (fits > 0)
            low = middle;
        else
            high = middle;
    }
    if (fits < 0)
        return fits;
    *size = low;
    fits = try_size(s, low, e);
    return fits;
}

/* The example of vt is the same size for all problems: RULER's 500 tokens without a chat form, or half of a
 * length that is shorter than two of these. */
static int size_example(struct ruler_call *c, struct ruler_draft *d, const struct task_counter *counter,
                        struct err *e)
{
    int max_prompt = c->tokens / 2 < VT_EXAMPLE_TOKENS ? c->tokens / 2 : VT_EXAMPLE_TOKENS;
    struct search s = {.call = c,
                       .counter = counter,
                       .make = ruler_vt_example,
                       .max_prompt = max_prompt,
                       .no_chat = 1,
                       .draft = d};
    c->example_size = smallest_size(c);
    int rc = find_size(&s, smallest_size(c), &c->example_size, e);
    return rc < 0 ? rc : 0; /* one that is too long leaves no tokens, and the problem's own message says so */
}

static void add_problem(struct rows *rows, const struct ruler_call *c, const struct ruler_draft *d,
                        int max_new)
{
    struct task *t = rows->task;
    const char *form = form_name(c, &t->arena);
    rows->line = c->index + 1;
    struct problem *p = rows_add(rows);
    p->id = arena_printf(&t->arena, "%s-%d-s%d-%03d", form, c->tokens, t->options.seed, c->index);
    problem_set_prompt(p, t, str_text(&d->prompt), d->prompt.len);
    /* the haystack follows from the length, the tokenizer and the chat form; what is asked does not */
    const char *asked = arena_printf(&t->arena, "ruler %s version %s seed %d problem %d", form,
                                     t->ops->version, t->options.seed, c->index);
    problem_set_hash(p, asked, strlen(asked));
    p->answer_prefix = arena_strdup(&t->arena, str_text(&d->answer_prefix));
    p->subset = c->family->name;
    p->max_new_tokens = max_new;
    const char **golds = arena_alloc(&t->arena, (size_t)d->n_golds * sizeof *golds);
    for (int i = 0; i < d->n_golds; i++)
        golds[i] = arena_strdup(&t->arena, d->gold[i].s);
    p->golds = golds;
    p->n_golds = d->n_golds;
    p->gold = golds[0];
    p->gold_len = strlen(golds[0]);
}

static int generate_problems(struct task *t, struct ruler_call *c, struct err *e)
{
    int n = t->options.problems == PARAM_UNSET_INT ? RULER_PROBLEMS : t->options.problems, size = 0, rc = 0;
    int max_new = (int)json_integer_value(
        json_object_get(json_object_get(c->protocol, "max_new_tokens"), c->family->protocol));
    struct rows rows = {.task = t};
    struct ruler_draft draft = {0};
    if (c->family->make == ruler_vt)
        rc = size_example(c, &draft, t->counter, e);
    for (c->index = 0; c->index < n && !rc; c->index++) {
        struct search s = {.call = c,
                           .counter = t->counter,
                           .make = c->family->make,
                           .max_prompt = c->tokens - max_new,
                           .draft = &draft};
        int fits = find_size(&s, smallest_size(c), &size, e);
        if (fits > 0)
            add_problem(&rows, c, &draft, max_new);
        else
            rc = fits < 0 ? fits
                          : err_set(e, ERR_USAGE,
                                    "task ruler: the smallest problem of %s takes %d of this model's tokens, "
                                    "with %d to generate; raise tokens, which is %d",
                                    c->family->name, s.tokens + max_new, max_new, c->tokens);
    }
    if (!rc)
        rc = rows_finish(&rows, e);
    rows_release(&rows);
    ruler_draft_release(&draft);
    return rc;
}

static int load_ruler(struct task *t, const char *path, struct err *e)
{
    (void)path; /* always NULL: the task has no fields */
    json_t *protocol = NULL;
    struct ruler_call c = {.tokens = t->options.tokens};
    const char *text = task_prompt_text("ruler");
    int rc = find_family(&c.family, t->options.subset, e);
    if (!rc)
        rc = read_chains(&c, t, e);
    if (!rc)
        rc = check_length(t, e);
    if (!rc)
        rc = json_read_text(&protocol, text, strlen(text), "tasks/prompts/ruler.json", e);
    if (rc)
        return rc;
    struct str what = {0};
    /* neither the length nor the number of problems: problem i asks for the same in both */
    str_printf(&what, "ruler %s version %s seed %d", form_name(&c, &t->arena), t->ops->version,
               t->options.seed);
    c.key = hash_bytes64(what.data, what.len);
    c.protocol = protocol;
    str_printf(&what, " tokens %d", c.tokens);
    sha256_hex(what.data, what.len, t->source, 64);
    str_release(&what);
    rc = generate_problems(t, &c, e);
    json_decref(protocol);
    return rc;
}

/* RULER's string_match_all: the share of the references that occur anywhere in the completion, thinking
 * included. */
static int grade_ruler(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    struct str golds = {0};
    int found = 0;
    if (grade_blank(out, r, r->text, r->len))
        return 0;
    for (int i = 0; i < p->n_golds; i++) {
        struct textscore_call c = {.metric = "string_match_all",
                                   .pred = r->text,
                                   .pred_len = r->len,
                                   .gold = p->golds[i],
                                   .gold_len = strlen(p->golds[i])};
        struct err e = {0};
        double score = 0;
        if (textscore(&score, &c, &e)) {
            *out = (struct grade){.verdict = VERDICT_ERROR,
                                  .reason = arena_strdup(a, e.text),
                                  .gold_form = "",
                                  .pred_form = ""};
            str_release(&golds);
            return 0;
        }
        found += score > 0;
        str_printf(&golds, "%s%s", i ? ", " : "", p->golds[i]);
    }
    *out = (struct grade){
        .verdict = found == p->n_golds ? VERDICT_CORRECT : VERDICT_WRONG,
        .score = p->n_golds ? (double)found / p->n_golds : 0,
        .reason = arena_printf(a, "%d of %d references occur in the completion.", found, p->n_golds),
        .gold_form = grade_form(a, str_text(&golds), golds.len),
        .pred_form = grade_form(a, r->text, r->len)};
    str_release(&golds);
    return 0;
}

const struct task_ops task_ruler = {
    .name = "ruler",
    .help = "RULER: retrieval, tracing and aggregation in a generated text of any length",
    .version = "1",
    .options = "subset,tokens,seed,chains,hops",
    .metric = "score",
    .expected_tokens = 64,
    .subset = family_name,
    .load = load_ruler,
    .grade = grade_ruler,
};
