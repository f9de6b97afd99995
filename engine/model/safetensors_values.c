/* The values of a tensor as fp32. */
#include <string.h>

#include "engine/model/safetensors.h"

static uint32_t bits_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
    if (exponent == 31)
        return sign | 0x7F800000 | mantissa << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | mantissa << 13;
    if (!mantissa)
        return sign;
    exponent = 113; /* subnormal: shift until the leading bit is the hidden one */
    while (!(mantissa & 1024)) {
        mantissa <<= 1;
        exponent--;
    }
    return sign | exponent << 23 | (mantissa & 1023) << 13;
}

int st_to_f32(const struct st_tensor *t, float *out, size_t n, struct err *e)
{
    if (t->dtype == ST_OTHER)
        return err_set(e, ERR_UNSUPPORTED, "tensor \"%.100s\" has a dtype other than F32, F16 and BF16",
                       t->name);
    size_t item = t->dtype == ST_F32 ? 4 : 2;
    if (n != t->bytes / item)
        return err_set(e, ERR_FORMAT, "tensor \"%.100s\" has %zu values, %zu are asked for", t->name,
                       t->bytes / item, n);
    if (t->dtype == ST_F32) {
        if (n)
            memcpy(out, t->data, n * item);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, t->data + i * item, item);
        uint32_t bits = t->dtype == ST_BF16 ? (uint32_t)half << 16 : bits_of_half(half);
        memcpy(out + i, &bits, sizeof bits);
    }
    return 0;
}
