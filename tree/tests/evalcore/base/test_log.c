/* Log lines: form, whole lines to standard error, and what quiet leaves. Standard error goes to a file
 * meanwhile. */
#include "evalcore/base/log.h"

#include <unistd.h>

#include "evalcore/base/file.h"
#include "tests/check.h"

int main(void)
{
    static const char path[] = "test_log.tmp";
    struct str got = {0};
    struct err e = {0};
    fflush(stderr);
    int kept = dup(2);
    FILE *f = freopen(path, "w", stderr);
    log_info("loading %s", "model");
    log_warn("%d left", 3);
    log_error("stopped");
    log_set_quiet(LOG_ERRORS);
    log_info("not shown");
    log_warn("not shown");
    log_error("shown");
    log_set_quiet(LOG_WARNINGS);
    log_info("not shown");
    log_set_lead("\r\033[J");
    log_warn("over a line that is redrawn");
    log_set_lead("");
    log_warn("%s", "no \x1b[2J\n::error::file \xE2\x80\xAE");
    log_set_quiet(LOG_ALL);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    CHECK(f != NULL);
    CHECK_INT(file_read(path, &got, &e), 0);
    CHECK_STR(str_text(&got),
              "kveval: loading model\nkveval: warning: 3 left\nkveval: stopped\nkveval: shown\n"
              "\r\033[Jkveval: warning: over a line that is redrawn\n"
              "kveval: warning: no \\x1b[2J\\n:\\u003aerror::file \\u202e\n");
    str_release(&got);
    unlink(path);
    return check_done();
}
