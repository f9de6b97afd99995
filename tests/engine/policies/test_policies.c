/* Policy specs from text, with presets, defaults and error messages. Each row of policies.test is resolved
 * for the embedded model. Every published preset must have a row with all its options and one with its budget
 * rule in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pocket/pocket.h"
#include "engine/model/safetensors.h"
#include "engine/policies/policy.h"
#include "evalcore/base/file.h"
#include "tests/check.h"

/* Which presets have a row with their options (1) and one with their rule (2); which policies one with their
 * budget in tokens. */
enum { SHOWN = 64 };
static int shown[SHOWN][SHOWN], has_budget_row[SHOWN];

static void note_preset(const struct policy_spec *s, int what)
{
    for (size_t i = 0; policy_at(i) && i < SHOWN; i++)
        for (size_t k = 0; k < SHOWN && s->ops == policy_at(i) && s->preset && policy_presets(s->ops)[k].name;
             k++)
            if (!strcmp(policy_presets(s->ops)[k].name, s->preset))
                shown[i][k] |= what;
}

static void note_budget(const struct policy_spec *s)
{
    for (size_t i = 0; policy_at(i); i++)
        has_budget_row[i] |= s->ops == policy_at(i);
}

/* Prints what a row with @@ has after it: the three numbers of struct budget_at and the two of the budget. */
static void print_budget(struct str *out, const struct policy_spec *s, const char *row)
{
    struct budget_at at = {0};
    CHECK_INT(sscanf(row, "%lf %lf %lf", &at.context, &at.prompt, &at.longest), 3);
    struct policy_budget b = policy_budget_at(s, &at);
    str_printf(out, "%g %g %g %.10g %.10g", at.context, at.prompt, at.longest, b.tokens, b.whole);
    note_budget(s);
}

static void row(const char *path, long number, char *line)
{
    static const char *const marks[] = {" => ", " ~~ ", " @@ ", " !! "};
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec, full;
    static const struct policy_model pocket = {.path = "pocket", .n_layers = 8};
    struct str got = {0};
    char *split = NULL;
    int kind = 0;
    for (; kind < 4 && !(split = strstr(line, marks[kind])); kind++)
        ;
    if (!split) {
        fprintf(stderr, "%s:%ld: neither =>, ~~, @@ nor !!\n", path, number);
        CHECK(0);
        return;
    }
    *split = 0;
    if (policy_spec_text(&spec, line, &a, &e) || policy_spec_resolve(&full, &spec, &pocket, &a, &e)) {
        str_puts(&got, e.text);
    } else if (kind == 1) {
        struct str before = {0};
        policy_describe_budget(&full, &got);
        policy_describe_budget(&spec, &before); /* `list` and --dry-run print it without a model */
        CHECK(before.len > 8);
        str_release(&before);
        note_preset(&spec, 2);
    } else if (kind == 2) {
        print_budget(&got, &full, split + 4);
    } else {
        json_t *o = policy_spec_to_json(&full);
        json_canonical(&got, o);
        json_decref(o);
        note_preset(&spec, 1);
    }
    if ((kind < 3) != (e.code == 0) || strcmp(str_text(&got), split + 4)) {
        fprintf(stderr, "%s:%ld: %s\n  got  %s\n  want %s\n", path, number, line, str_text(&got), split + 4);
        CHECK(0);
    }
    CHECK(1);
    str_release(&got);
    arena_release(&a);
}

static void presets_have_rows(void)
{
    for (size_t i = 0; policy_at(i); i++)
        for (size_t k = 0; policy_presets(policy_at(i)) && policy_presets(policy_at(i))[k].name; k++) {
            if (shown[i][k] != 3)
                fprintf(stderr, "preset %s of %s lacks a row with =>, or one with ~~\n",
                        policy_presets(policy_at(i))[k].name, policy_name(policy_at(i)));
            CHECK_INT(shown[i][k], 3);
        }
}

static int check_budget(const struct policy_ops *ops, struct err *e)
{
    for (const char *k = ops->budget_keys; *k;) {
        char key[64];
        size_t n = strcspn(k, ",");
        snprintf(key, sizeof key, "%.*s", (int)n, k);
        if (!param_find(ops->params, key))
            return err_set(e, ERR_USAGE, "policy %s: budget_keys names \"%s\", which is not among its params",
                           ops->name, key);
        k += n + (k[n] == ',');
    }
    if (*ops->budget_keys && !ops->budget)
        return err_set(e, ERR_USAGE,
                       "policy %s: budget_keys is \"%s\", but there is no budget hook; without it reports "
                       "draw the policy in no figure over the budget",
                       ops->name, ops->budget_keys);
    if (*ops->budget_keys && (!ops->generous || !ops->tight))
        return err_set(e, ERR_USAGE,
                       "policy %s: budget_keys is \"%s\", but there are no options `generous` and `tight`, "
                       "which the tests of the laws need",
                       ops->name, ops->budget_keys);
    if (*ops->budget_keys && !ops->describe_budget)
        return err_set(e, ERR_USAGE, "policy %s: budget_keys is \"%s\", but there is no describe_budget hook",
                       ops->name, ops->budget_keys);
    return 0;
}

