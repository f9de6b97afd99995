/* The common part of the filters over JSONL (contract: response_json.h). */
#include "evalcore/commands/response_json.h"

int filter_response(const json_t *in, const char *key, struct response *r, struct err *e)
{
    static const char *const thinking[] = {"auto", "open", "none", NULL}, *const finish[] = {"stop", "length",
                                                                                             NULL};
    int t = THINKING_AUTO, f = FINISH_STOP;
    int rc = jsonl_text(in, key, &r->text, &r->len, e);
    if (!rc)
        rc = jsonl_word(in, "thinking", thinking, &t, e);
    if (!rc)
        rc = jsonl_word(in, "finish", finish, &f, e);
    r->thinking = (enum thinking)t;
    r->finish = (enum finish)f;
    return rc;
}
