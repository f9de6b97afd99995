/* Tokens of the original's grammar. At each place the longest token is taken, whatever follows it: \pix is
 * \pi and x, and letters that spell one of its operator names ("tr", "norm", "floor") cannot be read as
 * letters. */
#include "answer_check/compat/compat_read.h"

#include <string.h>

/* ---- tables; each ends with NULL, or with a row that begins with NULL */

struct literal_token {
    const char *text;
    short kind, value; /* kind: enum compat_token; value: a function, the letter of a number set, else 0 */
};
static const struct literal_token literal_tokens[] = {
    {"\\,", CT_SKIP, 0},
    {"\\thinspace", CT_SKIP, 0},
    {"\\:", CT_SKIP, 0},
    {"\\medspace", CT_SKIP, 0},
    {"\\;", CT_SKIP, 0},
    {"\\thickspace", CT_SKIP, 0},
    {"\\quad", CT_SKIP, 0},
    {"\\qquad", CT_SKIP, 0},
    {"\\!", CT_SKIP, 0},
    {"\\negthinspace", CT_SKIP, 0},
    {"\\negmedspace", CT_SKIP, 0},
    {"\\negthickspace", CT_SKIP, 0},
    {"\\$", CT_SKIP, 0},
    {"\\vrule", CT_SKIP, 0},
    {"\\vcenter", CT_SKIP, 0},
    {"\\vbox", CT_SKIP, 0},
    {"\\vskip", CT_SKIP, 0},
    {"\\vspace", CT_SKIP, 0},
    {"\\hfil", CT_SKIP, 0},
    {"+", CT_ADD, 0},
    {"∔", CT_ADD, 0},
    {"⊕", CT_ADD, 0},
    {"⊞", CT_ADD, 0},
    {"-", CT_SUB, 0},
    {"−", CT_SUB, 0},
    {"∸", CT_SUB, 0},
    {"*", CT_MUL, 0},
    {"×", CT_MUL, 0},
    {"⋅", CT_MUL, 0},
    {"⋄", CT_MUL, 0},
    {"∗", CT_MUL, 0},
    {"⋆", CT_MUL, 0},
    {"∘", CT_MUL, 0},
    {"∙", CT_MUL, 0},
    {"⊗", CT_MUL, 0},
    {"\\times", CT_MUL, 0},
    {"\\cdot", CT_MUL, 0},
    {"/", CT_DIV, 0},
    {"÷", CT_DIV, 0},
    {"∕", CT_DIV, 0},
    {"\\over", CT_DIV, 0},
    {"\\div", CT_DIV, 0},
    {":", CT_DIV, 0},
    {"\\mod", CT_MOD, 0},
    {"(", CT_L_PAREN, 0},
    {")", CT_R_PAREN, 0},
    {"\\(", CT_L_VISUAL, 0},
    {"\\)", CT_R_VISUAL, 0},
    {"\\lgroup", CT_L_GROUP, 0},
    {"\\rgroup", CT_R_GROUP, 0},
    {"{", CT_L_BRACE, 0},
    {"}", CT_R_BRACE, 0},
    {"\\{", CT_L_SET, 0},
    {"\\}", CT_R_SET, 0},
    {"\\lbrace", CT_L_CURL, 0},
    {"\\rbrace", CT_R_CURL, 0},
    {"[", CT_L_BRACKET, 0},
    {"]", CT_R_BRACKET, 0},
    {"\\lbrack", CT_L_BRACK, 0},
    {"\\rbrack", CT_R_BRACK, 0},
    {"|", CT_BAR, 0},
    {"\\lvert", CT_L_VERT, 0},
    {"\\rvert", CT_R_VERT, 0},
    {"\\vert", CT_VERT, 0},
    {"\\lfloor", CT_L_FLOOR, 0},
    {"\\rfloor", CT_R_FLOOR, 0},
    {"\\llcorner", CT_L_FLOOR, 0},
    {"\\lrcorner", CT_R_FLOOR, 0},
    {"\\lceil", CT_L_CEIL, 0},
    {"\\rceil", CT_R_CEIL, 0},
    {"\\ulcorner", CT_L_CEIL, 0},
    {"\\urcorner", CT_R_CEIL, 0},
    {"\\boxed", CT_BOXED, 0},
    {"\\phantom", CT_PHANTOM, 0},
    {"\\|", CT_UNREADABLE, 0},
    {"\\langle", CT_UNREADABLE, 0},
    {"\\rangle", CT_UNREADABLE, 0},
    {"\\lim", CT_LIM, 0},
    {"\\int", CT_INT, 0},
    {"\\to", CT_TO, 0},
    {"\\rightarrow", CT_TO, 0},
    {"\\Rightarrow", CT_TO, 0},
    {"\\longrightarrow", CT_TO, 0},
    {"\\Longrightarrow", CT_TO, 0},
    {"\\partial", CT_PARTIAL, 0},
    {"\\sum", CT_SUM, 0},
    {"\\prod", CT_PROD, 0},
    {"\\log", CT_FUNCTION, MATH_LOG},
    {"\\ln", CT_FUNCTION, MATH_LN},
    {"\\exp", CT_FUNCTION, MATH_EXP},
    {"\\sin", CT_FUNCTION, MATH_SIN},
    {"\\cos", CT_FUNCTION, MATH_COS},
    {"\\tan", CT_FUNCTION, MATH_TAN},
    {"\\csc", CT_FUNCTION, MATH_CSC},
    {"\\sec", CT_FUNCTION, MATH_SEC},
    {"\\cot", CT_FUNCTION, MATH_COT},
    {"\\arcsin", CT_FUNCTION, MATH_ARCSIN},
    {"\\arccos", CT_FUNCTION, MATH_ARCCOS},
    {"\\arctan", CT_FUNCTION, MATH_ARCTAN},
    {"\\arccsc", CT_FUNCTION, MATH_ARCCSC},
    {"\\arcsec", CT_FUNCTION, MATH_ARCSEC},
    {"\\arccot", CT_FUNCTION, MATH_ARCCOT},
    {"\\sinh", CT_FUNCTION, MATH_SINH},
    {"\\cosh", CT_FUNCTION, MATH_COSH},
    {"\\tanh", CT_FUNCTION, MATH_TANH},
    {"\\arsinh", CT_FUNCTION, MATH_ARSINH},
    {"\\arcosh", CT_FUNCTION, MATH_ARCOSH},
    {"\\artanh", CT_FUNCTION, MATH_ARTANH},
    {"\\arcsinh", CT_FUNCTION, MATH_ARSINH},
    {"\\arccosh", CT_FUNCTION, MATH_ARCOSH},
    {"\\arctanh", CT_FUNCTION, MATH_ARTANH},
    {"\\floor", CT_FUNCTION, MATH_FLOOR},
    {"\\ceil", CT_FUNCTION, MATH_CEILING},
    {"\\gcd", CT_SEVERAL, MATH_GCD},
    {"\\lcm", CT_SEVERAL, MATH_LCM},
    {"\\max", CT_SEVERAL, MATH_MAX},
    {"\\min", CT_SEVERAL, MATH_MIN},
    {"\\sqrt", CT_SQRT, 0},
    {"\\det", CT_DETERMINANT, 0},
    {"\\frac", CT_FRAC, 0},
    {"\\binom", CT_BINOM, 0},
    {"\\tbinom", CT_BINOM, 0},
    {"\\dbinom", CT_BINOM, 0},
    {"\\choose", CT_CHOOSE, 0},
    {"\\operatorname", CT_OPERATORNAME, 0},
    {"\\begin{matrix}", CT_MATRIX, 0},
    {"\\begin{pmatrix}", CT_MATRIX, 0},
    {"\\begin{bmatrix}", CT_MATRIX, 0},
    {"\\end{matrix}", CT_MATRIX_END, 0},
    {"\\end{pmatrix}", CT_MATRIX_END, 0},
    {"\\end{bmatrix}", CT_MATRIX_END, 0},
    {"\\end{array}", CT_ARRAY_END, 0},
    {"\\begin{vmatrix}", CT_DET, 0},
    {"\\end{vmatrix}", CT_DET_END, 0},
    {"&", CT_COLUMN, 0},
    {"\\\\", CT_ROW, 0},
    {"_", CT_UNDERSCORE, 0},
    {"^", CT_CARET, 0},
    {";", CT_SEMICOLON, 0},
    {",", CT_COMMA, 0},
    {"!", CT_BANG, 0},
    {"^T", CT_TRANSPOSE, 0},
    {"^{T}", CT_TRANSPOSE, 0},
    {"'", CT_TRANSPOSE, 0},
    {"^\\circ", CT_DEGREE, 0},
    {"^\\degree", CT_DEGREE, 0},
    {"^\\circle", CT_DEGREE, 0},
    {"^°", CT_DEGREE, 0},
    {"^{\\circ}", CT_DEGREE, 0},
    {"^{\\degree}", CT_DEGREE, 0},
    {"^{\\circle}", CT_DEGREE, 0},
    {"^{°}", CT_DEGREE, 0},
    {"\\in", CT_IN, 0},
    {"\\notin", CT_NOT_IN, 0},
    {"∉", CT_NOT_IN, 0},
    {"=", CT_EQUALS, 0},
    {"≡", CT_EQUALS, 0},
    {"≔", CT_EQUALS, 0},
    {"==", CT_EQUIV, 0},
    {"\\equiv", CT_EQUIV, 0},
    {"~=", CT_APPROX, 0},
    {"≈", CT_APPROX, 0},
    {"≃", CT_APPROX, 0},
    {"≅", CT_APPROX, 0},
    {"\\approx", CT_APPROX, 0},
    {"<", CT_LESS, 0},
    {"\\lt", CT_LESS, 0},
    {"≪", CT_LESS, 0},
    {"\\leq", CT_LESS_EQUAL, 0},
    {"\\le", CT_LESS_EQUAL, 0},
    {"\\leqslant", CT_LESS_EQUAL, 0},
    {"≤", CT_LESS_EQUAL, 0},
    {"≦", CT_LESS_EQUAL, 0},
    {"<=", CT_LESS_EQUAL, 0},
    {">", CT_GREATER, 0},
    {"\\gt", CT_GREATER, 0},
    {"≫", CT_GREATER, 0},
    {"\\geq", CT_GREATER_EQUAL, 0},
    {"\\ge", CT_GREATER_EQUAL, 0},
    {"\\geqslant", CT_GREATER_EQUAL, 0},
    {"≥", CT_GREATER_EQUAL, 0},
    {"≧", CT_GREATER_EQUAL, 0},
    {">=", CT_GREATER_EQUAL, 0},
    {"!=", CT_UNEQUAL, 0},
    {"!==", CT_UNEQUAL, 0},
    {"\\ne", CT_UNEQUAL, 0},
    {"\\neq", CT_UNEQUAL, 0},
    {"\\not\\equiv", CT_UNEQUAL, 0},
    {"≠", CT_UNEQUAL, 0},
    {"≢", CT_UNEQUAL, 0},
    {"\\cup", CT_UNION, 0},
    {"∪", CT_UNION, 0},
    {"\\cap", CT_INTERSECTION, 0},
    {"∩", CT_INTERSECTION, 0},
    {"\\setminus", CT_MINUS_SET, 0},
    {"∖", CT_MINUS_SET, 0},
    {"\\pm", CT_PLUS_MINUS, 0},
    {"\\mp", CT_PLUS_MINUS, 0},
    {"±", CT_PLUS_MINUS, 0},
    {"∓", CT_PLUS_MINUS, 0},
    {"\\emptyset", CT_EMPTY, 0},
    {"∅", CT_EMPTY, 0},
    {"\\{\\}", CT_EMPTY, 0},
    {"\\lbrace\\rbrace", CT_EMPTY, 0},
    {"\\subseteq", CT_SUBSET, 0},
    {"⊆", CT_SUBSET, 0},
    {"\\supseteq", CT_SUBSET, 0},
    {"⊇", CT_SUBSET, 0},
    {"\\mathbb{N}", CT_NUMBER_SET, 'N'},
    {"ℕ", CT_NUMBER_SET, 'N'},
    {"\\mathbb{Z}", CT_NUMBER_SET, 'Z'},
    {"ℤ", CT_NUMBER_SET, 'Z'},
    {"\\mathbb{Q}", CT_NUMBER_SET, 'Q'},
    {"ℚ", CT_NUMBER_SET, 'Q'},
    {"\\mathbb{R}", CT_NUMBER_SET, 'R'},
    {"ℝ", CT_NUMBER_SET, 'R'},
    {"\\mathbb{C}", CT_NUMBER_SET, 'C'},
    {"ℂ", CT_NUMBER_SET, 'C'},
    {"\\mathbb{P}", CT_UNREADABLE, 0},
    {"\\infty", CT_INFINITY, 0},
    {"\\infty\\%", CT_INFINITY, 0},
    {"\\infty%", CT_INFINITY, 0},
    {"e", CT_E, 0},
    {"\\exponentialE", CT_E, 0},
    {"E", CT_BIG_E, 0},
    {0},
};

