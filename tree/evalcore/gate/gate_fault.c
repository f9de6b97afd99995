/* When there is no verdict: the results of an earlier command must not stay, and the error takes their place
 * (contract: gate.h). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/gate/gate.h"

int gate_clear(const char *dir, struct err *e)
{
    static const char *const names[] = {"gate.json", "gate.xml", "gate.md", "gate.html", "gate.svg"};
    struct str path = {0};
    int rc = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++) {
        str_clear(&path);
        file_join(&path, dir, names[i]);
        if (unlink(path.data) && errno != ENOENT && errno != ENOTDIR)
            rc = err_set(e, file_error_code(errno), "the old result %s cannot be removed: %s", path.data,
                         err_reason(errno));
    }
    str_release(&path);
    return rc;
}

static const struct gate_side *side_of_path(const char *path, struct arena *a)
{
    struct gate_side *s = arena_alloc(a, sizeof *s);
    *s = (struct gate_side){.path = path ? path : "nothing",
                            .model = "",
                            .weights = "",
                            .configuration = "",
                            .numerics = "",
                            .grader = "",
                            .version = "unknown"};
    return s;
}

void gate_fault(struct gate_result *r, const char *base, const char *now, const struct err *e,
                struct arena *a)
{
    *r = (struct gate_result){.base = side_of_path(base, a),
                              .now = side_of_path(now, a),
                              .same_class = 1,
                              .verdict = GATE_ERROR,
                              .words = arena_strdup(a, e->text)};
}
