/* Errors: first message wins, context goes in front, nothing overflows. */
#include "evalcore/base/err.h"
#include "tests/check.h"

static void first_message_wins(void)
{
    struct err e = {0};
    CHECK_INT(err_set(&e, ERR_IO, "cannot read %s", "a.json"), ERR_IO);
    CHECK_INT(err_set(&e, ERR_USAGE, "a later one"), ERR_USAGE);
    CHECK_INT(e.code, ERR_IO);
    CHECK_STR(e.text, "cannot read a.json");
}

static void context_in_front(void)
{
    struct err e = {0};
    CHECK_INT(err_add(&e, "no error, no context"), 0);
    CHECK_STR(e.text, "");
    err_set(&e, ERR_FORMAT, "line %d is empty", 3);
    CHECK_INT(err_add(&e, "file %s", "b"), ERR_FORMAT);
    CHECK_INT(err_add(&e, "run"), ERR_FORMAT);
    CHECK_STR(e.text, "run: file b: line 3 is empty");
}

static void nobody_cares(void)
{
    CHECK_INT(err_set(NULL, ERR_BUSY, "lost"), ERR_BUSY);
    CHECK_INT(err_add(NULL, "lost"), 0);
}

static void long_texts_are_cut(void)
{
    struct err e = {0};
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    err_set(&e, ERR_IO, "%s", big);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    err_add(&e, "here");
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    CHECK(strncmp(e.text, "here: xxx", 9) == 0);
    err_add(&e, "%s", big);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    CHECK_STR(e.text + sizeof e.text - 3, ": ");
}

int main(void)
{
    first_message_wins();
    context_in_front();
    nobody_cares();
    long_texts_are_cut();
    return check_done();
}
