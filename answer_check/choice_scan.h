#ifndef ANSWER_CHECK_CHOICE_SCAN_H
#define ANSWER_CHECK_CHOICE_SCAN_H

#include "answer_check/response.h"

/* Where a letter may be declared, strongest class first. */
enum choice_class { CHOICE_DECLARED, CHOICE_CHOSEN, CHOICE_ALONE, CHOICE_MENTIONED, CHOICE_CLASSES };

struct choice_found {
    char letter[CHOICE_CLASSES];   /* the last of its class, 0: none */
    int conflicts[CHOICE_CLASSES]; /* that declaration names several letters, or mentions differ */
    size_t until;                  /* while scanning: where the last conflicting declaration ends */
};

/* finish: at the length limit the last byte may be the start of a word. */
void choice_scan(struct choice_found *out, struct span section, int n_options, enum finish finish,
                 struct arena *a);

#endif
