/* Conformance with the public scores in longbench_metrics.jsonl (tests/oracle.h). All rows but the Chinese
 * ones must agree to 1e-6, and so must 99 % of the Chinese ones if jieba's dictionary is available. The
 * agreement of cutting by character is only printed. */
#include "tests/answer_check/textscore/textscore_case.h"
#include "tests/oracle.h"

enum { METRICS_MAX = 16 };
struct tally {
    struct {
        char name[40];
        int n, equal, near; /* near: within 0.02 */
    } metric[METRICS_MAX];
    int n;
    const struct zh_segmenter *zh;
};

static void count_score(struct tally *t, const char *name, double got, double want)
{
    int i = 0;
    while (i < t->n && strcmp(t->metric[i].name, name))
        i++;
    if (i == METRICS_MAX)
        return;
    if (i == t->n)
        snprintf(t->metric[t->n++].name, sizeof t->metric[0].name, "%s", name);
    t->metric[i].n++;
    t->metric[i].equal += fabs(got - want) <= 1e-6;
    t->metric[i].near += fabs(got - want) <= 0.02;
}

static void check_row(void *context, const json_t *o, long number)
{
    struct tally *t = context;
    const char *names[CLASSES_MAX];
    struct textscore_call c;
    struct err e = {0};
    double got = -1;
    (void)number;
    textscore_case(&c, names, o);
    c.zh = t->zh;
    textscore(&got, &c, &e);
    count_score(t, c.metric, got, json_number_value(json_object_get(o, "score")));
    if (strcmp(c.metric, "code_sim_score"))
        return;
    c.variant = "indel";
    got = -1;
    textscore(&got, &c, &e);
    count_score(t, "code_sim_score, indel", got, json_number_value(json_object_get(o, "indel_ratio_score")));
}

static void print_counts(const struct tally *t, const char *segmenter)
{
    for (int i = 0; i < t->n; i++) {
        int is_zh = textscore_needs_segmenter(t->metric[i].name);
        if (segmenter ? is_zh : !is_zh)
            printf("%-24s %4d of %4d equal, %4d within 0.02%s%s\n", t->metric[i].name, t->metric[i].equal,
                   t->metric[i].n, t->metric[i].near, segmenter ? ", segmenter=" : "",
                   segmenter ? segmenter : "");
    }
}

int main(int argc, char **argv)
{
    struct zh_segmenter *zh;
    struct err e = {0};
    struct tally by_word = {0}, by_char = {0};
    const char *dir = argc > 1 ? argv[1] : NULL;
    if (zh_segmenter_open(&zh, NULL, NULL, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    by_word.zh = zh;
    oracle_rows(dir, "longbench_metrics.jsonl", check_row, &by_word);
    oracle_rows(dir, "longbench_metrics.jsonl", check_row, &by_char);
    print_counts(&by_word, NULL);
    if (zh)
        print_counts(&by_word, zh_segmenter_name(zh));
    else
        printf("no jieba dictionary here: Chinese rows by character only\n");
    print_counts(&by_char, zh_segmenter_name(NULL));
    for (int i = 0; i < by_word.n; i++) {
        int is_zh = textscore_needs_segmenter(by_word.metric[i].name);
        if (!is_zh || zh)
            CHECK(100 * by_word.metric[i].equal >= (is_zh ? 99 : 100) * by_word.metric[i].n);
    }
    zh_segmenter_close(zh);
    return check_done();
}
