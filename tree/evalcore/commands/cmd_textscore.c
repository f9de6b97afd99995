/* kveval textscore: public metrics of texts. */
#include <stddef.h>

#include "answer_check/answer_check.h"
#include "evalcore/cli/jsonl.h"
#include "evalcore/commands/commands.h"
#include "evalcore/store/grades.h"

/* One line's fields. Texts are borrowed from the object. */
struct text_pair {
    const char *metric, *prediction;
    size_t n_prediction;
    const json_t *ground_truth; /* a string, or a list of which the best counts, as in LongBench */
    const char **classes;       /* the classes of a classification, or NULL */
    int n_classes;
    int variant; /* code similarity: index into variants */
};

static const char *const variants[] = {"difflib", "indel", NULL};

static int check_strings(const json_t *list, const char *key, struct err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return err_set(e, ERR_FORMAT, "field \"%s\" must hold strings", key);
    return 0;
}

static int read_golds(const json_t *in, struct text_pair *t, struct err *e)
{
    t->ground_truth = json_object_get(in, "ground_truth");
    if (!json_is_array(t->ground_truth) && !json_is_string(t->ground_truth))
        return err_set(e, ERR_FORMAT, "field \"ground_truth\" must be a string or a list of strings");
    if (json_is_array(t->ground_truth) && !json_array_size(t->ground_truth))
        return err_set(e, ERR_FORMAT, "field \"ground_truth\" must hold at least one string");
    return check_strings(t->ground_truth, "ground_truth", e);
}

static int read_classes(const json_t *in, struct text_pair *t, struct arena *a, struct err *e)
{
    const json_t *list = json_object_get(in, "all_classes");
    if (!list || json_is_null(list))
        return 0;
    if (!json_is_array(list))
        return err_set(e, ERR_FORMAT, "field \"all_classes\" must be a list of strings");
    if (check_strings(list, "all_classes", e))
        return e->code;
    t->n_classes = (int)json_array_size(list);
    t->classes = arena_alloc(a, ((size_t)t->n_classes + 1) * sizeof *t->classes);
    for (int i = 0; i < t->n_classes; i++)
        t->classes[i] = json_string_value(json_array_get(list, (size_t)i));
    return 0;
}

static int read_pair(const json_t *in, struct text_pair *t, struct arena *a, struct err *e)
{
    size_t n;
    int rc = jsonl_text(in, "metric", &t->metric, &n, e);
    if (!rc && !textscore_known(t->metric))
        rc = err_set(e, ERR_UNSUPPORTED, "metric \"%.60s\" is not in this version; there are %s", t->metric,
                     textscore_names());
    if (!rc)
        rc = jsonl_text(in, "prediction", &t->prediction, &t->n_prediction, e);
    if (!rc)
        rc = read_golds(in, t, e);
    if (!rc)
        rc = jsonl_word(in, "variant", variants, &t->variant, e);
    return rc ? rc : read_classes(in, t, a, e);
}

/* The best score over the reference answers, as LongBench counts. */
static int best_score(double *best, const struct text_pair *t, const struct zh_segmenter *zh, struct err *e)
{
    size_t n = json_is_array(t->ground_truth) ? json_array_size(t->ground_truth) : 1;
    *best = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *gold =
            json_is_array(t->ground_truth) ? json_array_get(t->ground_truth, i) : t->ground_truth;
        double score = 0;
        struct textscore_call c = {.metric = t->metric,
                                   .variant = variants[t->variant],
                                   .pred = t->prediction,
                                   .pred_len = t->n_prediction,
                                   .gold = json_string_value(gold),
                                   .gold_len = json_string_length(gold),
                                   .all_classes = t->classes,
                                   .n_classes = t->n_classes,
                                   .zh = zh};
        if (textscore(&score, &c, e))
            return e->code;
        *best = score > *best ? score : *best;
    }
    return 0;
}

static json_t *textscore_line(void *context, const json_t *in, struct err *e)
{
    struct text_pair t = {0};
    struct arena a = {0};
    double best = 0;
    int rc = read_pair(in, &t, &a, e);
    if (!rc)
        rc = best_score(&best, &t, context, e);
    arena_release(&a);
    json_t *out = rc ? NULL : json_pack("{s:f}", "score", best);
    if (out && textscore_needs_segmenter(t.metric))
        json_object_set_new(out, "segmenter", json_string(zh_segmenter_name(context)));
    return out;
}

struct textscore_options {
    const char *zh_dict;
};

static const struct cli_option options[] = {
    {"zh-dict", 0, CLI_STRING, offsetof(struct textscore_options, zh_dict), "DIR", .help = ZH_DICT_HELP},
    {0},
};

static int run_textscore(const struct process_env *p, int argc, char **argv)
{
    struct textscore_options o = {0};
    struct zh_segmenter *zh;
    struct err e = {0};
    const char *path = NULL;
    int n, code = command_parse(&cmd_textscore, &o, argc, argv, &path, 0, 1, &n);
    (void)p;
    if (code >= 0)
        return code;
    if (segmenter_open(&zh, o.zh_dict, &e))
        return command_fail(&e, EXIT_USAGE);
    code = jsonl_run(&(struct jsonl){.fn = textscore_line, .context = zh}, path);
    zh_segmenter_close(zh);
    return code;
}

const struct command cmd_textscore = {
    .name = "textscore",
    .usage = "[FILE]",
    .help = "score texts by public metrics, JSONL in and out",
    .details = "in:  {\"metric\", \"prediction\", \"ground_truth\"} and where the metric wants them "
               "\"all_classes\",\n"
               "     \"variant\": \"difflib\"|\"indel\"\n"
               "out: {\"score\"}, and \"segmenter\" where it depends on one\n"
               "An unknown metric is answered with an error object that names the known ones.",
    .options = options,
    .prints_data = 1,
    .run = run_textscore,
};
