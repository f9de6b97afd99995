/* Fuzzes the safetensors reader. Up to the first NUL the input is a header, which is put behind its
 * correct length, and the rest is the data; an input that begins with a NUL is the file itself. There is
 * no crash, and a refusal names the file. Every tensor of an accepted file lies inside the file, has the
 * number of bytes that its shape requires, and can be found and read. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tensor(const struct safetensors *s, const struct st_tensor *t, const char *file, size_t n)
{
    size_t count = 1, item = t->dtype == ST_F32 ? 4 : 2;
    assert(t->n_dims >= 0 && t->n_dims <= 8);
    for (int k = 0; k < t->n_dims; k++)
        assert(t->shape[k] >= 0);
    assert((const char *)t->data >= file && t->bytes <= (size_t)(file + n - (const char *)t->data));
    assert(safetensors_find(s, t->name) == t);
    struct err e = {0};
    const struct st_tensor *needed;
    int rc = safetensors_need(s, t->name, t->n_dims, t->shape, &needed, &e);
    if (t->dtype == ST_OTHER) {
        assert(rc == ERR_UNSUPPORTED && strstr(e.text, "dtype"));
        return;
    }
    assert(!rc && needed == t);
    for (int k = 0; k < t->n_dims && count; k++)
        count = t->shape[k] ? count * (size_t)t->shape[k] : 0;
    for (int k = 0; k < t->n_dims; k++)
        count = t->shape[k] ? count : 0;
    assert(count * item == t->bytes);
    float *values = malloc((count + 1) * sizeof *values);
    assert(values && !st_to_f32(t, values, count, &e) && st_to_f32(t, values, count + 1, &e) < 0);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str file = {0};
    struct err e = {0};
    struct safetensors *s;
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t header = nul ? (size_t)(nul - data) : size;
    if (header == 0 && size > 0) {
        str_add(&file, (const char *)data + 1, size - 1);
    } else {
        for (int i = 0; i < 8; i++)
            str_putc(&file, (char)((uint64_t)header >> 8 * i));
        str_add(&file, (const char *)data, header);
        if (nul)
            str_add(&file, (const char *)nul + 1, size - header - 1);
    }
    if (!safetensors_open_memory(&s, str_text(&file), file.len, "fuzz.safetensors", &e)) {
        for (size_t i = 0; i < s->n; i++)
            check_tensor(s, &s->entry[i].tensor, file.data, file.len);
        char hex[65];
        assert(!safetensors_identity(s, NULL, hex, &e) && strlen(hex) == 64);
        assert(!safetensors_meta(s, "absent") || strstr(file.data + 8, "absent"));
        safetensors_close(s);
    } else {
        assert(!s && strstr(e.text, "fuzz.safetensors"));
    }
    str_release(&file);
    return 0;
}
