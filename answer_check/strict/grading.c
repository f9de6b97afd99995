/* Verdicts of one response, and what --explain shows of it (contract: grading.h). */
#include "answer_check/strict/grading.h"

#include <stdint.h>
#include <string.h>

/* Parses the reference when it is first needed: a response without an answer needs no tree of it. */
const struct answer *grading_reference(struct grading *g)
{
    if (!g->reference_read)
        g->reference = answer_read(g->w, g->gold);
    g->reference_read = 1;
    return &g->reference;
}

struct answer_match grading_compare(struct grading *g, const struct answer *pred)
{
    return answer_compare(g->w, grading_reference(g), pred, g->rules);
}

/* Notes that the rule took the text. */
void grading_note(struct grading *g, const char *rule, struct span took)
{
    const char *text = g->response->text;
    if (!g->place)
        g->place = arena_alloc(g->w->arena, PLACES_MAX * sizeof *g->place);
    if (g->n_places == PLACES_MAX)
        return;
    int is_piece =
        (uintptr_t)took.s >= (uintptr_t)text && (uintptr_t)took.s < (uintptr_t)text + g->response->len;
    g->place[g->n_places++] = (struct grade_step){
        .rule = rule, .took = grade_form(g->w->arena, took.s, took.n), .at = is_piece ? took.s - text : -1};
}

/* Notes what became of the place that was noted last. */
void grading_note_then(struct grading *g, const char *what, struct span by)
{
    if (g->n_places)
        g->place[g->n_places - 1].then =
            arena_printf(g->w->arena, "%s: %s", what, grade_form(g->w->arena, by.s, by.n));
}

/* The verdict of an answer that is shown as text, not as the tree that it was read as. */
int grading_as_text(const struct grading *g, struct span pred, enum verdict v, const char *reason)
{
    grade_set(g->out, v, reason);
    g->out->pred_form = grade_form(g->w->arena, pred.s, pred.n);
    g->out->gold_form = grade_form(g->w->arena, g->gold.s, g->gold.n);
    return 0;
}

int grading_too_long(const struct grading *g, struct span pred)
{
    return grading_as_text(g, pred, VERDICT_WRONG, "The answer is longer than 16384 bytes.");
}

/* The verdict of an answer that was compared already. */
int grading_decide(struct grading *g, const struct answer *pred, const struct answer_match *m,
                   const char *where)
{
    struct arena *a = g->w->arena;
    if (pred->text.n > ANSWER_MAX)
        return grading_too_long(g, pred->text);
    grade_set(g->out, m->equal ? VERDICT_CORRECT : VERDICT_WRONG,
              arena_printf(a, "%s %s the reference, compared %s.", where,
                           m->equal ? "equals" : "differs from", m->how));
    answer_forms(g->out, grading_reference(g), pred, m, a);
    return 0;
}

/* The verdict of an answer that was read but not compared. */
int grading_answer(struct grading *g, const struct answer *pred, const char *where)
{
    struct answer_match m = grading_compare(g, pred);
    return grading_decide(g, pred, &m, where);
}

/* Reads, compares and grades a text. */
int grading_text(struct grading *g, struct span text, const char *where)
{
    if (text.n > ANSWER_MAX)
        return grading_too_long(g, text);
    struct answer pred = answer_read(g->w, extract_single_backslashes(text, g->w->arena));
    return grading_answer(g, &pred, where);
}

/* The content of a box without words that announce it: "\text{Answer: }204". */
struct span grading_without_announcement(struct span s)
{
    static const char *const fonts[] = {"\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{", "\\textrm{", ""};
    static const char *const words[] = {"the final answer is",
                                        "final answer is",
                                        "the answer is",
                                        "answer is",
                                        "final answer",
                                        "answer",
                                        "ans"};
    for (size_t k = 0; k < sizeof fonts / sizeof *fonts; k++) {
        size_t n = strlen(fonts[k]), i = n;
        if (n && !span_at(s, 0, fonts[k]))
            continue;
        for (size_t j = 0; j < sizeof words / sizeof *words && i == n; j++)
            if (span_starts((struct span){s.s + n, s.n - n}, words[j]))
                i += strlen(words[j]);
        if (i == n || i >= s.n || ascii_is_letter(s.s[i]))
            continue;
        int is_marked = s.s[i - 1] == 's';
        for (; i < s.n && strchr(": =.", s.s[i]); i++)
            is_marked |= s.s[i] == ':' || s.s[i] == '=' || (n && s.s[i] == '.');
        if (n && (i >= s.n || s.s[i] != '}'))
            continue;
        struct span rest = span_trim((struct span){s.s + i + (n > 0), s.n - i - (n > 0)});
        return rest.n && (is_marked || n) ? rest : s;
    }
    return s;
}
