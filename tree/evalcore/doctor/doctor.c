/* The order of the checks of a model (contract: doctor.h). */
#include "evalcore/doctor/doctor_parts.h"

int doctor_model(const struct doctor_order *o)
{
    struct patient p = {.order = o, .model = o->engine.model};
    doctor_files(&p);
    doctor_memory(&p);
    doctor_tokenizer(&p);
    doctor_chat(&p);
    doctor_answer(&p);
    chat_own_release(&p.chat);
    tokenizer_close(p.tokenizer);
    token_list_release(&p.prompt);
    return p.faults;
}
