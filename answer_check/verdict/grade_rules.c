/* The table of the rules that move scores: their names and values in fields of a line, in flags and in
 * reports. The rules themselves are in equal_value.c and equal_collection.c. */
#include "answer_check/verdict/grade.h"

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
