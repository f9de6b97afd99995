/* The C interface of the graders: that it gives what they give, in any number of threads, and takes whatever
 * bytes and arguments come. */
#include <pthread.h>

#include "answer_check/answer_check.h"
#include "answer_check/capi/answer_check_c.h"
#include "tests/check.h"

static const struct pair {
    const char *gold, *pred, *verdict;
} pairs[] = {
    {"1/4", "<think>2</think>The answer is $\\boxed{25\\%}$.", "correct"},
    {"25", "So it is \\boxed{25\\%}", "wrong"},
    {"204", "Answer: 204", "correct"},
    {"x^2 + 2x + 1", "$\\boxed{(x+1)^2}$", "correct"},
    {"(1, 2)", "(2, 1)", "wrong"},
    {"5", "<think>It is 5", "unfinished"},
    {"5", "I do not know.", "unparsed"},
    {"5", "\\boxed{5} or \\boxed{6}", "ambiguous"},
    {"", "\\boxed{5}", "error"},
    {"\\sqrt{2}+\\pi", "\\boxed{4.5558}", "correct"},
};
enum { N_PAIRS = sizeof pairs / sizeof *pairs };

static void set(struct ac_options *o, const char *name, const char *value)
{
    char error[200] = "";
    CHECK_INT(ac_options_set(o, name, value, error, sizeof error), AC_OK);
    CHECK_STR(error, "");
}

/* name=value is refused, and the sentence has all of the words. */
static void refused(struct ac_options *o, const char *name, const char *value, const char *word,
                    const char *other)
{
    char error[1000] = "", few[8];
    CHECK_INT(ac_options_set(o, name, value, error, sizeof error), AC_USAGE);
    CHECK(strstr(error, word) && strstr(error, other));
    CHECK_INT(ac_options_set(o, name, value, few, sizeof few), AC_USAGE);
    CHECK_INT(strlen(few), sizeof few - 1);
    CHECK_INT(ac_options_set(o, name, value, NULL, 0), AC_USAGE);
}

static struct ac_grades *grade(const struct ac_options *o, const char *gold, const char *pred)
{
    struct ac_grades *g = NULL;
    CHECK_INT(ac_grade(&g, o, 1, &gold, NULL, &pred, NULL, 1, NULL, 0), AC_OK);
    CHECK_INT(ac_grades_count(g), 1);
    return g;
}

static void check_verdict(const struct ac_options *o, const char *gold, const char *pred, const char *verdict)
{
    struct ac_grades *g = grade(o, gold, pred);
    CHECK_STR(ac_grades_at(g, 0)->verdict_name, verdict);
    ac_grades_free(g);
}

static void check_values(void)
{
    struct ac_grades *g = grade(NULL, "1/4", "So $\\boxed{25\\%}$.");
    const struct ac_grade *x = ac_grades_at(g, 0);
    CHECK_INT(x->verdict, AC_CORRECT);
    CHECK_STR(x->how, "exact");
    CHECK_STR(x->gold_form, "1/4");
    CHECK_STR(x->pred_form, "25%");
    CHECK_STR(x->place, "boxed");
    CHECK(x->took && strstr(x->took, "25"));
    CHECK(x->at >= 4 && x->at <= 11);
    CHECK(!ac_grades_at(g, 1));
    ac_grades_free(g);
    g = grade(NULL, "5", "I do not know.");
    CHECK_STR(ac_grades_at(g, 0)->pred_form, "");
    CHECK(!ac_grades_at(g, 0)->how);
    ac_grades_free(g);
    CHECK_INT(ac_interface(), ANSWER_CHECK_C_VERSION);
    CHECK_STR(ac_version(), answer_check_version());
    for (int i = 0; i < N_PAIRS; i++)
        check_verdict(NULL, pairs[i].gold, pairs[i].pred, pairs[i].verdict);
}

