/* The task ruler against a reader of its prompts that knows nothing of how they are made: what is asked for
 * stands in the prompt, as often as it should, the length is met, and the draws depend on nothing else. */
#include "evalcore/base/hash.h"
#include "tasks/task.h"
#include "tests/check.h"

enum { PROBLEMS = 25, CHAT_TOKENS = 30 };

/* A tokenizer for tests: four bytes a token, and a chat form. */
static int count(void *context, const struct problem *p, struct err *e)
{
    int *calls = context;
    (void)e;
    ++*calls;
    return (int)((p->prompt_len + strlen(p->answer_prefix) + 3) / 4) + (p->no_chat ? 0 : CHAT_TOKENS);
}

static int calls;
static const struct task_counter counter = {.count = count, .context = &calls, .limit = 20000};

static int open(struct task *t, const char *pairs, const struct task_counter *c, struct err *e)
{
    struct task_options o;
    struct arena a = {0};
    param_defaults(task_params, &o);
    int rc = param_set_pairs(task_params, &o, &a, pairs, "test", e);
    CHECK_INT(rc, 0);
    rc = task_open(t, "ruler", &o, NULL, c, e);
    arena_release(&a);
    return rc;
}

static int occurrences(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* What stands behind the last `mark` in the prompt. */
static const char *behind(const char *prompt, const char *mark)
{
    const char *at = NULL;
    for (const char *next = prompt; (next = strstr(next, mark)); next++)
        at = next;
    CHECK(at);
    return at ? at + strlen(mark) : "";
}

static int is_number(const char *s, size_t n)
{
    return strlen(s) == n && strspn(s, "0123456789") == n && s[0] != '0';
}

static int is_uuid(const char *s)
{
    for (int i = 0; i < 36; i++) {
        int dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !s[i] || !strchr("0123456789abcdef", s[i]))
            return 0;
    }
    return !s[36] && s[14] == '4' && strchr("89ab", s[19]);
}

/* ---- each family ---- */

static void niah(const struct problem *p, const char *kind, int n_golds, int n_needles)
{
    CHECK_INT(p->n_golds, n_golds);
    CHECK_INT(p->max_new_tokens, 128);
    int one = n_golds == 1;
    const char *query =
        behind(p->prompt, one ? "\nWhat is the special magic " : "\nWhat are all the special magic ");
    CHECK(!strncmp(query, kind, strlen(kind) - (size_t)one));
    CHECK(!strncmp(p->prompt, one ? "A special magic " : "Some special magic ", one ? 16 : 19));
    const char *end = strstr(query, " mentioned in the provided text?");
    CHECK(end && !end[32]);
    for (int i = 0; i < n_golds; i++) {
        char line[256];
        CHECK_INT(occurrences(p->prompt, p->golds[i]), 1);
        CHECK(!strcmp(kind, "uuids") ? is_uuid(p->golds[i]) : is_number(p->golds[i], 7));
        /* its sentence names a key that the question names */
        const char *at = strstr(p->prompt, p->golds[i]), *key = at;
        while (key > p->prompt && strncmp(key, " for ", 5))
            key--;
        snprintf(line, sizeof line, "%.*s", (int)(at - key - 9), key + 5);
        CHECK(!strncmp(at - 5, " is: ", 5) && at[strlen(p->golds[i])] == '.');
        line[strcspn(line, " ")] = 0;
        CHECK_INT(occurrences(query, line), 1);
        CHECK_INT(occurrences(p->answer_prefix, line), 1);
        CHECK_INT(occurrences(p->prompt, line), one ? 2 : p->n_golds == occurrences(query, ", ") + 1 ? 2 : 5);
    }
    int needles = occurrences(p->prompt, "One of the special magic ");
    CHECK(n_needles ? needles == n_needles : needles > 10);
    CHECK(!strncmp(p->answer_prefix, " The special magic ", 19));
    CHECK_STR(behind(p->answer_prefix, " mentioned in the provided text "), one ? "is" : "are");
}

