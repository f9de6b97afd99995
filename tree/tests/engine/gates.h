#ifndef TESTS_GATES_H
#define TESTS_GATES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a DMS gate file whose weights are 0 and whose biases are all `bias`: with 1 every token is flagged,
 * with -1 none. */
static inline void gates_write(const char *path, int n_layers, int n_kv, int hidden, float bias)
{
    char header[1 << 14];
    size_t at = 0, n = 0, w = (size_t)n_kv * (size_t)hidden * sizeof(float), b = (size_t)n_kv * sizeof(float);
    n += (size_t)snprintf(header + n, sizeof header - n,
                          "{\"__metadata__\":{\"window\":\"16\",\"shift\":\"0\"}");
    for (int l = 0; l < n_layers; l++) {
        n += (size_t)snprintf(
            header + n, sizeof header - n,
            ",\"model.layers.%d.self_attn.dms_proj.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],"
            "\"data_offsets\":[%zu,%zu]},\"model.layers.%d.self_attn.dms_proj.bias\":{\"dtype\":\"F32\","
            "\"shape\":[%d],\"data_offsets\":[%zu,%zu]}",
            l, n_kv, hidden, at, at + w, l, n_kv, at + w, at + w + b);
        at += w + b;
    }
    n += (size_t)snprintf(header + n, sizeof header - n, "}");
    FILE *f = fopen(path, "wb");
    if (!f)
        exit(1);
    uint64_t length = n;
    float *zero = calloc(1, w);
    fwrite(&length, sizeof length, 1, f);
    fwrite(header, 1, n, f);
    for (int l = 0; l < n_layers; l++) {
        fwrite(zero, 1, w, f);
        for (int h = 0; h < n_kv; h++)
            fwrite(&bias, sizeof bias, 1, f);
    }
    free(zero);
    fclose(f);
}

#endif