/* Names that are known only inside \operatorname. */
static const char *const operator_names[] = {
    "arsinh",      "arcsinh",    "arcosh",        "arccosh",    "artanh",       "arctanh",
    "gcd",         "lcm",        "floor",         "ceil",       "eye",          "zeros",
    "ones",        "cols",       "rows",          "diag",       "norm",         "rank",
    "trace",       "tr",         "rref",          "hstack",     "vstack",       "orth",
    "ortho",       "orthogonal", "orthogonalize", "nullspace",  "eig",          "eigen",
    "diagonalize", "eigenvals",  "eigenvalues",   "eigenvects", "eigenvectors", "svd",
    "SVD",         "matrix",     "pmatrix",       "bmatrix",    "vmatrix",      NULL,
};

struct greek_letter {
    const char *name, *sign; /* "alpha", "α" */
};
static const struct greek_letter greek_letters[] = {
    {"alpha", "α"},    {"beta", "β"},       {"gamma", "γ"},
    {"Gamma", "Γ"},    {"delta", "δ"},      {"Delta", "Δ"},
    {"epsilon", "ε"},  {"varepsilon", "ϵ"}, {"zeta", "ζ"},
    {"eta", "η"},      {"theta", "θ"},      {"Theta", "Θ"},
    {"vartheta", "ϑ"}, {"iota", "ι"},       {"kappa", "κ"},
    {"lambda", "λ"},   {"Lambda", "Λ"},     {"mu", "μ"},
    {"nu", "ν"},       {"xi", "ξ"},         {"Xi", "Ξ"},
    {"omicron", "ο"},  {"pi", "π"},         {"Pi", "Π"},
    {"varpi", "ϖ"},    {"rho", "ρ"},        {"varrho", "ϱ"},
    {"sigma", "σ"},    {"Sigma", "Σ"},      {"varsigma", "ς"},
    {"tau", "τ"},      {"upsilon", "υ"},    {"Upsilon", "Υ"},
    {"phi", "φ"},      {"Phi", "Φ"},        {"varphi", "ϕ"},
    {"chi", "χ"},      {"psi", "ψ"},        {"Psi", "Ψ"},
    {"omega", "ω"},    {"Omega", "Ω"},      {0},
};

