/* SHA-256's compression (FIPS 180-4, 6.2.2) with the SHA instructions of x86. Each instruction does two
 * rounds on a state that is held as two vectors, the words a b e f and c d g h from high to low. */
#include "evalcore/base/hash_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

int sha256_has_x86(void)
{
    static atomic_int
        known; /* 0: not asked yet, 1: no, 2: yes; kept because cpuid is slow in a virtual machine */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        unsigned a, b, c, d;
        is = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1 && __builtin_cpu_supports("sse4.1") ? 2
                                                                                                        : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
}

/* The next four words of the schedule, from the last sixteen: in round i, m[i & 3] is to hold words 4i to
 * 4i + 3. */
__attribute__((target("sha,sse4.1"))) static inline __m128i next_words(const __m128i m[4], int i)
{
    __m128i last = m[(i + 3) & 3], before = m[(i + 2) & 3];
    __m128i sum =
        _mm_add_epi32(_mm_sha256msg1_epu32(m[i & 3], m[(i + 1) & 3]), _mm_alignr_epi8(last, before, 4));
    return _mm_sha256msg2_epu32(sum, last);
}

__attribute__((target("sha,sse4.1"))) void sha256_blocks_x86(uint32_t state[8], const unsigned char *p,
                                                             size_t n)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, efgh, 8), cdgh = _mm_blend_epi16(efgh, badc, 0xf0);
    for (; n; n--, p += 64) {
        __m128i m[4], first = abef, second = cdgh;
        for (int i = 0; i < 4; i++)
            m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p + i), big_endian);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            if (i >= 4)
                m[i & 3] = next_words(m, i);
            __m128i w = _mm_add_epi32(m[i & 3], _mm_loadu_si128((const __m128i *)(sha256_constant + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, w);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(w, 0x0e));
        }
        abef = _mm_add_epi32(abef, first);
        cdgh = _mm_add_epi32(cdgh, second);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
int sha256_has_x86(void)
{
    return 0;
}

void sha256_blocks_x86(uint32_t state[8], const unsigned char *p, size_t n)
{
    sha256_blocks(state, p, n);
}
#endif
