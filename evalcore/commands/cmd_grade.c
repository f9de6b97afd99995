/* kveval grade: the grader of mathematical answers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/command_parts.h"

int filter_response(const json_t *in, const char *key, struct response *r, struct err *e)
{
    int t = THINKING_AUTO, f = FINISH_STOP;
    int rc = jsonl_text(in, key, &r->text, &r->len, e);
    if (!rc)
        rc = jsonl_word(in, "thinking", thinking_names, &t, e);
    if (!rc)
        rc = jsonl_word(in, "finish", finish_names, &f, e);
    r->thinking = (enum thinking)t;
    r->finish = (enum finish)f;
    return rc;
}

/* "match_types": which of Math-Verify's targets count. */
static int read_match_types(const json_t *in, struct grade_options *o, struct err *e)
{
    const json_t *list = json_object_get(in, "match_types");
    if (!list || json_is_null(list))
        return 0;
    if (!json_array_size(list))
        return err_set(e, ERR_FORMAT, "field \"match_types\" must be a list that is not empty");
    o->latex = o->expr = o->string = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name || grade_match_type(o, name))
            return err_set(e, ERR_FORMAT, "field \"match_types\" may hold latex, expr and string");
    }
    return 0;
}

/* "rule": rules of mode strict. */
static int read_rules(const json_t *in, struct grade_rules *rules, struct err *e)
{
    static const char where[] = "field \"rule\"";
    json_t *field = json_object_get(in, "rule"), *v;
    const char *key;
    int rc = 0;
    if (!field || json_is_null(field))
        return 0;
    if (!json_is_object(field))
        return err_set(e, ERR_FORMAT, "%s must be an object: {\"percent\": \"number\"}", where);
    json_object_foreach(field, key, v)
    {
        rc = param_set_json(grade_rule_params, rules, NULL, key, v, where, e);
        if (rc)
            break;
    }
    return rc;
}

/* The optional fields of a line that say how to grade; those after `rule` are Math-Verify's, for compat. */
static int read_options(const json_t *in, struct grade_options *o, struct err *e)
{
    int rc = read_rules(in, &o->rules, e);
    if (!rc)
        rc = read_match_types(in, o, e);
    for (const struct param *p = grade_option_params; !rc && p->name; p++) {
        const json_t *v = json_object_get(in, p->name);
        if (v && !json_is_null(v))
            rc = param_set_json(grade_option_params, o, NULL, p->name, v, "grade", e);
    }
    return rc;
}

/* The rules that are not the default, NULL when all are. */
static json_t *changed_rules(const struct grade_rules *rules)
{
    json_t *all = param_json(grade_rule_params, rules),
           *usual = param_json(grade_rule_params, &grade_options_default.rules), *v;
    const char *key;
    json_object_foreach(usual, key, v) if (json_equal(json_object_get(all, key), v))
        json_object_del(all, key);
    json_decref(usual);
    if (json_object_size(all))
        return all;
    json_decref(all);
    return NULL;
}

/* What holds for all lines. */
struct grading {
    struct grade_rules rules; /* for lines that name none */
    int explain;
};

/* Which rule took what from where, in the order in which places were looked at. */
static json_t *explain_places(const struct grade *g)
{
    json_t *all = json_array();
    for (int i = 0; i < g->n_places; i++) {
        const struct grade_step *p = &g->places[i];
        json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:o*}", "rule", p->rule, "took",
                                             json_text_of(p->took), "at",
                                             p->at < 0 ? json_null() : json_integer(p->at), "then",
                                             p->then ? json_text_of(p->then) : NULL));
    }
    return all;
}

/* The answer of a line: what every mode says, and with --explain the places and both readings. */
static json_t *grade_answer(const struct grade *g, const struct grade_options *o, int explain)
{
    json_t *out = json_pack("{s:s, s:o, s:s*, s:o, s:o, s:o*}", "verdict", verdict_name(g->verdict), "reason",
                            json_text_of(g->reason), "how", g->how, "gold_form", json_text_of(g->gold_form),
                            "pred_form", json_text_of(g->pred_form), "rule",
                            o->mode == GRADE_STRICT ? changed_rules(&o->rules) : NULL);
    if (out && explain && (g->gold_latex || g->n_places))
        json_object_set_new(out, "explain",
                            json_pack("{s:o, s:o*, s:o*}", "places", explain_places(g), "gold",
                                      g->gold_latex ? json_text_of(g->gold_latex) : NULL, "pred",
                                      g->pred_latex ? json_text_of(g->pred_latex) : NULL));
    return out;
}

