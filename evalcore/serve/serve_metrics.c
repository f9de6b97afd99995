/* Figures for Prometheus (contract: serve_parts.h). */
#include "evalcore/base/clock.h"
#include "evalcore/serve/serve_parts.h"

static void add_metric(struct str *out, const char *name, const char *type, const char *help, double value)
{
    str_printf(out, "# HELP kveval_serve_%s %s\n# TYPE kveval_serve_%s %s\nkveval_serve_%s %.17g\n", name,
               help, name, type, name, value);
}

void serve_metrics(struct server *s, struct str *out)
{
    const struct counters *c = &s->counted;
    int n_ready = 0;
    double tokens = 0, steps = 0;
    for (int w = 0; w < s->decoder.n_workers; w++)
        n_ready += s->decoder.worker[w].is_ready;
    s->decoder.look(&s->decoder, &s->figures);
    for (int m = 0; m < s->plan.n_loaded; m++) {
        tokens += s->figures.model[m].tokens;
        steps += s->figures.model[m].steps;
    }
    str_puts(out, "# HELP kveval_serve_requests_total answers by HTTP status\n"
                  "# TYPE kveval_serve_requests_total counter\n");
    for (size_t i = 0; i < sizeof c->requests / sizeof *c->requests; i++)
        if (c->requests[i] > 0)
            str_printf(out, "kveval_serve_requests_total{status=\"%zu\"} %.0f\n", i, c->requests[i]);
    add_metric(out, "completions_total", "counter", "completions that ended", c->completions);
    add_metric(out, "errors_total", "counter", "completions that failed", c->errors);
    add_metric(out, "cancelled_total", "counter", "requests whose client went away", c->cancelled);
    add_metric(out, "lost_total", "counter", "completions that a dying worker lost", c->restarts);
    add_metric(out, "prompt_tokens_total", "counter", "tokens of prompts", c->prompt_tokens);
    add_metric(out, "completion_tokens_total", "counter", "tokens of completions that ended", c->tokens);
    add_metric(out, "decoded_tokens_total", "counter", "tokens that workers decoded", tokens);
    add_metric(out, "decode_steps_total", "counter", "decode steps of workers", steps);
    add_metric(out, "kv_reads_total", "counter", "KV reads of completions, in tokens", c->kv_reads);
    add_metric(out, "kv_reads_full_total", "counter", "what full attention would have read",
               c->kv_reads_full);
    add_metric(out, "aux_reads_total", "counter", "auxiliary reads, in tokens", c->aux_reads);
    add_metric(out, "running", "gauge", "completions that workers have", s->n_places - s->n_free);
    add_metric(out, "waiting", "gauge", "completions in the queue", (double)s->n_waiting);
    add_metric(out, "unread_bytes", "gauge", "bytes of answers that clients have not read",
               (double)s->reply_bytes);
    add_metric(out, "connections", "gauge", "open connections", s->n_links);
    add_metric(out, "workers_ready", "gauge", "workers that decode", n_ready);
    add_metric(out, "uptime_seconds", "gauge", "since the model was loaded", clock_seconds() - s->started);
}
