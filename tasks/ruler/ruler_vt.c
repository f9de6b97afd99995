/* RULER's variable tracking (scripts/data/synthetic/variable_tracking.py): one chain of five variables, four
 * assignments after the first, stands in noise. A solved example with shorter names comes before it; RULER
 * gives that one 500 tokens. */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/prompt_fill.h"
#include "tasks/ruler/ruler_gen.h"

enum { VARIABLES = 5, NAME_LETTERS = 5, EXAMPLE_LETTERS = 3 };

struct chain {
    struct ruler_string name[VARIABLES], line[VARIABLES];
    char value[8];
};

static void draw_name(struct ruler_string *out, int letters, struct rng *r)
{
    for (int i = 0; i < letters; i++)
        out->s[i] = (char)('A' + rng_below(r, 26));
    out->s[letters] = 0;
}

/* The blank behind "VAR B = VAR A" is RULER's. */
static void draw_chain(struct chain *out, int letters, struct rng *r)
{
    for (int i = 0; i < VARIABLES; i++) {
        int seen;
        do {
            draw_name(&out->name[i], letters, r);
            seen = 0;
            for (int k = 0; k < i; k++)
                seen |= !strcmp(out->name[k].s, out->name[i].s);
        } while (seen);
    }
    snprintf(out->value, sizeof out->value, "%u", 10000 + rng_below(r, 90000));
    for (int i = 0; i < VARIABLES; i++) {
        struct str line = {0};
        if (i)
            str_printf(&line, "VAR %s = VAR %s ", out->name[i].s, out->name[i - 1].s);
        else
            str_printf(&line, "VAR %s = %s", out->name[i].s, out->value);
        snprintf(out->line[i].s, sizeof out->line[i].s, "%s", line.data);
        str_release(&line);
    }
}

static void next_noise(void *context, struct str *out)
{
    str_puts(out, ruler_noise(context));
}

/* Fills the templates for a chain, whose lines stand in order before any of the lines of noise. */
static void add_problem(struct ruler_draft *d, const struct ruler_call *c, const struct chain *chain,
                        int size, struct rng *places)
{
    int at[VARIABLES];
    char count[12];
    struct str context = {0};
    ruler_sample(at, VARIABLES, size, places);
    struct ruler_mix mix = {.unit = next_noise,
                            .context = (void *)(uintptr_t)c,
                            .size = size,
                            .separator = "\n",
                            .needle = chain->line,
                            .at = at,
                            .n_needles = VARIABLES};
    ruler_mix(&context, &mix);
    snprintf(count, sizeof count, "%d", VARIABLES);
    struct prompt_field fields[] = {{"context", context.data, context.len},
                                    {"query", chain->value, strlen(chain->value)},
                                    {"num_v", count, strlen(count)}};
    prompt_fill(&d->prompt, ruler_protocol(c, "prompt", "vt"), fields, 3);
    prompt_fill(&d->answer_prefix, ruler_protocol(c, "answer_prefix", "vt"), fields, 3);
    str_release(&context);
    for (int i = 0; i < VARIABLES; i++)
        d->gold[i] = chain->name[i];
    d->n_golds = VARIABLES;
}

void ruler_vt_example(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    struct chain chain;
    struct rng asked, places;
    ruler_rng(&asked, c, RULER_EXAMPLE);
    ruler_rng(&places, c, RULER_EXAMPLE_PLACES);
    str_clear(&d->prompt);
    str_clear(&d->answer_prefix);
    draw_chain(&chain, EXAMPLE_LETTERS, &asked);
    add_problem(d, c, &chain, size, &places);
}

void ruler_vt(struct ruler_draft *d, const struct ruler_call *c, int size)
{
    struct chain chain;
    struct rng asked, places;
    ruler_vt_example(d, c, c->example_size);
    str_add(&d->prompt, d->answer_prefix.data, d->answer_prefix.len);
    for (int i = 0; i < VARIABLES; i++)
        str_printf(&d->prompt, " %s", d->gold[i].s);
    str_puts(&d->prompt, "\n\n");
    str_clear(&d->answer_prefix);
    ruler_rng(&asked, c, RULER_ASKED);
    ruler_rng(&places, c, RULER_PLACES);
    draw_chain(&chain, NAME_LETTERS, &asked);
    add_problem(d, c, &chain, size, &places);
}
