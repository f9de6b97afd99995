/* Journal records of completions, and the status line (contract: job_done.h). */
#include "evalcore/sweep/job_done.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/store/completion_json.h"
#include "evalcore/base/json.h"
#include "evalcore/cli/version.h"

struct tally_set { /* expected tokens of one prompt set, for the ETA */
    double expected_left, finished_expected, finished_tokens;
};

void tally_init(struct tally *t, const struct runplan *p, struct journal *journal, struct progress *progress)
{
    *t = (struct tally){.plan = p, .journal = journal, .progress = progress};
    t->set = xcalloc((size_t)p->n_sets + 1, sizeof *t->set);
    for (long i = 0; i < p->n_jobs; i++)
        t->set[p->cells[p->jobs[i].cell].set].expected_left += p->jobs[i].expected;
}

static int write_record(struct tally *t, const struct job *j, const struct completion *done,
                        const char *device, struct err *e)
{
    const struct plan_cell *c = &t->plan->cells[j->cell];
    const struct prompt_set *s = &t->plan->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    char host[64] = "", digest[65];
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    job_hash_ids(done->ids, (size_t)done->n_ids, digest);
    digest[16] = 0;
    json_t *head =
        json_pack("{s:i, s:s, s:s, s:s, s:o, s:i, s:s, s:i}", "v", 1, "key", j->key, "cell", c->id, "task",
                  c->task->name, "problem", json_text_of(problem->id), "sample", j->sample, "prompt_sha256",
                  s->rows[j->problem].sha256, "prompt_tokens", s->rows[j->problem].n);
    json_t *place =
        json_pack("{s:o, s:o, s:s, s:I, s:s}", "device", json_text_of(device), "host", json_text_of(host),
                  "version", KVEVAL_VERSION, "time", (json_int_t)time(NULL), "ids_sha256", digest);
    if (!head || !place) {
        json_decref(head);
        json_decref(place);
        return err_set(e, ERR_FORMAT, "problem %s cannot be written as JSON", problem->id);
    }
    completion_json_add(head, done);
    json_object_update(head, place);
    json_decref(place);
    if (problem->option_order)
        json_object_set_new(head, "option_order", json_string(problem->option_order));
    int rc = journal_add(t->journal, head, done->ids, (size_t)done->n_ids, done->text ? done->text : "",
                         done->n_text, e);
    json_decref(head);
    return rc;
}

int tally_add(struct tally *t, const struct job *j, const struct completion *done, const char *device,
              struct err *e)
{
    struct tally_set *set = &t->set[t->plan->cells[j->cell].set];
    int rc = write_record(t, j, done, device, e);
    if (rc)
        return rc;
    set->expected_left -= j->expected;
    set->finished_expected += j->expected;
    set->finished_tokens += done->n_ids;
    t->finished++;
    t->tokens += done->n_ids;
    return 0;
}

/* Expected lengths are scaled by how the finished jobs of the same set turned out. */
static double tokens_left(const struct tally *t)
{
    double left = 0;
    for (int i = 0; i < t->plan->n_sets; i++) {
        const struct tally_set *s = &t->set[i];
        double scale = s->finished_expected > 0 ? s->finished_tokens / s->finished_expected : 1;
        left += s->expected_left * scale;
    }
    return left;
}

void tally_show(const struct tally *t, double decoded)
{
    double ahead = decoded - t->tokens, left = tokens_left(t);
    struct progress_now now = {t->finished, t->plan->n_jobs, decoded, left > ahead ? left - ahead : 0};
    progress_show(t->progress, &now);
}

void tally_release(struct tally *t)
{
    free(t->set);
    t->set = NULL;
}