/* ERR_USAGE with the policy's name when it lacks what run files, help or reports need: a name, help, options,
 * budget keys that are among the options, and for these the budget hook. What is missing would not fail by
 * itself: the policy would run, and its cells would silently be absent from the figures of a report. */
static int check_complete(const struct policy_ops *ops, struct err *e)
{
    if (!ops->name || !*ops->name)
        return err_set(e, ERR_USAGE, "a policy has no name");
    if (!ops->help || !*ops->help)
        return err_set(e, ERR_USAGE, "policy %s: help is missing", ops->name);
    if (!ops->params)
        return err_set(e, ERR_USAGE,
                       "policy %s: params is missing; a policy without options has an empty table",
                       ops->name);
    if (!ops->budget_keys)
        return err_set(e, ERR_USAGE, "policy %s: budget_keys is missing; a policy without a budget has \"\"",
                       ops->name);
    return check_budget(ops, e);
}

/* Every registered policy is complete, and the check sees what is missing from one that is not. */
static void policies_are_complete(void)
{
    for (size_t i = 0; policy_at(i); i++) {
        struct err e = {0};
        int lacks_row = policy_at(i)->budget && !has_budget_row[i];
        if (check_complete(policy_at(i), &e) || lacks_row)
            fprintf(stderr, "%s: %s\n", policy_name(policy_at(i)), e.code ? e.text : "no row with @@");
        CHECK(!e.code && !lacks_row);
    }
    static const char *const refusals[] = {
        "policy incomplete: budget_keys is \"k_pages,ratio,cr\", but there is no budget hook; "
        "without it reports draw the policy in no figure over the budget",
        "policy incomplete: budget_keys names \"pages\", which is not among its params",
        "policy incomplete: budget_keys is \"k_pages,ratio,cr\", but there is no describe_budget hook",
        "policy incomplete: help is missing",
        "policy incomplete: budget_keys is \"k_pages,ratio,cr\", but there are no options "
        "`generous` and `tight`, which the tests of the laws need",
    };
    enum { PLANTED = sizeof refusals / sizeof *refusals };
    struct policy_ops planted[PLANTED];
    for (size_t i = 0; i < PLANTED; i++) {
        planted[i] = *policy_find("quest");
        planted[i].name = "incomplete";
    }
    planted[0].budget = NULL;
    planted[1].budget_keys = "k_pages,pages";
    planted[2].describe_budget = NULL;
    planted[3].help = NULL;
    planted[4].tight = NULL;
    for (size_t i = 0; i < PLANTED; i++) {
        struct err e = {0};
        CHECK_INT(check_complete(&planted[i], &e), ERR_USAGE);
        CHECK_STR(e.text, refusals[i]);
    }
}

/* Reports do not read a gate file, so its budget is not known as a number of tokens. */
static void gate_file(void)
{
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec;
    struct budget_at at = {.context = 1000, .prompt = 100, .longest = 1400};
    CHECK_INT(policy_spec_text(&spec, "dms:gate=gates.safetensors", &a, &e), 0);
    CHECK(isnan(policy_budget_at(&spec, &at).tokens) && isinf(policy_budget_at(&spec, &at).whole));
    arena_release(&a);
}

/* Tokens that a KV head of pocket holds, mean over its 8 layers, of a prompt of 336 tokens and 3,000 more. */
static void holds(void)
{
    static const struct {
        const char *what, *policy;
        double tokens;
    } rows[] = {
        {"full attention holds everything", "full", 3336},
        {"the dense layers of raas were left out", "raas:budget_tokens=64", (2 * 3336 + 6 * 416) / 8.0},
        {"raas without dense layers", "raas:budget_tokens=64,dense_layers=0", 416},
        {"no more dense layers than the model has", "raas:budget_tokens=64,dense_layers=100", 3336},
        {"a budget beyond the context", "raas:budget_tokens=8192", 3336},
        {"a mask forgets nothing", "raas:budget_tokens=64,preset=RaaS@22d925d", 3336},
    };
    const struct budget_at at = {.context = 3336, .prompt = 336, .longest = 3000, .n_layers = 8};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct arena a = {0};
        struct policy_spec spec;
        CHECK_INT(policy_spec_text(&spec, rows[i].policy, &a, &e), 0);
        double got = policy_held_at(&spec, &at);
        if (fabs(got - rows[i].tokens) > 1e-9)
            fprintf(stderr, "%s: %g tokens\n", rows[i].what, got);
        CHECK_NEAR(got, rows[i].tokens, 1e-9);
        arena_release(&a);
    }
}

