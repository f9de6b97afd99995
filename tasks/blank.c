/* An empty answer (contract: blank.h). */
#include "tasks/blank.h"

int grade_blank(struct grade *out, const struct response *r, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
            return 0;
    int is_cut = r->finish == FINISH_LENGTH;
    *out = (struct grade){.verdict = is_cut ? VERDICT_TRUNCATED : VERDICT_UNPARSED,
                          .reason = is_cut ? "The length limit came before an answer."
                                           : "The answer section is empty.",
                          .gold_form = "",
                          .pred_form = ""};
    return 1;
}
