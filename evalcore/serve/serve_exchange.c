/* What a request and its answer own, and whether they have something to send (contract: serve_parts.h). */
#include <stdlib.h>

#include "evalcore/serve/serve_parts.h"

void serve_charge(struct exchange *x, size_t n)
{
    x->s->body_bytes += n - x->n_charged;
    x->n_charged = n;
}

void serve_hold(struct exchange *x, size_t n)
{
    x->s->reply_bytes += n;
    x->n_unread += n;
}

void serve_let_go(struct exchange *x, size_t n)
{
    x->s->reply_bytes -= n;
    x->n_unread -= n;
}

void serve_release_request(struct exchange *x)
{
    struct server *s = x->s;
    serve_charge(x, 0);
    for (int i = 0; i < x->q.n_prompts && x->prompt; i++) {
        s->prompt_tokens -= x->is_queued ? x->prompt[i].n : 0;
        token_list_release(&x->prompt[i]);
        if (x->echo)
            str_release(&x->echo[i]);
    }
    for (int i = 0; i < x->n_choices; i++) {
        struct served *c = &x->choice[i];
        free(c->ids);
        token_scores_release(&c->scores);
        token_scores_release(&c->prompt_scores);
        str_release(&c->text);
        str_release(&c->events);
        str_release(&c->cut);
        piece_text_release(&c->piece);
    }
    free(x->choice);
    free(x->prompt);
    free(x->echo);
    x->choice = NULL;
    x->prompt = NULL;
    x->echo = NULL;
    x->n_choices = x->n_open = 0;
    api_request_release(&x->q);
}

void serve_drop(struct exchange *x)
{
    if (x->connection || x->n_held)
        return;
    serve_release_request(x);
    serve_let_go(x, x->n_unread);
    str_release(&x->body);
    str_release(&x->reply);
    str_release(&x->head);
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
