/* Fuzzes the text metrics. The first byte chooses metric, variant and segmenter, the text up to the first
 * NUL is the reference and the rest the prediction; the words of the reference are the classes. Whatever
 * the bytes, the result is a score between 0 and 1 or a message, twice the same, and the segmenter loses
 * no character. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_check/textscore/zh_segmenter.h"
#include "evalcore/base/arena.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct zh_segmenter *zh;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct err e = {0};
    (void)argc;
    (void)argv;
    int rc = zh_segmenter_open(&zh, SOURCE_DIR "/tests/answer_check/textscore/zh_dict", NULL, &e);
    assert(!rc);
    return 0;
}

static void loses_nothing(const struct zh_segmenter *s, const char *text, size_t n)
{
    struct word_list words = {0};
    struct str valid = {0};
    str_add_utf8(&valid, text, n);
    zh_cut(&words, s, text, n);
    assert(words.text.len == valid.len && !memcmp(str_text(&words.text), str_text(&valid), valid.len));
    for (size_t i = 0; i < words.n; i++)
        assert(words.end[i] > (i ? words.end[i - 1] : 0));
    word_list_release(&words);
    str_release(&valid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const metrics[] = {
        "qa_f1_score",     "qa_f1_zh_score",     "rouge_score", "rouge_zh_score", "classification_score",
        "retrieval_score", "retrieval_zh_score", "count_score", "code_sim_score", "string_match_all"};
    enum { N_METRICS = sizeof metrics / sizeof *metrics };
    if (size < 2)
        return 0;
    const char *gold = (const char *)data + 1, *end = memchr(gold, 0, size - 1), *classes[64];
    size_t n_gold = end ? (size_t)(end - gold) : size - 1;
    struct textscore_call c = {.metric = metrics[data[0] % N_METRICS],
                               .variant = data[0] / N_METRICS % 2 ? "indel" : NULL,
                               .pred = end ? end + 1 : gold,
                               .pred_len = end ? size - 2 - n_gold : n_gold,
                               .gold = gold,
                               .gold_len = n_gold,
                               .all_classes = classes,
                               .zh = data[0] / N_METRICS / 2 % 2 ? zh : NULL};
    struct arena a = {0};
    char *words = arena_strndup(&a, gold, n_gold), *rest = words;
    while (c.n_classes < 64 && (words = strsep(&rest, " ")))
        classes[c.n_classes++] = words;
    double score[2] = {-1, -1};
    int rc[2];
    for (int i = 0; i < 2; i++) {
        struct err e = {0};
        rc[i] = textscore(&score[i], &c, &e);
        assert(rc[i] ? rc[i] < 0 && strlen(e.text) > 10 : score[i] >= 0 && score[i] <= 1);
    }
    assert(rc[0] == rc[1] && (rc[0] || score[0] == score[1]));
    loses_nothing(c.zh, c.pred, c.pred_len);
    arena_release(&a);
    return 0;
}