/* Commands that are symbols. */
static const char *const other_symbols[] = {
    "Bbbk",
    "wp",
    "nabla",
    "bigstar",
    "angle",
    "nexists",
    "measuredangle",
    "eth",
    "clubsuit",
    "varnothing",
    "Diamond",
    "complement",
    "diamondsuit",
    "imath",
    "Finv",
    "triangledown",
    "heartsuit",
    "jmath",
    "Game",
    "triangle",
    "spadesuit",
    "ell",
    "hbar",
    "vartriangle",
    "hslash",
    "blacklozenge",
    "lozenge",
    "blacksquare",
    "mho",
    "blacktriangle",
    "sharp",
    "prime",
    "Im",
    "flat",
    "square",
    "backprime",
    "Re",
    "natural",
    "surd",
    "circledS",
    NULL,
};

/* Commands that put an accent on a symbol. */
static const char *const accents[] = {
    "acute",    "bar",    "overline",   "breve",      "check",   "widecheck",      "dot",      "ddot",
    "grave",    "hat",    "tilde",      "widetilde",  "vec",     "overrightarrow", "bm",       "boldsymbol",
    "text",     "textit", "textbf",     "textnormal", "mathbb",  "mathbin",        "mathbf",   "mathcal",
    "mathfrak", "mathit", "mathnormal", "mathop",     "mathord", "mathrel",        "mathring", "mathrm",
    "mathscr",  "mathsf", "mathtt",     "mbox",       NULL,
};

