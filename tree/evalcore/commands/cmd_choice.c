/* kveval choice: option letters out of responses, by our rules or by a public extractor's. */
#include "evalcore/base/json.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/command_parts.h"

/* "strict", then the presets: *preset is -1 for strict. */
static int get_preset(const json_t *in, int *preset, struct err *e)
{
    const char *words[16] = {"strict"};
    int found = 0;
    for (int i = 0; i + 2 < 16 && choice_preset_name(i); i++)
        words[i + 1] = choice_preset_name(i);
    int rc = jsonl_word(in, "preset", words, &found, e);
    *preset = found - 1;
    return rc;
}

static int get_n_options(const json_t *in, int *out, struct err *e)
{
    int64_t n = 4;
    int rc = json_opt_int(in, "n_options", &n, "choice", e);
    if (!rc && (n < 2 || n > 26))
        rc = err_set(e, ERR_FORMAT, "field \"n_options\" must be between 2 and 26");
    *out = (int)n;
    return rc;
}

static json_t *choice_result(const char *letter, enum choice_status status, const char *rule)
{
    return json_pack("{s:o, s:s, s:o}", "letter", letter ? json_text_of(letter) : json_null(), "status",
                     choice_status_name(status), "rule", json_text_of(rule));
}

static json_t *choice_line(void *context, const json_t *in, struct err *e)
{
    struct arena a = {0};
    struct choice c = {0};
    struct response r = {0};
    const char *letter = NULL, *rule = "";
    int n_options = 0, preset = -1;
    json_t *out = NULL;
    (void)context;
    int rc = filter_response(in, "text", &r, e);
    if (!rc)
        rc = get_n_options(in, &n_options, e);
    if (!rc)
        rc = get_preset(in, &preset, e);
    if (!rc && preset >= 0) {
        if (!choice_preset(&letter, &rule, preset, r.text, r.len, n_options, &a))
            out = choice_result(letter, letter ? CHOICE_OK : CHOICE_UNPARSED, rule);
    } else if (!rc && !choice_extract(&c, &r, n_options, &a)) {
        const char one[2] = {c.letter, 0};
        out = choice_result(c.status == CHOICE_OK ? one : NULL, c.status, c.rule);
    }
    arena_release(&a);
    return out;
}

static int run_choice(const struct process_env *p, int argc, char **argv)
{
    const struct jsonl j = {.fn = choice_line};
    const char *path = NULL;
    int n, code = command_parse(&cmd_choice, NULL, argc, argv, &path, 0, 1, &n);
    (void)p;
    return code >= 0 ? code : jsonl_run(&j, path);
}

const struct command cmd_choice = {
    .name = "choice",
    .usage = "[FILE]",
    .help = "find the letter of a multiple-choice answer, JSONL in and out",
    .details = "in:  {\"text\"} and optionally \"n_options\" (4), \"preset\", \"thinking\": "
               "\"auto\"|\"open\"|\"none\",\n"
               "     \"finish\": \"stop\"|\"length\"\n"
               "out: {\"letter\": \"C\"|null, \"status\": \"ok|ambiguous|unparsed|unfinished\", \"rule\"}\n"
               "Preset \"strict\" is the default. The others return whatever a public extractor returns on "
               "the whole "
               "text,\n"
               "thinking included: simple_evals, gpt_oss, lighteval, inspect_ai, lm_eval_flexible.",
    .prints_data = 1,
    .run = run_choice,
};
