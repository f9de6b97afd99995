/* Finds statements about option letters in an answer section, by class (contract: choice_scan.h). Letters
 * that stand together are judged together, by the words before and behind them. A statement that is taken
 * back, or that names an option which is rejected afterwards, states nothing. */
#include "answer_check/choice/choice_scan.h"

#include <string.h>

/* ---- what lines tell: the last line or sentence that is a letter or one option with its text, and the only
 * option that a line starts with ---- */

/* A list of options has lines that start with different letters. */
struct labels {
    char only;      /* the option that lines start with */
    int is_several; /* different ones, however they are written */
};

enum { LABEL_REACH = 24 };

/* Does the line whose first token is i start like an option ("B. twelve metres", "**C)** because", "(D)", "C"
 * alone)? A colon or a dash behind the letter makes a list of such lines, but no answer of one. */
static char label_at(const struct choice_token *k, size_t i, int *is_weak)
{
    enum choice_kind next = k[i + 1].kind;
    *is_weak = next == K_COLON || next == K_DASH;
    if (k[i].kind != K_LETTER || k[i].is_small || k[i].is_rejected)
        return 0;
    for (size_t j = i + 1; k[j].kind != K_LINE && k[j].kind != K_END && j < i + LABEL_REACH; j++)
        if (k[j].kind == K_LETTER && k[j].dress == CHOICE_BRACKETED && k[j].letter != k[i].letter)
            return 0; /* a list of options in one line */
    if (k[i].dress == CHOICE_BRACKETED || next == K_STOP || next == K_LINE)
        return k[i].letter;
    if (k[i].dress == CHOICE_ENCLOSED && (next == K_COLON || next == K_OTHER || next == K_CLOSE))
        return k[i].letter;
    return *is_weak ? k[i].letter : 0;
}

/* Does the sentence before token i say what will be looked at ("Let me evaluate each option."), so that an
 * option with its text behind it is the first of these? */
static int is_planned(const struct choice_token *k, size_t i)
{
    while (i && (k[i - 1].kind == K_LINE || k[i - 1].kind == K_STOP || k[i - 1].kind == K_COLON))
        i--;
    for (; i && k[i - 1].kind != K_LINE && k[i - 1].kind != K_STOP && k[i - 1].kind != K_LETTER; i--)
        if (k[i - 1].kind == K_IF)
            return 1;
    return 0;
}

/* Which options do lines start with? */
static struct labels scan_labels(const struct choice_token *k, size_t n)
{
    struct labels l = {0, 0};
    char any = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        int is_weak;
        char letter = k[i].kind == K_LINE ? label_at(k, i + 1, &is_weak) : 0;
        if (!letter)
            continue;
        l.is_several |= any && any != letter;
        any = letter;
        if (!is_weak || k[i + 1].dress == CHOICE_BRACKETED)
            l.only = letter;
        l.is_several |= k[i + 2].kind != K_LINE && k[i + 2].kind != K_STOP && is_planned(k, i + 1);
    }
    return l;
}

/* Does text that can belong to the option follow from i on: "C (7 eV)", "C: 7 eV", "C) 7 eV", "C because"? */
static int is_text(const struct choice_token *k, size_t letter, size_t i, size_t end)
{
    switch (k[i].kind) {
    case K_BREAK:
        return 1;
    case K_COMMA:
        for (i++; i < end && (k[i].kind == K_LIGHT || k[i].kind == K_THINK || k[i].kind == K_LABEL ||
                              k[i].kind == K_ANSWER || k[i].kind == K_RIGHT);)
            i++;
        return i == end || k[i].kind == K_BREAK || k[i].kind == K_REST;
    case K_COLON:
    case K_DASH:
    case K_SO:
        return k[i + 1].kind != K_LETTER;
    case K_OPEN:
        return k[i].is_spaced && k[end - 1].kind == K_CLOSE;
    default:
        return k[letter].dress == CHOICE_BRACKETED && k[i].kind != K_LETTER;
    }
}

/* Is there another letter alone in the sentence or line that ends at token i? */
static int follows_letter(const struct choice_token *k, size_t i, char letter)
{
    return i > 1 && k[i - 1].kind == K_LETTER && k[i - 1].letter != letter &&
           (k[i - 2].kind == K_LINE || k[i - 2].kind == K_STOP);
}

/* May the token stand before the letter in a line that is an answer by itself? */
static int is_skipped(enum choice_kind kind)
{
    return kind == K_LIGHT || kind == K_OPTION || kind == K_OPEN || kind == K_DASH || kind == K_SO;
}

