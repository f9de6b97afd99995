/* Decodes lists of requests for the engine's tests. */
#include "tests/engine/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "kernels/backend.h"

static void die(const struct err *e)
{
    fprintf(stderr, "%s\n", e->text);
    exit(1);
}

static const char *backend_name(void)
{
    return getenv("KVEVAL_TEST_BACKEND");
}

int decode_rounds(void)
{
    return backend_name() && backend_find(backend_name())->activations == DTYPE_BF16;
}

struct engine *decode_open(const struct engine_options *o)
{
    struct err e = {0};
    struct engine *en;
    struct engine_options own = *o;
    own.backend = backend_name();
    if (own.backend && (!backend_find(own.backend) || backend_find(own.backend)->count() < 1)) {
        printf("skipped: no device of backend %s\n", own.backend);
        exit(77);
    }
    if (engine_open(&en, &own, &e))
        die(&e);
    return en;
}

struct policy *decode_policy(struct engine *en, const char *text)
{
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec;
    struct policy *p = NULL;
    if (policy_spec_text(&spec, text, &a, &e) || engine_policy(en, &spec, &p, &e))
        die(&e);
    arena_release(&a);
    return p;
}

static void keep_curve(struct kv_curve *to, const struct kv_curve *c)
{
    *to = *c;
    to->point = xmalloc((size_t)(c->n + 1) * sizeof *c->point);
    if (c->n)
        memcpy(to->point, c->point, (size_t)c->n * sizeof *c->point);
    to->by_head = c->by_head ? xmalloc((size_t)c->heads * sizeof *c->by_head) : NULL;
    if (c->by_head)
        memcpy(to->by_head, c->by_head, (size_t)c->heads * sizeof *c->by_head);
}

static void keep(struct item *it, const struct completion *c)
{
    it->n_ids = c->n_ids;
    it->ids = xmalloc(((size_t)c->n_ids + 1) * sizeof *it->ids);
    memcpy(it->ids, c->ids, (size_t)c->n_ids * sizeof *it->ids);
    it->finish = c->finish;
    it->kv = c->kv;
    it->preempted = c->preempted;
    it->likelihood = c->likelihood;
    keep_curve(&it->curve, &c->curve);
    it->n_text = c->n_text;
    it->text = xmalloc(c->n_text + 1);
    memcpy(it->text, c->text, c->n_text);
    it->text[c->n_text] = 0;
    it->error = c->error ? xstrdup(c->error) : NULL;
    it->n_logprobs = c->n_logprobs;
    if (c->logprobs) {
        size_t bytes = (size_t)c->n_logprobs * sizeof(float);
        it->logprobs = xmalloc(bytes + 1);
        it->gaps = xmalloc(bytes + 1);
        memcpy(it->logprobs, c->logprobs, bytes);
        memcpy(it->gaps, c->gaps, bytes);
    }
}

void decode_all(struct engine *en, struct item *items, int n, const int *order)
{
    struct err e = {0};
    for (int i = 0; i < n; i++) {
        struct item *it = &items[order ? order[i] : i];
        it->req.user = it;
        if (!it->req.max_new_tokens)
            it->req.max_new_tokens = 1400;
        if (!it->req.end_token)
            it->req.end_token = -1;
        if (engine_submit(en, &it->req, &e))
            die(&e);
    }
    while (engine_pending(en)) {
        const struct completion *c;
        int n_out;
        if (engine_step(en, &c, &n_out, &e))
            die(&e);
        for (int i = 0; i < n_out; i++)
            keep(c[i].user, &c[i]);
    }
}

void items_release(struct item *items, int n)
{
    for (int i = 0; i < n; i++) {
        free(items[i].ids);
        free(items[i].logprobs);
        free(items[i].gaps);
        free(items[i].text);
        free(items[i].curve.point);
        free(items[i].curve.by_head);
        free(items[i].error);
    }
}

int items_equal(const struct item *a, const struct item *b)
{
    if (a->n_ids != b->n_ids || a->finish != b->finish ||
        memcmp(a->ids, b->ids, (size_t)a->n_ids * sizeof *a->ids))
        return 0;
    if (a->logprobs && b->logprobs) {
        size_t bytes = (size_t)a->n_logprobs * sizeof *a->logprobs;
        return a->n_logprobs == b->n_logprobs && !memcmp(a->logprobs, b->logprobs, bytes) &&
               !memcmp(a->gaps, b->gaps, bytes);
    }
    return 1;
}

void prompts_load(struct prompts *p, struct engine *en, const char *path, int max)
{
    struct err e = {0};
    struct file_lines l;
    struct tokenizer_scratch s = {0};
    const char *line;
    size_t n;
    memset(p, 0, sizeof *p);
    if (file_lines_open(&l, path, &e))
        die(&e);
    while (p->n < max && file_lines_next(&l, &line, &n, &e) == 1) {
        json_t *o;
        const char *text, *gold = "";
        if (json_read_text(&o, line, n, path, &e) || json_get_str(o, "rendered", &text, path, &e) ||
            json_opt_str(o, "gold", &gold, path, &e))
            die(&e);
        if (chat_encode_rendered(engine_tokenizer(en), &s, text, strlen(text), &p->ids[p->n], &e))
            die(&e);
        p->gold[p->n++] = xstrdup(gold);
        json_decref(o);
    }
    file_lines_close(&l);
    tokenizer_scratch_release(&s);
}

void prompts_release(struct prompts *p)
{
    for (int i = 0; i < p->n; i++) {
        token_list_release(&p->ids[i]);
        free(p->gold[i]);
    }
}
