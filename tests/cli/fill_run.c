/* Fills a run folder with records without decoding: fill_run FOLDER LEAVE TOKENS BYTES. Every job of the
 * folder's configuration but the last LEAVE gets a completion of TOKENS ids and about BYTES of text, through
 * the writer that sweeps use; half of the answers are right. bench/many_samples.py measures what such a
 * folder costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/store/completion_json.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/store/job_key.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/run.h"

enum { POINTS = 16, LAYERS = 28, HEADS = 56 };

struct filler {
    struct journal journal;
    struct rng rng;
    int32_t *ids;
    int tokens;
    struct str filling, text;
};

static void check(int rc, const struct err *e)
{
    if (!rc)
        return;
    fprintf(stderr, "fill_run: %s\n", e->text);
    exit(1);
}

static void make_text(struct filler *f, const struct run_problem *p, int is_right)
{
    str_clear(&f->text);
    str_puts(&f->text, str_text(&f->filling));
    str_printf(&f->text, "</think> The answer is \\boxed{%s%s}.", is_right ? "" : "1", p->gold);
}

static json_t *make_head(const struct filler *f, const struct cell *c, const struct run_problem *p,
                         int sample, const char *key, const struct completion *done)
{
    char host[64] = "", digest[65];
    gethostname(host, sizeof host - 1);
    job_hash_ids(f->ids, (size_t)f->tokens, digest);
    digest[16] = 0;
    json_t *head = json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:s, s:i}", "v", JOURNAL_PLAIN, "key", key,
                             "cell", c->id, "task", c->task->name, "problem", p->id, "sample", sample,
                             "prompt_sha256", p->prompt_sha256, "prompt_tokens", p->prompt_tokens);
    completion_json_add(head, done);
    json_t *place = json_pack("{s:s, s:s, s:s, s:i, s:s}", "device", "none", "host", host, "version", "made",
                              "time", 1, "ids_sha256", digest);
    json_object_update(head, place);
    json_decref(place);
    return head;
}

static void fill(struct filler *f, const struct cell *c, int i)
{
    const struct run_problem *p = &c->task->problems[i / c->samples];
    char key[JOB_KEY_HEX + 1];
    struct err e = {0};
    struct kv_point point[POINTS];
    double n = f->tokens, share = c->is_baseline ? 1 : 0.25;
    struct completion done = {
        .n_ids = f->tokens,
        .finish = FINISHED_STOP,
        .kv = {.reads = n * 800 * share, .reads_full = n * 800, .peak_tokens = n + 90},
        .seconds = 12.345678,
        .curve = {
            .every = 1 + f->tokens / POINTS, .n = POINTS, .layers = LAYERS, .heads = HEADS, .point = point}};
    memset(point, 0, sizeof point);
    for (int k = 0; k < POINTS; k++)
        point[k].reads = (k + 1) * 8000.5 * share;
    run_expected_key(c, i, key);
    f->ids[0] = i % c->samples + 1000 * (i / c->samples);
    make_text(f, p, rng_unit(&f->rng) < 0.5);
    json_t *head = make_head(f, c, p, i % c->samples, key, &done);
    json_t *tail = json_pack("{s:o}", "curve", curve_json(&done.curve));
    check(journal_add(&f->journal, head, f->ids, (size_t)f->tokens, f->text.data, f->text.len, tail, &e), &e);
    json_decref(tail);
    json_decref(head);
}

int main(int argc, char **argv)
{
    struct run r;
    struct err e = {0};
    struct filler f = {.tokens = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0};
    if (argc != 5 || f.tokens < 1) {
        fprintf(stderr, "usage: fill_run FOLDER LEAVE TOKENS BYTES\n");
        return 2;
    }
    check(run_load_plan(&r, argv[1], &e), &e);
    f.ids = xcalloc((size_t)f.tokens, sizeof *f.ids);
    for (int i = 0; i < f.tokens; i++)
        f.ids[i] = 20000 + 37 * (i % 3000);
    for (long i = 0, n = strtol(argv[4], NULL, 10) / 13; i < n; i++)
        str_printf(&f.filling, "step %ld: so.\n", i % 1000);
    rng_init(&f.rng, 1, 0);
    journal_init(&f.journal, argv[1]);
    long left = r.n_expected - strtol(argv[2], NULL, 10);
    for (int c = 0; c < r.n_cells; c++)
        for (int i = 0; i < r.cells[c].n_expected && left-- > 0; i++)
            fill(&f, &r.cells[c], i);
    printf("%lld records\n", (long long)f.journal.records);
    journal_close(&f.journal);
    run_release(&r);
    free(f.ids);
    str_release(&f.filling);
    str_release(&f.text);
    return 0;
}
