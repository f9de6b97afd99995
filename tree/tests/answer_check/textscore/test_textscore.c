/* LongBench's metrics: the rows of textscore.test, then cases that need long texts and calls that are
 * refused. */
#include "evalcore/base/str.h"
#include "tests/answer_check/textscore/textscore_case.h"
#include "tests/cases.h"

static void check_row(const char *path, int line, const json_t *o, const char *variant, const char *want_key)
{
    const char *names[CLASSES_MAX];
    struct textscore_call c;
    struct err e = {0};
    double got = -1, want = json_number_value(json_object_get(o, want_key));
    textscore_case(&c, names, o);
    c.variant = variant;
    check_count++;
    if (textscore(&got, &c, &e) || !(fabs(got - want) <= 1e-12)) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s: want %.17g, got %.17g %s\n", path, line,
                json_string_value(json_object_get(o, "name")), want, got, e.text);
    }
}

static void check_rows(const char *path)
{
    struct cases c;
    char *text;
    int line;
    cases_open(&c, path);
    while ((text = cases_line(&c, &line))) {
        json_t *o = json_loads(text, JSON_ALLOW_NUL, NULL);
        if (!json_is_number(json_object_get(o, "score"))) {
            fprintf(stderr, "%s:%d: not a case\n", path, line);
            exit(1);
        }
        check_row(path, line, o, NULL, "score");
        if (json_object_get(o, "indel"))
            check_row(path, line, o, "indel", "indel");
        json_decref(o);
    }
    cases_close(&c);
}

static double score_of(const char *metric, const struct str *pred, const struct str *gold)
{
    struct textscore_call c = {.metric = metric,
                               .pred = pred->data,
                               .pred_len = pred->len,
                               .gold = gold->data,
                               .gold_len = gold->len};
    double s = -1;
    CHECK_INT(textscore(&s, &c, NULL), 0);
    return s;
}

/* Equal texts of n words score 1 as long as Python's recursion goes that deep, and 0 beyond. With a full
 * stop in the middle they are two sentences and score 1 again. */
static void check_recursion(const char *metric, int deepest)
{
    for (int n = deepest; n <= deepest + 1; n++) {
        struct str text = {0};
        for (int i = 0; i < n; i++)
            str_printf(&text, "%d ", i);
        CHECK_NEAR(score_of(metric, &text, &text), n == deepest, 1e-7);
        char *blank = strchr(text.data + text.len / 2, ' ');
        *blank = '.';
        CHECK_NEAR(score_of(metric, &text, &text), 1, 1e-7);
        str_release(&text);
    }
    /* steps past words that the other text lacks count as well: here the match is at the very end of the
     * way back */
    struct str pred = {0}, gold = {0};
    str_puts(&gold, "x");
    str_puts(&pred, "x");
    for (int i = 1; i < deepest; i++)
        str_puts(&pred, " y");
    CHECK(score_of(metric, &pred, &gold) > 0.6);
    str_puts(&pred, " y");
    CHECK_NEAR(score_of(metric, &pred, &gold), 0, 0);
    str_release(&pred);
    str_release(&gold);
}

/* Long texts that would take hours are refused; long texts that are quick to compare are scored. */
static void make_flood(const char *metric, const char *variant, const char *unit, const char *other, int want)
{
    struct str pred = {0}, gold = {0};
    struct err e = {0};
    double s = -1;
    while (pred.len < 1 << 20) {
        str_puts(&pred, unit);
        str_puts(&gold, other);
    }
    struct textscore_call c = {metric, variant, pred.data, pred.len, gold.data, gold.len, NULL, 0, NULL};
    int rc = textscore(&s, &c, &e);
    if (rc != want)
        fprintf(stderr, "flood of \"%s\", %s: %d, %g, %s\n", unit, metric, rc, s, e.text);
    CHECK_INT(rc, want);
    CHECK(rc ? strstr(e.text, "are too many to compare") != NULL : s >= 0 && s <= 1);
    str_release(&pred);
    str_release(&gold);
}

static void score_floods(void)
{
    make_flood("rouge_score", NULL, "a b. ", "b a. ", ERR_UNSUPPORTED);
    make_flood("rouge_score", NULL, "a b ", "b a ",
               0); /* two endless sentences exceed Python's recursion limit: 0 */
    make_flood("rouge_score", NULL, "....", ". . ", 0);
    make_flood("rouge_zh_score", NULL, "\xe7\x9a\x84", "\xe7\x9a\x84.", ERR_UNSUPPORTED);
    make_flood("qa_f1_score", NULL, "a b the ", "\xce\xa3' ", 0);
    make_flood("qa_f1_zh_score", NULL, "\xe7\x9a\x84\xef\xbc\x8c", "3.14%", 0);
    struct str up = {0}, down = {0}; /* two hundred different letters, so that none is popular */
    for (int i = 0; i < 200; i++) {
        str_printf(&up, "%c%c", 0xc4 + i / 64, 0x80 + i % 64);
        str_printf(&down, "%c%c", 0xc4 + (199 - i) / 64, 0x80 + (199 - i) % 64);
    }
    make_flood("code_sim_score", NULL, up.data, down.data, ERR_UNSUPPORTED);
    str_release(&up);
    str_release(&down);
    make_flood("code_sim_score", "indel", "ab", "ba", ERR_UNSUPPORTED);
    make_flood("code_sim_score", NULL, "abcdefghij", "klmnopqrstuv", 0); /* only popular characters */
    make_flood("code_sim_score", NULL, "#\n", "ab", 0);
    make_flood("count_score", NULL, "1 ", "1", 0);
}

static void check_refused(struct textscore_call c, const char *why)
{
    struct err e = {0};
    double s = -1;
    c.pred = "Paragraph 1";
    c.pred_len = strlen(c.pred);
    c.gold = "Date";
    c.gold_len = strlen(c.gold);
    CHECK(textscore(&s, &c, &e) < 0);
    CHECK(strstr(e.text, why) != NULL);
}

int main(int argc, char **argv)
{
    (void)argc;
    check_rows(argv[1]);
    check_recursion("rouge_score", 989);
    check_recursion("rouge_zh_score", 988);
    score_floods();

    /* the public code raises an exception for these */
    check_refused((struct textscore_call){.metric = "bleu"},
                  "there is no metric \"bleu\"; there are qa_f1_score, ");
    check_refused((struct textscore_call){.metric = "classification_score"}, "needs all_classes");
    check_refused((struct textscore_call){.metric = "retrieval_score"},
                  "the reference has no number behind \"Paragraph \"");
    check_refused((struct textscore_call){.metric = "retrieval_zh_score"}, "the reference has no number");
    check_refused((struct textscore_call){.metric = "code_sim_score", .variant = "fuzzy"}, "not \"fuzzy\"");
    CHECK(textscore_known("code_sim_score") && !textscore_known("code_sim"));
    CHECK(textscore_needs_segmenter("rouge_zh_score") && !textscore_needs_segmenter("retrieval_zh_score"));

    /* invalid UTF-8 and a NUL are part of a word: one of two words is common */
    struct textscore_call c = {"qa_f1_score", NULL, "cat \xff\0dog", 9, "cat", 3, NULL, 0, NULL};
    double s = -1;
    CHECK_INT(textscore(&s, &c, NULL), 0);
    CHECK_NEAR(s, 2.0 / 3, 1e-15);
    return check_done();
}
