/* The figures in words (contract: status.h). */
#include <string.h>

#include "evalcore/cli/progress.h"
#include "evalcore/status/status.h"

static void rate_text(struct str *out, double rate, const char *unit)
{
    if (rate >= 10000)
        str_printf(out, "%.1fk %s", rate / 1000, unit);
    else if (rate >= 10 || rate <= 0)
        str_printf(out, "%.0f %s", rate, unit);
    else
        str_printf(out, "%.1f %s", rate, unit);
}

static int is_going(const struct status *s)
{
    return s->state == STATUS_RUNNING;
}

static void long_text(struct str *out, const struct status *s)
{
    str_printf(out, "%ld of %ld jobs", s->done, s->total);
    if (s->failed)
        str_printf(out, ", %ld failed", s->failed);
    if (!is_going(s))
        return;
    if (s->rate > 0) {
        str_puts(out, ", ");
        rate_text(out, s->rate, "tokens/s");
    }
    if (s->left >= 0) {
        str_puts(out, ", about ");
        progress_duration(out, s->left);
        str_puts(out, " left");
    }
}

static void short_text(struct str *out, const struct status *s)
{
    str_printf(out, "%ld/%ld", s->done, s->total);
    if (s->failed)
        str_printf(out, ", %ld failed", s->failed);
    if (is_going(s) && s->left >= 0) {
        str_puts(out, ", ");
        progress_duration(out, s->left);
        str_puts(out, " left");
    }
    if (is_going(s) && s->rate > 0) {
        str_puts(out, ", ");
        rate_text(out, s->rate, "tok/s");
    }
}

void status_total_text(struct str *out, const struct status *s, int columns)
{
    struct str text = {0};
    long_text(&text, s);
    if ((int)text.len > columns) {
        str_clear(&text);
        short_text(&text, s);
    }
    str_add(out, text.data, text.len);
    str_release(&text);
}

void status_device_text(struct str *out, const struct status_device *d)
{
    str_printf(out, "%-8s ", d->name);
    if (d->life == STATUS_LIVE) {
        str_printf(out, "%3d running, ", d->running);
        rate_text(out, d->rate, "tokens/s");
    } else {
        str_puts(out, status_life_name(d->life));
    }
    if (d->model)
        str_printf(out, ", %s", d->model);
    if (d->restarts)
        str_printf(out, ", started again %ld time%s", d->restarts, d->restarts == 1 ? "" : "s");
}