/* Notes the letter of the last line or sentence, if it states nothing else. is_list: options were listed. */
static void scan_last(struct choice_found *out, const struct choice_token *k, size_t n, int is_list)
{
    size_t end = n, start, i, letter;
    while (end && (k[end - 1].kind == K_LINE || k[end - 1].kind == K_END || k[end - 1].kind == K_STOP))
        end--;
    for (start = end; start && k[start - 1].kind != K_LINE && k[start - 1].kind != K_STOP &&
                      k[start - 1].kind != K_QUESTION;)
        start--;
    for (letter = start; letter < end && is_skipped(k[letter].kind);)
        letter++;
    if (letter >= end || k[letter].kind != K_LETTER || k[letter].is_rejected || !start)
        return;
    if (k[letter].is_small && k[letter].dress == CHOICE_NAMED && k[letter - 1].kind != K_OPTION)
        return;
    int is_several = 0, is_more = 0;
    for (i = letter + 1; i < end; i++)
        is_more |= k[i].kind == K_LETTER && k[i].letter != k[letter].letter && k[i].dress == CHOICE_BRACKETED;
    for (i = letter + 1; i < end; i++) {
        enum choice_kind kind = k[i].kind;
        if (kind == K_LETTER)
            is_several |= k[i].letter != k[letter].letter;
        else if (kind != K_CLOSE &&
                 !(k[i + 1].kind == K_LETTER && (kind == K_AND || kind == K_OR || kind == K_COMMA)))
            break;
    }
    while (i < end && (k[i].kind == K_LIGHT || k[i].kind == K_ONLY))
        i++;
    for (size_t j = i; j < end && k[i].kind == K_COLON; j++)
        if (k[j].kind == K_IF)
            return; /* "Option C: let me check" */
    if (i < end && (is_several || is_list || is_more || !is_text(k, letter, i, end)))
        return;
    if ((i < end || k[end - 1].kind == K_COLON) && is_planned(k, start))
        return;
    if (i == end && follows_letter(k, start - 1, k[letter].letter))
        return;
    out->letter[CHOICE_ALONE] = k[letter].letter;
    out->conflicts[CHOICE_ALONE] = is_several ? CHOICE_SEVERAL : CHOICE_AGREES;
}

static void scan_lines(struct choice_found *out, const struct choice_token *k, size_t n)
{
    struct labels l = scan_labels(k, n);
    scan_last(out, k, n, l.is_several);
    if (!l.is_several)
        out->letter[CHOICE_LABELLED] = l.only;
}

/* ---- statements ---- */

struct scanner {
    struct choice_token *k;
    struct choice_found *out;
    size_t until;                    /* the last token that the group before has used */
    int is_fixing;                   /* "wait" or "actually" came behind the last statement */
    int has_rejected;                /* in this sentence */
    enum choice_class rejected_role; /* the role that the rejected letter would have had */
    char judged;                     /* the letter that the last words such as "is correct" declared */
};

/* The token of the letter to which joining words or a comma at i lead, or 0. *is_comma says whether only
 * commas have joined the group so far, *is_nor whether a "nor" did. */
static size_t joined_letter(const struct choice_token *k, size_t i, int *is_comma, int *is_nor)
{
    int is_joined = 0, is_closed = !*is_comma;
    for (; k[i].kind == K_CLOSE;)
        i++;
    for (int n = 0; n < 6; n++, i++) {
        enum choice_kind kind = k[i].kind;
        if (kind == K_LETTER)
            return is_joined ? i : 0;
        if (kind == K_AND || kind == K_OR || kind == K_NEITHER)
            is_joined = 1, *is_comma = 0, *is_nor |= kind == K_NEITHER;
        else if (kind == K_COMMA && (!is_closed || k[i + 1].kind == K_AND || k[i + 1].kind == K_OR))
            is_joined = 1; /* in "unlike A and B, C" the list ends before the comma */
        else if (kind == K_BOX)
            is_joined |= !is_joined;
        else if (!is_joined || (kind != K_LIGHT && kind != K_OPTION && kind != K_HEDGE && kind != K_CLOSE &&
                                kind != K_BOTH && kind != K_OPEN && kind != K_ANSWER &&
                                !(kind == K_COLON && k[i - 1].kind == K_ANSWER)))
            return 0;
    }
    return 0;
}

