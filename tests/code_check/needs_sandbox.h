#ifndef TESTS_CODE_CHECK_NEEDS_SANDBOX_H
#define TESTS_CODE_CHECK_NEEDS_SANDBOX_H

#include <string.h>

#include "code_check/code_check.h"
#include "tests/check.h"

/* Skips the test where there is no sandbox. One that is not tight is a failure. */
static inline void needs_sandbox(void)
{
    struct str what = {0};
    struct err e = {0};
    int rc = code_sandbox_check(&what, &e);
    if (rc && !strstr(e.text, "not tight"))
        check_skip(e.text);
    CHECK_STR(e.text, "");
    CHECK(strstr(str_text(&what), "Python 3") != NULL);
    if (rc)
        exit(check_done());
    str_release(&what);
}

#endif
