/* What the words before and behind option letters say of them (contract: choice_scan.h). A statement is a
 * noun such as "answer", a verb or a colon, and the letter; or the letter, a verb and "correct". Negations
 * and hedges count as far as the clause goes. */
#include "answer_check/choice/choice_scan.h"

/* How far a look goes. Sentences are shorter; what is longer is no statement about a letter. */
enum { REACH = 16 };

static int is_one_of(enum choice_kind kind, const enum choice_kind *kinds)
{
    while (*kinds != K_END && *kinds != kind)
        kinds++;
    return *kinds == kind && kind != K_END;
}

static int is_end(enum choice_kind kind)
{
    return kind == K_STOP || kind == K_LINE || kind == K_END || kind == K_QUESTION;
}

/* Does the sentence go on behind the new line at i, because of what stands before it? */
static int is_open_line(const struct choice_token *k, size_t i)
{
    static const enum choice_kind open[] = {K_IS,   K_COLON,  K_NOT,    K_CHOOSE, K_BUT,
                                            K_THAN, K_ANSWER, K_OPTION, K_AND,    K_OR,
                                            K_SO,   K_LEAVE,  K_ONLY,   K_LABEL,  K_END};
    return i > 0 && k[i].kind == K_LINE && is_one_of(k[i - 1].kind, open);
}

int choice_is_lone(const struct choice_token *k, size_t i)
{
    static const enum choice_kind more[] = {K_BREAK, K_NOT, K_THAN, K_FIX, K_CHECK, K_COLON, K_END};
    static const enum choice_kind comma[] = {K_BREAK, K_NOT, K_THAN, K_THINK, K_FIX, K_REST, K_END};
    for (int n = 0; n < 3 && (k[i].kind == K_CLOSE || k[i].kind == K_LIGHT || k[i].kind == K_OPTION); n++)
        i++;
    if (k[i].kind == K_COMMA)
        return is_one_of(k[i + 1 + (k[i + 1].kind == K_LIGHT)].kind, comma);
    if (k[i].kind == K_DASH)
        return k[i + 1].kind != K_LETTER;
    return is_end(k[i].kind) || is_one_of(k[i].kind, more) || (k[i].kind == K_OPEN && k[i].is_spaced);
}

/* The negations and hedges of the clause that ends with the group. */
static void clause_before(struct choice_view *v, const struct choice_token *k, const struct choice_group *g)
{
    static const enum choice_kind bounds[] = {K_COMMA, K_STOP, K_QUESTION, K_BUT,   K_SO,     K_BREAK, K_REST,
                                              K_FIX,   K_AND,  K_OR,       K_CLOSE, K_LETTER, K_END};
    static const enum choice_kind light[] = {K_LIGHT, K_OPTION, K_OPEN, K_LINE, K_BOTH, K_ONLY, K_END};
    int n_not = 0, is_forced = 0, is_near = 1;
    for (size_t j = g->first - 1, n = 0; j > g->limit && n < REACH; j--, n++) {
        enum choice_kind kind = k[j].kind;
        if (is_one_of(kind, bounds) || (kind == K_COLON && !is_near) ||
            (kind == K_LINE && !is_open_line(k, j)))
            break;
        is_near &= is_one_of(kind, light);
        n_not += kind == K_NOT || kind == K_WRONG || kind == K_FAILS || kind == K_CROSS;
        is_forced |= kind == K_NEITHER || kind == K_THAN;
        v->is_except |= kind == K_EXCEPT;
        v->is_hedged |= kind == K_HEDGE || kind == K_IF;
    }
    v->is_rejected = is_forced || n_not % 2;
    if (v->is_except && v->is_rejected && !is_forced) { /* "rules out all but C" */
        v->is_except = v->is_rejected = 0;
        v->is_only = 1;
    }
}

/* Is a word for "correct" next to the noun at j? */
static int is_right_noun(const struct choice_token *k, size_t j)
{
    for (size_t i = j - (j > 1) - (j > 2); i <= j + 2; i++)
        if (k[i].kind == K_RIGHT)
            return 1;
    return 0;
}

