/* One answer, decoded greedily with full attention: shapes and weights fit each other, and words come out. */
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/doctor/doctor_parts.h"

/* Decodes p->prompt. *done is valid until the engine closes. */
static int decode_answer(const struct patient *p, struct engine *en, const struct completion **done,
                         struct err *e)
{
    struct arena a = {0};
    struct policy_spec spec;
    const char *end = p->form ? p->form->end : NULL;
    struct request r = {.prompt = p->prompt.id,
                        .n_prompt = (int)p->prompt.n,
                        .max_new_tokens = p->order->answer_tokens,
                        .end_token = end ? tokenizer_find(p->tokenizer, end) : -1};
    int rc = policy_spec_text(&spec, "full", &a, e);
    if (!rc)
        rc = engine_policy(en, &spec, &r.policy, e);
    if (!rc)
        rc = engine_run_one(en, &r, done, e);
    arena_release(&a);
    return rc;
}

/* Weights in a wrong order or of another model often repeat one token. */
static int is_one_token(const struct completion *c)
{
    for (int i = 1; i < c->n_ids; i++)
        if (c->ids[i] != c->ids[0])
            return 0;
    return c->n_ids > 4;
}

static void say_answer(struct patient *p, struct engine *en, const struct completion *c)
{
    struct engine_stats s;
    struct str text = {0};
    int is_odd = !c->n_ids || is_one_token(c);
    engine_stats(en, &s);
    doctor_visible(&text, c->text, c->n_text);
    doctor_say(p, is_odd ? FINDING_WARNING : FINDING_OK, "answer", "\"%s\"", str_text(&text));
    doctor_note("%d tokens, ended by %s, %.1f tokens/s after a prompt of %d at %.1f tokens/s, %s", c->n_ids,
                c->finish == FINISHED_STOP ? "an end token" : "its limit",
                s.decode_seconds > 0 ? (double)s.decode_tokens / s.decode_seconds : 0, (int)p->prompt.n,
                s.prefill_seconds > 0 ? (double)s.prefill_tokens / s.prefill_seconds : 0,
                engine_info(en)->device);
    if (is_odd)
        doctor_way_out("do weights, config.json and tokenizer.json belong together? Is it the chat form that "
                       "the model was trained with?");
    if (!p->folder)
        doctor_note("%s", engine_random_config(p->model)
                              ? "random weights say nothing of sense"
                              : "the embedded model knows its own four tasks only");
    str_release(&text);
}

void doctor_answer(struct patient *p)
{
    struct engine_options o = p->order->engine;
    struct engine *en = NULL;
    const struct completion *done = NULL;
    struct err e = {0};
    if (!p->config.family || !p->has_weights || p->is_refused) {
        doctor_say(p, FINDING_WARNING, "answer",
                   "none: the model cannot be loaded before the faults above are mended");
        return;
    }
    o.max_batch = 1;
    o.max_context = (int)p->prompt.n + p->order->answer_tokens + 1;
    if (o.max_context > p->config.max_position)
        o.max_context = p->config.max_position;
    int rc = engine_open(&en, &o, &e);
    if (!rc && p->prompt.n)
        rc = decode_answer(p, en, &done, &e);
    if (rc) {
        doctor_say(p, FINDING_FAULT, "answer", "%s", e.text);
        doctor_way_out("%s", rc == ERR_FORMAT
                                 ? "weights and config.json are not of the same model, or a file is "
                                   "damaged: get the folder anew"
                                 : "`kveval doctor` without a model checks the machine");
    } else if (done) {
        say_answer(p, en, done);
    } else {
        doctor_say(p, FINDING_WARNING, "answer",
                   "none: there is no prompt; the weights load and fit config.json");
    }
    engine_close(en);
}
