/* Published vectors: FIPS 180-4 / NIST CAVP for SHA-256, RFC 3720 B.4 for CRC-32C, splitmix64's first
 * outputs. */
#include "evalcore/base/hash.h"

#include "tests/check.h"

static void check_sha(const char *text, size_t n, const char *want)
{
    char hex[65];
    sha256_hex(text, n, hex, 64);
    CHECK_STR(hex, want);
}

static void sha256_vectors(void)
{
    check_sha("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_sha("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopq"
              "rsmnopq"
              "rstnopqrstu",
              112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    char *million = malloc(1000000), hex[65];
    memset(million, 'a', 1000000);
    check_sha(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    sha256_hex("abc", 3, hex, 7);
    CHECK_STR(hex, "ba7816b");
    free(million);
}

/* In pieces or at once: the same digest, for every length around the block size. */
static void sha256_in_pieces(void)
{
    unsigned char text[200], whole[32], parts[32];
    for (int i = 0; i < 200; i++)
        text[i] = (unsigned char)(i * 7);
    for (size_t n = 0; n <= 200; n++)
        for (size_t piece = 1; piece <= 70; piece += 23) {
            struct sha256 a, b;
            sha256_init(&a);
            sha256_add(&a, text, n);
            sha256_end(&a, whole);
            sha256_init(&b);
            for (size_t at = 0; at < n; at += piece)
                sha256_add(&b, text + at, n - at < piece ? n - at : piece);
            sha256_end(&b, parts);
            CHECK(memcmp(whole, parts, 32) == 0);
        }
}

/* What `git hash-object` prints for the same bytes. */
static void git_blobs(void)
{
    char hex[41];
    git_blob_hex("", 0, hex);
    CHECK_STR(hex, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    git_blob_hex("hello\n", 6, hex);
    CHECK_STR(hex, "ce013625030ba8dba906f756967f9e9ca394464a");
}

static void crc32c_vectors(void)
{
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    for (int i = 0; i < 32; i++) {
        ones[i] = 0xFF;
        up[i] = (unsigned char)i;
        down[i] = (unsigned char)(31 - i);
    }
    CHECK_INT(crc32c(0, "", 0), 0);
    CHECK_INT(crc32c(0, "123456789", 9), 0xE3069283);
    CHECK_INT(crc32c(0, zeros, 32), 0x8A9136AA);
    CHECK_INT(crc32c(0, ones, 32), 0x62A8AB43);
    CHECK_INT(crc32c(0, up, 32), 0x46DD794E);
    CHECK_INT(crc32c(0, down, 32), 0x113FDB5C);
    CHECK_INT(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xE3069283);
}

/* With x86's instruction, if it has one, and without: lengths and beginnings that are no multiple of eight.
 */
static void crc32c_both_ways(void)
{
    unsigned char text[80];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)hash_mix64(i);
    for (size_t from = 0; from < 9; from++)
        for (size_t n = 0; from + n <= sizeof text; n++)
            CHECK_INT(crc32c(0x1234, text + from, n), crc32c_plain(0x1234, text + from, n));
}

static void mixing(void)
{
    CHECK(hash_mix64(0) == 0xe220a8397b1dcdaf); /* first and second output of splitmix64 with seed 0 */
    CHECK(hash_mix64(0x9e3779b97f4a7c15) == 0x6e789e6aa1b965f4);
    CHECK(hash_bytes64("abc", 3) == 0xeacf018fbf1678ba); /* ba7816bf8f01cfea read from the low end */
}

int main(void)
{
    sha256_vectors();
    sha256_in_pieces();
    git_blobs();
    crc32c_vectors();
    crc32c_both_ways();
    mixing();
    return check_done();
}