/* ---- tokens */

const char *compat_greek(int value)
{
    return greek_letters[value].name;
}

/* Takes a token of n bytes if it is longer than the best one so far. */
static void keep_longest(struct compat_lexed *best, struct span t, size_t n, enum compat_token kind,
                         int value)
{
    if (n > best->text.n)
        *best = (struct compat_lexed){kind, value, {t.s, n}};
}

/* "\hat{..}": up to the first closing brace. */
static size_t accent_length(struct span t)
{
    for (const char *const *name = accents; *name; name++) {
        size_t n = 1 + strlen(*name);
        if (!span_at(t, 1, *name))
            continue;
        size_t open = n + (size_t)(n < t.n && strchr(" \t\r\n", t.s[n]) != NULL && t.s[n]);
        if (!span_at(t, open, "{"))
            continue;
        const char *close = memchr(t.s + open, '}', t.n - open);
        return close ? (size_t)(close - t.s) + 1 : 0;
    }
    return 0;
}

/* Greek letters, other symbols, accents and arrays. */
static void lex_command(struct compat_lexed *best, struct span t)
{
    for (size_t k = 0; greek_letters[k].name; k++) {
        const char *name = greek_letters[k].name;
        if (span_at(t, 1, name)) {
            size_t n = 1 + strlen(name);
            int is_gamma = !strcmp(name, "gamma") || !strcmp(name, "Gamma");
            /* without a blank behind it, it is taken for the gamma function */
            keep_longest(best, t, n, is_gamma && !span_at(t, n, " ") ? CT_UNREADABLE : CT_GREEK, (int)k);
        }
    }
    for (const char *const *name = other_symbols; *name; name++)
        if (span_at(t, 1, *name))
            keep_longest(best, t, 1 + strlen(*name), CT_OTHER, 0);
    keep_longest(best, t, accent_length(t), CT_ACCENT, 0);
    if (span_at(t, 0, "\\begin{array}{")) {
        size_t i = strlen("\\begin{array}{");
        while (i < t.n && (t.s[i] == 'c' || t.s[i] == 'l' || t.s[i] == 'r'))
            i++;
        if (span_at(t, i, "}"))
            keep_longest(best, t, i + 1, CT_ARRAY, 0);
    }
}

