/* Solved examples in the prompts of a task file: rows that stand in it or beside the task's, the first ones
 * or those of the row's subject, written by a template of their own. */
#include <stdlib.h>

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tasks/task.h"
#include "tests/check.h"

static const char rows[] = "{\"problem\": \"What is {answer} plus 1?\", \"answer\": 3, \"topic\": \"sums\"}\n"
                           "{\"problem\": \"Twice 4?\", \"answer\": 8, \"topic\": \"products\"}\n";
static const char examples[] = "{\"problem\": \"1+1?\", \"answer\": 2, \"topic\": \"sums\"}\n"
                               "{\"problem\": \"2*3?\", \"answer\": 6, \"topic\": \"products\"}\n"
                               "{\"problem\": \"{problem}?\", \"answer\": 7, \"topic\": \"sums\"}\n";

/* The file with these keys besides what all have. */
static int open(struct task *t, struct arena *a, const char *keys, struct err *e)
{
    const struct task_ops *ops;
    char text[2000];
    json_t *o = NULL;
    struct task_options options;
    snprintf(text, sizeof text,
             "{\"name\": \"mine\", \"kind\": \"math\", \"rows\": {\"file\": \"rows.jsonl\"}, %s}", keys);
    int rc = json_read_text(&o, text, strlen(text), "mine.json", e);
    CHECK_INT(rc, 0);
    rc = task_read_object(&ops, o, NULL, "mine.json", ".", a, e);
    json_decref(o);
    param_defaults(task_params, &options);
    *t = (struct task){0};
    return rc ? rc : task_open_as(t, ops, NULL, &options, NULL, NULL, e);
}

