/* Fuzzes the CSV reader with any bytes: no crash; every record ends, its fields lie inside the text, and
 * line numbers never decrease. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>

#include "tasks/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csv c;
    struct err e = {0};
    long line = 0;
    size_t bytes = 0;
    int rc;
    csv_open(&c, "fuzz.csv", (const char *)data, size);
    while ((rc = csv_next(&c, &e)) > 0) {
        assert(c.line > line && c.n_fields >= 1);
        line = c.line;
        for (int i = 0; i < c.n_fields; i++) {
            for (size_t k = 0; k < c.fields[i].len; k++)
                bytes += c.fields[i].s[k] != 0;
        }
    }
    assert(bytes <= size && (rc == 0) == (e.code == 0));
    csv_close(&c);
    return 0;
}
