/* The memory that a budget needs beside what is free. Counting it also compares every tensor's header with
 * the shape that config.json asks for. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/doctor/doctor_parts.h"
#include "kernels/backend.h"

/* Bytes that are free on the device; 0: unknown. */
static double available_bytes(const struct engine_options *o)
{
    char text[64], why[320];
    const struct backend *be = backend_find(o->backend ? o->backend : "cpu");
    struct device *d = NULL;
    if (!be || be->open(&d, o->ordinal, NULL, why, sizeof why) < 0)
        return 0;
    double bytes = (double)be->free_bytes(d);
    be->close(d);
    if (bytes > 0)
        return bytes;
    system_line("/proc/meminfo", "MemAvailable", ':', text, sizeof text);
    return strtod(text, NULL) * 1024;
}

struct need {
    double fixed, one, all; /* bytes: weights and scratch; K and V of one sequence, and of the whole batch */
    double pool;            /* that the CPU's cache takes; 0: what is free is taken */
    int context;
};

static struct need need_of(const struct patient *p, const struct engine_memory *m)
{
    const struct engine_info *i = &p->info;
    struct need n = {.fixed = (double)m->weights + (double)m->scratch + (double)m->spare,
                     .pool = (double)m->pool,
                     .context = i->max_context};
    n.one = (ceil(engine_full_tokens(i, n.context) / KV_PAGE_TOKENS) * KV_PAGE_TOKENS +
             engine_chunk_tokens(i, n.context)) *
            (double)i->kv_token_bytes;
    n.all = n.one * i->max_batch;
    return n;
}

/* "weights 256.6 MiB, activations 98.1 MiB; K and V (fp32) 45.0 KiB a token, ..." */
static void describe_need(const struct patient *p, const struct engine_memory *m, const struct need *n,
                          struct str *out)
{
    const struct engine_info *i = &p->info;
    double values = 2.0 * i->n_layers * i->n_kv * i->head_dim;
    str_puts(out, "weights ");
    str_bytes(out, (double)m->weights);
    str_puts(out, ", activations and tables ");
    str_bytes(out, (double)m->scratch);
    str_printf(out, "; K and V (%s) ", (double)i->kv_token_bytes > 3 * values ? "fp32" : "bf16");
    str_bytes(out, (double)i->kv_token_bytes);
    str_puts(out, " a token: ");
    str_bytes(out, n->one);
    str_printf(out, " for a sequence of %d, ", n->context);
    str_bytes(out, n->all);
    str_printf(out, " for %d of them", i->max_batch);
}

static void judge_need(struct patient *p, const struct engine_memory *m, const struct need *n)
{
    double free = available_bytes(&p->order->engine), most = n->pool > 0 ? n->pool : n->one;
    struct str text = {0}, amount = {0};
    describe_need(p, m, n, &text);
    int is_short = free > 0 && n->fixed + most > free;
    doctor_say(p, is_short ? FINDING_FAULT : FINDING_OK, "memory", "%s", text.data);
    if (free > 0)
        str_bytes(&amount, free);
    doctor_note("%s%s", free > 0 ? amount.data : "how much is free is not known",
                free > 0 ? " are free" : "");
    double held = n->pool > 0 ? n->pool : free - n->fixed;
    if (is_short) {
        doctor_way_out(
            "a smaller --context (max_total_tokens in the run file) or --batch (sweep --max-batch), or "
            "another machine");
    } else if (free > 0 && n->all > held) {
        str_clear(&amount);
        str_bytes(&amount, held);
        doctor_note(
            "the cache holds %s: when all grow that long fewer decode together, with the same results",
            amount.data);
    }
    str_release(&text);
    str_release(&amount);
}

void doctor_memory(struct patient *p)
{
    struct engine_memory memory;
    struct err e = {0};
    if (!p->has_weights || !p->info.max_batch)
        return;
    if (!engine_measure(&p->order->engine, NULL, 0, &p->info, &memory, &e)) {
        if (p->info.is_head_own) {
            doctor_say(
                p, FINDING_WARNING, "weights",
                "config.json ties the output head to the embedding, but there is another lm_head.weight, "
                "which is used");
            doctor_way_out("set \"tie_word_embeddings\" to false, if the head is meant");
        }
        struct need n = need_of(p, &memory);
        judge_need(p, &memory, &n);
        return;
    }
    p->has_weights = 0;
    doctor_say(p, FINDING_FAULT, "weights", "%s", e.text);
    doctor_way_out(
        "weights and config.json are not of the same model, or a part is missing: get the folder anew");
}
