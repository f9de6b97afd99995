/* SHA-256 and git's SHA-1 by libcrypto (contract: hash.h). It fails here only where memory runs out or it was
 * built without these digests; both end the program. */
#include "evalcore/base/hash.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require_success(int is_done)
{
    if (is_done)
        return;
    fputs("kveval: libcrypto cannot compute a digest (out of memory, or built without SHA-256 or SHA-1)\n",
          stderr);
    abort();
}

void sha256_init(struct sha256 *h)
{
    h->state = EVP_MD_CTX_new();
    require_success(h->state && EVP_DigestInit_ex(h->state, EVP_sha256(), NULL));
}

void sha256_add(struct sha256 *h, const void *data, size_t n)
{
    require_success(EVP_DigestUpdate(h->state, data, n));
}

void sha256_end(struct sha256 *h, unsigned char out[32])
{
    require_success(EVP_DigestFinal_ex(h->state, out, NULL));
    EVP_MD_CTX_free(h->state);
    h->state = NULL;
}

static void sha256_of(const void *data, size_t n, unsigned char out[32])
{
    require_success(EVP_Digest(data, n, out, NULL, EVP_sha256(), NULL));
}

static void write_hex(const unsigned char *digest, char *out, int n_hex)
{
    static const char digit[] = "0123456789abcdef";
    for (int i = 0; i < n_hex; i++)
        out[i] = digit[i % 2 ? digest[i / 2] & 15 : digest[i / 2] >> 4];
    out[n_hex] = 0;
}

void sha256_hex(const void *data, size_t n, char *out, int n_hex)
{
    unsigned char digest[32];
    sha256_of(data, n, digest);
    write_hex(digest, out, n_hex);
}

void git_blob_hex(const void *data, size_t n, char out[41])
{
    char head[40];
    unsigned char digest[20];
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    int n_head = snprintf(head, sizeof head, "blob %zu", n) + 1; /* with its NUL */
    require_success(c && EVP_DigestInit_ex(c, EVP_sha1(), NULL) &&
                    EVP_DigestUpdate(c, head, (size_t)n_head) && EVP_DigestUpdate(c, data, n) &&
                    EVP_DigestFinal_ex(c, digest, NULL));
    EVP_MD_CTX_free(c);
    write_hex(digest, out, 40);
}

uint64_t hash_bytes64(const void *data, size_t n)
{
    unsigned char d[32];
    uint64_t v = 0;
    sha256_of(data, n, d);
    for (int i = 7; i >= 0; i--)
        v = v << 8 | d[i];
    return v;
}
