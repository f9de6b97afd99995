/* The exact layer: fractions that refuse instead of rounding, and the normal form of polynomials. */
#include "answer_check/math_value.h"
#include "tests/check.h"

static void fractions(void)
{
    struct rational r = {0, 1}, big = {INT64_MAX, 1}, half = {1, 2}, third = {1, 3};
    CHECK_INT(rational_set(&r, 6, -8), 0);
    CHECK(r.num == -3 && r.den == 4);
    CHECK_INT(rational_set(&r, 1, 0), -1);
    CHECK(r.num == -3);
    CHECK_INT(rational_add(&r, half, third), 0);
    CHECK(r.num == 5 && r.den == 6);
    CHECK_INT(rational_add(&r, big, half), -1);
    CHECK_INT(rational_mul(&r, big, big), -1);
    CHECK_INT(rational_div(&r, big, big), 0);
    CHECK(r.num == 1 && r.den == 1);
    CHECK_INT(rational_div(&r, half, (struct rational){0, 1}), -1);
    CHECK_INT(rational_pow(&r, (struct rational){-2, 3}, -3), 0);
    CHECK(r.num == -27 && r.den == 8);
    CHECK_INT(rational_pow(&r, (struct rational){2, 1}, 62), 0);
    CHECK(r.num == (int64_t)1 << 62);
    CHECK_INT(rational_pow(&r, (struct rational){2, 1}, 63), -1);
    CHECK_INT(rational_pow(&r, (struct rational){0, 1}, -1), -1);
    CHECK_INT(rational_pow(&r, (struct rational){0, 1}, 0), 0);
    CHECK_INT(rational_sqrt(&r, (struct rational){49, 4}), 0);
    CHECK(r.num == 7 && r.den == 2);
    CHECK_INT(rational_sqrt(&r, (struct rational){2, 1}), -1);
    CHECK_INT(rational_sqrt(&r, (struct rational){-4, 1}), -1);
    CHECK_INT(rational_sqrt(&r, (struct rational){9223372030926249001, 1}), 0);
    CHECK(r.num == 3037000499);
}

/* Normal form as text, or "refused". */
static void prints(const char *expression, const char *want)
{
    struct arena a = {0};
    struct str s = {0};
    struct poly_work w = {&a, POLY_STEPS};
    struct math_value v;
    if (math_parse(&v, &w, (struct span){expression, strlen(expression)}, 1))
        str_puts(&s, "refused");
    else
        math_value_print(&s, &v);
    CHECK_STR(str_text(&s), want);
    str_release(&s);
    arena_release(&a);
}

int main(void)
{
    fractions();
    prints("-5+6x", "6x - 5");
    prints("x*x*x - x^3", "0");
    prints("(x+y)^3", "x^3 + 3x^2y + 3xy^2 + y^3");
    prints("x/2 - y/3", "(1/2)x - (1/3)y");
    prints("1/2 - 3/4", "-1/4");
    prints("2\\pi r", "2r\\pi");
    prints("(1, [2, 3])", "(1, [2, 3])");
    prints("\\{b, a\\}", "{b, a}");
    prints("12,345", "12345");
    prints("50%", "50%");
    prints("-x^2", "-x^2");
    prints("2^3^2", "512");
    prints("x^65", "refused");
    prints("(a+b+c+d+e+f)^9", "refused");
    prints("abcdefg", "refused");
    prints("a b c d f g h", "refused");
    prints("9^{9^{9^9}}", "refused");
    prints("1/(x+1)", "refused");
    prints("x5", "refused");
    prints("1 2", "refused");
    prints("x^y", "refused");
    prints("x_1", "refused");
    prints("3 < 4", "refused");
    prints("(1", "refused");
    prints("", "refused");
    prints("\\sqrt{2}", "refused");
    prints("99999999999999999999", "refused");
    return check_done();
}