/* 12, .5, 12.5; with E and an exponent; with a percent sign, which may have a blank before it. */
static void lex_number(struct compat_lexed *best, struct span t)
{
    size_t n = compat_digits(t, 0), decimals = span_at(t, n, ".") ? compat_digits(t, n + 1) : 0;
    if (decimals > n + 1)
        n = decimals;
    if (!n)
        return;
    keep_longest(best, t, n, CT_NUMBER, 0);
    size_t sign = n + 1 + (size_t)(span_at(t, n + 1, "-") || span_at(t, n + 1, "+"));
    if (span_at(t, n, "E") && compat_digits(t, sign) > sign)
        keep_longest(best, t, compat_digits(t, sign), CT_E_NOTATION, 0);
    size_t percent = n + (size_t)(n < t.n && t.s[n] == ' ');
    percent += (size_t)(span_at(t, percent, "\\%"));
    if (span_at(t, percent, "%"))
        keep_longest(best, t, percent + 1, CT_PERCENT, (int)n);
}

/* "dx", "d x", "d\theta" */
static void lex_differential(struct compat_lexed *best, struct span t)
{
    size_t i = span_at(t, 0, "d") ? 1 : t.n, end;
    while (i < t.n && (t.s[i] == ' ' || t.s[i] == '\t'))
        i++;
    if (i >= t.n)
        return;
    if (ascii_is_letter(t.s[i])) {
        keep_longest(best, t, i + 1, CT_DIFFERENTIAL, 0);
    } else if (t.s[i] == '\\') {
        for (end = i + 1; end < t.n && ascii_is_letter(t.s[end]);)
            end++;
        if (end > i + 1)
            keep_longest(best, t, end, CT_DIFFERENTIAL, 0);
    }
}

/* The longest token at the start of t; CT_END with no text if there is none. */
static struct compat_lexed next_token(struct span t)
{
    struct compat_lexed best = {CT_END, 0, {t.s, 0}};
    for (const struct literal_token *l = literal_tokens; l->text; l++)
        if (l->text[0] == t.s[0] && (!l->text[1] || (t.n > 1 && l->text[1] == t.s[1])) &&
            span_at(t, 0, l->text))
            keep_longest(&best, t, strlen(l->text), (enum compat_token)l->kind, l->value);
    if (t.s[0] == '\\')
        lex_command(&best, t);
    lex_number(&best, t);
    lex_differential(&best, t);
    for (const char *const *name = operator_names; *name; name++)
        if (span_at(t, 0, *name))
            keep_longest(&best, t, strlen(*name), CT_UNREADABLE, 1);
    for (size_t k = 0; (unsigned char)t.s[0] >= 0x80 && greek_letters[k].sign; k++)
        if (span_at(t, 0, greek_letters[k].sign))
            keep_longest(&best, t, strlen(greek_letters[k].sign), CT_GREEK, (int)k);
    if (ascii_is_letter(t.s[0]))
        keep_longest(&best, t, 1, CT_LETTER, 0);
    if (t.s[0] == ' ' || t.s[0] == '\t' || t.s[0] == '\r' || t.s[0] == '\n')
        keep_longest(&best, t, 1, CT_SKIP, 0);
    return best;
}

struct compat_lexed *compat_lex(struct span t, struct arena *a)
{
    struct compat_lexed *out = arena_alloc(a, (t.n + 1) * sizeof *out);
    size_t n = 0;
    for (size_t i = 0; i < t.n;) {
        struct compat_lexed token = next_token((struct span){t.s + i, t.n - i});
        if (!token.text.n)
            return NULL;
        i += token.text.n;
        if (token.kind != CT_SKIP)
            out[n++] = token;
    }
    out[n] = (struct compat_lexed){CT_END, 0, {t.s + t.n, 0}};
    return out;
}