static void periods(void)
{
    static const struct {
        const char *policy;
        int first, next;
    } rows[] = {
        {"full", 1, 1},
        {"tova:budget_tokens=64", 1, 1},
        {"snapkv:budget_tokens=128", 1, 1}, /* once, after the prompt */
        {"snapkv:budget_tokens=128,when=decode", 64, 64},
        {"snapkv:budget_tokens=1000,when=decode", 64, 24}, /* 1,000 are left; the next time is at 1,024 */
        {"snapkv:budget_tokens=128,when=decode,every=7", 7, 5},
        {"snapkv:cr=4,when=decode", 64, 32},  /* 96 are left */
        {"rkv:budget_tokens=1000", 128, 128}, /* by the context */
        {"random:budget_tokens=128", 64, 64}};
    const struct budget_at at = {.context = 300, .prompt = 284, .longest = 100, .n_layers = 8};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct arena a = {0};
        struct policy_spec spec;
        CHECK_INT(policy_spec_text(&spec, rows[i].policy, &a, &e), 0);
        struct policy_period period = policy_period(&spec, &at);
        CHECK_INT(period.first, rows[i].first);
        CHECK_INT(period.next, rows[i].next);
        arena_release(&a);
    }
}

/* Kascade less a tile has another rule than before, and with it other jobs; without a tile it has the old
 * ones. */
static void changed_rule(void)
{
    static const char *const rows[] = {"kascade:ratio=0.1", "kascade:preset=script"};
    for (int i = 0; i < 2; i++) {
        struct err e = {0};
        struct arena a = {0};
        struct policy_spec spec;
        size_t n = 0;
        CHECK_INT(policy_spec_text(&spec, rows[i], &a, &e), 0);
        const void *data = policy_data(&spec, &n);
        CHECK((data != NULL) == i && (!data || n > 0));
        arena_release(&a);
    }
}