/* Follows the chain from the value, as a solver does. */
static void tracked(const struct problem *p, int chains, int n)
{
    const char *text = behind(p->prompt, "Memorize and track the chain(s) of variable assignment"),
               *names[10];
    char value[6] = "", line[64];
    CHECK_INT(p->n_golds, n);
    CHECK_INT(occurrences(text, "\nVAR "), chains * n);
    CHECK_INT(occurrences(p->prompt, "\nVAR "), 2 * chains * n);
    CHECK_INT(p->max_new_tokens, 30);
    CHECK_INT(occurrences(p->prompt, "Memorize and track"), 2);
    snprintf(value, sizeof value, "%.5s", behind(p->prompt, "assigned the value "));
    CHECK(is_number(value, 5));
    snprintf(line, sizeof line, " = %s\n", value);
    CHECK_INT(occurrences(text, line), 1);
    names[0] = strstr(text, line) - 5;
    for (int i = 1; i < n; i++) {
        snprintf(line, sizeof line, " = VAR %.5s ", names[i - 1]);
        CHECK_INT(occurrences(text, line), 1);
        CHECK(strstr(text, line) > names[i - 1]);
        names[i] = strstr(text, line) - 5;
    }
    for (int i = 0; i < n; i++) {
        snprintf(line, sizeof line, "%.5s", names[i]);
        CHECK_STR(p->golds[i], line);
        snprintf(line, sizeof line, "VAR %.5s = ", names[i]);
        CHECK_INT(occurrences(text, line), 1);
    }
    snprintf(line, sizeof line, ", %d variables are assigned the value %s,", n, value);
    CHECK(strstr(p->answer_prefix, line));
    /* all values differ, those of the example among themselves too */
    for (const char *at = p->prompt; (at = strstr(at, "\nVAR ")); at += 5) {
        const char *is = strstr(at, " = ") + 3;
        if (is[0] >= '0' && is[0] <= '9') {
            snprintf(line, sizeof line, " = %.5s\n", is);
            CHECK_INT(occurrences(at < text ? p->prompt : text, line), 1);
        }
    }
}

static void vt(const struct problem *p)
{
    tracked(p, 1, 5);
    /* the example's answer has five names of three letters */
    char example[6][8];
    const char *answer = strstr(p->prompt, "they are: ");
    CHECK(answer &&
          sscanf(answer + 10, "%3s %3s %3s %3s %3s %7s", example[0], example[1], example[2], example[3],
                 example[4], example[5]) == 6 &&
          !strcmp(example[5], "Memoriz"));
}

struct counted {
    char word[64];
    int n;
};

static int by_count(const void *a, const void *b)
{
    return ((const struct counted *)b)->n - ((const struct counted *)a)->n;
}

/* The `top` most frequent words up to a line end are the reference answers, and no other is as frequent. */
static void most_frequent(const struct problem *p, const char *list, int is_numbered, int top)
{
    enum { WORDS = 4000 };
    struct counted *c = calloc(WORDS, sizeof *c);
    int n = 0, number = 0;
    while (*list && *list != '\n') {
        size_t len = strcspn(list, " \n");
        int k = 0, at = -1;
        if (is_numbered && number % 2 == 0) {
            CHECK_INT(strtol(list, NULL, 10), number / 2 + 1);
        } else if (!is_numbered && len == 3 && !strncmp(list, "...", 3)) {
            k = n;
        } else {
            while (k < n && (strncmp(c[k].word, list, len) || c[k].word[len]))
                k++;
            at = k;
        }
        if (at == n && n < WORDS && len < sizeof c->word)
            memcpy(c[n++].word, list, len);
        if (at >= 0)
            c[at].n++;
        number++;
        list += len + (list[len] == ' ');
    }
    qsort(c, (size_t)n, sizeof *c, by_count);
    CHECK(n > top && c[top - 1].n > c[top].n);
    CHECK_INT(p->n_golds, top);
    for (int i = 0; i < top; i++) {
        int found = 0;
        for (int k = 0; k < top; k++)
            found += !strcmp(c[i].word, p->golds[k]);
        CHECK_INT(found, 1);
    }
    free(c);
}

static void cwe(const struct problem *p)
{
    static const char mark[] = "Memorize the ones that appear most often.\n";
    CHECK_INT(p->max_new_tokens, 120);
    CHECK_INT(occurrences(p->prompt, mark), 2);
    most_frequent(p, behind(p->prompt, mark), 1, 10);
    CHECK(strstr(p->prompt, " Answer: The top 10 words that appear most often in the list are: 1. "));
}

