/* What lines tell about the answer (contract: choice_scan.h): the last line or sentence that is a letter or
 * one option with its text, and the only option that a line starts with. */
#include "answer_check/choice/choice_scan.h"

/* A list of options has lines that start with different letters. */
struct labels {
    char only;      /* the option that lines start with */
    int is_several; /* different ones, however they are written */
};

/* Does the line whose first token is i start like an option ("B. twelve metres", "**C)** because", "(D)", "C"
 * alone)? A colon or a dash behind the letter makes a list of such lines, but no answer of one. */
static char label_at(const struct choice_token *k, size_t i, int *is_weak)
{
    enum choice_kind next = k[i + 1].kind;
    *is_weak = next == K_COLON || next == K_DASH;
    if (k[i].kind != K_LETTER || k[i].is_small || k[i].is_rejected)
        return 0;
    if (k[i].dress == CHOICE_BRACKETED || next == K_STOP || next == K_LINE)
        return k[i].letter;
    if (k[i].dress == CHOICE_ENCLOSED && (next == K_COLON || next == K_OTHER || next == K_CLOSE))
        return k[i].letter;
    return *is_weak ? k[i].letter : 0;
}

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
                              k[i].kind == K_ANSWER);)
            i++;
        return i == end || k[i].kind == K_BREAK;
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

static int is_skipped(enum choice_kind kind)
{
    return kind == K_LIGHT || kind == K_OPTION || kind == K_OPEN || kind == K_DASH || kind == K_SO;
}

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
    int is_several = 0;
    for (i = letter + 1; i < end; i++) {
        enum choice_kind kind = k[i].kind;
        if (kind == K_LETTER)
            is_several |= k[i].letter != k[letter].letter;
        else if (kind != K_CLOSE &&
                 !(k[i + 1].kind == K_LETTER && (kind == K_AND || kind == K_OR || kind == K_COMMA)))
            break;
    }
    while (i < end && k[i].kind == K_LIGHT)
        i++;
    if (i < end && (is_several || is_list || !is_text(k, letter, i, end)))
        return;
    if (i == end && follows_letter(k, start - 1, k[letter].letter))
        return;
    out->letter[CHOICE_ALONE] = k[letter].letter;
    out->conflicts[CHOICE_ALONE] = is_several ? CHOICE_SEVERAL : CHOICE_AGREES;
}

void choice_scan_lines(struct choice_found *out, const struct choice_token *k, size_t n)
{
    struct labels l = scan_labels(k, n);
    scan_last(out, k, n, l.is_several);
    if (!l.is_several)
        out->letter[CHOICE_LABELLED] = l.only;
}