/* How a model is recognised, and what is said when it is not. */
static void models(void)
{
    static const struct {
        const char *policy, *path, *name;
        int n_layers;
        const char *want; /* `taken`, or the message */
    } rows[] = {
        {"delta:k_pages=64", "models/DeepSeek-R1-Distill-Qwen-7B/", NULL, 28,
         "layers 2+14+22, published for DeepSeek-R1-Distill-Qwen-7B, which is the folder's name"},
        {"delta:k_pages=64", "h/models--deepseek-ai--DeepSeek-R1-Distill-Qwen-7B/snapshots/0123456789ab",
         NULL, 28,
         "layers 2+14+22, published for DeepSeek-R1-Distill-Qwen-7B, which is the folder's place in the "
         "Hub's "
         "cache"},
        {"delta:k_pages=64", "mine", "deepseek-r1-distill-qwen-14b", 48,
         "layers 2+6+42, published for DeepSeek-R1-Distill-Qwen-14B, which is the run file's \"model_name\""},
        {"kascade:preset=paper", "models/qwen3-8b", NULL, 36,
         "anchors 0+2+7+14+23 and their head map, published for Qwen3-8B, which is the folder's name"},
        {"kascade:preset=pooled", "models/qwen3-8b", NULL, 36,
         "anchors 0+2+7+14+23, published for Qwen3-8B, which is the folder's name"},
        {"kascade:preset=paper", "named", NULL, 36,
         "anchors 0+2+7+14+23 and their head map, published for Qwen3-8B, which is \"_name_or_path\" in "
         "config.json"},
        {"delta:k_pages=64,layers=3", "models/Qwen3-8B", NULL, 36, NULL},
        {"delta:k_pages=64", "models/Qwen3-8B", NULL, 36,
         "policy delta: \"layers\" is missing, and nobody has published them for this model of 36 layers. "
         "Looked "
         "for: Qwen3-8B (the folder's name). Write into the run file's entry of this policy \"layers\": [3, "
         "18, "
         "29], where the numbers are placeholders: find them with `kveval calibrate`. If it is one of "
         "pocket, "
         "DeepSeek-R1-Distill-Qwen-1.5B, DeepSeek-R1-Distill-Qwen-7B, DeepSeek-R1-Distill-Qwen-14B, "
         "DeepSeek-R1-Distill-Llama-8B, write \"model_name\" with that name beside \"model\""},
        /* the name alone does not make it the model */
        {"kascade:preset=paper", "a/Qwen3-8B", NULL, 4,
         "policy kascade: \"anchors\" is missing, and nobody has published them for this model of 4 layers. "
         "Looked for: Qwen3-8B (the folder's name). Write into the run file's entry of this policy "
         "\"anchors\": "
         "[0, 1, 2], where the numbers are placeholders: find them with `kveval calibrate`. If it is one of "
         "pocket, "
         "DeepSeek-R1-Distill-Llama-8B, Llama-3.1-8B, Llama-3.1-8B-Instruct, Meta-Llama-3.1-8B-Instruct, "
         "Qwen3-8B, write \"model_name\" with that name beside \"model\""},
        {"dms:cr=3", "pocket", NULL, 8,
         "policy dms: no gates for cr 3 ship with model pocket; cr may be one of 2, 4, 8, otherwise give "
         "\"gate\", a safetensors file"},
        {"dms:cr=2", "models/SmolLM2-135M-Instruct", NULL, 30,
         "gates for cr 2, published for SmolLM2-135M-Instruct, which is the folder's name"},
        {"dms:cr=4", "models/SmolLM2-135M-Instruct", NULL, 30,
         "gates for cr 4, published for SmolLM2-135M-Instruct, which is the folder's name"},
        {"dms:cr=8", "models/SmolLM2-135M-Instruct", NULL, 30,
         "gates for cr 8, published for SmolLM2-135M-Instruct, which is the folder's name"},
        {"dms:cr=3", "models/SmolLM2-135M-Instruct", NULL, 30,
         "policy dms: no gates for cr 3 ship with model models/SmolLM2-135M-Instruct; cr may be one of "
         "2, 4, 8, otherwise give \"gate\", a safetensors file"},
        {"dms:cr=2", "models/mine", NULL, 30,
         "policy dms: no gates for cr 2 ship with model models/mine; give \"gate\", a safetensors file "
         "(runs/gates/README.md shows how to train one); if it is one of SmolLM2-135M-Instruct, write "
         "\"model_name\" with that name beside \"model\""},
        {"dms:neuron=last", "pocket", NULL, 8,
         "policy dms: model pocket has no dms_window_size in config.json, so it was not trained to lend a "
         "neuron; give \"gate\", or \"window\" if it was"},
        {"dms:neuron=last,window=16,alpha_per=layer", "pocket", NULL, 8,
         "policy dms: a borrowed neuron decides for each KV head; alpha_per must be head"},
    };
    struct err made = {0};
    static const char config[] = "{\"_name_or_path\": \"Qwen/Qwen3-8B\"}";
    CHECK_INT(file_mkdirs("named", &made), 0);
    CHECK_INT(file_write_atomic("named/config.json", config, sizeof config - 1, &made), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct arena a = {0};
        struct policy_spec spec, full;
        struct policy_model m = {rows[i].path, rows[i].name, rows[i].n_layers, NULL};
        CHECK_INT(policy_spec_text(&spec, rows[i].policy, &a, &e), 0);
        int rc = policy_spec_resolve(&full, &spec, &m, &a, &e);
        CHECK_STR(rc ? e.text : full.taken ? full.taken : "", rows[i].want ? rows[i].want : "");
        /* Gates that ship are part of a job's identity: they may be trained anew. */
        size_t n = 0;
        int has_gates = !rc && !strncmp(rows[i].policy, "dms:cr", 6) && strstr(rows[i].path, "SmolLM2");
        CHECK(rc || (policy_data(&full, &n) && n > 1000) == has_gates);
        arena_release(&a);
    }
}

/* Gates that ship hold what the name of their file says. */
static void shipped(void)
{
    size_t i = 0;
    const struct shipped_gates *g;
    for (; (g = shipped_gates(i)); i++) {
        struct err e = {0};
        struct safetensors *s;
        CHECK_INT(safetensors_open_memory(&s, g->data, (size_t)(g->end - g->data), g->model, &e), 0);
        if (e.code)
            continue;
        const char *model = safetensors_meta(s, "model"), *cr = safetensors_meta(s, "target_cr");
        CHECK_STR(model ? model : "", g->model);
        CHECK_NEAR(cr ? strtod(cr, NULL) : 0, g->cr, 0);
        safetensors_close(s);
    }
    CHECK(i >= 3);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct file_lines l;
    const char *line;
    size_t n;
    if (argc < 2 || file_lines_open(&l, argv[1], &e))
        return 1;
    while (file_lines_next(&l, &line, &n, &e) == 1)
        if (n && *line != '#') {
            char *copy = strdup(line);
            row(argv[1], l.number, copy);
            free(copy);
        }
    file_lines_close(&l);
    presets_have_rows();
    policies_are_complete();
    gate_file();
    holds();
    periods();
    changed_rule();
    models();
    shipped();
    return check_done();
}
