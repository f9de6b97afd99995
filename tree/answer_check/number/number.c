/* The context of a calculation (contract: number.h). */
#include "answer_check/number/number.h"

#include <string.h>

#include "answer_check/number/ball.h"

void number_open(struct number_context *c, struct math_work *w)
{
    memset(c, 0, sizeof *c);
    c->w = w;
    c->bits = NUMBER_BITS;
}

void number_close(struct number_context *c)
{
    fraction_close(c);
    ball_close(c);
}