static void fwe(const struct problem *p)
{
    CHECK_INT(p->max_new_tokens, 50);
    most_frequent(p, behind(p->prompt, "most frequently appeared coded words. "), 0, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(strlen(p->golds[i]), 6);
}

static void check_problem(const struct problem *p)
{
    const char *s = p->subset;
    if (!strncmp(s, "niah_single", 11))
        niah(p, s[12] == '3' ? "uuids" : "numbers", 1, 1);
    else if (!strcmp(s, "niah_multikey_1"))
        niah(p, "numbers", 1, 4);
    else if (!strncmp(s, "niah_multikey", 13))
        niah(p, s[14] == '3' ? "uuids" : "numbers", 1, 0);
    else if (!strncmp(s, "niah", 4))
        niah(p, "numbers", 4, 4);
    else if (!strcmp(s, "vt"))
        vt(p);
    else if (!strcmp(s, "cwe"))
        cwe(p);
    else
        fwe(p);
}

/* At most one unit short of the length. The widest are sentences of the essay and needles of UUIDs. */
static void check_length(const struct problem *p, int tokens)
{
    enum { UNIT_TOKENS = 40 };
    int all = count(&calls, p, NULL) + p->max_new_tokens;
    CHECK(all <= tokens);
    if (all <= tokens - UNIT_TOKENS)
        fprintf(stderr, "%s has %d of %d tokens\n", p->id, all, tokens);
    CHECK(all > tokens - UNIT_TOKENS);
}

static void family(const char *name, int tokens)
{
    struct task t, again;
    struct err e = {0};
    struct arena a = {0};
    const char *all = arena_printf(&a, "subset=%s,tokens=%d,problems=%d", name, tokens, PROBLEMS);
    calls = 0;
    CHECK_INT(open(&t, all, &counter, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(t.n_problems, PROBLEMS);
    CHECK(calls < 60 + 12 * PROBLEMS); /* the size of the problem before is where the search begins */
    for (size_t i = 0; i < t.n_problems; i++) {
        CHECK_STR(t.problems[i].subset, name);
        check_problem(&t.problems[i]);
        check_length(&t.problems[i], tokens);
        CHECK(!i || strcmp(t.problems[i].golds[0], t.problems[0].golds[0]) || t.problems[i].n_golds == 10);
    }
    CHECK_STR(t.problems[3].id, arena_printf(&a, "%s-%d-s1-003", name, tokens));
    /* the same problems, however many are asked for */
    CHECK_INT(open(&again, arena_printf(&a, "subset=%s,tokens=%d,problems=5", name, tokens), &counter, &e),
              0);
    CHECK_STR(again.source, t.source);
    for (size_t i = 0; i < again.n_problems; i++) {
        CHECK_STR(again.problems[i].prompt, t.problems[i].prompt);
        CHECK_STR(again.problems[i].answer_prefix, t.problems[i].answer_prefix);
    }
    task_close(&again);
    /* another length asks for the same */
    CHECK_INT(
        open(&again, arena_printf(&a, "subset=%s,tokens=%d,problems=5", name, tokens + 200), &counter, &e),
        0);
    CHECK(strcmp(again.source, t.source) && strcmp(again.problems[0].id, t.problems[0].id));
    CHECK(again.problems[2].prompt_len > t.problems[2].prompt_len);
    CHECK_STR(again.problems[2].golds[0], t.problems[2].golds[0]);
    CHECK_STR(again.problems[2].hash, t.problems[2].hash);
    CHECK(strcmp(again.problems[2].hash, t.problems[1].hash));
    task_close(&again);
    CHECK_INT(
        open(&again, arena_printf(&a, "subset=%s,tokens=%d,problems=5,seed=2", name, tokens), &counter, &e),
        0);
    CHECK(strcmp(again.problems[0].golds[0], t.problems[0].golds[0]) && strcmp(again.source, t.source));
    CHECK(strcmp(again.problems[0].hash, t.problems[0].hash));
    task_close(&again);
    task_close(&t);
    arena_release(&a);
}

/* Needles stand anywhere from the beginning to the end, in all three haystacks. */
static void places(const char *name)
{
    struct task t;
    struct err e = {0};
    struct arena a = {0};
    double low = 1, high = 0, sum = 0;
    CHECK_INT(open(&t, arena_printf(&a, "subset=%s,tokens=2048", name), &counter, &e), 0);
    CHECK_INT(t.n_problems, 100);
    for (size_t i = 0; i < t.n_problems; i++) {
        const struct problem *p = &t.problems[i];
        double at = (double)(strstr(p->prompt, p->gold) - p->prompt) / (double)p->prompt_len;
        low = at < low ? at : low;
        high = at > high ? at : high;
        sum += at / (double)t.n_problems;
    }
    CHECK(low < 0.1 && high > 0.9);
    CHECK_NEAR(sum, 0.5, 0.12); /* four standard deviations of a mean of 100 */
    task_close(&t);
    arena_release(&a);
}

static int open_vt(struct task *t, int tokens, int chains, int hops, struct err *e)
{
    char pairs[100];
    snprintf(pairs, sizeof pairs, "subset=vt,tokens=%d,problems=10,chains=%d,hops=%d", tokens, chains, hops);
    return open(t, pairs, &counter, e);
}

/* Variable tracking with numbers other than RULER's. DMS (arXiv 2506.05345, Table 2) has 40 chains of one
 * assignment; the example with 40 of its own is longer than RULER's 500 tokens and stands with the least
 * noise. */
static void chains(int chains, int hops, int tokens)
{
    struct task t, longer;
    struct err e = {0};
    struct arena a = {0};
    CHECK_INT(open_vt(&t, tokens, chains, hops, &e), 0);
    CHECK_STR(e.text, "");
    for (size_t i = 0; i < t.n_problems; i++) {
        tracked(&t.problems[i], chains, hops + 1);
        check_length(&t.problems[i], tokens);
        CHECK_STR(t.problems[i].id, arena_printf(&a, "vt-%d-%d-%d-s1-%03d", chains, hops, tokens, (int)i));
    }
    CHECK_INT(open_vt(&longer, tokens + 300, chains, hops, &e), 0);
    CHECK_STR(longer.problems[2].golds[0], t.problems[2].golds[0]);
    CHECK_STR(longer.problems[2].hash, t.problems[2].hash);
    task_close(&longer);
    CHECK_INT(open_vt(&longer, tokens, chains, hops ? 0 : 1, &e), 0);
    CHECK(strcmp(longer.source, t.source) && strcmp(longer.problems[2].hash, t.problems[2].hash));
    task_close(&longer);
    task_close(&t);
    arena_release(&a);
}

/* RULER's own numbers, said or not, are the same problems under the same ids. */
static void chains_default(void)
{
    struct task t, said;
    struct err e = {0};
    CHECK_INT(open(&t, "subset=vt,tokens=2048,problems=3", &counter, &e), 0);
    CHECK_INT(open(&said, "subset=vt,tokens=2048,problems=3,chains=1,hops=4", &counter, &e), 0);
    CHECK_STR(said.source, t.source);
    CHECK_STR(said.problems[2].id, "vt-2048-s1-002");
    CHECK_STR(said.problems[2].prompt, t.problems[2].prompt);
    /* and those that this program has always made */
    CHECK_STR(t.source, "a43f14c9997e5ef77b6d481419f624138d7ab4fc886d9b6d5936ccda7a24116a");
    CHECK_STR(t.problems[2].hash, "e0a78c00a685cab3");
    char hex[17];
    sha256_hex(t.problems[2].prompt, t.problems[2].prompt_len, hex, 16);
    CHECK_STR(hex, "88ec103ac8011f03");
    task_close(&said);
    task_close(&t);
}

static int fails(void *context, const struct problem *p, struct err *e)
{
    (void)context;
    (void)p;
    return err_set(e, ERR_USAGE, "no tokenizer");
}

static void refused(const char *pairs, const struct task_counter *c, const char *want)
{
    struct task t;
    struct err e = {0};
    CHECK(open(&t, pairs, c, &e) < 0);
    CHECK_STR(e.text, want);
    task_close(&t);
}

static void errors(void)
{
    static const struct task_counter broken = {.count = fails, .limit = 20000};
    refused("tokens=4096", &counter,
            "task ruler: name a family with subset: niah_single_1, niah_single_2, niah_single_3, "
            "niah_multikey_1, "
            "niah_multikey_2, niah_multikey_3, niah_multivalue, niah_multiquery, vt, cwe, fwe");
    refused(
        "tokens=4096,subset=qa_1", &counter,
        "task ruler: it has no subset \"qa_1\"; it has niah_single_1, niah_single_2, niah_single_3, "
        "niah_multikey_1, niah_multikey_2, niah_multikey_3, niah_multivalue, niah_multiquery, vt, cwe, fwe");
    refused(
        "subset=vt", &counter,
        "task ruler: say with tokens how many of the model's tokens prompt and completion fill, for example "
        "4096");
    refused("subset=vt,tokens=4096", NULL,
            "task ruler: its problems have a length in a model's tokens, and there is no model here");
    refused(
        "subset=vt,tokens=20001", &counter,
        "task ruler: tokens is 20001, but prompt and completion together may have 20000 (max_total_tokens or "
        "the context); lower it or use a model with a longer context");
    refused("subset=cwe,tokens=512", &counter,
            "task ruler: the smallest problem of cwe takes 556 of this model's tokens, with 120 to generate; "
            "raise "
            "tokens, which is 512");
    refused("subset=vt,tokens=4096", &broken, "no tokenizer");
    refused("subset=vt,tokens=4096,steps=4", &counter,
            "task ruler: steps is an option of pocket.relay, pocket.choice, pocket.algebra, pocket.lookup; "
            "remove it");
    refused("subset=cwe,tokens=4096,chains=40", &counter,
            "task ruler: chains is an option of the subset vt; cwe has none, remove it");
    refused("subset=fwe,tokens=4096,hops=0", &counter,
            "task ruler: hops is an option of the subset vt; fwe has none, remove it");
    refused("subset=vt,tokens=4096,file=x", &counter,
            "task ruler: its problems are generated, never read; remove file");
}

static void grades(void)
{
    static const struct {
        const char *text;
        enum finish finish;
        enum verdict verdict;
        double score;
    } want[] = {
        {" AQXBD, KLOPE, ZZTOP and 1", FINISH_LENGTH, VERDICT_CORRECT, 1},
        {" aqxbd klope zztop", FINISH_STOP, VERDICT_CORRECT, 1},
        {"AQXBDKLOPEZZTOP", FINISH_STOP, VERDICT_CORRECT, 1},
        {"<think>AQXBD KLOPE ZZTOP", FINISH_LENGTH, VERDICT_CORRECT, 1},
        {"AQXBD KLOPE KLOPE", FINISH_LENGTH, VERDICT_WRONG, 2.0 / 3},
        {"AQXB KLOP ZZTO", FINISH_STOP, VERDICT_WRONG, 0},
        {" \n\t", FINISH_STOP, VERDICT_UNPARSED, 0},
        {"", FINISH_LENGTH, VERDICT_TRUNCATED, 0},
    };
    static const char *const golds[] = {"AQXBD", "KLOPE", "ZZTOP"};
    const struct problem p = {.id = "x", .gold = golds[0], .gold_len = 5, .golds = golds, .n_golds = 3};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct arena a = {0};
        struct grade g;
        struct response r = {want[i].text, strlen(want[i].text), THINKING_OPEN, want[i].finish};
        CHECK_INT(task_find("ruler")->grade(&g, &p, &r, &a), 0);
        CHECK_STR(verdict_name(g.verdict), verdict_name(want[i].verdict));
        CHECK_NEAR(g.score, want[i].score, 1e-12);
        CHECK(i != 4 || !strcmp(g.reason, "2 of 3 references occur in the completion."));
        CHECK(i != 4 || !strcmp(g.gold_form, "AQXBD, KLOPE, ZZTOP"));
        arena_release(&a);
    }
}

int main(void)
{
    static const int lengths[] = {1024, 4096, 8192};
    const struct task_ops *ops = task_find("ruler");
    for (size_t i = 0; ops->subset(i); i++)
        for (int k = 0; k < 3; k++)
            family(ops->subset(i), lengths[k]);
    places("niah_single_1");
    places("niah_single_2");
    places("niah_multikey_2");
    chains(40, 0, 3072);
    chains(40, 0, 8192);
    chains(3, 2, 1024);
    chains(1, 9, 2048);
    chains_default();
    errors();
    grades();
    return check_done();
}
