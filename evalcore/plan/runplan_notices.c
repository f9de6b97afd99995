/* What people are told about a plan (contract: runplan.h and runplan_parts.h). */
#include "evalcore/plan/runplan_parts.h"

#include <string.h>

#include "evalcore/base/log.h"

/* Says once what a reader of the run file would not expect of "auto". */
void runplan_tell_chat(const struct runplan *p)
{
    struct str text = {0};
    const struct runfile *f = p->file;
    int s = 0;
    while (s < f->n_settings && strcmp(f->settings[s].s.chat, "auto"))
        s++;
    if (s < f->n_settings && p->n_lanes && chat_own_notice(p->lanes[0].chat, &text))
        log_warn("%s", str_text(&text));
    str_release(&text);
}

void runplan_tell_taken(const struct runplan *p)
{
    for (int i = 0; i < p->n_cells; i++) {
        const struct policy_spec *s = &p->cells[i].spec;
        int told = !s->taken;
        for (int k = 0; k < i && !told; k++)
            told = p->cells[k].spec.ops == s->ops && runplan_same_text(p->cells[k].spec.taken, s->taken);
        if (!told)
            log_info("policy %s: %s", policy_name(s->ops), s->taken);
    }
}