/* In "C, B is a trap" and "it is C and B is wrong" another statement starts at the letter `next`. */
static int starts_anew(const struct choice_token *k, const struct choice_group *g, size_t next, int is_comma)
{
    enum choice_kind behind, before = k[g->first - 1].kind;
    size_t i = next + 1;
    while (k[i].kind == K_CLOSE)
        i++;
    behind = k[i].kind;
    if (is_comma)
        return behind == K_IS || behind == K_OTHER || behind == K_LIGHT || behind == K_RIGHT ||
               behind == K_WRONG || behind == K_FAILS || behind == K_NOT || behind == K_FITS;
    return (behind == K_IS || behind == K_FAILS || behind == K_NOT) &&
           (before == K_IS || before == K_COLON || before == K_CHOOSE);
}

/* "none of A, B is", "none of the options A, B is" */
static int follows_none(const struct choice_token *k, size_t first)
{
    size_t i = first - 1;
    int others = 0; /* "none of the four options" */
    while (k[i].kind == K_LIGHT || k[i].kind == K_LIST || k[i].kind == K_OPTION || k[i].kind == K_OPEN ||
           k[i].kind == K_COLON || (k[i].kind == K_OTHER && others++ < 2))
        i--;
    return k[i].kind == K_NEITHER;
}

/* The group of letters that begins at token `first`. *is_nor: set where "nor" joins a letter to it. */
static struct choice_group group_at(const struct scanner *s, size_t first, int *is_nor)
{
    const struct choice_token *k = s->k;
    struct choice_group g = {first, first, s->until, 0};
    size_t second = 0, next;
    int is_comma = 1, is_first_comma = 0, is_none = follows_none(k, first);
    while ((next = joined_letter(k, g.last + 1, &is_comma, is_nor)) &&
           (is_none || !starts_anew(k, &g, next, is_comma))) {
        if (!second) {
            second = next;
            is_first_comma = is_comma;
        }
        g.is_several |= k[next].letter != k[first].letter;
        g.last = next;
    }
    if (k[first - 1].kind == K_OPEN && k[first - 2].kind == K_BOX && k[g.last + 1].kind == K_LETTER)
        g.is_several |= k[++g.last].letter != k[first].letter; /* \boxed{C D} */
    /* "it is C, A and B are wrong" */
    if (is_first_comma && k[g.last + 1].kind == K_ARE && k[first - 1].kind != K_LINE &&
        k[first - 1].kind != K_STOP && (k[first - 1].kind == K_IS || k[first - 1].kind == K_CHOOSE)) {
        g.last = first;
        g.is_several = 0;
    }
    return g;
}

/* Does the sentence of the group ask? A parenthesis behind the letter may ask for itself. */
static int is_asked(const struct choice_token *k, size_t i)
{
    for (int n = 0; n < 40; n++, i++) {
        if (k[i].kind == K_QUESTION)
            return 1;
        if (k[i].kind == K_STOP || k[i].kind == K_LINE || k[i].kind == K_END || k[i].kind == K_OPEN)
            return 0;
    }
    return 0;
}

/* "12 cm (C)", "12 cm (option C)" */
static int is_parenthesis(const struct choice_token *k, size_t i)
{
    return k[i].dress == CHOICE_BRACKETED || (k[i - 1].kind == K_OPTION && k[i - 2].kind == K_OPEN);
}

/* Does a mention that ends at token i stop there? Other words behind it make it a subject or a heading, of
 * which nothing is stated: "Option A says that", "Option B:". */
static int is_stated(const struct choice_token *k, size_t i)
{
    if (k[i + 1].kind == K_COLON)
        return 0;
    return choice_is_lone(k, i + 1) || (k[i].dress == CHOICE_BRACKETED && !is_planned(k, i));
}

/* Notes that the text states the letter in that role. */
static void note_letter(struct choice_found *out, enum choice_class role, char letter, int is_several)
{
    int is_unstated = role == CHOICE_MENTIONED && out->conflicts[role] == CHOICE_UNSTATED;
    if (role == CHOICE_MENTIONED)
        is_several |=
            (out->conflicts[role] && !is_unstated) || (out->letter[role] && out->letter[role] != letter);
    out->letter[role] = letter;
    out->conflicts[role] = is_several ? CHOICE_SEVERAL : is_unstated ? CHOICE_UNSTATED : CHOICE_AGREES;
}

/* What was stated, of this letter or (0) of any, holds no longer. */
static void take_back(struct choice_found *out, char letter)
{
    for (int role = CHOICE_DECLARED; role <= CHOICE_CHOSEN; role++)
        if (out->letter[role] && (!letter || out->letter[role] == letter) && !out->conflicts[role])
            out->conflicts[role] = CHOICE_TAKEN_BACK;
}

