/* UTF-8 checks, steps from character to character, and normalization form C with its two marks. */
#include "engine/text/unicode.h"
#include "tests/check.h"

int main(void)
{
    struct str out = {0};
    size_t mark[2] = {3, 5}, step;
    CHECK(utf8_is_valid("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82 12345678", 19));
    CHECK(!utf8_is_valid("12345678\xED\xA0\x80", 11) && !utf8_is_valid("\xF0\x9F\x99", 3) &&
          !utf8_is_valid("a\x80", 2));
    CHECK_INT(utf8_before("a\xE2\x82\xAC", 4, &step), 0x20AC);
    CHECK_INT(step, 3);
    CHECK_INT(nfc_normalize("caf\xC3\xA9 \xEA\xB0\x80", 9, &out, mark), 0);
    CHECK_INT(nfc_normalize("xxe\xCC\x81yy", 7, &out, mark), 1);
    CHECK_STR(str_text(&out), "xx\xC3\xA9yy");
    CHECK_INT(mark[0], 2); /* inside the cluster: down to its start */
    CHECK_INT(mark[1], 4);
    str_release(&out);
    return check_done();
}
