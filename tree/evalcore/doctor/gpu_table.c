/* See gpu_table.h. All GPUs are open at once, so that copies between them can be tried. */
#include "evalcore/doctor/gpu_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/cli/device_list.h"
#include "kernels/backend.h"

enum { COLUMNS = 8 };
struct row {
    struct device *dev;       /* NULL: it could not be opened */
    struct str cell[COLUMNS]; /* a GPU that could not be opened has the first two, the second not aligned */
};

static const char *const heading[COLUMNS] = {"device",     "name",   "memory", "free",
                                             "capability", "driver", "KV",     "peers"};

static void open_gpu(const struct backend *be, int ordinal, struct row *r, struct gpu_table *t)
{
    char why[320];
    struct device_facts f = {0};
    str_printf(&r->cell[0], "%s:%d", be->name, ordinal);
    if (be->open(&r->dev, ordinal, NULL, why, sizeof why) == 0 && be->facts(r->dev, &f) < 0) {
        snprintf(why, sizeof why, "%.300s", be->last_error(r->dev));
        be->close(r->dev);
        r->dev = NULL;
    }
    if (!r->dev) {
        str_printf(&r->cell[1], "not available: %s", why);
        t->n_bad++;
        return;
    }
    str_puts(&r->cell[1], f.name);
    str_printf(&r->cell[2], "%.1f GiB", (double)f.total_bytes / 1073741824);
    str_printf(&r->cell[3], "%.1f GiB", (double)f.free_bytes / 1073741824);
    str_puts(&r->cell[4], f.capability);
    str_puts(&r->cell[5], f.driver);
    str_puts(&r->cell[6], be->kv_default == DTYPE_BF16 ? "bf16" : "fp32");
    size_t at = strlen(t->kernels);
    if (!strstr(t->kernels, f.kernels))
        snprintf(t->kernels + at, sizeof t->kernels - at, "%s%s", at ? "; " : "", f.kernels);
}

/* Which others a copy from GPU i reaches: "direct: 1 2, by host: 3, FAILED: 4". */
static int try_peers(const struct backend *be, struct row *r, int i, int n)
{
    static const char *const words[] = {"FAILED:", "by host:", "direct:"};
    int bad = 0;
    struct str found[3] = {{0}, {0}, {0}};
    for (int j = 0; j < n; j++) {
        if (j == i || !r[i].dev || !r[j].dev)
            continue;
        int how = be->peer(r[i].dev, r[j].dev);
        bad |= how < 0;
        str_printf(&found[how < 0 ? 0 : how + 1], " %d", j);
    }
    for (int k = 2; k >= 0; k--) {
        if (found[k].len)
            str_printf(&r[i].cell[7], "%s%s%s", r[i].cell[7].len ? ", " : "", words[k], found[k].data);
        str_release(&found[k]);
    }
    if (r[i].dev && !r[i].cell[7].len)
        str_puts(&r[i].cell[7], "-");
    return bad;
}

static void print_rows(const struct row *r, int n, struct str *out, const char *indent)
{
    int width[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        width[c] = (int)strlen(heading[c]);
        for (int i = 0; i < n; i++)
            if ((r[i].dev || c == 0) && (int)r[i].cell[c].len > width[c])
                width[c] = (int)r[i].cell[c].len;
    }
    for (int i = -1; i < n; i++) {
        str_puts(out, indent);
        int last = i >= 0 && !r[i].dev ? 1 : COLUMNS - 1;
        for (int c = 0; c <= last; c++) {
            const char *text = i < 0 ? heading[c] : str_text(&r[i].cell[c]);
            if (c == last)
                str_printf(out, "%s\n", text);
            else
                str_printf(out, "%-*s  ", width[c], text);
        }
    }
}

void gpu_table(struct gpu_table *t, struct str *out, const char *indent)
{
    struct row row[DEVICES_MAX];
    const struct backend *be = backend_find("cuda");
    memset(t, 0, sizeof *t);
    memset(row, 0, sizeof row);
    if (!be) {
        snprintf(t->why, sizeof t->why, "not built in (CMake found no CUDA toolkit)");
        return;
    }
    int n = be->count();
    t->is_unreadable = n < 0;
    t->n = n < 0 ? 0 : n > DEVICES_MAX ? DEVICES_MAX : n;
    if (!t->n) {
        struct device *d = NULL;
        if (be->open(&d, 0, NULL, t->why, sizeof t->why) == 0)
            be->close(d);
        return;
    }
    for (int i = 0; i < t->n; i++)
        open_gpu(be, i, &row[i], t);
    for (int i = 0; i < t->n; i++)
        t->n_bad += try_peers(be, row, i, t->n);
    print_rows(row, t->n, out, indent);
    for (int i = 0; i < t->n; i++) {
        if (row[i].dev)
            be->close(row[i].dev);
        for (int c = 0; c < COLUMNS; c++)
            str_release(&row[i].cell[c]);
    }
}
