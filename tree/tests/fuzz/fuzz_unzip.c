/* Fuzzes the ZIP reader with any bytes: no crash, no read outside the archive, and what is read has the size
 * that the directory says and stays below the limit. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>

#include "evalcore/fetch/fetch_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MAX = 1 << 16 };
    struct zip z;
    struct zip_member m;
    struct err e = {0};
    int rc = zip_open(&z, "fuzz.zip", data, size, &e);
    while (!rc && zip_next(&z, &m, &e) > 0) {
        struct str out = {0};
        struct err why = {0};
        rc = zip_read(&out, &z, &m, MAX, &why);
        assert(rc ? why.code == rc : out.len == m.size && out.len <= MAX);
        str_release(&out);
        rc = 0;
    }
    return 0;
}
