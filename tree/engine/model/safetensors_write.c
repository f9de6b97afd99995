/* Writes a file of fp32 tensors (contract: safetensors.h). */
#include "engine/model/safetensors.h"

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"

static size_t count_values(const struct st_new *t)
{
    size_t n = 1;
    for (int i = 0; i < t->n_dims; i++)
        n *= (size_t)t->shape[i];
    return n;
}

static json_t *new_header(const struct st_new *t, size_t n, const struct st_meta *meta)
{
    json_t *o = json_object(), *m = json_object();
    size_t at = 0;
    for (; meta && meta->key; meta++)
        json_object_set_new(m, meta->key, json_string(meta->text));
    json_object_set_new(o, "__metadata__", m);
    for (size_t i = 0; i < n; i++) {
        json_t *shape = json_array();
        size_t bytes = count_values(&t[i]) * sizeof(float);
        for (int k = 0; k < t[i].n_dims; k++)
            json_array_append_new(shape, json_integer(t[i].shape[k]));
        json_object_set_new(o, t[i].name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape, "data_offsets",
                                      (json_int_t)at, (json_int_t)(at + bytes)));
        at += bytes;
    }
    return o;
}

int safetensors_write(const char *path, const struct st_new *t, size_t n, const struct st_meta *meta,
                      struct err *e)
{
    struct str out = {0};
    json_t *o = new_header(t, n, meta);
    char *text = json_dumps(o, JSON_COMPACT);
    struct str head = {0};
    str_puts(&head, text);
    while (head.len % 8) /* the data begins at a multiple of 8 */
        str_puts(&head, " ");
    uint64_t length = head.len;
    str_add(&out, (const char *)&length, sizeof length);
    str_add(&out, head.data, head.len);
    for (size_t i = 0; i < n; i++)
        str_add(&out, (const char *)t[i].data, count_values(&t[i]) * sizeof(float));
    int rc = file_write_atomic(path, out.data, out.len, e);
    free(text);
    json_decref(o);
    str_release(&head);
    str_release(&out);
    return rc;
}