static void prompt(const char *keys, size_t i, const char *want)
{
    struct task t;
    struct arena a = {0};
    struct err e = {0};
    CHECK_INT(open(&t, &a, keys, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_STR(i < t.n_problems ? t.problems[i].prompt : "", want);
    task_close(&t);
    arena_release(&a);
}

static void refused(const char *keys, const char *one, const char *other)
{
    struct task t;
    struct arena a = {0};
    struct err e = {0};
    CHECK(open(&t, &a, keys, &e) < 0);
    if (!strstr(e.text, one) || !strstr(e.text, other))
        CHECK_STR(e.text, one);
    task_close(&t);
    arena_release(&a);
}

#define ASK "\"prompts\": {\"p\": \"{examples}Q: {problem}\"}, "

int main(void)
{
    struct err e = {0};
    CHECK_INT(file_write_output("rows.jsonl", rows, strlen(rows), &e), 0);
    CHECK_INT(file_write_output("shots.jsonl", examples, strlen(examples), &e), 0);
    /* {answer} is filled in examples alone, and what a field holds is not searched again */
    prompt(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 3, \"join\": \"--\\n\", "
               "\"text\": \"Q: {problem} A: {answer}\\n\"}",
           0, "Q: 1+1? A: 2\n--\nQ: 2*3? A: 6\n--\nQ: {problem}? A: 7\nQ: What is {answer} plus 1?");
    prompt(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 1, \"match\": \"topic\", \"text\": "
               "\"{problem}={answer};\"}",
           1, "2*3?=6;Q: Twice 4?");
    prompt(ASK "\"few_shot\": {\"rows\": [{\"problem\": \"0?\", \"answer\": \"0\"}], \"count\": 1, \"text\": "
               "\"{problem} \"}",
           1, "0? Q: Twice 4?");
    /* a column of numbers is shared as one of texts is, whether the other file writes 4 or "4" */
    prompt(ASK "\"few_shot\": {\"rows\": [{\"problem\": \"2+1?\", \"answer\": 3}, {\"problem\": \"2*4?\", "
               "\"answer\": \"8\"}], \"count\": 1, \"match\": \"answer\", \"text\": \"{problem} \"}",
           1, "2*4? Q: Twice 4?");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 1, \"match\": \"topik\", \"text\": "
                "\"{problem}\"}",
            "shots.jsonl:1", "topik");
    refused(ASK "\"few_shot\": {\"rows\": [{\"problem\": \"0?\", \"answer\": 0, \"day\": 1}], \"count\": 1, "
                "\"match\": \"day\", \"text\": \"{problem}\"}",
            "rows.jsonl:1", "day");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 1, \"match\": \"topic,day\", \"text\": "
                "\"{problem}\"}",
            "few_shot.match", "one column");
    /* a row is not its own solved example: the examples are the task's rows */
    prompt(ASK "\"few_shot\": {\"file\": \"rows.jsonl\", \"count\": 1, \"text\": \"{problem}={answer};\"}", 0,
           "Twice 4?=8;Q: What is {answer} plus 1?");
    prompt(ASK "\"few_shot\": {\"file\": \"rows.jsonl\", \"count\": 1, \"text\": \"{problem}={answer};\"}", 1,
           "What is {answer} plus 1?=3;Q: Twice 4?");
    prompt(ASK "\"few_shot\": {\"file\": \"rows.jsonl\", \"count\": 1, \"draw\": \"random\", \"text\": "
               "\"{problem}={answer};\"}",
           1, "What is {answer} plus 1?=3;Q: Twice 4?");
    prompt(ASK "\"few_shot\": {\"file\": \"rows.jsonl\", \"count\": 1, \"draw\": \"random\", \"text\": "
               "\"{problem}={answer};\"}",
           0, "Twice 4?=8;Q: What is {answer} plus 1?");
    refused(ASK "\"few_shot\": {\"file\": \"rows.jsonl\", \"count\": 2, \"text\": \"{problem}\"}",
            "rows.jsonl:1", "2 examples");
    refused(ASK "\"few_shot\": {\"file\": \"rows.jsonl\", \"count\": 2, \"draw\": \"random\", \"text\": "
                "\"{problem}\"}",
            "rows.jsonl:1", "2 examples");
    /* a variant without {examples} reads none */
    prompt("\"prompts\": {\"p\": \"{problem}\", \"q\": \"{examples}{problem}\"}, "
           "\"few_shot\": {\"file\": \"nowhere.jsonl\", \"count\": 5, \"text\": \"{problem}\"}",
           1, "Twice 4?");
    refused(ASK "\"few_shot\": {\"file\": \"nowhere.jsonl\", \"count\": 5, \"text\": \"{problem}\"}",
            "nowhere.jsonl", "examples");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 4, \"text\": \"{problem}\"}",
            "4 examples", "3");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 2, \"match\": \"topic\", \"text\": "
                "\"{problem}\"}",
            "rows.jsonl:2", "topic");
    refused(ASK "\"limit\": 5", "{examples}", "no field");
    refused(ASK "\"few_shot\": {\"file\": \"../shots.jsonl\", \"count\": 1, \"text\": \"{problem}\"}",
            "few_shot.file", "..");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 100000, \"text\": \"{problem}\"}",
            "count", "64");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"text\": \"{problem}\"}", "few_shot.count",
            "missing");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 1}", "few_shot.text", "missing");
    refused(ASK "\"few_shot\": {\"count\": 1, \"text\": \"{problem}\"}", "few_shot", "rows");
    refused(ASK
            "\"few_shot\": {\"rows\": [], \"file\": \"shots.jsonl\", \"count\": 1, \"text\": \"{problem}\"}",
            "few_shot", "one of");
    refused(ASK "\"few_shot\": {\"rows\": 7, \"count\": 1, \"text\": \"{problem}\"}", "few_shot.rows",
            "list");
    refused(ASK "\"few_shot\": {\"rows\": [5], \"count\": 1, \"text\": \"{problem}\"}", "few_shot.rows",
            "object");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 1, \"text\": \"{problem} {examples}\"}",
            "few_shot.text", "{examples}");
    refused(ASK "\"few_shot\": {\"file\": \"shots.jsonl\", \"count\": 1, \"txt\": \"{problem}\"}", "txt",
            "text");
    refused(ASK "\"few_shot\": [5]", "few_shot", "object");
    return check_done();
}
