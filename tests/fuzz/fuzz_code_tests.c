/* Tests of programs (code_check): the two columns of a row, a pickle, and outputs that are compared. Whatever
 * the bytes, reading ends, and an output is equal to itself unless it holds a NaN that is read as a number.
 */
#include <stdint.h>
#include <string.h>

#include "code_check/code_check.h"
#include "code_check/pickle_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char one[] = "[{\"input\": \"1\", \"output\": \"2\", \"testtype\": \"stdin\"}]";
    const char *s = (const char *)data, *text, *code;
    size_t len, half = n / 2;
    struct code_tests t;
    struct err e = {0};
    if (!code_tests_read(&t, one, sizeof one - 1, s, n, NULL, "row", &e))
        code_tests_release(&t);
    if (!code_tests_read(&t, s, n, "[]", 2, "f", "row", NULL))
        code_tests_release(&t);
    if (!pickle_text(&text, &len, data, n, "row", NULL) && (text < s || text + len > s + n))
        __builtin_trap();
    if (code_find(&code, &len, s, n) && (code < s || code + len > s + n))
        __builtin_trap();
    if (code_output_differs(s, n, s, n))
        __builtin_trap();
    long ab = code_output_differs(s, half, s + half, n - half),
         ba = code_output_differs(s + half, n - half, s, half);
    if (ab != ba)
        __builtin_trap();
    if (code_value_equal(s, half, s + half, n - half) != code_value_equal(s + half, n - half, s, half))
        __builtin_trap();
    return 0;
}
