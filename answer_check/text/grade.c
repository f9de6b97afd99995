/* Verdicts and the rules on which graders differ (contracts: grade.h, response.h). */
#include "answer_check/text/response.h"

#include <string.h>

/* ---- the names of the verdicts, used alike by journals, tables and commands ---- */

static const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_CORRECT] = "correct",   [VERDICT_WRONG] = "wrong",           [VERDICT_AMBIGUOUS] = "ambiguous",
    [VERDICT_UNPARSED] = "unparsed", [VERDICT_UNFINISHED] = "unfinished", [VERDICT_TRUNCATED] = "truncated",
    [VERDICT_ERROR] = "error",
};

const char *verdict_name(enum verdict v)
{
    return (unsigned)v < VERDICT_COUNT ? verdict_names[v] : "error";
}

int verdict_find(const char *name, enum verdict *out)
{
    for (int i = 0; i < VERDICT_COUNT; i++) {
        if (!strcmp(verdict_names[i], name)) {
            *out = (enum verdict)i;
            return 1;
        }
    }
    return 0;
}

const char *const thinking_names[] = {"auto", "open", "none", NULL}, *const finish_names[] = {"stop",
                                                                                              "length", NULL};

/* ---- the rules: their names and values in fields of a line, in flags and in reports. What they do is in
 * equal_value.c and equal_collection.c. ---- */

#define AT(member) offsetof(struct grade_rules, member)

static const char *const percents[] = {"hundredth", "number", NULL}, *const marks[] = {"drop", "keep", NULL},
                         *const decimals[] = {"round", "exact", NULL},
                         *const duplicates[] = {"count", "collapse", NULL};

const struct param grade_rule_params[] = {
    {"percent", PARAM_ENUM, AT(percent), "hundredth", 0, 0, percents, "25% is 1/4; number: it is 25 as well"},
    {"units", PARAM_ENUM, AT(units), "drop", 0, 0, marks, "3 cm is 3, $5 is 5; keep: neither is"},
    {"degrees", PARAM_ENUM, AT(degrees), "drop", 0, 0, marks, "30 degrees are 30 and pi/6; keep: only pi/6"},
    {"decimals", PARAM_ENUM, AT(decimals), "round", 0, 0, decimals, "1/3 is 0.3333; exact: it is no decimal"},
    {"duplicates", PARAM_ENUM, AT(duplicates), "count", 0, 0, duplicates,
     "{1, 2, 2} is not {1, 2}; collapse: it is"},
    {NULL, PARAM_INT, 0, NULL, 0, 0, NULL, NULL},
};

const char *grade_rules_text(const struct grade_rules *p, struct arena *a)
{
    struct str text = {0};
    for (const struct param *row = grade_rule_params; row->name; row++) {
        str_printf(&text, "%s%s=", text.len ? " " : "", row->name);
        param_text(row, p, &text);
    }
    const char *kept = arena_strdup(a, str_text(&text));
    str_release(&text);
    return kept;
}

/* ---- responses ---- */

int grade_set(struct grade *out, enum verdict v, const char *reason)
{
    *out = (struct grade){.verdict = v, .reason = reason, .gold_form = "", .pred_form = ""};
    out->score = v == VERDICT_CORRECT;
    return 0;
}

int grade_no_answer(struct grade *out, const struct response *r)
{
    if (r->finish == FINISH_LENGTH)
        return grade_set(out, VERDICT_TRUNCATED, "The length limit came before an answer.");
    return grade_set(out, VERDICT_UNPARSED, "No answer could be read from the answer section.");
}

int grade_section(struct grade *out, const struct response *r, struct span *section)
{
    if (response_answer(r, &section->s, &section->n)) {
        grade_set(out, VERDICT_UNFINISHED, "Thinking was opened and never closed.");
        return 1;
    }
    return 0;
}

const char *grade_form(struct arena *a, const char *text, size_t n)
{
    enum { FORM_MAX = 200 };
    if (n <= FORM_MAX)
        return arena_strndup(a, text, n);
    n = FORM_MAX - 3;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return arena_printf(a, "%.*s...", (int)n, text);
}
