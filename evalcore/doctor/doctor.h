#ifndef EVALCORE_DOCTOR_DOCTOR_H
#define EVALCORE_DOCTOR_DOCTOR_H

#include "engine/engine.h"
#include "evalcore/base/err.h"
#include "evalcore/cli/command.h"

/* The room that looks at a machine or a model before anything is measured with it. The command `doctor` comes
 * in. */

/* Prints a line for each check of this machine, "ok" or "FAIL": build and system, processor, memory, the disk
 * of out_dir, cache, GPUs, graders, the sandbox for programs, and the engine's tokens of a known problem.
 * Returns how many failed. The output goes into bug reports, so it names neither host nor user. threads: of
 * the engine, 0: its default. */
int doctor_machine(const struct process_env *p, const char *out_dir, int threads);

/* What of a model is looked at: files, shapes, memory, tokenizer, chat template, and one answer. */
struct doctor_order {
    struct engine_options engine; /* model: "pocket", a folder, or "random:CONFIG.json". max_context and
                                   * max_batch are the budget that memory is counted for; 0: the model's
                                   * context and the engine's default */
    const char *question;         /* what the chat form is shown with and what is answered */
    int answer_tokens;            /* longest answer */
};

/* Prints each check on standard output: "ok", "warning" or "fault", what was looked at, what was found, and
 * behind "->" the way out. A fault does not end it: whatever can still be looked at is. Returns how many
 * faults there are. */
int doctor_model(const struct doctor_order *o);

#endif