static void check_options(void)
{
    struct ac_options *o = ac_options_new(AC_GRADE), *c = ac_options_new(AC_CHOICE);
    check_verdict(o, "25", "\\boxed{25\\%}", "wrong");
    refused(o, "percents", "number", "\"percents\"", "percent");
    refused(o, "percent", "half", "hundredth", "\"half\"");
    refused(o, "preset", "lighteval", "\"preset\"", "percent");
    refused(o, "finish", "short", "stop, length", "short");
    refused(o, "match_types", "latex+tex", "latex", "tex");
    refused(o, "match_types", "", "latex", "expr");
    refused(o, "float_rounding", "101", "0 and 100", "101");
    refused(o, "percent\xff", "\xfe", "unknown", "percent");
    check_verdict(o, "25", "\\boxed{25\\%}", "wrong");
    set(o, "percent", "number");
    check_verdict(o, "25", "\\boxed{25\\%}", "correct");
    set(o, "finish", "length");
    check_verdict(o, "25", "I do not know.", "truncated");
    set(o, "thinking", "open");
    check_verdict(o, "25", "\\boxed{25}", "unfinished");
    set(o, "thinking", "none");
    check_verdict(o, "25", "<think>\\boxed{25}", "correct");
    set(o, "mode", "compat");
    set(o, "float_rounding", "1");
    set(o, "strict", "false");
    set(o, "match_types", "latex+expr+string");
    check_verdict(o, "0.34", "$0.31$", "correct");
    check_verdict(o, "B", "$B$", "correct");
    refused(c, "n_options", "27", "2 and 26", "27");
    refused(c, "preset", "lightevil", "strict, simple_evals", "lightevil");
    refused(c, "percent", "number", "\"percent\"", "preset");
    ac_options_free(o);
    ac_options_free(c);
    CHECK(!ac_options_new((enum ac_call)7));
}

static void check_choice(struct ac_options *o, const char *text, const char *letter, const char *status)
{
    struct ac_choice c;
    CHECK_INT(ac_choice(&c, sizeof c, o, text, strlen(text), NULL, 0), AC_OK);
    CHECK_STR(c.letter, letter);
    CHECK_STR(c.status, status);
    CHECK(c.rule && *c.rule);
}

static void check_letters(void)
{
    struct ac_options *o = ac_options_new(AC_CHOICE);
    check_choice(NULL, "Answer: (C)", "C", "ok");
    check_choice(NULL, "no idea", "", "unparsed");
    check_choice(NULL, "<think>A", "", "unfinished");
    check_choice(NULL, "Answer: (F)", "", "unparsed");
    set(o, "n_options", "6");
    check_choice(o, "Answer: (F)", "F", "ok");
    set(o, "preset", "gpt_oss");
    check_choice(o, "\xe7\xad\x94", "\xe7\xad\x94", "ok");
    set(o, "preset", "strict");
    check_choice(o, "Answer: (F)", "F", "ok");
    struct ac_choice c = {.letter = "x"};
    CHECK_INT(ac_choice(&c, offsetof(struct ac_choice, letter), o, "Answer: (F)", 11, NULL, 0), AC_OK);
    CHECK_STR(c.letter, "x"); /* a caller that was compiled before there was this member */
    ac_options_free(o);
}

static void check_scores(void)
{
    static const char *const classes[] = {"dog", "cat"};
    char error[1000] = "";
    double x = -1;
    CHECK_INT(
        ac_textscore(&x, "qa_f1_score", NULL, "red house", 9, "the red house", 13, NULL, 0, NULL, NULL, 0),
        AC_OK);
    CHECK_NEAR(x, 1, 0);
    CHECK_INT(ac_textscore(&x, "classification_score", NULL, "cat", 3, "a cat", 5, classes, 2, NULL, NULL, 0),
              AC_OK);
    CHECK_NEAR(x, 1, 0);
    CHECK_INT(ac_textscore(&x, "bleu", NULL, "", 0, "", 0, NULL, 0, NULL, error, sizeof error),
              AC_UNSUPPORTED);
    CHECK(strstr(error, "bleu") && strstr(error, "qa_f1_score"));
    CHECK_INT(
        ac_textscore(&x, "classification_score", NULL, "", 0, "", 0, NULL, 0, NULL, error, sizeof error),
        AC_FORMAT);
    CHECK_INT(ac_textscore(&x, "code_sim_score", "x", "", 0, "", 0, NULL, 0, NULL, error, sizeof error),
              AC_FORMAT);
    CHECK(strstr(ac_textscore_names(), "rouge_zh_score"));
    CHECK(ac_textscore_needs_segmenter("rouge_zh_score") && !ac_textscore_needs_segmenter("rouge_score"));
}

