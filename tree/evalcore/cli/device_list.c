/* See device_list.h. */
#include "evalcore/cli/device_list.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A number of at most four digits at *s, which moves behind it; -1: none. */
static int parse_ordinal(const char **s)
{
    int n = 0, digits = 0;
    for (; isdigit((unsigned char)**s) && digits < 5; digits++)
        n = n * 10 + *(*s)++ - '0';
    return digits && digits < 5 ? n : -1;
}

static int add_ordinal(struct device_list *out, int ordinal)
{
    for (int i = 0; i < out->n; i++)
        if (out->ordinal[i] == ordinal)
            return -1;
    if (out->n == DEVICES_MAX)
        return -1;
    out->ordinal[out->n++] = ordinal;
    return 0;
}

/* "0-3,5" */
static int parse_ordinals(struct device_list *out, const char *s)
{
    for (;; s++) {
        int from = parse_ordinal(&s), to = from;
        if (from >= 0 && *s == '-') {
            s++;
            to = parse_ordinal(&s);
        }
        if (from < 0 || to < from)
            return -1;
        for (int i = from; i <= to; i++)
            if (add_ordinal(out, i))
                return -1;
        if (!*s)
            return 0;
        if (*s != ',')
            return -1;
        size_t n = strlen(out->backend); /* cuda:0,cuda:1 is the same as cuda:0,1 */
        if (!strncmp(s + 1, out->backend, n) && s[1 + n] == ':')
            s += n + 1;
    }
}

/* There is one CPU; its numbers only say how many workers divide it. */
static int is_count(const struct device_list *d)
{
    for (int i = 0; i < d->n; i++)
        if (d->ordinal[i] != i)
            return 0;
    return 1;
}

int device_list_parse(struct device_list *out, const char *text, int most, struct err *e)
{
    memset(out, 0, sizeof *out);
    text = text ? text : "cpu";
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    if (n < sizeof out->backend)
        memcpy(out->backend, text, n);
    out->is_gpu = strcmp(out->backend, "cpu") != 0;
    int bad = (out->is_gpu && strcmp(out->backend, "cuda")) ||
              (colon ? parse_ordinals(out, colon + 1) : add_ordinal(out, 0));
    if (bad && most > 1)
        return err_set(
            e, ERR_USAGE,
            "a device is cpu, cuda:0, cuda:0-3 or cuda:0,2 (each GPU once, at most %d), not \"%s\"",
            DEVICES_MAX, text);
    if (bad)
        return err_set(e, ERR_USAGE, "a device is cpu, cuda or cuda:0, not \"%s\"", text);
    if (out->n > most)
        return err_set(e, ERR_USAGE, "one device is possible here, not \"%s\"", text);
    if (!out->is_gpu && !is_count(out))
        return err_set(e, ERR_USAGE,
                       "there is one CPU: cpu, or cpu:0-%d for %d workers that share it, not \"%s\"",
                       out->n > 1 ? out->n - 1 : 1, out->n > 1 ? out->n : 2, text);
    return 0;
}

void device_list_name(const struct device_list *d, int i, char out[DEVICE_NAME_MAX])
{
    snprintf(out, DEVICE_NAME_MAX, "%s:%d", d->backend, d->ordinal[i]);
}