/* The class of what stands next before the sign or verb at `sign`. */
static enum choice_class near_subject(const struct choice_token *k, size_t j, size_t sign, int is_lone)
{
    enum choice_kind by = k[sign].kind;
    switch (k[j].kind) {
    case K_ANSWER:
    case K_RIGHT:
        return CHOICE_DECLARED;
    case K_LABEL:
    case K_CHOOSE:
        return by == K_IS ? CHOICE_CHOSEN : CHOICE_DECLARED;
    case K_OPTION:
        return is_right_noun(k, j) ? CHOICE_DECLARED : CHOICE_CHOSEN;
    case K_IT:
        return by == K_IS ? CHOICE_CHOSEN : CHOICE_CLASSES;
    case K_LEAVE:
    case K_ONLY:
        return CHOICE_CHOSEN;
    case K_FITS:
        return by == K_IS ? CHOICE_CHOSEN : CHOICE_CLASSES;
    case K_FIX:
        return is_lone ? CHOICE_DECLARED : CHOICE_CLASSES;
    case K_SO:
    case K_CHECK:
    case K_THINK:
    case K_BREAK:
        return is_lone ? CHOICE_CHOSEN : CHOICE_CLASSES;
    default:
        return CHOICE_CLASSES;
    }
}

/* What the sign or verb at `sign` says the letter behind it is: its subject is next to it, or "answer" and
 * "correct option" stand further before. */
static enum choice_class subject_role(const struct choice_token *k, size_t sign, size_t limit, int is_lone)
{
    static const enum choice_kind light[] = {K_LIGHT, K_IS,   K_ARE, K_CLOSE, K_WOULD,
                                             K_COLON, K_DASH, K_BAR, K_COMMA, K_END};
    static const enum choice_kind bounds[] = {K_STOP, K_QUESTION, K_LETTER, K_LIST, K_BREAK,
                                              K_SO,   K_BUT,      K_IF,     K_END};
    size_t j = sign - 1;
    int is_fit = 0;
    size_t before = j;
    while (before > limit && k[before].kind == K_LIGHT)
        before--;
    if (k[sign].kind == K_IS &&
        (k[j].kind == K_LINE || k[j].kind == K_STOP || (before == limit + 1 && k[before].kind == K_COMMA)))
        return is_lone ? CHOICE_CHOSEN : CHOICE_CLASSES; /* "Es la C.", without a subject */
    while (j > limit && (is_one_of(k[j].kind, light) || is_open_line(k, j)))
        j--;
    if (j <= limit)
        return CHOICE_CLASSES;
    enum choice_class near = near_subject(k, j, sign, is_lone);
    if (near != CHOICE_CLASSES || (k[sign].kind != K_IS && k[sign].kind != K_COLON))
        return near;
    for (size_t n = 0; j > limit && n < REACH; j--, n++) {
        if ((is_one_of(k[j].kind, bounds) && !(k[j].kind == K_BREAK && k[j - 1].kind == K_OPTION)) ||
            (k[j].kind == K_LINE && !is_open_line(k, j)))
            break; /* "the option which fits is C" goes on */
        if (k[j].kind == K_ONLY && (k[j + 1].kind == K_OPTION || k[j + 1].kind == K_LIGHT))
            return CHOICE_CHOSEN;
        if (k[j].kind == K_ANSWER || (k[j].kind == K_OPTION && is_right_noun(k, j)))
            return CHOICE_DECLARED;
        if (k[j].kind == K_OPTION && (is_fit || k[j + 1].kind == K_BREAK))
            return CHOICE_CHOSEN;
        is_fit |= k[j].kind == K_FITS;
    }
    return CHOICE_CLASSES;
}

/* The cell at i of a table: does the first line of the table call its column the answer? */
static int is_answer_column(const struct choice_token *k, size_t i)
{
    size_t column = 0, line = i, head = 0;
    for (int n = 0; k[line].kind != K_LINE; line--, n++) {
        column += k[line].kind == K_BAR;
        if (n > 400)
            return 0; /* no table of that width */
    }
    for (size_t j = line, n_bars = 0, n = 0; n < 400; j--, n++) {
        n_bars += k[j].kind == K_BAR;
        if (k[j].kind == K_LINE && j != line) {
            if (!n_bars)
                break;
            n_bars = 0;
            head = j;
        }
        if (!j)
            break;
    }
    for (size_t j = head + 1; head < line && j < line; j++) {
        if (k[j].kind == K_BAR && !column--)
            return 0;
        if (!column && k[j].kind == K_ANSWER)
            return 1;
    }
    return 0;
}

