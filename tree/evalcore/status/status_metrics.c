/* The figures as Prometheus reads them (contract: status.h): its text format 0.0.4, as the textfile collector
 * of node_exporter takes it. */
#include <math.h>
#include <string.h>

#include "evalcore/status/status.h"

/* A label's value: backslash, quote and newline are escaped; bytes that are no UTF-8 would spoil the file. */
static void label_value(struct str *out, const char *value)
{
    struct str clean = {0};
    str_add_utf8(&clean, value, strlen(value));
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\n')
            str_puts(out, "\\n");
        else if (clean.data[i] == '\\' || clean.data[i] == '"')
            str_printf(out, "\\%c", clean.data[i]);
        else
            str_putc(out, clean.data[i]);
    str_release(&clean);
}

static void metric_head(struct str *out, const char *name, const char *type, const char *help)
{
    str_printf(out, "# HELP kveval_%s %s\n# TYPE kveval_%s %s\n", name, help, name, type);
}

/* One sample; key and value are a further label, NULL: none. */
static void metric_sample(struct str *out, const char *labels, const char *name, const char *key,
                          const char *value, double v)
{
    str_printf(out, "kveval_%s{%s", name, labels);
    if (key) {
        str_printf(out, ",%s=\"", key);
        label_value(out, value);
        str_putc(out, '"');
    }
    str_puts(out, "} ");
    if (isfinite(v))
        json_number(out, v);
    else
        str_puts(out, "NaN");
    str_putc(out, '\n');
}

static void metric_single(struct str *out, const char *labels, const char *name, const char *type,
                          const char *help, double v)
{
    metric_head(out, name, type, help);
    metric_sample(out, labels, name, NULL, NULL, v);
}

static void metric_totals(struct str *out, const struct status *s, const char *labels)
{
    metric_single(out, labels, "jobs", "gauge", "Jobs of the sweep or shard.", (double)s->total);
    metric_single(out, labels, "jobs_done_total", "counter",
                  "Jobs whose completion is in the journal, those of earlier processes among them.",
                  (double)s->done);
    metric_single(out, labels, "jobs_failed_total", "counter", "Of these, jobs that ended in an error.",
                  (double)s->failed);
    metric_single(out, labels, "tokens_decoded_total", "counter", "Tokens decoded by this process.",
                  s->tokens);
    metric_single(out, labels, "tokens_per_second", "gauge",
                  "Tokens decoded per second, over about ten seconds.", s->rate);
    metric_single(out, labels, "running_sequences", "gauge", "Sequences that are being decoded.", s->running);
    metric_single(out, labels, "eta_seconds", "gauge",
                  "Predicted seconds until the last job is done; NaN: unknown.",
                  s->left >= 0 ? s->left : NAN);
    metric_single(
        out, labels, "kv_density", "gauge",
        "Cached tokens read, as a share of what full attention reads, over completions of this process; "
        "NaN: none yet.",
        s->kv_reads_full > 0 ? s->kv_reads / s->kv_reads_full : NAN);
    metric_single(out, labels, "start_time_seconds", "gauge", "When this process began, since 1970.",
                  s->started);
    metric_single(out, labels, "update_time_seconds", "gauge", "When these figures were taken, since 1970.",
                  s->time);
    metric_head(out, "state", "gauge", "1 for the state that the sweep is in, 0 for the others.");
    for (int i = STATUS_RUNNING; i <= STATUS_FAILED; i++)
        metric_sample(out, labels, "state", "state", status_state_name((enum status_state)i),
                      i == (int)s->state);
}

static double device_up(const struct status_device *d)
{
    return d->life == STATUS_LIVE;
}

static double device_running(const struct status_device *d)
{
    return d->running;
}

static double device_tokens(const struct status_device *d)
{
    return d->tokens;
}

static double device_rate(const struct status_device *d)
{
    return d->rate;
}

static double device_lost(const struct status_device *d)
{
    return (double)d->lost;
}

static double device_restarts(const struct status_device *d)
{
    return (double)d->restarts;
}

static const struct device_row {
    const char *name, *type, *help;
    double (*of)(const struct status_device *d);
} device_rows[] = {
    {"device_up", "gauge", "1 where the device decodes, 0 where it loads or its worker is lost.", device_up},
    {"device_running_sequences", "gauge", "Sequences that the device decodes.", device_running},
    {"device_tokens_decoded_total", "counter", "Tokens that the device decoded.", device_tokens},
    {"device_tokens_per_second", "gauge", "Tokens that the device decodes per second.", device_rate},
    {"workers_lost_total", "counter", "How often the device's worker ended before the sweep did.",
     device_lost},
    {"workers_restarted_total", "counter", "How often the device's worker was started again.",
     device_restarts},
    {NULL, NULL, NULL, NULL},
};

void status_metrics(struct str *out, const struct status *s, const char *run)
{
    struct str labels = {0};
    str_puts(&labels, "run=\"");
    label_value(&labels, run);
    str_printf(&labels, "\",shard=\"%d/%d\"", s->shard, s->n_shards > 0 ? s->n_shards : 1);
    metric_totals(out, s, labels.data);
    for (const struct device_row *r = device_rows; r->name; r++) {
        metric_head(out, r->name, r->type, r->help);
        for (int i = 0; i < s->n_devices; i++)
            metric_sample(out, labels.data, r->name, "device", s->device[i].name, r->of(&s->device[i]));
    }
    str_release(&labels);
}