/* Notes that the text says these letters are not the answer, with the role that they would have had. */
static void reject_group(struct scanner *s, const struct choice_group *g, enum choice_class role,
                         int is_asked)
{
    for (size_t i = g->first; i <= g->last; i++)
        if (s->k[i].kind == K_LETTER) {
            s->k[i].is_rejected = 1;
            if (!is_asked)
                take_back(s->out, s->k[i].letter);
        }
    s->has_rejected = 1;
    s->rejected_role = role < CHOICE_CHOSEN ? role : CHOICE_CHOSEN;
}

/* Is the letter before token i preferred to another: "C rather than A", "C, not A"? */
static int is_preferred(const struct choice_token *k, size_t i)
{
    size_t start = i;
    i += k[i].kind == K_COMMA;
    i += k[i].kind == K_AND || k[i].kind == K_BUT;
    return k[i].kind == K_THAN || (k[i].kind == K_NOT && i > start);
}

/* Is the group what a verb that rejects its subject is about: "A contradicts B"? */
static int is_object(const struct scanner *s, const struct choice_group *g)
{
    size_t i = g->first - 1;
    while (i > g->limit && s->k[i].kind == K_LIGHT)
        i--;
    return i == g->limit && s->k[i].kind == K_FAILS && s->k[i].is_own;
}

/* The role of a group that is not rejected. */
static enum choice_class role_of(const struct scanner *s, const struct choice_group *g,
                                 const struct choice_view *before, const struct choice_view *behind)
{
    const struct choice_token *letter = &s->k[g->first];
    int is_lone = choice_is_lone(s->k, g->last + 1), is_option = s->k[g->first - 1].kind == K_OPTION;
    enum choice_class role = before->role;
    /* "group A is right" speaks of a group; a small letter is the subject of nothing */
    if (behind->role < role && !(letter->is_small && !is_option) &&
        !(letter->dress == CHOICE_BARE &&
          (s->k[g->first - 1].kind == K_OTHER || s->k[g->first - 1].kind == K_PLACE)))
        role = behind->role;
    if (before->is_only && role > CHOICE_CHOSEN && before->heavy != K_OTHER && !letter->is_small)
        role = CHOICE_CHOSEN;
    if (role > CHOICE_CHOSEN && before->is_except && behind->is_rejected)
        role = CHOICE_CHOSEN;
    if (role > CHOICE_CHOSEN && s->has_rejected &&
        (before->heavy == K_BUT || before->heavy == K_GIVES ||
         (is_lone && ((before->heavy == K_END && !is_object(s, g)) || before->heavy == K_COMMA ||
                      before->heavy == K_COLON))))
        role = s->rejected_role;
    if (role > CHOICE_CHOSEN && before->heavy == K_BUT && is_lone)
        role = CHOICE_CHOSEN;
    if (role > CHOICE_CHOSEN && (before->heavy == K_LINE || before->heavy == K_STOP) &&
        is_preferred(s->k, g->last + 1))
        role = CHOICE_CHOSEN;
    if (s->is_fixing && (role == CHOICE_CHOSEN || (role > CHOICE_CHOSEN && is_lone && !letter->is_small &&
                                                   (before->heavy == K_STOP || before->heavy == K_LINE))))
        role = CHOICE_DECLARED;
    return role;
}

/* Does the text name the option without a statement: "(B)", "**B**", "option B"? */
static int is_mention(const struct choice_token *k, size_t i)
{
    int is_option = k[i - 1].kind == K_OPTION;
    if (k[i - 1].kind == K_PLACE)
        return 0;
    if (k[i].is_small)
        return is_option && k[i].letter != 'A';
    return is_option || k[i].dress == CHOICE_ENCLOSED || k[i].dress == CHOICE_BRACKETED;
}