static json_t *grade_line(void *context, const json_t *in, struct err *e)
{
    struct arena a = {0};
    struct grade g = {0};
    struct grade_options o = grade_options_default;
    struct response r = {0};
    const char *gold = NULL;
    size_t n = 0;
    const struct grading *all = context;
    o.rules = all->rules;
    int rc = jsonl_text(in, "gold", &gold, &n, e);
    if (!rc)
        rc = filter_response(in, "pred", &r, e);
    if (!rc)
        rc = read_options(in, &o, e);
    if (!rc && grade_math_as(&g, gold, n, &r, &o, &a))
        rc = err_set(e, ERR_FORMAT, "%s", g.reason ? g.reason : "the reference answer cannot be read");
    json_t *out = rc ? NULL : grade_answer(&g, &o, all->explain);
    arena_release(&a);
    return out;
}

struct flags {
    struct cli_list rule;
    int explain;
};

static const struct cli_option options[] = {
    {"rule", 0, CLI_LIST, offsetof(struct flags, rule), "NAME=VALUE",
     .help = "a rule for all lines that do not name it themselves; may be repeated"},
    {"explain", 0, CLI_FLAG, offsetof(struct flags, explain), NULL,
     .help = "add \"explain\": which rule took what from where, and both answers as they were read, in "
             "LaTeX (mode strict)"},
    {0},
};

static int set_rules(struct grade_rules *rules, const struct cli_list *list, struct err *e)
{
    for (int i = 0; i < list->n; i++)
        if (param_set_pairs(grade_rule_params, rules, NULL, list->v[i], "--rule", e))
            return -1;
    return 0;
}

static int run_grade(const struct process_env *p, int argc, char **argv)
{
    struct flags f = {0};
    struct grading all = {.rules = grade_options_default.rules};
    struct err e = {0};
    const char *path = NULL;
    int n, code = command_parse(&cmd_grade, &f, argc, argv, &path, 0, 1, &n);
    (void)p;
    if (code >= 0)
        return code;
    if (set_rules(&all.rules, &f.rule, &e))
        return command_fail(&e, EXIT_USAGE);
    all.explain = f.explain;
    const struct jsonl j = {
        .fn = grade_line,
        .context = &all,
        .error_fields = "{\"verdict\":\"error\",\"reason\":\"\",\"gold_form\":\"\",\"pred_form\":\"\"}"};
    return jsonl_run(&j, path);
}

const struct command cmd_grade = {
    .name = "grade",
    .usage = "[FILE]",
    .help = "grade mathematical answers, JSONL in and out",
    .details =
        "in:  {\"gold\", \"pred\"} and optionally \"mode\": \"strict\"|\"compat\", \"thinking\": "
        "\"auto\"|\"open\"|\"none\",\n"
        "     \"finish\": \"stop\"|\"length\"; for strict, \"rule\": {NAME: VALUE}; for compat, which\n"
        "     gives Math-Verify 0.8.0's verdicts, its \"match_types\", \"boxed_match_priority\",\n"
        "     \"float_rounding\", \"strict\", \"allow_set_relation_comp\"\n"
        "out: {\"verdict\", \"reason\", \"gold_form\", \"pred_form\"}, \"rule\" with the rules that are not\n"
        "     at their default, and for strict \"how\" an equality was found: \"exact\"; \"certified\" by\n"
        "     intervals; \"probed\" at points; or of \"text\"\n\n"
        "A decimal reference of at least three significant digits, such as 0.667, is met by every exact\n"
        "value and finer decimal that rounds to it; a shorter one, 0.67, is exact. An exact reference\n"
        "is also met by a decimal of at least four significant digits that is rounded correctly. A mark\n"
        "(unit, currency, degrees) that stands on one side only is dropped or kept.\n\n"
        "rules of mode strict, for --rule and the field \"rule\" of a line:",
    .params = grade_rule_params,
    .options = options,
    .prints_data = 1,
    .run = run_grade,
};
