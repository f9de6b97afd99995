/* kveval logprobs: teacher-forced log-probabilities under a policy, decoded step by step, JSONL in and out.
 */
#include <stddef.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/cli/jsonl.h"
#include "evalcore/commands/commands.h"

struct logprobs_options {
    const char *model, *policy, *device, *kv_dtype;
    int threads, gaps;
};

#define AT(member) offsetof(struct logprobs_options, member)
static const struct cli_option logprobs_table[] = {
    {"policy", 0, CLI_STRING, AT(policy), "SPEC",
     .help = "NAME or NAME:key=value,key=value, lists as 2+5+7 (default full)"},
    {"model", 'M', CLI_STRING, AT(model), "MODEL", .help = MODEL_HELP},
    {"device", 0, CLI_STRING, AT(device), "DEVICE", .help = DEVICE_HELP},
    {"kv-dtype", 0, CLI_STRING, AT(kv_dtype), "TYPE", .help = "fp32 or bf16"},
    {"threads", 0, CLI_INT, AT(threads), "N", .help = "CPU threads", .min = 1, .max = CLI_THREADS_MAX},
    {"gaps", 0, CLI_FLAG, AT(gaps), NULL,
     .help = "also \"gaps\": largest logit minus second largest, by step"},
    {0},
};

struct scorer {
    struct engine *engine;
    struct policy *policy;
    int gaps;
};

static int read_ids(const json_t *in, int32_t **ids, int *n, int *n_prompt, struct err *e)
{
    const json_t *list = json_object_get(in, "ids");
    int64_t prompt = 0;
    int rc = json_get_int(in, "prompt_len", &prompt, "logprobs", e);
    if (rc)
        return rc;
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > 100000000)
        return err_set(e, ERR_FORMAT, "field \"ids\" must be a list of token ids");
    if (prompt < 1 || (size_t)prompt >= count)
        return err_set(e, ERR_FORMAT, "\"prompt_len\" is %lld; it must be at least 1 and below the %zu ids",
                       (long long)prompt, count);
    *ids = xmalloc(count * sizeof **ids);
    for (size_t i = 0; i < count; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t id = json_integer_value(v);
        if (!json_is_integer(v) || id < 0 || id > 2147483647)
            return err_set(e, ERR_FORMAT, "\"ids\"[%zu] is not a token id", i);
        (*ids)[i] = (int32_t)id;
    }
    *n = (int)count;
    *n_prompt = (int)prompt;
    return 0;
}

static json_t *float_array(const float *v, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_real((double)v[i]));
    return list;
}

static json_t *score_line(void *context, const json_t *in, struct err *e)
{
    struct scorer *s = context;
    const struct completion *done = NULL;
    int32_t *ids = NULL;
    json_t *out = NULL;
    int n = 0, n_prompt = 0;
    int rc = read_ids(in, &ids, &n, &n_prompt, e);
    struct request r = {.prompt = ids,
                        .n_prompt = n_prompt,
                        .policy = s->policy,
                        .max_new_tokens = n - n_prompt,
                        .end_token = -1,
                        .ignore_eos = 1,
                        .forced = ids ? ids + n_prompt : NULL,
                        .n_forced = n - n_prompt,
                        .want_logprobs = 1};
    if (!rc)
        rc = engine_run_one(s->engine, &r, &done, e);
    if (!rc && done->n_logprobs < n - n_prompt)
        rc = err_set(e, ERR_USAGE, "the context has room for %d of the %d tokens", done->n_logprobs,
                     n - n_prompt);
    if (!rc) {
        out = json_pack("{s:o}", "logprobs", float_array(done->logprobs, n - n_prompt));
        if (s->gaps)
            json_object_set_new(out, "gaps", float_array(done->gaps, n - n_prompt));
    }
    free(ids);
    return out;
}

static int run_logprobs(const struct process_env *p, int argc, char **argv)
{
    struct logprobs_options o = {.model = "pocket", .policy = "full"};
    struct engine_options eo = {.max_batch = 1, .cache_dir = p->cache_dir};
    struct policy_spec spec;
    struct arena a = {0};
    struct scorer s = {0};
    struct err e = {0};
    const char *path = NULL;
    int n, code = command_parse(&cmd_logprobs, &o, argc, argv, &path, 0, 1, &n);
    if (code >= 0)
        return code;
    eo.threads = o.threads;
    s.gaps = o.gaps;
    struct device_list device;
    int rc = device_list_parse(&device, o.device, 1, &e);
    eo.backend = device.backend;
    eo.ordinal = device.ordinal[0];
    if (!rc)
        rc = hub_model(&eo.model, p, o.model, &a, &e);
    if (!rc)
        rc = engine_kv_dtype(&eo.kv_dtype, o.kv_dtype, &e);
    if (!rc)
        rc = policy_spec_text(&spec, o.policy, &a, &e);
    if (!rc)
        rc = engine_open(&s.engine, &eo, &e);
    if (!rc)
        engine_log_notices(engine_info(s.engine), NULL);
    if (!rc)
        rc = engine_policy(s.engine, &spec, &s.policy, &e);
    const struct jsonl j = {.fn = score_line, .context = &s, .serial = 1}; /* one engine */
    code = rc ? command_fail(&e, rc == ERR_DEVICE ? EXIT_INCOMPLETE : EXIT_USAGE) : jsonl_run(&j, path);
    engine_close(s.engine);
    arena_release(&a);
    return code;
}

const struct command cmd_logprobs = {
    .name = "logprobs",
    .usage = "[FILE] [--policy SPEC]",
    .help = "print log-probabilities of given tokens under a policy, JSONL in and out",
    .details = "in:  {\"ids\": [...], \"prompt_len\": 12}\n"
               "out: {\"logprobs\": [...]} for the tokens after the prompt, decoded step by step",
    .options = logprobs_table,
    .prints_data = 1,
    .run = run_logprobs,
};
