/* What a request and its answer own, and whether they have something to send (contract: serve_parts.h). */
#include <stdlib.h>

#include "evalcore/serve/serve_parts.h"

void serve_drop(struct exchange *x)
{
    struct server *s = x->s;
    if (x->connection || x->n_held)
        return;
    s->body_bytes -= x->body.len;
    for (int i = 0; i < x->q.n_prompts && x->prompt; i++) {
        if (x->choice)
            s->prompt_tokens -= x->state >= EXCHANGE_DECODING ? x->prompt[i].n : 0;
        token_list_release(&x->prompt[i]);
    }
    for (int i = 0; i < x->n_choices; i++) {
        struct served *c = &x->choice[i];
        free(c->ids);
        free(c->logprobs);
        str_release(&c->text);
        str_release(&c->events);
        piece_text_release(&c->piece);
    }
    free(x->choice);
    free(x->prompt);
    api_request_release(&x->q);
    str_release(&x->body);
    str_release(&x->reply);
    str_release(&x->tail);
    free(x);
}

int serve_has_something(const struct exchange *x)
{
    if (x->is_gone || !x->n_open)
        return 1;
    return x->q.is_streamed && (x->choice[x->at].events.len > x->sent || x->choice[x->at].is_over);
}

void serve_wake(struct exchange *x)
{
    if (!x->is_suspended || !x->connection || !serve_has_something(x))
        return;
    x->is_suspended = 0;
    MHD_resume_connection(x->connection);
}

void serve_suspend(struct exchange *x)
{
    x->is_suspended = 1;
    MHD_suspend_connection(x->connection);
}
