/* The loop of grade, choice, textscore and logprobs (contract: jsonl.h). A line is an error object when it
 * holds "error", or the verdict "error". */
#include "evalcore/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/command.h"
#include "evalcore/text_json.h"

static json_t *error_object(const struct jsonl *j, long number, const char *message)
{
    json_t *out = j->error_fields ? json_loads(j->error_fields, 0, NULL) : json_object();
    if (json_object_get(out, "reason"))
        json_object_set_new(out, "reason", text_json_of(message));
    json_object_set_new(out, "error", text_json_of(message));
    json_object_set_new(out, "line", json_integer(number));
    return out;
}

static json_t *answer(const struct jsonl *j, const char *line, size_t n, long number)
{
    struct err e = {0};
    json_t *in = NULL, *out = NULL;
    char what[32];
    snprintf(what, sizeof what, "line %ld", number);
    if (!json_read_text(&in, line, n, what, &e)) {
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

int jsonl_run(const struct jsonl *j, const char *path)
{
    struct file_lines lines;
    struct err e = {0};
    const char *line;
    size_t n;
    int rc, code = EXIT_DONE;
    if (file_lines_open(&lines, path ? path : "-", &e))
        return command_fail(&e, EXIT_USAGE);
    while ((rc = file_lines_next(&lines, &line, &n, &e)) > 0) {
        json_t *out = answer(j, line, n, lines.number);
        char *text = out ? json_dumps(out, JSON_COMPACT) : NULL;
        if (!text || is_error(out))
            code = EXIT_INCOMPLETE;
        puts(text ? text : "{\"error\":\"the answer is not valid UTF-8\"}");
        fflush(stdout); /* a program may feed lines one by one and wait for each answer */
        free(text);
        json_decref(out);
        if (ferror(stdout))
            break;
    }
    file_lines_close(&lines);
    return rc < 0 ? command_fail(&e, EXIT_INCOMPLETE) : code;
}