/* Do the words up to token i only introduce a statement: "Obviously,", "To sum up,"? */
static int is_introduction(const struct choice_token *k, size_t i)
{
    for (size_t n = 0; n < 4 && (k[i].kind == K_LIGHT || k[i].kind == K_LABEL || k[i].kind == K_SO); n++)
        i--;
    return k[i].kind == K_LINE || k[i].kind == K_STOP;
}

/* The role that the token at j gives to the letters behind it. */
static enum choice_class role_of(const struct choice_token *k, size_t j, const struct choice_group *g)
{
    int is_lone = choice_is_lone(k, g->last + 1);
    switch (k[j].kind) {
    case K_BOX:
    case K_CHECK:
        return CHOICE_DECLARED;
    case K_CHOOSE:
    case K_LEAVE:
        return CHOICE_CHOSEN;
    case K_IT: /* "it would be C" */
        return is_lone && k[j + 1].kind == K_WOULD ? CHOICE_CHOSEN : CHOICE_CLASSES;
    case K_ITIS:
        return is_lone || k[g->first - 1].kind == K_OPTION ? CHOICE_CHOSEN : CHOICE_CLASSES;
    case K_CLOSE: /* "[answer] C" */
        return is_lone && j > 1 && k[j - 1].kind == K_ANSWER && k[j - 2].kind == K_OPEN ? CHOICE_DECLARED
                                                                                        : CHOICE_CLASSES;
    case K_RIGHT:
        if (!is_lone && k[j - 1].kind == K_IS) /* "is most likely C in this case" */
            return subject_role(k, j - 1, g->limit, is_lone);
        return is_lone ? CHOICE_DECLARED : CHOICE_CLASSES;
    case K_FIX:
        return is_lone && !k[j].is_own ? CHOICE_DECLARED : CHOICE_CLASSES;
    case K_ANSWER:
        return is_lone ? CHOICE_DECLARED : CHOICE_CLASSES;
    case K_FITS:
        return is_lone ? CHOICE_CHOSEN : CHOICE_CLASSES;
    case K_THINK: /* "A implies B" is no statement, "this implies B" is */
        return is_lone && k[j - 1].kind != K_LETTER ? CHOICE_CHOSEN : CHOICE_CLASSES;
    case K_SO:
        if (k[j - 1].kind == K_ANSWER || k[j - 1].kind == K_LABEL)
            return CHOICE_DECLARED;
        return is_lone && (k[j - 1].kind != K_LETTER || k[j - 1].is_rejected) && !k[j - 1].is_symbol
                   ? CHOICE_CHOSEN
                   : CHOICE_CLASSES;
    case K_COMMA:
        if (is_lone && (k[j - 1].kind == K_ANSWER || is_introduction(k, j - 1)))
            return k[j - 1].kind == K_ANSWER ? CHOICE_DECLARED : CHOICE_CHOSEN;
        return (k[j - 1].kind == K_FIX || k[j - 1].kind == K_SO || k[j - 1].kind == K_CHECK ||
                k[j - 1].kind == K_CHOOSE)
                   ? near_subject(k, j - 1, j, is_lone)
                   : CHOICE_CLASSES;
    case K_LINE:
        return k[g->last + 1].kind == K_BAR && is_answer_column(k, g->first) ? CHOICE_DECLARED
                                                                             : CHOICE_CLASSES;
    case K_BAR:
        if (is_answer_column(k, g->first))
            return CHOICE_DECLARED;
        return subject_role(k, j, g->limit, is_lone);
    case K_IS:
    case K_ARE:
    case K_COLON:
    case K_DASH:
        return subject_role(k, j, g->limit, is_lone);
    default:
        return CHOICE_CLASSES;
    }
}

/* "If the mass were larger, the answer would be C": does the sentence up to token i suppose something, and
 * not only that one has to choose ("If I had to guess, I would say C")? */
static int is_supposed(const struct choice_token *k, size_t i, size_t limit)
{
    int is_if = 0;
    for (size_t n = 0; i > limit && n < 2 * REACH && !is_end(k[i].kind); i--, n++) {
        if (k[i].kind == K_CHOOSE || k[i].kind == K_THINK)
            return 0;
        is_if |= k[i].kind == K_IF;
    }
    return is_if;
}

