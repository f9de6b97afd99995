/* kveval generate: one completion of a prompt from the command line, under any policy. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/commands/command_parts.h"
#include "evalcore/commands/commands.h"
#include "evalcore/plan/prompts.h"
#include "evalcore/store/run.h"

struct generate_options {
    const char *prompt, *model, *policy, *chat, *kv_dtype, *device;
    struct chat_flags said;
    double temperature, top_p;
    int top_k, max_new_tokens, seed, threads, raw, ids;
    struct cli_list stop;
};

#define AT(member) offsetof(struct generate_options, member)
static const struct cli_option generate_table[] = {
    {"prompt", 'p', CLI_TEXT, AT(prompt), "TEXT", .help = "the prompt (default: standard input)"},
    {"model", 'M', CLI_STRING, AT(model), "MODEL", .help = MODEL_HELP},
    {"policy", 0, CLI_STRING, AT(policy), "SPEC", .help = "NAME or NAME:key=value,key=value (default full)"},
    {"chat", 0, CLI_STRING, AT(chat), "FORM",
     .help = "auto (default): the model's own template; none; or a form's name"},
    CHAT_FLAG_ROWS(AT(said)),
    {"raw", 0, CLI_FLAG, AT(raw), NULL,
     .help = "the prompt is rendered already; its special tokens are recognised"},
    {"temperature", 0, CLI_DOUBLE, AT(temperature), "T", .help = "0 (default): greedy", .min = 0, .max = 100},
    {"top-k", 0, CLI_INT, AT(top_k), "K", .help = "sample from the K likeliest tokens; 0: all", .min = 0,
     .max = 1000000},
    {"top-p", 0, CLI_DOUBLE, AT(top_p), "P", .help = "sample from the smallest set with mass P; 1: all",
     .min = 1e-6, .max = 1},
    {"seed", 0, CLI_INT, AT(seed), "N", .help = "of the random numbers", .min = 0, .max = CLI_INT_MAX},
    {"max-new-tokens", 'n', CLI_INT, AT(max_new_tokens), "N", .help = "longest completion (default 2048)",
     .min = 1, .max = 10000000},
    {"stop", 0, CLI_LIST, AT(stop), "TEXT", .help = "end before this text; may be repeated"},
    {"kv-dtype", 0, CLI_STRING, AT(kv_dtype), "TYPE", .help = "fp32 or bf16"},
    {"device", 0, CLI_STRING, AT(device), "DEVICE", .help = DEVICE_HELP},
    {"threads", 0, CLI_INT, AT(threads), "N", .help = "CPU threads", .min = 1, .max = CLI_THREADS_MAX},
    {"ids", 0, CLI_FLAG, AT(ids), NULL, .help = "print token ids instead of text"},
    {0},
};

static int encode_prompt(const struct generate_options *o, const struct engine *en, const struct str *text,
                         struct token_list *ids, int32_t *end_token, struct err *e)
{
    const struct tokenizer *t = engine_tokenizer(en);
    struct tokenizer_scratch scratch = {0};
    const struct chat *chat = NULL;
    struct chat_words words;
    struct str notice = {0};
    int rc = 0;
    *end_token = -1;
    if (!t)
        return err_set(e, ERR_USAGE, "%s has no tokenizer.json, so a prompt cannot be encoded", o->model);
    if (!o->raw)
        rc = prompts_chat(&chat, engine_chat(en), o->chat, e);
    if (!rc && !o->raw && !strcmp(o->chat, "auto") && chat_own_notice(engine_chat(en), &notice))
        log_warn("%s", str_text(&notice));
    str_release(&notice);
    if (!rc)
        rc = prompts_words_said(&words, chat, o->said.system, o->said.thinking, e);
    if (!rc && o->raw)
        rc = chat_encode_rendered(t, &scratch, str_text(text), text->len, ids, e);
    else if (!rc)
        rc = chat_encode(chat, t, &scratch, &words, str_text(text), text->len, ids, e);
    if (chat && chat->end)
        *end_token = tokenizer_find(t, chat->end);
    tokenizer_scratch_release(&scratch);
    return rc;
}

static int decode_request(const struct generate_options *o, struct engine *en, const struct request *r,
                          struct err *e)
{
    const struct completion *done = NULL;
    if (engine_run_one(en, r, &done, e))
        return e->code;
    if (o->ids)
        for (int i = 0; i < done->n_ids; i++)
            printf("%d%c", (int)done->ids[i], i + 1 < done->n_ids ? ' ' : '\n');
    else
        fwrite(done->text, 1, done->n_text, stdout);
    if (!o->ids && (!done->n_text || done->text[done->n_text - 1] != '\n'))
        putchar('\n');
    log_info("%d prompt and %d new tokens in %.2f s, finish %s, KV read %.3f of full", r->n_prompt,
             done->n_ids, done->seconds, finish_name(done->finish),
             done->kv.reads_full > 0 ? done->kv.reads / done->kv.reads_full : 1.0);
    return 0;
}

static int generate_text(const struct process_env *p, const struct generate_options *o, struct err *e)
{
    struct device_list device;
    if (device_list_parse(&device, o->device, 1, e))
        return e->code;
    struct engine_options eo = {.model = o->model,
                                .backend = device.backend,
                                .ordinal = device.ordinal[0],
                                .threads = o->threads,
                                .max_batch = 1,
                                .cache_dir = p->cache_dir};
    struct arena a = {0};
    struct policy_spec spec;
    struct engine *en = NULL;
    struct token_list ids = {0};
    struct str text = {0};
    struct request r = {.max_new_tokens = o->max_new_tokens, .stop = o->stop.v, .n_stop = o->stop.n};
    int rc = hub_model(&eo.model, p, o->model, &a, e);
    if (!rc)
        rc = policy_spec_text(&spec, o->policy, &a, e);
    if (!rc)
        rc = engine_kv_dtype(&eo.kv_dtype, o->kv_dtype, e);
    if (!rc && o->prompt)
        str_puts(&text, o->prompt);
    else if (!rc)
        rc = file_read("/dev/stdin", &text, e);
    if (!rc)
        rc = engine_open(&en, &eo, e);
    if (!rc)
        engine_log_notices(engine_info(en), NULL);
    if (!rc)
        rc = engine_policy(en, &spec, &r.policy, e);
    if (!rc)
        rc = encode_prompt(o, en, &text, &ids, &r.end_token, e);
    r.prompt = ids.id;
    r.n_prompt = (int)ids.n;
    r.sampling = (struct sampling){.temperature = o->temperature,
                                   .top_k = o->top_k,
                                   .top_p = o->top_p,
                                   .seed = (uint64_t)o->seed,
                                   .problem = hash_bytes64(str_text(&text), text.len)};
    if (!rc)
        rc = decode_request(o, en, &r, e);
    engine_close(en);
    token_list_release(&ids);
    str_release(&text);
    arena_release(&a);
    return rc;
}

static int run_generate(const struct process_env *p, int argc, char **argv)
{
    struct generate_options o = {.model = "pocket",
                                 .policy = "full",
                                 .chat = "auto",
                                 .said = {.thinking = "auto"},
                                 .top_p = 1,
                                 .max_new_tokens = 2048};
    struct err e = {0};
    int n, code = command_parse(&cmd_generate, &o, argc, argv, NULL, 0, 0, &n);
    if (code >= 0)
        return code;
    int rc = generate_text(p, &o, &e);
    return rc ? command_fail(&e, rc == ERR_DEVICE ? EXIT_INCOMPLETE : EXIT_USAGE) : EXIT_DONE;
}

const struct command cmd_generate = {
    .name = "generate",
    .usage = "--prompt TEXT",
    .help = "decode one prompt under a policy and print the completion",
    .options = generate_table,
    .run = run_generate,
};
