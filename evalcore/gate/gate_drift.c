/* How far a replay is from the one that the baseline keeps (contract: gate.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/gate/gate.h"

static int hex_bits(char c)
{
    static const int ones[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return ones[c <= '9' ? c - '0' : c - 'a' + 10];
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

/* Adds the entries that two lists share, and those of either. A list of everything shares what the other has.
 */
static void add_overlap(const char *a, size_t n_a, const char *b, size_t n_b, long *both, long *either)
{
    int all_a = n_a == 3 && !strncmp(a, "all", 3), all_b = n_b == 3 && !strncmp(b, "all", 3);
    if (all_a || all_b) {
        *both += all_a && all_b;
        ++*either;
        return;
    }
    for (size_t i = 0; i < n_a || i < n_b; i++) {
        int x = i < n_a ? hex_value(a[i]) : 0, y = i < n_b ? hex_value(b[i]) : 0;
        *both += hex_bits("0123456789abcdef"[x & y]);
        *either += hex_bits("0123456789abcdef"[x | y]);
    }
}

static void overlap_of(const char *a, const char *b, long *both, long *either)
{
    while (*a || *b) {
        size_t n_a = strcspn(a, " "), n_b = strcspn(b, " ");
        add_overlap(a, n_a, b, n_b, both, either);
        a += n_a + (a[n_a] == ' ');
        b += n_b + (b[n_b] == ' ');
    }
}

static const struct gate_seen *find_seen(const struct gate_replay *r, int step, int layer)
{
    for (int i = 0; i < r->n_seen; i++)
        if (r->seen[i].step == step && r->seen[i].layer == layer)
            return &r->seen[i];
    return NULL;
}

/* Lists that only one of the two has count as not shared; where neither has any, nothing was compared. */
static void compare_lists(struct gate_drift *d, const struct gate_replay *base, const struct gate_replay *now)
{
    long both = 0, either = 0;
    d->same_lists = base->n_seen == now->n_seen;
    for (int i = 0; i < base->n_seen; i++) {
        const struct gate_seen *x = &base->seen[i], *y = find_seen(now, x->step, x->layer);
        d->same_lists &= y && !strcmp(x->digest, y->digest);
        if (x->sets)
            overlap_of(x->sets, y && y->sets ? y->sets : "", &both, &either);
    }
    d->overlap = either ? (double)both / (double)either : d->same_lists ? NAN : 0;
}

int gate_same_top(const struct gate_replay *a, const struct gate_replay *b, int i)
{
    int32_t x = a->tops[i], y = b->tops[i];
    const int32_t *ids = a->ids ? a->ids : b->ids;
    if (x == y || !ids || (x < 0) == (y < 0))
        return x == y;
    return (x < 0 ? y : x) != ids[i];
}

static void compare_tokens(struct gate_drift *d, const struct gate_replay *base,
                           const struct gate_replay *now)
{
    int n = base->n < now->n ? base->n : now->n, same = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double off = fabs((double)base->millinats[i] - (double)now->millinats[i]) / 1000;
        sum += off;
        d->worst = off > d->worst ? off : d->worst;
        same += gate_same_top(base, now, i);
    }
    d->nats = n ? sum / n : NAN;
    d->top1 = n ? (double)same / n : NAN;
}

/* Of a server's replay nothing is known of what was selected and read. */
static void leave_out_lists(struct gate_drift *d)
{
    d->overlap = d->reads = d->wanted = NAN;
    d->same_lists = 0;
}

static int same_reads(const struct kv_counts *a, const struct kv_counts *b)
{
    return a->reads == b->reads && a->aux_reads == b->aux_reads && a->reads_full == b->reads_full &&
           a->peak_tokens == b->peak_tokens;
}

static const char *exact_fault(const struct gate_drift *d, const struct gate_replay *base,
                               const struct gate_replay *now, struct arena *a)
{
    const struct kv_counts *x = &base->kv, *y = &now->kv;
    if (!same_reads(x, y))
        return arena_printf(a,
                            "reads %.12g + %.12g, the base file has %.12g + %.12g (K and V, and to choose)",
                            y->reads, y->aux_reads, x->reads, x->aux_reads);
    if (!d->same_lists)
        return arena_printf(a, "other tokens were selected: %.0f %% of the entries are shared",
                            100 * d->overlap);
    if (d->top1 < 1)
        return arena_printf(a, "the likeliest token is another at %.2f %% of the places",
                            100 * (1 - d->top1));
    return arena_printf(a, "log-probabilities differ, by %.2g nats a token and at most %.2g", d->nats,
                        d->worst);
}

static const char *near_fault(const struct gate_drift *d, struct arena *a)
{
    if (!isnan(d->wanted) && !(fabs(d->reads - d->wanted) <= GATE_READS * d->wanted))
        return arena_printf(a,
                            "reads %.6g, the base file has %.6g; 2 %% are allowed between numerics classes",
                            d->reads, d->wanted);
    if (!(d->nats <= GATE_NATS))
        return arena_printf(a,
                            "log-probabilities differ by %.2g nats a token; %g are allowed between classes",
                            d->nats, GATE_NATS);
    if (!(d->top1 >= GATE_TOP1))
        return arena_printf(a, "the likeliest token agrees at %.1f %% of the places; %.0f %% are needed",
                            100 * d->top1, 100 * GATE_TOP1);
    if (!isnan(d->overlap) && !(d->overlap >= GATE_OVERLAP))
        return arena_printf(a, "%.0f %% of the selected entries are shared; %.0f %% are needed",
                            100 * d->overlap, 100 * GATE_OVERLAP);
    return NULL;
}

void gate_drift(struct gate_drift *out, const struct gate_replay *base, const struct gate_replay *now,
                int same_class, struct arena *a)
{
    struct gate_drift d = {.setting = base->setting,
                           .trace = base->trace,
                           .kl = NAN,
                           .kl_limit = NAN,
                           .worst_limit = NAN,
                           .top1_limit = NAN};
    int by_server = base->by_server || now->by_server;
    compare_tokens(&d, base, now);
    compare_lists(&d, base, now);
    d.reads = now->kv.reads + now->kv.aux_reads;
    d.wanted = base->kv.reads + base->kv.aux_reads;
    if (by_server)
        leave_out_lists(&d);
    d.is_exact = !by_server && base->n == now->n && !strcmp(base->bits, now->bits) && d.top1 >= 1 &&
                 d.same_lists && same_reads(&base->kv, &now->kv);
    if (base->n != now->n && !by_server)
        d.why = arena_printf(a, "%d tokens were scored, the base file has %d", now->n, base->n);
    else if (same_class && !d.is_exact)
        d.why = exact_fault(&d, base, now, a);
    else if (!same_class)
        d.why = near_fault(&d, a);
    d.failed = d.why != NULL;
    *out = d;
}