struct choice_view choice_before(const struct choice_token *k, const struct choice_group *g)
{
    static const enum choice_kind light[] = {K_LIGHT, K_OPTION, K_OPEN,  K_ONLY,
                                             K_BOTH,  K_WOULD,  K_SEEMS, K_END};
    struct choice_view v = {.role = CHOICE_CLASSES, .until = g->last};
    size_t j = g->first - 1;
    int is_would = 0;
    clause_before(&v, k, g);
    for (; j > g->limit && (is_one_of(k[j].kind, light) || is_open_line(k, j)); j--) {
        v.is_only |= k[j].kind == K_ONLY;
        is_would |= k[j].kind == K_WOULD;
    }
    is_would |= j > g->limit && k[j].kind == K_IS && k[j - 1].kind == K_WOULD;
    v.is_hedged |= is_would && is_supposed(k, j, g->limit);
    v.heavy = j > g->limit ? k[j].kind : K_END;
    if (j > g->limit)
        v.role = role_of(k, j, g);
    return v;
}

/* Does a verdict stand behind the sign at i ("C: correct", "B (wrong)", "| B | wrong |")? */
static int is_judged(const struct choice_token *k, size_t i)
{
    static const enum choice_kind verdicts[] = {K_RIGHT, K_WRONG, K_FAILS, K_CHECK, K_CROSS, K_END};
    int is_not = 0;
    if (k[i].kind == K_STOP)
        return k[i + 1].kind == K_CHECK || k[i + 1].kind == K_CROSS;
    for (i++; k[i].kind == K_LIGHT || k[i].kind == K_IS || k[i].kind == K_NOT; i++)
        is_not |= k[i].kind == K_NOT;
    if (is_not && (is_end(k[i].kind) || k[i].kind == K_COMMA || k[i].kind == K_CLOSE))
        return 1;
    return is_one_of(k[i].kind, verdicts);
}

/* Does the line of token i begin with a check mark, so that marks stand before their options? */
static int marks_lead(const struct choice_token *k, size_t i)
{
    for (int n = 0; n < 2 * REACH && k[i].kind != K_LINE; n++)
        i--;
    return k[i].kind == K_LINE && (k[i + 1].kind == K_CHECK || k[i + 1].kind == K_CROSS);
}

/* The verdict with which the line of token i ends, or i: a check mark or cross, or "- wrong", "| correct |".
 */
static size_t line_mark(const struct choice_token *k, size_t i)
{
    static const enum choice_kind before[] = {K_DASH, K_BAR, K_OPEN, K_COLON, K_STOP, K_END};
    static const enum choice_kind behind[] = {K_BAR, K_CLOSE, K_STOP, K_END};
    size_t end = i;
    for (int n = 0; n < REACH && k[end].kind != K_LINE && k[end].kind != K_LETTER; n++)
        end++;
    if (k[end].kind != K_LINE)
        return i;
    for (end--; end > i + 1 && is_one_of(k[end].kind, behind);)
        end--;
    if (end > i && (k[end].kind == K_CHECK || k[end].kind == K_CROSS))
        return end;
    return end > i + 1 && (k[end].kind == K_RIGHT || k[end].kind == K_WRONG) &&
                   is_one_of(k[end - 1].kind, before)
               ? end
               : i;
}

/* "is not the answer" in languages that put the negation last. */
static int is_denied(const struct choice_token *k, size_t i)
{
    static const enum choice_kind light[] = {K_LIGHT, K_RIGHT, K_ANSWER, K_OPTION, K_IS, K_END};
    while (is_one_of(k[i].kind, light))
        i++;
    return k[i].kind == K_FAILS;
}

/* The role that the predicate at i gives to the letters before it. */
static enum choice_class predicate_role(const struct choice_token *k, size_t i, int is_only)
{
    switch (k[i].kind) {
    case K_RIGHT:
    case K_ANSWER:
    case K_CHECK:
        return CHOICE_DECLARED;
    case K_CHOOSE:
    case K_LEAVE:
        return CHOICE_CHOSEN;
    default: /* K_FITS */
        i += k[i + 1].kind == K_LIGHT;
        return k[i + 1].kind == K_RIGHT ? CHOICE_DECLARED : is_only ? CHOICE_CHOSEN : CHOICE_MENTIONED;
    }
}

