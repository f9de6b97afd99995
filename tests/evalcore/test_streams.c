/* Token streams against the NumPy reference decoder's, for the problems that it decoded: PER of each family
 * under every policy of the table. Equal streams must also have equal kv_reads_full, and kv_reads and
 * key_elements to 1e-3 of their value.
 *
 *   test_streams DATA RUN PER    DATA: tests/data/pocket, its selectors or its evictors; RUN: the folder of a
 * run of DATA/table.json
 *
 * All streams are equal today, so the test wants all of them equal. Should a change of summation order part
 * some: `recipe/reference.py --logprobs` prints, per step, the gap between the reference's two best logits
 * and the gap between a selection's last kept and first dropped score. Two correct programs may part after a
 * gap below 1e-3 and 1e-4 respectively (1e-2 for quest and raas, whose unscaled bounds reach 4,400), and
 * nowhere before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/store/run.h"
#include "tests/check.h"

static const struct {
    const char *reference, *task;
} families[] = {
    {"relay20", "relay"}, {"algebra16", "algebra"}, {"lookup60", "lookup"}, {"choice18", "choice"}};

static const struct cell *find_cell(const struct run *r, const char *policy, const char *reference_task)
{
    const char *task = "";
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        if (!strcmp(families[f].reference, reference_task))
            task = families[f].task;
    for (int i = 0; i < r->n_cells; i++)
        if (!strcmp(r->cells[i].policy_label, policy) && !strcmp(r->cells[i].task->label, task))
            return &r->cells[i];
    return NULL;
}

/* First step at which the two differ; -1: nowhere. */
static long first_difference(const json_t *a, const json_t *b)
{
    size_t n = json_array_size(a), m = json_array_size(b), i = 0;
    while (i < n && i < m &&
           json_integer_value(json_array_get(a, i)) == json_integer_value(json_array_get(b, i)))
        i++;
    return i == n && i == m ? -1 : (long)i;
}

/* 1 when the record's stream is the reference's line. */
static int compare(const struct run *r, const struct cell *cell, int problem, const json_t *want)
{
    const struct record *got = &cell->records[problem];
    const char *finish = json_string_value(json_object_get(want, "finish"));
    double reads = json_number_value(json_object_get(want, "kv_reads"));
    double reads_full = json_number_value(json_object_get(want, "kv_reads_full"));
    double keys = json_number_value(json_object_get(want, "key_elements"));
    struct err e = {0};
    struct str text = {0};
    json_t *ids = NULL;
    CHECK_INT(got->problem, problem);
    CHECK_INT(run_ids(r, got, &text, &e), 0);
    CHECK_INT(json_read_text(&ids, str_text(&text), text.len, cell->id, &e), 0);
    long step = first_difference(ids, json_object_get(want, "ids"));
    if (step >= 0) {
        printf("parts: %s %d at step %ld\n", cell->id, problem, step);
    } else {
        CHECK_INT(got->finish == FINISHED_LENGTH, finish && !strcmp(finish, "length"));
        CHECK_NEAR(got->kv.reads_full, reads_full, 0);
        CHECK_NEAR(got->kv.reads, reads, 1e-3 * reads);
        CHECK_NEAR(got->kv.key_elements, keys, 1e-3 * keys);
    }
    json_decref(ids);
    str_release(&text);
    return step < 0;
}

static void compare_policy(const struct run *r, const char *data, const char *policy, int per_family)
{
    struct err e = {0};
    char path[4096];
    struct file_lines lines;
    const char *line, *task;
    size_t len;
    int64_t problem;
    int n = 0, equal = 0, rc;
    snprintf(path, sizeof path, "%s/reference/%s.jsonl", data, policy);
    CHECK_INT(file_lines_open(&lines, path, &e), 0);
    while ((rc = file_lines_next(&lines, &line, &len, &e)) == 1) {
        json_t *want;
        const struct cell *cell = NULL;
        if (json_read_text(&want, line, len, path, &e))
            break;
        if (json_get_str(want, "task", &task, path, &e) || json_get_int(want, "problem", &problem, path, &e))
            problem = 0; /* counted, and not equal */
        else
            cell = find_cell(r, policy, task);
        if (cell && problem < cell->n_records)
            equal += compare(r, cell, (int)problem, want);
        n += problem < per_family; /* the reference may have more */
        json_decref(want);
    }
    file_lines_close(&lines);
    if (rc || *e.text)
        printf("%s\n", e.text);
    printf("%-15s %d of %d streams equal\n", policy, equal, n);
    CHECK_INT(n, per_family * (int)(sizeof families / sizeof *families));
    CHECK_INT(equal, n);
}

int main(int argc, char **argv)
{
    struct run r;
    struct err e = {0};
    if (argc < 4)
        return 1;
    if (run_load(&r, argv[2], &e)) {
        printf("%s\n", e.text);
        return 1;
    }
    for (int i = 0; i < r.n_cells; i++)
        if (r.cells[i].task == &r.tasks[0])
            compare_policy(&r, argv[1], r.cells[i].policy_label, (int)strtol(argv[3], NULL, 10));
    run_release(&r);
    return check_done();
}
