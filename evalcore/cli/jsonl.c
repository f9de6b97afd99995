/* The loop of grade, choice, textscore and logprobs (contract: jsonl.h). A line is an error object when it
 * holds "error", or the verdict "error". */
#include "evalcore/cli/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/cli/command.h"
#include "evalcore/cli/lines.h"
#include "evalcore/base/json.h"

static json_t *error_object(const struct jsonl *j, long number, const char *message)
{
    json_t *out = j->error_fields ? json_loads(j->error_fields, 0, NULL) : json_object();
    if (json_object_get(out, "reason"))
        json_object_set_new(out, "reason", json_text_of(message));
    json_object_set_new(out, "error", json_text_of(message));
    json_object_set_new(out, "line", json_integer(number));
    return out;
}

static json_t *answer_object(const struct jsonl *j, const char *line, size_t n, long number)
{
    struct err e = {0};
    json_t *in = NULL, *out = NULL;
    char what[32];
    snprintf(what, sizeof what, "line %ld", number);
    if (!line) {
        err_set(&e, ERR_FORMAT, "%s: longer than %d MiB", what, LINES_MAX_LINE >> 20);
    } else if (!json_read_text(&in, line, n, what, &e)) {
        if (!json_is_object(in))
            err_set(&e, ERR_FORMAT, "%s: a JSON object was expected", what);
        else if (!(out = j->fn(j->context, in, &e)))
            err_add(&e, "%s", what);
    }
    json_decref(in);
    return out ? out : error_object(j, number, e.text);
}

static int is_error(const json_t *out)
{
    const char *verdict = json_string_value(json_object_get(out, "verdict"));
    return json_object_get(out, "error") || (verdict && !strcmp(verdict, "error"));
}

static int answer_line(void *context, const char *line, size_t n, long number, struct str *text)
{
    json_t *out = answer_object(context, line, n, number);
    char *dump = out ? json_dumps(out, JSON_COMPACT) : NULL;
    int bad = !dump || is_error(out);
    str_puts(text, dump ? dump : "{\"error\":\"the answer is not valid UTF-8\"}");
    free(dump);
    json_decref(out);
    return bad;
}

int jsonl_run(const struct jsonl *j, const char *path)
{
    struct jsonl copy = *j;
    const struct lines l = {.fn = answer_line, .context = &copy, .serial = j->serial};
    struct err e = {0};
    long errors = 0;
    int rc = lines_run(&l, path, &errors, &e);
    if (rc)
        return command_fail(&e, rc == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE);
    return errors ? EXIT_INCOMPLETE : EXIT_DONE;
}

int jsonl_text(const json_t *in, const char *key, const char **out, size_t *n, struct err *e)
{
    const json_t *v = json_object_get(in, key);
    if (!json_is_string(v))
        return err_set(e, ERR_FORMAT, "field \"%s\" must be a string", key);
    *out = json_string_value(v);
    *n = json_string_length(v);
    return 0;
}

int jsonl_word(const json_t *in, const char *key, const char *const *words, int *out, struct err *e)
{
    const json_t *v = json_object_get(in, key);
    struct str list = {0};
    if (!v || json_is_null(v))
        return 0;
    for (int i = 0; words[i]; i++) {
        if (json_is_string(v) && !strcmp(json_string_value(v), words[i])) {
            *out = i;
            return 0;
        }
    }
    for (int i = 0; words[i]; i++)
        str_printf(&list, "%s%s", i ? ", " : "", words[i]);
    int rc = err_set(e, ERR_FORMAT, "field \"%s\" must be one of %s", key, str_text(&list));
    str_release(&list);
    return rc;
}