static void check_segmenter(void)
{
    static const char *const dir = SOURCE_DIR "/tests/answer_check/textscore/zh_dict";
    char error[1000] = "";
    struct ac_segmenter *s = NULL;
    CHECK_INT(ac_segmenter_open(&s, dir, error, sizeof error), AC_OK);
    CHECK_STR(ac_segmenter_name(s), "jieba");
    ac_segmenter_close(s);
    CHECK_INT(ac_segmenter_open(&s, "/nowhere/at/all", error, sizeof error), AC_IO);
    CHECK(!s && strstr(error, "/nowhere"));
    CHECK_STR(ac_segmenter_name(NULL), "char");
}

static void check_arguments(void)
{
    struct ac_grades *g = NULL;
    struct ac_options *c = ac_options_new(AC_CHOICE), *o = ac_options_new(AC_GRADE);
    struct ac_choice letter;
    char error[1000];
    double x;
    const char *one = "1", *none = NULL;
    CHECK_INT(ac_grade(NULL, NULL, 1, &one, NULL, &one, NULL, 1, NULL, 0), AC_USAGE);
    CHECK_INT(ac_grade(&g, NULL, 1, NULL, NULL, &one, NULL, 1, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_grade(&g, NULL, 1, &one, NULL, &none, NULL, 1, error, sizeof error), AC_USAGE);
    CHECK(strstr(error, "response") && !g);
    CHECK_INT(ac_grade(&g, NULL, 1, &one, NULL, &one, NULL, -1, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_grade(&g, c, 1, &one, NULL, &one, NULL, 1, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_grade(&g, NULL, 0, NULL, NULL, NULL, NULL, 4, error, sizeof error), AC_OK);
    CHECK_INT(ac_grades_count(g), 0);
    CHECK(!ac_grades_at(g, 0));
    ac_grades_free(g);
    ac_grades_free(NULL);
    CHECK_INT(ac_grades_count(NULL), 0);
    CHECK(!ac_grades_at(NULL, 0));
    CHECK_INT(ac_options_set(NULL, "mode", "strict", error, sizeof error), AC_USAGE);
    CHECK_INT(ac_options_set(o, NULL, "strict", error, sizeof error), AC_USAGE);
    CHECK_INT(ac_options_set(o, "mode", NULL, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_choice(NULL, 0, NULL, "A", 1, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_choice(&letter, sizeof letter, NULL, NULL, 1, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_choice(&letter, sizeof letter, o, "A", 1, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_textscore(NULL, "qa_f1_score", NULL, "", 0, "", 0, NULL, 0, NULL, error, sizeof error),
              AC_USAGE);
    CHECK_INT(ac_textscore(&x, NULL, NULL, "", 0, "", 0, NULL, 0, NULL, error, sizeof error), AC_USAGE);
    CHECK_INT(ac_textscore(&x, "qa_f1_score", NULL, NULL, 0, "", 0, NULL, 0, NULL, error, sizeof error),
              AC_USAGE);
    CHECK_INT(
        ac_textscore(&x, "classification_score", NULL, "", 0, "", 0, &none, 1, NULL, error, sizeof error),
        AC_USAGE);
    CHECK_INT(ac_segmenter_open(NULL, NULL, error, sizeof error), AC_USAGE);
    CHECK(!ac_textscore_needs_segmenter(NULL));
    ac_options_free(NULL);
    ac_segmenter_close(NULL);
    ac_options_free(c);
    ac_options_free(o);
}

/* ---- threads ---- */

enum { MANY = 1000 };

static void *grade_many(void *threads)
{
    const char *gold[MANY], *pred[MANY];
    struct ac_grades *g = NULL;
    size_t wrong = 0;
    for (int i = 0; i < MANY; i++) {
        gold[i] = pairs[i % N_PAIRS].gold;
        pred[i] = pairs[i % N_PAIRS].pred;
    }
    if (!ac_grade(&g, NULL, MANY, gold, NULL, pred, NULL, *(int *)threads, NULL, 0))
        for (size_t i = 0; i < MANY; i++)
            wrong += strcmp(ac_grades_at(g, i)->verdict_name, pairs[i % N_PAIRS].verdict) != 0;
    else
        wrong = MANY;
    ac_grades_free(g);
    return wrong ? threads : NULL;
}

static void check_threads(void)
{
    int counts[] = {1, 2, 7, 0, 100000};
    pthread_t started[5];
    for (int i = 0; i < 5; i++)
        CHECK_INT(pthread_create(&started[i], NULL, grade_many, &counts[i]), 0);
    for (int i = 0; i < 5; i++) {
        void *bad;
        pthread_join(started[i], &bad);
        CHECK(!bad);
    }
}

/* ---- hostile texts, on a small stack ---- */

static char *repeated(const char *begin, const char *middle, const char *end, size_t n)
{
    char *out = calloc(n * (strlen(begin) + strlen(end)) + strlen(middle) + 1, 1), *at = out;
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, begin);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, end);
    return out;
}

static void grade_text(const char *gold, size_t n_gold, const char *text, size_t n)
{
    static const char *const modes[] = {"strict", "compat"};
    for (int i = 0; i < 2; i++) {
        struct ac_options *o = ac_options_new(AC_GRADE);
        struct ac_grades *g = NULL;
        set(o, "mode", modes[i]);
        CHECK_INT(ac_grade(&g, o, 1, &gold, &n_gold, &text, &n, 1, NULL, 0), AC_OK);
        CHECK(ac_grades_at(g, 0)->reason && *ac_grades_at(g, 0)->reason);
        ac_grades_free(g);
        ac_options_free(o);
    }
    struct ac_choice c;
    CHECK_INT(ac_choice(&c, sizeof c, NULL, text, n, NULL, 0), AC_OK);
}

static void *grade_hostile(void *unused)
{
    static const struct {
        const char *begin, *middle, *end;
    } nests[] = {{"(", "x", ")"},
                 {"\\frac{1}{1+", "x", "}"},
                 {"\\sqrt{", "2", "}"},
                 {"{", "1", "}"},
                 {"\\left[", "1", "\\right]"},
                 {"\\boxed{", "1", "}"},
                 {"-", "1", ""},
                 {"x^{", "2", "}"},
                 {"\\sin(", "x", ")"},
                 {"\\text{", "a", "}"},
                 {"|", "x", "|"},
                 {"1+(", "1", ")"},
                 {"<think>", "1", "</think>"},
                 {"\\begin{cases}", "1", "\\end{cases}"},
                 {"\\int ", "x", "dx"},
                 {"f(", "x", ")"},
                 {"{1,", "2", "}"},
                 {"**", "1", "**"},
                 {"\\lim_{x\\to ", "0", "}x"},
                 {"[", "\"answer\"", "]"},
                 {"{\"answer\":", "1", "}"}};
    static const size_t depths[] = {3, 90, 101, 2000};
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++)
        for (size_t d = 0; d < (check_small() ? 3 : sizeof depths / sizeof *depths); d++) {
            char *inner = repeated(nests[i].begin, nests[i].middle, nests[i].end, depths[d]);
            char *boxed = repeated("\\boxed{", inner, "}", 1);
            grade_text(inner, strlen(inner), boxed, strlen(boxed));
            grade_text(inner, strlen(inner), inner, strlen(inner));
            free(boxed);
            free(inner);
        }
    static const char bytes[] = "\\boxed{\0\xff\xfe\x80}\0\xed\xa0\x80 Answer: \xf0\x9f";
    grade_text(bytes, sizeof bytes - 1, bytes, sizeof bytes - 1);
    grade_text("", 0, "", 0);
    char *big = malloc(3000000);
    memset(big, '{', 3000000);
    grade_text("1", 1, big, 3000000);
    grade_text(big, 3000000, "1", 1);
    free(big);
    return unused;
}

static void check_hostile(void)
{
    pthread_attr_t attr;
    pthread_t t;
    size_t stack = 1 << 20;
#ifdef __SANITIZE_ADDRESS__
    stack *= 16; /* its frames are larger */
#endif
    pthread_attr_init(&attr);
    CHECK_INT(pthread_attr_setstacksize(&attr, stack), 0);
    CHECK_INT(pthread_create(&t, &attr, grade_hostile, NULL), 0);
    pthread_join(t, NULL);
    pthread_attr_destroy(&attr);
}

int main(void)
{
    check_values();
    check_options();
    check_letters();
    check_scores();
    check_segmenter();
    check_arguments();
    check_threads();
    check_hostile();
    return check_done();
}