/* "C if friction is ignored, and D otherwise": does a condition follow the letter, and then another one? */
static int is_conditional(const struct choice_token *k, const struct choice_group *g)
{
    size_t i = g->last + 1;
    if (k[i].kind != K_IF)
        return 0;
    for (int n = 0; n < 2 * REACH && !is_end(k[i].kind); n++, i++)
        if (k[i].kind == K_LETTER && k[i].letter != k[g->first].letter)
            return 1;
    return 0;
}

/* Does the sentence end behind the predicate that goes on at i, "C would be the right answer"? */
static int ends_behind(const struct choice_token *k, size_t i)
{
    static const enum choice_kind noun[] = {K_LIGHT, K_RIGHT, K_ANSWER, K_OPTION, K_END};
    while (is_one_of(k[i].kind, noun))
        i++;
    return is_end(k[i].kind);
}

/* Does a condition follow: "is right if", "is true only when"? */
static int is_limited(const struct choice_token *k, size_t i)
{
    return k[i].kind == K_IF || (k[i].kind == K_ONLY && (k[i + 1].kind == K_IF || k[i + 1].kind == K_BREAK));
}

struct choice_view choice_behind(const struct choice_token *k, const struct choice_group *g)
{
    static const enum choice_kind light[] = {K_LIGHT, K_IS,    K_ARE,   K_OPTION, K_LABEL, K_BOTH,
                                             K_CLOSE, K_WOULD, K_SEEMS, K_IT,     K_ITIS,  K_ONLY,
                                             K_NOT,   K_HEDGE, K_SO,    K_END};
    static const enum choice_kind good[] = {K_RIGHT, K_ANSWER, K_CHECK, K_CHOOSE, K_LEAVE, K_FITS, K_END};
    static const enum choice_kind bad[] = {K_WRONG, K_FAILS, K_CROSS, K_END};
    static const enum choice_kind signs[] = {K_COLON, K_BAR, K_DASH, K_OPEN, K_STOP, K_END};
    struct choice_view v = {.role = CHOICE_CLASSES, .until = g->last};
    int is_weak = 0, is_would = 0, n_not = 0, is_only = 0, is_it = 0, is_marked = marks_lead(k, g->first);
    size_t i = g->last + 1, n = 0;
    for (; n < REACH && (is_one_of(k[i].kind, light) || (is_one_of(k[i].kind, signs) && is_judged(k, i)));
         i++, n++) {
        n_not += k[i].kind == K_NOT;
        is_weak |= k[i].kind == K_SEEMS;
        is_only |= k[i].kind == K_ONLY;
        is_it |= k[i].kind == K_ITIS || (k[i].kind == K_IT && k[i - 1].kind == K_IS) ||
                 (k[i].kind == K_IT && k[i + 1].kind == K_IS);
        v.is_hedged |= k[i].kind == K_HEDGE;
        is_would |= k[i].kind == K_WOULD;
    }
    v.is_hedged |= k[g->last + 1].kind == K_OR || is_conditional(k, g); /* "C or something else" */
    int is_start = k[g->first - 1].kind == K_LINE || (k[g->first - 1].kind == K_BAR && k[i].kind == K_BAR);
    if (is_start && (k[i].kind == K_OTHER || k[i].kind == K_DASH || k[i].kind == K_COLON ||
                     k[i].kind == K_BAR || k[i].kind == K_STOP))
        i = line_mark(k, i);
    if (is_marked && (k[i].kind == K_CHECK || k[i].kind == K_CROSS))
        return v;
    if (is_one_of(k[i].kind, good)) {
        v.is_rejected = n_not % 2 || is_denied(k, i + 1);
        v.role = v.is_rejected ? CHOICE_CLASSES : is_weak ? CHOICE_MENTIONED : predicate_role(k, i, is_only);
        v.is_hedged |= (is_would && !ends_behind(k, i + 1)) || is_limited(k, i + 1);
        for (v.until = i; v.is_rejected && is_denied(k, v.until);)
            v.until++;
    } else if (is_one_of(k[i].kind, bad)) {
        v.is_rejected = n_not % 2 == 0;
        v.is_hedged |= !v.is_rejected; /* "cannot be excluded" */
        v.until = i;
    } else if (n_not % 2 && k[i].kind != K_LETTER && k[i].kind != K_BREAK) {
        v.is_rejected = 1;
        v.until = i - 1;
    } else if ((is_only && n > 1) || (is_it && is_end(k[i].kind))) {
        v.role = CHOICE_CHOSEN;
    }
    return v;
}
