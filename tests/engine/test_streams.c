/* Token streams against the NumPy reference decoder's (tests/data/pocket/reference): 16 problems of each
 * family under twelve policies. Equal streams must also have equal kv_reads_full, and kv_reads to 1e-3 of its
 * value.
 *
 *   test_streams DATA [policy file stem ...]
 *
 * Two right programs may part after a step where the reference's two best logits, or a selection's last kept
 * and first dropped score, are as close as their rounding, and nowhere before it. divergences.txt, made by
 * tests/engine/divergences.py with the reference's own per-step gaps, lists where that may happen: "stem task
 * problem step". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

static const struct {
    const char *stem, *policy;
    double equal; /* share of streams that must be equal */
} table[] = {
    {"full", "full", .99},
    {"quest_k8", "quest:k_pages=8", .99},
    {"quest_k16", "quest:k_pages=16", .99},
    {"delta_k16_l4", "delta:k_pages=16,l_pages=4", .99},
    {"delta_k16_l8", "delta:k_pages=16,l_pages=8", .99},
    {"kascade_r20", "kascade:ratio=0.2", .97},
    {"kascade_r50", "kascade:ratio=0.5", .97},
    {"raas_512", "raas:budget_tokens=512", .97},
    {"raas_768", "raas:budget_tokens=768", .97},
    {"dms_cr2", "dms:cr=2", .97},
    {"dms_cr4", "dms:cr=4", .97},
    {"dms_cr8", "dms:cr=8", .97},
};

enum { FAMILIES = 4, PER_FAMILY = 16, ROWS = FAMILIES * PER_FAMILY };
static const char *const families[FAMILIES] = {"relay20", "algebra16", "lookup60", "choice18"};

struct want {
    int32_t *ids;
    int n, at_limit;
    double reads, reads_full;
};

static void load_want(struct want *w, const char *data, const char *stem)
{
    struct err e = {0};
    char path[4096];
    struct file_lines l;
    const char *line, *task, *finish;
    size_t n;
    int found = 0;
    snprintf(path, sizeof path, "%s/reference/%s.jsonl", data, stem);
    if (file_lines_open(&l, path, &e)) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    while (file_lines_next(&l, &line, &n, &e) == 1) {
        json_t *o;
        int64_t problem;
        if (json_read_text(&o, line, n, path, &e) || json_get_str(o, "task", &task, path, &e) ||
            json_get_int(o, "problem", &problem, path, &e) || json_get_str(o, "finish", &finish, path, &e)) {
            fprintf(stderr, "%s\n", e.text);
            exit(1);
        }
        int f = 0;
        while (f < FAMILIES && strcmp(families[f], task))
            f++;
        if (f < FAMILIES && problem < PER_FAMILY) {
            struct want *x = &w[f * PER_FAMILY + problem];
            const json_t *ids = json_object_get(o, "ids");
            x->n = (int)json_array_size(ids);
            x->ids = malloc(((size_t)x->n + 1) * sizeof *x->ids);
            for (int i = 0; i < x->n; i++)
                x->ids[i] = (int32_t)json_integer_value(json_array_get(ids, (size_t)i));
            x->at_limit = !strcmp(finish, "length");
            json_get_double(o, "kv_reads", &x->reads, path, &e);
            json_get_double(o, "kv_reads_full", &x->reads_full, path, &e);
            found++;
        }
        json_decref(o);
    }
    CHECK_INT(found, ROWS);
    file_lines_close(&l);
}

/* Is a parting at this step one of those that the reference's own gaps explain? */
static int explained(const char *data, const char *stem, const char *family, int problem, int step)
{
    char path[4096], s[64], f[64];
    int p, at, yes = 0;
    snprintf(path, sizeof path, "%s/divergences.txt", data);
    FILE *in = fopen(path, "r");
    char line[256];
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "%63s %63s %d %d", s, f, &p, &at) == 4 && !strcmp(s, stem) && !strcmp(f, family) &&
            p == problem && step >= at)
            yes = 1;
    if (in)
        fclose(in);
    return yes;
}

static void compare(const char *data, int k, const struct item *got, const struct want *want)
{
    int equal = 0;
    for (int i = 0; i < ROWS; i++) {
        const struct item *g = &got[i];
        const struct want *w = &want[i];
        int step = 0;
        while (step < g->n_ids && step < w->n && g->ids[step] == w->ids[step])
            step++;
        if (step == g->n_ids && step == w->n) {
            equal++;
            CHECK_INT(g->finish == FINISHED_LENGTH, w->at_limit);
            CHECK_NEAR(g->kv.reads_full, w->reads_full, 0);
            CHECK_NEAR(g->kv.reads, w->reads, 1e-3 * w->reads);
            continue;
        }
        int ok = explained(data, table[k].stem, families[i / PER_FAMILY], i % PER_FAMILY, step);
        printf("parts: %s %s %d at step %d%s\n", table[k].stem, families[i / PER_FAMILY], i % PER_FAMILY,
               step, ok ? " (the reference's gap explains it)" : "");
        CHECK(ok);
    }
    printf("%-13s %d of %d streams equal\n", table[k].stem, equal, ROWS);
    CHECK(equal >= table[k].equal * ROWS);
}

static void run(struct engine *en, const char *data, int k, struct prompts *prompts)
{
    struct want want[ROWS] = {{0}};
    struct item items[ROWS];
    memset(items, 0, sizeof items);
    load_want(want, data, table[k].stem);
    struct policy *p = decode_policy(en, table[k].policy);
    for (int i = 0; i < ROWS; i++) {
        const struct token_list *t = &prompts[i / PER_FAMILY].ids[i % PER_FAMILY];
        items[i].req = (struct request){.prompt = t->id, .n_prompt = (int)t->n, .policy = p, .end_token = -1};
    }
    decode_all(en, items, ROWS, NULL);
    compare(data, k, items, want);
    items_release(items, ROWS);
    for (int i = 0; i < ROWS; i++)
        free(want[i].ids);
}

int main(int argc, char **argv)
{
    const char *data = argc > 1 ? argv[1] : "tests/data/pocket";
    struct prompts prompts[FAMILIES];
    struct engine *en = decode_open(&(struct engine_options){.model = "pocket"});
    for (int f = 0; f < FAMILIES; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/problems/%s.jsonl", data, families[f]);
        prompts_load(&prompts[f], en, path, PER_FAMILY);
    }
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        int wanted = argc <= 2;
        for (int a = 2; a < argc; a++)
            wanted |= !strcmp(argv[a], table[k].stem);
        if (wanted)
            run(en, data, (int)k, prompts);
    }
    for (int f = 0; f < FAMILIES; f++)
        prompts_release(&prompts[f]);
    engine_close(en);
    return check_done();
}