/* Decides what the words around a group say of it, and notes that. */
static void judge_group(struct scanner *s, const struct choice_group *g, int is_nor)
{
    const struct choice_token *k = s->k;
    struct choice_view before = choice_before(k, g), behind = choice_behind(k, g);
    int asked = is_asked(k, g->last + 1);
    int is_rejected =
        before.is_rejected || is_nor || (before.is_except ? !behind.is_rejected : behind.is_rejected);
    s->until = before.is_rejected ? g->last : behind.until;
    if (is_rejected) {
        reject_group(s, g, before.role, asked);
        return;
    }
    enum choice_class role = role_of(s, g, &before, &behind);
    char letter = k[g->first].letter;
    int is_hedged = before.is_hedged || (behind.is_hedged && !before.is_only) || asked,
        is_several = g->is_several;
    if (role > CHOICE_CHOSEN && before.heavy == K_TOO && s->judged) {
        note_letter(s->out, CHOICE_DECLARED, letter, letter != s->judged);
        return;
    }
    int is_named = role > CHOICE_CHOSEN && role != CHOICE_MENTIONED && is_mention(k, g->first),
        is_other = before.heavy == K_BREAK || before.heavy == K_IF || before.heavy == K_FIX ||
                   (before.heavy == K_OTHER && !is_parenthesis(k, g->first));
    if (is_named)
        role = CHOICE_MENTIONED;
    if (role == CHOICE_CLASSES)
        return;
    if (is_hedged && !(is_several && role <= CHOICE_CHOSEN && !asked))
        role = CHOICE_MENTIONED;
    /* "The answer is A or B. I choose A." */
    if (role == CHOICE_CHOSEN && s->out->conflicts[CHOICE_DECLARED])
        role = CHOICE_DECLARED;
    /* "A is correct. B is correct.", "A is correct and so is B" */
    int is_judged = behind.role == CHOICE_DECLARED || before.heavy == K_CHECK;
    if (role == CHOICE_DECLARED && is_judged && s->judged && s->judged != letter && !s->is_fixing)
        is_several = 1;
    if (role == CHOICE_DECLARED)
        s->judged = is_judged ? letter : 0;
    int is_unstated = is_named && !s->out->letter[role] && (is_other || !is_stated(k, g->last));
    note_letter(s->out, role, letter, is_several || is_hedged);
    if (is_unstated && s->out->conflicts[role] == CHOICE_AGREES)
        s->out->conflicts[role] = CHOICE_UNSTATED;
    s->is_fixing = 0;
}

/* Does the sentence from token i to `end` do nothing but take back what was said ("No, that is wrong")? */
static int takes_back(const struct choice_token *k, size_t i, size_t end)
{
    int is_against = 0, n_fix = 0,
        is_about = i + 1 < end && (k[i].kind == K_IS || (k[i].kind == K_LIGHT && k[i + 1].kind == K_IS) ||
                                   k[i].kind == K_BOTH);
    for (; i < end && !(k[i].kind == K_BREAK && (is_against || n_fix)); i++)
        switch (k[i].kind) {
        case K_NOT:
        case K_WRONG:
        case K_FAILS:
            is_against++;
            break;
        case K_FIX:
            n_fix += 1 + k[i].is_own;
            is_about = 1;
            break;
        case K_IT:
        case K_ITIS:
            is_about = 1;
            break;
        case K_LIGHT:
        case K_IS:
        case K_ARE:
        case K_BOTH:
        case K_BUT:
        case K_COMMA:
        case K_RIGHT:
        case K_ANSWER:
        case K_DASH:
            break;
        default:
            return 0;
        }
    return (is_against % 2 && is_about) || n_fix > 1;
}

/* Does no clause about what was said begin at token i: "but that is", "which is"? */
static int is_inside(const struct choice_token *k, size_t i)
{
    return k[i].kind != K_BUT && !(k[i].kind == K_BREAK && k[i + 1].kind == K_IS);
}

/* Does the sentence that ends at token `end` take back what it has said itself: "It is C, which is wrong"? */
static int takes_itself_back(const struct scanner *s, size_t start, size_t end)
{
    size_t i = s->until + 1;
    if (s->until <= start)
        return 0;
    while (i < end && is_inside(s->k, i))
        i++;
    return i < end && takes_back(s->k, i + 1, end);
}

static void scan_tokens(struct scanner *s, size_t n)
{
    size_t start = 0;
    for (size_t i = 1; i < n; i++) {
        enum choice_kind kind = s->k[i].kind;
        int is_nor = 0;
        if (kind == K_FIX) {
            s->is_fixing = 1;
        } else if (kind == K_LETTER) {
            struct choice_group g = group_at(s, i, &is_nor);
            judge_group(s, &g, is_nor);
            i = g.last;
        } else if (kind == K_STOP || kind == K_QUESTION || kind == K_LINE) {
            if (takes_back(s->k, start + 1, i) || takes_itself_back(s, start, i))
                take_back(s->out, 0);
            s->has_rejected = 0;
            start = i;
        }
    }
}

void choice_scan(struct choice_found *out, struct span section, int n_options, enum finish finish,
                 struct arena *a)
{
    size_t n;
    memset(out, 0, sizeof *out);
    struct scanner s = {.k = choice_tokens(&n, choice_plain(section, a), n_options, finish, a), .out = out};
    scan_tokens(&s, n);
    scan_lines(out, s.k, n);
}
