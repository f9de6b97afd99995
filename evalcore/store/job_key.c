/* Job keys (contract: job_key.h): SHA-256 over canonical JSON, so that equal inputs give equal keys on every
 * machine and whatever the order of options in a run file. */
#include "evalcore/store/job_key.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

void job_hash_json(const json_t *o, char *out, int digits)
{
    struct str text = {0};
    json_canonical(&text, o);
    sha256_hex(str_text(&text), text.len, out, digits);
    str_release(&text);
}

static void add_text(struct str *out, const char *name, const char *s)
{
    str_printf(out, "\"%s\":", name);
    json_quote(out, s ? s : "", s ? strlen(s) : 0);
}

/* The canonical JSON of an object of these six, written at once: a report computes a million keys. */
void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1])
{
    struct str text = {0};
    str_putc(&text, '{');
    add_text(&text, "cell", in->identity);
    str_printf(&text, ",\"own_max_new\":%d,", in->own_max_new);
    add_text(&text, "own_stop", in->own_stop);
    str_putc(&text, ',');
    add_text(&text, "problem", in->problem);
    str_putc(&text, ',');
    add_text(&text, "prompt", in->prompt_sha256);
    str_printf(&text, ",\"sample\":%d}", in->sample);
    sha256_hex(str_text(&text), text.len, out, JOB_KEY_HEX);
    str_release(&text);
}

void job_hash_ids(const int32_t *ids, size_t n, char out[65])
{
    unsigned char *bytes = xmalloc(4 * n + 1);
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 4; b++)
            bytes[4 * i + (size_t)b] = (unsigned char)((uint32_t)ids[i] >> (8 * b));
    sha256_hex(bytes, 4 * n, out, 64);
    free(bytes);
}
