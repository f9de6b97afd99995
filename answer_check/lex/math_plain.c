/* Plain words with a mathematical meaning, as in sqrt(3), pi/2, 5 percent, x = 1 or x = 2, and "and" and
 * "or" in Chinese. The table is sorted; case is ignored. */
#include "answer_check/lex/math_lex.h"

#include <stdlib.h>
#include <string.h>

static const struct token_meaning words[] = {
    {"abs", T_FUNCTION, MATH_ABS, NULL},
    {"acos", T_FUNCTION, MATH_ARCCOS, NULL},
    {"acosh", T_FUNCTION, MATH_ARCOSH, NULL},
    {"acot", T_FUNCTION, MATH_ARCCOT, NULL},
    {"alpha", T_NAME, 0, NULL},
    {"and", T_AND, 0, NULL},
    {"arccos", T_FUNCTION, MATH_ARCCOS, NULL},
    {"arccosh", T_FUNCTION, MATH_ARCOSH, NULL},
    {"arccot", T_FUNCTION, MATH_ARCCOT, NULL},
    {"arccsc", T_FUNCTION, MATH_ARCCSC, NULL},
    {"arcctg", T_FUNCTION, MATH_ARCCOT, NULL},
    {"arcosh", T_FUNCTION, MATH_ARCOSH, NULL},
    {"arcsec", T_FUNCTION, MATH_ARCSEC, NULL},
    {"arcsin", T_FUNCTION, MATH_ARCSIN, NULL},
    {"arcsinh", T_FUNCTION, MATH_ARSINH, NULL},
    {"arctan", T_FUNCTION, MATH_ARCTAN, NULL},
    {"arctanh", T_FUNCTION, MATH_ARTANH, NULL},
    {"arctg", T_FUNCTION, MATH_ARCTAN, NULL},
    {"arsinh", T_FUNCTION, MATH_ARSINH, NULL},
    {"artanh", T_FUNCTION, MATH_ARTANH, NULL},
    {"asin", T_FUNCTION, MATH_ARCSIN, NULL},
    {"asinh", T_FUNCTION, MATH_ARSINH, NULL},
    {"atan", T_FUNCTION, MATH_ARCTAN, NULL},
    {"atanh", T_FUNCTION, MATH_ARTANH, NULL},
    {"beta", T_NAME, 0, NULL},
    {"binom", T_FUNCTION, MATH_BINOMIAL, NULL},
    {"binomial", T_FUNCTION, MATH_BINOMIAL, NULL},
    {"cbrt", T_ROOT, 3, NULL},
    {"ceil", T_FUNCTION, MATH_CEILING, NULL},
    {"ceiling", T_FUNCTION, MATH_CEILING, NULL},
    {"chi", T_NAME, 0, NULL},
    {"cis", T_OPERATOR, 0, NULL},
    {"conj", T_FUNCTION, MATH_CONJUGATE, NULL},
    {"conjugate", T_FUNCTION, MATH_CONJUGATE, NULL},
    {"cos", T_FUNCTION, MATH_COS, NULL},
    {"cosec", T_FUNCTION, MATH_CSC, NULL},
    {"cosh", T_FUNCTION, MATH_COSH, NULL},
    {"cot", T_FUNCTION, MATH_COT, NULL},
    {"cotg", T_FUNCTION, MATH_COT, NULL},
    {"coth", T_FUNCTION, MATH_COTH, NULL},
    {"csc", T_FUNCTION, MATH_CSC, NULL},
    {"ctg", T_FUNCTION, MATH_COT, NULL},
    {"delta", T_NAME, 0, NULL},
    {"det", T_OPERATOR, 0, NULL},
    {"epsilon", T_NAME, 0, NULL},
    {"eta", T_NAME, 0, NULL},
    {"exp", T_FUNCTION, MATH_EXP, NULL},
    {"floor", T_FUNCTION, MATH_FLOOR, NULL},
    {"for", T_CONDITION, 0, NULL},
    {"gamma", T_NAME, 0, NULL},
    {"gcd", T_FUNCTION, MATH_GCD, NULL},
    {"if", T_CONDITION, 0, NULL},
    {"iff", T_CONDITION, 0, NULL},
    {"inf", T_CONSTANT, MATH_INFINITY, NULL},
    {"infinity", T_CONSTANT, MATH_INFINITY, NULL},
    {"infty", T_CONSTANT, MATH_INFINITY, NULL},
    {"intersect", T_CAP, 0, NULL},
    {"iota", T_NAME, 0, NULL},
    {"kappa", T_NAME, 0, NULL},
    {"lambda", T_NAME, 0, NULL},
    {"lcm", T_FUNCTION, MATH_LCM, NULL},
    {"lg", T_FUNCTION, MATH_LOG, "lg"},
    {"ln", T_FUNCTION, MATH_LN, NULL},
    {"log", T_FUNCTION, MATH_LOG, NULL},
    {"max", T_FUNCTION, MATH_MAX, NULL},
    {"min", T_FUNCTION, MATH_MIN, NULL},
    {"mod", T_MODULO, 0, NULL},
    {"omega", T_NAME, 0, NULL},
    {"oo", T_CONSTANT, MATH_INFINITY, NULL},
    {"or", T_OR, 0, NULL},
    {"pct", T_PERCENT, 0, NULL},
    {"percent", T_PERCENT, 0, NULL},
    {"percentage", T_PERCENT, 0, NULL},
    {"percents", T_PERCENT, 0, NULL},
    {"phi", T_NAME, 0, NULL},
    {"pi", T_CONSTANT, MATH_PI, NULL},
    {"provided", T_CONDITION, 0, NULL},
    {"psi", T_NAME, 0, NULL},
    {"rho", T_NAME, 0, NULL},
    {"sec", T_FUNCTION, MATH_SEC, NULL},
    {"sgn", T_FUNCTION, MATH_SIGN, NULL},
    {"sigma", T_NAME, 0, NULL},
    {"sin", T_FUNCTION, MATH_SIN, NULL},
    {"sinh", T_FUNCTION, MATH_SINH, NULL},
    {"sqrt", T_ROOT, 1, NULL},
    {"such", T_CONDITION, 0, NULL},
    {"tan", T_FUNCTION, MATH_TAN, NULL},
    {"tanh", T_FUNCTION, MATH_TANH, NULL},
    {"tau", T_NAME, 0, NULL},
    {"tg", T_FUNCTION, MATH_TAN, NULL},
    {"theta", T_NAME, 0, NULL},
    {"union", T_CUP, 0, NULL},
    {"unless", T_CONDITION, 0, NULL},
    {"upsilon", T_NAME, 0, NULL},
    {"when", T_CONDITION, 0, NULL},
    {"whenever", T_CONDITION, 0, NULL},
    {"where", T_CONDITION, 0, NULL},
    {"with", T_CONDITION, 0, NULL},
    {"zeta", T_NAME, 0, NULL},
    {"\xe4\xb8\x8e", T_AND, 0, "and"},
    {"\xe4\xb8\x94", T_AND, 0, "and"},
    {"\xe5\x92\x8c", T_AND, 0, "and"},
    {"\xe6\x88\x96", T_OR, 0, "or"},
    {"\xe6\x88\x96\xe8\x80\x85", T_OR, 0, "or"},
};

static int compare_plain_word(const void *a, const void *b)
{
    const struct span *k = a;
    const char *name = ((const struct token_meaning *)b)->name;
    for (size_t i = 0; i < k->n; i++) {
        unsigned char x = (unsigned char)ascii_lower(k->s[i]);
        if (x != (unsigned char)name[i])
            return x < (unsigned char)name[i] ? -1 : 1; /* also at the NUL that ends `name` */
    }
    return name[k->n] ? -1 : 0;
}

const struct token_meaning *math_plain_word(struct span word)
{
    return bsearch(&word, words, sizeof words / sizeof *words, sizeof *words, compare_plain_word);
}
