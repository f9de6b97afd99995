/* Numbers in Chinese characters: integers, fractions and percentages. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

/* The digit or unit at s: its value and its bytes; -1 where there is none. */
static long sign_at(const char *s, int *is_unit)
{
    static const struct {
        const char *sign;
        long value;
    } signs[] = {{"零", 0},  {"〇", 0},   {"一", 1},    {"二", 2},    {"两", 2}, {"三", 3},
                 {"四", 4},  {"五", 5},   {"六", 6},    {"七", 7},    {"八", 8}, {"九", 9},
                 {"十", 10}, {"百", 100}, {"千", 1000}, {"万", 10000}};
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (!strncmp(s, signs[k].sign, 3)) {
            *is_unit = signs[k].value >= 10;
            return signs[k].value;
        }
    return -1;
}

/* The integer at *s, which moves behind it; -1 where there is none. "二〇二四" is read digit by digit. */
static long read_integer(const char **s)
{
    long total = 0, group = 0, digit = -1, value, written = 0;
    int is_unit, n = 0, units = 0;
    for (; n < 12 && (value = sign_at(*s, &is_unit)) >= 0; n++, *s += 3) {
        units += is_unit;
        if (!is_unit) {
            digit = value;
            written = 10 * written + value;
        } else if (value == 10000) {
            total += (group + (digit > 0 ? digit : 0)) * value;
            group = 0;
            digit = -1;
        } else {
            group += (digit < 0 ? 1 : digit) * value;
            digit = -1;
        }
    }
    if (!n)
        return -1;
    return units ? total + group + (digit > 0 ? digit : 0) : written;
}

const struct math_node *equal_chinese_number(struct comparison *e, const struct math_node *m)
{
    static const char percent[] = "百分之", over[] = "分之", minus[] = "负";
    static const char *const counted[] = {"个", "种", "元", "人", "次", "天", "只", "条", "岁"};
    const char *s = m->name;
    int is_negative = !strncmp(s, minus, strlen(minus)), is_percent;
    s += is_negative ? strlen(minus) : 0;
    is_percent = !strncmp(s, percent, strlen(percent));
    s += is_percent ? strlen(percent) : 0;
    long n = read_integer(&s), d = is_percent ? 100 : 1;
    if (n >= 0 && !is_percent && !strncmp(s, over, strlen(over))) {
        s += strlen(over);
        d = n;
        n = read_integer(&s);
    }
    for (size_t k = 0; k < sizeof counted / sizeof *counted; k++)
        if (!strcmp(s, counted[k]))
            s += strlen(s);
    if (n < 0 || d < 1 || *s)
        return NULL;
    const struct math_node *value = math_node_integer(e->w, m->source, n);
    if (d > 1)
        value = math_node_2(e->w, MATH_DIVIDE, m->source, value, math_node_integer(e->w, m->source, d));
    return is_negative ? math_node_1(e->w, MATH_NEGATE, m->source, value) : value;
}
